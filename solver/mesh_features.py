# SPDX-License-Identifier: GPL-3.0-or-later
"""What a contact has to know about a triangle mesh: flat and sharp edges, and borders.

An edge is flat when its faces meet at less than FLAT: the surface goes on there as if the edge were not, and contacts
with it have the face's normal.  See mesh_contacts.py.
"""

from dataclasses import dataclass

import numpy as np

from .components import connected_components

FLAT = np.cos(np.radians(5.0))  # faces that meet at a smaller angle count as one surface
PLANE = 1.0 - 1e-7  # cone of features whose faces lie in one plane
NEAR_EDGE = 1e-3  # barycentric weight up to which a point counts as on the edge
HOLES = 0.1  # share of its surface up to which a mesh's holes leave it a solid: sockets for eyes, not a bowl's mouth


@dataclass
class MeshTable:
    """Features of all meshes of a model, one after the other: T triangles, V distinct vertices.  Shape frames, metres.

    A triangle has 7 features: its face (0), the edges opposite its corners (1 to 3) and its corners (4 to 6).  Behind
    the M meshes come outlines: corners of other shapes, for round ones places on their rims or their middles.
    """

    shape_mesh: np.ndarray  # (S,) number of each shape's mesh, -1 for other shapes
    shape_outline: np.ndarray  # (S,) number of each shape's mesh or outline, -1 for planes and hulls with many corners
    first_triangle: np.ndarray  # (M + 1,)
    first_vertex: np.ndarray  # (M + N + 1,) of N outlines
    bounds: np.ndarray  # (M + N, 2, 3) lowest and highest corner of each
    closed: np.ndarray  # (M + N,) bool: no border
    sheet: np.ndarray  # (M + N,) bool: so open that its centre lies on neither side; not if it has but small holes
    radius: np.ndarray  # (M + N,) of what is round around the corners [m]
    sharp: np.ndarray  # (M + N,) bool: all that touches first are corners
    vertices: np.ndarray  # (V, 3)
    vertex_normal: np.ndarray  # (V, 3) mean of the faces' around it, by angle
    vertex_flat: np.ndarray  # (V,) bool: no sharp edge ends there
    vertex_cone: np.ndarray  # (V,) smallest cosine between that mean and one of those faces
    corner: np.ndarray  # (T, 3) vertices
    normal: np.ndarray  # (T, 7, 3) outward, mean of the faces that meet in the feature
    cone: np.ndarray  # (T, 7) smallest cosine between that mean and one of those faces
    flat: np.ndarray  # (T, 7) bool: the feature is part of a flat surface
    border: np.ndarray  # (T, 7) bool: the feature is on the border of an open mesh
    changes: np.ndarray  # (M,) int, how often each mesh has taken another shape
    shell: np.ndarray  # (M + N,) bool: not ``closed``, as something stands inside it, though it has no border

    def is_level(self, triangle):
        """Whether triangles (N,) lie in one plane with all that go on from them without a sharp edge -> (N,) bool."""
        return (~self.flat[triangle] | (self.cone[triangle] > PLANE)).all(axis=1)


