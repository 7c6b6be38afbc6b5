# SPDX-License-Identifier: GPL-3.0-or-later
"""Places where edges and faces of convex shapes lie on each other as they touch."""

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Cylinder, Plane, Scene
from axion.solver.cores import core_table
from axion.solver.free_flight import FreeFlight
from axion.solver.model import build_model
from axion.solver.touch_features import meeting_places
from axion.solver.touch_time import Side
from axion.solver.touching import Touching, halves
from scenes import turned

SLAB = Box((0.5, 0.5, 0.5))  # its top at 0 when it stands at (0, 0, -0.5)
UPRIGHT = turned("z", 0.0)
ROOF = ConvexHull([(x, y, z) for x, z in ((-0.3, 0.4), (0.3, 0.4), (0.0, 0.0)) for y in (-0.9, 0.9)])
"""Stands on an edge along Y."""


def places(upper, lower, at=(0.0, 0.0, 0.0), turn=UPRIGHT, base=(0.0, 0.0, -0.5), room=4):
    """(M, 2) x and y of the contacts of ``upper`` at ``at`` on the level top of ``lower``, sorted."""
    bodies = [Body("Upper", [upper], mass=1.0, position=at), Body("Lower", [lower], motion="static", position=base)]
    model = build_model(Scene(bodies=bodies))
    poses = np.array([at, base], float), np.array([turn, UPRIGHT], float)
    still = np.zeros((2, 3))
    flight = FreeFlight(poses, (still, still), 0.0, still, None)
    sides = Side.of(model, np.arange(2), flight, still)
    sides.reach[:] = 1.0
    touch = Touching(model, sides, np.zeros(1), np.zeros((2, 3)), np.array([[0.0, 0.0, 1.0]]))
    cores = core_table(model.shapes, model.shape_position, model.shape_rotation).views
    of, found = meeting_places(cores, touch, np.array([0.3]), np.array([room]))
    assert (of == 0).all() and len(of) <= room
    ends = halves(found.moved.place(found.points))
    assert np.abs(ends[0] - ends[1])[:, :2].max() < 1e-9, "one below the other"
    return np.array(sorted(ends[0][:, :2].tolist()))


def test_an_edge_meets_a_face_as_far_as_that_goes():
    assert places(ROOF, SLAB) == pytest.approx(np.array([[0.0, -0.5], [0.0, 0.5]]), abs=1e-9)


def test_an_edge_across_the_corner_of_a_face_is_cut_off_by_both_sides():
    # the line x + y = 0.9 of a square of 0.5
    found = places(ROOF, SLAB, at=(0.45, 0.45, 0.0), turn=turned("z", np.pi / 4))
    assert found == pytest.approx(np.array([[0.4, 0.5], [0.5, 0.4]]), abs=1e-9)


def test_one_place_is_in_the_middle():
    found = places(ROOF, SLAB, at=(0.45, 0.45, 0.0), turn=turned("z", np.pi / 4), room=1)
    assert found == pytest.approx(np.array([[0.45, 0.45]]), abs=1e-9)


def test_edges_along_each_other_meet_where_both_are():
    base = np.array([0.0, 0.6, 0.0])
    upside = ConvexHull(np.asarray(ROOF.vertices) * (1, 1, -1))
    found = places(ROOF, upside, base=base)
    assert found == pytest.approx(np.array([[0.0, -0.3], [0.0, 0.9]]), abs=1e-9)


def test_faces_meet_in_the_corners_of_what_both_cover():
    found = places(Box((0.2, 0.2, 0.1)), SLAB, at=(0.4, 0.4, 0.1))
    assert found == pytest.approx(np.array([[0.2, 0.2], [0.2, 0.5], [0.5, 0.2], [0.5, 0.5]]), abs=1e-9)


@pytest.mark.parametrize("lower", [SLAB, Plane()])
def test_the_end_of_a_cylinder_stands_on_its_rim(lower):
    base = (0.0, 0.0, 0.0) if isinstance(lower, Plane) else (0.0, 0.0, -0.5)
    found = places(Cylinder(0.2, 0.3), lower, at=(0.1, 0.0, 0.3), base=base)
    assert len(found) == 4
    assert np.hypot(found[:, 0] - 0.1, found[:, 1]) == pytest.approx(0.2, abs=1e-9)
    assert np.abs(found.mean(axis=0) - (0.1, 0.0)).max() < 0.02


def test_an_edge_on_the_end_of_a_cylinder_is_cut_off_by_its_rim():
    found = places(ROOF, Cylinder(0.5, 0.5))
    assert found == pytest.approx(np.array([[0.0, -0.5], [0.0, 0.5]]), abs=1e-9)
