# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert Blender's own rigid bodies to Axion; the report stays in the scene until it is cleared."""

import bpy

from .. import native
from ..native import store
from .session import is_unlocked, may_step

SAID = 10
"""Sentences in the info log; the report has all of them."""


class AXION_OT_convert_native(bpy.types.Operator):
    """Turn Blender's own rigid bodies and constraints into Axion's; the native ones stay, switched off."""

    bl_idname = "axion.convert_native"
    bl_label = "Convert Rigid Bodies"
    bl_description = "Turn Blender's own rigid bodies and constraints into Axion's; the native ones stay, switched off"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        # Other modes undo only what is theirs.  Without a window nobody undoes, and files may have been saved in them.
        return is_unlocked(cls) if bpy.app.background else may_step(cls, context)

    def execute(self, context):
        scene = context.scene
        done = native.convert_native(scene, context.evaluated_depsgraph_get())
        if done.reason:
            self.report({"WARNING"}, done.reason)
            return {"CANCELLED"}
        store.keep(scene, done)
        for sentence in done.notes[:SAID]:
            self.report({"WARNING"}, sentence)
        if len(done.notes) > SAID:
            self.report({"WARNING"}, f"and {len(done.notes) - SAID} more, in the sidebar under Conversion Report")
        self.report({"INFO"}, f"Converted to Axion: bodies {done.bodies}, joints {done.joints}")
        return {"FINISHED"}


class AXION_OT_clear_conversion_report(bpy.types.Operator):
    """Remove the conversion report from the scene."""

    bl_idname = "axion.clear_conversion_report"
    bl_label = "Clear Conversion Report"
    bl_description = "Remove the list of what became of native settings from the scene; what was converted stays"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        store.forget(context.scene)
        return {"FINISHED"}


CLASSES = (AXION_OT_convert_native, AXION_OT_clear_conversion_report)
