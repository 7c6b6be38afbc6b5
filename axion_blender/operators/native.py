# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert Blender's own rigid bodies to Axion."""

import bpy

from .. import native
from .session import is_unlocked


class AXION_OT_convert_native(bpy.types.Operator):
    """Turn Blender's own rigid bodies and constraints into Axion's; the native ones stay, switched off."""

    bl_idname = "axion.convert_native"
    bl_label = "Convert Rigid Bodies"
    bl_description = "Turn Blender's own rigid bodies and constraints into Axion's; the native ones stay, switched off"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return is_unlocked(cls)

    def execute(self, context):
        done = native.convert_native(context.scene, context.evaluated_depsgraph_get())
        for note in done.notes:
            self.report({"WARNING"}, note)
        if not done.bodies and not done.joints:
            self.report(
                {"WARNING"}, "There was nothing to convert: the scene has no rigid bodies of Blender's that are on"
            )
            return {"CANCELLED"}
        self.report({"INFO"}, f"Converted to Axion: bodies {done.bodies}, joints {done.joints}")
        return {"FINISHED"}


CLASSES = (AXION_OT_convert_native,)
