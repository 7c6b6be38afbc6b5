# SPDX-License-Identifier: GPL-3.0-or-later
"""The Scene tab: settings of the whole simulation, in the order of Blender's Rigid Body World."""

import bpy

from ..properties.weights import KINDS
from .bake import lock
from .cache import draw_cache


def draw_settings(layout, settings):
    """Speed and exactness; the Scene tab and the sidebar show the same."""
    column = layout.column()
    column.prop(settings, "time_scale", text="Speed")
    column.prop(settings, "substeps")
    column.prop(settings, "quality")
    column.prop(settings, "use_tolerance")
    tolerance = column.column()
    tolerance.active = settings.use_tolerance
    tolerance.prop(settings, "tolerance")
    column.prop(settings, "joint_damping")
    column.prop(settings, "device")
    if settings.device == "CUDA":
        column.prop(settings, "device_index")


def draw_surfaces(layout, settings):
    """How two surfaces become one pair."""
    column = layout.column()
    column.prop(settings, "friction_combine", text="Friction")
    column.prop(settings, "restitution_combine", text="Bounciness")


def draw_frames(layout, settings):
    """Which frames are baked."""
    column = layout.column()
    column.prop(settings, "use_frame_range", text="Custom Range")
    pair = column.column(align=True)
    pair.active = settings.use_frame_range
    pair.prop(settings, "frame_start", text="Simulation Start")
    pair.prop(settings, "frame_end", text="End")
    column.prop(settings, "use_cache")
    if settings.use_cache:
        column.prop(settings, "cache_folder")
    draw_cache(layout, settings.id_data)


def draw_output(layout, settings):
    """What the motion is written to."""
    column = layout.column()
    column.prop(settings, "output")
    if settings.output == "KEYFRAMES":
        column.prop(settings, "output_rotation", text="Rotation")
    column.prop(settings, "keys_per_frame")


def draw_fields(layout, settings):
    """What pulls at the bodies."""
    weights, column = settings.effector_weights, layout.column()
    column.prop(weights, "collection")
    column.prop(settings, "gravity_factor", text="Gravity", slider=True)
    for name in ("all", *KINDS):
        column.prop(weights, name, slider=True)


def draw_forces(layout, settings):
    """What is kept of forces and speeds."""
    column = layout.column()
    column.prop(settings, "record_forces")
    column.prop(settings, "use_keyed_speed")
    column.prop(settings, "use_keyed_forces", text="Keyframe Joints")


PARTS = (draw_settings, draw_surfaces, draw_frames, draw_output, draw_fields, draw_forces)
"""Everything there is to set, in this order."""


class ScenePanel:
    """Where the panels stand."""

    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "scene"
    part = None

    def draw(self, context):
        layout = self.layout
        lock(layout)
        layout.use_property_split, layout.use_property_decorate = True, False
        if self.part is not None:
            self.part(layout, context.scene.axion)


class AXION_PT_scene(ScenePanel, bpy.types.Panel):
    """Settings of the simulation."""

    bl_label, bl_options = "Axion Rigid Body World", {"DEFAULT_CLOSED"}


class AXION_PT_scene_settings(ScenePanel, bpy.types.Panel):
    """Speed and exactness."""

    bl_label, bl_parent_id = "Settings", "AXION_PT_scene"
    part = staticmethod(draw_settings)


class AXION_PT_scene_surfaces(ScenePanel, bpy.types.Panel):
    """How two surfaces become one pair."""

    bl_label, bl_parent_id, bl_options = "Surface Pairs", "AXION_PT_scene_settings", {"DEFAULT_CLOSED"}
    part = staticmethod(draw_surfaces)


class AXION_PT_scene_cache(ScenePanel, bpy.types.Panel):
    """Which frames are baked."""

    bl_label, bl_parent_id, bl_options = "Cache", "AXION_PT_scene", {"DEFAULT_CLOSED"}
    part = staticmethod(draw_frames)


class AXION_PT_scene_output(ScenePanel, bpy.types.Panel):
    """What the motion is written to."""

    bl_label, bl_parent_id, bl_options = "Output", "AXION_PT_scene", {"DEFAULT_CLOSED"}
    part = staticmethod(draw_output)


class AXION_PT_scene_fields(ScenePanel, bpy.types.Panel):
    """What pulls at the bodies."""

    bl_label, bl_parent_id, bl_options = "Field Weights", "AXION_PT_scene", {"DEFAULT_CLOSED"}
    part = staticmethod(draw_fields)


class AXION_PT_scene_forces(ScenePanel, bpy.types.Panel):
    """What is kept of forces and speeds."""

    bl_label, bl_parent_id, bl_options = "Forces", "AXION_PT_scene", {"DEFAULT_CLOSED"}
    part = staticmethod(draw_forces)


CLASSES = (
    AXION_PT_scene,
    AXION_PT_scene_settings,
    AXION_PT_scene_surfaces,
    AXION_PT_scene_cache,
    AXION_PT_scene_output,
    AXION_PT_scene_fields,
    AXION_PT_scene_forces,
)
