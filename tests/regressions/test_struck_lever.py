# SPDX-License-Identifier: GPL-3.0-or-later
"""A blow handed on through a hinged bar to a contact that shows only at the end of the step."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from scenes import turned

ARM, BAR_INERTIA = 0.9, (1.0 + 0.05**2) / 3.0  # about the hinge [kg m^2], of a bar of 1 kg, 2 m long, 0.1 m thick


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_lever_hands_on_a_blow_with_its_angular_momentum(restitution):
    # The hinge carries no moment about its own axis and there is no gravity: L = I w + sum m (r x v) about it stays.
    scene = Scene(gravity=(0, 0, 0))
    same = {"mass": 1.0, "friction": 0.0, "restitution": restitution}
    scene.add(Body("Bar", [Box((1.0, 0.05, 0.05))], **same))
    scene.add(Body("Hammer", [Sphere(0.1)], position=(-ARM, 0, 0.17), linear_velocity=(0, 0, -5), **same))
    scene.add(Body("Struck", [Sphere(0.1)], position=(ARM, 0, 0.2), **same))  # 5 cm above the bar: no contact yet
    scene.add(Joint("Hinge", "hinge", None, "Bar", (0, 0, 0), turned("x", -0.5 * np.pi)))
    trajectory = simulate(scene, 2, 24.0, SolverConfig(device="cpu", substeps=1))
    spin = BAR_INERTIA * trajectory.angular_velocity[:, 0, 1]
    orbit = np.cross(trajectory.position[:, 1:], trajectory.linear_velocity[:, 1:])[:, :, 1].sum(axis=1)
    start = -ARM * 5.0
    assert trajectory.linear_velocity[-1, 2, 2] > 1.0  # the blow did arrive
    np.testing.assert_allclose(spin + orbit, start, rtol=0.01)
