# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles on the frame of the active joint: a ring about each axis turns it, the dot in the middle moves it.

They start Blender's own Move and Rotate, with their snapping, their typed numbers and their undo.
"""

import bpy
from mathutils import Matrix

from .. import strokes
from .handles import Handles, bright, dot

RING, DOT = 0.7, 0.1  # radius, of the size of joint frames; on the screen
FAINT = 0.6


class AXION_GGT_joint_frame(Handles, bpy.types.GizmoGroup):
    """The handles, where the joint is set up."""

    bl_idname = "AXION_GGT_joint_frame"
    bl_label = "Axion Joint Frame"

    @staticmethod
    def fits(item):
        """Whether an object is a joint."""
        return item.axion_joint.enabled

    def setup(self, context):
        self.rings = []
        for axis in range(3):
            ring = self.gizmos.new("GIZMO_GT_dial_3d")
            turn = ring.target_set_operator("transform.rotate")
            turn.orient_type, turn.release_confirm = "LOCAL", True
            turn.constraint_axis = [axis == k for k in range(3)]
            ring.use_draw_scale, ring.line_width = False, 2.0
            self.rings.append(bright(ring, strokes.AXIS_COLORS[axis], FAINT))
        self.dot = dot(self.gizmos, strokes.CONTACT, DOT, FAINT)
        self.dot.target_set_operator("transform.translate").release_confirm = True

    def draw_prepare(self, context):
        location, rotation, _ = context.object.matrix_world.decompose()
        frame = Matrix.Translation(location) @ rotation.to_matrix().to_4x4()
        turns = Matrix.Rotation(1.5708, 4, "Y"), Matrix.Rotation(-1.5708, 4, "X"), Matrix.Identity(4)
        for ring, turn in zip(self.rings, turns, strict=True):
            ring.matrix_basis = frame @ turn @ Matrix.Scale(RING * context.scene.axion.overlays.size, 4)
        self.dot.matrix_basis = frame


CLASSES = (AXION_GGT_joint_frame,)
