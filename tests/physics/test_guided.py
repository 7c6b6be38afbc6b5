# SPDX-License-Identifier: GPL-3.0-or-later
"""Guided bodies: the step response of the drive, its lag behind a moving path, and how it gives way and comes back."""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, Sphere, guide, rotations, simulate

CPU = SolverConfig(device="cpu")


def still(place=(0, 0, 0)):
    return MotionPath([0.0], [place], [[0, 0, 0, 1]])


def test_response_to_a_blow_is_that_of_the_oscillator():
    # Struck to 3 m/s on its path: m x'' = -k x - d x', k = 100 N/m, d = 8 N s/m, m = 2 kg.
    scene = Scene(gravity=(0, 0, 0))
    body = scene.add(Body("Ball", [Sphere(0.1)], mass=2.0, linear_velocity=(3, 0, 0)))
    guide(scene, body, still(), 100.0, 8.0)
    omega, decay, errors = np.sqrt(50.0 - 4.0), 2.0, []
    for fps in (50, 100):
        trajectory = simulate(scene, fps, fps, CPU)
        t = trajectory.times
        want = 3.0 / omega * np.exp(-decay * t) * np.sin(omega * t)
        errors.append(np.abs(trajectory.position[:, 0, 0] - want).max())
    assert errors[0] < 5e-3 and errors[1] < 0.35 * errors[0], "second order, 0.44 m high"


def test_a_stiff_guide_holds_a_body_on_a_moving_path():
    # Circle of 1 m at 2 rad/s; the spring gives the centripetal force: the lag is m w^2 r / k = 4e-4 m.
    t = np.linspace(0, 2, 961)
    turn = rotations.exponential(np.column_stack([0 * t, 0 * t, 2 * t]))
    path = MotionPath(t, np.column_stack([np.cos(2 * t), np.sin(2 * t), 0 * t]), turn)
    scene = Scene(gravity=(0, 0, 0))
    body = Body("Box", [Box((0.2, 0.1, 0.1))], mass=1.0, position=(1, 0, 0), linear_velocity=(0, 2, 0))
    body.angular_velocity = (0, 0, 2)
    guide(scene, scene.add(body), path, 1e4, 2e2, 1e3, 2e1)
    trajectory = simulate(scene, 48, config=CPU)
    want = np.array([path.pose(time)[0] for time in trajectory.times])
    assert np.linalg.norm(trajectory.position[:, 0] - want, axis=1).max() < 4e-3
    apart = [
        rotations.multiply(trajectory.orientation[i, 0], rotations.conjugate(path.pose(time)[1]))
        for i, time in enumerate(trajectory.times)
    ]
    assert np.linalg.norm(rotations.logarithm(np.array(apart)), axis=1).max() < 0.02


def test_rotation_comes_back_from_far_off():
    # Knocked over by 2 rad about a skew axis, critically damped: within 2 s nothing is left.
    away = rotations.exponential(2.0 * np.array([0.6, 0.0, 0.8]))
    scene = Scene(gravity=(0, 0, 0))
    body = scene.add(Body("Ball", [Sphere(0.5)], mass=10.0))  # I = 1 kg m^2
    path = MotionPath([0.0, 1e-9], np.zeros((2, 3)), [[0, 0, 0, 1], away])
    guide(scene, body, path, 100.0, 60.0, 100.0, 20.0)
    trajectory = simulate(scene, 72, config=CPU)
    apart = rotations.multiply(trajectory.orientation[-1, 0], rotations.conjugate(away))
    assert np.linalg.norm(rotations.logarithm(apart)) < 1e-3


def test_weight_sags_by_its_force_over_the_stiffness():
    scene = Scene()
    body = scene.add(Body("Ball", [Sphere(0.1)], mass=2.0))
    guide(scene, body, still(), 1000.0, 90.0)
    trajectory = simulate(scene, 72, config=CPU)
    assert trajectory.position[-1, 0, 2] == pytest.approx(-2.0 * 9.81 / 1000.0, abs=2e-5)


def test_collision_pushes_it_off_and_it_returns():
    # A wall sweeps through the path and away again; the ball is pushed off by it, and is back afterwards.
    t = np.linspace(0.0, 4.0, 193)
    x = np.where(t < 1.0, -1.5 + 1.5 * t, np.maximum(0.0 - 1.5 * (t - 1.0), -1.5))
    wall = MotionPath(t, np.column_stack([x, 0 * t, 0 * t]), np.tile([0, 0, 0, 1.0], (len(t), 1)))
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Wall", [Box((0.2, 1, 1))], motion="kinematic", path=wall, friction=0.0))
    body = scene.add(Body("Ball", [Sphere(0.2)], mass=1.0, friction=0.0))
    guide(scene, body, still(), 100.0, 20.0, 10.0, 2.0)
    trajectory = simulate(scene, 96, config=CPU)
    assert trajectory.position[24, 1, 0] == pytest.approx(0.4, abs=5e-3)
    assert np.abs(trajectory.position[-1, 1]).max() < 1e-3
    assert all(report.converged for report in trajectory.reports)


def test_its_force_can_be_limited():
    # 5 N at most against a weight of 19.62 N: it falls with (19.62 - 5) / 2 m/s^2.
    scene = Scene()
    body = scene.add(Body("Ball", [Sphere(0.1)], mass=2.0))
    guide(scene, body, still(), 1e5, 0.0, max_force=5.0)
    trajectory = simulate(scene, 24, config=CPU)
    assert trajectory.linear_velocity[-1, 0, 2] == pytest.approx(-(19.62 - 5.0) / 2.0, rel=2e-3)
