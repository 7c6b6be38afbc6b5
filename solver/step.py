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

import numpy as np

from . import curves
from .attempt import NOTHING, Attempt, Spent
from .blows import blow
from .catches import catch
from .constraints.closing import tell
from .copies import replace
from .effort import speeds
from .flags import some
from .flight_parts import collide, unsteady
from .given_up import deliver
from .halts import halt
from .halving import few, futile, halve_part, halves, last_resort, look_for_room
from .landings import landing
from .lift_offs import lift_off
from .parts import ReachedError, of_islands, pressed
from .position_phase import SLOW
from .pressed_along import go_along
from .row_work import throws
from .step_end import end_velocity
from .stepped_scene import SteppedScene
from .stops import launch
from .strokes import rock
from .take_offs import take_off
from .turning_strikes import strike
from .twists import count_turns

FINDS = launch, landing, take_off, halt, strike, blow, collide, unsteady, rock
"""What asks for parts of a step that meet where something happens within it."""


class Stepper(SteppedScene):
    """Advances the state of one scene."""

    def advance(self, step):
        """Move on by ``step`` seconds.  Returns the StepOutcomes of the steps it took."""
        self.without_room = np.zeros_like(self.crushed)
        self.assembler.until = self.state.time + step
        self.joints.begin(step)
        outcomes = self._advance(step, 0)
        self.collider.turning = None
        self.crushed = self.without_room
        for record in self.records:
            self.recorder.add(*record)
        self.records.clear()
        return outcomes

    def _advance(self, step, depth):
        attempt = self._attempt(step, depth)
        if attempt.again:
            return self._after(attempt.spent, self._advance(step, depth))
        if some(attempt.failed):
            if halves(self, attempt, depth, attempt.failed):
                if attempt.pieces == 1 and depth < self.deepest and futile(self, attempt):
                    return self._after(attempt.spent, self._advance(step, self.deepest))
                if attempt.went_through():
                    known = self.collider.turning
                    self.collider.turning = attempt.check.through if known is None else known | attempt.check.through
                if few(self, attempt):
                    return halve_part(self, step, depth, attempt)
                return self.parts(step, depth, attempt, attempt.spent)
            look_for_room(self, attempt)
            self.without_room = self.without_room | attempt.crushed.bodies
            if some(attempt.crushed.bodies):
                go_along(attempt, self.fast)
        self._accept(attempt)
        if self.recorder is not None:
            self.records.append((attempt, None))
        return [attempt.outcome()]

    def _attempt(self, step, depth):
        """The Attempt at a step from the present state; nothing of the state but who rests is changed."""
        velocity = self.assembler.prescribed_velocity(self.state, step)
        self.joints.observe(self.state.position, self.state.orientation, velocity, self.state.time)
        sleep, state = self.rest.sleep(self.state, *self.contacts(step, velocity), velocity, step)
        self.state, self.assembler.asleep = state, sleep.asleep
        assembly = self.assembler.build(state, step, *sleep.awake())
        solved = self.position_phase.solve(assembly, state, last_resort(self, depth))
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
        if some(attempt.failed) and halves(self, attempt, depth, attempt.failed) and not few(self, attempt):
            return attempt
        end = end_velocity(solved, judged, state, self.position_phase, self.joint_damping, attempt.sound)
        attempt.finish(end, self.fast)
        if end.strays is not None:
            if halves(self, attempt, depth, of_islands(assembly, end.strays)):
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
