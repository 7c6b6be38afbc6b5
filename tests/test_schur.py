# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton in constraint space: rows and linear system against NumPy, solutions against the judge and the laws."""

from dataclasses import replace

import numpy as np
import pytest
import warp as wp
from axion.solver import metrics, schur
from axion.solver.arrays import download
from axion.solver.linear.schur_system import unknown_slots
from axion.solver.problem import Coordinate, JointRows, StepProblem, tangents
from axion.solver.reference.ncp import solve_ncp
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import contact_jacobians, coordinates, gaps, start_gaps, surface_slip
from axion.solver.schur import SchurSolver
from axion.solver.topology import build_topology
from step_problems import G, bodies_of, options, random_problem
from test_proximal import TOLERANCE, H, hung, judged, stacked

SOLVERS = {}


def solver(precision="float64"):
    """One SchurSolver a precision for all tests."""
    if precision not in SOLVERS:
        SOLVERS[precision] = SchurSolver("cpu", precision)
    return SOLVERS[precision]


def solve(problem, precision="float64", **settings):
    return solver(precision).solve(problem, options(problem, **settings))[0]


class Rows:
    """The linear system of one Newton iteration at velocities ``start`` (n, 6), as float64 arrays."""

    def __init__(self, problem, start=None, solved=False):
        s = solver()
        p = s.begin(problem, options(problem, eps=1e-2, start=start), True, None)
        s.assemble_rows()
        if solved:
            s.system.solve()
        system, count = s.system.arrays, 3 * len(problem.contacts) + len(problem.joints)
        for name in ("value", "slope", "shift", "root", "damping", "start", "unknown", "right"):
            setattr(self, name, download(getattr(system, name), count))
        self.contact_slot = download(system.contact_slot, len(problem.contacts))
        self.row_slot = download(system.row_slot, len(problem.joints))
        self.impulse_step = self.start + self.root * self.unknown
        self.velocity_step = download(p.bodies.d, problem.bodies.dynamic_count)
        self.momentum = -download(p.bodies.r, problem.bodies.dynamic_count)
        self.stiffness = download(p.bodies.stiffness, problem.bodies.dynamic_count)
        self.J = self._jacobian(problem, p, system)

    def _jacobian(self, problem, p, system):
        n, total = problem.bodies.dynamic_count, len(problem.bodies.mass)
        J = np.zeros((len(self.value), total, 6))
        order = p.topology.contact_order
        contacts = replace(problem.contacts, start_gap=start_gaps(problem)).take(order)
        j_a, j_b = contact_jacobians(contacts, problem.bodies.position, problem.bodies.orientation)
        t1, t2 = tangents(contacts.normal)
        for name, offset in (("axis_e", 1), ("axis_f", 2)):
            axis = download(getattr(system, name), len(contacts))
            share = np.einsum("ci,cki->ck", axis, np.stack([contacts.normal, t1, t2], axis=1))
            for body, j in ((contacts.body_a, j_a), (contacts.body_b, j_b)):
                J[self.contact_slot + offset, body] += np.einsum("ck,cki->ci", share, j)
        for body, j in ((contacts.body_a, j_a), (contacts.body_b, j_b)):
            J[self.contact_slot, body] += j[:, 0]
        for body, name in ((problem.joints.body_a, "jac_a"), (problem.joints.body_b, "jac_b")):
            J[self.row_slot, body] += download(getattr(p.rows, name), len(problem.joints))
        return J[:, :n]


