# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb's threshold: a box two degrees below the angle of friction stays, two degrees above slides by the law."""

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, SolverConfig, rotations, simulate
from figures import figure
from scenes import GRAVITY, downhill, ground, slope, turned

CPU = SolverConfig(device="cpu")
SLOW, FAST = CPU.tolerances()
COEFFICIENTS = [0.1, 0.3, 0.5, 0.7, 1.0]
MARGIN = np.radians(2.0)
FLAT = (0.4, 0.3, 0.1)  # low enough not to topple where it should slide


def limit(mu):
    """Angle of friction [rad]."""
    return np.arctan(mu)


@pytest.mark.parametrize("mu", COEFFICIENTS)
def test_box_two_degrees_below_the_limit_stays(mu):
    # Creep below 1e-5 m/s over the last three of five seconds, whatever the coefficient.
    angle = limit(mu) - MARGIN
    trajectory = simulate(slope(angle, mu, FLAT), 120, config=CPU)
    way = (trajectory.position[-1, 1] - trajectory.position[48, 1]) @ downhill(angle)
    creep = abs(way) / 3.0
    name = f"slope, mu = {mu:g}, 2 degrees below"
    figure(name, "moved in all", np.linalg.norm(trajectory.position[-1, 1] - trajectory.position[0, 1]), 10 * SLOW, "m")
    assert figure(name, "creep", creep, 1e-5, "m/s") < 1e-5
    assert np.linalg.norm(trajectory.position[-1, 1] - trajectory.position[0, 1]) < 10 * SLOW
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("mu", COEFFICIENTS)
def test_box_two_degrees_above_the_limit_slides_by_the_law(mu):
    # v_k = a k h, s_n = a h^2 n (n + 1) / 2 with a = g (sin - mu cos): 1e-3 of the way, any step.
    angle, n, h = limit(mu) + MARGIN, 48, 1.0 / 24.0
    trajectory = simulate(slope(angle, mu, FLAT), n, config=CPU)
    want = GRAVITY * (np.sin(angle) - mu * np.cos(angle)) * h**2 * n * (n + 1) / 2.0
    way = (trajectory.position[-1, 1] - trajectory.position[0, 1]) @ downhill(angle)
    name = f"slope, mu = {mu:g}, 2 degrees above"
    assert figure(name, "way over that of the discrete law", way / want, "1 +- 1e-3") == pytest.approx(1.0, abs=1e-3)
    assert np.abs(trajectory.angular_velocity[-1, 1]).max() < FAST / h


def any_slope(seed):
    """(mu, half extents, turn about the slope's normal [rad], mass) drawn by lot: boxes that do not topple at mu."""
    random = np.random.default_rng(seed)
    mu = random.uniform(0.05, 1.5)
    half = random.uniform(0.1, 0.5, 3)
    half[2] = 0.5 * half[:2].min() / max(mu, 1.0)
    return mu, half, random.uniform(-np.pi, np.pi), 10.0 ** random.uniform(-2.0, 3.0)


def turned_on(scene, yaw):
    """The scene of ``slope`` with its box turned about the slope's normal."""
    box = scene.bodies[1]
    box.orientation = rotations.multiply(box.orientation, turned("z", yaw))
    return scene


@pytest.mark.parametrize("seed", range(12))
def test_any_box_sticks_and_slides_two_degrees_off_the_limit(seed):
    # The two laws above for coefficients, boxes, masses and directions drawn by lot.
    mu, half, yaw, mass = any_slope(seed)
    name = f"slope, mu = {mu:.3f}, {mass:.3g} kg, turned by {np.degrees(yaw):.0f} degrees"
    angle = limit(mu) - MARGIN
    trajectory = simulate(turned_on(slope(angle, mu, half, mass), yaw), 120, config=CPU)
    creep = np.linalg.norm(trajectory.position[-1, 1] - trajectory.position[48, 1]) / 3.0
    assert figure(name, "creep 2 degrees below", creep, 1e-5, "m/s") < 1e-5
    assert all(report.converged for report in trajectory.reports)
    angle, n, h = limit(mu) + MARGIN, 48, 1.0 / 24.0
    trajectory = simulate(turned_on(slope(angle, mu, half, mass), yaw), n, config=CPU)
    want = GRAVITY * (np.sin(angle) - mu * np.cos(angle)) * h**2 * n * (n + 1) / 2.0
    way = (trajectory.position[-1, 1] - trajectory.position[0, 1]) @ downhill(angle)
    ratio = figure(name, "way over that of the discrete law 2 degrees above", way / want, "1 +- 1e-3")
    assert ratio == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("mu", "fps", "relative"), [(0.2, 24, 1e-3), (0.2, 60, 1e-3), (0.7, 24, 1e-3), (0.7, 60, 1e-3), (0.7, 600, 0.01)]
)
def test_box_stops_after_the_discrete_way(mu, fps, relative):
    # v_k = v0 - mu g h k > 0 while it slides: d = h sum v_k, which is v0^2 / (2 mu g) - v0 h / 2 where it comes out
    # even.  At 600 steps a second, newton's 1 % of the continuous law.
    v0, h = 2.0, 1.0 / fps
    scene = Scene()
    ground(scene, friction=mu)
    scene.add(Body("Box", [Box((0.2, 0.2, 0.05))], position=(0, 0, 0.05), friction=mu, linear_velocity=(v0, 0, 0)))
    time = v0 / (mu * GRAVITY)
    trajectory = simulate(scene, int(np.ceil(1.2 * time * fps)), fps, CPU)
    count = np.floor(time / h)
    discrete = count * h * v0 - mu * GRAVITY * h**2 * count * (count + 1) / 2.0
    even = v0**2 / (2.0 * mu * GRAVITY) - v0 * h / 2.0
    assert abs(discrete - even) <= mu * GRAVITY * h**2 / 8.0 + 1e-12
    law = even + v0 * h / 2.0 if relative == 0.01 else discrete
    ratio = trajectory.position[-1, 1, 0] / law
    name = f"stopping box, mu = {mu:g}, {fps} fps"
    assert figure(name, "way over that of the law", ratio, f"1 +- {relative}") == pytest.approx(1.0, abs=relative)
    speed = np.abs(trajectory.linear_velocity[-1, 1]).max()
    assert figure(name, "speed at the end", speed, SLOW * fps, "m/s") < SLOW * fps


def test_box_on_the_limit_itself_hardly_moves():
    # At the angle of friction to rounding, and 0.01 degrees either side: a = g (sin - mu cos) is at most 2e-3 m/s^2.
    for offset in (-0.01, 0.0, 0.01):
        angle = limit(0.5) + np.radians(offset)
        trajectory = simulate(slope(angle, 0.5, FLAT), 48, config=CPU)
        way = (trajectory.position[-1, 1] - trajectory.position[0, 1]) @ downhill(angle)
        most = max(0.0, GRAVITY * (np.sin(angle) - 0.5 * np.cos(angle))) * 2.0**2 / 2.0 * 49 / 48
        bound = most + 48 * SLOW
        assert figure(f"slope at the limit {offset:+} degrees", "way in 2 s", way, bound, "m") < bound
        assert way > 0.5 * most - 48 * SLOW
