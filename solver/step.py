# SPDX-License-Identifier: GPL-3.0-or-later
"""One time step, as the equations have it.

    M (u - u_free - s) = J^T p                    momentum                       J^T p: impulses of joints and contacts
    c(q+) + E p = 0                               joints                         E: compliance / h^2
    0 <= phi(q+)  _|_  p_n >= 0                   contact
    p_t = Proj_{|p_t| <= mu p_n} (p_t - v_t / w)  friction (Coulomb, maximum dissipation)
    q+ = q- (+) h u                               kinematics

    letter   word                                 unit         shape
    h        step                                 s            ()
    q, x     orientation xyzw, position           1, m         (B, 4), (B, 3)
    u        velocity: linear, angular            m/s, rad/s   (B, 6)
    M        mass and inertia in the world        kg, kg m^2   (6, 6) per body
    J        row directions                       1, m         (rows, 6) per body
    p        impulse over the step                N s, N m s   (C, 3) contacts, (R,) joint rows
    s        velocity by forces that turn         as u         (B, 6), see arcs.py
    phi, c   gap, joint coordinate                m, rad       (C,), (R,)
    w        effective inverse mass of a row      1/kg         (C,), (R,)
    sigma    proximal strength, eps w             1/kg
    mu       friction coefficient                 1            (C,)

A step is: detect contacts, predict free motion, solve for the end pose, look for contacts that came up on the way,
judge, solve for the end velocity.  What misses is done again as two halves: islands that missed, or all where they are
the larger part.
"""

from types import SimpleNamespace

import numpy as np

from . import curves, whips
from .assemble import Assembler
from .attempt import NOTHING, Attempt, Spent, StepOutcome
from .blows import blow
from .catches import catch
from .collision import Collider
from .constraints.closing import tell
from .contact_set import carry_impulses, no_contacts
from .copies import replace
from .crushed import crushed, in_vain
from .effort import speeds
from .flags import some
from .flight_parts import collide, unsteady
from .force_recorder import ForceRecorder
from .given_up import deliver
from .glued import Glue
from .halts import halt
from .halving import few, halve_part
from .landings import landing
from .late_forces import LateForces, late_contacts, with_late
from .lift_offs import lift_off
from .parts import ReachedError, kept_forces, of_islands, pressed
from .passing import FINER, HALVED, LAST
from .plausible import PairOverlap, plausible, way_moved
from .position_phase import SLOW, PositionPhase
from .pressed_along import go_along
from .rest import KINDS, Rest, Sleep
from .row_work import throws
from .state import State
from .step_end import FIRST_EPS, LONGEST_STEP, end_velocity
from .stops import launch
from .straight_flight import StraightFlight
from .strokes import rock
from .take_offs import take_off
from .turning_strikes import strike
from .twists import count_turns

DEEPEST = 4  # a step is halved at most this often, but for what whips round (whips.py),
MORE = 6  # and so often more where bodies went through each other: what has 100 m/s gets 4 mm far then
PATIENCE = 3  # frames given up on before steps are halved less
FINDS = launch, landing, take_off, halt, strike, blow, collide, unsteady, rock
"""What asks for parts of a step that meet where something happens within it."""