def mesh_table(shape_mesh, meshes, shape_outline=None, outlines=()):
    """The MeshTable of ``meshes``, a list of (vertices (V, 3), triangles (T, 3)), and of ``outlines``, a list of
    (points (V, 3), radius, sharp); shape_outline: with their numbers among those where ``shape_mesh`` has -1.
    """
    nothing = (
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        np.zeros(0, bool),
        np.zeros(0),
        np.zeros((0, 7, 3)),
        *[np.zeros((0, 7), bool)] * 3,
    )
    meshes = [(np.asarray(v, float), np.asarray(t, np.int64), weld_of(v)) for v, t in meshes]
    parts = [features_of(*mesh) for mesh in meshes]
    shape_mesh, count = np.asarray(shape_mesh, np.intp), len(parts)
    behind = np.full(len(shape_mesh), -1) if shape_outline is None else np.asarray(shape_outline, np.intp)
    for points, _, _ in outlines:
        points = np.asarray(points, float)
        parts.append((points, np.zeros_like(points), np.zeros(len(points), bool), np.ones(len(points)), *nothing[4:]))
    columns = [np.concatenate(column) for column in zip(nothing, *parts, strict=True)]
    first_vertex = np.cumsum([0] + [len(part[0]) for part in parts])
    welded = [weld[1][triangles] for _, triangles, weld in meshes]
    sheet = [hole_share(part[0], corners) > HOLES for part, corners in zip(parts, welded, strict=False)]
    corner = [start + each for start, each in zip(first_vertex, welded, strict=False)]
    return MeshTable(
        shape_mesh,
        np.where(behind >= 0, count + behind, shape_mesh),
        np.cumsum([0] + [len(part[4]) for part in parts[:count]]),
        first_vertex,
        np.array([[part[0].min(axis=0), part[0].max(axis=0)] for part in parts]).reshape(-1, 2, 3),
        np.array([not part[7].any() for part in parts], bool),
        np.array(sheet + [False] * len(outlines), bool),
        np.array([0.0] * count + [radius for _, radius, _ in outlines]),
        np.array([True] * count + [sharp for _, _, sharp in outlines], bool),
        *columns[:4],
        np.concatenate([np.zeros((0, 3), np.int64), *corner]),
        *columns[4:],
        np.zeros(count, int),
        np.zeros(len(parts), bool),
    )


def _unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)


def weld_of(vertices):
    """Which vertices (V, 3) are one, for they lie at the same place: (first of each place (P,), place of each (V,))."""
    _, first, welded = np.unique(np.asarray(vertices, float), axis=0, return_index=True, return_inverse=True)
    return first, welded.reshape(-1)


def features_of(vertices, triangles, weld):
    """The columns of a MeshTable that one mesh fills, from ``vertices`` on.  weld: of ``weld_of``."""
    places, corner = vertices[weld[0]], weld[1][triangles]
    points = places[corner]
    sides = _unit(points[:, [2, 0, 1]] - points[:, [1, 2, 0]])  # side k is opposite corner k
    face = _unit(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]))
    angle = np.arccos(np.clip(-np.einsum("tkj,tkj->tk", sides[:, [1, 2, 0]], sides[:, [2, 0, 1]]), -1.0, 1.0))
    ends, edge = _sides(corner, len(places))
    distinct = np.repeat(_distinct(corner), 3)  # a triangle of two places is but a line
    faces, count = np.repeat(face, 3, axis=0), np.bincount(edge, weights=distinct)
    edge_normal, vertex_normal = np.zeros((len(count), 3)), np.zeros((len(places), 3))
    np.add.at(edge_normal, edge, faces)
    # Two faces meet flat when the mean of their normals is as long as the cosine of half the angle says.
    open_edge = (count != 2) & (count > 0)
    flat_edge = ~open_edge & (0.5 * np.einsum("ei,ei->e", edge_normal, edge_normal) - 1.0 >= FLAT)
    np.add.at(vertex_normal, corner.reshape(-1), faces * angle.reshape(-1, 1))
    edge_normal, vertex_normal = _unit(edge_normal), _unit(vertex_normal)
    flat_vertex, open_vertex = np.ones(len(places), bool), np.zeros(len(places), bool)
    flat_vertex[ends[~flat_edge[edge]]] = False
    open_vertex[ends[open_edge[edge]]] = True
    edge_cone, vertex_cone = np.ones(len(count)), np.ones(len(places))
    np.minimum.at(edge_cone, edge[distinct], np.einsum("ti,ti->t", faces, edge_normal[edge])[distinct])
    lean = np.einsum("ti,ti->t", faces, vertex_normal[corner.reshape(-1)])
    np.minimum.at(vertex_cone, corner.reshape(-1)[distinct], lean[distinct])
    edge, one = edge.reshape(-1, 3), np.ones((len(face), 1))
    return (
        places,
        vertex_normal,
        flat_vertex,
        vertex_cone,
        np.concatenate([face[:, None], edge_normal[edge], vertex_normal[corner]], axis=1),
        np.concatenate([one, edge_cone[edge], vertex_cone[corner]], axis=1),
        np.concatenate([one > 0.0, flat_edge[edge], flat_vertex[corner]], axis=1),
        np.concatenate([one < 0.0, open_edge[edge], open_vertex[corner]], axis=1),
    )