@pytest.mark.parametrize("seed", range(4))
def test_slopes_of_rows_are_central_differences_of_their_values(seed):
    # a J is d phi / d u: of gap rows at the start's levers, and of position rows (beta 1), at an iterate that turns no
    # body (else the exponential map adds h |w - w_free| / 2).  Rows with beta < 1 take J u at the end pose, whose own
    # turning is left out, and rows of friction turn e: not here.
    rng = np.random.default_rng(seed)
    problem = random_problem(seed)
    bodies, n = problem.bodies, problem.bodies.dynamic_count
    bodies.free_velocity[:n, 3:], bodies.free_orientation[:n] = 0.0, bodies.orientation[:n]
    problem.contacts.margin_a[:] = problem.contacts.margin_b[:] = 0.0
    problem.joints.beta[:] = 1.0
    start, direction = rng.normal(size=(2, n, 6))
    start[:, 3:] = 0.0
    delta = 1e-6
    rows = Rows(problem, start)
    ahead, behind = Rows(problem, start + delta * direction), Rows(problem, start - delta * direction)
    difference = (ahead.value - behind.value) / (2 * delta)
    want = rows.slope * np.einsum("rni,ni->r", rows.J, direction)
    checked = np.concatenate([rows.contact_slot, rows.row_slot])
    assert difference[checked] == pytest.approx(want[checked], abs=1e-5 * np.abs(rows.J).max())


@pytest.mark.parametrize("seed", range(4))
def test_the_step_solves_newtons_equations(seed):
    # N du = J^T dp - g exactly, and a J du + (b + a shift) dp = -phi to the accuracy of conjugate residuals.
    problem = random_problem(seed)
    bodies, n = problem.bodies, problem.bodies.dynamic_count
    rows = Rows(problem, solved=True)
    inertia = world_inertia(bodies.free_orientation[:n], bodies.inertia[:n]) + rows.stiffness
    push = np.einsum("rni,r->ni", rows.J, rows.impulse_step) - rows.momentum
    want = np.hstack(
        [push[:, :3] / bodies.mass[:n, None], np.linalg.solve(inertia, push[:, 3:, None])[..., 0]]
    )  # fmt: skip
    assert rows.velocity_step == pytest.approx(want, abs=1e-9 * np.abs(want).max())
    left = rows.slope * np.einsum("rni,ni->r", rows.J, rows.velocity_step) + rows.damping * rows.impulse_step
    off = np.abs(left + rows.value)
    assert np.all(off <= 10 * schur.REDUCTION * rows.root * np.linalg.norm(rows.right) + 1e-9)


def test_the_operator_is_the_schur_complement():
    problem = random_problem(11)
    bodies, n = problem.bodies, problem.bodies.dynamic_count
    rows = Rows(problem, solved=True)
    system = solver().system
    inverse = np.zeros((n, 6, 6))
    inverse[:, range(3), range(3)] = 1.0 / bodies.mass[:n, None]
    inverse[:, 3:, 3:] = np.linalg.inv(world_inertia(bodies.free_orientation[:n], bodies.inertia[:n]) + rows.stiffness)
    S = np.einsum("rni,nij,snj->rs", rows.J, inverse, rows.J)
    A = rows.root[:, None] * S * rows.root + np.diag(rows.damping)
    assert np.linalg.eigvalsh(A).min() > 0.0
    x = np.random.default_rng(0).normal(size=len(rows.value))
    full = np.zeros(len(system.arrays.right))
    full[: len(x)] = x
    given = wp.array(full, dtype=wp.float64, device="cpu")
    out = wp.zeros_like(given)
    system.multiply(given, given, out, 2.0, -1.0)
    assert out.numpy()[: len(x)] == pytest.approx(2.0 * A @ x - x, abs=1e-10 * np.abs(A).max())
    # y is not read where beta is 0: conjugate residuals hand over memory that nobody wrote yet
    unwritten = wp.full(len(full), np.nan, dtype=wp.float64, device="cpu")
    system.multiply(given, unwritten, out, 1.0, 0.0)
    assert out.numpy()[: len(x)] == pytest.approx(A @ x, abs=1e-10 * np.abs(A).max())


