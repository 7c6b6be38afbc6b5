# SPDX-License-Identifier: GPL-3.0-or-later
"""Corners of bodies, and strokes on the way from one to another."""

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Cylinder, Scene, Sphere
from axion.solver.frames import body_frames
from axion.solver.outline import Outlines, strokes_between
from scenes import turned

DOWN = np.array([0.0, 0.0, -1.0])


def arc(sides, angle=0.1):
    """Corners of a regular polygon in the plane of X and Z, ``sides`` of its sides, level between first and last."""
    turn = angle * (np.arange(sides + 1) - 0.5 * sides)
    return np.stack([np.sin(turn), np.zeros(sides + 1), -np.cos(turn)], axis=1)


@pytest.mark.parametrize("sides", [1, 2, 3, 7])
def test_equal_sides_share_the_loss(sides):
    corners = arc(sides)
    wide = np.concatenate([corners - (0.0, 0.2, 0.0), corners + (0.0, 0.2, 0.0), 0.5 * corners])
    assert strokes_between(wide, corners[0], corners[-1], DOWN) == pytest.approx(1.0 / sides, rel=1e-12)


def test_sides_count_by_their_squares():
    corners = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, -4.0], [13.0, 0.0, 0.0]])  # sides of 5 and sqrt(116)
    expected = (25.0 + 116.0) / (5.0 + np.sqrt(116.0)) ** 2
    assert strokes_between(corners, corners[0], corners[2], DOWN) == pytest.approx(expected, rel=1e-12)
    # the direction need not be exactly across
    assert strokes_between(corners, corners[0], corners[2], (0.3, 0.0, -0.9)) == pytest.approx(expected, rel=1e-12)


def test_corners_above_and_beside_the_way_do_not_count():
    corners = np.array([[0.5, 0.0, 0.2], [-0.5, 0.0, -0.3], [1.5, 0.0, -0.3], [0.5, 0.0, -0.1], [0.4, 0.0, -0.05]])
    sides = 2.0 * np.hypot(0.5, 0.1)
    assert strokes_between(corners, np.zeros(3), np.array([1.0, 0.0, 0.0]), DOWN) == pytest.approx(
        2.0 * (0.25 + 0.01) / sides**2
    )
    assert strokes_between(corners[:3], np.zeros(3), np.array([1.0, 0.0, 0.0]), DOWN) == 1.0


@pytest.mark.parametrize("last", [(0.0, 0.0, 0.0), (0.0, 0.0, -2.0)])
def test_without_a_way_there_is_one_stroke(last):
    assert strokes_between(arc(3), np.zeros(3), np.array(last), DOWN) == 1.0


def test_corners_lie_in_the_solver_frame():
    hull = ConvexHull(np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], float))
    box = Box((0.1, 0.2, 0.3), position=(1.0, 2.0, 3.0), orientation=turned("z", np.pi / 2.0))
    scene = Scene()
    scene.add(Body("Round", [Sphere(0.5), Cylinder(0.1, 0.5)]))
    scene.add(Body("Both", [hull, box, Sphere(0.2)]))
    frames = body_frames(scene)
    outlines = Outlines(scene.bodies, frames)
    assert outlines.corners(0).shape == (0, 3)
    expected = np.concatenate([hull.vertices, [(1.0, 2.0, 3.0)] + outlines_of(0.2, 0.1, 0.3)])
    found, given = outlines.corners(1), frames.local(np.ones(12, int), expected)
    assert np.sort(found, axis=0) == pytest.approx(np.sort(given, axis=0), abs=1e-12)
    assert Outlines((), frames).corners(1).shape == (0, 3)


def outlines_of(x, y, z):
    """(8, 3) corners of a box."""
    return np.array([(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
