# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles on the anchors of the active distance joint or rope: a dot on each object that it is tied to."""

import bpy
from mathutils import Matrix

from .. import physics_strokes, strokes

DOT = 0.12  # on the screen


class AXION_GGT_anchors(bpy.types.GizmoGroup):
    """The handles; an end that is tied to the world has none, as the joint's own dot moves it."""

    bl_idname = "AXION_GGT_anchors"
    bl_label = "Axion Joint Anchors"
    bl_space_type, bl_region_type, bl_options = "VIEW_3D", "WINDOW", {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context):
        settings, item = context.scene.axion.overlays, context.object
        if not (settings.show and settings.show_handles and context.space_data.overlay.show_overlays):
            return False
        return item is not None and item.select_get() and physics_strokes.has_anchors(item) and context.mode == "OBJECT"

    def setup(self, context):
        self.dots = []
        for end in ("FIRST", "SECOND"):
            dot = self.gizmos.new("GIZMO_GT_move_3d")
            dot.draw_style, dot.draw_options = "RING_2D", {"FILL", "ALIGN_VIEW"}
            dot.target_set_operator("axion.drag_anchor").end = end
            dot.color, dot.alpha, dot.scale_basis = strokes.JOINT_FORCE[:3], 0.8, DOT
            dot.color_highlight, dot.alpha_highlight, dot.use_draw_modal = (1.0, 1.0, 1.0), 1.0, True
            self.dots.append(dot)

    def draw_prepare(self, context):
        item, joint = context.object, context.object.axion_joint
        owners = joint.object1, joint.object2
        for dot, owner, place in zip(self.dots, owners, physics_strokes.anchors(item), strict=True):
            dot.hide = owner is None
            dot.matrix_basis = Matrix.Translation(place)


CLASSES = (AXION_GGT_anchors,)
