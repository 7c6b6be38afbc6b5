# SPDX-License-Identifier: GPL-3.0-or-later
"""Corners of one mesh that are in another by the least, near an edge of it.

The nearest face may be the one beyond that edge: the corner seems to leave over there, and slides through.  What holds
it is a face along whose normal no edge of the corner leads deeper, as the two solids' Minkowski difference has it.
"""

import numpy as np

from .manifold import along_runs, turn
from .mesh_edges import TINY

FARTHER = 4.0  # times the way out by the nearest face: a longer one is another place
SLACK = 1e-3  # times the smallest half extent, that a place may be beside a face
LEANING = 0.05  # sine of the angle by which an edge may lead deeper than its corner: bodies at rest rock


class Tips:
    """K vertices of the first shapes of ShapePairs, which are meshes as the second ones are."""

    def __init__(self, model, between, run, vertex, point):
        """Pairs run (K,), vertices of the table (K,), their points (K, 3) in the frames of the second shapes."""
        self._table, self._edges, self._point = model.meshes, model.edge_pairs.edges, point
        self._slack = SLACK * between.size[run]
        count = self._edges.around_first[vertex + 1] - self._edges.around_first[vertex]
        self._owner, k = along_runs(count)
        end = self._edges.around[self._edges.around_first[vertex[self._owner]] + k]
        way = self._table.vertices[end] - self._table.vertices[vertex[self._owner]]
        self._way = turn(between.relative[run[self._owner]], way)  # along their edges
        self._way /= np.maximum(np.linalg.norm(way, axis=1)[:, None], TINY)

    def face_beside(self, triangle, side, normal, gap):
        """Faces next to the nearest ones that hold those vertices which these do not.

        triangle (K,): the nearest, of the table; side (K,): -1 where the surface's other side counts; normal (K, 3)
        and gap (K,): of the contacts so far.  Returns which vertices (N,), normals (N, 3), feet (N, 3), gaps (N,).
        """
        edges, wrong = self._edges, ~self._held(normal)
        normal, foot, best = normal.copy(), self._point.copy(), np.full(len(gap), -np.inf)
        for k in range(3):
            edge = edges.side[triangle, k]
            other = edges.faces[edge].sum(axis=1) - triangle  # across that side; -1 at a border
            up, place, height = above(self._table, np.maximum(other, 0), side, self._point)
            low = np.minimum(FARTHER * -np.abs(gap), -self._slack)
            holds = wrong & (edges.faces[edge, 1] >= 0) & (height <= 0.0) & (height >= low) & (height > best)
            holds &= over(self._table, np.maximum(other, 0), place, self._slack) & self._held(up)
            normal[holds], foot[holds], best[holds] = up[holds], place[holds], height[holds]
        found = np.flatnonzero(np.isfinite(best))
        return found, normal[found], foot[found], best[found]

    def _held(self, normal):
        """(K,) bool: no edge leads deeper against ``normal`` (K, 3)."""
        deeper = np.einsum("ki,ki->k", self._way, normal[self._owner]) < -LEANING
        return np.bincount(self._owner[deeper], minlength=len(normal)) == 0


def above(table, triangle, side, point):
    """Normals (K, 3) of triangles (K,) of a MeshTable, feet (K, 3) of points (K, 3) on their planes and their heights
    (K,) over them; side (K,): -1 where the surface's other side counts.
    """
    up = table.normal[triangle, 0] * side[:, None]
    height = np.einsum("ki,ki->k", point - table.vertices[table.corner[triangle, 0]], up)
    return up, point - height[:, None] * up, height


def over(table, triangle, place, slack):
    """(K,) bool: places (K, 3) of the triangles' planes are in these, or nearly so; slack: (K,) [m]."""
    tip = table.vertices[table.corner[triangle]]
    side = np.roll(tip, -1, axis=1) - tip
    inward = np.cross(table.normal[triangle, 0][:, None], side)
    inward /= np.maximum(np.linalg.norm(side, axis=2)[:, :, None], TINY)
    return np.all(np.einsum("ksi,ksi->ks", place[:, None] - tip, inward) >= -slack[:, None], axis=1)
