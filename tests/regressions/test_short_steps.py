# SPDX-License-Identifier: GPL-3.0-or-later
"""Short steps must not lose impulses: what a step changes may be less than its tolerance, but it adds up."""

import pytest
from axion.solver import Axis, Body, Cylinder, Joint, Scene, SolverConfig, simulate


@pytest.mark.parametrize("substeps", [1, 4, 16, 32])
def test_a_weak_motor_spins_a_wheel_up_whatever_the_step(substeps):
    # w = torque t / I with I = m r^2 / 2 = 1.25 kg m^2.
    torque, frames = 20.0, 5
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Wheel", [Cylinder(0.5, 0.1)], mass=10.0))
    drive = Axis(drive="velocity", target=5.0, max_force=torque)
    scene.add(Joint("Motor", "hinge", None, "Wheel", (0, 0, 0), axes={"rz": drive}))
    trajectory = simulate(scene, frames, 24.0, SolverConfig(device="cpu", substeps=substeps))
    expected = torque * trajectory.times / (0.5 * 10.0 * 0.5**2)
    assert trajectory.angular_velocity[:, 0, 2] == pytest.approx(expected, abs=0.01)


def test_a_falling_pair_falls_with_gravity_whatever_the_step():
    # Two balls on a rod in free fall: v = g t, though g h^2 at 32 steps a frame is below the tolerance of fast motion.
    scene = Scene()
    for name, x in (("A", -0.5), ("B", 0.5)):
        scene.add(Body(name, [Cylinder(0.1, 0.1)], position=(x, 0, 0), mass=1.0, linear_velocity=(0, 0, -2.0)))
    scene.add(Joint("Rod", "distance", "A", "B", anchors=((-0.5, 0, 0), (0.5, 0, 0))))
    trajectory = simulate(scene, 6, 24.0, SolverConfig(device="cpu", substeps=32))
    expected = -2.0 - 9.81 * trajectory.times
    assert trajectory.linear_velocity[:, 0, 2] == pytest.approx(expected, abs=0.01)
