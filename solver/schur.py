# SPDX-License-Identifier: GPL-3.0-or-later
"""The published baseline: a StepProblem solved in constraint space, by Newton's method on Fischer-Burmeister rows.

Each iteration linearises all rows (constraints/complementarity.py), solves the Schur complement for the change of the
impulses by preconditioned conjugate residuals (linear/schur.py, schur_system.py), and takes the best of a row of step
lengths (step_search.py).  The iterate with the smallest residual is the answer.  Newton is driven by the host, since
conjugate residuals of warp.optim.linear look at their residual from there as well.
"""

import warp as wp

from .arcs import arc_kernels
from .arrays import ISLANDS, OUTER, IslandArrays
from .constraints.complementarity import complementarity_kernels
from .constraints.contact import contact_kernels
from .constraints.joints import joint_kernels
from .device_problem import DeviceProblem
from .lanes import threads
from .linear.gradient import momentum_functions
from .linear.schur_system import SchurSystem
from .linear.stiffness import stiffness_kernel
from .mathx.real import real_types
from .motion import motion_kernels
from .newton_control import control_kernels
from .proximal import read_solution
from .spinning import spinning_kernels
from .step_search import SHORT, StepSearch

NEWTON_MOST = 60  # iterations per solve
REDUCTION, LINEAR_MOST = 1e-4, 400  # of the residual by conjugate residuals, and their iterations, per Newton iteration
SHIFT_LARGEST = 1.0  # eps of contacts, which starts as the last step left it
SHIFT_SMALLEST = {"float64": 1e-6, "float32": 1e-4}
SHIFT_JOINT = {"float64": 1e-7, "float32": 1e-5}
SLOW, SHRINK = 0.5, 0.3  # a full step that leaves more than this much of the residual shrinks the shift
WORSE, GROW = 1.5, 4.0  # a step that raises the residual this much, or a short one, makes it grow

kernel = wp.kernel(module="axion_schur_control", enable_backward=False)
islands_slot, outer_slot = wp.constant(ISLANDS), wp.constant(OUTER)


@kernel
def judge_iterate(
    counts: wp.array(dtype=wp.int32),
    flags: wp.array(dtype=wp.int32),
    iterations: int,
    smallest: wp.float64,
    isl: IslandArrays,
):
    """After an iteration, for each island: adapt the shift, keep the best iterate, stop if good, stuck or late."""
    k = wp.tid()
    if k >= counts[islands_slot]:
        return
    isl.keep[k] = 0
    isl.restore[k] = 0
    if isl.outer_active[k] == 0:
        return
    isl.newton_count[k] = isl.newton_count[k] + 1
    isl.linear_count[k] = isl.linear_count[k] + iterations
    value = wp.max(
        wp.max(isl.gradient[k], isl.residual_joint[k]), wp.max(isl.residual_normal[k], isl.residual_tangent[k])
    )
    alpha = isl.alpha[k]
    before = isl.previous[k]
    if alpha == wp.float64(1.0) and value > wp.float64(SLOW) * before and value < before:
        isl.eps[k] = wp.max(wp.float64(SHRINK) * isl.eps[k], smallest)
    elif alpha < wp.float64(SHORT) or value > wp.float64(WORSE) * before:
        isl.eps[k] = wp.min(wp.float64(GROW) * isl.eps[k], wp.float64(SHIFT_LARGEST))
    isl.previous[k] = value
    if value < isl.best[k]:
        isl.best[k] = value
        isl.keep[k] = 1
    if value < isl.tolerance[k] or isl.newton_count[k] >= NEWTON_MOST or alpha == wp.float64(0.0):
        isl.outer_active[k] = 0
        isl.restore[k] = 1 - isl.keep[k]
    else:
        wp.atomic_max(flags, outer_slot, 1)


