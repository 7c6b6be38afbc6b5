# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake and Clear Bake.  Today the bake blocks; the job itself does not care who drives it."""

import sys
import time

import bpy

from ...solver import SceneError
from .. import baking, report
from ..job import Phase
from ..writers import keyframes
from .session import in_object_mode


class AXION_OT_bake(bpy.types.Operator):
    """Simulate the Axion bodies of the scene and write their motion as keyframes."""

    bl_idname = "axion.bake"
    bl_label = "Bake"
    bl_description = "Simulate the Axion bodies of the scene and write their motion as keyframes"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        scene, session = context.scene, context.window_manager.axion
        try:
            job = baking.make_job(context, say=teller(context))
        except ValueError as error:
            return refuse(self, error)
        session.running = True
        try:
            job.run()
        finally:
            session.running = False
            if context.workspace is not None:
                context.workspace.status_text_set(None)
        if job.phase is Phase.FAILED:
            return refuse(self, job.error)
        if job.phase is Phase.CANCELLED:
            self.report(
                {"WARNING"}, f"Bake stopped after {len(job.reports)} of {job.frames} frames, nothing was written"
            )
            return {"CANCELLED"}
        summary = baking.keep_report(scene, job)["summary"]
        session.problems = ""
        for sentence in job.warnings:
            self.report({"WARNING"}, sentence)
        lines = report.summary_lines(summary)
        if bpy.app.background:
            print("\n".join(lines), flush=True)
        self.report({"WARNING"} if summary["missed"] else {"INFO"}, "; ".join(lines))
        return {"FINISHED"}


class AXION_OT_clear_bake(bpy.types.Operator):
    """Remove the baked keyframes and bring back what was there before."""

    bl_idname = "axion.clear_bake"
    bl_label = "Clear Bake"
    bl_description = "Remove the baked keyframes and bring back what was there before"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        try:
            cleared = keyframes.clear(context.scene)
        except SceneError as error:
            return refuse(self, error)
        baking.forget_report(context.scene)
        if not cleared:
            self.report({"WARNING"}, "Nothing was cleared: no object of this scene holds a bake")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Bake of {cleared} {'object' if cleared == 1 else 'objects'} cleared")
        return {"FINISHED"}


CLASSES = (AXION_OT_bake, AXION_OT_clear_bake)


def teller(context):
    """A function that shows one line of progress: on the console, and in the status bar if there is a window."""
    due = 0.0

    def tell(line):
        nonlocal due
        print(line, flush=True)
        if bpy.app.background or context.window is None:
            return
        context.workspace.status_text_set(f"Axion: {line}")
        began = time.perf_counter()
        if began >= due:  # a blocked Blender redraws only when told; a slow screen must not slow the bake
            bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
            now = time.perf_counter()
            due = now + max(0.5, 10.0 * (now - began))

    return tell


def refuse(operator, error):
    """Say why there is no bake; in the background on stderr too, where a script's log is read."""
    text = str(error) or type(error).__name__
    if bpy.app.background:
        print(f"axion: {text}", file=sys.stderr, flush=True)
    operator.report({"ERROR"}, text)
    return {"CANCELLED"}
