# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of the velocity phase: nothing where the laws hold, and each error at its own size where one is broken."""

import numpy as np
import pytest
from axion.solver.metrics import velocity_residuals
from axion.solver.problem import Coordinate, JointRows, StepProblem, StepSolution
from axion.solver.reference.ncp import solve_ncp
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import contact_jacobians, jacobians
from step_problems import bodies_of, box_inertia, contacts_of, corners, options, random_bodies, solver, unit

MU, MASS = 0.4, 3.0
HALF = np.array([0.2, 0.3, 0.1])
WORST = ("momentum_residual", "contact_residual", "friction_residual", "joint_residual", "joint_residual_angle")


def at_end(bodies, contacts=None, rows=None):
    """A problem at velocity level: the free velocity stands at a pose that moves no further."""
    bodies.free_position, bodies.free_orientation = bodies.position, bodies.orientation
    tables = {name: table for name, table in (("contacts", contacts), ("joints", rows)) if table is not None}
    return StepProblem(0.02, bodies, **tables)


def answer(problem, velocity, contact=None, joint=None):
    """A StepSolution from the velocities and impulses alone."""
    contact = np.zeros((len(problem.contacts), 3)) if contact is None else np.asarray(contact, float)
    joint = np.zeros(len(problem.joints)) if joint is None else np.asarray(joint, float)
    return StepSolution(np.asarray(velocity, float), None, None, contact, joint)


def mass_matrix(bodies):
    """Inverse of M (6B, 6B), zero for immovable bodies."""
    count, n = len(bodies.mass), bodies.dynamic_count
    inverse = np.zeros((count, 6, count, 6))
    turned = world_inertia(bodies.orientation[:n], 1.0 / bodies.inertia[:n])
    for i in range(n):
        inverse[i, :3, i, :3] = np.eye(3) / bodies.mass[i]
        inverse[i, 3:, i, 3:] = turned[i]
    return inverse.reshape(6 * count, 6 * count)


def dense(table, pair, count):
    """J (rows, 6B) of Jacobians (rows, 6) of both bodies."""
    out = np.zeros((len(table), count, 6))
    for body, jac in zip((table.body_a, table.body_b), pair, strict=True):
        out[np.arange(len(table)), body] += jac
    return out.reshape(len(table), -1)


def sliding_box(rebound=0.0):
    """A box that comes down on the plane z = 0 of body 1, sliding and turning."""
    bodies = bodies_of(
        [MASS, np.inf], [box_inertia(MASS, HALF), [np.inf] * 3], [[0, 0, HALF[2]], [0, 0, 0]],
        velocity=[[1.5, 0.3, -1.0, 0.2, -0.4, 0.5], [0] * 6],
    )  # fmt: skip
    low = corners(HALF)
    contacts = contacts_of([0] * 4, [1] * 4, low, low * (1, 1, 0), np.tile([0, 0, 1.0], (4, 1)), MU)
    contacts.rebound_speed, contacts.rebound_gap = np.full(4, rebound), np.zeros(4)
    return at_end(bodies, contacts)


def solved_by_reference(problem, loaded):
    """Velocities and impulses of a problem without joints, by solve_ncp; the loaded contacts alone."""
    bodies, contacts = problem.bodies, problem.contacts.take(loaded)
    count, c = len(bodies.mass), len(contacts)
    j_a, j_b = contact_jacobians(contacts, bodies.position, bodies.orientation)
    J = np.zeros((c, 3, count, 6))
    for body, jac in ((contacts.body_a, j_a), (contacts.body_b, j_b)):
        J[np.arange(c), :, body] += jac
    J = J.reshape(3 * c, 6 * count)
    inverse, free = mass_matrix(bodies), bodies.free_velocity.ravel()
    q = J @ free
    q[::3] -= contacts.rebound_speed
    p = solve_ncp(J @ inverse @ J.T, q, contacts.friction)
    impulse = np.zeros((len(problem.contacts), 3))
    impulse[loaded] = p.reshape(-1, 3)
    return answer(problem, (free + inverse @ (J.T @ p)).reshape(-1, 6), impulse)


@pytest.mark.parametrize("rebound", [0.0, 0.6])
def test_the_reference_solution_has_no_residual(rebound):
    # solve_ncp leaves 5e-9 of |q|, here a few m/s.
    problem, loaded = sliding_box(rebound), np.array([True, True, True, False])
    residuals = velocity_residuals(problem, solved_by_reference(problem, loaded), loaded)
    assert max(getattr(residuals, name) for name in WORST) < 1e-7
    assert residuals.of_bodies(problem).max() < 1e-7


def test_a_contact_that_carried_no_load_must_not_push():
    problem, loaded = sliding_box(), np.ones(4, bool)
    solution = solved_by_reference(problem, loaded)
    assert velocity_residuals(problem, solution, loaded).contact_residual < 1e-7
    pushing = solution.contact_impulse[:, 0].argmax()
    loaded[pushing] = False
    residuals = velocity_residuals(problem, solution, loaded)
    # |w p_n| with w = 1/m + (|r|^2 I^-1-weighted mean over n, t1, t2)
    lever = corners(HALF)[pushing]
    crosses = np.cross(lever, np.eye(3))
    w = 1.0 / MASS + np.mean([c @ (c / box_inertia(MASS, HALF)) for c in crosses])
    assert residuals.contact_normal[pushing] == pytest.approx(w * solution.contact_impulse[pushing, 0], rel=1e-9)


