# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls and capsules that hit each other off their middles, within a frame: the way they leave and the spin they get.

With the normal of the step's start and the levers of its end, balls left 7 degrees off at 24 frames a second, and
smooth ones spun at 12 rad/s.
"""

import numpy as np
import pytest
from axion.solver import Body, Capsule, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
R, SPEED, OFF = 0.2, 5.0, 0.25


def struck(friction, restitution, ahead):
    """One ball at rest, and one that comes down on it at SPEED, OFF to its side and ``ahead`` of touching."""
    scene, height = Scene(gravity=(0, 0, 0)), np.sqrt(4.0 * R**2 - OFF**2) + ahead
    rough = {"friction": friction, "restitution": restitution, "mass": 1.0}
    scene.add(Body("Still", [Sphere(R)], **rough))
    scene.add(Body("Fast", [Sphere(R)], position=(OFF, height, 0), linear_velocity=(0, -SPEED, 0), **rough))
    return scene


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("friction", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("ahead", [0.02, 0.11, 0.5])
def test_balls_leave_as_newton_and_coulomb_say(friction, restitution, ahead):
    trajectory = simulate(struck(friction, restitution, ahead), 12, config=CPU)
    normal = np.array([-OFF, -np.sqrt(4.0 * R**2 - OFF**2), 0.0]) / (2.0 * R)  # from the fast one to the other
    velocity = np.array([0.0, -SPEED, 0.0])
    push = 0.5 * (1.0 + restitution) * (velocity @ normal)
    slip = velocity - (velocity @ normal) * normal
    grip = min(friction * push, np.linalg.norm(slip) / 7.0)  # two rolling balls are as heavy as a seventh
    impulse = push * normal + grip * slip / np.linalg.norm(slip)
    spin = R * np.cross(-normal, impulse) / (0.4 * R**2)  # the same of both: equal and opposite, on opposite sides
    name = f"balls {ahead:g} m apart, friction {friction:g}, restitution {restitution:g}"
    off = np.abs(trajectory.linear_velocity[-1] - [impulse, velocity - impulse]).max()
    assert figure(name, "velocity off", off, 2.0 * FAST / STEP, "m/s") < 2.0 * FAST / STEP
    turn = R * np.abs(trajectory.angular_velocity[-1] - spin).max()
    assert figure(name, "spin off, at the rim", turn, 5.0 * FAST / STEP, "m/s") < 5.0 * FAST / STEP


@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_a_ball_that_falls_on_a_fixed_one_is_thrown_to_its_side(restitution):
    height, scene = 1.0, Scene()
    scene.add(Body("Fixed", [Sphere(R)], motion="static", friction=0.0, restitution=restitution))
    place = np.array([OFF, 0.0, np.sqrt(4.0 * R**2 - OFF**2)])
    ball = Body("Ball", [Sphere(R)], position=place + (0, 0, height), friction=0.0, restitution=restitution)
    scene.add(ball)
    frames = 14
    trajectory = simulate(scene, frames, config=CPU)
    time, normal = np.sqrt(2.0 * height / GRAVITY), place / (2.0 * R)
    velocity = np.array([0.0, 0.0, -GRAVITY * time])
    velocity -= (1.0 + restitution) * (velocity @ normal) * normal
    left = frames * STEP - time
    end = place + velocity * left - (0, 0, 0.5 * GRAVITY * left**2)
    off = np.abs(trajectory.position[-1, 1] - end).max()
    # Along the other ball the step of the impact is one of backward Euler, which falls g h^2 / 2 too far.
    bound = GRAVITY * STEP**2 / 2.0 + left * 2.0 * FAST / STEP
    name = f"ball on a fixed ball, restitution {restitution:g}"
    assert figure(name, "off its parabola", off, bound, "m") < bound
    assert np.abs(trajectory.angular_velocity[-1, 1]).max() < 1e-6


def test_rods_that_hit_off_their_middles_turn_as_with_short_steps():
    # The second stands upright and turns about its own axis, which nothing can change.  They touch once.
    scene, smooth = Scene(gravity=(0, 0, 0)), {"friction": 0.0, "restitution": 0.5, "mass": 1.0}
    across = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
    scene.add(Body("Still", [Capsule(0.05, 0.5)], orientation=across, **smooth))
    moving = {"linear_velocity": (0, -SPEED, 0), "angular_velocity": (0, 0, 3)}
    scene.add(Body("Fast", [Capsule(0.05, 0.5)], position=(0.4, 1.03, 0), **moving, **smooth))
    frame, short = (simulate(scene, 14 * rate // 24, fps=rate, config=CPU) for rate in (24, 960))
    off = np.abs(frame.linear_velocity[-1] - short.linear_velocity[-1]).max()
    assert figure("rods that hit off their middles", "velocity off", off, 2e-3 * SPEED, "m/s") < 2e-3 * SPEED
    turn = np.abs(frame.angular_velocity[-1] - short.angular_velocity[-1]).max()
    assert figure("rods that hit off their middles", "spin off", turn, 4e-3 * SPEED, "rad/s") < 4e-3 * SPEED
