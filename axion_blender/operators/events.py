# SPDX-License-Identifier: GPL-3.0-or-later
"""What a running bake does with the user's events, and what of the window it draws anew."""

import time

import bpy

from .. import progress, running
from ..job import Phase

NAVIGATION = {
    *("MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "WHEELINMOUSE", "WHEELOUTMOUSE", "TRACKPADPAN", "TRACKPADZOOM"),
    *("MOUSEROTATE", "MOUSESMARTZOOM", "NDOF_MOTION", "MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "WINDOW_DEACTIVATE"),
    *("TIMER", "TIMER0", "TIMER1", "TIMER2", "TIMER_JOBS", "TIMER_AUTOSAVE", "TIMER_REPORT", "TIMERREGION", "NONE"),
}
"""What cannot edit a scene."""

VIEW_SHARE = 6.0
"""Times as long as its drawing took that a viewport waits for its next frame."""


def is_cancel(context, event):
    """Whether the user asks for the end: Esc, unless that is to stop the playback or a render."""
    playing = context.screen is not None and context.screen.is_animation_playing
    return event.type == "ESC" and event.value == "PRESS" and not playing and not running.is_rendering()


def may_pass(context, event, ticker):
    """Whether Blender may see an event.  All but edits, while the scene is read or written a slice at a time."""
    reading_or_writing = ticker.job.phase is Phase.READY or ticker.writing
    if not reading_or_writing or event.type in NAVIGATION:
        return True
    return event.type == "LEFTMOUSE" and _over_axion_tab(context, event)


class Screen:
    """What of the windows is drawn anew while a bake runs: the progress at every tick, viewports as they can.

    tick: seconds between two calls of ``update``.
    """

    def __init__(self, tick):
        self.tick = tick
        self._drawn, self._due, self._left, self._workspaces = None, 0.0, None, {}

    def update(self, context, bake):
        """Draw what has changed since the last call."""
        job = bake.job
        views = job.latest is not self._drawn and self._may_draw_views(time.perf_counter())
        if views:
            self._drawn = job.latest
        if context.workspace is not None:
            self._tell(context.workspace, f"Axion: {progress.status(job, bake.waits(context))}    Esc: cancel")
        _tag(context, views, self._left is None)
        self._left = (time.perf_counter(), views)

    def _tell(self, workspace, text):
        if self._workspaces.get(workspace.name) != text:
            self._workspaces[workspace.name] = text
            workspace.status_text_set(text)

    def clear(self, context):
        """Take the texts away and draw everything once more."""
        for name in self._workspaces.keys() & set(bpy.data.workspaces.keys()):
            bpy.data.workspaces[name].status_text_set(None)
        _tag(context, True, True)

    def _may_draw_views(self, now):
        """A slow viewport gets a share of the time, so that the rest of the interface stays quick."""
        if self._left is not None and self._left[1]:
            cost = now - self._left[0] - self.tick
            self._due = now + VIEW_SHARE * max(0.0, cost)
            self._left = now, False
        return now >= self._due


def _tag(context, views, locks):
    """Draw anew the sidebars; with ``views`` the viewports, with ``locks`` the panels that a bake locks."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions:
                viewport = area.type == "VIEW_3D" and (region.type == "UI" or (views and region.type == "WINDOW"))
                if viewport or (locks and area.type == "PROPERTIES" and region.type == "WINDOW"):
                    region.tag_redraw()


def _over_axion_tab(context, event):
    """Whether the mouse is over the sidebar's tab with the Cancel button."""
    for area in context.screen.areas if context.screen is not None else ():
        for region in area.regions:
            inside = region.x <= event.mouse_x < region.x + region.width
            inside = inside and region.y <= event.mouse_y < region.y + region.height
            if inside and area.type == "VIEW_3D" and region.type == "UI":
                return region.active_panel_category == "Axion"
    return False
