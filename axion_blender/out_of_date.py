# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the bake that a scene holds is out of date.

A panel that draws asks for a look and shows what the last one found.  The look is taken a little later by a timer, in
slices of milliseconds, at most twice a second: drawing stays cheap, and as undo, operators and scripts redraw the
panels, too, there is nothing that has to notice them.
"""

import time

import bpy

from . import bake_inputs, identity, last_bake, running

PAUSE = 0.5
"""Seconds between two looks."""
WORK, REST = 0.004, 0.02
"""Seconds that a slice takes, and between two slices."""
NAMED = 3
"""Objects and settings that the sentence names; of more it says how many."""
CLASSES = ()

_found = {}  # scene's session number -> (stamp of the bake, sentence)
_asked = None  # session number of the scene that a panel has asked about
_look = None  # (scene's session number, generator)


def sentence(scene):
    """What a panel shows of the scene's bake, empty where it is not known to be out of date; asks for another look."""
    global _asked
    stamp = last_bake.stamp(scene)
    if not stamp:
        return ""
    _asked = scene.session_uid
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
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"Bake is out of date, settings changed since: {', '.join(names[:NAMED])}{more}"


def _tick():
    """The timer: one slice.  Returns the seconds until the next one, None when nobody waits for any."""
    global _asked, _look
    if running.current() is not None:
        _look = None
        return PAUSE if _asked is not None else None
    if _look is None:
        scene, _asked = identity.scene_of(_asked), None
        if scene is None:
            return None
        _look = scene.session_uid, last_bake.stamp(scene), look(scene)
    uid, stamp, slices = _look
    began = time.perf_counter()
    try:
        while time.perf_counter() - began < WORK:
            next(slices)
    except StopIteration as end:
        _look = None
        if _found.get(uid, ("", ""))[1] != end.value:
            redraw()
        _found[uid] = stamp, end.value
        return PAUSE if _asked is not None else None
    except BaseException:
        _look = None
        raise
    return REST


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
    global _asked, _look
    _asked = _look = None
    _found.clear()
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
