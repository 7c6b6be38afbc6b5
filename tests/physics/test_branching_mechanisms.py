# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms go on as they were through the places where they could branch: there a combination of their rows vanishes
half way through a step, and rounds that measured by it went many times too far to either side (secant.py).
"""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Cylinder, Joint, Scene, SolverConfig, simulate
from figures import figure
from judges import energies
from scenes import turned

ABOUT_Y = turned("x", -0.5 * np.pi)
ARM = 1.0  # [m] of crank and rod
RADIUS, APART = 0.3, 1.0  # [m] of the pins of two wheels about their axles, and of those


def baked(scene, seconds, fps):
    """The Trajectory, every frame of which must have converged."""
    trajectory = simulate(scene, round(seconds * fps), fps, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    return trajectory


def slider_crank(speed):
    """Scene of a crank at 45 degrees, a rod as long, and a slider that moves away at ``speed`` [m/s]."""
    scene, way, half = Scene(), ARM * np.sqrt(0.5), (0.5 * ARM, 0.05, 0.05)
    knee, end = np.array([way, 0.0, way]), np.array([2.0 * way, 0.0, 0.0])
    spin = np.array([0.0, speed / (2.0 * way), 0.0])
    for name, start, stop, sign in (("Crank", np.zeros(3), knee, 1.0), ("Rod", knee, end, -1.0)):
        velocity = np.cross(spin, 0.5 * knee) + (name == "Rod") * np.cross(spin, 0.5 * (knee + start - stop))
        body = Body(name, [Box(half)], position=0.5 * (start + stop), orientation=turned("y", -0.25 * sign * np.pi))
        body.linear_velocity, body.angular_velocity, body.collision_mask = velocity, sign * spin, 0
        scene.add(body).mass = 1.0
    slider = Body("Slider", [Box((0.1, 0.05, 0.05))], position=end, linear_velocity=(speed, 0.0, 0.0), collision_mask=0)
    scene.add(slider).mass = 1.0
    scene.add(Joint("Axle", "hinge", None, "Crank", (0.0, 0.0, 0.0), ABOUT_Y))
    scene.add(Joint("Knee", "hinge", "Crank", "Rod", knee, ABOUT_Y))
    scene.add(Joint("Pin", "hinge", "Rod", "Slider", end, ABOUT_Y))
    scene.add(Joint("Rail", "slider", None, "Slider", end))
    return scene


@pytest.mark.parametrize("speed", [-8.0, -10.0, -12.0])
def test_a_crank_as_long_as_its_rod_passes_its_axle(speed):
    """At 8 m/s the slider stayed on the axle, with 51 of 66 J gone, in frames that had converged."""
    scene = slider_crank(speed)
    trajectory = baked(scene, 5.0, 24)
    energy = energies(scene, trajectory)
    off = np.abs(energy / energy[0] - 1.0).max()
    figure(f"crank as long as its rod, slider at {-speed:g} m/s, 24 fps, 5 s", "energy off", off, "< 5e-3", "")
    assert off < 5e-3
    turn = trajectory.orientation[:, 0]
    crank = 2.0 * np.unwrap(np.arctan2(turn[:, 1], turn[:, 3]), period=np.pi)
    # On the axle 1e-5 m of the pins are 5 mm of the slider; another branch would be off by metres.
    assert trajectory.position[:, 2, 0] == pytest.approx(2.0 * ARM * np.cos(crank), abs=1e-2)


def coupled_wheels(rate):
    """Scene of two wheels whose pins a rod couples; a motor turns the first at ``rate`` [rad/s]."""
    scene, angle = Scene(), 0.7
    pin, spin = RADIUS * np.array([np.cos(angle), 0.0, np.sin(angle)]), np.array([0.0, -rate, 0.0])
    motor = {"rz": Axis(drive="velocity", target=rate)}
    for i in range(2):
        axle = (APART * i, 0.0, 0.0)
        wheel = Body(f"Wheel {i}", [Cylinder(0.36, 0.05)], position=axle, orientation=ABOUT_Y, angular_velocity=spin)
        wheel.collision_mask = 0
        scene.add(wheel).mass = 2.0
        scene.add(Joint(f"Axle {i}", "hinge", None, wheel.name, axle, ABOUT_Y, axes={} if i else motor))
    middle = pin + (0.5 * APART, 0.0, 0.0)
    rod = Body("Rod", [Box((0.5 * APART, 0.02, 0.02))], position=middle, linear_velocity=np.cross(spin, pin))
    rod.collision_mask = 0
    scene.add(rod).mass = 1.0
    for i in range(2):
        scene.add(Joint(f"Pin {i}", "hinge", f"Wheel {i}", "Rod", pin + (APART * i, 0.0, 0.0), ABOUT_Y))
    return scene


@pytest.mark.parametrize("rate", [6.0, 10.0])
def test_coupled_wheels_turn_together(rate):
    """At 10 rad/s the second one turned back at a dead centre, by 28 rad/s off the first."""
    trajectory = baked(coupled_wheels(rate), 8.0, 24)
    off = np.abs(np.diff(trajectory.angular_velocity[:, :2, 1], axis=1)).max() / rate
    figure(f"wheels coupled by a rod, {rate:g} rad/s, 24 fps, 8 s", "rates apart, of the rate", off, "< 2e-2", "")
    assert off < 0.02
