# SPDX-License-Identifier: GPL-3.0-or-later
"""Corners in the valleys of a mesh, between two faces that meet there: each of the two holds them.

The nearest place is on one of the two, or between them.  Held by that one alone a corner slides into the other, and the
mean of both normals lets it sink into either.
"""

import numpy as np

from .mesh_contacts import TOUCHING
from .tips import above, over

NOISE = 1e-4  # times the smallest half extent: nearer to a surface the direction to it is noise
SLACK = 1e-3  # times that, which a place may be beside a face


def _valleys(model, triangle, back):
    """(N, 3) bool: which sides of triangles (N,), the first opposite corner 0, are sharp valleys; back (N,) bool: on
    the surface's other side.
    """
    edges = model.edge_pairs.edges
    side = edges.side[triangle]
    ridge, valley = (edges.has[each[:, None], side] for each in (back.astype(np.intp), (~back).astype(np.intp)))
    return valley & ~ridge & ~model.meshes.flat[triangle, 1:4]


def on_faces(model, feature, back, length, size):
    """``feature`` of ``features``, (N,) each, with the triangle's face for what is in a valley beside it.

    back (N,) bool; length (N,) from that place, size (N,) smallest half extents [m].
    """
    triangle, number = feature
    near = np.flatnonzero((number > 0) & (length <= NOISE * size))
    if not len(near):
        return feature
    valley, number, found = _valleys(model, triangle[near], back[near]), number.copy(), number[near]
    row, corner = np.arange(len(near)), (found - 4) % 3
    ends = valley[row, (corner + 1) % 3] & valley[row, (corner + 2) % 3]
    number[near[np.where(found < 4, valley[row, (found - 1) % 3], ends)]] = 0
    return triangle, number


def across_valleys(model, triangle, back, point, size):
    """Faces across valleys that points touch as well: (which of the points (K,), normals (K, 3), feet (K, 3)).

    triangle (N,): the nearest to each ``point`` (N, 3), of the table; back (N,) bool: its other side counts; size (N,):
    smallest half extents [m].
    """
    table, edges, side = model.meshes, model.edge_pairs.edges, np.where(back, -1.0, 1.0)
    valley = _valleys(model, triangle, back) if len(triangle) else np.zeros((0, 3), bool)
    found = [(np.zeros(0, np.intp), np.zeros((0, 3)), np.zeros((0, 3)))]
    for k in np.flatnonzero(valley.any(axis=0)):
        some = np.flatnonzero(valley[:, k])
        other = edges.faces[edges.side[triangle[some], k]].sum(axis=1) - triangle[some]
        up, foot, height = above(table, other, side[some], point[some])
        touch = (np.abs(height) <= TOUCHING * size[some]) & over(table, other, foot, SLACK * size[some])
        found.append((some[touch], up[touch], foot[touch]))
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))
