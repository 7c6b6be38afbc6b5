# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated mouse for Blender's window: it finds a button by what it would do, not by where it was once drawn.

Blender must run with ``--enable-event-simulate``.  Methods are generators for ``blender_window.play``.
"""

STEP = 9
"""Pixels between two places where a button is looked for; half the height of one."""
PAUSE = 0.04
"""Seconds that Blender gets to see where the mouse is."""


class Mouse:
    """Over one area of a window."""

    def __init__(self, window, area):
        self.window, self.area = window, area

    def region(self, kind):
        """The area's region of that type."""
        return next(region for region in self.area.regions if region.type == kind)

    def move(self, x, y, **keys):
        """Go there, in pixels of the window."""
        for at in (int(x) - 1, int(x)):
            self.window.event_simulate("MOUSEMOVE", "NOTHING", x=at, y=int(y), **keys)
            yield PAUSE

    def click(self, x, y, button="LEFTMOUSE", **keys):
        """Press and release there."""
        yield from self.move(x, y, **keys)
        for value in ("PRESS", "RELEASE"):
            self.window.event_simulate(button, value, x=int(x), y=int(y), **keys)
            yield PAUSE
        yield 4 * PAUSE

    def click_at(self, point, **keys):
        """Click a point of the 3D scene."""
        from bpy_extras.view3d_utils import location_3d_to_region_2d

        region = self.region("WINDOW")
        place = location_3d_to_region_2d(region, self.area.spaces.active.region_3d, point)
        yield from self.click(region.x + place.x, region.y + place.y, **keys)

    def drag(self, button, start, end, **keys):
        """Press at ``start``, release at ``end``; pixels of the 3D viewport."""
        region = self.region("WINDOW")
        (x, y), (u, v) = ((int(region.x + px), int(region.y + py)) for px, py in (start, end))
        yield from self.move(x, y, **keys)
        self.window.event_simulate(button, "PRESS", x=x, y=y, **keys)
        for n in range(1, 9):
            yield PAUSE
            self.window.event_simulate("MOUSEMOVE", "NOTHING", x=x + (u - x) * n // 8, y=y + (v - y) * n // 8, **keys)
        yield PAUSE
        self.window.event_simulate(button, "RELEASE", x=u, y=v, **keys)
        yield PAUSE

    def find(self, command):
        """Look through the sidebar for the button that runs ``bpy.ops.<command>``; returns its place (x, y)."""
        region, seen = self.region("UI"), []
        for share in (0.3, 0.7, 0.82):  # buttons may share a row
            x = region.x + int(share * region.width)
            for y in range(region.y + region.height - STEP, region.y, -STEP):
                yield from self.move(x, y)
                found = self.command()
                seen += [found] * (found not in seen)
                if found.startswith(f"bpy.ops.{command}"):
                    return x, y - STEP // 2
        raise AssertionError(f"the sidebar has no button for {command}; it has {', '.join(filter(None, seen))}")

    def press(self, command):
        """Click the button that runs ``bpy.ops.<command>``."""
        yield from self.click(*(yield from self.find(command)))
        yield 0.3

    def command(self):
        """The Python command of the button under the mouse, or an empty text."""
        import bpy

        manager = bpy.context.window_manager
        manager.clipboard = ""
        with bpy.context.temp_override(window=self.window, area=self.area, region=self.region("UI")):
            if bpy.ops.ui.copy_python_command_button.poll():
                bpy.ops.ui.copy_python_command_button()
        return manager.clipboard