class SchurSolver:
    """Solves StepProblems on one device in one precision, as ProximalSolver does; see there for the arguments."""

    resting, eps_at_rest, hanging, branching = 0.5, 1.0e-4, 1.0, 1.0  # see ProximalSolver

    def __init__(self, device, precision):
        self.device = wp.get_device(device)
        real = real_types(wp.float64 if precision == "float64" else wp.float32)
        self.problem = DeviceProblem(self.device, real)
        self.system = SchurSystem(self.device, real, REDUCTION, LINEAR_MOST)
        self.search = StepSearch(self.device, real)
        self._contact, self._joint, self._motion = contact_kernels(), joint_kernels(), motion_kernels()
        self._momentum, self._stiffness = momentum_functions(), stiffness_kernel()
        self._control, self._arcs = control_kernels(), arc_kernels()
        self._equations = complementarity_kernels(real).equations
        self.stirring = 0.5 if precision == "float64" else 2.0
        self.spinning = 1.0e-3 if precision == "float64" else 0.1
        self._smallest, self._joint_shift = SHIFT_SMALLEST[precision], SHIFT_JOINT[precision]

    def solve(self, problem, options):
        """Solve the position phase: (StepSolution, SolveStatistics).  The end pose satisfies gaps, joints, friction."""
        return self._solve(problem, options, True, None)

    def solve_velocity(self, problem, options, loaded):
        """Solve the velocity phase at the end pose of ``problem``: joints rigid, loaded contacts rebound or rest."""
        return self._solve(problem, options, False, loaded)

    def begin(self, problem, options, position, loaded):
        """Take over a problem and linearise it at the first iterate.  Returns the DeviceProblem."""
        p = self.problem
        p.upload(problem, options, loaded)
        self.system.set_problem(p)
        self.search.set_problem(p)
        p.begin(self._joint_shift)
        p.islands.search_round.zero_()
        p.bodies.stiffness.zero_()  # only islands with joints have any, and none in the velocity phase
        self._over("bodies", self._motion.prepare_bodies, p.bodies)
        self._over("contacts", self._contact.prepare_contacts, p.settings, p.bodies, p.contacts, p.islands)
        self._over("rows", self._joint.prepare_rows, p.bodies, p.rows)
        self._over("islands", self._control.begin, p.flags, p.islands)
        self._linearise(position)
        return p

    def assemble_rows(self):
        """All equations and their slopes at the present iterate."""
        p = self.problem
        size = p.capacity["contacts"] + p.capacity["rows"]
        inputs = [p.counts, p.contacts, p.rows, self.system.arrays]
        wp.launch(self._equations, dim=size, inputs=inputs, device=self.device)

    def _solve(self, problem, options, position, loaded):
        p = self.begin(problem, options, position, loaded)
        while p.flags.numpy()[OUTER]:
            p.restart()
            self.assemble_rows()
            iterations = self.system.solve()
            self.search.step(self.system.arrays, position)
            self._linearise(position)
            self._residual()
            self._over("islands", judge_iterate, p.flags, int(iterations), self._smallest, p.islands)
            self._over("bodies", self._motion.keep_bodies, p.bodies, p.islands)
            self._over("contacts", self._contact.keep_contacts, p.contacts, p.islands)
            self._over("rows", self._joint.keep_rows, p.rows, p.islands)
        self._linearise(position)
        p.tell()
        return read_solution(p, problem)

    def _linearise(self, position):
        p = self.problem
        all_islands = p.islands.constrained
        if position:
            pose = all_islands, p.settings, p.bodies
            self._over("bodies", self._motion.integrate, *pose, p.islands)
            if p.launched["spinning"]:
                self._over("bodies", spinning_kernels()[0], *pose, p.islands)
            self._over("contacts", self._contact.linearise_contacts, *pose, p.contacts, p.islands)
            self._over("rows", self._joint.linearise_rows, *pose, p.rows, p.islands)
            if p.launched["rows"]:
                islands = p.islands.outer_active
                steady, arcs = self._arcs
                self._over("bodies", steady, all_islands, p.settings, p.bodies, p.rows, p.islands)
                self._over("bodies", arcs, all_islands, p.bodies, p.rows, p.islands)
                self._over("bodies", self._stiffness, islands, p.settings, p.bodies, p.rows, p.islands)
        else:
            still = all_islands, p.bodies
            self._over("contacts", self._contact.linearise_contacts_velocity, *still, p.contacts, p.islands)
            self._over("rows", self._joint.linearise_rows_velocity, *still, p.rows, p.islands)
        self._over("contacts", self._contact.contact_forces, all_islands, p.contacts, p.islands)

    def _residual(self):
        p = self.problem
        self._over("islands", self._control.residual_begin, p.islands)
        self._over("bodies", self._momentum.body_residual, p.bodies, p.contacts, p.rows, p.islands)
        self._over("contacts", self._contact.contact_residual, p.contacts, p.islands)
        self._over("rows", self._joint.row_residual, p.rows, p.islands)

    def _over(self, what, kernel, *arguments):
        room = self.problem.capacity[what]
        dim = room if what == "islands" else threads(self.device, room)
        wp.launch(kernel, dim=dim, inputs=[self.problem.counts, *arguments], device=self.device)
