# SPDX-License-Identifier: GPL-3.0-or-later
"""A motor far stronger than it needs to be: its impulse jumps from one bound to the other within a billionth of a step.

A line search of twelve trials halved the step too few times to find the place, and took 70 000 Newton iterations.
"""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, simulate


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("most", [11.0, 50.0, 1e3, 1e6])
def test_motor_holds_its_speed_whatever_its_largest_force(most, precision):
    # From rest to 0.5 m/s within a frame takes 12 N, and the turn 2 rad/s takes less torque than any of these.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Shaft", [Box((0.5, 0.1, 0.1))], mass=1.0))
    drives = {"x": Axis(drive="velocity", target=0.5, max_force=most)}
    drives["rx"] = Axis(drive="velocity", target=2.0, max_force=most)
    scene.add(Joint("Motor", "generic", None, "Shaft", (0, 0, 0), axes=drives))
    trajectory = simulate(scene, 4, 24.0, SolverConfig(device="cpu", precision=precision))
    assert all(report.converged and report.newton_iterations < 50 for report in trajectory.reports)
    np.testing.assert_allclose(trajectory.linear_velocity[2:, 0, 0], 0.5, atol=1e-4)
    np.testing.assert_allclose(trajectory.angular_velocity[2:, 0, 0], 2.0, atol=1e-4)
