# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph over the viewport: a gizmo that shows the report; a click on it goes to the frame and blames objects.

A gizmo, because Blender hands it clicks without a modal operator that would run all the time.
"""

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from .. import graph, last_bake, running
from ..operators.report import select_guilty

HEIGHT = {"one": 120.0, "ALL": 420.0}  # pixels at interface scale 1
EDGE, FONT_SIZE = 20.0, 11.0

_read = {"stamp": None, "table": None}


def place(context):
    """(x, y, width, height) of the graphs in the region [pixels], clear of the toolbar and the sidebar."""
    scale, region = context.preferences.system.ui_scale, context.region
    left, right = EDGE * scale, region.width - EDGE * scale
    for other in context.area.regions:
        if other.type == "TOOLS":
            left += other.width
        elif other.type == "UI":
            right -= other.width
    which = context.scene.axion.overlays.graph
    height = min(HEIGHT.get(which, HEIGHT["one"]) * scale, 0.6 * region.height)
    return left, EDGE * scale, max(right - left, 100.0), height


def drawing(context):
    """The graph.Drawing of the moment."""
    scene, scale = context.scene, context.preferences.system.ui_scale
    which = scene.axion.overlays.graph
    return graph.drawing(_table(scene), which, *place(context), scale, scene.frame_current)


def _table(scene):
    stamp = last_bake.stamp(scene)
    if _read["stamp"] != stamp:
        _read.update(stamp=stamp, table=graph.table(last_bake.document(scene)))
    return _read["table"]


def draw_pixels(made, scale):
    """Draw a graph.Drawing with the graphics card, in pixels of the region."""
    gpu.state.blend_set("ALPHA")
    flat = gpu.shader.from_builtin("SMOOTH_COLOR")
    corners, colors = [], []
    for x, y, width, height, color in made.rectangles:
        a, b, c, d = (x, y, 0), (x + width, y, 0), (x + width, y + height, 0), (x, y + height, 0)
        corners += [a, b, c, a, c, d]
        colors += [color] * 6
    batch_for_shader(flat, "TRIS", {"pos": corners, "color": colors}).draw(flat)
    ends, colors = [], []
    for points, color in made.lines:
        pairs = np.repeat(points, 2, axis=0)[1:-1]
        ends.append(np.hstack([pairs, np.zeros((len(pairs), 1))]))
        colors.append(np.tile(color, (len(pairs), 1)))
    lines = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
    lines.bind()
    lines.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    lines.uniform_float("lineWidth", 1.2 * scale)
    arrays = {"pos": np.concatenate(ends).astype(np.float32), "color": np.concatenate(colors).astype(np.float32)}
    batch_for_shader(lines, "LINES", arrays).draw(lines)
    blf.size(0, FONT_SIZE * scale)
    blf.color(0, *graph.TEXT)
    for x, y, text in made.texts:
        blf.position(0, x, y, 0.0)
        blf.draw(0, text)
    gpu.state.blend_set("NONE")


class AXION_GT_graph(bpy.types.Gizmo):
    """The report's graph: click or drag on it to go to a frame."""

    bl_idname = "AXION_GT_graph"

    def draw(self, context):
        draw_pixels(drawing(context), context.preferences.system.ui_scale)

    def test_select(self, context, location):
        x, y, width, height = place(context)
        inside = x <= location[0] <= x + width and y <= location[1] <= y + height
        return 0 if inside else -1

    def invoke(self, context, event):
        self._go(context, event)
        return {"RUNNING_MODAL"}

    def modal(self, context, event, tweak):
        self._go(context, event)
        return {"RUNNING_MODAL"}

    def exit(self, context, cancel):
        """The frame is reached: blame somebody."""
        if context.mode == "OBJECT":
            select_guilty(context)
            bpy.ops.ed.undo_push(message="Jump to Frame")

    def _go(self, context, event):
        plot = drawing(context).plots[0]
        frame = graph.frame_at(event.mouse_region_x, plot, _table(context.scene).frames)
        if frame != context.scene.frame_current and not running.is_rendering():
            context.scene.frame_set(frame)


class AXION_GGT_graph(bpy.types.GizmoGroup):
    """Holds the graph."""

    bl_idname = "AXION_GGT_graph"
    bl_label = "Axion Report Graph"
    bl_space_type, bl_region_type, bl_options = "VIEW_3D", "WINDOW", {"PERSISTENT"}

    @classmethod
    def poll(cls, context):
        settings = context.scene.axion.overlays
        if settings.graph == "NONE" or not context.space_data.overlay.show_overlays:
            return False
        document = last_bake.document(context.scene)
        return document is not None and bool(document["frames"])

    def setup(self, context):
        gizmo = self.gizmos.new(AXION_GT_graph.bl_idname)
        gizmo.use_draw_modal = True


CLASSES = (AXION_GT_graph, AXION_GGT_graph)
