# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry of an object -> collision shapes in its body's frame, as Blender's own rigid bodies take them.

Primitives fill the bounding box, with the object's scale applied and along the object's axes: a sphere takes the
longest half side as radius, the others the longer of X and Y, and stand upright on Z.
"""

import math
from dataclasses import replace

import numpy as np

from ...solver import Box, Capsule, Cone, ConvexHull, Cylinder, SceneError, Sphere, TriangleMesh, decomposing
from .. import conventions
from ..slices import run_through
from . import geometry
from .convex_meshes import Solids

FLAT = 1e-5
"""Thickness relative to the extent below which a shape counts as flat."""
SLAB = 0.02
"""Thickness, relative to the shorter side, that flat passive objects get behind their faces."""
UPSIDE_DOWN = (1.0, 0.0, 0.0, 0.0)
SAME_SCALE = 1e-6


class Cook:
    """Makes shapes and keeps them, so that objects with one mesh and scale share one shape.

    metres: per Blender unit.  say: called with what takes long, a line.  apart: False leaves those whole that would be
    taken apart, which weigh the same.
    notes: sentences about what was decided, one for each object.
    """

    def __init__(self, depsgraph, metres, say=lambda line: None, apart=True):
        self.depsgraph, self.metres, self.say, self.apart = depsgraph, metres, say, apart
        self.notes, self.solids = [], Solids()
        self._geometry, self._shapes = {}, {}

    def shape(self, item, scale, passive):
        """The shape of one object (not COMPOUND) in its body's frame.

        scale: (3,) of its world matrix.  Raises SceneError naming the object.
        """
        kind, key = item.axion.collision_shape, self._shape_key(item, scale, passive)
        if key not in self._shapes:
            self._shapes[key] = self._cook(item, kind, scale * self.metres, passive)
        shape, note = self._shapes[key]
        if note:
            self.notes.append(f"{item.name} {note}")
        return shape

    def take_apart(self, item, scale, passive):
        """Makes the shape of an object in slices where that takes long: a generator; arguments as for ``shape``."""
        if item.axion.collision_shape != "CONVEX_DECOMPOSITION":
            return
        key = self._shape_key(item, scale, passive)
        if key not in self._shapes:
            self._shapes[key] = (yield from self._decomposition(item, *self._surface(item, scale * self.metres))), ""

    def geometry(self, item):
        """Geometry of an object, read once for all objects that share it."""
        key = self._key(item)
        if key not in self._geometry:
            self._geometry[key] = geometry.read(item, self.depsgraph)
            if item.axion.mesh_source != "BASE" and geometry.makes_instances(item, self.depsgraph):
                self.notes.append(
                    f"{item.name}: the instances that its Geometry Nodes make take no part, only its mesh does: put "
                    "the node Realize Instances at their end"
                )
        return self._geometry[key]

    @staticmethod
    def _key(item):
        alone = item.type != "MESH" or item.mode == "EDIT"
        if not alone and item.axion.mesh_source != "BASE":
            alone = item.data.shape_keys is not None or any(modifier.show_viewport for modifier in item.modifiers)
        return (item.session_uid,) if alone else (item.data.session_uid, "shared")

    def _shape_key(self, item, scale, passive):
        kind = item.axion.collision_shape
        key = (*self._key(item), kind, passive, *self._scale_key(scale))
        return (*key, item.axion.concavity) if kind == "CONVEX_DECOMPOSITION" else key

    @staticmethod
    def _scale_key(scale):
        # World matrices are float32: copies of one scale differ in the last digits.
        return (*np.round(np.log(np.abs(scale)) / SAME_SCALE), *np.sign(scale))

    def _surface(self, item, scale):
        found = self.geometry(item)
        return conventions.baked(found.vertices, scale), conventions.wound(found.triangles, scale)

    def _cook(self, item, kind, scale, passive):
        vertices, triangles = self._surface(item, scale)
        if kind == "MESH":
            return self._mesh(item, vertices, triangles), ""
        if kind == "CONVEX_DECOMPOSITION":
            return run_through(self._decomposition(item, vertices, triangles)), ""
        if kind == "CONVEX_HULL":
            return self._hull(item, vertices, triangles, passive)
        return self._primitive(item, kind, vertices, triangles, scale, passive)

    @staticmethod
    def _mesh(item, vertices, triangles):
        if len(triangles) == 0:
            raise SceneError(
                f"{item.name}: its mesh has no faces, which the shape Mesh needs: add faces, or use Convex Hull"
            )
        return TriangleMesh(vertices, triangles)

    def _decomposition(self, item, vertices, triangles):
        if len(triangles) == 0:
            raise SceneError(
                f"{item.name}: its mesh has no faces, which the shape Convex Decomposition needs: add faces, or use "
                "Convex Hull"
            )
        if not self.apart:
            return TriangleMesh(vertices, triangles)
        self.say(f"Taking {item.name} apart")
        try:
            return (yield from decomposing(vertices, triangles, round(item.axion.concavity, 6)))
        except SceneError as error:
            raise SceneError(f"{item.name}: {error}") from error

    @staticmethod
    def _hull(item, vertices, triangles, passive):
        center = vertices.mean(axis=0)
        _, spread, axes = np.linalg.svd(vertices - center, full_matrices=len(vertices) < 3)
        spans = np.ptp((vertices - center) @ axes.T, axis=0)
        extent = spans.max()
        if len(vertices) < 3 or not spans[1] > FLAT * extent:
            raise SceneError(
                f"{item.name}: all its vertices lie on one line, so it has no hull: give the mesh some width"
            )
        if spans[2] > FLAT * extent:
            return ConvexHull(vertices), ""
        if not passive:
            raise SceneError(f"{item.name}: {_too_flat(spans[2])}")
        thickness = (
            SLAB * 2.0 * spread[1] / math.sqrt(len(vertices))
        )  # twice the root mean square: the side of a square
        behind = vertices - thickness * _facing(vertices, triangles, axes[2]) * axes[2]
        return ConvexHull(np.concatenate([vertices, behind])), _slab_note(thickness)

    def _primitive(self, item, kind, vertices, triangles, scale, passive):
        lower, upper = vertices.min(axis=0), vertices.max(axis=0)
        center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        radius, note = max(half[0], half[1]), ""
        if half.max() <= 0.0:
            raise SceneError(f"{item.name}: all its vertices lie in one place: give the mesh a size")
        flat = half <= FLAT * half.max()
        if kind in ("BOX", "CYLINDER") and flat.any():
            axis = int(np.argmin(half))
            if flat.sum() > 1:
                raise SceneError(f"{item.name}: all its vertices lie on one line: give the mesh some width")
            if not passive or (kind == "CYLINDER" and axis != 2):
                raise SceneError(f"{item.name}: {_too_flat(2.0 * half[axis])}")
            thickness = SLAB * 2.0 * np.delete(half, axis).min()
            center[axis] -= 0.5 * thickness * _facing(vertices, triangles, np.eye(3)[axis])
            half[axis], note = 0.5 * thickness, _slab_note(thickness)
        elif kind in ("CAPSULE", "CONE") and (radius <= FLAT * half.max() or (kind == "CONE" and flat[2])):
            raise SceneError(f"{item.name}: {_too_flat(2.0 * half.min())}")
        if kind == "BOX":
            return Box(half, center), note
        if kind == "SPHERE":
            return Sphere(half.max(), center), note
        if kind == "CAPSULE":
            return Capsule(radius, max(half[2] - radius, 0.0), center), note
        if kind == "CYLINDER":
            return Cylinder(radius, half[2], center), note
        # The frame of a mirrored object looks down its Z axis, but its cone still points up it.
        return Cone(radius, half[2], center, UPSIDE_DOWN if scale[2] < 0 else (0.0, 0.0, 0.0, 1.0)), note


def placed(shape, position, rotation):
    """The same shape moved by ``position`` (3,) and turned by ``rotation`` (3, 3), in another body's frame."""
    own = conventions.rotation_matrix(shape.orientation)
    turned = conventions.quaternion(rotation @ own)
    return replace(shape, position=rotation @ shape.position + position, orientation=turned)


def _facing(vertices, triangles, axis):
    """1 where the faces look along ``axis`` on the whole, or -1; without faces, Z up."""
    if len(triangles) == 0:
        return math.copysign(1.0, axis[2])
    corners = vertices[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
    return math.copysign(1.0, normal @ axis)


def _too_flat(thickness):
    return (
        f"it is flat (thickness {thickness:.3g} m), which encloses no volume: give it thickness, "
        "for example with a Solidify modifier"
    )


def _slab_note(thickness):
    return f"is flat: it collides as a slab that reaches {thickness:.3g} m behind its faces"
