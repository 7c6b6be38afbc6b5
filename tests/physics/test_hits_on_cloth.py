# SPDX-License-Identifier: GPL-3.0-or-later
"""Hits of what lies on rough ground: its friction in the step of the hit acts on speed and spin alike.

Friction of the ground leaves 5/7 v + 2/7 r w of a ball alone, whenever it acts: with that it rolls in the end.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Plane, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
RADIUS, SPEED = 0.05, 1.5
GAPS = RADIUS + SPEED / 24.0 * np.arange(6) / 6.0  # of all parts of a step [m]


def on_cloth(friction):
    """A scene with level ground on which friction is the product of the two."""
    scene = Scene(friction_combine="multiply", restitution_combine="multiply")
    scene.add(Body("Cloth", [Plane()], motion="static", friction=friction, restitution=0.0))
    return scene


def rolling(name, x, y, **options):
    """A ball that rolls along x at SPEED."""
    spin = (0, SPEED / RADIUS, 0)
    return Body(
        name, [Sphere(RADIUS)], position=(x, y, RADIUS), linear_velocity=(SPEED, 0, 0), angular_velocity=spin, **options
    )


@pytest.mark.parametrize("fps", [24, 96])
@pytest.mark.parametrize("restitution", [0.6, 1.0])
def test_a_ball_rolls_back_from_a_wall_with_what_its_spin_leaves(restitution, fps):
    # It leaves the smooth wall at -e v with its forward spin, which takes 2/7 (1 + e) v of that.
    scene = on_cloth(0.2)
    wall = [Box((0.05, 1, 1), position=(0.05, 0, 0))]
    scene.add(Body("Wall", wall, motion="static", friction=0.0, restitution=1.0))
    for k, gap in enumerate(GAPS):
        scene.add(rolling(f"Ball {k}", -RADIUS - gap, 0.15 * k - 0.4, friction=1.0, restitution=restitution))
    ends = simulate(scene, int(1.6 * fps), fps, CPU).linear_velocity[-1, 2:, 0]
    law = (2.0 - 5.0 * restitution) / 7.0 * SPEED
    worst = np.abs(ends - law).max()
    name = f"ball rolls into a wall, e = {restitution:g}, at {fps} fps"
    assert figure(name, "speed in the end off the law", worst, 0.005, "m/s") < 0.005


@pytest.mark.parametrize("fps", [24, 96])
@pytest.mark.parametrize("restitution", [0.9, 1.0])
def test_a_ball_that_rolls_follows_the_one_it_hits(restitution, fps):
    # Equal balls, smooth against each other: 5/7 (1 + e) / 2 v and 5/7 (1 - e) / 2 v + 2/7 v.  Along x, momentum of
    # both in the end is 5/7 v + 2/7 v = v, as friction of the cloth leaves it.
    scene = on_cloth(20.0)
    options = {"friction": 0.01, "mass": 0.2}
    for k, gap in enumerate(GAPS):
        y = 0.15 * k - 0.4
        scene.add(rolling(f"Cue {k}", -2.0 * RADIUS - gap, y, restitution=1.0, **options))
        struck = {"position": (0, y, RADIUS), "restitution": restitution}
        scene.add(Body(f"Ball {k}", [Sphere(RADIUS)], **struck, **options))
    ends = simulate(scene, 2 * fps, fps, CPU).linear_velocity[-1, 1:, 0]
    law = SPEED * np.array([5.0 / 14.0 * (1.0 - restitution) + 2.0 / 7.0, 5.0 / 14.0 * (1.0 + restitution)])
    worst = np.abs(ends.reshape(-1, 2) - law).max()
    name = f"ball rolls into a ball, e = {restitution:g}, at {fps} fps"
    assert figure(name, "speeds in the end off the law", worst, 0.005, "m/s") < 0.005


@pytest.mark.parametrize("fps", [24, 96])
def test_friction_below_a_crate_does_not_brake_what_struck_it(fps):
    # A smooth ball of half its mass at 6 m/s, e = 0.9, comes back at 6 (1 - 1.9 * 2 / 3) = -1.6 m/s, the crate slides.
    scene, steps = on_cloth(0.5), fps // 4
    options = {"position": (0, 0, 0.5), "mass": 2.0, "friction": 1.0, "restitution": 0.9}
    scene.add(Body("Crate", [Box((0.5, 0.5, 0.5))], **options))
    options = {"position": (-0.75, 0, 0.5), "mass": 1.0, "friction": 0.0, "linear_velocity": (6, 0, 0)}
    scene.add(Body("Ball", [Sphere(0.1)], restitution=1.0, **options))
    crate, ball = simulate(scene, steps, fps, CPU).linear_velocity[-1, 1:, 0]
    name = f"ball into a crate on rough ground at {fps} fps"
    assert figure(name, "ball off -1.6 m/s", abs(ball + 1.6), 0.005, "m/s") < 0.005
    slid = 1.9 * 2.0 - 0.5 * GRAVITY * (steps / fps - 0.15 / 6.0)
    assert figure(name, "crate off the law", abs(crate - slid), f"{0.5 * GRAVITY / fps:.3f}", "m/s") < (
        0.5 * GRAVITY / fps
    )


def test_a_wedge_that_friction_holds_sends_a_ball_off_as_a_slope_does():
    # The hit presses the wedge on to the ground, and that friction, too, is of the hit: it stays where it is.
    tan = 0.4
    corners = [(-0.8, 0.0), (0.7, 0.0), (-0.8, 1.5 * tan)]
    scene = on_cloth(0.8)
    points = np.array([(x, y, z) for x, z in corners for y in (-0.5, 0.5)])
    middle = points.mean(axis=0)
    options = {"mass": 5.0, "friction": 1.0, "restitution": 0.9}
    scene.add(Body("Wedge", [ConvexHull(points - middle)], position=tuple(middle), **options))
    options = {"mass": 1.0, "friction": 0.0, "restitution": 1.0}
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 1.1), **options))
    trajectory = simulate(scene, 192, 384, CPU)
    normal = np.array([tan, 0.0, 1.0]) / np.hypot(tan, 1.0)
    speed = np.sqrt(2.0 * GRAVITY * (1.1 - 0.7 * tan - 0.1 / normal[2]))
    off = trajectory.linear_velocity[-1, 2, 0] / (1.9 * speed * normal[2] * normal[0]) - 1.0
    assert figure("ball off a wedge on rough ground", "speed aside off the law", abs(off), 0.01) < 0.01
    assert np.abs(trajectory.linear_velocity[-1, 1]).max() < 1e-3