@pytest.mark.parametrize("seed", range(3))
def test_unknowns_of_an_island_lie_together(seed):
    topology = build_topology(random_problem(seed, dynamic=12, contacts=9, rows=7))
    contact_slot, row_slot, offsets = unknown_slots(topology, topology.island_count + 5)
    slots = np.concatenate([*(contact_slot + k for k in range(3)), row_slot])
    assert np.array_equal(np.sort(slots), np.arange(3 * 9 + 7))
    island = np.concatenate([np.tile(topology.contact_island, 3), topology.row_island])
    assert np.array_equal(np.searchsorted(offsets, slots, side="right") - 1, last_of_equal(offsets, island))
    assert (offsets[topology.island_count :] == 34).all()


def last_of_equal(offsets, island):
    """Number of the last island that starts where ``island`` does: those in between are empty."""
    return np.searchsorted(offsets, offsets[island], side="right") - 1


def test_box_on_a_plane_is_carried_by_its_weight():
    # Equilibrium of impulses, on four corners where three would do: sum p_n = m g h, no motion.
    problem = stacked([3.0])
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    assert solution.contact_impulse[:, 0].sum() == pytest.approx(3.0 * G * H, abs=3.0 * TOLERANCE / H)


@pytest.mark.parametrize("ratio", [1e-3, 1.0, 1e3, 1e4])
def test_heavy_on_light_and_light_on_heavy(ratio):
    problem = stacked([1.0, ratio])
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    normal = solution.contact_impulse[:, 0]
    assert normal[4:].sum() == pytest.approx(ratio * G * H, rel=1e-3, abs=ratio * TOLERANCE / H)
    assert normal[:4].sum() == pytest.approx((1.0 + ratio) * G * H, rel=1e-3)


@pytest.mark.parametrize("outside", [0.0, 20.0])
def test_sliding_box_is_braked_by_mu_m_g(outside):
    # m dv = -mu m g h, also where the impulses to start from lie far outside the friction cone.
    mu, speed, step = 0.3, 2.0, 0.01
    problem = stacked([2.0], velocity=[[speed, 0, 0, 0, 0, 0]], friction=mu, step=step)
    problem.contacts.impulse[:] = np.array([-outside, 0.0, 1.0]) * 2.0 * G * step / 4.0
    solution = solve(problem, tolerance=1e-7)
    judged(problem, solution, 1e-7)
    assert solution.velocity[0, 0] == pytest.approx(speed - mu * G * step, abs=1e-7 / step)


@pytest.mark.parametrize("push", [0.99, 1.01])
def test_a_box_sticks_inside_its_cone_and_slides_outside(push):
    # A pull of push * mu m g: below the limit nothing moves, above it dv = (push - 1) mu g h.
    mu, step = 0.4, 0.01
    problem = stacked([2.0], friction=mu, step=step)
    pull = np.array([push * mu * G * step, 0.0, 0.0])
    problem.bodies.free_velocity[0, :3] += pull
    problem.bodies.free_position[0] += step * pull
    solution = solve(problem, tolerance=1e-8)
    judged(problem, solution, 1e-8)
    assert solution.velocity[0, 0] == pytest.approx(max(0.0, push - 1.0) * mu * G * step, abs=1e-8 / step)


@pytest.mark.parametrize("kind", [Coordinate.LINEAR, Coordinate.DISTANCE])
@pytest.mark.parametrize("midpoint", [0.0, 1.0])
@pytest.mark.parametrize("speed", [0.0, 8.0])
def test_a_hung_mass_keeps_its_length(kind, midpoint, speed):
    problem = hung(kind, velocity=(speed, 0, 0, 0, 0, 0), midpoint=midpoint)
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    assert np.linalg.norm(solution.position[0]) == pytest.approx(2.0, abs=TOLERANCE)


def one_row(velocity=0.0, place=0.0, mass=1.0):
    """A body on a LINEAR row along x, without gravity."""
    bodies = bodies_of(
        [mass, np.inf], [[0.1] * 3, [np.inf] * 3], [[place, 0, 0], [0, 0, 0]],
        velocity=[[velocity, 0, 0, 0, 0, 0], np.zeros(6)], gravity=(0, 0, 0), step=H,
    )  # fmt: skip
    rows = JointRows.of(1)
    rows.body_a[:], rows.axis_a[:] = 1, (1, 0, 0)
    return StepProblem(H, bodies, joints=rows)


