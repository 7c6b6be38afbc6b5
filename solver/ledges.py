# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges of meshes in the valley between two shapes, see hidden_edges.py.

What a contact touches of a convex shape is where that reaches farthest along the normal.  Of a mesh, which need not be
convex, it is what reaches as far beside the place alone: the vertices that edges join to those of the nearest triangle.
Only faces that meet there can take the contact's place.
"""

import numpy as np

from .closest_points import closest_points
from .manifold import turn_back


def is_mesh(model):
    """(S,) bool: shapes that are triangle meshes."""
    return model.meshes.shape_mesh >= 0


def on_meshes(model, shape, place, poses):
    """(triangle (K,) of the table nearest to world places (K, 3) of mesh shapes, how far these are from it (K,) [m],
    below 0 inside closed ones).
    """
    table, own = model.meshes, _seen_from(model, shape, place, poses)
    face, _, nearest, sign = closest_points(model, shape, own, np.full(len(shape), np.inf))
    mesh, far = table.shape_mesh[shape], np.linalg.norm(own - nearest, axis=1)
    inside = (sign < 0.0) & table.closed[mesh]
    return table.first_triangle[mesh] + np.maximum(face, 0), np.where(inside, -far, far)


def hidden_ledges(touch, pairs, above, room, model, poses):
    """Contacts with edges of meshes that stand out of nothing: their numbers in ``touch`` (M,), and of the face that
    counts instead the normal (M, 3) in its body's frame and the gap (M,).

    pairs: (edge (P,), plane (P,)), room: as in ``hidden_edges.with_faces``; above: places of what moves at those edges,
    in the world (P, 3), and the margins there (P,).
    """
    edge, plane = pairs
    asked, first, of = np.unique(edge, return_index=True, return_inverse=True)
    triangle = on_meshes(model, touch.still[asked], touch.place[asked], poses)[0]
    point, margin = (each[first] for each in above)
    found = []
    for k, one in enumerate(asked.tolist()):
        planes, shape = plane[of == k], touch.still[one]
        vertices, where = _Vertices(model, shape, poses), (touch.normal[planes], touch.level[planes] + room[one])
        ledge = _ledge(vertices, triangle[k], touch.normal[one], touch.level[one] - room[one], *where)
        if ledge is None:
            continue
        face = vertices.faces(ledge)
        seen = np.all([vertices.high(model.meshes.corner[face].ravel(), up).reshape(-1, 3).max(axis=1) > level
                       for up, level in zip(*where, strict=True)], axis=0)  # fmt: skip
        face = face[seen & model.meshes.normal[face, 0].any(axis=1)]
        if len(face):
            up = model.meshes.normal[face, 0]
            own = _seen_from(model, np.array([shape]), point[k : k + 1], poses)
            gap = ((own - model.meshes.vertices[model.meshes.corner[face, 0]]) * up).sum(axis=1) - margin[k]
            best = int(np.argmax(gap))
            found.append((one, model.shape_rotation[shape] @ up[best], gap[best]))
    columns = zip(*found, strict=True) if found else (np.zeros(0, int), np.zeros((0, 3)), np.zeros(0))
    return tuple(np.array(column) for column in columns)


class _Vertices:
    """How far vertices of a mesh shape reach along world directions."""

    def __init__(self, model, shape, poses):
        self._model, (position, rotation) = model, poses
        body = model.shape_body[shape]
        self._turn = rotation[body] @ model.shape_rotation[shape]
        self._origin = position[body] + rotation[body] @ model.shape_position[shape]
        self.edges = model.edge_pairs.edges

    def high(self, vertex, direction):
        """(K,) of vertices (K,) of the table along a direction (3,) [m]."""
        return self._model.meshes.vertices[vertex] @ (direction @ self._turn) + self._origin @ direction

    def beside(self, vertex):
        """Vertices at the other ends of the edges of ``vertex`` (K,)."""
        return _all_of(self.edges.around, self.edges.around_first, vertex)

    def faces(self, vertex):
        """Triangles of the table that have one of ``vertex`` (K,)."""
        return _all_of(self.edges.fan, self.edges.fan_first, vertex)

    def corners(self, triangle):
        """(3,) vertices of a triangle of the table."""
        return self._model.meshes.corner[triangle]


def _all_of(values, start, index):
    """What is in the lists ``index`` (K,) of ``values``, which begin at ``start``, once each."""
    return np.unique(np.concatenate([values[start[k] : start[k + 1]] for k in index]))


def _ledge(vertices, triangle, normal, level, up, highest):
    """Vertices (V,), joined by edges to one of a triangle's, that reach to ``level`` along ``normal``; None where there
    are none, or where they stand out of all planes: above ``highest`` (Q,) along ``up`` (Q, 3).
    """
    front = vertices.corners(triangle)
    front = known = front[vertices.high(front, normal) >= level]
    stands = np.zeros(len(highest), bool)
    while len(front):
        stands |= [vertices.high(front, each).max() > limit for each, limit in zip(up, highest, strict=True)]
        if stands.all():
            return None
        front = np.setdiff1d(vertices.beside(front), known)
        front = front[vertices.high(front, normal) >= level] if len(front) else front
        known = np.union1d(known, front)
    return known if len(known) else None


def _seen_from(model, shape, place, poses):
    """World places (K, 3) in the frames of shapes (K,)."""
    position, rotation = poses
    body = model.shape_body[shape]
    local = turn_back(rotation[body], place - position[body]) - model.shape_position[shape]
    return turn_back(model.shape_rotation[shape], local)
