# SPDX-License-Identifier: GPL-3.0-or-later
"""Dry friction: sliding, stopping, and being carried, by the laws of the implicit step."""

import numpy as np
import pytest
from axion.solver import Body, Box, Cylinder, MotionPath, Scene, SolverConfig, Sphere, simulate
from axion.solver.rotations import conjugate, rotate
from figures import figure
from scenes import GRAVITY, downhill, ground, slope, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
FLAT = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))


@pytest.mark.parametrize("degrees", [27.5, 40.0])
def test_box_slides_down_by_the_discrete_law(degrees):
    # v_k = a k h, and the pose moves with the end velocity: s_n = a h^2 n (n + 1) / 2, a = g (sin - mu cos).
    angle, n = np.radians(degrees), 48
    trajectory = simulate(slope(angle), n, config=CPU)
    acceleration = GRAVITY * (np.sin(angle) - 0.5 * np.cos(angle))
    want = acceleration * STEP**2 * n * (n + 1) / 2
    way = trajectory.position[:, 1] - trajectory.position[0, 1]
    name = f"box on a slope of {degrees} degrees, mu = 0.5, 2 s"
    off = abs(way[-1] @ downhill(angle) - want)
    assert figure(name, "way off the discrete law", off, 1e-3, "m") < 1e-3
    lift = np.abs(way - np.outer(way @ downhill(angle), downhill(angle))).max()
    assert figure(name, "off the plane", lift, 2 * FAST, "m") < 2 * FAST
    assert np.abs(trajectory.angular_velocity[:, 1]).max() < FAST / STEP


@pytest.mark.parametrize("mu", [0.2, 0.4, 0.7])
def test_stopping_distance(mu):
    # An implicit velocity stops after v0^2 / (2 mu g) - v0 h / 2 where v0 is a multiple of mu g h; between, within
    # (mu g h) h / 8 of it.
    v0 = 2.0
    scene = Scene()
    ground(scene, friction=mu)
    scene.add(Body("Box", [Box((0.2, 0.2, 0.05))], position=(0, 0, 0.05), friction=mu, linear_velocity=(v0, 0, 0)))
    trajectory = simulate(scene, 36, config=CPU)
    want = v0**2 / (2 * mu * GRAVITY) - v0 * STEP / 2
    name, bound = f"box at 2 m/s, mu = {mu}", mu * GRAVITY * STEP**2 / 8 + 1e-3
    off = abs(trajectory.position[-1, 1, 0] - want)
    assert figure(name, "stopping distance off the discrete law", off, bound, "m") < bound
    left = np.abs(trajectory.linear_velocity[-1, 1]).max()
    assert figure(name, "speed at the end", left, FAST / STEP, "m/s") < FAST / STEP


def test_belt_carries_a_box_with_its_own_speed():
    # mu g h a step until it goes along with the belt (0.8 m/s): it lags by v^2 / (2 mu g) - v h / 2.
    speed = 0.8
    scene = Scene()
    path = MotionPath([0.0, 3.0], [[0, 0, -0.1], [3 * speed, 0, -0.1]], FLAT)
    scene.add(Body("Belt", [Box((2, 2, 0.1))], motion="kinematic", path=path))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.1)))
    trajectory = simulate(scene, 36, config=CPU)
    assert trajectory.linear_velocity[1, 1, 0] == pytest.approx(0.5 * GRAVITY * STEP, abs=FAST / STEP)
    assert trajectory.linear_velocity[-1, 1] == pytest.approx([speed, 0, 0], abs=FAST / STEP)
    assert trajectory.linear_velocity[-1, 0] == pytest.approx([speed, 0, 0], abs=1e-12)
    lag = trajectory.position[-1, 0, 0] - trajectory.position[-1, 1, 0]
    off, bound = abs(lag - speed**2 / GRAVITY + speed * STEP / 2), 0.5 * GRAVITY * STEP**2 / 8 + 1e-3
    assert figure("box on a belt of 0.8 m/s", "lag off the discrete law", off, bound, "m") < bound


