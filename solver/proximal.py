# SPDX-License-Identifier: GPL-3.0-or-later
"""The proximal method: a StepProblem solved in body space by Newton's method, recorded once as a graph and replayed.

Outer loop: move the proximal centre p^ to the last impulses, read the geometry again, test the residual of the
nonlinear system. Inner loop: Newton on the convex function of the velocities that p = Proj(p^ - v / sigma) leaves,
with an exact line search. sigma = eps w shrinks where the outer loop is slow, so mass ratios of 10 000:1 take a
handful of iterations. Rockafellar 1976 (proximal point); Alart and Curnier 1991 (contact law); the figures behind
each constant: docs/solver.md.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import warp as wp

from .arcs import arc_kernels
from .arrays import INNER, MOST_LINEAR, MOST_NEWTON, OUTER, SWEEP, download_all
from .constraints.contact import contact_kernels
from .constraints.joints import joint_kernels
from .device_problem import DeviceProblem
from .gauss_seidel import sweep_kernels
from .lanes import threads
from .line_search import search_kernels
from .linear.assembly import assembly_kernels
from .linear.conjugate_gradient import cg_kernel
from .linear.gradient import momentum_functions
from .linear.stiffness import stiffness_kernel
from .mathx.real import real_types
from .motion import motion_kernels
from .newton_control import Limits, control_kernels
from .newton_iteration import gradient_kernel
from .passing_by import passing_kernels
from .problem import StepSolution
from .recording import recorded
from .secant import secant_kernel
from .spinning import spinning_kernels
from .squeezes import squeeze_kernels
from .unhindered import unhindered_kernels

SWEEPS_PER_BLOCK = 10  # Gauss-Seidel sweeps between two readings of the geometry


@dataclass
class SolveOptions:
    """How hard to try, per dynamic body (n,); an island takes the strictest of its members."""

    tolerance: np.ndarray  # [m] residual at which an island is done
    eps: np.ndarray  # proximal strength to start from, as the last step left it
    sweeps: np.ndarray  # whether Gauss-Seidel helps: 0 only late, 1 in trouble (it moves fast), 2 before Newton, too
    start: np.ndarray | None = None  # (n, 6) first iterate; None: the velocity at the start
    done: np.ndarray | None = None  # (n,) bool: bodies of islands that are solved already and are left out; None: none


@dataclass
class SolveStatistics:
    """What the solve did, per dynamic body (its island's figures)."""

    newton: np.ndarray
    swept: np.ndarray  # sweeps of Gauss-Seidel
    residual: np.ndarray  # by the solver's own measure [m]; metrics.py is what counts
    eps: np.ndarray
    constrained: np.ndarray  # bool: has a contact or a joint row
    held: np.ndarray | None = None  # bool: with overlap that nothing pushes out, see PositionPhase; None: nobody asked


class ProximalSolver:
    """Solves StepProblems on one device in one precision.  Keeps its arrays and graphs from step to step."""

    def __init__(self, device, precision, ropes=True):
        """ropes: whether problems may have DISTANCE rows; their stiffness is left out of the kernels otherwise."""
        self.device, self._ropes = wp.get_device(device), ropes
        real = real_types(wp.float64 if precision == "float64" else wp.float32)
        self.problem = DeviceProblem(self.device, real)
        self._contact, self._joint, self._motion = contact_kernels(), joint_kernels(), motion_kernels()
        self._momentum, self._stiffness = momentum_functions(), stiffness_kernel()
        self._assembly, self._cg = assembly_kernels(real, ropes), cg_kernel(real)
        self._squeezes, self._arcs = squeeze_kernels(), arc_kernels()
        self._unhindered, self._passing = unhindered_kernels(), passing_kernels()
        sweep = sweep_kernels()
        self._sweep = sweep.coloured if self.device.is_cuda else sweep.in_order
        self._gradient_kernel = gradient_kernel(ropes)
        self._mix = secant_kernel()
        self._search, self._control = search_kernels(ropes), control_kernels()
        self._limits = Limits()
        self._limits.inner, self._limits.inner_first, self._limits.outer = 16, 12, 40
        self._limits.easy, self._limits.late, self._limits.stale = 15, 8, 20
        self._limits.stalled, self._limits.cone_late, self._limits.cone_sweeps = 10, 4, 20
        self._limits.sweeps, self._limits.search, self._limits.inner_reduction = 20, 40, 1.0e-4
        self._limits.unloaded, self._limits.turn = 3, 6
        self._limits.squeezed = 10
        self._limits.eps_largest = 0.1
        self._limits.eps_smallest, self._limits.eps_settled = 1.0e-5, 1.0e-3
        self._limits.eps_joint_smallest = 1.0e-7
        # Beside 1 / eps the matrix of conjugate gradients rounds masses off in single precision.
        self._limits.eps_joint_iterated = 1.0e-7 if precision == "float64" else 1.0e-5
        # What is left at rest is noise: contacts pass it on, and an arch of 51 stones makes 30 times as much of it.
        self.resting = 0.1  # of the tolerance, for contacts at rest
        self.stirring = 0.1  # of the tolerance, what one more step moves a heap at rest by
        # Eps handed on, at least, for contacts at rest.  One iteration a step, from the impulses of the last one, makes
        # springs of them, as soft as eps: with 1e-4 thirty boxes swing by millimetres, and sixty buckle.
        self.eps_at_rest = 1.0e-7
        # Of what others aim at: what Newton leaves of joints is to one side step after step, and drives short waves.
        self.hanging = 0.005
        # Near a place where a mechanism could branch it is far more off than its anchors, and moves to one side.
        self.branching = 0.01
        # Likewise: momentum about an anchor is as far off as the anchor, to the same side step after step.
        self.spinning = 1.0e-3
        self._eps_joint = 1.0e-6
        self._graphs, self._loaded = {}, set()
        self._recorded = None

    def solve(self, problem, options):
        """Solve the position phase: (StepSolution, SolveStatistics).  The end pose satisfies gaps, joints, friction."""
        if not len(problem.contacts) and not len(problem.joints):
            return free_solution(problem, options)
        self.problem.upload(problem, options)
        self._replay("position")
        return read_solution(self.problem, problem)

    def solve_velocity(self, problem, options, loaded):
        """Solve the velocity phase at the end pose of ``problem``: joints rigid, loaded contacts rebound or rest.

        ``problem``'s free velocity is the one to correct, its poses (start and free) are the end pose, its
        rows have beta 0. loaded: (C,) bool, which contacts carried an impulse.
        """
        self.problem.upload(problem, options, loaded)
        self._replay("velocity")
        return read_solution(self.problem, problem)

    # Recording

    def _replay(self, phase):
        p = self.problem
        if self._recorded != p.generation:
            self._graphs.clear()
            self._recorded = p.generation
        launched = self._launched(phase)
        if self.device.is_cuda and launched not in self._loaded:  # recording there must see no compilation
            self._launch(phase)
            self._loaded.add(launched)
            return
        if launched not in self._graphs:
            self._record(phase)
            if phase == "position" and not self.device.is_cuda:
                self._record("velocity")  # what hits asks for it, and need not wait then
        wp.capture_launch(self._graphs[launched])

    def _record(self, phase):
        self._graphs[self._launched(phase)] = recorded(self.device, lambda: self._launch(phase))

    def _launched(self, phase):
        """What tells one graph from another: the phase, and which of its kernels run."""
        launched = self.problem.launched
        if phase == "velocity":
            launched = launched | {"spinning": 0}
        return phase, *(size > 0 for size in launched.values())

    def _launch(self, phase):
        position = phase == "position"
        p, control, flags, active = self.problem, self._control, self.problem.flags, self.problem.islands.outer_active
        p.begin(self._eps_joint, self._limits.eps_joint_iterated)
        p.bodies.stiffness.zero_()  # only islands with joints have any, and only where directions turn
        self._over_bodies(self._motion.prepare_bodies, p.bodies)
        self._over_contacts(self._contact.prepare_contacts, p.settings, p.bodies, p.contacts, p.islands)
        squeezes, tied = self._squeezes, position and p.launched["rows"]
        self._over_rows(self._joint.prepare_rows, p.bodies, p.rows)
        if position and p.launched["contacts"]:
            self._leave_unhindered()
        self._linearise(position, active)
        self._bend(position, active)
        self._stiffen(position)
        self._over_islands(control.begin, flags, p.islands)

        def newton():
            self._newton_step()
            self._gradient()

        def outer():
            self._over_islands(control.outer_begin, flags, p.islands)
            self._over_bodies(self._motion.centre, p.bodies, p.islands)
            self._over_contacts(self._contact.shift_contacts, p.contacts, p.islands)
            if position:
                self._over_rows(self._joint.meet_anchors, active, p.settings, p.bodies, p.rows, p.islands)
            self._gradient()
            wp.capture_while(flags[INNER : INNER + 1], newton)
            self._settle()
            if p.launched["contacts"]:
                self._over_islands(control.request_sweeps, flags, self._limits, p.islands)
                wp.capture_while(flags[SWEEP : SWEEP + 1], partial(self._sweep_block, position))
            self._linearise(position, active)
            if position:
                self._over_rows(self._joint.carry_impulses, active, p.rows, p.islands)
            self._bend(position, active)
            self._residual()
            if position and p.launched["contacts"]:
                self._over_contacts(self._passing.bring_back, p.settings, p.bodies, p.contacts, p.islands)
            if tied:
                self._over_contacts(squeezes.look, p.settings, p.contacts, p.islands)
            self._over_islands(control.outer_check, flags, self._limits, p.islands)
            self._over_bodies(self._motion.keep_bodies, p.bodies, p.islands)
            self._over_contacts(self._contact.keep_contacts, p.contacts, p.islands)
            self._over_rows(self._joint.keep_rows, p.rows, p.islands)
            if p.launched["rows"]:
                self._by_teams(self._mix, p.bodies, p.islands)
            if tied:
                self._over_contacts(squeezes.let_go, p.contacts, p.islands)
            self._linearise(position, p.islands.restore)
            self._bend(position, p.islands.restore)
            self._stiffen(position)

        wp.capture_while(flags[OUTER : OUTER + 1], outer)
        p.tell()

    def _leave_unhindered(self):
        """Where free motion is the answer there is nothing to solve."""
        p, kernels = self.problem, self._unhindered
        self._over_islands(kernels.hope, p.islands)
        self._over_contacts(kernels.hinder, p.bodies, p.contacts, p.islands)
        self._over_bodies(kernels.free_bodies, p.bodies, p.islands)
        self._over_contacts(kernels.free_contacts, p.contacts, p.islands)
        self._over_contacts(self._passing.leave_out, p.settings, p.bodies, p.contacts, p.islands)

    def _settle(self):
        """Newton leaves a little momentum unaccounted for, step after step of the same sign.

        It goes into gaps instead, which the next step sees and mends.
        """
        p = self.problem
        self._over_islands(self._control.settle, p.islands)
        self._over_contacts(self._contact.contact_forces, p.islands.outer_active, p.contacts, p.islands)
        self._rebuild(p.islands.rebuild)

    def _rebuild(self, islands):
        """Velocities from the impulses, in the islands flagged."""
        p = self.problem
        arguments = p.bodies, p.contacts, p.rows, p.islands
        self._over_bodies(self._motion.velocity_from_impulses, islands, *arguments)

    def _linearise(self, position, islands):
        """Read the geometry, in the islands flagged: nothing moved in the others."""
        p = self.problem
        if position:
            pose = islands, p.settings, p.bodies
            self._over_bodies(self._motion.integrate, *pose, p.islands)
            if p.launched["spinning"]:
                self._over_bodies(spinning_kernels()[0], *pose, p.islands)
            self._over_contacts(self._contact.linearise_contacts, *pose, p.contacts, p.islands)
            self._over_rows(self._joint.linearise_rows, *pose, p.rows, p.islands)
        else:
            self._over_contacts(self._contact.linearise_contacts_velocity, islands, p.bodies, p.contacts, p.islands)
            self._over_rows(self._joint.linearise_rows_velocity, islands, p.bodies, p.rows, p.islands)

    def _stiffen(self, position):
        """What the turn of joints' directions adds to H; in the velocity phase they stand still."""
        p = self.problem
        if position and p.launched["rows"]:
            islands = p.islands.outer_active
            self._over_bodies(self._stiffness, islands, p.settings, p.bodies, p.rows, p.islands)
            if self._ropes:
                self._over_rows(self._joint.turn_rows, islands, p.settings, p.bodies, p.rows, p.islands)

    def _bend(self, position, islands):
        """How far joints bend ways aside, in the islands flagged."""
        p = self.problem
        if position and p.launched["rows"]:
            steady, arcs = self._arcs
            self._over_bodies(steady, islands, p.settings, p.bodies, p.rows, p.islands)
            self._over_bodies(arcs, islands, p.bodies, p.rows, p.islands)

    def _residual(self):
        p = self.problem
        self._over_islands(self._control.residual_begin, p.islands)
        self._over_bodies(self._momentum.body_residual, p.bodies, p.contacts, p.rows, p.islands)
        self._over_contacts(self._contact.contact_residual, p.contacts, p.islands)
        self._over_rows(self._joint.row_residual, p.rows, p.islands)

    def _gradient(self):
        """The laws at the present iterate, and which islands go on."""
        p = self.problem
        self._launch_kernel(self._control.inner_reset, 1, counts=False, arguments=(p.flags,))
        self._by_teams(self._gradient_kernel, p.flags, self._limits, p.bodies, p.contacts, p.rows, p.islands)

    def _assemble(self):
        p = self.problem
        self._over_bodies(self._assembly.assemble_bodies, p.bodies, p.contacts, p.rows, p.islands, p.matrix)
        pairs = p.bodies, p.contacts, p.rows, p.pairs, p.islands, p.matrix
        self._over("pairs", self._assembly.assemble_pairs, *pairs)

    def _newton_step(self):
        p = self.problem
        self._assemble()
        if p.launched["direct"]:
            p.factor.launch_factor(p.matrix.exact_diagonal, p.matrix.exact_block)
            p.factor.launch_solve(p.bodies.r, p.bodies.d)
        self._by_teams(self._cg, p.cg_reduction, p.cg_most, p.bodies, p.matrix, p.islands)
        if p.launched["rows"]:
            islands = p.islands.soften
            self._over_bodies(self._stiffness, islands, p.settings, p.bodies, p.rows, p.islands)
        self._by_teams(self._search.directions, p.bodies, p.contacts, p.rows, p.islands)
        self._by_teams(self._search.search, self._limits, p.bodies, p.contacts, p.rows, p.islands)

    def _sweep_block(self, position):
        p, control, flags = self.problem, self._control, self.problem.flags
        islands = p.islands.sweep_active  # settled, so their velocities are those of their impulses
        self._linearise(position, islands)
        self._by_teams(self._sweep, wp.int32(SWEEPS_PER_BLOCK), p.bodies, p.contacts, p.runs, p.islands)
        self._over_contacts(self._contact.contact_forces, islands, p.contacts, p.islands)
        self._rebuild(islands)
        self._launch_kernel(control.sweep_reset, 1, counts=False, arguments=(flags,))
        self._over_islands(control.sweeps_done, flags, wp.int32(SWEEPS_PER_BLOCK), p.islands)

    def _over(self, what, kernel, *arguments):
        self._launch_kernel(kernel, threads(self.device, self.problem.launched[what]), *arguments)

    def _over_bodies(self, kernel, *arguments):
        self._over("bodies", kernel, *arguments)

    def _over_contacts(self, kernel, *arguments):
        self._over("contacts", kernel, *arguments)

    def _over_rows(self, kernel, *arguments):
        self._over("rows", kernel, *arguments)

    def _over_islands(self, kernel, *arguments):
        self._launch_kernel(kernel, self.problem.launched["islands"], *arguments)

    def _by_teams(self, kernel, *arguments):
        p = self.problem
        self._launch_kernel(kernel, p.blocks * p.width, p.teams, p.width, p.blocks, *arguments)

    def _launch_kernel(self, kernel, size, *rest, counts=True, arguments=()):
        inputs = [self.problem.counts, *rest] if counts else list(arguments)
        wp.launch(kernel, dim=size, inputs=inputs, device=self.device)


def free_solution(problem, options):
    """(StepSolution, SolveStatistics) of a problem without contacts and joints: its free motion."""
    bodies, n = problem.bodies, problem.bodies.dynamic_count
    velocity = bodies.velocity.copy()
    velocity[:n] = bodies.free_velocity[:n]
    solution = StepSolution(velocity, bodies.free_position, bodies.free_orientation, np.zeros((0, 3)), np.zeros(0))
    return solution, SolveStatistics(*np.zeros((2, n), np.int32), np.zeros(n), options.eps, np.zeros(n, bool))


def read_solution(device, problem):
    """(StepSolution, SolveStatistics) of ``problem`` from the DeviceProblem it was solved on."""
    figures, n, count = device.figures, problem.bodies.dynamic_count, len(problem.bodies.mass)
    of_bodies, jointed = (device.bodies.u, device.bodies.x, device.bodies.q), bool(len(problem.joints))
    *motion, arc, pulled, drawn, contact, rows, flags, newton, swept, residual, eps = download_all(
        *((values, count) for values in of_bodies),
        *((values, count if jointed else 0) for values in (device.bodies.arc, device.bodies.pulled)),
        (device.rows.drawn, len(problem.joints)),
        (device.contacts.p, len(problem.contacts)), (device.rows.p, len(problem.joints)),
        (device.flags, MOST_LINEAR + 1),
        *((values, n) for values in (figures.newton, figures.swept, figures.residual, figures.eps_end)),
    )  # fmt: skip
    if device.plan.place is not None:
        contact = contact.take(device.plan.place, 0)
    bent = (arc, pulled, drawn) if jointed else ()
    solution = StepSolution(*motion, contact, rows, *flags[MOST_NEWTON:].tolist(), *bent)
    return solution, SolveStatistics(newton, swept, residual * problem.step, eps, device.plan.constrained.copy())