@pytest.mark.parametrize("asked, given", [(0.5, 0.2), (0.1, 0.1), (-0.5, -0.2)])
def test_a_motor_gives_no_more_than_its_bound(asked, given):
    # 0.2 N s at most on 1 kg.
    problem = one_row()
    rows = problem.joints
    rows.beta[:], rows.target_velocity[:], rows.lower[:], rows.upper[:] = 0.0, asked, -0.2, 0.2
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    assert solution.joint_impulse[0] == pytest.approx(given, abs=TOLERANCE / H)
    assert solution.velocity[0, 0] == pytest.approx(given, abs=TOLERANCE / H)


@pytest.mark.parametrize("velocity, end", [(-3.0, 0.0), (-1.0, 0.1 - H), (2.0, 0.1 + 2.0 * H)])
def test_a_limit_stops_what_would_pass_it_and_nothing_else(velocity, end):
    problem = one_row(velocity, place=0.1)
    problem.joints.lower[:] = 0.0
    solution = solve(problem, tolerance=TOLERANCE)
    judged(problem, solution)
    assert solution.position[0, 0] == pytest.approx(end, abs=TOLERANCE)


@pytest.mark.parametrize("k, d", [(10.0, 0.0), (1e4, 5.0), (1e8, 0.0), (0.0, 3.0)])
def test_springs_are_exact_whatever_their_stiffness(k, d):
    # (m + h^2 k + h d) v+ = m v - h k x, the implicit Euler step of a spring-damper.
    m, x, v = 2.0, 0.3, -0.4
    problem = one_row(v, x, m)
    problem.joints.beta[:], problem.joints.compliance[:] = H * k / (H * k + d), 1.0 / (H * H * k + H * d)
    solution = solve(problem, tolerance=1e-8)
    assert solution.velocity[0, 0] == pytest.approx((m * v - H * k * x) / (m + H * H * k + H * d), abs=1e-8 / H)


def test_restitution_belongs_to_the_velocity_phase():
    # v_n+ = -e v_n(start) at loaded contacts; the others do not act.
    e, speed = 0.6, -3.0
    problem = stacked([2.0], velocity=[[0, 0, speed, 0, 0, 0]])
    problem.contacts.rebound_speed, problem.contacts.rebound_gap = np.full(4, -e * speed), np.zeros(4)
    problem.bodies.free_position[:] = problem.bodies.position
    for loaded, want in ((True, -e * speed), (False, problem.bodies.free_velocity[0, 2])):
        solution, _ = solver().solve_velocity(problem, options(problem, TOLERANCE), np.full(4, loaded))
        assert solution.velocity[0, 2] == pytest.approx(want, abs=TOLERANCE / H)


@pytest.mark.parametrize("seed", range(4))
def test_the_velocity_phase_agrees_with_the_dense_reference(seed):
    # Nothing turns there, so it is Coulomb's problem u = W r + q itself; velocities are unique, impulses need not be.
    problem = random_problem(seed, dynamic=4, immovable=1, contacts=5, rows=0, loaded=False)
    bodies, contacts, n = problem.bodies, problem.contacts, problem.bodies.dynamic_count
    bodies.position, bodies.orientation = bodies.free_position, bodies.free_orientation
    bodies.velocity[:n] = 0.0  # no approach, so no rebound
    contacts.friction[:] = np.minimum(contacts.friction, 0.5)
    j_a, j_b = contact_jacobians(contacts, bodies.position, bodies.orientation)
    J = np.zeros((5, 3, len(bodies.mass), 6))
    for body, j in ((contacts.body_a, j_a), (contacts.body_b, j_b)):
        for c in range(5):
            J[c, :, body[c]] += j[c]
    q = np.einsum("ckni,ni->ck", J, bodies.free_velocity)
    q[:, 1:] += surface_slip(contacts)
    q = q.ravel()
    inverse = np.zeros((n, 6, 6))
    inverse[:, range(3), range(3)] = 1.0 / bodies.mass[:n, None]
    inverse[:, 3:, 3:] = world_inertia(bodies.orientation[:n], 1.0 / bodies.inertia[:n])
    J = J[:, :, :n].reshape(15, n, 6)
    want = q + np.einsum("rni,nij,snj->rs", J, inverse, J) @ solve_ncp(
        np.einsum("rni,nij,snj->rs", J, inverse, J), q, contacts.friction
    )
    tolerance = 1e-7
    solution, statistics = solver().solve_velocity(problem, options(problem, tolerance), np.ones(5, bool))
    assert (statistics.residual < tolerance).all()
    found = q + np.einsum("rni,ni->r", J, solution.velocity[:n] - bodies.free_velocity[:n])
    # residuals of tolerance / h in each row, spread over rows that share bodies
    assert found == pytest.approx(want, abs=10 * tolerance / problem.step)


