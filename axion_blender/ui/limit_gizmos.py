# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles on the active joint's limits: a dot at each end of an arc, an arrow at each end of a way."""

import bpy
from mathutils import Matrix, Vector

from .. import limit_handles, physics_strokes, strokes
from ..extract.joints import ALL
from .handles import Handles, bright, dot

ENDS = [
    f"limit_{'lin' if len(name) == 1 else 'ang'}_{name[-1]}_{end}" for name in ALL for end in ("lower", "upper")
]  # one handle each


class AXION_GGT_limits(Handles, bpy.types.GizmoGroup):
    """The handles; those of limits that are off are hidden."""

    bl_idname = "AXION_GGT_limits"
    bl_label = "Axion Joint Limits"
    switch = "show_limits"

    @staticmethod
    def fits(item):
        """Whether an object is a joint with a limit that counts."""
        return item.axion_joint.enabled and bool(physics_strokes.limits(item.axion_joint))

    def setup(self, context):
        self.handles = {}
        for limit in ENDS:
            linear = limit_handles.axis_of(limit)[1]
            if linear:
                gizmo = bright(self.gizmos.new("GIZMO_GT_arrow_3d"), strokes.JOINT_FORCE)
                gizmo.draw_style, gizmo.length, gizmo.scale_basis = "BOX", 0.0, 0.5
            else:
                gizmo = dot(self.gizmos, strokes.JOINT_FORCE)
            gizmo.target_set_operator("axion.drag_limit").limit = limit
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
