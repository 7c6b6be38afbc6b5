# SPDX-License-Identifier: GPL-3.0-or-later
"""The Scene tab: settings of the whole simulation."""

import bpy

from .bake import lock


def draw_settings(layout, settings):
    """Draw ``Scene.axion``; the Scene tab and the sidebar show the same."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    column.prop(settings, "quality")
    column.prop(settings, "use_tolerance")
    if settings.use_tolerance:
        column.prop(settings, "tolerance")
    column.prop(settings, "device")
    if settings.device == "CUDA":
        column.prop(settings, "device_index")
    column.prop(settings, "substeps")
    column.prop(settings, "joint_damping")
    column.prop(settings, "time_scale")
    column.prop(settings, "gravity_factor")
    column.prop(settings, "friction_combine")
    column.prop(settings, "restitution_combine")
    column.prop(settings, "use_frame_range")
    if settings.use_frame_range:
        pair = column.column(align=True)
        pair.prop(settings, "frame_start")
        pair.prop(settings, "frame_end", text="End")
    column.prop(settings, "use_cache")
    if settings.use_cache:
        column.prop(settings, "cache_folder")


class AXION_PT_scene(bpy.types.Panel):
    """Settings of the simulation."""

    bl_label = "Axion"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "scene"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        lock(self.layout)
        draw_settings(self.layout, context.scene.axion)


CLASSES = (AXION_PT_scene,)