class Stepper:
    """Advances the state of one scene."""

    def __init__(self, scene, frames, joints, model, solver, config):
        self.assembler = Assembler(scene, frames, joints, config)
        self.collider = Collider(model)
        self.frames, self.joints, self.solver, self.model = frames, joints, solver, model
        slow, self.fast = tolerances = config.tolerances()
        self.position_phase = PositionPhase(
            self.assembler, self.collider, frames, joints, solver, tolerances, scene.bodies
        )
        self.collider.tolerance = self.fast
        self.glue = Glue(scene.joints, model.names, model.movable, self.fast)
        self.straight = StraightFlight(joints, model.body_size)
        self.rest = Rest(self.assembler, joints, model, tolerances, solver.stirring * slow)
        self.state, self.joint_damping, self.deepest, self.failures = None, config.joint_damping, DEEPEST, 0
        self.recorder = ForceRecorder(scene, frames, joints) if config.record_forces else None
        self.carried = None  # parts.Carried that only went along in the step last accepted
        self.crushed = np.zeros(len(model.names), bool)  # (B,) bodies without room in the step last advanced by,
        self._without_room = self.crushed  # and in the one under way
        self.longest = None  # (B,) step that each body bears [s], or None where all bear any (pace.py)
        self.records = []  # Attempts accepted in the step under way, with the bodies (B,) bool they are kept for

    def start(self, position, orientation, velocity):
        """Begin from solver poses (B, 3), (B, 4) and velocities (B, 6)."""
        eps, swept = np.full(len(position), FIRST_EPS), np.zeros(len(position))
        self.state = State(0.0, position, orientation, velocity, eps, swept)

    def learn(self, given_up):
        """After a frame.  True where halving was in vain frame after frame: the constraints contradict each other.

        Then steps are halved less and less, so that the bake goes on; one good frame restores trust.
        """
        self.failures = self.failures + 1 if given_up else 0
        self.deepest = max(0, DEEPEST - max(0, self.failures - PATIENCE))
        return self.failures > PATIENCE

    def advance(self, step):
        """Move on by ``step`` seconds.  Returns the StepOutcomes of the steps it took."""
        self._without_room = np.zeros_like(self.crushed)
        self.assembler.until = self.state.time + step
        self.joints.begin(step)
        outcomes = self._advance(step, 0)
        self.collider.turning = None
        self.crushed = self._without_room
        for record in self.records:
            self.recorder.add(*record)
        self.records.clear()
        return outcomes

    def _advance(self, step, depth):
        attempt = self._attempt(step, depth)
        if attempt.again:
            return self._after(attempt.spent, self._advance(step, depth))
        if some(attempt.failed):
            if self._halves(attempt, depth, attempt.failed):
                if attempt.pieces == 1 and depth < self.deepest and self._in_vain(attempt):
                    return self._after(attempt.spent, self._advance(step, self.deepest))
                if attempt.went_through():
                    known = self.collider.turning
                    self.collider.turning = attempt.check.through if known is None else known | attempt.check.through
                if few(self, attempt):
                    return halve_part(self, step, depth, attempt)
                return self.parts(step, depth, attempt, attempt.spent)
            self._look_for_room(attempt)
            self._without_room = self._without_room | attempt.crushed.bodies
            if some(attempt.crushed.bodies):
                go_along(attempt, self.fast)
        self._accept(attempt)
        if self.recorder is not None:
            self.records.append((attempt, None))
        return [attempt.outcome()]

    def _halves(self, attempt, depth, failed):
        """Whether a step of this ``depth`` is done again in parts where bodies ``failed`` (B,) bool in an Attempt.

        What tells that bodies went through each other tells it at any length of step, and what is light and small may
        be turned by radians in a sixteenth of a frame.  Once they did, any miss of theirs in a part of the step counts
        as that: impulses that turn them by radians give them energy, too.  Not what is crushed: a press that shuts
        on it pushes it through at any length of step.  So are links halved that whip round.
        """
        if depth < self.deepest or attempt.pieces > 1:
            return True
        if self.deepest == DEEPEST and depth < whips.DEEPEST:
            if some(failed[attempt.dynamic()] & whips.whips(attempt, self.fast)):
                return True
        known = self.collider.turning
        if not self._finer(depth) or not (attempt.went_through() or (known is not None and some(failed & known))):
            return False
        self._look_for_room(attempt)
        return some(failed & ~attempt.islands_of(attempt.crushed.bodies))

    def _finer(self, depth):
        """Whether a step of this ``depth``, the last, is halved further where bodies go through each other."""
        return self.deepest == DEEPEST and depth < DEEPEST + MORE

    def _in_vain(self, attempt):
        """Whether shorter steps would miss, too: what missed is crushed, and was when halving had come to its end."""
        known = self.crushed | self._without_room
        if not some(known):
            return False
        self._look_for_room(attempt)
        return some(attempt.crushed.bodies) and in_vain(attempt, known, self.fast)

    def _look_for_room(self, attempt):
        """Find out which bodies of an Attempt that missed are ``crushed``."""
        free, known = self.assembler.free(attempt.state.time), self.crushed | self._without_room
        attempt.crushed = crushed(attempt, free, known, self.fast)

    def _attempt(self, step, depth):
        """The Attempt at a step from the present state; nothing of the state but who rests is changed."""
        velocity = self.assembler.prescribed_velocity(self.state, step)
        self.joints.observe(self.state.position, self.state.orientation, velocity, self.state.time)
        sleep, state = self.rest.sleep(self.state, *self._contacts(step, velocity), velocity, step)
        self.state, self.assembler.asleep = state, sleep.asleep
        assembly = self.assembler.build(state, step, *sleep.awake())
        last = HALVED if depth < self.deepest else FINER if self._finer(depth) else LAST
        solved = self.position_phase.solve(assembly, state, last)
        assembly, solution, check = solved.assembly, solved.solution, solved.check
        sleep = sleep.only(solved.kept)
        spent = Spent(solution.newton_iterations, solution.linear_iterations, solved.solves)
        attempt = Attempt(state, sleep, assembly, solution, solved.statistics, check, spent)
        reached = pressed(assembly, solution, self.assembler.carried)
        if len(reached):
            raise ReachedError(reached, spent)
        struck = sleep.struck(assembly)
        if len(struck):
            self.state, attempt.again = self.rest.wake(state, struck), True
            return attempt
        judged = self.position_phase.judge.step(assembly, solution, self.fast)
        count_turns(assembly.problem, solution, judged)
        residuals = attempt.residuals = judged.residuals
        attempt.spurious = judged.gained | np.isinf(solved.statistics.residual)  # turned over
        attempt.reached = judged.reached
        if check is not None:
            residuals.penetration = max(residuals.penetration, check.overlap)
        attempt.error = judged.body[: assembly.problem.bodies.dynamic_count]
        speed = speeds(assembly, solution, judged.speed, self.fast)
        attempt.tolerance = np.where((speed > SLOW) | solved.statistics.held, self.fast, solved.tolerance)
        attempt.bent = solved.bent
        if depth < min(curves.DEEPEST, self.deepest):
            attempt.lasts_too_long(solved.too_long)
        if depth < self.deepest:
            attempt.lasts_too_long(throws(assembly, solution, judged, self.position_phase.slow))
        if self.longest is not None:
            attempt.cut(self.longest)
        attempt.judge(self.fast)
        if some(attempt.failed) and self._halves(attempt, depth, attempt.failed) and not few(self, attempt):
            return attempt
        end = end_velocity(solved, judged, state, self.position_phase, self.joint_damping, attempt.sound)
        attempt.finish(end, self.fast)
        if end.strays is not None:
            if self._halves(attempt, depth, of_islands(assembly, end.strays)):
                attempt.strays(end.strays)
            elif end.lacks is not None:
                attempt.tell(end.lacks)
        if depth < self.deepest:
            # Each looks at other islands than those that are done again anyway.
            once = (catch,) if attempt.pieces == 1 else ()
            for find in (*once, *((lift_off,) if depth == 0 else ()), *FINDS):
                if (split := find(attempt, self.position_phase)) is not None:
                    attempt.split(*split)
        if self.joints.break_overloaded(assembly, solution, end.phase, state.time + step, attempt.stays()):
            attempt.again = True
            return attempt
        deliver(attempt, self.position_phase.judge, self.fast)
        if (left := self.joints.left(assembly.row_number, step)) is not None:
            tell(attempt.residuals, assembly.problem.joints, left, attempt.error, self.fast)
        return attempt

    @staticmethod
    def _after(spent, outcomes):
        """The outcomes with work in vain added to the first."""
        return [outcomes[0].after(*spent), *outcomes[1:]]

    def parts(self, step, depth, attempt, spent=NOTHING):
        """The outcomes of the step, of that depth, in the parts that an Attempt at it asks for; spent: work in vain.

        The others than the first are ``partial``, as they say nothing of the tolerance in frames to come, where spin
        wants pieces and where something is launched.
        """
        if attempt.pieces > 1:
            lengths, deeper = [step / attempt.pieces] * attempt.pieces, depth
        else:
            cuts, slices = (0.5,) if attempt.share is None else np.atleast_1d(attempt.share), max(attempt.slices, 1)
            first, *others = (float(part) * step for part in np.diff((0.0, *cuts, 1.0)))
            lengths = [first / slices] * slices + [part for part in others if part > 0.0]
            deeper = depth + (attempt.slices == 0)
        outcomes = self._advance(lengths[0], deeper)
        for length in lengths[1:]:
            more = self._advance(length, deeper)
            if attempt.pieces > 1 or attempt.share is not None:
                last = max(i for i, outcome in enumerate(more) if not outcome.partial)
                more[last] = replace(more[last], partial=True)
            outcomes += more
        return self._after(spent, outcomes)

    def _contacts(self, step, velocity):
        """Contacts at the present state, and the impulses [N s] they carried, for a warm start.

        velocity: (B, 6), that of prescribed bodies the mean over the step.
        """
        state = self.state
        if not self.model.may_touch:
            return no_contacts(), np.zeros((0, 3))
        position, orientation = self.frames.to_body(state.position, state.orientation)
        free = self.assembler.free(self.state.time)
        self.collider.deform(state.time, step)
        self.collider.alive = self.joints.alive
        held = self.assembler.prescribes and state.contacts is not None
        self.collider.released = free & np.isinf(state.way) if held else None
        self.collider.jointed = self.straight.look(free, state.orientation, velocity[:, 3:], step)
        poses = position, orientation, velocity[:, :3], velocity[:, 3:]
        contacts = self.glue.collide(self.collider, state.contacts, *poses, step, free)
        if (old := state.contacts) is None:
            return contacts, np.zeros((len(contacts), 3))
        known = PairOverlap(old.body_a, old.body_b, old.gap, len(state.way))
        contacts = plausible(contacts, known, state.way, self.model, self.collider.sunk)
        impulses = carry_impulses(old, state.contact_force * step, contacts)
        if state.late is not None:
            impulses += step * state.late.laid_on(contacts, len(state.way))
        return contacts, impulses

    def touching(self):
        """The ContactSet of the present state."""
        return self._contacts(LONGEST_STEP, self.assembler.prescribed_velocity(self.state, LONGEST_STEP))[0]

    def idle(self, seconds):
        """Whether nothing will move in the next ``seconds``, and ``pause`` may take the place of ``advance``."""
        return self.rest.everything(self.state, seconds)

    def pause(self, seconds, steps):
        """Let ``seconds`` go by in which everything rests; ``steps`` it counts as.  Returns its StepOutcome."""
        state, found = self.state, self.state.contacts
        sleep = Sleep(self.assembler.free(state.time), found, state.contact_force * seconds)
        residuals = SimpleNamespace(**dict.fromkeys(KINDS, 0.0))
        worst = sleep.add_to(residuals, state)
        if self.recorder is not None:
            self.recorder.add_resting(sleep, seconds, state)
        self.state = replace(state, time=state.time + seconds)
        joint, residual = np.zeros(len(self.joints.joints)), float(worst.max(initial=0.0))
        return StepOutcome(residuals, True, residual, 0.0, worst, joint, len(found), 0, 0, steps, None)

    def _accept(self, attempt):
        """Make the end of the attempt the present."""
        assembly, sleep, moved = attempt.assembly, attempt.sleep, attempt.moved()
        number, radius, solution = assembly.numbering, self.model.body_radius, attempt.solution
        velocity = solution.velocity.take(number.solver[:-1], 0)
        way = moved.way = way_moved(velocity, radius, assembly.problem.step)
        if assembly.bounces is not None:
            flown, made = assembly.bounces.ways(assembly.problem.bodies, solution, radius[number.scene[:-1]])
            way[number.scene[flown]] = np.maximum(way[number.scene[flown]], made)
        if self.assembler.prescribes:
            way[self.model.movable & ~self.assembler.free(self.state.time)] = np.inf  # nobody looked at their overlaps
        told = late_contacts(assembly, solution)
        moved.contacts, moved.late = sleep.contacts, LateForces.of(assembly, solution, self.frames, told)
        if moved.late is not None:  # their manifolds lack corners
            start = self.frames.to_body(self.state.position, self.state.orientation)
            found = assembly.problem.contacts.take(told[1])
            moved.contacts = with_late(sleep.contacts, moved.late, found, start, self.model)
        moved.contact_force = kept_forces(self.joints, attempt)
        self.collider.accept(moved.contacts)
        self.carried = self.assembler.carried
        self.assembler.hand_over.apply(self.state, moved)
        self.rest.track(moved, attempt.still(), sleep.asleep)
        self.state = moved
