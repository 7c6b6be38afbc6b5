# SPDX-License-Identifier: GPL-3.0-or-later
"""The position phase: the end pose of a step, and the contacts that only show there.

Where detection at the end pose finds what the start did not show, the step is put together anew: islands merge, and an
island that touches something takes its joints' directions at the end of the step instead of the middle.
"""

from dataclasses import replace

import numpy as np

from .constraints.breaking import row_forces
from .problem import world_impulses
from .proximal import SolveOptions
from .redetect import check_end

SLOW = 0.5  # [m/s] below it an island is held to the tight tolerance
CALM = 0.1  # [m/s] below it Gauss-Seidel only stirs what rests
REPEATS = 3  # solves with contacts that only showed at the end pose


class PositionPhase:
    """Solves the position phase of steps of one scene."""

    def __init__(self, assembler, collider, frames, joints, solver, tolerances):
        """tolerances: (slow, fast) [m], as SolverConfig.tolerances gives them."""
        self.assembler, self.collider, self.frames = assembler, collider, frames
        self.joints, self.solver = joints, solver
        self.slow, self.fast = tolerances

    def solve(self, assembly, state):
        """Position phase, repeated with the contacts that only show at the end pose.

        Returns (Assembly, StepSolution, SolveStatistics, tolerance (n,), EndCheck or None,
        number of solves).
        """
        options, tolerance = self.options(assembly, state)
        solution, statistics = self.solver.solve(assembly.problem, options)
        for repeat in range(REPEATS + 1):
            check = check_end(assembly, solution, self.collider, self.frames, self.assembler, self.fast)
            if check is None or check.missed is None or repeat == REPEATS:
                break
            spent = solution.newton_iterations, solution.linear_iterations
            assembly = self._with_missed(assembly, solution, check.missed, state)
            options, tolerance = self.options(assembly, state)
            options = replace(options, start=solution.velocity[: len(tolerance)])
            solution, statistics = self.solver.solve(assembly.problem, options)
            solution.newton_iterations += spent[0]
            solution.linear_iterations += spent[1]
        return assembly, solution, statistics, tolerance, check, 1 + repeat

    def _with_missed(self, assembly, solution, missed, state):
        """The Assembly with more contacts: islands and integrator chosen anew, impulses found so far to start from."""
        contacts, problem, joints = assembly.contacts, assembly.problem, self.joints
        count = len(contacts)
        impulses = world_impulses(problem.contacts.normal[:count], solution.contact_impulse[:count])
        force = joints.force.copy()
        force[assembly.row_number] = row_forces(assembly, solution)
        return self.assembler.build(state, problem.step, contacts, impulses, missed, force)

    def options(self, assembly, state):
        """SolveOptions, and the tolerance (n,) each body's island is held to."""
        n = assembly.problem.bodies.dynamic_count
        speed = island_speed(assembly, assembly.problem.bodies.velocity[:n])
        tolerance = np.where(speed > SLOW, self.fast, self.slow)
        return SolveOptions(tolerance, state.eps[assembly.numbering.scene[:n]], speed > CALM), tolerance


def island_speed(assembly, velocity):
    """(n,) speed of the fastest body in each body's island [m/s], spin counted at the radius of gyration."""
    island, spin = assembly.island, assembly.problem.bodies.gyration() * np.linalg.norm(velocity[:, 3:], axis=1)
    speed = np.maximum(np.linalg.norm(velocity[:, :3], axis=1), spin)
    fastest = np.zeros(len(assembly.island_jointed))
    np.maximum.at(fastest, island, speed)
    return fastest[island]
