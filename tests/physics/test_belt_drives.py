# SPDX-License-Identifier: GPL-3.0-or-later
"""A belt of links over two wheels, one of which a motor turns: what it is led with stays its speed."""

import numpy as np
from axion.solver import Axis, Body, Cylinder, Joint, Scene, SolverConfig, simulate
from figures import figure
from scenes import turned

RADIUS, BETWEEN, LINK, COUNT, SPEED, STARTS = 0.1, 0.35, 0.012, 32, 6.0, 0.25


def on_the_belt(way):
    """(K, 2) places x, z on the line around both wheels, at these parts (K,) of its length."""
    reach = RADIUS + LINK
    bends = [0.0, BETWEEN, BETWEEN + np.pi * reach, 2.0 * BETWEEN + np.pi * reach, 2.0 * (BETWEEN + np.pi * reach)]
    way = way % 1.0 * bends[-1]
    over, under = way < bends[1], (way >= bends[2]) & (way < bends[3])
    far = (way >= bends[1]) & (way < bends[2])
    angle = np.where(far, 0.5 * np.pi - (way - bends[1]) / reach, -0.5 * np.pi - (way - bends[3]) / reach)
    x = np.where(over, way, np.where(under, bends[3] - way, BETWEEN * far + reach * np.cos(angle)))
    return np.stack([x, np.where(over, reach, np.where(under, -reach, reach * np.sin(angle)))], -1)


def belt():
    scene, axle = Scene(), turned("x", -np.pi / 2)
    lies = turned("x", np.pi / 2)
    for name, x in (("Led", 0.0), ("Other", BETWEEN)):
        shape = Cylinder(RADIUS, 0.05, orientation=lies)
        scene.add(Body(name, [shape], position=(x, 0.0, 0.0), mass=2.0, friction=1.0))
    motor = Axis(drive="velocity", target=((0.0, STARTS, 10.0), (0.0, SPEED, SPEED)))
    scene.add(Joint("Motor", "hinge", None, "Led", orientation=axle, axes={"rz": motor}))
    held = {axis: Axis(locked=True) for axis in ("y", "z", "rx", "ry")}
    taut = {"x": Axis(stiffness=200.0, rest=0.1, damping=20.0)}
    scene.add(Joint("Taut", "generic", None, "Other", position=(BETWEEN, 0.0, 0.0), orientation=axle, axes=held | taut))
    pins = on_the_belt(np.arange(COUNT) / COUNT)
    ways = np.roll(pins, -1, 0) - pins
    for k, (pin, way) in enumerate(zip(pins, ways, strict=True)):
        shape = Cylinder(LINK, 0.03, position=(0.0, 0.0, -0.5 * np.hypot(*way)), orientation=lies)
        x, z = pin + 0.5 * way
        lie = turned("y", np.arctan2(*way))
        scene.add(Body(f"Link{k}", [shape], position=(x, 0.0, z), orientation=lie, mass=0.02, friction=1.0))
    for k, (x, z) in enumerate(pins):
        pin = {"position": (x, 0.0, z), "orientation": axle}
        scene.add(Joint(f"Pin{k}", "hinge", f"Link{(k or COUNT) - 1}", f"Link{k}", **pin))
    return scene


def test_a_wheel_that_leads_a_belt_has_the_speed_of_its_motor():
    # Joints that only hold took energy from what the island may end a step with, and all of it was slowed by 4 %.
    trajectory = simulate(belt(), 18, 24, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    asked = SPEED * np.minimum(trajectory.times / STARTS, 1.0)
    off = np.abs(trajectory.angular_velocity[:, 0, 1] - asked).max()
    figure("belt over two wheels", "speed off that of the motor", off, 1e-4, "rad/s")
    assert off <= 1e-4
    links = np.linalg.norm(trajectory.linear_velocity[-6:, 2:], axis=2).mean() / (SPEED * (RADIUS + LINK))
    figure("belt over two wheels", "speed of links, of the wheel's there", links, "0.98 to 1.02")
    assert 0.98 <= links <= 1.02
