# SPDX-License-Identifier: GPL-3.0-or-later
"""The judges of motion against overlaps, distances and energies that are known in closed form."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, ConvexHull, Joint, Plane, Scene, Sphere, Trajectory
from axion.solver.rotations import exponential, multiply, rotate
from judges import OverlapJudge, anchor_distances, energies, farthest_moved, largest_rise
from scenes import chain, stack, turned
from table_scenes import arch

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def depth(*bodies, joints=()):
    scene = Scene(bodies=list(bodies), joints=list(joints))
    poses = [body.start() for body in bodies]
    return OverlapJudge(scene).deepest(np.array([p for p, _ in poses]), np.array([q for _, q in poses]))[0]


def motion(scene, position, orientation, linear=None, angular=None):
    position, orientation = np.asarray(position, float), np.asarray(orientation, float)
    linear = np.zeros_like(position) if linear is None else np.asarray(linear, float)
    angular = np.zeros_like(position) if angular is None else np.asarray(angular, float)
    times, names = np.arange(len(position)) / 24.0, [body.name for body in scene.bodies]
    return Trajectory(names, times, position, orientation, linear, angular, [], {})


UNIT = Box((1, 1, 1))
CORNER_UP = multiply(turned("y", np.arctan(np.sqrt(0.5))), turned("x", np.pi / 4))  # a cube on its tip


@pytest.mark.parametrize("cube", [UNIT, ConvexHull(CUBE)])
@pytest.mark.parametrize(
    ("shape", "place", "turn", "expected"),
    [
        (UNIT, (0.3, 0.2, 1.9), (0, 0, 0, 1), 0.1),  # face on face
        (UNIT, (0, 0, 2.1), (0, 0, 0, 1), 0.0),
        (UNIT, (0, 0, 0.9 + np.sqrt(2)), turned("x", np.pi / 4), 0.1),  # edge on face
        (Sphere(0.5), (1.2, 1.2, 1.2), (0, 0, 0, 1), 0.5 - 0.2 * np.sqrt(3)),  # ball on corner
        (Sphere(0.5), (1.3, 1.3, 0.1), (0, 0, 0, 1), 0.5 - 0.3 * np.sqrt(2)),  # ball on edge
        (Sphere(0.5), (1.4, 1.4, 0.1), (0, 0, 0, 1), 0.0),  # apart there, though both shadows on all axes overlap
        (Sphere(0.5), (0.1, 0.0, 0.9), (0, 0, 0, 1), 0.6),  # its middle inside
        (Capsule(0.5, 2.0), (0, 0, 1.4), turned("y", np.pi / 2), 0.1),  # lies across the top
        (Capsule(0.5, 2.0), (1.2, 0.0, 1.2), turned("x", np.pi / 2), 0.5 - 0.2 * np.sqrt(2)),  # along an edge
        (ConvexHull(CUBE), (0, 0, 0.95 + np.sqrt(3)), CORNER_UP, 0.05),  # corner on face
    ],
)
def test_overlap_with_a_cube(cube, shape, place, turn, expected):
    # turned and shifted as a whole: nothing may depend on the world's axes
    whole, shift = exponential(np.array([0.3, -0.8, 0.5])), np.array([1.0, 2.0, -3.0])
    a = Body("A", [cube], position=shift, orientation=whole)
    b = Body("B", [shape], position=shift + rotate(whole, np.array(place, float)), orientation=multiply(whole, turn))
    assert depth(a, b) == pytest.approx(expected, abs=1e-9)
    assert depth(b, a) == pytest.approx(expected, abs=1e-9)


def test_overlap_of_crossed_edges():
    # Cubes balanced edge on edge, the edges at right angles: they part along z only.
    lower = Body("A", [UNIT], orientation=turned("x", np.pi / 4))
    turn = turned("y", np.pi / 4)
    upper = Body("B", [UNIT], position=(0, 0, 2 * np.sqrt(2) - 0.01), orientation=turn)
    assert depth(lower, upper) == pytest.approx(0.01, abs=1e-12)


def test_overlap_of_capsules_and_of_planes():
    a, b = (
        Body("A", [Capsule(0.5, 1.0)]),
        Body("B", [Capsule(0.25, 1.0)], position=(0.7, 0, 0), orientation=turned("x", 1)),
    )
    assert depth(a, b) == pytest.approx(0.05)
    floor = Body("Floor", [Plane()], motion="static", orientation=turned("x", 0.2))
    up = rotate(floor.orientation, np.array([0.0, 0, 1]))
    assert depth(floor, Body("B", [Box((1, 2, 3))], position=2.9 * up, orientation=turned("x", 0.2))) == pytest.approx(
        0.1
    )
    assert depth(floor, Body("B", [Sphere(1)], position=0.7 * up)) == pytest.approx(0.3)


def test_bodies_that_do_not_collide_are_not_judged():
    a, b = Body("A", [UNIT]), Body("B", [UNIT], position=(1, 0, 0))
    assert depth(a, b) == pytest.approx(1.0)
    assert depth(a, b, joints=[Joint("J", "ball", "A", "B")]) == 0.0
    assert depth(a, b, joints=[Joint("J", "ball", "A", "B", collide_connected=True)]) == pytest.approx(1.0)
    assert depth(a, Body("B", [UNIT], position=(1, 0, 0), collision_mask=0)) == 0.0
    assert depth(Body("A", [UNIT], motion="static"), Body("B", [UNIT], motion="static")) == 0.0


def test_stones_of_an_arch_touch_without_overlap():
    scene = arch(11, 0.11)
    poses = [body.start() for body in scene.bodies]
    judge = OverlapJudge(scene)
    position, turn = np.array([p for p, _ in poses]), np.array([q for _, q in poses])
    assert judge.deepest(position, turn)[0] == pytest.approx(0.0, abs=1e-12)
    middle = position[6].copy()
    position[6, 2] -= 0.001  # the keystone sinks: its faces lean by half a stone's angle
    assert judge.deepest(position, turn)[0] == pytest.approx(0.001 * np.sin(0.5 * np.pi / 11), rel=1e-6)
    position[6] = middle + (0, 0, 0.1)
    assert judge.deepest(position, turn)[0] == pytest.approx(0.0, abs=1e-12)


def test_anchor_distance_way_and_energy():
    scene = chain(2, length=0.2)
    start = np.array([body.position for body in scene.bodies])
    turn = np.array([body.orientation for body in scene.bodies])
    moved, half = start.copy(), turned("x", 0.5 * np.pi)
    moved[1] += (0.003, 0, 0)
    trajectory = motion(scene, [start, moved], [turn, turn], angular=[np.zeros((2, 3)), [(0, 0, 5.0), (0, 0, 0)]])
    assert np.allclose(anchor_distances(scene, trajectory), [[0, 0], [0, 0.003]])
    assert np.allclose(farthest_moved(scene, trajectory), [0, 0.003])
    turned_half = motion(scene, [start, start], [turn, [multiply(turn[0], half), turn[1]]])
    assert farthest_moved(scene, turned_half)[1] == pytest.approx(np.sqrt(2) * 0.35 * 0.2)  # ends of a capsule's axis
    _, _, inertia = scene.bodies[0].mass_properties()
    weight = -9.81 * 0.1
    expected = [weight * (0.1 + 0.3), weight * (0.1 + 0.3) + 0.5 * inertia[2, 2] * 25.0]
    assert np.allclose(energies(scene, trajectory), expected)
    assert largest_rise(np.array([3.0, 1.0, 1.5, 1.2])) == 0.5
    assert largest_rise(np.array([3.0, 2.0, 1.5])) < 0.0


def test_touching_stack_does_not_overlap():
    scene = stack(5)
    poses = [body.start() for body in scene.bodies]
    found = OverlapJudge(scene).deepest(np.array([p for p, _ in poses]), np.array([q for _, q in poses]))[0]
    assert found < 1e-15 * 10
