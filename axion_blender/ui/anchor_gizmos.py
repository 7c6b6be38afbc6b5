# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles on the anchors of the active distance joint or rope: a dot on each object that it is tied to."""

import bpy
from mathutils import Matrix

from .. import physics_strokes, strokes
from .handles import Handles, dot


class AXION_GGT_anchors(Handles, bpy.types.GizmoGroup):
    """The handles; an end that is tied to the world has none, as the joint's own dot moves it."""

    bl_idname = "AXION_GGT_anchors"
    bl_label = "Axion Joint Anchors"

    fits = staticmethod(physics_strokes.has_anchors)

    def setup(self, context):
        self.dots = []
        for end in ("FIRST", "SECOND"):
            made = dot(self.gizmos, strokes.JOINT_FORCE)
            made.target_set_operator("axion.drag_anchor").end = end
            made.use_draw_modal = True
            self.dots.append(made)

    def draw_prepare(self, context):
        item, joint = context.object, context.object.axion_joint
        owners = joint.object1, joint.object2
        for made, owner, place in zip(self.dots, owners, physics_strokes.anchors(item), strict=True):
            made.hide = owner is None
            made.matrix_basis = Matrix.Translation(place)


CLASSES = (AXION_GGT_anchors,)
