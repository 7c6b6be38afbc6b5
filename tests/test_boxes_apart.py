# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes around bodies, and whether they are apart, against true overlaps."""

from dataclasses import replace
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Plane, Scene, Sphere, TriangleMesh, boxes_apart
from axion.solver.boxes_apart import apart, body_boxes, near_on_the_way
from axion.solver.frames import body_frames
from axion.solver.model import build_model
from axion.solver.rotations import normalised
from overlaps import Overlaps

SHAPES = {
    "box": lambda draw: Box(draw.uniform(0.05, 0.5, 3)),
    "flat box": lambda draw: Box(draw.permutation([0.01, 0.3, 0.5])),
    "ball": lambda draw: Sphere(draw.uniform(0.05, 0.5)),
    "capsule": lambda draw: Capsule(draw.uniform(0.05, 0.3), draw.uniform(0.05, 0.5)),
}


def _moved(shape, draw):
    return replace(shape, position=draw.normal(size=3), orientation=normalised(draw.normal(size=4)))


def _pair(model, position, orientation):
    boxes = body_boxes(model).placed(np.arange(2), position, orientation)
    return apart(boxes.take([0]), boxes.take([1]))[:, 0]


@pytest.mark.parametrize(("first", "second"), list(combinations_with_replacement(SHAPES, 2)))
def test_bodies_said_to_be_apart_are(first, second):
    # Against the judge of the benchmarks, which measures true overlaps; shapes lie anywhere in their bodies.
    draw = np.random.default_rng(0)
    told = overlapping = 0
    for _ in range(5):
        shapes = [_moved(SHAPES[kind](draw), draw) for kind in (first, second)]
        scene = Scene(bodies=[Body(name, [shape]) for name, shape in zip("ab", shapes, strict=True)])
        model, orientation = build_model(scene), normalised(draw.normal(size=(25, 2, 4)))
        middles = body_boxes(model).placed(np.arange(2), np.zeros((25, 2, 3)), orientation).middle
        position = draw.normal(size=(25, 2, 3)) * 0.4 - middles
        said = _pair(model, position, orientation)
        judge = Overlaps(scene)
        true = np.array([judge.deepest(*pose) for pose in zip(position, orientation, strict=True)]) > 0.0
        assert not (said & true).any()
        told, overlapping = told + said.sum(), overlapping + true.sum()
    # Of polyhedra every pair is told; beside an edge the corner of a box is rounded off for balls and capsules.
    polyhedra = "box" in first and "box" in second
    assert told >= (1.0 if polyhedra or first == second == "ball" else 0.85) * (125 - overlapping)
    assert min(told, overlapping) > 15


def test_edges_that_cross_are_told_apart():
    # No face separates two bars that cross at 0.7 of their height: only the cross product of their edges does.
    bar = Box((1.0, 0.1, 0.1))
    scene = Scene(bodies=[Body("a", [bar]), Body("b", [bar])])
    about_x = np.array([np.sin(np.pi / 8), 0.0, 0.0, np.cos(np.pi / 8)])
    about_z = np.array([0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)])
    lie = np.array([about_x, about_z])
    for height, is_apart in ((0.245, True), (0.235, False)):
        position = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, height]]])
        assert _pair(build_model(scene), position, lie[None])[0] == is_apart


def test_compounds_and_meshes_have_boxes_around_them():
    corners = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0)])
    tetrahedron = TriangleMesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    dumbbell = [Sphere(0.1, position=(-1.0, 0.0, 0.0)), Box((0.2, 0.2, 0.4), position=(1.0, 0.0, 0.0))]
    scene = Scene(bodies=[Body("mesh", [tetrahedron]), Body("two", dumbbell)])
    boxes = body_boxes(build_model(scene))
    assert boxes.middle == pytest.approx(np.array([(0.5, 1.0, 1.5), (0.05, 0.0, 0.0)]))
    assert boxes.half == pytest.approx(np.array([(0.5, 1.0, 1.5), (1.15, 0.2, 0.4)]))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("kind", SHAPES)
