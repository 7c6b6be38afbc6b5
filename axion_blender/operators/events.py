# SPDX-License-Identifier: GPL-3.0-or-later
"""What a running bake does with the user's events, and what of the window it draws anew."""

import bpy

from .. import progress
from ..job import Phase

NAVIGATION = {
    *("MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "WHEELINMOUSE", "WHEELOUTMOUSE", "TRACKPADPAN", "TRACKPADZOOM"),
    *("MOUSEROTATE", "MOUSESMARTZOOM", "NDOF_MOTION", "MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "WINDOW_DEACTIVATE"),
    *("TIMER", "TIMER0", "TIMER1", "TIMER2", "TIMER_JOBS", "TIMER_AUTOSAVE", "TIMER_REPORT", "TIMERREGION", "NONE"),
}
"""What cannot edit a scene."""
PROGRESS_REGIONS = {"VIEW_3D": {"UI"}, "PROPERTIES": {"WINDOW"}}
"""Regions whose panels tell of the bake or are locked by it."""

_shown = set()
"""Names of the workspaces whose status bar holds our text."""
_drawn = None
"""FrameResult that the viewports last showed."""


def is_cancel(context, event):
    """Whether the user asks for the end: Esc, unless that is to stop the playback."""
    playing = context.screen is not None and context.screen.is_animation_playing
    return event.type == "ESC" and event.value == "PRESS" and not playing


def may_pass(context, event, ticker):
    """Whether Blender may see an event.  All but edits, while the scene is read or written a slice at a time."""
    reading_or_writing = ticker.job.phase is Phase.READY or ticker.writing
    if not reading_or_writing or event.type in NAVIGATION:
        return True
    return event.type == "LEFTMOUSE" and _over_axion_tab(context, event)


def redraw(context, bake):
    """Draw anew what tells of ``bake``; None: it has ended."""
    global _drawn
    for name in _shown if bake is None else ():
        if name in bpy.data.workspaces:
            bpy.data.workspaces[name].status_text_set(None)
    if bake is None:
        _shown.clear()
    elif context.workspace is not None:
        _shown.add(context.workspace.name)
        context.workspace.status_text_set(f"Axion: {progress.status(bake.job, context.mode == 'OBJECT')}    Esc: cancel")
    frame = bake.job.latest if bake is not None else None
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions:
                wanted = region.type in PROGRESS_REGIONS.get(area.type, ())
                if wanted or (area.type == "VIEW_3D" and region.type == "WINDOW" and frame is not _drawn):
                    region.tag_redraw()
    _drawn = frame


def _over_axion_tab(context, event):
    """Whether the mouse is over the sidebar's tab with the Cancel button."""
    for area in context.screen.areas if context.screen is not None else ():
        for region in area.regions:
            inside = region.x <= event.mouse_x < region.x + region.width
            inside = inside and region.y <= event.mouse_y < region.y + region.height
            if inside and area.type == "VIEW_3D" and region.type == "UI":
                return region.active_panel_category == "Axion"
    return False
