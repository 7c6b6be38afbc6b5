# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles on the frame of the active joint: a ring about each axis turns it, the dot in the middle moves it.

They start Blender's own Move and Rotate, with their snapping, their typed numbers and their undo.
"""

import bpy
from mathutils import Matrix

from .. import strokes

RING, DOT = 0.7, 0.1  # radius, of the size of joint frames; on the screen


class AXION_GGT_joint_frame(bpy.types.GizmoGroup):
    """The handles, where the joint is set up."""

    bl_idname = "AXION_GGT_joint_frame"
    bl_label = "Axion Joint Frame"
    bl_space_type, bl_region_type, bl_options = "VIEW_3D", "WINDOW", {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context):
        settings, item = context.scene.axion.overlays, context.object
        if not (settings.show and settings.show_handles and context.space_data.overlay.show_overlays):
            return False
        return item is not None and item.select_get() and item.axion_joint.enabled and context.mode == "OBJECT"

    def setup(self, context):
        self.rings = []
        for axis in range(3):
            ring = self.gizmos.new("GIZMO_GT_dial_3d")
            turn = ring.target_set_operator("transform.rotate")
            turn.orient_type, turn.release_confirm = "LOCAL", True
            turn.constraint_axis = [axis == k for k in range(3)]
            ring.color, ring.use_draw_scale, ring.line_width = strokes.AXIS_COLORS[axis][:3], False, 2.0
            self.rings.append(_bright(ring))
        self.dot = self.gizmos.new("GIZMO_GT_move_3d")
        self.dot.draw_style, self.dot.draw_options = "RING_2D", {"FILL", "ALIGN_VIEW"}
        self.dot.target_set_operator("transform.translate").release_confirm = True
        self.dot.color, self.dot.scale_basis = strokes.CONTACT[:3], DOT
        _bright(self.dot)

    def draw_prepare(self, context):
        location, rotation, _ = context.object.matrix_world.decompose()
        frame = Matrix.Translation(location) @ rotation.to_matrix().to_4x4()
        turns = Matrix.Rotation(1.5708, 4, "Y"), Matrix.Rotation(-1.5708, 4, "X"), Matrix.Identity(4)
        for ring, turn in zip(self.rings, turns, strict=True):
            ring.matrix_basis = frame @ turn @ Matrix.Scale(RING * context.scene.axion.overlays.size, 4)
        self.dot.matrix_basis = frame


def _bright(gizmo):
    gizmo.alpha, gizmo.color_highlight, gizmo.alpha_highlight = 0.6, (1.0, 1.0, 1.0), 1.0
    return gizmo


CLASSES = (AXION_GGT_joint_frame,)
