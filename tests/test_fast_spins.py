# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that turn with what joints do to them (spinning.py): kernels against NumPy, and what a solved step keeps."""

import numpy as np
import pytest
from axion.solver import metrics
from axion.solver.arrays import download
from axion.solver.problem import Coordinate, JointRows, StepProblem
from axion.solver.reference.free_motion import free_rotation, led_orientation
from axion.solver.reference.rotation import angle_between, exponential, rotate, world_inertia
from axion.solver.reference.rows import coordinates, felt_directions
from axion.solver.spinning import fast_spins
from step_problems import Stages, bodies_of, options, solver, unit

STEP = 1 / 96
DISC = np.array([1.3e-3, 1.3e-3, 2.5e-3])


def top(spin=60.0, kinds=(Coordinate.LINEAR,) * 3, on_b=True, disc=DISC):
    """A disc of 0.5 kg that spins about the axis through its anchor, held in the world by rows of these kinds."""
    rng = np.random.default_rng(1)
    turn = exponential([0.3, 0.0, 0.0])
    up = rotate(turn, np.array([0.0, 0.0, 1.0]))
    state = bodies_of(
        [0.5, np.inf], [disc, [np.inf] * 3], [0.1 * up, np.zeros(3)], [turn, [0.0, 0.0, 0.0, 1.0]],
        [np.append(np.zeros(3), spin * up), np.zeros(6)], STEP, midpoint=1.0,
    )  # fmt: skip
    free, w = free_rotation(state.orientation[:1], state.velocity[:1, 3:], disc[None], STEP)
    state.free_orientation[:1], state.free_velocity[:1, 3:] = free, w
    state.spin = fast_spins(state, np.array([True]))
    rows = JointRows.of(len(kinds))
    rows.coordinate[:] = kinds
    side, world = ("b", "a") if on_b else ("a", "b")
    getattr(rows, f"body_{side}")[:], getattr(rows, f"body_{world}")[:] = 0, 1
    getattr(rows, f"anchor_{side}")[:] = (0.0, 0.0, -0.1)
    getattr(rows, f"anchor_{world}")[rows.coordinate == int(Coordinate.DISTANCE)] = (0.2, 0.1, -0.3)
    rows.axis_a[:] = np.resize(np.eye(3), (len(kinds), 3)) if on_b else unit(rng, len(kinds), 3)
    rows.axis_b[:] = (0.0, 0.0, 1.0)
    rows.offset = coordinates(rows, state.position, state.orientation)
    return StepProblem(STEP, state, joints=rows)


@pytest.mark.parametrize(("precision", "exact"), [("float64", 1e-13), ("float32", 1e-5)])
@pytest.mark.parametrize("moments", [DISC, DISC[::-1], (1e-3, 2e-3, 2.5e-3), (1e-3, 1e-3, 1e-3)])
def test_kernel_turns_a_body_as_numpy_does(moments, precision, exact):
    problem = top(disc=np.array(moments))
    bodies = problem.bodies
    for change in np.vstack([np.zeros(6), np.random.default_rng(2).normal(size=(4, 6)) * 5.0]):
        velocity = bodies.free_velocity.copy()
        velocity[0] += change
        stages = Stages(problem, precision, start=velocity[:1])
        stages.device.launched["spinning"] = stages.device.launched["bodies"]
        stages.linearise()
        want = led_orientation(bodies, STEP, velocity)
        assert angle_between(download(stages.device.bodies.q, 2), want).max() < exact
    assert angle_between(led_orientation(bodies, STEP, bodies.free_velocity), bodies.free_orientation).max() < 1e-12


@pytest.mark.parametrize("on_b", [True, False])
@pytest.mark.parametrize(
    "kinds", [(Coordinate.LINEAR,) * 3, (Coordinate.DISTANCE,), (Coordinate.DOT,), (Coordinate.LINEAR,)]
)
def test_a_solved_step_keeps_the_momentum_about_the_own_axis(kinds, on_b):
    # With L* = L- + J-^T p: L* . a+ = L* . a- = L- . a-, as J- gives none about a- and free rotation keeps it.
    problem = top(kinds=kinds, on_b=on_b)
    if Coordinate.DOT in kinds:  # across the body's own axis
        problem.joints.axis_a[:], problem.joints.axis_b[:] = ((1, 0, 0), (0, 0, 1)) if on_b else ((0, 0, 1), (1, 0, 0))
        problem.joints.offset = coordinates(problem.joints, problem.bodies.position, problem.bodies.orientation)
    bodies, rows = problem.bodies, problem.joints
    rows.target[:] = 1e-3
    solution = solver().solve(problem, options(problem, tolerance=1e-9))[0]
    residuals = metrics.step_residuals(problem, solution)
    assert residuals.worst(STEP) < 1e-8
    assert max(residuals.joint_error, residuals.joint_error_angle) < 1e-8
    assert np.abs(solution.joint_impulse).max() > 1e-4
    start, end = (rotate(q[0], np.array([0.0, 0.0, 1.0])) for q in (bodies.orientation, solution.orientation))
    side = "body_b" if on_b else "body_a"
    felt = felt_directions(problem, solution.position, solution.orientation)[on_b]
    assert (getattr(rows, side) == 0).all()
    momentum = bodies.spin[0] + solution.joint_impulse @ felt[:, 3:]
    assert momentum @ start == pytest.approx(bodies.spin[0] @ start, rel=1e-12)
    assert momentum @ end == pytest.approx(bodies.spin[0] @ start, rel=1e-8)
    by_velocity = world_inertia(bodies.free_orientation[0], bodies.inertia[0]) @ (
        solution.velocity[0, 3:] - bodies.free_velocity[0, 3:]
    )
    assert momentum == pytest.approx(bodies.spin[0] + by_velocity, abs=1e-9 * np.linalg.norm(momentum))


def test_only_bodies_that_go_by_mid_step_have_a_spin():
    problem = top()
    bodies = problem.bodies
    want = world_inertia(bodies.orientation[0], DISC) @ bodies.velocity[0, 3:]
    assert bodies.spin[0] == pytest.approx(want, rel=1e-13)
    assert not bodies.spin[1].any()
    bodies.midpoint[0] = 0.0
    assert fast_spins(bodies, np.array([True])) is None
