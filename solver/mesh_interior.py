# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep places are in meshes, and where a way out of one ends."""

import numpy as np

from .closest_points import closest_points
from .mesh_features import features

RIM = 1e-6  # of a triangle, that a way may miss it by: no gaps between neighbours


def depth_below(model, shape, point, back):
    """How far points (N, 3), in the shapes' frames, are behind the surfaces of mesh shapes (N,); before them negative.

    back (N,) bool: before them is where their normals do not point.
    """
    table = model.meshes
    mesh = table.shape_mesh[shape]
    face, weight, place, sign = closest_points(model, shape, point, np.full(len(shape), np.inf))
    apart = point - place
    normal = table.normal[features(table, mesh, face, weight)]
    before = np.where(np.einsum("ki,ki->k", normal, apart) >= 0.0, 1.0, -1.0) * np.where(back, -1.0, 1.0)
    return -np.where(table.closed[mesh], sign, before) * np.linalg.norm(apart, axis=1)


def way_out(model, shape, point, way):
    """Lengths (N,) of ways from points (N, 3) along unit vectors ``way`` (N, 3), in the shapes' frames, to where they
    first leave the solids of mesh shapes (N,); inf where they never do.
    """
    table, mesh = model.meshes, model.meshes.shape_mesh[shape]
    length = np.full(len(shape), np.inf)
    for k, number in enumerate(mesh):
        some = slice(table.first_triangle[number], table.first_triangle[number + 1])
        a, b, c = (table.vertices[v] - point[k] for v in table.corner[some].T)
        # Seen along the way, the origin is in a triangle where all three volumes have the sign of its facing.
        volumes = np.stack([np.cross(p, q) @ way[k] for p, q in ((b, c), (c, a), (a, b))])
        facing = volumes.sum(axis=0)
        out = (facing > 0.0) & (volumes >= -RIM * facing).all(axis=0)
        far = np.einsum("ti,ti->t", a[out], np.cross(b[out], c[out])) / facing[out]
        length[k] = np.min(far[far >= 0.0], initial=np.inf)
    return length
