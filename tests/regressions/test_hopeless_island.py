# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that contradict each other are the trouble of their own island only."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, SolverConfig, Sphere, simulate
from scenes import motor_hinge

SPEED = 2.0


@pytest.fixture(scope="module")
def beside_contradiction():
    scene = motor_hinge(SPEED, max_force=20.0)
    scene.add(Body("Weight", [Box((0.1, 0.1, 0.1))], position=(0, 3, 0), mass=10.0))
    scene.add(Joint("Thread", "ball", None, "Weight", (0, 3, 0), break_force=1.0))
    # Half a metre from x = 9 and from x = 12: no place satisfies both.
    scene.add(Body("Torn", [Sphere(0.1)], position=(10, 0, 0)))
    for name, x in (("Here", 9.0), ("There", 12.0)):
        scene.add(Joint(name, "distance", None, "Torn", anchors=((x, 0, 0), (10, 0, 0)), length=0.5))
    trajectory = simulate(scene, 3, 24.0, SolverConfig(device="cpu", substeps=1))
    assert not any(report.converged for report in trajectory.reports)
    assert all(report.worst_bodies[0] == "Torn" for report in trajectory.reports)
    return trajectory


def test_a_motor_reaches_its_speed_beside_a_contradiction(beside_contradiction):
    # The motor turns m (a^2 + c^2) / 3 = 0.12 kg m^2 with 20 N m: 2 rad/s after 0.012 s, within the first frame.
    spin = beside_contradiction.angular_velocity[1:, beside_contradiction.names.index("Wheel"), 1]
    np.testing.assert_allclose(np.abs(spin), SPEED, rtol=1e-3)


def test_an_overloaded_joint_breaks_beside_a_contradiction(beside_contradiction):
    # The weight pulls with m g = 98.1 N at a joint that holds 1 N: it breaks in the first frame, then the weight falls.
    assert beside_contradiction.broken_joints["Thread"] <= 1.0 / 24.0
    weight = beside_contradiction.names.index("Weight")
    fallen = -beside_contradiction.linear_velocity[-1, weight, 2]
    np.testing.assert_allclose(fallen, 9.81 * 3.0 / 24.0, rtol=1e-3)
