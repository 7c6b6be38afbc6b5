# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders whose mesh deforms: their vertices over time, in newton's meshes and in the MeshTable.

Detection at the start of a step sees the mesh as it is then, detection at its end as it is at the end.  A contact found
at the start has its point on the mesh where the material will be at the end, in the frame of the mesh's body, so that
the gap at the end of the step is the true one; and the velocity of the material beyond that of the body, for friction
and for the velocity that an impact or a lift ends with.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from .closest_points import closest_points
from .manifold import turn, turn_back
from .mesh_features import features_of


@dataclass
class DeformingMesh:
    """One deforming mesh of a model; several shapes may share it."""

    number: int  # in the MeshTable
    shape: object  # TriangleMesh with times
    triangles: np.ndarray  # (T, 3) counter-clockwise from outside
    used: np.ndarray  # (P,) vertices that newton's mesh has
    weld: tuple  # of mesh_features
    mesh: object  # warp.Mesh in the model's unit
    way: np.ndarray  # (V, 3) of each vertex in the step set [m]


class DeformingMeshes:
    """All deforming meshes of one CollisionModel."""

    def __init__(self, model, meshes):
        """meshes: DeformingMesh list."""
        self.model, self.meshes = model, meshes
        count = len(model.meshes.closed)
        self.of_mesh = np.full(count + 1, -1)
        for k, one in enumerate(meshes):
            self.of_mesh[one.number] = k
        self.of_shape = self.of_mesh[model.meshes.shape_mesh]  # shapes without mesh: number -1 is the last, -1
        self.step, self.at_end, self._now = 0.0, False, None

    def set(self, time, step, at_end):
        """Take the shape of ``time`` (or, ``at_end``, of ``step`` later), in a step of ``step`` seconds from there."""
        self.step, self.at_end = step, at_end
        shown = time + step if at_end else time
        for one in self.meshes:
            one.way = one.shape.vertices_at(time + step) - one.shape.vertices_at(time)
            if shown != self._now:
                self._show(one, one.shape.vertices_at(shown))
        self._now = shown

    def _show(self, one, vertices):
        table, mesh = self.model.meshes, one.number
        points = (vertices[one.used] / self.model.unit).astype(np.float32)
        one.mesh.points.assign(wp.array(points, dtype=wp.vec3, device=one.mesh.device))
        one.mesh.refit()
        found = features_of(vertices, one.triangles, one.weld)
        some = slice(table.first_vertex[mesh], table.first_vertex[mesh + 1])
        for name, values in zip(("vertices", "vertex_normal", "vertex_flat", "vertex_cone"), found, strict=False):
            getattr(table, name)[some] = values
        some = slice(table.first_triangle[mesh], table.first_triangle[mesh + 1])
        for name, values in zip(("normal", "cone", "flat", "border"), found[4:], strict=True):
            getattr(table, name)[some] = values
        table.bounds[mesh] = found[0].min(axis=0), found[0].max(axis=0)
        table.changes[mesh] += 1

    def fastest(self, rotation):
        """(body (M,), way (M, 3) [m]): bodies and the way of their fastest vertex in the step, world axes."""
        model, shapes = self.model, np.flatnonzero(self.of_shape >= 0)
        ways = []
        for shape in shapes:
            way = self.meshes[self.of_shape[shape]].way
            ways.append(way[np.argmax(np.einsum("vi,vi->v", way, way))])
        body = model.shape_body[shapes]
        turned = turn(model.shape_rotation[shapes], np.array(ways).reshape(-1, 3))
        return body, turn(rotation[body], turned)

    def surface(self, found):
        """Of each contact of Manifolds ``found``: (body whose mesh deforms (C,), -1 without; way (C, 3) of its material
        at the contact in the step, in that body's frame [m]).
        """
        model, count = self.model, len(found)
        shape_b, shape_a = np.divmod(found.pair, len(model.shape_body))
        body, way = np.full(count, -1), np.zeros((count, 3))
        for shape, owner, point in (
            (shape_a, found.body_a, found.point_a),
            (shape_b, found.body_b, found.point_b),
        ):
            index = np.flatnonzero(self.of_shape[shape] >= 0)
            if not len(index):
                continue
            own = shape[index]
            frame = model.shape_rotation[own]
            local = turn_back(frame, point[index] - model.shape_position[own])
            face, weight, _, _ = closest_points(model, own, local, np.full(len(index), np.inf))
            moved = np.zeros((len(index), 3))
            for k, one in enumerate(self.meshes):
                some = self.of_shape[own] == k
                corner = one.triangles[np.maximum(face[some], 0)]
                moved[some] = np.einsum("ck,cki->ci", weight[some], one.way[corner])
            body[index], way[index] = owner[index], turn(frame, moved)
        return body, way
