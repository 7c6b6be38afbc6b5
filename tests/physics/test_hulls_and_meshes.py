# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hulls and concave meshes: at rest they keep still, and in slow sliding they go as fast as the law says."""

from functools import cache

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, SolverConfig, simulate
from contact_scenes import bowl, ell, grid, rock, torus
from figures import figure
from scenes import GRAVITY, downhill, ground, slope, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0


def rocks(count):
    return [Body(f"Rock {i}", [rock(16, i)], position=(0.02 * i, 0.03 * i, 0.3 + 0.45 * i)) for i in range(count)]


def ells(count):
    tilts = [turned("x", 0.2 * i) for i in range(count)]
    return [
        Body(f"Ell {i}", [ell()], position=(0.02 * i, 0.03 * i, 0.3 + 0.5 * i), orientation=tilt)
        for i, tilt in enumerate(tilts)
    ]


def tilted(shape):
    return [Body("Body", [shape], position=(0, 0, 0.3), orientation=turned("x", 0.2))]


THINGS = {
    "hull of 10": lambda: [Body("Rock", [rock(10, 10)], position=(0.1, 0.05, 0.3))],
    "hull of 40": lambda: [Body("Rock", [rock(40, 40)], position=(0.1, 0.05, 0.3))],
    "hulls on each other": lambda: rocks(3),
    "concave mesh": lambda: tilted(ell()),
    "concave meshes on each other": lambda: ells(2),
    "ring": lambda: tilted(torus(0.3, 0.1)),
    "bowl on its rim": lambda: [Body("Bowl", [bowl(0.3)], position=(0, 0, 0.2), orientation=turned("x", 3.0))],
}


def floored(floor):
    scene = Scene()
    if floor == "plane":
        ground(scene)
    else:
        scene.add(Body("Ground", [grid(7, 3.0)], motion="static"))
    return scene


@pytest.fixture(scope="module")
def rest():
    """Trajectory of a thing on a floor, five seconds: made once."""

    @cache
    def settle(name, floor):
        scene = floored(floor)
        for body in THINGS[name]():
            scene.add(body)
        return simulate(scene, 120, config=CPU)

    return settle


@pytest.mark.parametrize("floor", ["plane", "mesh"])
@pytest.mark.parametrize("name", THINGS)
def test_rest_is_rest(name, floor, rest):
    trajectory = rest(name, floor)
    way = np.linalg.norm(trajectory.position[-1] - trajectory.position[-25], axis=1)
    figure(f"{name} on a {floor}", "creep", way.max(), 1e-6, "m/s")
    assert way.max() < 1e-6 and np.abs(trajectory.linear_velocity[-1]).max() < 1e-6
    assert np.abs(trajectory.angular_velocity[-1]).max() < 1e-5
    assert sum(not report.converged for report in trajectory.reports) <= 1


@pytest.mark.parametrize("floor", ["plane", "mesh"])
@pytest.mark.parametrize("name", THINGS)
def test_rest_costs_nothing(name, floor, rest):
    # At rest the problem of each step is that of the step before, so its solution is found at once.
    newton = max(report.newton_iterations for report in rest(name, floor).reports[-24:])
    figure(f"{name} on a {floor}", "Newton iterations a frame at rest", newton, 2)
    assert newton <= 2


@pytest.mark.parametrize("speed", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("name", ["box", "hull", "mesh"])
def test_belt_carries_slowly(name, speed):
    # At the belt's own speed, however small the way of a step is beside the points of a manifold that is kept.
    shape = {"box": Box((0.2, 0.2, 0.1)), "hull": rock(20, 20), "mesh": ell()}[name]
    scene = Scene()
    scene.add(Body("Belt", [Box((2, 2, 0.1))], motion="static", position=(0, 0, -0.1), surface_velocity=(speed, 0, 0)))
    scene.add(Body("Load", [shape], position=(0, 0, 0.1 if name == "box" else 0.16)))
    position = simulate(scene, 144, config=CPU).position[72:, 1]
    along = np.polyfit(STEP * np.arange(len(position)), position[:, 0], 1)[0]
    assert along == pytest.approx(speed, rel=1e-3)
    assert np.abs(position[:, 0] - position[0, 0] - speed * STEP * np.arange(len(position))).max() < 1e-6
    assert np.ptp(position[:, 1:], axis=0).max() < 2e-6


@pytest.mark.parametrize("floor", ["plane", "mesh"])
def test_slides_half_a_degree_past_the_limit(floor):
    # s_n = a h^2 n (n + 1) / 2 at every frame with a = g (sin - mu cos) = 0.096 m/s^2: no sticking, though the first
    # steps move the box by less than a manifold is kept for.
    angle, n = np.arctan(0.5) + np.radians(0.5), 72
    scene = slope(angle)
    if floor == "mesh":
        scene.bodies[0].shapes = [grid(7, 10.0)]
    trajectory = simulate(scene, n, config=CPU)
    way = trajectory.position[:, 1] - trajectory.position[0, 1]
    along, k = way @ downhill(angle), np.arange(n + 1)
    want = GRAVITY * (np.sin(angle) - 0.5 * np.cos(angle)) * STEP**2 * k * (k + 1) / 2
    assert np.abs(along - want).max() < FAST
    assert np.abs(way - np.outer(along, downhill(angle))).max() < 0.5 * FAST


@pytest.mark.parametrize("floor", ["plane", "mesh"])
def test_stays_half_a_degree_before_the_limit(floor):
    angle = np.arctan(0.5) - np.radians(0.5)
    scene = slope(angle)
    if floor == "mesh":
        scene.bodies[0].shapes = [grid(7, 10.0)]
    trajectory = simulate(scene, 48, config=CPU)
    assert np.linalg.norm(trajectory.position[-1, 1] - trajectory.position[-25, 1]) < 1e-6
