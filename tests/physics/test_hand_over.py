# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated bodies: they keep their path exactly, push with their true velocity, and hand over to physics with it."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, MotionPath, Scene, SolverConfig, Sphere, rotations, simulate
from figures import figure
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def thrown(end, samples):
    """A ball led along (2 t, 0, 1 + 3 t), turning at 4 rad/s, let go at ``end`` [s]."""
    t = np.linspace(0.0, end, samples)
    place = np.column_stack([2 * t, 0 * t, 1 + 3 * t])
    turn = rotations.exponential(np.column_stack([0 * t, 0 * t, 4 * t]))
    scene = Scene()
    scene.add(Body("Ball", [Sphere(0.1)], path=MotionPath(t, place, turn)))
    return scene


def test_released_body_flies_on_with_the_velocity_of_its_path():
    # Let go on a frame: on the path until then, the parabola of v = (2, 0, 3) and 4 rad/s after.
    trajectory = simulate(thrown(0.5, 13), 24, config=CPU)
    t = trajectory.times
    assert trajectory.position[:13, 0] == pytest.approx(np.column_stack([2 * t, 0 * t, 1 + 3 * t])[:13], abs=1e-12)
    later = t[12:] - 0.5
    want = np.column_stack([1 + 2 * later, 0 * later, 2.5 + 3 * later - 0.5 * GRAVITY * later**2])
    assert trajectory.position[12:, 0] == pytest.approx(want, abs=1e-12)
    assert trajectory.angular_velocity[:, 0] == pytest.approx(np.tile([0, 0, 4.0], (25, 1)), abs=1e-9)


def test_release_within_a_step_keeps_the_velocity():
    # The path ends at 0.51 s, between two frames: horizontal velocity 2 m/s before and after.
    trajectory = simulate(thrown(0.51, 2), 24, config=CPU)
    assert trajectory.linear_velocity[:, 0, 0] == pytest.approx(np.full(25, 2.0), abs=1e-9)


def test_a_paddle_gives_its_velocity():
    # A heavy door leaf moving at 1 m/s takes a ball along: e = 0, so the ball goes at 1 m/s, just ahead of it. A step
    # may be off by the tolerance of fast motion, so its speed by FAST / h, and its lead by that for the 1.15 s since.
    scene = Scene(gravity=(0, 0, 0))
    path = MotionPath([0.0, 2.0], [[-0.5, 0, 0], [1.5, 0, 0]], [UPRIGHT, UPRIGHT])
    scene.add(Body("Paddle", [Box((0.05, 0.5, 0.5))], motion="kinematic", path=path))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0), mass=1.0))
    trajectory = simulate(scene, 36, config=CPU)
    assert trajectory.linear_velocity[-1, 1, 0] == pytest.approx(1.0, abs=FAST * 24)
    assert trajectory.position[-1, 1, 0] - trajectory.position[-1, 0, 0] == pytest.approx(0.15, abs=FAST * 24 * 1.15)
    assert trajectory.position[:, 0, 0] == pytest.approx(-0.5 + trajectory.times, abs=1e-12)


def test_turning_paddle_hits_with_the_speed_of_its_rim():
    # A bar of 0.05 m turning at w = 2 rad/s about its middle meets a ball of 0.05 m where the ball is 0.1 m off its
    # middle line, s = sqrt(0.8^2 + 0.3^2 - 0.1^2) along it.  There its face moves at w s across; e = 1 doubles that.
    omega, place, reach = 2.0, np.array([0.8, 0.3, 0.0]), 0.05 + 0.05
    scene = Scene(gravity=(0, 0, 0))
    t = np.linspace(0.0, 1.0, 25)
    turn = rotations.exponential(np.column_stack([0 * t, 0 * t, omega * t]))
    path = MotionPath(t, np.zeros((25, 3)), turn)
    scene.add(Body("Bar", [Box((1.0, 0.05, 0.2))], motion="kinematic", path=path, friction=0.0, restitution=1.0))
    scene.add(Body("Ball", [Sphere(0.05)], position=place, mass=1.0, friction=0.0, restitution=1.0))
    trajectory = simulate(scene, 12, config=CPU)
    lever, angle = np.sqrt(place @ place - reach**2), np.arctan2(place[1], place[0])
    angle -= np.arcsin(reach / np.linalg.norm(place))
    want = 2.0 * omega * lever * np.array([-np.sin(angle), np.cos(angle), 0.0])
    off = np.linalg.norm(trajectory.linear_velocity[-1, 1] - want) / np.linalg.norm(want)
    assert figure("ball hit by a turning bar", "velocity off 2 w x r, of its size", off, 0.01) < 0.01


def test_body_hung_on_an_animated_one_follows():
    # Rod of 1 m below a point that swings 0.3 sin(3 t): its length is kept while it is dragged about.
    t = np.linspace(0.0, 2.0, 49)
    scene = Scene()
    path = MotionPath(t, np.column_stack([0.3 * np.sin(3 * t), 0 * t, 0 * t]), np.tile(UPRIGHT, (49, 1)))
    scene.add(Body("Hand", [Box((0.1, 0.1, 0.1))], motion="kinematic", path=path))
    scene.add(Body("Weight", [Sphere(0.1)], position=(0, 0, -1)))
    scene.add(Joint("Rod", "ball", "Hand", "Weight", (0, 0, 0)))
    trajectory = simulate(scene, 48, config=CPU)
    length = np.linalg.norm(trajectory.position[:, 1] - trajectory.position[:, 0], axis=1)
    # three rows, each within the tolerance
    assert length == pytest.approx(np.ones(49), abs=np.sqrt(3.0) * FAST)
    assert np.abs(trajectory.position[:, 1, 0]).max() > 0.1


def test_held_body_on_a_joint_waits_for_its_release():
    scene = Scene()
    path = MotionPath([0.0, 0.5], [[1, 0, 0], [1, 0, 0]], [UPRIGHT, UPRIGHT])
    scene.add(Body("Bob", [Sphere(0.1)], path=path))
    scene.add(Joint("Pivot", "ball", None, "Bob", (0, 0, 0)))
    trajectory = simulate(scene, 24, config=CPU)
    assert np.array_equal(trajectory.position[:13, 0], np.tile([1.0, 0, 0], (13, 1)))
    assert trajectory.position[-1, 0, 2] < -0.5
    assert np.linalg.norm(trajectory.position[:, 0], axis=1) == pytest.approx(np.ones(25), abs=np.sqrt(3.0) * FAST)


@pytest.mark.parametrize("motion", ["static", "kinematic"])
def test_immovable_bodies_keep_their_bits(motion):
    place, turn = (0.1, 0.2, 0.3), rotations.exponential(np.array([0.1, 0.2, 0.3]))
    scene = Scene()
    scene.add(Body("Wall", [Box((1, 1, 1), position=(0.5, 0, 0))], motion=motion, position=place, orientation=turn))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 5)))
    trajectory = simulate(scene, 12, config=CPU)
    assert np.abs(trajectory.position[:, 0] - place).max() < 1e-15
    assert np.abs(trajectory.orientation[:, 0] - turn).max() < 1e-15
    assert not trajectory.linear_velocity[:, 0].any()