@pytest.mark.parametrize(
    ("component", "name"), [(2, "contact_residual"), (0, "friction_residual"), (2, "momentum_residual")]
)
def test_an_error_of_the_velocity_shows_at_its_size(component, name):
    # A box at rest on the plane, carried by equal impulses, moved by e along the normal or a tangent: v_n = e lifts off
    # a pushing contact, min(e, w p_n) = e; a contact that sticks is off by |v_t| = e; momentum is off by e.
    problem, loaded = sliding_box(), np.ones(4, bool)
    problem.bodies.free_velocity[0] = (0, 0, -1.0, 0, 0, 0)
    impulse = np.tile([MASS / 4, 0, 0], (4, 1))
    exact = velocity_residuals(problem, answer(problem, np.zeros((2, 6)), impulse), loaded)
    assert max(getattr(exact, each) for each in WORST) < 1e-14
    for size in (1e-6, 1e-4, 1e-2):
        velocity = np.zeros((2, 6))
        velocity[0, component] = size
        residuals = velocity_residuals(problem, answer(problem, velocity, impulse), loaded)
        assert getattr(residuals, name) == pytest.approx(size, rel=1e-9)
        assert residuals.of_bodies(problem)[0] == pytest.approx(size, rel=1e-9)


def joined(seed=0):
    """Four bodies and an immovable one, held by rows of every coordinate; one of them has bounds."""
    rng = np.random.default_rng(seed)
    rows = JointRows.of(5)
    rows.body_a[:], rows.body_b[:] = [4, 0, 1, 2, 4], [0, 1, 2, 3, 3]
    rows.joint[:], rows.coordinate[:] = np.arange(5), [*Coordinate, Coordinate.LINEAR]
    rows.anchor_a, rows.anchor_b = rng.normal(size=(2, 5, 3))
    rows.axis_a, rows.axis_b = unit(rng, 2, 5, 3)
    rows.reference, rows.beta[:] = unit(rng, 5, 4), 0.0
    rows.target_velocity = rng.normal(size=5)
    return at_end(random_bodies(rng, 4, 1), rows=rows)


def by_elimination(problem, fixed):
    """(velocity, p) with J u = target on the rows not in ``fixed`` {row: impulse}: J W J^T p = target - J u_free."""
    bodies, rows = problem.bodies, problem.joints
    J = dense(rows, jacobians(rows, bodies.position, bodies.orientation), len(bodies.mass))
    W, free, p = mass_matrix(bodies), bodies.free_velocity.ravel(), np.zeros(len(rows))
    for row, value in fixed.items():
        p[row] = value
    open_ = [r for r in range(len(rows)) if r not in fixed]
    off = rows.target_velocity - J @ (free + W @ (J.T @ p))
    p[open_] = np.linalg.solve((J @ W @ J.T)[np.ix_(open_, open_)], off[open_])
    return (free + W @ (J.T @ p)).reshape(-1, 6), p


def test_joints_that_keep_their_target_have_no_residual_and_errors_show():
    problem = joined()
    velocity, p = by_elimination(problem, {})
    none = np.zeros(0, bool)
    residuals = velocity_residuals(problem, answer(problem, velocity, joint=p), none)
    assert max(getattr(residuals, name) for name in WORST) < 1e-12
    for size in (1e-6, 1e-3):
        problem = joined()
        problem.joints.target_velocity[[0, 1]] += size, 2.0 * size  # a LINEAR and a DOT row
        residuals = velocity_residuals(problem, answer(problem, velocity, joint=p), none)
        assert residuals.joint_residual == pytest.approx(size, rel=1e-6)
        assert residuals.joint_residual_angle == pytest.approx(2.0 * size, rel=1e-6)
        np.testing.assert_allclose(residuals.of_bodies(problem), [2 * size, 2 * size, 0, 0, 0], atol=1e-11)


def test_a_row_at_its_bound_may_slip_one_way_only():
    # Row 0 wants p; held at 0.4 p it slips, and that is right where the bound is the nearer one to p.
    problem = joined()
    wanted = by_elimination(problem, {})[1][0]
    velocity, p = by_elimination(problem, {0: 0.4 * wanted})
    bound = np.sort([0.0, 0.4 * wanted])
    problem.joints.lower[0], problem.joints.upper[0] = bound
    good = velocity_residuals(problem, answer(problem, velocity, joint=p), np.zeros(0, bool))
    assert good.joint_row.max() < 1e-12
    problem.joints.lower[0], problem.joints.upper[0] = 2.0 * bound  # it could push harder, and does not
    bad = velocity_residuals(problem, answer(problem, velocity, joint=p), np.zeros(0, bool))
    assert bad.joint_row[0] > 1e-2 * abs(wanted) and bad.joint_row[1:].max() < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_the_velocity_phase_of_the_proximal_method_keeps_its_tolerance(seed):
    # After a position phase whose joints were stiff in turning: nothing of it may stay behind.
    before = joined(seed)
    before.joints.beta[:], before.joints.impulse[:] = 1.0, 1e3
    solver().solve(before, options(before, tolerance=1e-3))
    problem, none, tolerance = joined(seed), np.zeros(0, bool), 1e-8
    problem.joints.lower[0], problem.joints.upper[0] = -0.05, 0.05
    solution = solver().solve_velocity(problem, options(problem, tolerance=tolerance), none)[0]
    residuals = velocity_residuals(problem, solution, none)
    assert problem.step * residuals.of_bodies(problem).max() < tolerance
