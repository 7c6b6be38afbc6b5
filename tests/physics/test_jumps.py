# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives of any force are where they are told to be from the first frame on, however far they start from there."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, simulate
from axion.solver.jumps import FAR, spread
from axion.solver.problem import Coordinate, JointRows
from step_problems import bodies_of

CPU = SolverConfig(device="cpu")
ANGLES = ("rx", "ry", "rz")


@pytest.mark.parametrize("target", [(2.5, 0.5, 0.0), (-2.5, 0.5, 0.0), (2.9, -1.2, 0.7), (2.0, -2.5, 1.0)])
def test_ball_joints_jump_to_three_angles_at_once(target):
    # With all parts of the step on their way to the end of it, the body stayed at its start for ever.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Body", [Box((0.2, 0.1, 0.1))], collision_mask=0))
    drives = {name: Axis(drive="position", target=angle) for name, angle in zip(ANGLES, target, strict=True)}
    scene.add(Joint("Ball", "ball", None, "Body", (0, 0, 0), axes=drives))
    motion = simulate(scene, 3, config=CPU)
    assert all(report.converged for report in motion.reports)
    np.testing.assert_allclose(
        2.0 * np.arctan2(motion.orientation[1:, 0, :3], motion.orientation[1:, 0, 3:]),
        np.tile(target, (3, 1)),
        atol=1e-5,
    )


def test_a_share_of_a_jump_is_asked_for_and_all_of_what_is_none():
    rows = JointRows.of(3)
    rows.coordinate[:], rows.axis_a[:], rows.body_b[:] = Coordinate.TWIST, (0, 0, 1), 1
    rows.target[:] = 2.0, 2.0, 0.9 * FAR
    bodies = bodies_of([1.0, np.inf], [[1.0] * 3, [np.inf] * 3], np.zeros((2, 3)))
    spread(rows, np.array([0.4, 0.0, 0.0]), np.array([True, False, True]), bodies, 0.25, 1.0)
    np.testing.assert_allclose(rows.target, [0.1 + 0.25 * 1.9, 2.0, 0.9 * FAR])
