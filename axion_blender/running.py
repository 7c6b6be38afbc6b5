# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake that runs in this Blender, if one does.

Operators ask here before they change the setup, panels before they draw it.  What takes the scene away from under a
bake (another file, an undo, the extension switched off, Blender's end) ends it here.
"""

import time

import bpy
from bpy.app.handlers import persistent

from . import identity
from .drivers import Ticker
from .job import Phase

PATIENCE = 1.0
"""Seconds to wait for the frame at hand when the file goes; Blender's end waits as long as it takes."""
CLASSES = ()

_current = None


class Bake:
    """One running bake.

    Attributes:
        job: job.Job.
        ticker: drivers.Ticker, or None for a bake that blocks Blender.
        scene_uid, frame: the scene's session number, and where its playhead was at the start.
        began: time.monotonic() of the start.
        preview: ui.preview.Preview, or None.
        stopped: why the bake was stopped by something else than its user; empty while it was not.
    """

    def __init__(self, job, scene, ticker=None, preview=None):
        self.job, self.ticker, self.preview = job, ticker, preview
        self.scene_uid, self.frame = scene.session_uid, scene.frame_current
        self.began, self.stopped = time.monotonic(), ""

    @property
    def scene(self):
        """The scene that is baked, or None where it was deleted."""
        return identity.scene_of(self.scene_uid)

    def waits(self, context):
        """What its keys wait for once it is solved, a sentence; empty where nothing keeps them from being written."""
        if self.job.phase is not Phase.SOLVED or self.job.cancelling or self.ticker is None or self.ticker.writing:
            return ""
        if is_rendering():
            return "The keyframes wait for the end of the render"
        return "" if context.mode == "OBJECT" else "Go to Object Mode: the keyframes wait for it"


def current():
    """The running Bake, or None."""
    return _current


def is_rendering():
    """Whether Blender renders beside its window, which takes it from frame to frame."""
    return bpy.app.is_job_running("RENDER")


def begin(job, scene, blocking=False, preview=None):
    """Say that a bake runs.  Returns its Bake; whoever began it calls ``end``."""
    global _current
    _current = Bake(job, scene, None if blocking else Ticker(job), preview)
    return _current


def end(bake):
    """Say that ``bake`` is over; nothing happens if it was over before."""
    global _current
    if _current is bake:
        _current = None
    if bake.preview is not None:
        bake.preview.remove()


def stop(reason, patience=PATIENCE):
    """End the running bake at once because of ``reason``, part of a sentence; nothing happens if none runs."""
    bake = _current
    if bake is None:
        return
    bake.stopped = reason
    try:
        if bake.ticker is not None:
            bake.ticker.close(patience)
        else:
            bake.job.cancel()
    finally:
        end(bake)
    print(f"Axion: the bake was stopped: {reason}", flush=True)


@persistent
def _before_load(*_):
    stop("another file was opened")


@persistent
def _before_undo(*_):
    stop("Undo may have changed what is being simulated")


@persistent
def _before_exit(*_):
    stop("Blender was closed", patience=None)


HANDLERS = {"load_pre": _before_load, "undo_pre": _before_undo, "redo_pre": _before_undo, "exit_pre": _before_exit}
"""``exit_pre`` came with Blender 5.2; before, the extension is switched off at the end, which does the same."""


def attach():
    """Watch for what ends a bake."""
    for name, handler in HANDLERS.items():
        if hasattr(bpy.app.handlers, name):
            getattr(bpy.app.handlers, name).append(handler)


def detach():
    """End what runs, and watch no more."""
    stop("Axion was switched off", patience=None)
    for name, handler in HANDLERS.items():
        found = getattr(bpy.app.handlers, name, ())
        if handler in found:
            found.remove(handler)