@pytest.mark.parametrize("seed", range(8))
def test_what_the_solver_calls_solved_the_judge_calls_solved(seed):
    problem = random_problem(seed, dynamic=5, immovable=1, contacts=4, rows=4, loaded=False)
    bodies, contacts, rows = problem.bodies, problem.contacts, problem.joints
    rows.offset = coordinates(rows, bodies.position, bodies.orientation) + rows.offset
    rows.lower[:], rows.target[:], rows.target_velocity[:] = -np.inf, 0.0, 0.0
    contacts.margin_b = contacts.margin_b + gaps(contacts, bodies.position, bodies.orientation)
    solution, statistics = solver().solve(problem, options(problem, 1e-5))
    solved = statistics.residual < 1e-5
    assert solved.any()  # a step this wild may also need halving
    residuals = metrics.step_residuals(problem, solution)
    of_body = metrics.body_residuals(problem, residuals, penetration=False)[: bodies.dynamic_count]
    # the solver measures angles at the radius of gyration, here 0.25 to 1 m, and w at the start pose
    assert of_body[solved].max() < 5e-5


def test_a_step_without_answer_ends_with_its_best_iterate():
    # Two rods of different length between the same points: the residual it reports is the one its answer has.
    problem = hung(Coordinate.DISTANCE)
    problem.joints = problem.joints.take([0, 0])
    problem.joints.joint[:], problem.joints.offset[:] = (0, 1), (2.0, 1.9)
    solution, statistics = solver().solve(problem, options(problem, TOLERANCE))
    worst = metrics.step_residuals(problem, solution).worst(H)
    assert np.isfinite(solution.velocity).all()
    assert solution.newton_iterations == schur.NEWTON_MOST
    assert worst > 0.01  # at least one rod is off by 5 cm
    assert statistics.residual[0] == pytest.approx(worst, rel=1e-6)


def test_free_bodies_need_no_iteration():
    problem = StepProblem(H, bodies_of([2.0], [[0.1] * 3], [[0, 0, 0]]))
    solution = solve(problem)
    assert solution.velocity == pytest.approx(problem.bodies.free_velocity)
    assert solution.newton_iterations == 0


def test_single_precision_finds_the_same_step():
    problem = stacked([1.0, 2.0, 3.0])
    solution = solve(problem, "float32", tolerance=1e-4)
    judged(problem, solution, 1e-4)
    assert solution.position == pytest.approx(problem.bodies.position, abs=3e-4)


def test_the_same_problem_gives_the_same_bits_whatever_was_solved_before():
    # Arrays keep what larger problems left in them.
    problem = stacked([1.0, 3.0], velocity=[[1.0, 0, -1, 0, 1, 0], [0, 0.5, -1, 1, 0, 0]])
    first = solve(problem)
    solve(random_problem(3, dynamic=30, contacts=60, rows=30))
    again = solve(problem)
    assert np.array_equal(first.velocity, again.velocity)
    assert np.array_equal(first.contact_impulse, again.contact_impulse)
