# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint rows on the device: coordinates and Jacobians against NumPy and central differences; the row's law."""

import numpy as np
import pytest
from axion.solver.arrays import upload
from axion.solver.problem import Coordinate, JointRows, StepProblem
from axion.solver.reference.rows import coordinates, felt_directions, jacobians, mean_jacobians
from axion.solver.rotations import exponential, multiply
from step_problems import Stages, bodies_of, random_pairs, unit

ACCURACY = {"float64": 1e-12, "float32": 1e-5}


def rows_only(kind, seed, count=12, bodies=5, immovable=2, midpoint=0.0, step=1.0):
    """``count`` rigid rows of one kind at random poses; with step 1 a row's velocity is its coordinate."""
    rng = np.random.default_rng(seed)
    total = bodies + immovable
    mass = np.append(np.ones(bodies), np.full(immovable, np.inf))
    inertia = np.where(np.isfinite(mass)[:, None], 1.0, np.inf) * np.ones(3)
    state = bodies_of(mass, inertia, rng.normal(size=(total, 3)), unit(rng, total, 4), step=step, midpoint=midpoint)
    state.free_position, state.free_orientation = rng.normal(size=(total, 3)), unit(rng, total, 4)
    rows = JointRows.of(count)
    rows.body_a[:], rows.body_b[:] = random_pairs(rng, count, bodies, total)
    rows.joint[:] = np.arange(count)
    rows.coordinate[:] = kind
    rows.anchor_a, rows.anchor_b = rng.normal(size=(2, count, 3))
    rows.axis_a, rows.axis_b = unit(rng, 2, count, 3)
    rows.reference = unit(rng, count, 4)
    # near the coordinate, so that no difference straddles the branch cut of a twist
    rows.offset = coordinates(rows, state.free_position, state.free_orientation) + rng.uniform(-0.5, 0.5, count)
    return StepProblem(step, state, joints=rows)


def at_free_pose(problem, precision="float64"):
    """The iterate u = u_free, whose end pose is the free pose."""
    n = problem.bodies.dynamic_count
    return Stages(problem, precision, start=problem.bodies.free_velocity[:n]).linearise()


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("kind", list(Coordinate))
@pytest.mark.parametrize("seed", range(3))
def test_rows_agree_with_numpy(kind, seed, precision):
    problem = rows_only(kind, seed)
    poses = problem.bodies.free_position, problem.bodies.free_orientation
    stages, limit = at_free_pose(problem, precision), ACCURACY[precision]
    j_a, j_b = jacobians(problem.joints, *poses)
    # a twist turned far about a cross axis divides by w^2 + s^2: its rounding error grows like its Jacobian
    size = 1.0 + np.abs(np.hstack([j_a, j_b])).max(axis=1) ** 2
    assert np.all(np.abs(stages.rows("v") - coordinates(problem.joints, *poses)) < limit * size)
    assert np.all(np.abs(stages.rows("jac_a") - j_a).max(axis=1) < limit * size)
    assert np.all(np.abs(stages.rows("jac_b") - j_b).max(axis=1) < limit * size)


@pytest.mark.parametrize("kind", list(Coordinate))
def test_jacobian_is_the_derivative_of_the_coordinate_on_the_device(kind):
    # Central differences with step s: error s^2 / 6 times the third derivative, plus rounding / s.
    problem, s = rows_only(kind, 7), 1e-5
    stages = at_free_pose(problem)
    jac = {"body_a": stages.rows("jac_a"), "body_b": stages.rows("jac_b")}
    bodies, rows = problem.bodies, problem.joints
    position, orientation = bodies.free_position.copy(), bodies.free_orientation.copy()
    for body in range(bodies.dynamic_count):
        for axis in range(6):
            values = []
            for sign in (1.0, -1.0):
                bodies.free_position, bodies.free_orientation = position.copy(), orientation.copy()
                if axis < 3:
                    bodies.free_position[body, axis] += sign * s
                else:
                    turn = exponential(sign * s * np.eye(3)[axis - 3])
                    bodies.free_orientation[body] = multiply(turn, orientation[body])
                values.append(at_free_pose(problem).rows("v"))
            got = (values[0] - values[1]) / (2.0 * s)
            want = sum(np.where(getattr(rows, side) == body, jac[side][:, axis], 0.0) for side in jac)
            scale = 1.0 + np.abs(want) ** 3
            assert np.all(np.abs(got - want) < 1e-7 * scale)


