# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a bake: Apply makes it ordinary animation, Export Motion hands it to other programs."""

import os

import bpy
from bpy.props import EnumProperty, StringProperty

from ...solver import SceneError
from .. import baking
from ..writers import apply, exchange, outputs, shared
from .bake import refuse
from .session import may_change_scene, may_step, place_of

ASKED = "All Axion settings of the scene are removed, and earlier keys of the baked channels are deleted"
FORMATS = (
    ("NPZ", "NumPy (.npz)", "Places, orientations, velocities and the report, as the solver has them, in metres"),
    ("USD", "USD (.usdc)", "The baked objects, by Blender's own exporter"),
    ("ALEMBIC", "Alembic (.abc)", "The baked objects, by Blender's own exporter"),
)


class AXION_OT_apply_bake(bpy.types.Operator):
    """Keep the baked motion as ordinary animation and remove all Axion bodies, joints and settings of the scene."""

    bl_idname = "axion.apply_bake"
    bl_label = "Apply Bake"
    bl_description = (
        "Keep the baked motion as ordinary animation and remove all Axion settings of the scene. Earlier keys of the "
        "baked channels, which the bake had set aside, are deleted"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return may_change_scene(cls, context)

    def invoke(self, context, event):
        return context.window_manager.invoke_confirm(self, event, title=self.bl_label, message=ASKED)

    def execute(self, context):
        try:
            if not baking.is_baked(context.scene):
                self.report({"WARNING"}, "Nothing was applied: no object of this scene holds a bake")
                return {"CANCELLED"}
            others = shared.scenes(context.scene, outputs.holds)
            kept, warnings = apply.apply(context.scene)
        except SceneError as error:
            return refuse(self, error)
        for scene in (context.scene, *others):
            baking.forget_report(scene)
        for sentence in warnings:
            self.report({"WARNING"}, sentence)
        self.report({"INFO"}, f"Motion of {kept} {'object' if kept == 1 else 'objects'} applied")
        return {"FINISHED"}


class AXION_OT_export_motion(bpy.types.Operator):
    """Write the baked motion to a file."""

    bl_idname = "axion.export_motion"
    bl_label = "Export Motion"
    bl_description = "Write the baked motion to a file for other programs"
    bl_options = {"REGISTER"}

    filepath: StringProperty(
        name="File Path",
        description="Where to write the motion; its ending follows the format",
        subtype="FILE_PATH",
        options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    format: EnumProperty(name="Format", description="Program that the file is meant for", items=FORMATS, default="NPZ")

    @classmethod
    def poll(cls, context):
        return may_step(cls, context)

    def invoke(self, context, event):
        if not self.filepath:
            self.filepath = f"{context.scene.name}{exchange.FORMATS[self.format]}"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, context):
        path = bpy.path.ensure_ext(_without_ending(self.filepath), exchange.FORMATS[self.format])
        changed, self.filepath = path != self.filepath, path
        return changed

    def execute(self, context):
        try:
            path = os.path.abspath(place_of(self.filepath))
            warnings = exchange.export(context, path, self.format, *baking.frame_range(context.scene))
        except (SceneError, RuntimeError) as error:
            return refuse(self, error)
        for sentence in warnings:
            self.report({"WARNING"}, sentence)
        self.report({"INFO"}, f"Motion written to {path}")
        return {"FINISHED"}


def _without_ending(path):
    for ending in exchange.FORMATS.values():
        path = path.removesuffix(ending)
    return path


CLASSES = (AXION_OT_apply_bake, AXION_OT_export_motion)