def test_lift_carries_without_a_gap_and_without_a_jump():
    # Rising at 1 m/s the box rises with it from the first step on.
    scene = Scene()
    path = MotionPath([0.0, 2.0], [[0, 0, -0.1], [0, 0, 1.9]], FLAT)
    scene.add(Body("Lift", [Box((1, 1, 0.1))], motion="kinematic", path=path))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.1)))
    trajectory = simulate(scene, 36, config=CPU)
    height = trajectory.position[:, 1, 2] - trajectory.position[:, 0, 2] - 0.2
    gap = np.abs(height).max()
    assert figure("box on a lift of 1 m/s", "off the lift", gap, 2 * FAST, "m") < 2 * FAST


def keyframed(angle, seconds, axis="z"):
    """A MotionPath at the origin that turns about ``axis`` by angle(t) [rad]."""
    times = np.arange(0.0, seconds + 0.2, 1.0 / 96.0)
    return MotionPath(times, np.zeros((len(times), 3)), np.array([turned(axis, angle(t)) for t in times]))


@pytest.mark.parametrize("shape", [Box((0.05, 0.05, 0.05)), Cylinder(0.05, 0.05)])
@pytest.mark.parametrize("speed", [0.8, 1.5, 2.5])
def test_what_stands_on_a_turntable_keeps_its_place(speed, shape):
    # Friction of 0.032 to 0.319 is needed there, of 0.5.  Along the tangents of each step's start r grows by
    # exp(w^2 h t / 2): to 0.54 and 0.66 m, and at 2.5 rad/s off the table.
    scene, radius, seconds = Scene(), 0.5, 6
    table = Body("Table", [Cylinder(1.5, 0.05)], motion="kinematic", friction=0.5,
                 path=keyframed(lambda t: speed * t, seconds))  # fmt: skip
    scene.add(table)
    scene.add(Body("Cup", [shape], position=(radius, 0, 0.1), linear_velocity=(0, radius * speed, 0),
                   angular_velocity=(0, 0, speed), density=500.0, friction=0.5))  # fmt: skip
    trajectory = simulate(scene, 24 * seconds, 24, CPU)
    off = np.abs(np.hypot(*trajectory.position[:, 1, :2].T) - radius).max()
    assert figure(f"turntable at {speed:g} rad/s, 6 s at 24 fps", "radius off", off, "< 1e-3 of 0.5", "m") < 1e-3
    assert all(report.converged for report in trajectory.reports)
    assert sum(report.substeps for report in trajectory.reports) <= 25 * seconds


@pytest.mark.parametrize("fps", [24, 60])
def test_a_ball_on_a_turntable_goes_round_in_circles(fps):
    """It rolls: v' = 2/7 w z x v, a circle of radius v / (2/7 w) wherever it begins.

    With the velocity of the place it touched at the start of a step, it lost a sixth of its speed in 11 s.
    """
    speed, turning, size, start, seconds = 0.2, 2.0, 0.05, 0.5, 11
    scene = Scene()
    scene.add(Body("Table", [Cylinder(2.0, 0.05)], motion="kinematic", friction=1.0,
                   path=keyframed(lambda t: turning * t, seconds)))  # fmt: skip
    spin = ((turning * start - speed) / size, 0.0, 0.0)
    scene.add(Body("Ball", [Sphere(size)], position=(start, 0, 0.05 + size), linear_velocity=(0, speed, 0),
                   angular_velocity=spin, friction=1.0))  # fmt: skip
    trajectory = simulate(scene, fps * seconds, fps, CPU)
    rate = 2.0 / 7.0 * turning
    circle, angle = speed / rate, rate * trajectory.times
    law = np.stack([start - circle + circle * np.cos(angle), circle * np.sin(angle)], axis=1)
    off = np.linalg.norm(trajectory.position[:, 1, :2] - law, axis=1).max()
    lost = 1.0 - np.linalg.norm(trajectory.linear_velocity[-1, 1]) / speed
    name = f"ball on a turntable, 11 s at {fps} fps"
    assert figure(name, "off its circle", off, "< 2e-3 of 0.35", "m") < 2e-3
    assert abs(figure(name, "speed lost", lost, "< 1e-3")) < 1e-3
    assert all(report.converged for report in trajectory.reports)


