# SPDX-License-Identifier: GPL-3.0-or-later
"""Corners of one mesh that are in another by the least, near an edge of it.

The nearest face may be the one beyond that edge: the corner seems to leave over there, and slides through.  What holds
it is a face along whose normal no edge of the corner leads deeper, as the two solids' Minkowski difference has it.
"""

import numpy as np

from .manifold import along_runs, turn
from .mesh_edges import TINY

DEEPEST = 0.1  # times the smallest half extent: what is deeper behind the next face is another place
SLACK = 1e-3  # times the smallest half extent, that a place may be beside a face
LEANING = 0.05  # sine of the angle by which an edge may lead deeper than its corner: bodies at rest rock


class Tips:
    """K vertices of the first shapes of ShapePairs, which are meshes as the second ones are."""

    def __init__(self, model, between, run, vertex, point):
        """Pairs run (K,), vertices of the table (K,), their points (K, 3) in the frames of the second shapes."""
        self._table, self._edges, self._point = model.meshes, model.edge_pairs.edges, point
        self._slack, self._deepest = SLACK * between.size[run], DEEPEST * between.size[run]
        count = self._edges.around_first[vertex + 1] - self._edges.around_first[vertex]
        self._owner, k = along_runs(count)
        end = self._edges.around[self._edges.around_first[vertex[self._owner]] + k]
        way = self._table.vertices[end] - self._table.vertices[vertex[self._owner]]
        self._way = turn(between.relative[run[self._owner]], way)  # along their edges
        self._way /= np.maximum(np.linalg.norm(way, axis=1)[:, None], TINY)

    def face_beside(self, triangle, side, normal, gap):
        """Faces around the nearest ones that hold those vertices which these do not.

        triangle (K,): the nearest, of the table; side (K,): -1 where the surface's other side counts; normal (K, 3)
        and gap (K,): of the contacts so far.  Returns which vertices (N,), normals (N, 3), feet (N, 3), gaps (N,).
        """
        wrong = ~self._held(normal)
        normal, foot, best = normal.copy(), self._point.copy(), np.full(len(gap), -np.inf)
        for other in self._around(triangle):
            up, place, height = above(self._table, np.maximum(other, 0), side, self._point)
            holds = wrong & (other >= 0) & (height <= 0.0) & (height >= -self._deepest) & (height > best)
            holds &= over(self._table, np.maximum(other, 0), place, self._slack) & self._held(up)
            normal[holds], foot[holds], best[holds] = up[holds], place[holds], height[holds]
        found = np.flatnonzero(np.isfinite(best))
        return found, normal[found], foot[found], best[found]

    def _around(self, triangle):
        """Triangles (K,) across the sides of ``triangle`` (K,), and those across theirs, one list after the other; -1
        at a border.  A face of four corners is two triangles.
        """
        for k in range(3):
            other = self._across(triangle, k)
            yield other
            for j in range(3):
                yield self._across(other, j)

    def _across(self, triangle, k):
        """Triangles (K,) across side ``k`` of ``triangle`` (K,); -1 where there is none."""
        edge = self._edges.side[triangle, k]
        first, second = self._edges.faces[edge].T
        return np.where((triangle >= 0) & (second >= 0), first + second - triangle, -1)

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
