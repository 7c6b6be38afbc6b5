# SPDX-License-Identifier: GPL-3.0-or-later
"""Impulses and levers of anchors from one round to the next: against NumPy, and what they are good for."""

import numpy as np
import pytest
from axion.solver import SolverConfig, rotations, simulate
from axion.solver.arrays import upload
from axion.solver.problem import Contacts, Coordinate, JointRows, StepProblem
from figures import figure
from step_problems import Stages, random_bodies, random_pairs, unit
from table_scenes import hung_ball

BALL, SLIDER, LIMITED, SOFT = slice(0, 3), slice(3, 5), slice(5, 8), slice(8, 11)


def jointed_problem(seed, midpoint):
    """Four joints of LINEAR rows: one that locks three directions, one two, one with a limit, one that gives way."""
    rng = np.random.default_rng(seed)
    bodies = random_bodies(rng, 4, 1, midpoint=midpoint)
    rows = JointRows.of(11)
    rows.coordinate[:] = Coordinate.LINEAR
    rows.joint[:] = np.repeat(range(4), (3, 2, 3, 3))
    a, b = random_pairs(rng, 4, 4, 5)
    rows.body_a[:], rows.body_b[:] = a[rows.joint], b[rows.joint]
    rows.anchor_a, rows.anchor_b = rng.normal(size=(2, 4, 3))[:, rows.joint]
    for joint in range(4):
        of = np.flatnonzero(rows.joint == joint)
        rows.axis_a[of] = rotations.matrices(unit(rng, 4))[: len(of)]
    rows.lower[LIMITED.stop - 1] = 0.0
    rows.compliance[SOFT] = 0.2
    rows.impulse = rng.normal(size=11)
    return StepProblem(0.02, bodies, Contacts.empty(), rows)


@pytest.mark.parametrize("midpoint", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_push_of_locked_anchors_stays_when_their_axes_turn(seed, midpoint):
    problem = jointed_problem(seed, midpoint)
    stages = Stages(problem).linearise().newton().laws()
    p, axes = stages.rows("p").copy(), stages.rows("jac_b")[:, :3].copy()
    rng = np.random.default_rng(seed + 100)
    bodies = stages.device.bodies
    upload(bodies.u, problem.bodies.velocity + 5.0 * rng.normal(size=problem.bodies.velocity.shape))
    stages.linearise()
    turned = stages.rows("jac_b")[:, :3].copy()
    assert np.abs(turned - axes).max() > 0.03
    solver, device = stages.solver, stages.device
    solver._over_rows(solver._joint.carry_impulses, device.islands.outer_active, device.rows, device.islands)
    carried = stages.rows("p")
    assert np.abs(carried - p)[BALL].max() > 1e-3 * np.abs(p).max()
    np.testing.assert_allclose(carried[BALL] @ turned[BALL], p[BALL] @ axes[BALL], rtol=1e-12)
    in_plane = np.linalg.pinv(turned[SLIDER].T) @ (p[SLIDER] @ axes[SLIDER])  # along the slider it cannot push
    np.testing.assert_allclose(carried[SLIDER], in_plane, rtol=1e-11)
    np.testing.assert_array_equal(carried[LIMITED], p[LIMITED])
    np.testing.assert_array_equal(carried[SOFT], p[SOFT])


@pytest.mark.parametrize("led", [0.0, 0.4])
@pytest.mark.parametrize("midpoint", [0.0, 1.0])
def test_levers_of_locked_anchors_reach_to_where_their_rows_are_met(midpoint, led):
    problem = jointed_problem(4, midpoint)
    problem.joints.target[BALL] = led * np.array((1.0, -0.5, 2.0))  # by a drive of any force
    stages = Stages(problem).linearise().newton()
    before, solver, device = stages.rows("jac_a").copy(), stages.solver, stages.device
    arrays = device.islands.outer_active, device.settings, device.bodies, device.rows, device.islands
    solver._over_rows(solver._joint.meet_anchors, *arrays)
    found, rows, bodies = stages.rows("jac_a"), problem.joints, problem.bodies
    np.testing.assert_array_equal(found[SLIDER.start :], before[SLIDER.start :])
    expected = before[BALL].copy()
    if midpoint:
        a, b = rows.body_a[0], rows.body_b[0]
        turned = [rotations.rotate(bodies.orientation[i], v[0]) for i, v in ((a, rows.anchor_a), (b, rows.anchor_b))]
        start = bodies.position[b] + turned[1] - bodies.position[a]
        orientation = stages.bodies("q") if a < bodies.dynamic_count else bodies.free_orientation
        arm = 0.5 * (start + rotations.rotate(orientation[a], rows.anchor_a[0] + rows.target[BALL] @ rows.axis_a[BALL]))
        expected[:, 3:] = -np.cross(arm, stages.rows("jac_b")[BALL, :3])
        assert np.abs(expected - before[BALL]).max() > 1e-3
    np.testing.assert_allclose(found[BALL], expected, atol=1e-13)


def test_light_links_under_a_heavy_ball_need_few_iterations():
    # 610 iterations in these 65 solves where every impulse turned with its axis, 474 where levers did not meet.
    reports = simulate(hung_ball(links=20, ratio=1e4), 60, 24, SolverConfig(device="cpu")).reports
    iterations = sum(report.newton_iterations for report in reports)
    figure("chain of 20 with a ball 10000x heavier, 60 frames", "Newton iterations", iterations, 450)
    assert all(report.converged for report in reports)
    assert iterations <= 450
