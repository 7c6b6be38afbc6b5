# SPDX-License-Identifier: GPL-3.0-or-later
"""Cylinders, cones and wheels roll at frame-sized steps as long as balls do."""

import itertools

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Cone, Cylinder, Joint, Scene, SolverConfig, simulate
from contact_scenes import grid
from figures import figure
from scenes import GRAVITY, downhill, ground, turned

CPU = SolverConfig(device="cpu")
LYING = turned("x", np.pi / 2.0)  # the axis along Y
RADIUS = 0.25


def roller(shape, speed, spin, **more):
    """A body that lies on the ground and moves along X at ``speed``, turning about Y at ``spin``."""
    place = {"position": (0, 0, RADIUS), "orientation": LYING, **more}
    return Body("Roller", [shape], linear_velocity=(speed, 0, 0), angular_velocity=(0, spin, 0), **place)


@pytest.mark.parametrize("half_height", [0.01, 0.5], ids=["coin", "barrel"])
def test_a_rolling_cylinder_keeps_its_speed(half_height):
    scene = Scene()
    ground(scene)
    scene.add(roller(Cylinder(RADIUS, half_height), 1.0, 1.0 / RADIUS))
    trajectory = simulate(scene, 24 * 5, 24, CPU)
    name = f"cylinder of {RADIUS} m and length {2 * half_height} m rolls"
    way = trajectory.position[-1, 1, 0] / trajectory.times[-1]
    assert figure(name, "way over that of rolling", way, "1 +- 1e-3") == pytest.approx(1.0, abs=1e-3)
    assert np.abs(trajectory.position[:, 1, 1]).max() < 1e-3, "straight on"
    assert np.abs(trajectory.position[:, 1, 2] - RADIUS).max() < 1e-4


def test_a_sliding_cylinder_rolls_after_its_time():
    # I = m r^2 / 2: friction mu m g brakes it to 2/3 of its speed, at t = v0 / (3 mu g).
    mu, v0 = 0.3, 2.0
    scene = Scene()
    ground(scene, friction=mu)
    scene.add(roller(Cylinder(RADIUS, 0.3), v0, 0.0, friction=mu))
    trajectory = simulate(scene, 48, 24, CPU)
    speed = trajectory.linear_velocity[:, 1, 0]
    ratio = figure("sliding cylinder", "speed when it rolls, of 2/3 v0", speed[-1] * 1.5 / v0, "1 +- 1e-3")
    assert ratio == pytest.approx(1.0, abs=1e-3)
    late = trajectory.times > v0 / (3.0 * mu * GRAVITY) + 1.0 / 24.0
    assert speed[late] == pytest.approx(speed[-1], rel=1e-3)


def test_a_cylinder_rolls_down_a_slope():
    # a = 2/3 g sin
    angle = np.radians(15.0)
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene = Scene()
    scene.add(Body("Slope", [Box((50, 50, 1), position=(0, 0, -1))], motion="static", orientation=turned("y", angle)))
    scene.add(Body("Roller", [Cylinder(RADIUS, 0.3)], position=RADIUS * up, orientation=LYING))
    trajectory = simulate(scene, 48, 24, CPU)
    pace = trajectory.linear_velocity[-1, 1] @ downhill(angle) / trajectory.times[-1] / (GRAVITY * np.sin(angle))
    assert figure("cylinder on 15 degrees", "acceleration over 2/3 g sin", 1.5 * pace, "1 +- 1e-3") == pytest.approx(
        1.0, abs=1e-3
    )


def test_a_cone_rolls_around_its_apex():
    # It lies on its side, the touched line along X at rest: it turns about that line, and its axis about the vertical.
    radius, half_height, turn = 0.2, 0.25, 1.0
    slope = np.arctan(radius / (2.0 * half_height))
    axis = np.array([np.cos(slope), 0.0, np.sin(slope)])  # from the apex, at the origin
    spin = np.array([-turn / np.tan(slope), 0.0, 0.0])
    scene = Scene()
    ground(scene, friction=1.0)
    scene.add(Body("Cone", [Cone(radius, half_height)], position=half_height * axis, friction=1.0,
                   orientation=turned("y", -np.pi / 2.0 - slope), angular_velocity=spin,
                   linear_velocity=np.cross(spin, 1.5 * half_height * axis)))  # fmt: skip
    trajectory = simulate(scene, 48, 24, CPU)
    time = trajectory.times - trajectory.times[0]
    place = trajectory.position[:, 1]
    off = np.angle(np.exp(1j * (np.arctan2(place[:, 1], place[:, 0]) - turn * time)))
    assert abs(figure("cone rolls around its apex", "angle off after 2 rad", off[-1], 0.02, "rad")) < 0.02
    assert np.abs(place[:, 2] - half_height * axis[2]).max() < 1e-3
    energy = [report.kinetic_energy for report in trajectory.reports]
    assert energy[-1] == pytest.approx(energy[0], rel=0.02)


