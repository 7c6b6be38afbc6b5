# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators that gizmos start have in common: they follow the mouse, one undo step each."""

from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d


class Drag:
    """Mixed into an operator that has ``follow(context, event)``, ``take_back(context)`` and ``describe(context)``."""

    def begin(self, context):
        """To be returned by ``invoke``."""
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type in ("ESC", "RIGHTMOUSE"):
            self.take_back(context)
            context.area.header_text_set(None)
            return {"CANCELLED"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            context.area.header_text_set(None)
            return {"FINISHED"}
        if event.type == "MOUSEMOVE" and self.follow(context, event):
            context.area.header_text_set(self.describe(context))
        return {"RUNNING_MODAL"}


def ray(context, event):
    """(origin, direction) of the line of sight below the mouse."""
    view = context.region, context.region_data, (event.mouse_region_x, event.mouse_region_y)
    return region_2d_to_origin_3d(*view), region_2d_to_vector_3d(*view)
