# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes with something inside are rooms; all others are solid."""

import numpy as np
import pytest
from axion.solver import (
    Body,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    MotionPath,
    Plane,
    Scene,
    SolverConfig,
    Sphere,
    TriangleMesh,
    simulate,
)
from axion.solver.hollow import hollow_meshes
from axion.solver.model import build_model
from axion.solver.rotations import exponential, matrices
from contact_scenes import CUBE, torus
from figures import figure

CPU = SolverConfig(device="cpu")
SIDES = ConvexHull(CUBE).triangles
DIRECTIONS = np.random.default_rng(3).normal(size=(60, 3))
STONE = ConvexHull(0.1 * DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1)[:, None])
CONTENTS = {
    "ball": Sphere(0.1),
    "box": Box((0.1, 0.1, 0.1)),
    "cylinder": Cylinder(0.1, 0.1),
    "capsule": Capsule(0.06, 0.1),
    "cone": Cone(0.1, 0.1),
    "hull": STONE,
    "mesh": TriangleMesh(STONE.vertices, STONE.triangles),
    "ring": torus(0.1, 0.03, 16, 8),
}


def cube(size, inside_out=False, center=(0.0, 0.0, 0.0)):
    return TriangleMesh(size * CUBE + center, SIDES[:, ::-1] if inside_out else SIDES)


def sphere(radius=1.0, count=400):
    """A closed mesh whose corners lie on a sphere (Fibonacci's lattice)."""
    k = np.arange(count) + 0.5
    polar, around = np.arccos(1.0 - 2.0 * k / count), np.pi * (1.0 + 5.0**0.5) * k
    points = np.stack([np.cos(around) * np.sin(polar), np.sin(around) * np.sin(polar), np.cos(polar)], axis=1)
    hull = ConvexHull(radius * points)
    return TriangleMesh(hull.vertices, hull.triangles)


def joined(*meshes):
    first = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
    triangles = [start + mesh.triangles for start, mesh in zip(first, meshes, strict=True)]
    return TriangleMesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(triangles))


def hollow(*bodies):
    scene = Scene(bodies=list(bodies))
    position = np.array([body.position for body in bodies], float)
    rotation = matrices(np.array([body.orientation for body in bodies], float))
    model = build_model(scene)
    shells = ~model.meshes.closed[model.meshes.shape_mesh] & (model.meshes.shape_mesh >= 0)
    assert not hollow_meshes(model, position, rotation).any()  # what is a shell is not asked again
    return shells.tolist()


def outermost(trajectory, room, content):
    """How far from the middle of a room, in its frame and along its axes, the middle of its content gets [m]."""
    apart = trajectory.position[:, content] - trajectory.position[:, room]
    turn = matrices(trajectory.orientation[:, room])
    return np.abs(np.einsum("fji,fj->fi", turn, apart)).max()


