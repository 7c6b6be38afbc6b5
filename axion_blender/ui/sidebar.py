# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Axion" of the 3D viewport: the way from objects to a checked bake, from top to bottom."""

import textwrap

import bpy

from .. import baking, report
from .bake import draw_bake, lock
from .scene import draw_settings

SHOWN = 8
"""Problems listed; the console and the info log have all of them."""


LETTER = 7.5
"""Mean width of a letter in the interface font at scale 1 [pixels]."""


def wrapped(text, context):
    """Lines of ``text`` that fit the sidebar's width."""
    width = context.region.width / context.preferences.system.ui_scale if context.region is not None else 300.0
    return textwrap.wrap(text, max(20, int((width - 60.0) / LETTER)))


class SidebarPanel:
    """Where the panels stand."""

    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Axion"


class AXION_PT_sidebar(SidebarPanel, bpy.types.Panel):
    """Bodies, joints, check, bake."""

    bl_label = "Axion"

    def draw(self, context):
        layout, session = self.layout, context.window_manager.axion
        column = layout.column()
        lock(column)
        row = column.row(align=True)
        row.operator("axion.add_bodies", text="Add Active").type = "ACTIVE"
        row.operator("axion.add_bodies", text="Add Passive").type = "PASSIVE"
        column.operator_menu_enum("axion.add_joint", "type", text="Add Joint")
        column.operator("axion.connect_selected")
        column.operator("axion.copy_settings")
        column.operator("axion.remove_bodies")
        if context.scene.rigidbody_world is not None:
            column.operator("axion.convert_native")
        column.separator()
        column.operator("axion.check_scene")
        problems = session.problems.splitlines()
        for problem in problems[:SHOWN]:
            column = layout.column(align=True)
            column.alert = True
            for number, line in enumerate(wrapped(problem, context)):
                column.label(text=line, icon="BLANK1" if number else "ERROR")
        if len(problems) > SHOWN:
            layout.label(text=f"and {len(problems) - SHOWN} more")
        draw_bake(layout, context)


class AXION_PT_sidebar_report(SidebarPanel, bpy.types.Panel):
    """How well the last bake kept the laws."""

    bl_label, bl_parent_id = "Last Bake", "AXION_PT_sidebar"

    @classmethod
    def poll(cls, context):
        return baking.SUMMARY in context.scene

    def draw(self, context):
        column = self.layout.column()
        summary = baking.last_summary(context.scene)
        column.alert = bool(summary["missed"])
        for line in report.summary_lines(summary):
            for part in wrapped(line, context):
                column.label(text=part)


class AXION_PT_sidebar_settings(SidebarPanel, bpy.types.Panel):
    """The same as in the Scene tab."""

    bl_label, bl_parent_id, bl_options = "Settings", "AXION_PT_sidebar", {"DEFAULT_CLOSED"}

    def draw(self, context):
        lock(self.layout)
        draw_settings(self.layout, context.scene.axion)


CLASSES = (AXION_PT_sidebar, AXION_PT_sidebar_report, AXION_PT_sidebar_settings)
