# SPDX-License-Identifier: GPL-3.0-or-later
"""One time step, as the equations have it.

    M (u - u_free) = J^T p                        momentum                       J^T p: impulses of joints and contacts
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
    phi, c   gap, joint coordinate                m, rad       (C,), (R,)
    w        effective inverse mass of a row      1/kg         (C,), (R,)
    sigma    proximal strength, eps w             1/kg
    mu       friction coefficient                 1            (C,)

A step is: detect contacts, predict free motion, solve for the end pose, look for contacts that came up on the way,
judge, solve for the end velocity.  A step that misses is done again as two halves.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from .assemble import Assembler
from .collision import Collider, carry_impulses
from .constraints.breaking import row_forces
from .force_recorder import ForceRecorder
from .metrics import body_residuals, step_residuals
from .passing import gained
from .plausible import PairOverlap, plausible, way_moved
from .position_phase import SLOW, PositionPhase, island_speed
from .problem import Coordinate, world_impulses
from .reference.rows import coordinates
from .rest import KINDS, Rest, Sleep
from .state import State
from .step_end import FIRST_EPS, end_velocity, moved_state
from .velocity_phase import calm

DEEPEST = 4  # a step is halved at most this often
PATIENCE = 3  # frames given up on before steps are halved less


@dataclass
class StepOutcome:
    """How one accepted step went."""

    residuals: object  # metrics.StepResiduals
    converged: bool
    residual: float  # worst of all, at the length of this step [m]
    velocity_residual: float  # of the velocity phase [m/s]
    worst: np.ndarray  # (B,) worst residual of each scene body [m]
    worst_joint: np.ndarray  # (J,) worst residual of each joint's rows [m or rad]
    contacts: int
    newton: int
    linear: int
    solves: int
    given_up: tuple | None  # StepProblem, StepSolution, (n,) bool bodies that missed; no halving was left

    def after(self, newton, linear, solves):
        """The outcome with the work of an attempt that was thrown away added."""
        return replace(self, newton=self.newton + newton, linear=self.linear + linear, solves=self.solves + solves)


class Stepper:
    """Advances the state of one scene."""

    def __init__(self, scene, frames, joints, model, solver, config):
        self.assembler = Assembler(scene, frames, joints, config)
        self.collider = Collider(model)
        self.frames, self.joints, self.solver, self.model = frames, joints, solver, model
        self.position_phase = PositionPhase(self.assembler, self.collider, frames, joints, solver, config.tolerances())
        self.fast, self.joint_damping = config.tolerances()[1], config.joint_damping
        self.rest = Rest(self.assembler, joints, model, config.tolerances()[0])
        self.state = None
        self.deepest, self.failures = DEEPEST, 0
        self.recorder = ForceRecorder(scene, frames, joints) if config.record_forces else None

    def start(self, position, orientation, velocity):
        """Begin from solver poses (B, 3), (B, 4) and velocities (B, 6)."""
        self.state = State(0.0, position, orientation, velocity, np.full(len(position), FIRST_EPS))

    def learn(self, given_up):
        """After a frame.  True where halving was in vain frame after frame: the constraints contradict each other.

        Then steps are halved less and less, so that the bake goes on; one good frame restores trust.
        """
        self.failures = self.failures + 1 if given_up else 0
        self.deepest = max(0, DEEPEST - max(0, self.failures - PATIENCE))
        return self.failures > PATIENCE

    def advance(self, step, depth=0):
        """Move on by ``step`` seconds.  Returns the StepOutcomes of the steps it took."""
        velocity = self.assembler.prescribed_velocity(self.state, step)
        self.joints.observe(self.state.position, self.state.orientation, velocity)
        contacts, impulses = self._contacts(step, velocity)
        sleep, state = self.rest.sleep(self.state, contacts, impulses, velocity, step)
        self.state, self.assembler.asleep = state, sleep.asleep
        assembly = self.assembler.build(state, step, *sleep.awake())
        assembly, solution, statistics, tolerance, check, solves = self.position_phase.solve(
            assembly, state, depth >= self.deepest
        )
        overlap, unsolved = (0.0, 0.0) if check is None else (check.overlap, check.unsolved)
        spent = solution.newton_iterations, solution.linear_iterations, solves
        struck = sleep.struck(assembly)
        if len(struck):
            self.state = self.rest.wake(state, struck)
            again = self.advance(step, depth)
            return [again[0].after(*spent), *again[1:]]
        residuals = step_residuals(assembly.problem, solution)
        residuals.penetration = max(residuals.penetration, overlap)
        error = body_residuals(assembly.problem, residuals, penetration=False)
        n = assembly.problem.bodies.dynamic_count
        tolerance = np.where(island_speed(assembly, solution.velocity[:n]) > SLOW, self.fast, tolerance)
        spurious = gained(assembly, solution, self.fast)
        sound = (error[:n] <= self.fast) & ~spurious  # NaN is not
        missed = not sound.all() or unsolved > self.fast
        if missed and depth < self.deepest:
            return self._halves(step, depth, spent)
        if self.joints.break_overloaded(assembly, solution, state.time + step, sound):
            again = self.advance(step, depth)
            return [again[0].after(*spent), *again[1:]]
        end = end_velocity(assembly, solution, state, self.position_phase, self.joint_damping, sound)
        spent = spent[0] + end.newton, spent[1] + end.linear, solves
        error[:n] = np.maximum(error[:n], step * end.body)
        sound = (error[:n] <= self.fast) & ~spurious
        missed = not sound.all() or unsolved > self.fast
        if missed and depth < self.deepest:
            return self._halves(step, depth, spent)
        calm(assembly, end.velocity, sound)
        still = np.ones(len(state.position), bool)
        still[assembly.numbering.scene[:n]] = ~spurious & (error[:n] <= tolerance)
        self._accept(assembly, solution, statistics, end.velocity, sleep, still)
        if self.recorder is not None:
            self.recorder.add(assembly, solution, end, residuals, sleep, state)
        worst = sleep.add_to(residuals, state)
        worst[assembly.numbering.scene[:n]] = error[:n]
        joint = step * end.joint
        np.maximum.at(joint, assembly.problem.joints.joint, residuals.joint_row)
        return [
            StepOutcome(
                residuals=residuals,
                converged=bool(np.all(~spurious & (error[:n] <= tolerance))) and unsolved <= self.fast,
                residual=float(np.maximum(worst.max(initial=0.0), unsolved)),
                velocity_residual=float(end.body.max(initial=0.0)),
                worst=worst,
                worst_joint=joint,
                contacts=len(sleep.contacts) + len(assembly.problem.contacts) - len(assembly.contacts),
                newton=spent[0],
                linear=spent[1],
                solves=solves,
                given_up=(assembly.problem, solution, ~sound) if missed else None,
            )
        ]

    def _halves(self, step, depth, spent):
        """The outcomes of the step done as two halves; spent: Newton and linear iterations and solves in vain."""
        halves = self.advance(0.5 * step, depth + 1) + self.advance(0.5 * step, depth + 1)
        return [halves[0].after(*spent), *halves[1:]]

    def _contacts(self, step, velocity):
        """Contacts at the present state, and the impulses [N s] they carried, for a warm start.

        velocity: (B, 6), that of prescribed bodies the mean over the step.
        """
        state = self.state
        position, orientation = self.frames.to_body(state.position, state.orientation)
        free = self.assembler.free(self.state.time)
        self.collider.deform(state.time, step)
        contacts = self.collider.collide(position, orientation, velocity[:, :3], velocity[:, 3:], step, free)
        if state.contacts is None:
            return contacts, np.zeros((len(contacts), 3))
        old = state.contacts
        known = PairOverlap(old.body_a, old.body_b, old.gap, len(state.way))
        contacts = plausible(contacts, known, state.way, self.model)
        return contacts, carry_impulses(state.contacts, state.contact_force * step, contacts)

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
        residual = float(worst.max(initial=0.0))
        joint = np.zeros(len(self.joints.joints))
        return StepOutcome(residuals, True, residual, 0.0, worst, joint, len(found), 0, 0, steps, None)

    def _accept(self, assembly, solution, statistics, velocity, sleep, still):
        """Make the step's end the present; ``still``: (B,) bool, bodies within the tolerance."""
        problem, order, h = assembly.problem, assembly.numbering.scene[:-1], assembly.problem.step
        moved = moved_state(self.state, assembly, solution, statistics, velocity)
        moved.way = np.zeros(len(order))
        moved.way[order] = way_moved(solution.velocity[:-1], self.model.body_radius[order], h)
        held = self.model.movable & ~self.assembler.free(self.state.time)
        moved.way[held] = np.inf  # nobody looked at their overlaps
        moved.contacts = sleep.contacts
        count = len(assembly.contacts)
        impulse = world_impulses(problem.contacts.normal[:count], solution.contact_impulse[:count])
        moved.contact_force = sleep.impulses_after(impulse) / h
        self.collider.accept(sleep.contacts)
        rows, joints = problem.joints, self.joints
        if len(rows):
            joints.force[assembly.row_number] = row_forces(assembly, solution)
            twist = rows.coordinate == Coordinate.TWIST
            turned = coordinates(rows, solution.position, solution.orientation)
            joints.angle[assembly.row_number[twist]] = (rows.offset + turned)[twist]
        self.assembler.hand_over.apply(self.state, moved)
        self.rest.track(moved, still, sleep.asleep)
        self.state = moved
