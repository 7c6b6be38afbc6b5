# SPDX-License-Identifier: GPL-3.0-or-later
"""Without friction nothing turns a ball: what pushes it goes through its middle."""

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, SolverConfig, Sphere, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
RADIUS = 0.05


def slot(deep):
    """A floor between four smooth walls, 0.6 m apart; ``deep``: as far apart along Y, else one ball fits."""
    scene, half = Scene(), 0.3 if deep else 1.2 * RADIUS
    for name, x, y in (
        ("Left", -0.35, 0.0),
        ("Right", 0.35, 0.0),
        ("Front", 0.0, -half - 0.05),
        ("Back", 0.0, half + 0.05),
    ):
        extents = (0.05, 0.5, 3.0) if x else (0.5, 0.05, 3.0)
        scene.add(Body(name, [Box(extents)], position=(x, y, 3.0), motion="static", friction=0.0))
    scene.add(Body("Floor", [Box((0.5, 0.5, 0.05))], position=(0, 0, -0.05), motion="static", friction=0.0))
    return scene


def fastest_spin(trajectory):
    return float(np.abs(trajectory.angular_velocity).max())


@pytest.mark.parametrize(("count", "deep"), [(5, False), (24, False), (64, True)])
@pytest.mark.parametrize("fps", [24, 96])
def test_smooth_balls_that_fall_in_a_heap_get_no_spin(count, deep, fps):
    # They got up to 24 rad/s where others pushed them before they hit, and kept it, in frames that had converged.
    random, scene = np.random.default_rng(0), slot(deep)
    for k in range(count):
        row, layer = ((k // 4) % 4, k // 16) if deep else (None, k // 4)
        y = 0.11 * row - 0.165 + 0.004 * random.uniform(-1, 1) if deep else 0.0
        place = (0.11 * (k % 4) - 0.165 + 0.004 * random.uniform(-1, 1), y, 0.1 + 0.11 * layer)
        scene.add(Body(f"Ball {k}", [Sphere(RADIUS)], position=place, friction=0.0))
    trajectory = simulate(scene, 2 * fps, fps, config=CPU)
    spin = fastest_spin(trajectory)
    assert (
        figure(f"{count} smooth balls in a {'shaft' if deep else 'slot'}, {fps} fps", "spin", spin, "< 1e-9 rad/s")
        < 1e-9
    )
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("restitution", [0.0, 0.8])
def test_smooth_balls_in_a_room_get_no_spin(restitution):
    scene, random = Scene(gravity=(0, 0, 0)), np.random.default_rng(2)
    for axis in range(3):
        for side in (-0.6, 0.6):
            extents, place = np.full(3, 0.6), np.zeros(3)
            extents[axis], place[axis] = 0.1, side
            wall = Body(f"{axis} {side}", [Box(extents)], position=place, motion="static", friction=0.0)
            wall.restitution = restitution
            scene.add(wall)
    for k, (i, j, layer) in enumerate(np.ndindex(3, 3, 2)):
        place = (0.3 * (i - 1), 0.3 * (j - 1), 0.4 * (layer - 0.5))
        ball = Body(
            f"Ball {k}", [Sphere(0.08)], position=place, linear_velocity=2.0 * random.normal(size=3), friction=0.0
        )
        ball.restitution = restitution
        scene.add(ball)
    spin = fastest_spin(simulate(scene, 48, config=CPU))
    assert figure(f"18 smooth balls in a room, e {restitution}", "spin", spin, "< 1e-9 rad/s") < 1e-9