def test_what_is_above_a_plane_is_told(kind, first):
    # The plane lies anywhere in its body, and all that is below it is inside.
    draw, told = np.random.default_rng(1), 0
    for _ in range(5):
        shape, plane = _moved(SHAPES[kind](draw), draw), _moved(Plane(), draw)
        bodies = [Body("floor", [plane], motion="static"), Body("thing", [shape])]
        model = build_model(Scene(bodies=bodies[:: -1 if first else 1]))
        orientation, position = normalised(draw.normal(size=(25, 2, 4))), draw.normal(size=(25, 2, 3))
        said = _pair(model, position, orientation)
        boxes = body_boxes(model).placed(np.arange(2), position, orientation)
        floor, thing = (1, 0) if first else (0, 1)
        normal = boxes.axes[:, floor, :, 2]
        reach = np.einsum("li,lij->lj", normal, boxes.axes[:, thing])
        lowest = np.einsum("li,li->l", normal, boxes.middle[:, thing] - boxes.middle[:, floor])
        lowest -= np.abs(reach) @ boxes.half[thing] + boxes.radius[thing]
        np.testing.assert_array_equal(said, lowest > 0.0)
        told += np.count_nonzero(said)
    assert 15 < told < 110


def test_nothing_is_apart_from_a_body_with_a_plane_and_more():
    floor = Body("floor", [Plane(), Sphere(1.0)], motion="static")
    scene = Scene(bodies=[floor, Body("box", [Box((0.1, 0.1, 0.1))])])
    position = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 50.0]]])
    assert not _pair(build_model(scene), position, np.tile([0.0, 0.0, 0.0, 1.0], (1, 2, 1)))[0]


def test_boxes_made_wider_reach_as_much_farther():
    scene = Scene(bodies=[Body(name, [Box((0.1, 0.1, 0.1))]) for name in "ab"])
    model, upright = build_model(scene), np.tile([0.0, 0.0, 0.0, 1.0], (1, 2, 1))
    for wider, is_apart in ((0.29, True), (0.31, False)):
        position = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.5]]])
        boxes = body_boxes(model).placed(np.arange(2), position, upright, np.array([0.0, wider]))
        assert apart(boxes.take([0]), boxes.take([1]))[0, 0] == is_apart


def test_many_pairs_are_compared_a_part_at_a_time(monkeypatch):
    # All at once they took 23 GB, where a solve that had gone wrong flung bodies far in a heap of ten thousand.
    draw, count = np.random.default_rng(0), 12
    scene = Scene(bodies=[Body(str(k), [Box(draw.uniform(0.05, 0.3, 3))]) for k in range(count)])
    model, frames = build_model(scene), body_frames(scene)
    position = draw.uniform(-0.6, 0.6, (3, count + 1, 3))
    orientation = normalised(draw.normal(size=(3, count + 1, 4)))
    first, second = np.array(list(combinations(range(count), 2))).T

    def way(which):
        return position[:, which], orientation[:, which]

    asked = model, frames, np.arange(count), way, first, second, draw.uniform(0.0, 0.1, count)
    near = near_on_the_way(*asked)
    monkeypatch.setattr(boxes_apart, "AT_ONCE", 20)
    sizes, compare = [], boxes_apart.apart
    monkeypatch.setattr(boxes_apart, "apart", lambda one, other: sizes.append(len(one.half)) or compare(one, other))
    np.testing.assert_array_equal(near_on_the_way(*asked), near)
    assert near.any() and not near.all()
    assert max(sizes) == 6 and sum(sizes) == len(first)


def test_only_a_box_is_its_box():
    one, two = Box((0.1, 0.2, 0.3)), Sphere(0.1)
    scene = Scene(bodies=[Body("a", [one]), Body("b", [two]), Body("c", [one, two]), Body("d", [Capsule(0.1, 0.2)])])
    assert body_boxes(build_model(scene)).exact.tolist() == [True, False, False, False]
