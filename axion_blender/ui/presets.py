# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's own materials, beside those that Axion knows: Blender's presets, in the header of the Settings panel."""

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel

FOLDER = "axion/material"
"""Where they are kept below the folder of Blender's presets."""


class AXION_PT_material_presets(PresetPanel, bpy.types.Panel):
    """Density, friction and bounciness under a name."""

    bl_label = "Own Materials"
    preset_subdir, preset_operator, preset_add_operator = FOLDER, "script.execute_preset", "axion.add_material_preset"


class AXION_OT_add_material_preset(AddPresetBase, bpy.types.Operator):
    """Keep the active body's material under a name."""

    bl_idname = "axion.add_material_preset"
    bl_label = "Add Own Material"
    bl_description = "Keep the active body's density, friction and bounciness under a name, for other bodies and files"
    preset_menu, preset_subdir = "AXION_PT_material_presets", FOLDER
    preset_defines = ("body = bpy.context.object.axion",)
    preset_values = ("body.use_density", "body.density", "body.friction", "body.restitution")

    @classmethod
    def poll(cls, context):
        if context.object is not None and context.object.axion.enabled:
            return True
        cls.poll_message_set("The active object is no Axion body: click the one whose material is to be kept")
        return False


CLASSES = (AXION_PT_material_presets, AXION_OT_add_material_preset)
