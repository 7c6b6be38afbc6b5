# SPDX-License-Identifier: GPL-3.0-or-later
"""The Physics tab: how a body is tied to its animation."""

import bpy

from .physics import BodyPanel


class AXION_PT_body_guide(BodyPanel, bpy.types.Panel):
    """Spring to the animation."""

    bl_label, bl_parent_id, bl_options = "Guide", "AXION_PT_body", {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and context.object.axion.type == "ACTIVE"

    def draw(self, context):
        body, column = context.object.axion, self.column()
        column.prop(body, "use_guide")
        if not body.use_guide:
            return
        for word in ("stiffness", "damping"):
            pair = column.column(align=True)
            pair.prop(body, f"guide_{word}", text=word.title())
            pair.prop(body, f"guide_angular_{word}", text="Angular")
        column.prop(body, "use_guide_limit", text="Limit Force")
        if body.use_guide_limit:
            column.prop(body, "guide_max_force", text="Max Force")
            column.prop(body, "guide_max_torque", text="Max Torque")


CLASSES = (AXION_PT_body_guide,)
