# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat and sharp edges, borders and mean normals of meshes."""

import numpy as np
import pytest
from axion.solver import ConvexHull
from axion.solver.mesh_features import features, has_large_faces, hole_share, mesh_table
from contact_scenes import CUBE, grid, torus


def table(*shapes):
    return mesh_table(np.arange(len(shapes)), [(s.vertices, s.triangles) for s in shapes])


def test_cube():
    # 12 diagonals' sides are flat, the other edges are right angles: their mean leans by 45 degrees from both faces.
    cube = table(ConvexHull(CUBE))
    assert cube.closed.tolist() == [True]
    flat_edges = cube.flat[:, 1:4]
    assert flat_edges.sum() == 12 and np.all(flat_edges.sum(axis=1) == 1)
    assert np.allclose(cube.cone[:, 1:4][~flat_edges], np.sqrt(0.5))
    assert not cube.vertex_flat.any() and not cube.border.any()
    # At a corner the mean of the three faces, weighted by angle, leans evenly whatever the diagonals.
    assert np.allclose(cube.vertex_normal, cube.vertices / np.linalg.norm(cube.vertices, axis=1, keepdims=True))


def test_open_floor():
    # All inner edges of a flat floor are flat; the rim of 4 n edges is the border.
    floor = table(grid(8))
    assert floor.closed.tolist() == [False]
    assert (floor.border[:, 1:4] & ~floor.flat[:, 1:4]).sum() == 32
    assert floor.flat[:, 1:4].sum() == 3 * 128 - 32
    assert floor.vertex_flat.sum() == 49
    assert np.allclose(floor.vertex_normal, (0.0, 0.0, 1.0))


def test_split_vertices_are_welded():
    # Importers split vertices along seams; edges must still find both their faces.
    ring = torus()
    split = mesh_table(
        [0], [(ring.vertices[ring.triangles].reshape(-1, 3), np.arange(ring.triangles.size).reshape(-1, 3))]
    )
    assert split.closed.all() and len(split.vertices) == len(ring.vertices)


def test_features_of_surface_points():
    # Weights of the three corners name face, edge (opposite the missing corner) or corner.
    cube = table(ConvexHull(CUBE))
    weight = np.array([[0.3, 0.3, 0.4], [0.0, 0.5, 0.5], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    triangle, feature = features(cube, np.zeros(4, int), np.array([0, 1, 2, 3]), weight)
    assert triangle.tolist() == [0, 1, 2, 3] and feature.tolist() == [0, 1, 5, 4]


def test_triangles_without_area_open_nothing():
    # Corners that are one, as scans have them: the cube stays closed, and its edges keep their cones.
    cube = ConvexHull(CUBE)
    flat = np.array([[0, 0, 1], [0, 8, 1], [1, 9, 9]])
    flawed = mesh_table(
        [0], [(np.concatenate([cube.vertices, cube.vertices[:2]]), np.concatenate([cube.triangles, flat]))]
    )
    assert flawed.closed.tolist() == [True] and flawed.sheet.tolist() == [False]
    sound = table(cube)
    assert np.array_equal(flawed.cone[: len(cube.triangles)], sound.cone)
    assert np.array_equal(flawed.flat[: len(cube.triangles)], sound.flat)


def test_share_of_holes():
    # By hand: a cube without one of 12 triangles, without a side, a floor; and a tube whose two mouths do not cancel.
    cube, floor = ConvexHull(CUBE), grid(8)
    side = np.flatnonzero((cube.vertices[cube.triangles][:, :, 2] > 0.0).all(axis=1))
    assert hole_share(cube.vertices, cube.triangles) == 0.0
    assert np.isclose(hole_share(cube.vertices, cube.triangles[1:]), 1 / 11)
    assert np.isclose(hole_share(cube.vertices, np.delete(cube.triangles, side, axis=0)), 1 / 5)
    assert np.isclose(hole_share(floor.vertices, floor.triangles), 1.0)
    ends = np.flatnonzero(np.ptp(cube.vertices[cube.triangles][:, :, 2], axis=1) == 0.0)
    assert np.isclose(hole_share(cube.vertices, np.delete(cube.triangles, ends, axis=0)), 2 / 4)
    turned = cube.triangles.copy()
    turned[0] = turned[0, ::-1]
    assert hole_share(cube.vertices, turned) == np.inf
    assert [table(s).sheet.item() for s in (cube, floor)] == [False, True]


def prism(sides):
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    return ConvexHull(np.concatenate([ring, ring + (0.0, 0.0, 1.0)]))


@pytest.mark.parametrize(
    ("shape", "large"),
    [
        (prism(4), True),
        (prism(12), True),
        (prism(13), False),
        (prism(90), False),
        (ConvexHull([(x, y, z) for y in (0, 1) for x, z in ((0, 0), (3, 0), (0, 0.9))]), True),
        (grid(4), True),
        (grid(4, height=lambda x, y: 0.02 * x**2), False),
        (torus(), False),
    ],
    ids=["box", "edges of 30 degrees", "of 28 degrees", "of 4 degrees", "wedge of 17 degrees", "floor", "wave", "ring"],
)
def test_faces_are_large_unless_they_are_those_of_a_curve(shape, large):
    assert has_large_faces(shape.vertices, shape.triangles, 0.5) == large
    apart = shape.vertices[shape.triangles].reshape(-1, 3)  # each triangle with corners of its own
    assert has_large_faces(apart, np.arange(len(apart)).reshape(-1, 3), 0.5) == large