def test_a_cart_coasts_on_its_wheels():
    scene = Scene()
    ground(scene, friction=0.8)
    v0 = 2.0
    moving = {"linear_velocity": (v0, 0, 0)}
    scene.add(Body("Cart", [Box((0.8, 0.4, 0.1))], position=(0, 0, RADIUS + 0.15), density=500.0, **moving))
    for k, (x, y) in enumerate(((0.6, 0.5), (0.6, -0.5), (-0.6, 0.5), (-0.6, -0.5))):
        wheel = Body(f"Wheel {k}", [Cylinder(RADIUS, 0.06)], position=(x, y, RADIUS), orientation=LYING, friction=0.8,
                     angular_velocity=(0, v0 / RADIUS, 0), **moving)  # fmt: skip
        scene.add(wheel)
        scene.add(Joint(f"Axle {k}", "hinge", "Cart", wheel.name, position=wheel.position, orientation=LYING))
    trajectory = simulate(scene, 24 * 5, 24, CPU)
    way = (trajectory.position[-1, 1, 0] - trajectory.position[0, 1, 0]) / (v0 * trajectory.times[-1])
    assert figure("cart on four wheels", "way in 5 s over that of coasting", way, "1 +- 0.01") == pytest.approx(
        1.0, abs=0.01
    )


def hills(x, y):
    return 0.12 * np.sin(1.5 * x) * np.cos(1.2 * y)


def drive(fps):
    """(F + 1,) way along X of a cart on hills of facets, its four wheels driven to 6 m/s, for 2 s."""
    scene, x, place = Scene(), -6.0, (-0.5, 0.5)
    scene.add(Body("Hills", [grid(40, 8.0, hills)], motion="static", friction=0.8))
    z = max(hills(x + dx, 0.45) for dx in place) + RADIUS + 0.02
    scene.add(Body("Cart", [Box((0.6, 0.3, 0.1))], position=(x, 0, z + 0.05), mass=50.0))
    motor = {"rz": Axis(drive="velocity", target=-6.0 / RADIUS, max_force=20.0)}
    for number, (dx, y) in enumerate(itertools.product(place, (-0.45, 0.45))):
        wheel = Body(f"Wheel {number}", [Cylinder(RADIUS, 0.08)], position=(x + dx, y, z), orientation=LYING, mass=5.0,
                     friction=0.8)  # fmt: skip
        scene.add(wheel)
        scene.add(Joint(f"Axle {number}", "hinge", "Cart", wheel.name, wheel.position, LYING, axes=motor))
    trajectory = simulate(scene, 2 * fps, fps, CPU)
    assert all(report.converged for report in trajectory.reports)
    return trajectory.position[:, 1, 0] - x


def test_a_cart_drives_over_hills_of_facets():
    """One step a frame leads as far as four, but for its jumps: from 48 to 480 fps ways scatter by 3 %.

    Failed by 22 %: wheels met the triangles ahead of them at their edges, from the side.
    """
    way = [drive(fps)[-1] for fps in (24, 96)]
    off = figure("cart on hills", "way in 2 s at 24 fps, of that at 96", way[0] / way[1], "1 +- 0.05")
    assert off == pytest.approx(1.0, abs=0.05)


def rough(x, y):
    return 0.15 * np.sin(2.0 * x) * np.cos(1.7 * y) + 0.02 * np.sin(9.0 * x + 1.0) * np.sin(8.0 * y)


def test_what_tumbles_on_rough_ground_does_not_sink_in():
    # Cans, cones, poles and coins: a rim that is about to come down is no side that rolls.
    rng, scene = np.random.default_rng(2), Scene()
    scene.add(Body("Ground", [grid(60, 3.0, rough)], motion="static", friction=0.6))
    shapes = Cylinder(0.15, 0.1), Cone(0.15, 0.15), Cylinder(0.1, 0.3), Cylinder(0.2, 0.02)
    for k in range(16):
        turn = rng.normal(size=4)
        place = (*rng.uniform(-1.5, 1.5, 2), 0.6 + 0.25 * k / 3)
        body = Body(f"Body {k}", [shapes[k % 4]], position=place, orientation=turn / np.linalg.norm(turn), friction=0.6)
        body.linear_velocity, body.angular_velocity = rng.normal(size=3), 5.0 * rng.normal(size=3)
        scene.add(body)
    trajectory = simulate(scene, 30, 24, CPU)
    x, y, z = np.moveaxis(trajectory.position[:, 1:], -1, 0)
    above = (z - rough(x, y))[np.maximum(np.abs(x), np.abs(y)) < 2.9]
    assert figure("cans on rough ground", "lowest middle above it", above.min(), 0.0, "m") > 0.0
    missed = [report.frame for report in trajectory.reports if not report.converged]
    assert len(missed) <= 1, missed


def test_jointed_boxes_slide_on_without_tipping():
    # A smooth floor pushes them where they are, not where they were at the start of the step.
    scene, v0 = Scene(), 3.0
    ground(scene, friction=0.0)
    for k in range(2):
        scene.add(Body(f"Box {k}", [Box((0.2, 0.2, 0.2))], position=(0.41 * k, 0, 0.2), friction=0.0,
                       linear_velocity=(v0, 0, 0)))  # fmt: skip
    scene.add(Joint("Joint", "hinge", "Box 0", "Box 1", position=(0.205, 0, 0.4), orientation=LYING))
    trajectory = simulate(scene, 72, 24, CPU)
    tilt = np.abs(trajectory.angular_velocity[:, 1:]).max()
    assert figure("jointed boxes slide", "angular speed", tilt, 1e-3, "rad/s") < 1e-3
    assert trajectory.linear_velocity[-1, 1:, 0] == pytest.approx(v0, rel=1e-6)
