# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat and sharp edges, borders and mean normals of meshes."""

import numpy as np
from axion.solver import ConvexHull
from axion.solver.mesh_features import features, mesh_table
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