@pytest.mark.parametrize("inside_out", [False, True])
@pytest.mark.parametrize("name", CONTENTS)
def test_what_stands_in_a_closed_cube_stays_there(name, inside_out):
    # All of them fell out of it below, in frames that had converged.
    scene = Scene()
    scene.add(Body("Room", [cube(2.0, inside_out)], motion="static"))
    content = Body(name, [CONTENTS[name]], position=(0.1, 0.2, 0.0), mass=1.0, linear_velocity=(2.0, 1.0, 0.0))
    scene.add(content)
    trajectory = simulate(scene, 72, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert max(report.penetration for report in trajectory.reports) < 2e-4
    far = outermost(trajectory, 0, 1)
    assert figure(f"{name} in a cube, {inside_out}", "farthest from its middle", far, "up to 0.97", "m") < 0.98
    assert trajectory.position[-1, 1, 2] < -0.85


def test_a_hollow_ball_rolls_with_what_is_in_it():
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    ball = Body("Ball", [sphere()], mass=5.0, position=(0.0, 0.0, 1.02), angular_velocity=(0.0, 1.0, 0.5))
    scene.add(ball)
    for k, (name, shape) in enumerate(CONTENTS.items()):
        angle = 2.0 * np.pi * k / len(CONTENTS)
        at = 0.45 * np.array([np.cos(angle), np.sin(angle), 0.0]) + (0.0, 0.0, 1.0 + 0.15 * (k % 3))
        scene.add(Body(name, [shape], mass=0.3, position=at))
    trajectory = simulate(scene, 72, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    apart = np.linalg.norm(trajectory.position[:, 2:] - trajectory.position[:, 1:2], axis=2).max()
    assert figure("things in a rolling ball", "farthest from its middle", apart, "up to 0.97", "m") < 0.98
    assert trajectory.position[:, 1, 2].min() > 0.98


def test_a_drum_that_turns_carries_its_balls_round():
    # As a lottery's: what is in it went out through its wall.
    times, scene = np.linspace(0.0, 4.0, 97), Scene()
    turns = exponential(np.stack([2.0 * times, 0.0 * times, 0.0 * times], axis=1))
    path = MotionPath(times, np.zeros((97, 3)), turns)
    scene.add(Body("Drum", [cube(2.0)], motion="kinematic", path=path, friction=0.6))
    for k in range(20):
        at = 0.3 * np.array([k % 3 - 1, k // 3 % 3 - 1, k // 9 - 1])
        scene.add(Body(f"Ball {k}", [Sphere(0.1)], mass=0.2, position=at, friction=0.6))
    trajectory = simulate(scene, 96, config=CPU)
    far = max(outermost(trajectory, 0, k) for k in range(1, 21))
    assert figure("20 balls in a drum", "farthest from its middle", far, "up to 0.9", "m") < 0.902
    assert np.mean([report.converged for report in trajectory.reports]) >= 0.99


def test_a_room_is_met_from_outside_too():
    scene = Scene()
    scene.add(Body("Room", [cube(2.0)], motion="static"))
    scene.add(Body("Inside", [Sphere(0.2)], mass=1.0))
    scene.add(Body("Outside", [Sphere(0.2)], mass=1.0, position=(0.3, 0.2, 2.0)))
    trajectory = simulate(scene, 48, config=CPU)
    np.testing.assert_allclose(trajectory.position[-1, 1:, 2], (-0.8, 1.2), atol=2e-4)


@pytest.mark.parametrize("speed", [15.0, 25.0])
def test_what_flies_through_a_hall_meets_none_of_its_pillars(speed):
    # A room that looks inwards round pillars that look outwards: as one solid it had told an overlap of 0.7 m.
    pillars = [cube(0.4, center=(x, y, 0.0)) for x in (-2.0, 0.0, 2.0) for y in (-2.0, 0.0, 2.0)]
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Body("Hall", [joined(cube(12.0, True), *pillars)], motion="static", restitution=0.5))
    velocity = speed * np.array([1.0, 0.1, 0.0])
    scene.add(Body("Ball", [Sphere(0.04)], position=(-4.0, -1.2, 0.0), mass=1.0, linear_velocity=velocity))
    trajectory = simulate(scene, int(7.0 / speed * 24.0), config=CPU)
    assert max(report.penetration for report in trajectory.reports) == 0.0
    np.testing.assert_allclose(trajectory.linear_velocity[-1, 1], velocity, rtol=1e-9)


def test_only_what_holds_a_body_wholly_is_hollow():
    room = Body("Room", [cube(2.0)], motion="static")
    ball = [Sphere(0.2)]
    assert hollow(room, Body("Ball", ball)) == [True, False]
    assert hollow(room, Body("Ball", ball, position=(0.0, 0.0, -0.81))) == [True, False]  # as it lies, 10 mm deep
    assert hollow(room, Body("Ball", ball, position=(0.0, 0.0, -0.9))) == [False, False]  # half way through the floor
    assert hollow(room, Body("Ball", ball, position=(0.0, 0.0, 1.3))) == [False, False]
    assert hollow(room, Body("Ball", ball, motion="static")) == [False, False]
    assert hollow(room, Body("Ball", ball, collision_group=2, collision_mask=2)) == [False, False]
    beam = Body("Beam", [Box((1.2, 0.1, 0.1))])
    assert hollow(room, beam) == [False, False]
    pair = Body("Pair", [Sphere(0.2), Sphere(0.2, position=(0.0, 0.0, 2.0))])
    assert hollow(room, pair) == [False, False, False]
    twins = room, Body("Other", [room.shapes[0]], motion="static", position=(5.0, 0.0, 0.0)), Body("Ball", ball)
    assert hollow(*twins) == [True, False, False]
    bowl = joined(cube(2.0), cube(1.6, True))  # thick walls: what is in its hollow is outside of it
    assert hollow(Body("Bowl", [bowl], motion="static"), Body("Ball", ball)) == [False, False]
    heap = joined(cube(12.0, True), cube(1.0, center=(3.0, 0.0, 0.0)))
    assert hollow(Body("Hall", [heap], motion="static"), Body("Ball", ball)) == [True, False]


def test_hollow_balls_lie_in_each_other():
    # As nesting dolls do: the middle of the larger one is inside the smaller one, and is no content of it.
    scene, radius = Scene(), (1.2, 0.6)
    scene.add(Body("Room", [cube(6.0)], motion="static"))
    for k, each in enumerate(radius):
        scene.add(Body(f"Ball {k}", [sphere(each)], mass=1.0, position=(0.0, 0.0, 0.02 * k)))
    scene.add(Body("Marble", [Sphere(0.2)], mass=1.0, position=(0.0, 0.0, 0.05)))
    trajectory = simulate(scene, 72, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert max(report.penetration for report in trajectory.reports) < 2e-4
    np.testing.assert_allclose(trajectory.position[-1, 1:, 2], (-1.8, -2.4, -2.8), atol=0.05)