def has_large_faces(vertices, triangles, least):
    """Whether faces that share an edge lie in one plane or meet at ``least`` [rad] or more: those of a curve do not."""
    first, place = weld_of(vertices)
    corner = place[triangles]
    points = vertices[first][corner]
    face = _unit(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]))
    side, edge = _sides(corner, len(first))
    order = np.argsort(edge, kind="stable")
    one, other = (each[np.diff(edge[order]) == 0] for each in (order[:-1], order[1:]))
    cosine = np.einsum("ei,ei->e", face[one // 3], face[other // 3])
    cosine *= np.where(side[one, 0] == side[other, 0], -1.0, 1.0)  # wound the other way round
    return not ((cosine < PLANE) & (cosine > np.cos(least))).any()


def _distinct(corner):
    """Which triangles of vertices (T, 3) have three of them."""
    return (corner != np.roll(corner, 1, axis=1)).all(axis=1)


def _sides(corner, count):
    """Sides of triangles (T, 3) of ``count`` vertices, that opposite the first corner first: (the vertices (3 T, 2)
    from which and to which each goes, number of the edge (3 T,) that it lies on, either way along).
    """
    side = corner[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2)
    _, edge = np.unique(side.min(axis=1) * count + side.max(axis=1), return_inverse=True)
    return side, edge.reshape(-1)


def hole_share(points, corner):
    """What area the holes of a mesh of triangles (T, 3) between points (V, 3) have, as a share of its surface's.

    A hole's area is that of the vector which closes its border.  Infinite for what is not one wound surface.
    """
    corner = corner[_distinct(corner)]
    side, edge = _sides(corner, len(points))
    passes, count = np.bincount(edge, weights=np.sign(side[:, 1] - side[:, 0])), np.bincount(edge)
    if np.any(passes[count > 1] != 0.0):
        return np.inf
    border = side[count[edge] == 1]
    if not len(border):
        return 0.0
    loop = connected_components(len(points), *border.T)[border[:, 0]]
    points = points - points.mean(axis=0)  # keeps digits when the mesh is far from its origin
    hole = np.zeros((loop.max() + 1, 3))
    np.add.at(hole, loop, np.cross(points[border[:, 0]], points[border[:, 1]]))
    a, b, c = (points[corner[:, k]] for k in range(3))
    surface = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    return np.linalg.norm(hole, axis=1).sum() / max(surface, 1e-300)


def features(table, mesh, face, weight):
    """Which feature of its mesh each surface point lies on: index pair (triangle (N,), feature (N,)) into the table.

    face and weight: as ``closest_points`` has them; nothing within reach counts as the first triangle.
    """
    return _features(table, mesh, face, weight, NEAR_EDGE)


def _features(table, mesh, face, weight, near):
    """``features`` with this barycentric weight ``near`` an edge."""
    on_edge = weight <= near
    number = np.where(on_edge.any(axis=1), 1 + np.argmin(weight, axis=1), 0)
    number = np.where(on_edge.sum(axis=1) >= 2, 4 + np.argmax(weight, axis=1), number)
    return table.first_triangle[mesh] + np.maximum(face, 0), number


def nearest_normals(table, mesh, face, weight):
    """(N, 3) normals of the very features on which surface points lie, as ``closest_points`` has them: what such a
    point is nearest to is outside where it is before that (Baerentzen and Aanaes, 2005).

    Warp adds up the normals of all faces that are as near, and those of a slot's two walls are opposite: half way
    between them all was inside.
    """
    return table.normal[_features(table, mesh, face, weight, 0.0)]
