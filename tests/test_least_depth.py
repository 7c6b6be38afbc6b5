# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hulls are no deeper in each other than their faces say (solver/least_depth.py).  Lengths in metres."""

from functools import cache

import numpy as np
import pytest
from axion.solver import Body, ConvexHull, Scene
from axion.solver.face_polygons import face_polygons
from axion.solver.plausible import SLACK
from axion.solver.rotations import matrices, normalised
from contact_scenes import detect, gaps, set_up

PIECE = np.array([[-1.0, -0.3, -0.5], [0.5, -0.3, -0.5], [0.5, -0.3, 1.0]]) / 3.0
OTHER = np.array([[-0.5, -0.3, -1.0], [1.0, -0.3, 0.5], [-0.5, -0.3, 0.5]]) / 3.0
PAIRS = 200
ROUNDING = 1e-4  # detection of flat faces in single precision, and its own margin
PLACES = np.array([[2.8369594, -5.3381603e-7, 0.16988437], [2.83612706, -5.7801979e-5, 0.49573677]])
TURNS = normalised(
    np.array(
        [[-8.0655876e-8, 0.01013172, 2.7322635e-6, 0.99994867], [-7.1649982e-6, 0.01026156, 1.0766376e-5, 0.9999474]]
    )
)


def test_pieces_of_a_wall_touch_along_their_broken_face():
    """Their middles are one above the other, in the middle of the wall: detection found its thickness, 200 mm."""
    hulls = [ConvexHull(np.concatenate([half, half * (1.0, -1.0, 1.0)])) for half in (PIECE, OTHER)]
    bodies = [Body(name, [hull], mass=1.0) for name, hull in zip("ab", hulls, strict=True)]
    collider = set_up(*bodies)[0]
    least = _least_depth(hulls, PLACES, matrices(TURNS))
    for step in (0.0, 1e-3):  # at a step's end, and at its start
        found = detect(collider, PLACES, TURNS, step=step)
        deepest = np.argmin(found.gap)
        assert -found.gap[deepest] == pytest.approx(1.25e-4, abs=1e-5) == least
        assert np.abs(found.normal[deepest] @ (0.692, 0.0, -0.721)) == pytest.approx(1.0, abs=1e-3)
        np.testing.assert_allclose(gaps(found, PLACES, TURNS), found.gap, atol=1e-9)


@pytest.mark.parametrize("depth", [0.02, 0.05, 0.1])
def test_hulls_are_no_deeper_than_their_faces_say(depth):
    """Prisms of three to six sides, any way round."""
    draw, scene = np.random.default_rng(7), Scene()
    hulls = [[_prism(draw), _prism(draw)] for _ in range(PAIRS)]
    orientation, way = normalised(draw.normal(size=(PAIRS, 2, 4))), normalised(draw.normal(size=(PAIRS, 3)))
    turns = matrices(orientation.reshape(-1, 4)).reshape(PAIRS, 2, 3, 3)
    place = np.zeros((PAIRS, 2, 3))
    for k in range(PAIRS):
        place[k, 1] = way[k] * _distance(hulls[k], way[k], turns[k], depth)
    there = place + 10.0 * np.stack([np.arange(PAIRS) % 15, np.arange(PAIRS) // 15, np.zeros(PAIRS)], axis=1)[:, None]
    for k in range(2 * PAIRS):
        scene.add(Body(str(k), [hulls[k // 2][k % 2]], mass=1.0))
    position, orientation = there.reshape(-1, 3), orientation.reshape(-1, 4)
    found = detect(set_up(*scene.bodies)[0], position, orientation, step=1e-3)
    np.testing.assert_allclose(gaps(found, position, orientation), found.gap, atol=1e-9)
    deepest = np.zeros(PAIRS)
    np.maximum.at(deepest, found.body_a // 2, -found.gap)
    size = np.array([min(np.ptp(hull.vertices, axis=0).min() for hull in pair) / 2.0 for pair in hulls])
    least = np.array([_least_depth(*each) for each in zip(hulls, place, turns, strict=True)])
    np.testing.assert_allclose(least, depth, atol=1e-6)
    assert np.all(deepest <= least + SLACK * size + ROUNDING)
    assert np.median(deepest) > 0.9 * depth  # edges may be less deep, or apart


def _prism(draw):
    """A ConvexHull of three to six upright sides, 0.2 m thick, about its origin."""
    angle = 2.0 * np.pi * (np.arange(count := draw.integers(3, 7)) + draw.uniform(0.0, 0.7, count)) / count
    rim = draw.uniform(0.15, 0.3) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rim -= rim.mean(axis=0)
    return ConvexHull(np.concatenate([np.insert(rim, 1, side, axis=1) for side in (-0.1, 0.1)]))


@cache
def _faces(hull):
    """Its FacePolygons."""
    return face_polygons([hull], np.zeros((1, 3)), np.eye(3)[None])


def _least_depth(hulls, place, turn):
    """How far either of two hulls must move, at least, to be outside one face of the other."""
    least = np.inf
    for one, other in ((0, 1), (1, 0)):
        faces = _faces(hulls[one])
        corners = (place[other] + hulls[other].vertices @ turn[other].T - place[one]) @ turn[one]
        least = min(least, np.min(faces.offset - np.min(corners @ faces.normal.T, axis=0)))
    return least


def _distance(hulls, way, turn, depth):
    """How far the second hull lies from the first, along ``way``, where their least depth is ``depth``."""
    near, far = 0.0, 2.0
    for _ in range(40):
        middle = 0.5 * (near + far)
        deep = _least_depth(hulls, np.outer([0.0, middle], way), turn) > depth
        near, far = (middle, far) if deep else (near, middle)
    return near
