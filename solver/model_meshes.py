# SPDX-License-Identifier: GPL-3.0-or-later
"""The triangle meshes among the shapes of a CollisionModel: their table, and what newton is told of them."""

import numpy as np

from .mesh_features import mesh_table
from .outline import corners_of
from .shapes import Capsule, Cone, Cylinder, Sphere, TriangleMesh

RIM = 16  # places on the rim of a round end
MOST_CORNERS = 64  # of hulls whose corners touch flat parts of meshes; the faces of others are small


class Shell(TriangleMesh):
    """A closed mesh with two sides, as open ones have: something stands inside it (hollow.py)."""

    @classmethod
    def of(cls, mesh):
        """The same surface as ``mesh``, a TriangleMesh."""
        made = object.__new__(cls)
        vars(made).update(vars(mesh))  # what was found out about the mesh, too
        return made

    def is_closed(self):
        """Never."""
        return False

    def outward(self):
        """(T, 3) triangles that look outwards on the whole, as those of closed meshes do."""
        return self.wound[:, ::-1] if self._polyhedron.volume < 0.0 else self.wound


def meshes_of(shapes):
    """The MeshTable of triangle meshes, with the corners of boxes and hulls if there are any; those alike are one."""
    numbers, meshes, outlines = {}, [], []
    shape_mesh, shape_outline = np.full((2, len(shapes)), -1)
    for index, shape in enumerate(shapes):
        if isinstance(shape, TriangleMesh):
            shape_mesh[index] = numbers.setdefault(fingerprint(shape), len(meshes))
            if shape_mesh[index] == len(meshes):
                meshes.append((shape.vertices, outward(shape)))
        elif len((outline := _outline(shape))[0]):
            key = type(shape), *(np.asarray(each).tobytes() for each in outline)
            shape_outline[index] = numbers.setdefault(key, len(outlines))
            if shape_outline[index] == len(outlines):
                outlines.append(outline)
    table = mesh_table(shape_mesh, meshes, shape_outline, outlines) if meshes else mesh_table(shape_mesh, meshes)
    table.shell[shape_mesh[[isinstance(shape, Shell) for shape in shapes]]] = True
    table.closed &= ~table.shell
    return table


def _outline(shape):
    """(points (N, 3), radius around them, whether all that touches first are corners) of MeshTable, for no mesh."""
    if isinstance(shape, (Sphere, Capsule)):
        height = shape.half_height if isinstance(shape, Capsule) else 0.0
        return np.unique([(0.0, 0.0, -height), (0.0, 0.0, height)], axis=0), float(shape.radius), False
    if isinstance(shape, (Cylinder, Cone)):
        angle = 2.0 * np.pi * np.arange(RIM) / RIM
        rim = shape.radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
        top = rim if isinstance(shape, Cylinder) else np.zeros((1, 3))
        up = np.array([0.0, 0.0, shape.half_height])
        return np.concatenate([rim - up, top + up]), 0.0, False
    corners = corners_of(shape)
    return corners if len(corners) <= MOST_CORNERS else corners[:0], 0.0, True


def outward(shape):
    """The triangles (T, 3) of a mesh or hull, counter-clockwise from outside also where the mesh is not."""
    return shape.outward() if isinstance(shape, TriangleMesh) else shape.triangles


def fingerprint(shape):
    """The same for meshes and hulls that are the same for newton."""
    return (
        type(shape),
        np.asarray(shape.vertices, float).tobytes(),
        np.asarray(shape.triangles, np.int32).tobytes(),
        None if getattr(shape, "times", None) is None else (shape.times.tobytes(), shape.moving_vertices.tobytes()),
    )
