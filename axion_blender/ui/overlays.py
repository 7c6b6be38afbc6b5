# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints, limits, contacts and forces drawn over the 3D viewport, and where they are switched on.

What is drawn is built once a frame (``physics_strokes.py``) and kept as one batch until something in it changes.
"""

import bpy
import gpu
from bpy.app.handlers import persistent
from gpu_extras.batch import batch_for_shader

from ...solver import SceneError
from .. import physics_strokes
from .sidebar import SidebarPanel

LINE_WIDTH = 1.5  # pixels at interface scale 1

_handle = None
_changes = 0  # of objects, counted; a redraw without any draws the same again
_drawn = {"key": None, "batch": None, "shader": None}


def draw():
    """Draw the current scene's overlays in the region at hand; Blender calls it after the objects are drawn."""
    context = bpy.context
    scene, space = context.scene, context.space_data
    settings = scene.axion.overlays
    if not settings.show or not space.overlay.show_overlays:
        return
    key = (_changes, *physics_strokes.key(scene, context.view_layer.objects.active))
    if key != _drawn["key"]:
        _drawn["key"], _drawn["batch"] = key, _batch(scene, context.view_layer)
    if _drawn["batch"] is None:
        return
    shader = _drawn["shader"]
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE" if settings.in_front else "LESS_EQUAL")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", LINE_WIDTH * context.preferences.system.ui_scale)
    _drawn["batch"].draw(shader)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")


@persistent
def count_change(*_):
    """Note that something in the file changed."""
    global _changes
    _changes += 1


def _batch(scene, view_layer):
    try:
        ends, colors = physics_strokes.build(scene, view_layer).arrays()
    except SceneError as error:  # a damaged recording: said once, not at every redraw
        print(f"axion: {error}", flush=True)
        return None
    if not len(ends):
        return None
    if _drawn["shader"] is None:
        _drawn["shader"] = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
    return batch_for_shader(_drawn["shader"], "LINES", {"pos": ends, "color": colors})


def draw_settings(layout, settings):
    """Draw ``Scene.axion.overlays``; the overlay popover and the sidebar show the same."""
    column = layout.column()
    column.active = settings.show
    split = column.split()
    for names in (
        ("show_joints", "show_limits", "show_handles", "selected_only"),
        ("show_contacts", "show_contact_forces", "show_joint_forces", "show_worst", "in_front"),
    ):
        part = split.column(align=True)
        for name in names:
            part.prop(settings, name)
    column.prop(settings, "size")
    column.prop(settings, "force_scale")


def _watched():
    handlers = bpy.app.handlers
    return handlers.depsgraph_update_post, handlers.undo_post, handlers.redo_post, handlers.load_post


class AXION_PT_overlays(bpy.types.Panel):
    """Axion's part of the viewport's overlay popover."""

    bl_label = "Axion"
    bl_space_type, bl_region_type, bl_parent_id = "VIEW_3D", "HEADER", "VIEW3D_PT_overlay"

    def draw_header(self, context):
        self.layout.prop(context.scene.axion.overlays, "show", text="")

    def draw(self, context):
        draw_settings(self.layout, context.scene.axion.overlays)


class AXION_PT_sidebar_overlays(SidebarPanel, bpy.types.Panel):
    """The same in the sidebar."""

    bl_label, bl_options, bl_order = "Overlays", {"DEFAULT_CLOSED"}, 40

    def draw_header(self, context):
        self.layout.prop(context.scene.axion.overlays, "show", text="")

    def draw(self, context):
        draw_settings(self.layout, context.scene.axion.overlays)


CLASSES = (AXION_PT_overlays, AXION_PT_sidebar_overlays)


def attach():
    """Start drawing; a Blender without windows has nothing to draw on."""
    global _handle
    if not bpy.app.background:
        _handle = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")
        for handlers in _watched():
            handlers.append(count_change)


def detach():
    """Stop drawing."""
    global _handle
    if _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None
        for handlers in _watched():
            handlers.remove(count_change)
    _drawn.update(key=None, batch=None, shader=None)
