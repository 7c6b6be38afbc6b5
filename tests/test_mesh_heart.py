# SPDX-License-Identifier: GPL-3.0-or-later
"""The place that stands for a mesh is well inside its own material."""

import numpy as np
import pytest
from axion.solver import Body, ConvexHull, TriangleMesh
from axion.solver.mesh_heart import heart
from contact_scenes import CUBE, bowl, ell, set_up, torus, tray

RING = 0.3, 0.08  # of its middle line, and around that [m]


def off_middle_line(points):
    """How far points (N, 3) are from the middle line of the ring."""
    return np.hypot(np.hypot(points[:, 0], points[:, 1]) - RING[0], points[:, 2])


@pytest.mark.parametrize("inside_out", [False, True])
def test_of_a_ring_it_is_in_the_ring(inside_out):
    ring = torus(*RING)
    triangles = ring.triangles[:, ::-1] if inside_out else ring.triangles
    triangles = np.concatenate([triangles, [[0, 0, 1], [5, 7, 7]]])  # of no area
    place = heart(ring.vertices, triangles, np.zeros(3))
    assert off_middle_line(place[None])[0] < 0.25 * RING[1]


def test_a_centre_inside_stays():
    for mesh in (ell(), TriangleMesh(CUBE, ConvexHull(CUBE).triangles)):
        center = np.array(mesh.solid().center)
        assert np.array_equal(heart(mesh.vertices, mesh.triangles, center), center)


def test_shells_with_thickness_have_it_in_their_walls():
    # A wall of thickness t has its middle t / 2 from either face: what stands for the mesh is nearly so deep.
    basin = bowl(1.2, rings=8, around=24, thickness=0.1)
    place = heart(basin.vertices, basin.triangles, np.array(basin.solid().center))
    assert 1.2 - 0.05 < np.linalg.norm(place) < 1.3  # the inside has flat faces, up to 2 % nearer to its middle
    box = tray()
    x, y, z = heart(box.vertices, box.triangles, np.array(box.solid().center))
    assert -0.1 < z < 0.3 and max(abs(x), abs(y)) < 1.1
    assert z < 0.0 or max(abs(x), abs(y)) > 1.0


def test_it_goes_with_the_shape_and_small_holes_do_not_matter():
    ring, turn = torus(*RING), np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    holed = TriangleMesh(ring.vertices, ring.triangles[2:], position=(0.5, 0.0, 0.0), orientation=turn)
    sheet = TriangleMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))
    frame = {"mass": 1.0, "inertia": np.eye(3), "center_of_mass": (0.0, 0.0, 0.0)}
    collider, *_ = set_up(Body("Ring", [holed], **frame), Body("Sheet", [sheet], motion="static"))
    center = collider.model.shape_center
    local = (center[0] - (0.5, 0.0, 0.0)) @ np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert off_middle_line(local[None])[0] < 0.25 * RING[1]
    assert np.allclose(center[1], (0.5, 0.5, 0.0)), "a sheet has no inside: its middle stays"


def test_what_has_no_area_keeps_its_centre():
    line = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    with np.errstate(all="raise"):
        assert np.array_equal(heart(line, np.array([[0, 1, 2]]), np.ones(3)), np.ones(3))
