# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene: every problem at once, before anybody waits for a bake."""

import sys

import bpy

from .. import baking
from .session import list_findings, may_step


class AXION_OT_check_scene(bpy.types.Operator):
    """List everything that stands in the way of a bake."""

    bl_idname = "axion.check_scene"
    bl_label = "Check Scene"
    bl_description = "List everything that stands in the way of a bake, and what may not be as it seems, at once"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        return may_step(cls, context)

    def execute(self, context):
        problems, warnings = baking.check(context)
        list_findings(context, context.scene, problems, warnings)
        for sentence in warnings:
            self.report({"WARNING"}, sentence)
        if not problems:
            self.report({"INFO"}, "The scene can be baked")
            return {"FINISHED"}
        if bpy.app.background:
            print("\n".join(f"axion: {problem}" for problem in problems), file=sys.stderr, flush=True)
        self.report({"ERROR"}, "\n".join(problems))
        return {"CANCELLED"}


CLASSES = (AXION_OT_check_scene,)
