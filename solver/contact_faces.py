# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose face a contact touches: its normal turns with that body.

A corner that slides along a face which turns keeps its distance to the face as it is at the end of the step.  Measured
along the normal of the start, the distance is wrong by way times angle: at 24 frames a second some millimetres for a
domino of 1 m, and the contacts that detection at the end pose then adds stand in each other's way.
"""

from dataclasses import dataclass

import numpy as np

from .manifold import along_runs, turn, turn_back
from .shapes import Box, Cone, ConvexHull, Cylinder, Plane, TriangleMesh

ALIKE = 1.0 - 1e-6  # cosine above which a contact's normal is a face's: 0.08 degrees
UP = np.array([0.0, 0.0, 1.0])


@dataclass
class FaceTable:
    """Outward normals of the flat faces of S shapes, in their bodies' frames.  A mesh is taken to be all faces."""

    first: np.ndarray  # (S + 1,) where each shape's normals begin
    normal: np.ndarray  # (F, 3)
    mesh: np.ndarray  # (S,) bool

    def has(self, shape, direction):
        """Whether each shape (K,) has a face with this outward normal (K, 3), in the shape's body's frame."""
        run, offset = along_runs(self.first[shape + 1] - self.first[shape])
        face = self.first[shape][run] + offset
        alike = np.einsum("ki,ki->k", self.normal[face], direction[run]) > ALIKE
        return self.mesh[shape] | (np.bincount(run[alike], minlength=len(shape)) > 0)


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
        corner = shape.vertices[shape.triangles]
        normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        return normal[np.unique(np.round(normal, 5), axis=0, return_index=True)[1]]
    if isinstance(shape, Cylinder):
        return np.stack([UP, -UP])
    if isinstance(shape, Plane):
        return UP[None]
    return -UP[None] if isinstance(shape, Cone) else np.zeros((0, 3))


def faces(model, manifolds, rotation, spin):
    """(body (K,), normal (K, 3) in that body's frame) of the face that each contact touches.

    Body -1: no face, as where two edges cross, or a face that stands still.  Where both bodies have a face there, it is
    that of the one that is held, or else of the one that turns less: of a box that tips on another, edges touch.
    rotation (B, 3, 3) of the bodies; spin (B,) their angular speeds [rad/s].
    """
    a, b = manifolds.body_a, manifolds.body_b
    shape_b, shape_a = np.divmod(manifolds.pair, len(model.shape_body))
    on_b = manifolds.normal
    on_a = turn_back(rotation[a], turn(rotation[b], on_b))
    has_a, has_b = model.faces.has(shape_a, -on_a), model.faces.has(shape_b, on_b)
    held_a, held_b = ~model.movable[a], ~model.movable[b]
    first = np.where(held_a == held_b, spin[a] < spin[b], held_a)
    takes_a = has_a & (~has_b | first)
    body = np.where(takes_a, a, np.where(has_b, b, -1))
    body[(body >= 0) & ~model.movable[body] & (spin[body] == 0.0)] = -1
    return body, np.where(takes_a[:, None], on_a, on_b)
