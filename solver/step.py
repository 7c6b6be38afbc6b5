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
from .metrics import body_residuals, step_residuals
from .problem import Coordinate, world_impulses
from .proximal import SolveOptions
from .redetect import check_end
from .reference.rows import coordinates
from .state import State
from .velocity_phase import calm, needs_velocity_phase, total_velocity, velocity_problem

SLOW = 0.5  # [m/s] below it an island is held to the tight tolerance
CALM = 0.1  # [m/s] below it Gauss-Seidel only stirs what rests
FIRST_EPS, EPS_SMALLEST = 1e-2, 1e-4
DEEPEST = 4  # a step is halved at most this often
PATIENCE = 3  # frames given up on before steps are halved less
WORTH_HALVING = 10.0  # overlap left over, in tolerances, at which a step is halved
REPEATS = 3  # solves with contacts that only showed at the end pose


@dataclass
class StepOutcome:
    """How one accepted step went."""

    residuals: object  # metrics.StepResiduals
    converged: bool
    worst: np.ndarray  # (B,) worst residual of each scene body [m]
    contacts: int
    newton: int
    linear: int
    solves: int
    given_up: bool  # it misses the tolerance, and no halving was left


class Stepper:
    """Advances the state of one scene."""

    def __init__(self, scene, frames, joints, model, solver, config):
        self.assembler = Assembler(scene, frames, joints, config)
        self.collider = Collider(model)
        self.frames, self.joints, self.solver, self.model = frames, joints, solver, model
        self.slow, self.fast = config.tolerances()
        self.state = None
        self.deepest, self.failures = DEEPEST, 0

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
        contacts, impulses = self._contacts(step)
        assembly = self.assembler.build(state, step, contacts, impulses)
        assembly, solution, statistics, tolerance, check = self._solve(assembly)
        overlap, unsolved = (0.0, 0.0) if check is None else (check.overlap, check.unsolved)
        spent = solution.newton_iterations, solution.linear_iterations
        residuals = step_residuals(assembly.problem, solution)
        residuals.penetration = max(residuals.penetration, overlap)
        error = body_residuals(assembly.problem, residuals, penetration=False)
        n = assembly.problem.bodies.dynamic_count
        tolerance = np.where(self._island_speed(assembly, solution.velocity[:n]) > SLOW, self.fast, tolerance)
        missed = not np.all(error[:n] <= self.fast)  # NaN is a miss
        missed = missed or unsolved > WORTH_HALVING * self.fast
        if missed and depth < self.deepest:
            halves = self.advance(0.5 * step, depth + 1) + self.advance(0.5 * step, depth + 1)
            halves[0] = replace(
                halves[0], newton=halves[0].newton + spent[0], linear=halves[0].linear + spent[1],
                solves=halves[0].solves + 1
            )  # fmt: skip
            return halves
        velocity, more = self._end_velocity(assembly, solution, missed)
        if not missed and self.joints.break_overloaded(assembly, solution, state.time + step):
            return self.advance(step, depth)
        self._accept(assembly, solution, statistics, velocity)
        worst = np.zeros(len(state.position))
        order = assembly.numbering.scene
        worst[order[:n]] = error[:n]
        converged = bool(np.all(error[:n] <= tolerance)) and unsolved <= self.fast
        count, newton, linear = len(assembly.problem.contacts), spent[0] + more[0], spent[1] + more[1]
        return [StepOutcome(residuals, converged, worst, count, newton, linear, 1, bool(missed))]

    def _contacts(self, step):
        """Contacts at the present state, and the impulses [N s] they carried, for a warm start."""
        state = self.state
        position, orientation = self.frames.to_body(state.position, state.orientation)
        velocity = self.assembler.prescribed_velocity(state, step)
        free = self.assembler.free(state.time)
        contacts = self.collider.collide(position, orientation, velocity[:, :3], velocity[:, 3:], step, free)
        if state.contacts is None or not len(state.contacts):
            return contacts, np.zeros((len(contacts), 3))
        return contacts, carry_impulses(state.contacts, state.contact_force * step, contacts)

    def _solve(self, assembly):
        """Position phase, repeated with the contacts that only show at the end pose.

        Returns (Assembly, StepSolution, SolveStatistics, tolerance (n,), EndCheck or None).
        """
        options, tolerance = self._options(assembly)
        solution, statistics = self.solver.solve(assembly.problem, options)
        for repeat in range(REPEATS + 1):
            check = check_end(assembly, solution, self.collider, self.frames, self.assembler, self.fast)
            if check is None or check.assembly is None or repeat == REPEATS:
                break
            spent = solution.newton_iterations, solution.linear_iterations
            assembly = check.assembly
            options = replace(options, start=solution.velocity[: len(tolerance)])
            solution, statistics = self.solver.solve(assembly.problem, options)
            solution.newton_iterations += spent[0]
            solution.linear_iterations += spent[1]
        return assembly, solution, statistics, tolerance, check

    def _options(self, assembly):
        """SolveOptions, and the tolerance (n,) each body's island is held to."""
        n = assembly.problem.bodies.dynamic_count
        speed = self._island_speed(assembly, assembly.problem.bodies.velocity[:n])
        tolerance = np.where(speed > SLOW, self.fast, self.slow)
        return SolveOptions(tolerance, self.state.eps[assembly.numbering.scene[:n]], speed > CALM), tolerance

    @staticmethod
    def _island_speed(assembly, velocity):
        """(n,) speed of the fastest body in each body's island [m/s], spin counted at the radius of gyration."""
        bodies, n, island = assembly.problem.bodies, assembly.problem.bodies.dynamic_count, assembly.island
        gyration = np.sqrt(bodies.inertia[:n].max(axis=1) / bodies.mass[:n])
        speed = np.maximum(np.linalg.norm(velocity[:, :3], axis=1), gyration * np.linalg.norm(velocity[:, 3:], axis=1))
        fastest = np.zeros(len(assembly.island_jointed))
        np.maximum.at(fastest, island, speed)
        return fastest[island]

    def _end_velocity(self, assembly, solution, missed):
        """(n, 6) velocity the step ends with, and (Newton, linear) iterations spent on it."""
        velocity = total_velocity(assembly, solution)
        need = needs_velocity_phase(assembly, solution, self.fast)
        spent = (0, 0)
        if need.any():
            problem, loaded, first, mask = velocity_problem(assembly, solution, need)
            n = problem.bodies.dynamic_count
            options = replace(self._options(assembly)[0], start=first, sweeps=np.zeros(n, bool))
            result, _ = self.solver.solve_velocity(problem, options, loaded)
            velocity[mask] = result.velocity[:n][mask]
            spent = result.newton_iterations, result.linear_iterations
        if missed:
            calm(assembly, velocity)
        return velocity, spent

    def _accept(self, assembly, solution, statistics, velocity):
        state, problem, order = self.state, assembly.problem, assembly.numbering.scene[:-1]
        n, h = problem.bodies.dynamic_count, problem.step
        moved = replace(
            state, time=state.time + h, position=state.position.copy(), orientation=state.orientation.copy(),
            velocity=state.velocity.copy(), eps=state.eps.copy(),
        )  # fmt: skip
        moved.position[order], moved.orientation[order] = solution.position[:-1], solution.orientation[:-1]
        moved.velocity[order[:n]], moved.velocity[order[n:]] = velocity, problem.bodies.velocity[n:-1]
        calm, hard = statistics.newton <= 3, statistics.newton > 6
        eps = np.where(calm, np.maximum(0.3 * statistics.eps, EPS_SMALLEST), statistics.eps)
        moved.eps[order[:n]] = np.where(hard, np.minimum(10.0 * statistics.eps, FIRST_EPS), eps)
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
