# SPDX-License-Identifier: GPL-3.0-or-later
"""The shortest way on which two meshes come apart: against solids of which it is known."""

import numpy as np
import pytest
from axion.solver import Body, Scene, TriangleMesh
from axion.solver.mesh_sides import Sides
from axion.solver.model import build_model
from axion.solver.rotations import matrices
from axion.solver.ways_apart import Insides, shortest_way
from contact_scenes import CUBE, torus

SIDES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4)]
BOX = TriangleMesh(CUBE, [*SIDES, (1, 5, 7), (1, 7, 3)])


def found(mesh, place, turn=(0.0, 0.0, 0.0, 1.0)):
    """(way, length, whether it leads apart) of two of ``mesh``, the second at a place."""
    scene = Scene()
    scene.add(Body("A", [mesh]))
    scene.add(Body("B", [mesh], position=place, orientation=turn))
    model, rotation = build_model(scene), matrices(np.array([(0.0, 0.0, 0.0, 1.0), turn]))

    def insides(place):
        return Insides(model, np.array([[0, 1]]), np.array([np.zeros(3), place]), rotation, Sides())

    way, length = shortest_way(insides(np.array(place)), 0)
    return way, length, insides(place + (length + 1e-4) * way).deepest()[0] == 0.0


@pytest.mark.parametrize("place", [(0.7, 0.1, 0.2), (0.1, -0.2, 0.6), (0.2, 0.85, 0.05), (0.0, 0.0, 0.7)])
def test_boxes_leave_over_the_nearest_face(place):
    way, length, apart = found(BOX, place)
    axis = np.argmax(np.abs(place))
    assert way == pytest.approx(np.sign(place) * (np.arange(3) == axis), abs=1e-6) and apart
    assert length == pytest.approx(1.0 - abs(place[axis]), abs=1e-5)


def test_a_copy_in_the_same_place_leaves_by_its_size():
    """All corners and edges of either lie on the other: only the middles are inside."""
    way, length, apart = found(BOX, (0.0, 0.0, 0.0))
    assert length == pytest.approx(1.0, abs=1e-5) and apart
    assert np.abs(way).max() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("overlap", [0.05, 0.2])
def test_a_ring_goes_back_to_the_side_it_overlaps_on(overlap):
    """Linked ones: forwards both tubes would have to go through each other, which is farther."""
    way, length, apart = found(torus(1.0, 0.3), (1.4 + overlap, 0.0, 0.0), (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)))
    assert way[0] < -0.99 and apart
    assert length == pytest.approx(overlap, abs=0.02)


def test_what_is_not_in_each_other_has_no_way():
    way, length, _ = found(BOX, (1.01, 0.0, 0.0))
    assert not way.any() and length == np.inf