def test_on_a_table_that_speeds_up_a_box_slips_when_friction_is_used_up():
    # r w'' = 0.72 m/s^2 along the way, r w'^2 = 0.576 t^2 m/s^2 inwards: together mu g = 2.943 m/s^2 at 2.226 s.
    scene, radius, seconds = Scene(), 0.9, 3
    path = keyframed(lambda t: 0.4 * t**2, seconds)
    scene.add(Body("Table", [Cylinder(3.0, 0.05)], motion="kinematic", friction=0.3, path=path))
    scene.add(Body("Box", [Box((0.05, 0.05, 0.05))], position=(radius, 0, 0.1), friction=0.3))
    trajectory = simulate(scene, 24 * seconds, 24, CPU)
    out = np.hypot(*trajectory.position[:, 1, :2].T) - radius
    assert figure("table that speeds up, 24 fps", "radius off until it slips", np.abs(out[:53]).max(), "< 1e-3 of 0.9",
                  "m") < 1e-3  # fmt: skip
    assert figure("table that speeds up, 24 fps", "slid out at 3 s", out[-1], "0.2 at 480 fps", "m") > 0.17


def test_crates_on_a_deck_that_pitches_stay():
    # 0.2 rad to either side at 3 rad/s; friction 0.5.  Steps along tangents moved them by 17 mm.
    scene, places, seconds = Scene(), np.array([-1.2, -0.4, 0.4, 1.2]), 4
    path = keyframed(lambda t: 0.2 * np.sin(3.0 * t), seconds, "y")
    scene.add(Body("Deck", [Box((1.5, 1.0, 0.05))], motion="kinematic", friction=0.5, path=path))
    for k, x in enumerate(places):
        scene.add(Body(f"Crate {k}", [Box((0.1, 0.1, 0.1))], position=(x, 0, 0.15), friction=0.5))
    trajectory = simulate(scene, 24 * seconds, 24, CPU)
    on_deck = rotate(conjugate(trajectory.orientation[-1, 0]), trajectory.position[-1, 1:])
    off = np.abs(on_deck[:, 0] - places).max()
    assert figure("crates on a deck that pitches, 4 s at 24 fps", "moved", off, "< 2e-3", "m") < 2e-3
    assert np.abs(on_deck[:, 2] - 0.15).max() < FAST


def test_sliding_ball_rolls_at_five_sevenths():
    # v0 = 2, mu = 0.3: friction acts along the slip until v = w r, at v = 5 v0 / 7 whatever the step.
    scene = Scene()
    ground(scene, friction=0.3)
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.1), friction=0.3, linear_velocity=(2.0, 0, 0)))
    trajectory = simulate(scene, 24, config=CPU)
    off = abs(trajectory.linear_velocity[-1, 1, 0] - 10.0 / 7.0)
    assert figure("ball at 2 m/s, mu = 0.3", "speed off 5 v0 / 7", off, FAST / STEP, "m/s") < FAST / STEP
    assert trajectory.angular_velocity[-1, 1, 1] * 0.1 == pytest.approx(10.0 / 7.0, abs=FAST / STEP)
    # published: rolls after 2 v0 / (7 mu g) = 0.194165 s and 0.332855 m; the implicit step is short by v0 h / 2 at most
    at = np.interp(0.194165, trajectory.times, trajectory.position[:, 1, 0])
    figure("ball at 2 m/s, mu = 0.3", "way until it rolls", at, f"0.332855 +- {STEP:.3g}", "m")
    assert at == pytest.approx(0.332855, abs=2.0 * STEP / 2)
