# SPDX-License-Identifier: GPL-3.0-or-later
"""Dry friction: sliding, stopping, and being carried, by the laws of the implicit step."""

import numpy as np
import pytest
from axion.solver import Body, Box, Cylinder, MotionPath, Scene, SolverConfig, Sphere, simulate
from scenes import GRAVITY, downhill, ground, slope

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
    assert way[-1] @ downhill(angle) == pytest.approx(want, abs=n * FAST)
    assert np.abs(way - np.outer(way @ downhill(angle), downhill(angle))).max() < 2 * FAST  # and stays on the plane
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
    assert trajectory.position[-1, 1, 0] == pytest.approx(want, abs=mu * GRAVITY * STEP**2 / 8 + 1e-3)
    assert np.abs(trajectory.linear_velocity[-1, 1]).max() < FAST / STEP


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
    want = speed**2 / GRAVITY - speed * STEP / 2
    assert lag == pytest.approx(want, abs=0.5 * GRAVITY * STEP**2 / 8 + 1e-3)


def test_lift_carries_without_a_gap_and_without_a_jump():
    # Rising at 1 m/s the box rises with it from the first step on.
    scene = Scene()
    path = MotionPath([0.0, 2.0], [[0, 0, -0.1], [0, 0, 1.9]], FLAT)
    scene.add(Body("Lift", [Box((1, 1, 0.1))], motion="kinematic", path=path))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.1)))
    trajectory = simulate(scene, 36, config=CPU)
    height = trajectory.position[:, 1, 2] - trajectory.position[:, 0, 2] - 0.2
    assert np.abs(height).max() < 2 * FAST


def test_turntable_drift_is_of_first_order():
    # The box keeps its place on a table turning at w, but each step goes along the tangent:
    # r grows by the factor sqrt(1 + (w h)^2) at most.
    scene = Scene()
    scene.add(
        Body("Table", [Cylinder(1, 0.1)], motion="kinematic", angular_velocity=(0, 0, 1.0), position=(0, 0, -0.1))
    )
    box = Body("Box", [Box((0.1, 0.1, 0.1))], position=(0.4, 0, 0.1))
    box.linear_velocity, box.angular_velocity = (0, 0.4, 0), (0, 0, 1.0)
    scene.add(box)
    n = 48
    trajectory = simulate(scene, n, config=CPU)
    radius = np.hypot(*trajectory.position[-1, 1, :2])
    assert 0.4 - n * FAST < radius < 0.4 * np.sqrt(1.0 + STEP**2) ** n + n * FAST
    assert trajectory.angular_velocity[-1, 1, 2] == pytest.approx(1.0, abs=1e-3)


def test_sliding_ball_rolls_at_five_sevenths():
    # v0 = 2, mu = 0.3: friction acts along the slip until v = w r, at v = 5 v0 / 7 whatever the step.
    scene = Scene()
    ground(scene, friction=0.3)
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.1), friction=0.3, linear_velocity=(2.0, 0, 0)))
    trajectory = simulate(scene, 24, config=CPU)
    assert trajectory.linear_velocity[-1, 1, 0] == pytest.approx(10.0 / 7.0, abs=FAST / STEP)
    assert trajectory.angular_velocity[-1, 1, 1] * 0.1 == pytest.approx(10.0 / 7.0, abs=FAST / STEP)
    # published: rolls after 2 v0 / (7 mu g) = 0.194165 s and 0.332855 m; the implicit step is short by v0 h / 2 at most
    at = np.interp(0.194165, trajectory.times, trajectory.position[:, 1, 0])
    assert at == pytest.approx(0.332855, abs=2.0 * STEP / 2)
