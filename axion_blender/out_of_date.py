# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the bake that a scene holds is out of date.

A panel that draws asks for a look and shows what the last one found.  The look is taken a little later by a timer, in
slices of milliseconds, at most twice a second and never in more than a part of the time: drawing stays cheap, and as
undo, operators and scripts redraw the panels, too, there is nothing that has to notice them.
"""

import time

import bpy

from . import bake_inputs, identity, last_bake, report, running

PAUSE = 0.5
"""Seconds between two looks, at least."""
REPOSE = 4.0
"""Times as long as a look has worked, until the next one."""
WORK, REST = 0.004, 0.02
"""Seconds that a slice takes, and between two slices."""
NAMED = 3
"""Objects and settings that the sentence names; of more it says how many."""
CLASSES = ()

_found = {}  # scene's session number -> (stamp of the bake, sentence)
_asked = {}  # session numbers of the scenes that panels have asked about, the oldest first
_look = None  # the _Look that is being taken


def sentence(scene):
    """What a panel shows of the scene's bake, empty where it is not known to be out of date; asks for another look."""
    stamp = last_bake.stamp(scene)
    if not stamp:
        return ""
    _asked[scene.session_uid] = True
    if not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=PAUSE)
    known, text = _found.get(scene.session_uid, ("", ""))
    return text if known == stamp else ""


def look(scene):
    """Look through a scene: a generator that returns the sentence."""
    then = last_bake.inputs(scene)
    if then is None:
        return ""
    now = yield from bake_inputs.read(scene)
    names = bake_inputs.changed(then, now) if now is not None else []
    if not names:
        return ""
    return f"Bake is out of date, settings changed since: {report.listed(names, NAMED)}"


class _Look:
    """One look through a scene that is under way."""

    def __init__(self, scene):
        self.uid, self.stamp, self.slices, self.spent = scene.session_uid, last_bake.stamp(scene), look(scene), 0.0

    def go_on(self):
        """One slice; returns the sentence at the end, until then None."""
        began = time.perf_counter()
        try:
            while time.perf_counter() - began < WORK:
                next(self.slices)
        except StopIteration as end:
            return end.value
        finally:
            self.spent += time.perf_counter() - began
        return None


def _tick():
    """The timer: one slice.  Returns the seconds until the next one, None when nobody waits for any."""
    global _look
    if running.current() is not None:
        _look = None
        return PAUSE if _asked else None
    if _look is None:
        scene = next(filter(None, map(identity.scene_of, list(_asked))), None)
        if scene is None:
            _asked.clear()
            return None
        del _asked[scene.session_uid]
        _look = _Look(scene)
    own, _look = _look, None  # a look that fails is not gone on with
    text = own.go_on()
    if text is None:
        _look = own
        return REST
    stamp, shown = _found.get(own.uid, ("", ""))
    if text != (shown if stamp == own.stamp else ""):
        redraw()
    _found[own.uid] = own.stamp, text
    return max(PAUSE, REPOSE * own.spent) if _asked else None


def redraw():
    """Let all sidebars draw themselves anew."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def attach():
    """Nothing: the first panel that draws starts the timer."""


def detach():
    """Stop looking."""
    global _look
    _look = None
    _asked.clear()
    _found.clear()
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