@pytest.mark.parametrize("kind", list(Coordinate))
def test_mid_step_directions_are_those_of_the_reference(kind):
    # midpoint 1: the force acts along directions between both ends, the coordinate is still that of q+.
    problem = rows_only(kind, 11, midpoint=1.0)
    bodies = problem.bodies
    poses = bodies.free_position, bodies.free_orientation
    stages = at_free_pose(problem)
    j_a, j_b = mean_jacobians(problem.joints, (bodies.position, bodies.orientation), poses)
    size = 1.0 + np.abs(np.hstack([j_a, j_b])).max(axis=1) ** 2
    assert np.all(np.abs(stages.rows("jac_a") - j_a).max(axis=1) < 1e-12 * size)
    assert np.all(np.abs(stages.rows("jac_b") - j_b).max(axis=1) < 1e-12 * size)
    assert np.all(np.abs(stages.rows("v") - coordinates(problem.joints, *poses)) < 1e-12 * size)


@pytest.mark.parametrize("kind", list(Coordinate))
def test_bodies_that_spin_feel_rows_at_their_levers_of_the_start(kind):
    problem = rows_only(kind, 12, midpoint=1.0)
    bodies = problem.bodies
    bodies.spin = np.zeros((len(bodies.mass), 3))
    bodies.spin[[0, 3]] = unit(np.random.default_rng(3), 2, 3)
    stages = at_free_pose(problem)
    poses = bodies.free_position, stages.device.bodies.q.numpy()[: len(bodies.mass)]
    mean = mean_jacobians(problem.joints, (bodies.position, bodies.orientation), poses)
    felt = felt_directions(problem, *poses)
    for name, want, other in zip(("jac_a", "jac_b"), felt, mean, strict=True):
        size = 1.0 + np.abs(want).max(axis=1) ** 2
        assert np.all(np.abs(stages.rows(name) - want).max(axis=1) < 1e-12 * size)
        fast = np.isin(getattr(problem.joints, f"body_{name[-1]}"), [0, 3])
        assert fast.any()
        assert np.array_equal(want[~fast], other[~fast])
        assert kind == Coordinate.TWIST or np.abs(want - other)[fast].max(axis=1).min() > 1e-3


def test_row_velocity_and_bias_follow_the_law():
    # v = beta (c - target) / h + (1 - beta) J u - target_velocity, bias = v - J u.
    h = 0.02
    problem = rows_only(Coordinate.LINEAR, 3, step=h)
    rng = np.random.default_rng(5)
    rows, bodies = problem.joints, problem.bodies
    rows.beta, rows.target, rows.target_velocity = rng.random((3, len(rows)))
    start = bodies.free_velocity[: bodies.dynamic_count]
    stages = Stages(problem, start=start).linearise()
    j_a, j_b = jacobians(rows, bodies.free_position, bodies.free_orientation)
    ju = np.sum(j_a * bodies.free_velocity[rows.body_a] + j_b * bodies.free_velocity[rows.body_b], axis=1)
    c = coordinates(rows, bodies.free_position, bodies.free_orientation)
    v = rows.beta * (c - rows.target) / h + (1.0 - rows.beta) * ju - rows.target_velocity
    assert stages.rows("v") == pytest.approx(v, abs=1e-11)
    assert stages.rows("bias") == pytest.approx(v - ju, abs=1e-11)


def test_row_law_is_the_clipped_proximal_map():
    # sigma (p - p^) + v + E p = 0 clipped to the bounds; curvature -dp/dv inside, 0 at a bound.
    problem = rows_only(Coordinate.DISTANCE, 4, count=30, step=0.1)
    rng = np.random.default_rng(8)
    rows = problem.joints
    rows.compliance = rng.choice([0.0, 0.3], len(rows))
    rows.lower, rows.upper = -rng.random(len(rows)), rng.random(len(rows))
    rows.impulse = rng.uniform(rows.lower, rows.upper)
    eps = 0.5
    stages = Stages(problem, eps_joint=eps).linearise().newton()
    assert not stages.rows("p_centre").any()  # redundant joints must not hand on what they do against each other
    upload(stages.device.rows.p_centre, rows.impulse)
    stages.laws()
    sigma = eps * stages.rows("w")
    free = (sigma * rows.impulse - stages.rows("v")) / (sigma + rows.compliance)
    inside = (free > rows.lower) & (free < rows.upper)
    assert 3 < inside.sum() < 27
    assert stages.rows("p") == pytest.approx(np.clip(free, rows.lower, rows.upper), abs=1e-12)
    assert stages.rows("curvature") == pytest.approx(np.where(inside, 1.0 / (sigma + rows.compliance), 0.0), rel=1e-12)
