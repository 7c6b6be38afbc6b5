# SPDX-License-Identifier: GPL-3.0-or-later
"""The live preview: frames drawn over the viewport as they are solved.

Only drawn: no object, no property and no frame is touched, so nothing can be left behind.
"""

import bpy
import numpy as np

from ..ghost import Ghost

ALPHA = 0.85
"""Of the drawn objects: what lies behind shows through a little."""


class Preview:
    """Draws the newest frame; while the playhead is elsewhere than at the start, the frame there."""

    def __init__(self, scene, first_frame):
        self.scene_uid, self.first_frame, self.start = scene.session_uid, first_frame, scene.frame_current
        self.results, self.ghost, self.metres = [], None, 1.0
        self._handle, self._drawn, self._batch, self._shader = None, None, None, None

    def show(self, extraction, results):
        """Read what to draw and begin; a generator.  results: list that FrameResults are appended to."""
        context = bpy.context
        self.results, self.metres = results, extraction.scale_length
        ghost = Ghost()
        yield from ghost.read(context.scene, context.evaluated_depsgraph_get(), extraction)
        self.ghost = ghost
        self._handle = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_VIEW")

    def remove(self):
        """Draw no more; may be called twice."""
        if self._handle is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None

    def result(self, frame):
        """The FrameResult to draw with the playhead at ``frame``, or None where there is none."""
        if not self.results:
            return None
        newest = self.results[-1]
        if frame == self.start:
            return newest
        at = min(frame - self.first_frame, newest.frame) - self.results[0].frame
        return self.results[at] if at >= 0 else None

    def _draw(self):
        context = bpy.context
        if (
            context.scene.session_uid != self.scene_uid
            or not context.window_manager.axion.show_preview
            or not context.space_data.overlay.show_overlays
        ):
            return
        result = self.result(context.scene.frame_current)
        if result is None or not len(self.ghost.corners):
            return
        import gpu

        if self._drawn is not result:
            self._batch, self._drawn = self._make_batch(result, context), result
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.depth_mask_set(True)
        gpu.state.face_culling_set("BACK")
        gpu.state.blend_set("ALPHA")
        self._batch.draw(self._shader)
        gpu.state.blend_set("NONE")
        gpu.state.face_culling_set("NONE")
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE")

    def _make_batch(self, result, context):
        import gpu
        from gpu_extras.batch import batch_for_shader

        if self._shader is None:
            self._shader = gpu.shader.from_builtin("FLAT_COLOR")
        corners, lit = self.ghost.posed(result.position / self.metres, result.orientation)
        colors = np.empty((len(corners), 4), np.float32)
        colors[:, :3] = lit[:, None] * np.array(context.preferences.themes[0].view_3d.object_active[:3])
        colors[:, 3] = ALPHA
        return batch_for_shader(self._shader, "TRIS", {"pos": corners, "color": colors})
