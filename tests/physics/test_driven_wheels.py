# SPDX-License-Identifier: GPL-3.0-or-later
"""Wheels that motors drive with all they have: what is the same left and right turns and goes the same."""

import numpy as np
from axion.solver import Axis, Body, Box, Cylinder, Joint, Plane, Scene, SolverConfig, simulate
from axion.solver.rotations import exponential
from figures import figure

ALONG_Y = exponential(np.array([-np.pi / 2, 0.0, 0.0]))


def car(size, friction, torque):
    """A chassis on four wheels that motors of at most ``torque``, of that at which they slip, turn."""
    scene = Scene(bodies=[Body("Ground", [Plane()], motion="static", friction=1.0)])
    half = size * np.array([1.0, 0.4, 0.15])
    mass = 400.0 * 8.0 * half.prod()
    scene.add(Body("Chassis", [Box(half)], position=(0.0, 0.0, 0.55 * size), mass=mass))
    most = torque * friction * 9.81 * mass / 4.0 * 0.3 * size
    for i, (x, y) in enumerate(((0.7, 0.6), (0.7, -0.6), (-0.7, 0.6), (-0.7, -0.6))):
        place = size * np.array([x, y, 0.3])
        wheel = Cylinder(0.3 * size, 0.1 * size)
        scene.add(
            Body(f"Wheel {i}", [wheel], position=place, orientation=ALONG_Y, mass=0.05 * mass, friction=friction**2)
        )
        motor = {"rz": Axis(drive="velocity", target=1e4, max_force=most)}
        scene.add(Joint(f"Hinge {i}", "hinge", "Chassis", f"Wheel {i}", place, ALONG_Y, axes=motor))
    return scene


def test_motors_at_their_maximum_turn_wheels_alike_left_and_right():
    # Newton took motors at their maximum to reach their targets: 1.47 and 0.47 rad/s at the back after one frame, 34
    # and 12 after a second, in frames that had converged.
    motion = simulate(car(1.293, 0.443, 1.93), 24, config=SolverConfig(device="cpu"))
    turning, aside = motion.angular_velocity[:, 2:, 1], motion.position[:, 1, 1]
    front, back = np.abs(turning[:, 0] - turning[:, 1]), np.abs(turning[:, 2] - turning[:, 3])
    assert figure("driven wheels", "left and right apart", max(front.max(), back.max()), 1e-3, "rad/s") < 1e-3
    assert figure("driven wheels", "car aside", np.abs(aside).max(), 1e-6, "m") < 1e-6
