# SPDX-License-Identifier: GPL-3.0-or-later
"""What a contact has to know about a triangle mesh: flat and sharp edges, borders, and closest points.

An edge is flat when its faces meet at less than FLAT: the surface goes on there as if the edge were not, and contacts
with it have the face's normal.  See mesh_contacts.py.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

FLAT = np.cos(np.radians(5.0))  # faces that meet at a smaller angle count as one surface
NEAR_EDGE = 1e-3  # barycentric weight below which a point counts as on the edge


@dataclass
class MeshTable:
    """Features of all meshes of a model, one after the other: T triangles, V distinct vertices.  Shape frames, metres.

    A triangle has 7 features: its face (0), the edges opposite its corners (1 to 3) and its corners (4 to 6).
    """

    shape_mesh: np.ndarray  # (S,) number of each shape's mesh, -1 for other shapes
    first_triangle: np.ndarray  # (M + 1,)
    first_vertex: np.ndarray  # (M + 1,)
    bounds: np.ndarray  # (M, 2, 3) lowest and highest corner of each mesh
    closed: np.ndarray  # (M,) bool: no border
    vertices: np.ndarray  # (V, 3)
    vertex_normal: np.ndarray  # (V, 3) mean of the faces' around it, by angle
    vertex_flat: np.ndarray  # (V,) bool: no sharp edge ends there
    normal: np.ndarray  # (T, 7, 3) outward, mean of the faces that meet in the feature
    cone: np.ndarray  # (T, 7) smallest cosine between that mean and one of those faces
    flat: np.ndarray  # (T, 7) bool: the feature is part of a flat surface
    border: np.ndarray  # (T, 7) bool: the feature is on the border of an open mesh


def mesh_table(shape_mesh, meshes):
    """The MeshTable of ``meshes``, a list of (vertices (V, 3), triangles (T, 3))."""
    nothing = (
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        np.zeros(0, bool),
        np.zeros((0, 7, 3)),
        *[np.zeros((0, 7), bool)] * 3,
    )
    parts = [features_of(np.asarray(v, float), np.asarray(t, np.int64), weld_of(v)) for v, t in meshes]
    columns = [np.concatenate(column) for column in zip(nothing, *parts, strict=True)]
    return MeshTable(
        np.asarray(shape_mesh, np.intp),
        np.cumsum([0] + [len(part[3]) for part in parts]),
        np.cumsum([0] + [len(part[0]) for part in parts]),
        np.array([[part[0].min(axis=0), part[0].max(axis=0)] for part in parts]).reshape(-1, 2, 3),
        np.array([not part[6].any() for part in parts], bool),
        *columns,
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
    ends = np.sort(corner[:, [[1, 2], [2, 0], [0, 1]]], axis=2).reshape(-1, 2)
    _, edge = np.unique(ends[:, 0] * len(places) + ends[:, 1], return_inverse=True)
    edge = edge.reshape(-1)
    faces, count = np.repeat(face, 3, axis=0), np.bincount(edge)
    edge_normal, vertex_normal = np.zeros((len(count), 3)), np.zeros((len(places), 3))
    np.add.at(edge_normal, edge, faces)
    # Two faces meet flat when the mean of their normals is as long as the cosine of half the angle says.
    open_edge = count != 2
    flat_edge = ~open_edge & (0.5 * np.einsum("ei,ei->e", edge_normal, edge_normal) - 1.0 >= FLAT)
    np.add.at(vertex_normal, corner.reshape(-1), faces * angle.reshape(-1, 1))
    edge_normal, vertex_normal = _unit(edge_normal), _unit(vertex_normal)
    flat_vertex, open_vertex = np.ones(len(places), bool), np.zeros(len(places), bool)
    flat_vertex[ends[~flat_edge[edge]]] = False
    open_vertex[ends[open_edge[edge]]] = True
    edge_cone, vertex_cone = np.ones(len(count)), np.ones(len(places))
    np.minimum.at(edge_cone, edge, np.einsum("ti,ti->t", faces, edge_normal[edge]))
    np.minimum.at(vertex_cone, corner.reshape(-1), np.einsum("ti,ti->t", faces, vertex_normal[corner.reshape(-1)]))
    edge, one = edge.reshape(-1, 3), np.ones((len(face), 1))
    return (
        places,
        vertex_normal,
        flat_vertex,
        np.concatenate([face[:, None], edge_normal[edge], vertex_normal[corner]], axis=1),
        np.concatenate([one, edge_cone[edge], vertex_cone[corner]], axis=1),
        np.concatenate([one > 0.0, flat_edge[edge], flat_vertex[corner]], axis=1),
        np.concatenate([one < 0.0, open_edge[edge], open_vertex[corner]], axis=1),
    )


@wp.kernel(enable_backward=False)
def _closest(
    mesh: wp.array(dtype=wp.uint64),
    point: wp.array(dtype=wp.vec3),
    reach: wp.array(dtype=wp.float32),
    face: wp.array(dtype=wp.int32),
    weight: wp.array(dtype=wp.vec3),
    place: wp.array(dtype=wp.vec3),
    sign: wp.array(dtype=wp.float32),
):
    i = wp.tid()
    found = wp.mesh_query_point_sign_normal(mesh[i], point[i], reach[i])
    face[i] = -1
    if found.result:
        face[i] = found.face
        weight[i] = wp.vec3(found.u, found.v, 1.0 - found.u - found.v)
        place[i] = wp.mesh_eval_position(mesh[i], found.face, found.u, found.v)
        sign[i] = found.sign


def closest_points(model, shape, point, reach):
    """The closest surface points of mesh shapes.  shape (N,) int, point (N, 3) in the shapes' frames, reach (N,) [m].

    Returns face (N,) int, -1 where there is nothing within reach; weights (N, 3) of its corners; place (N, 3) [m];
    sign (N,), -1 inside the mesh.
    """
    device, count = model.newton_model.device, len(shape)
    if not count:
        return np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
    face = wp.empty(count, dtype=wp.int32, device=device)
    weight, place = wp.zeros(count, dtype=wp.vec3, device=device), wp.zeros(count, dtype=wp.vec3, device=device)
    sign = wp.zeros(count, dtype=wp.float32, device=device)
    arguments = [
        wp.array(model.mesh_id[shape], dtype=wp.uint64, device=device),
        wp.array((point / model.unit).astype(np.float32), dtype=wp.vec3, device=device),
        wp.array(np.minimum(reach / model.unit, 1e9).astype(np.float32), dtype=wp.float32, device=device),
    ]
    wp.launch(_closest, dim=count, inputs=arguments, outputs=[face, weight, place, sign], device=device)
    face, weight = face.numpy(), weight.numpy().astype(float)
    table, mesh = model.meshes, model.meshes.shape_mesh[shape]
    once = table.first_triangle[mesh + 1] - table.first_triangle[mesh]
    back = face >= once  # newton has the triangles of open meshes a second time, with their corners in reverse
    face[back] -= once[back]
    weight[back] = weight[back, ::-1]
    return face, weight, place.numpy() * float(model.unit), sign.numpy()


def features(table, mesh, face, weight):
    """Which feature of its mesh each surface point lies on: index pair (triangle (N,), feature (N,)) into the table.

    face and weight: as ``closest_points`` has them; nothing within reach counts as the first triangle.
    """
    on_edge = weight < NEAR_EDGE
    number = np.where(on_edge.any(axis=1), 1 + np.argmin(weight, axis=1), 0)
    number = np.where(on_edge.sum(axis=1) >= 2, 4 + np.argmax(weight, axis=1), number)
    return table.first_triangle[mesh] + np.maximum(face, 0), number
