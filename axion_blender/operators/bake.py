# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, Cancel Bake and Clear Bake.

From a button or a menu (invoke) the bake goes on beside whatever the user does; from a script and in the background
(execute) it blocks.
"""

import sys
import time

import bpy

from ...solver import SceneError
from .. import baking, preferences, report, running
from ..job import Phase
from ..ui.preview import Preview
from ..writers import outputs, pushed
from . import events
from .session import list_findings, may_change_scene, may_step

TICK = 0.04
"""Seconds between two looks at a running bake."""
GUARD = 0.25
"""Seconds after which the guard of another window notices at the latest that the bake is over."""


class AXION_OT_bake(bpy.types.Operator):
    """Simulate the Axion bodies of the scene and write their motion as keyframes."""

    bl_idname = "axion.bake"
    bl_label = "Bake"
    bl_description = "Simulate the Axion bodies of the scene and write their motion as keyframes"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return may_step(cls, context)

    def execute(self, context):
        scene = context.scene
        try:
            job = baking.make_job(context, say=teller(context))
        except ValueError as error:
            return refuse(self, error)
        bake = running.begin(job, scene, blocking=True)
        try:
            job.run()
        finally:
            running.end(bake)
            if context.workspace is not None:
                context.workspace.status_text_set(None)
        return finish(self, context, job, scene)

    def invoke(self, context, event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        scene = context.scene
        preview = Preview(scene, baking.frame_range(scene)[0])
        try:
            apart = preferences.get("solve_in") == "PROCESS"
            job = baking.make_job(context, say=say_on_console, show=preview.show, apart=apart)
        except ValueError as error:
            return refuse(self, error)
        self._bake = running.begin(job, scene, preview=preview)
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        self._screen = events.Screen(TICK)
        self._windows = set()
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        bake = self._bake
        if bake is not running.current():
            return self._leave(context, "stopped" if bake.stopped else "ended")
        if event.type == "TIMER":
            return self._tick(context)
        if events.is_cancel(context, event):
            bake.job.cancel()
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"} if events.may_pass(context, event, bake.ticker) else {"RUNNING_MODAL"}

    def cancel(self, context):
        """The window is closed, or the file is about to go."""
        if self._bake is running.current():
            running.stop("its window was closed")
        self._clean_up(context)

    def _tick(self, context):
        bake = self._bake
        self._windows = guard_windows(context, self._windows)
        if bake.scene is None:
            running.stop("its scene was deleted")
            return self._leave(context, "stopped")
        try:
            ended = not bake.waits(context) and bake.ticker.tick()
        except BaseException:
            running.end(bake)
            self._clean_up(context)
            raise
        if ended:
            return self._leave(context, "ended")
        self._screen.update(context, bake)
        return {"PASS_THROUGH"}

    def _leave(self, context, how):
        bake = self._bake
        scene = bake.scene
        running.end(bake)
        self._clean_up(context)
        if how == "stopped" or scene is None:
            self.report({"WARNING"}, f"The bake was stopped: {bake.stopped or 'its scene was deleted'}")
            return {"CANCELLED"}
        return finish(self, context, bake.job, scene)

    def _clean_up(self, context):
        context.window_manager.event_timer_remove(self._timer)
        self._screen.clear(context)


class AXION_OT_guard_window(bpy.types.Operator):
    """Keep edits in another window from a scene that is read or written; Blender asks one window's operators only."""

    bl_idname = "axion.guard_window"
    bl_label = "Guard Window"
    bl_description = "Keep the setup as it is while a bake reads or writes the scene, in this window, too"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        return AXION_OT_cancel_bake.poll.__func__(cls, context)

    def invoke(self, context, event):
        self._bake = running.current()
        self._timer = context.window_manager.event_timer_add(GUARD, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        """The window is closed, or the file is about to go."""
        context.window_manager.event_timer_remove(self._timer)

    def modal(self, context, event):
        bake = self._bake
        if bake is not running.current():
            self.cancel(context)
            return {"FINISHED", "PASS_THROUGH"}
        if events.is_cancel(context, event):
            bake.job.cancel()
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"} if events.may_pass(context, event, bake.ticker) else {"RUNNING_MODAL"}


class AXION_OT_cancel_bake(bpy.types.Operator):
    """Stop the running bake after the frame it is at."""

    bl_idname = "axion.cancel_bake"
    bl_label = "Cancel"
    bl_description = "Stop the running bake after the frame it is at. Esc does the same"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        if running.current() is None:
            cls.poll_message_set("No bake is running")
            return False
        return True

    def execute(self, context):
        running.current().job.cancel()
        return {"FINISHED"}


class AXION_OT_clear_bake(bpy.types.Operator):
    """Remove the baked keyframes and bring back what was there before."""

    bl_idname = "axion.clear_bake"
    bl_label = "Clear Bake"
    bl_description = "Remove the baked keyframes and bring back what was there before"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return may_change_scene(cls, context)

    def execute(self, context):
        try:
            cleared, others, reported = baking.clear(context.scene)
        except SceneError as error:
            return refuse(self, error)
        linked = [item for item in context.scene.objects if outputs.holds(item)]
        if linked:
            self.report(
                {"WARNING"}, f"{linked[0].name} is linked from another file and keeps its bake: clear it in that file"
            )
        left = [(item.name, name) for item in context.scene.objects for name in pushed.playing(item)]
        for item, name in left:
            self.report({"WARNING"}, f"{item} still plays baked keys in its NLA strip {name}: mute or delete the strip")
        if not cleared and reported:
            self.report({"INFO"}, "The report of the bake was removed; no keys were left to clear")
            return {"FINISHED"}
        if not cleared:
            if not linked and not left:
                self.report({"WARNING"}, "Nothing was cleared: no object of this scene holds a bake")
            return {"CANCELLED"}
        also = f", in {' and '.join(other.name for other in others)}, too: objects are shared" if others else ""
        self.report({"INFO"}, f"Bake of {cleared} {'object' if cleared == 1 else 'objects'} cleared{also}")
        return {"FINISHED"}


CLASSES = (AXION_OT_bake, AXION_OT_guard_window, AXION_OT_cancel_bake, AXION_OT_clear_bake)


def guard_windows(context, guarded):
    """Guard the windows besides the context's.  guarded: addresses of those that are; returns those of now."""
    others = {window.as_pointer(): window for window in context.window_manager.windows if window != context.window}
    for address, window in others.items():
        if address not in guarded:
            with context.temp_override(window=window):
                bpy.ops.axion.guard_window("INVOKE_DEFAULT")
    return set(others)


def finish(operator, context, job, scene):
    """Report on a job that has ended; keeps the report of one that is done.  Returns the operator's result."""
    if job.phase is Phase.FAILED:
        if isinstance(job.error, SceneError):
            list_findings(context, scene, job.error.problems or [job.error], job.warnings)
        return refuse(operator, job.error)
    if job.phase is Phase.CANCELLED:
        kept = ", the next bake goes on from here" if job.solved and scene.axion.use_cache else ""
        text = f"Bake stopped after {job.solved} of {job.frames} frames, no keyframes were written{kept}"
        operator.report({"WARNING"}, text)
        return {"CANCELLED"}
    summary = baking.keep_report(scene, job)["summary"]
    context.window_manager.axion.problems = ""
    for sentence in job.warnings:
        operator.report({"WARNING"}, sentence)
    lines = report.summary_lines(summary)
    if bpy.app.background:
        print("\n".join(lines), flush=True)
    operator.report({"WARNING"} if summary["missed"] else {"INFO"}, "; ".join(lines))
    return {"FINISHED"}


def say_on_console(line):
    """One line of progress; the panel has its own."""
    print(line, flush=True)


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
