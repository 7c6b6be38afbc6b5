# SPDX-License-Identifier: GPL-3.0-or-later
"""Where keyframed bodies jam others, nothing is thrown out; what a bat hits leaves as the law of impact says.

A tower from which a block was pulled at 0.08 m/s flew apart at 30 m/s, and balls that a paddle stirs at 0.9 m/s were
shot at 67 m/s, in frames that had converged.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Plane, Scene, Sphere, simulate
from axion.solver.problem import StepProblem, StepSolution
from axion.solver.turned_over import turned_over
from figures import figure
from scenes import turned
from step_problems import bodies_of, contacts_of

STILL = np.array([0.0, 0.0, 0.0, 1.0])


def tower(friction, layers=10, pulled=(3, 1)):
    """Layers of three blocks each, crosswise; after 0.5 s a keyframed one is pulled out at 0.08 m/s."""
    length, width, height = 0.075, 0.025, 0.015
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static", friction=0.5))
    for layer in range(layers):
        for block in range(3):
            if (layer, block) == pulled:
                continue
            aside = (block - 1) * width
            place = (aside, 0.0) if layer % 2 else (0.0, aside)
            half = np.array([0.99 * width, length] if layer % 2 else [length, 0.99 * width]) / 2.0
            settings = {"mass": 0.015, "friction": friction, "position": (*place, (layer + 0.5) * height)}
            scene.add(Body(f"Block {layer} {block}", [Box((*half, height / 2.0))], **settings))
    rest, way = np.array([0.0, 0.0, (pulled[0] + 0.5) * height]), np.array([0.0, -0.12, 0.0])
    path = MotionPath([0.0, 0.5, 0.5 + 0.12 / 0.08], np.array([rest, rest, rest + way]), np.tile(STILL, (3, 1)))
    half = (0.99 * width / 2.0, length / 2.0, height / 2.0)
    scene.add(Body("Pulled", [Box(half)], motion="kinematic", path=path, friction=friction))
    return scene


@pytest.mark.parametrize(("friction", "frames"), [(0.4, 17), (0.2, 24)])
def test_a_tower_stands_as_a_block_is_pulled_out_of_it(friction, frames):
    trajectory = simulate(tower(friction), frames)
    name = f"tower, friction {friction}, a block pulled out at 0.08 m/s"
    fastest = np.linalg.norm(trajectory.linear_velocity, axis=2).max()
    assert figure(name, "fastest block", fastest, 0.3, "m/s") < 0.3
    turning = np.linalg.norm(trajectory.angular_velocity, axis=2).max()
    assert figure(name, "fastest turn", turning, 10.0, "rad/s") < 10.0


def stirred(seed, half=0.3):
    """A keyframed paddle that turns at 3 rad/s among 40 balls in a tray of 0.8 m."""
    rng, scene, frames = np.random.default_rng(seed), Scene(), 32
    scene.add(Body("Tray", [Box((0.5, 0.5, 0.05))], motion="static", position=(0, 0, -0.05), friction=0.3))
    for name, x, y in (("E", 1, 0), ("W", -1, 0), ("N", 0, 1), ("S", 0, -1)):
        size = (0.05 if x else 0.5, 0.05 if y else 0.5, 0.4)
        scene.add(Body(f"Side {name}", [Box(size)], motion="static", position=(0.45 * x, 0.45 * y, 0.4), friction=0.3))
    times = np.arange(frames + 1) / 24.0
    turns = np.array([turned("z", 3.0 * time) for time in times])
    path = MotionPath(times, np.tile([0.0, 0.0, 0.22], (frames + 1, 1)), turns)
    scene.add(Body("Paddle", [Box((half, 0.03, 0.2))], motion="kinematic", path=path, friction=0.3))
    for i in range(40):
        place = (-0.27 + 0.18 * (i % 4), -0.27 + 0.18 * (i // 4 % 4), 0.5 + 0.13 * (i // 16))
        place = np.array(place) + [*rng.uniform(-0.01, 0.01, 2), 0.0]
        ball = Body(f"Ball {i}", [Sphere(0.055)], position=place, mass=0.2, friction=0.3, restitution=0.4)
        scene.add(ball)
    return scene, frames


def test_a_paddle_stirs_balls_and_shoots_none():
    """How fast the fastest ball leaves goes by the last digit, 2.5 to 7.4 times as fast as the tip in ten heaps.  They
    were shot at 20 to 70 times its speed.
    """
    # A ball between the tip and a side has no room: frames are missed there.
    tip, trajectory = 3.0 * 0.3, simulate(*stirred(1))
    landed = np.linalg.norm(trajectory.linear_velocity[15:, 6:], axis=2)  # they fall at up to 3.3 m/s before
    fastest = landed.max() / tip
    assert figure("balls stirred", "fastest ball in speeds of the paddle's tip", fastest, 8.0) < 8.0


@pytest.mark.parametrize("shape", [Sphere(0.1), Box((0.1, 0.1, 0.1))], ids=["ball", "box"])
@pytest.mark.parametrize(("restitution", "bat", "speed"), [(0.0, 5, 0), (0.5, 10, 3), (1.0, 2, 6)])
def test_what_a_bat_hits_leaves_by_the_law_of_impact(shape, restitution, bat, speed):
    times = np.arange(25) / 24.0
    for phase in (0.1, 0.5, 0.9):
        x = -1.0 + bat * times + phase * bat / 24.0
        path = MotionPath(times, np.stack([x, 0 * x, 0 * x], axis=1), np.tile(STILL, (25, 1)))
        scene = Scene(gravity=(0.0, 0.0, 0.0))
        scene.add(Body("Bat", [Box((0.1, 0.5, 0.5))], motion="kinematic", path=path, restitution=restitution))
        scene.add(Body("Hit", [shape], position=(0.3, 0, 0), linear_velocity=(-speed, 0, 0), restitution=restitution))
        end = simulate(scene, 24).linear_velocity[-1, -1, 0]
        assert end == pytest.approx(bat + restitution * (bat + speed), abs=0.01)


def turned_by(turn, thickness, led=0.0, step=1.0 / 24.0):
    """Whether impulses that turn a resting rod, 1 m long, about its own axis by ``turn`` [rad] in a step count.

    It falls at 1 m/s onto a floor that runs at ``led`` [m/s].
    """
    inertia = np.array([[0.5 * (0.5 * thickness) ** 2, 1.0 / 12.0, 1.0 / 12.0], [1.0, 1.0, 1.0]])
    bodies = bodies_of([1.0, np.inf], inertia, [(0, 0, 0), (0, 0, -1)], step=step, gravity=(0, 0, 0))
    bodies.dynamic_count = 1
    bodies.velocity[0, 2] = bodies.free_velocity[0, 2] = -1.0
    bodies.velocity[1, 0] = led
    contacts = contacts_of([0], [1], [(0, 0, -0.5 * thickness)], [(0, 0, 1.0 - 0.5 * thickness)], [(0, 0, 1.0)])
    velocity = np.zeros((2, 6))
    velocity[0, 3] = turn / step
    problem = StepProblem(step, bodies, contacts)
    solution = StepSolution(velocity, bodies.position, bodies.orientation, np.zeros((1, 3)), np.zeros(0))
    return bool(turned_over(SimpleNamespace(problem=problem, island=np.zeros(1, int)), solution)[0])


def test_turns_that_a_pose_does_not_show_are_told_by_their_energy():
    assert turned_by(2.0 * np.pi, 0.1)  # 142 J of 0.5
    assert not turned_by(2.0 * np.pi, 0.005)  # a thin one does that as it rolls
    assert not turned_by(0.9 * np.pi, 0.1)  # which a pose shows
    assert not turned_by(2.0 * np.pi, 0.1, led=10.0)  # a belt may make it do so
