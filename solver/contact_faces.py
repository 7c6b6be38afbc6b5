# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose face a contact touches: its normal turns with that body.

A corner that slides along a face which turns keeps its distance to the face as it is at the end of the step.  Measured
along the normal of the start, the distance is wrong by way times angle: at 24 frames a second some millimetres for a
domino of 1 m, and the contacts that detection at the end pose then adds stand in each other's way.

No face: where two edges cross, and a face that stands still.  Where both bodies have a face, it is that of the one that
is held, or else of the one that turns less: of a box that tips on another, edges touch.  (``touched_body`` of
contact_geometry.py decides it of contacts as detection finds them; ``whose_face`` below of where convex shapes meet.)
"""

from dataclasses import dataclass

import numpy as np

from .contact_geometry import ALIKE
from .manifold import along_runs
from .shapes import Box, Cone, ConvexHull, Cylinder, Plane, TriangleMesh
from .vectors import inner, length

UP = np.array([0.0, 0.0, 1.0])


@dataclass
class FaceTable:
    """Outward normals of the flat faces of S shapes, in their bodies' frames.  A mesh is taken to be all faces."""

    first: np.ndarray  # (S + 1,) where each shape's normals begin
    normal: np.ndarray  # (F, 3)
    mesh: np.ndarray  # (S,) bool


def face_table(shapes, rotation):
    """The FaceTable of scene shapes; rotation (S, 3, 3): theirs in their bodies' frames."""
    own = [_normals(shape) for shape in shapes]
    first = np.concatenate([[0], np.cumsum([len(normals) for normals in own])]).astype(np.intp)
    placed = [normals @ frame.T for normals, frame in zip(own, rotation, strict=True)]
    mesh = np.array([isinstance(shape, TriangleMesh) for shape in shapes], bool)
    return FaceTable(first, np.concatenate([np.zeros((0, 3)), *placed]), mesh)


def _normals(shape):
    """(F, 3) in the shape's own frame."""
    if isinstance(shape, Box):
        return np.concatenate([np.eye(3), -np.eye(3)])
    if isinstance(shape, ConvexHull):
        return triangle_normals(shape.vertices, shape.triangles)
    if isinstance(shape, Cylinder):
        return np.stack([UP, -UP])
    if isinstance(shape, Plane):
        return UP[None]
    return -UP[None] if isinstance(shape, Cone) else np.zeros((0, 3))


def triangle_normals(vertices, triangles):
    """(F, 3) normals of triangles (T, 3) that have an area, those alike to 1e-5 once."""
    corner = vertices[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    size = length(normal)
    normal = normal[size > 0.0] / size[size > 0.0, None]
    return normal[np.unique(np.round(normal, 5), axis=0, return_index=True)[1]]


def face_towards(table, shape, outward):
    """(N, 3) normals of flat faces of shapes (N,) that point ``outward`` (N, 3), in their bodies' frames, or 0.

    table: FaceTable.
    """
    run, offset = along_runs(table.first[shape + 1] - table.first[shape])
    out, normal = np.zeros_like(outward), table.normal[table.first[shape][run] + offset]
    alike = inner(normal, outward[run]) > ALIKE
    out[run[alike]] = normal[alike]
    return out


def whose_face(faces, stands, spins):
    """(N,) 0 or 1, which of two sides has the face that counts, or -1 for none.

    Of each side: faces (N, 3) of ``face_towards``; stands (N,) bool, what is held; spins (N, 3), angular velocity.
    """
    rank = [
        np.where(face.any(axis=1), np.where(held, 1.0, -inner(spin, spin)), -np.inf)
        for face, held, spin in zip(faces, stands, spins, strict=True)
    ]
    return np.where(np.isinf(rank[0]) & np.isinf(rank[1]), -1, np.where(rank[0] > rank[1], 0, 1))
