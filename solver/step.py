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
        self.state = None
        self.deepest, self.failures = DEEPEST, 0
        self.recorder = ForceRecorder(scene) if config.record_forces else None

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
        state = self.state
        self.joints.observe(state.position, state.orientation, self.assembler.prescribed_velocity(state, step))
        contacts, impulses = self._contacts(step)
        assembly = self.assembler.build(state, step, contacts, impulses)
        assembly, solution, statistics, tolerance, check, solves = self.position_phase.solve(
            assembly, state, depth >= self.deepest
        )
        overlap, unsolved = (0.0, 0.0) if check is None else (check.overlap, check.unsolved)
        spent = solution.newton_iterations, solution.linear_iterations, solves
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
        self._accept(assembly, solution, statistics, end.velocity)
        if self.recorder is not None:
            self.recorder.add(assembly, solution, end, residuals)
        worst = np.zeros(len(state.position))
        worst[assembly.numbering.scene[:n]] = error[:n]
        joint = step * end.joint
        np.maximum.at(joint, assembly.problem.joints.joint, residuals.joint_row)
        return [
            StepOutcome(
                residuals=residuals,
                converged=bool(np.all(~spurious & (error[:n] <= tolerance))) and unsolved <= self.fast,
                residual=float(np.maximum(error[:n].max(initial=0.0), unsolved)),
                velocity_residual=float(end.body.max(initial=0.0)),
                worst=worst,
                worst_joint=joint,
                contacts=len(assembly.problem.contacts),
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

    def _contacts(self, step):
        """Contacts at the present state, and the impulses [N s] they carried, for a warm start."""
        state = self.state
        position, orientation = self.frames.to_body(state.position, state.orientation)
        velocity = self.assembler.prescribed_velocity(state, step)
        free = self.assembler.free(self.state.time)
        contacts = self.collider.collide(position, orientation, velocity[:, :3], velocity[:, 3:], step, free)
        if state.contacts is None:
            return contacts, np.zeros((len(contacts), 3))
        old = state.contacts
        known = PairOverlap(old.body_a, old.body_b, old.gap, len(state.way))
        contacts = plausible(contacts, known, state.way, self.model)
        return contacts, carry_impulses(state.contacts, state.contact_force * step, contacts)

    def _accept(self, assembly, solution, statistics, velocity):
        problem, order, h = assembly.problem, assembly.numbering.scene[:-1], assembly.problem.step
        moved = moved_state(self.state, assembly, solution, statistics, velocity)
        moved.way = np.zeros(len(order))
        moved.way[order] = way_moved(solution.velocity[:-1], self.model.body_radius[order], h)
        held = self.model.movable & ~self.assembler.free(self.state.time)
        moved.way[held] = np.inf  # nobody looked at their overlaps
        moved.contacts = assembly.contacts
        count = len(assembly.contacts)
        impulse = solution.contact_impulse[:count]
        moved.contact_force = world_impulses(problem.contacts.normal[:count], impulse) / h
        self.collider.accept(assembly.contacts)
        rows, joints = problem.joints, self.joints
        if len(rows):
            joints.force[assembly.row_number] = row_forces(assembly, solution)
            twist = rows.coordinate == Coordinate.TWIST
            turned = coordinates(rows, solution.position, solution.orientation)
            joints.angle[assembly.row_number[twist]] = (rows.offset + turned)[twist]
        self.state = moved
