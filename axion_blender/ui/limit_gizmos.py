# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles on the active joint's limits: a dot at each end of an arc, an arrow at each end of a way."""

import bpy
from mathutils import Matrix, Vector

from .. import limit_handles, physics_strokes, strokes
from ..extract.joints import ALL

ENDS = [
    f"limit_{'lin' if len(name) == 1 else 'ang'}_{name[-1]}_{end}" for name in ALL for end in ("lower", "upper")
]  # one handle each


class AXION_GGT_limits(bpy.types.GizmoGroup):
    """The handles; those of limits that are off are hidden."""

    bl_idname = "AXION_GGT_limits"
    bl_label = "Axion Joint Limits"
    bl_space_type, bl_region_type, bl_options = "VIEW_3D", "WINDOW", {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context):
        settings, item = context.scene.axion.overlays, context.object
        if not (settings.show and settings.show_limits and context.space_data.overlay.show_overlays):
            return False
        active = item is not None and item.select_get() and item.axion_joint.enabled
        return active and context.mode == "OBJECT" and bool(physics_strokes.limits(item.axion_joint))

    def setup(self, context):
        self.handles = {}
        for limit in ENDS:
            linear = limit_handles.axis_of(limit)[1]
            gizmo = self.gizmos.new("GIZMO_GT_arrow_3d" if linear else "GIZMO_GT_move_3d")
            gizmo.target_set_operator("axion.drag_limit").limit = limit
            if linear:
                gizmo.draw_style, gizmo.length = "BOX", 0.0
            else:
                gizmo.draw_style, gizmo.draw_options = "RING_2D", {"FILL", "ALIGN_VIEW"}
            gizmo.scale_basis = 0.5 if linear else 0.12
            gizmo.color, gizmo.alpha = strokes.JOINT_FORCE[:3], 0.8
            gizmo.color_highlight, gizmo.alpha_highlight = (1.0, 1.0, 1.0), 1.0
            gizmo.use_draw_modal = True
            self.handles[limit] = gizmo

    def draw_prepare(self, context):
        item = context.object
        pose = physics_strokes.pose_now(context.scene, item)
        shown = {}
        for name, lower, upper in physics_strokes.limits(item.axion_joint):
            kind = "lin" if len(name) == 1 else "ang"
            shown |= {f"limit_{kind}_{name[-1]}_{end}": v for end, v in (("lower", lower), ("upper", upper))}
        for limit, gizmo in self.handles.items():
            gizmo.hide = limit not in shown
            if not gizmo.hide:
                point, way = limit_handles.place(limit, shown[limit], *pose, context.scene.axion.overlays.size)
                turn = Vector(way).to_track_quat("Z", "Y").to_matrix().to_4x4()
                gizmo.matrix_basis = Matrix.Translation(Vector(point)) @ turn


CLASSES = (AXION_GGT_limits,)
