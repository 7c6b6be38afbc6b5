# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlaps of rounded shapes, of bodies of several shapes and of many bodies, where the answer is known."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, ConvexHull, Joint, Plane, Scene, Sphere
from comparison_scenes import about_y
from overlaps import CORNERS, Overlaps, near

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
LYING = about_y(np.pi / 2)  # a capsule along x


def overlap_of(first, second, apart, turn=UPRIGHT):
    scene = Scene(bodies=[Body("First", [first]), Body("Second", [second])])
    return Overlaps(scene).deepest(np.array([np.zeros(3), apart]), np.array([UPRIGHT, turn]))


@pytest.mark.parametrize(
    ("first", "second", "apart", "turn", "depth"),
    [
        # two balls of 0.3 and 0.2, a distance of 0.45
        (Sphere(0.3), Sphere(0.2), (0.27, 0.0, 0.36), UPRIGHT, 0.05),
        # a ball over a face, an edge and a corner of a box: the distance to the nearest point
        (Box((0.5, 0.5, 0.5)), Sphere(0.2), (0.1, 0.2, 0.65), UPRIGHT, 0.05),
        (Box((0.5, 0.5, 0.5)), Sphere(0.2), (0.1, 0.5 + 0.09, 0.5 + 0.12), UPRIGHT, 0.05),
        (Sphere(0.2), Box((0.5, 0.5, 0.5)), (0.52, 0.52, 0.51), UPRIGHT, 0.17),
        # a ball whose centre is in the box, 0.1 below its top: it must go up by its radius and 0.1
        (Box((0.5, 0.5, 0.5)), Sphere(0.2), (0.1, 0.0, 0.4), UPRIGHT, 0.3),
        # crossed capsules, and two in one line
        (Capsule(0.1, 0.5), Capsule(0.1, 0.5), (0.0, 0.15, 0.2), LYING, 0.05),
        (Capsule(0.1, 0.5), Capsule(0.1, 0.5), (0.0, 0.0, 1.17), UPRIGHT, 0.03),
        # one capsule beyond the other's end: round ends, 0.09 and 0.12 apart
        (Capsule(0.1, 0.5), Capsule(0.1, 0.5), (0.09, 0.0, 1.12), UPRIGHT, 0.05),
        # a capsule lying over the long edge of a box
        (Box((0.5, 0.5, 0.5)), Capsule(0.1, 1.0), (0.2, 0.03 + 0.5, 0.04 + 0.5), LYING, 0.05),
        # a capsule through a box: its line is 0.1 below the top
        (Box((0.5, 0.5, 0.5)), Capsule(0.1, 2.0), (0.0, 0.0, 0.4), LYING, 0.2),
        (Box((0.5, 0.5, 0.5)), Capsule(0.1, 0.2), (0.0, 0.0, 0.9), UPRIGHT, 0.0),
    ],
)
def test_rounded_shapes(first, second, apart, turn, depth):
    assert overlap_of(first, second, apart, turn) == pytest.approx(depth, abs=1e-12)


def test_rounded_shapes_with_hulls_are_refused():
    with pytest.raises(NotImplementedError, match="convex hull"):
        overlap_of(ConvexHull(0.5 * CORNERS), Sphere(0.2), (0.0, 0.0, 0.6))


def test_capsule_in_the_floor():
    scene = Scene(bodies=[Body("Floor", [Plane()], motion="static"), Body("Capsule", [Capsule(0.1, 0.5)])])
    place = np.array([np.zeros(3), (0.0, 0.0, 0.4)])
    assert Overlaps(scene).deepest(place, np.array([UPRIGHT, LYING])) == 0.0
    leaning = about_y(np.pi / 3)  # its lower end is 0.25 below its middle
    assert Overlaps(scene).deepest(place, np.array([UPRIGHT, leaning])) == 0.0
    place[1, 2] = 0.34
    assert Overlaps(scene).deepest(place, np.array([UPRIGHT, leaning])) == pytest.approx(0.01, abs=1e-12)


def test_bodies_of_several_shapes_are_measured_part_by_part():
    # Two L of two boxes each: only the foot of the second reaches into the first.
    parts = [Box((0.1, 0.1, 0.5)), Box((0.3, 0.1, 0.1), position=(0.4, 0.0, -0.4))]
    scene = Scene(bodies=[Body("First", parts), Body("Second", parts)])
    turns = np.array([UPRIGHT, about_y(np.pi)])
    place = np.array([np.zeros(3), (0.95, 0.0, 0.0)])  # the second's foot is above, its tip at x = 0.25
    assert Overlaps(scene).deepest(place, turns) == 0.0
    place[1, 0] = 0.78
    assert Overlaps(scene).deepest(place, turns) == pytest.approx(0.02, abs=1e-12)


def test_what_a_joint_holds_together_and_what_cannot_move_may_overlap():
    bodies = [Body(name, [Box((0.5, 0.5, 0.5))]) for name in "ab"]
    place, turns = np.array([np.zeros(3), (0.9, 0.0, 0.0)]), np.array([UPRIGHT] * 2)
    scene = Scene(bodies=bodies)
    assert Overlaps(scene).deepest(place, turns) == pytest.approx(0.1)
    scene.add(Joint("Joint", "ball", "a", "b", (0.5, 0.0, 0.0)))
    assert Overlaps(scene).deepest(place, turns) == 0.0
    scene.joints[0].collide_connected = True
    assert Overlaps(scene).deepest(place, turns) == pytest.approx(0.1)
    for body in bodies:
        body.motion = "static"
    assert Overlaps(scene).deepest(place, turns) == 0.0


def test_grid_finds_the_pairs_that_all_pairs_find():
    random = np.random.default_rng(3)
    centre, reach = random.uniform(-4.0, 4.0, (300, 3)), random.uniform(0.1, 0.6, 300)
    apart = np.linalg.norm(centre[:, None] - centre[None], axis=2) < reach[:, None] + reach[None]
    wanted = {tuple(pair) for pair in np.argwhere(np.triu(apart, 1))}
    found = [tuple(sorted(pair)) for pair in zip(*near(centre, reach), strict=True)]
    assert len(wanted) > 100
    assert set(found) == wanted
    assert len(found) == len(wanted)


def test_all_pairs_of_a_large_scene_count():
    # A row of cubes, each 1 cm into the next, and one pair 3 cm.
    count = 50
    scene = Scene(bodies=[Body(f"Box {i}", [Box((0.5, 0.5, 0.5))]) for i in range(count)])
    place = np.zeros((count, 3))
    place[:, 0] = 0.99 * np.arange(count)
    assert Overlaps(scene).deepest(place, np.array([UPRIGHT] * count)) == pytest.approx(0.01, abs=1e-12)
    place[31:, 0] -= 0.02
    assert Overlaps(scene).deepest(place, np.array([UPRIGHT] * count)) == pytest.approx(0.03, abs=1e-12)
