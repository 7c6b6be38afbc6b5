# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Axion" of the 3D viewport: the way from objects to a bake one can trust, from top to bottom.

    Set Up    bodies, materials, joints
    Check     everything that stands in the way of a bake
    Bake      settings, bake, clear; the cache
    Report    how well the last bake kept the laws

``bl_order`` leaves room: what another file adds to a step names that step as its parent.
"""

import bpy

from .. import baking
from ..properties.joint import is_joint
from .bake import draw_bake, lock
from .report import draw_report
from .scene import PARTS
from .texts import note, wrapped

ROWS = 4
"""Lines that a list shows before it scrolls."""


class SidebarPanel:
    """Where the panels stand."""

    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Axion"


class AXION_PT_sidebar(SidebarPanel, bpy.types.Panel):
    """Bodies, and what they are made of."""

    bl_label, bl_order = "Set Up", 0

    def draw(self, context):
        layout = self.layout
        lock(layout)
        column = layout.column(align=True)
        row = column.row(align=True)
        row.operator("axion.add_bodies", text="Add Active").type = "ACTIVE"
        row.operator("axion.add_bodies", text="Add Passive").type = "PASSIVE"
        column.operator("axion.remove_bodies", text="Remove")
        column = layout.column(align=True)
        column.operator_menu_enum("axion.change_shape", "type", text="Change Shape")
        column.operator_menu_enum("axion.apply_material", "material", text="Material")
        column.operator("axion.calculate_mass")
        column.operator("axion.copy_settings", text="Copy from Active")
        if context.scene.rigidbody_world is not None:
            layout.operator("axion.convert_native")


class AXION_PT_sidebar_joints(SidebarPanel, bpy.types.Panel):
    """Joints, and the list of those there are."""

    bl_label, bl_parent_id = "Joints", "AXION_PT_sidebar"

    def draw(self, context):
        layout, scene = self.layout, context.scene
        session = context.window_manager.axion
        column = layout.column()
        lock(column)
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(session, "joint_type")
        column.prop(session, "joint_pivot")
        column.prop(session, "joint_orientation")
        column = layout.column(align=True)
        lock(column)
        for made in (
            column.operator("axion.add_joint"),
            column.operator_menu_enum("axion.connect_selected", "connection_pattern", text="Connect Selected"),
        ):
            made.type, made.pivot_type = session.joint_type, session.joint_pivot
            made.orientation = session.joint_orientation
        if any(is_joint(item) for item in scene.objects):
            layout.template_list("AXION_UL_joints", "", scene, "objects", session, "joint_index", rows=ROWS)


class AXION_PT_sidebar_check(SidebarPanel, bpy.types.Panel):
    """Problems, each with its object."""

    bl_label, bl_order = "Check", 10

    def draw(self, context):
        layout, session = self.layout, context.window_manager.axion
        layout.operator("axion.check_scene", icon="VIEWZOOM")
        if session.checked != context.scene.session_uid:
            return
        if len(session.findings) == 0:
            layout.label(text="Nothing was found", icon="CHECKMARK")
            return
        layout.template_list(
            "AXION_UL_findings",
            "",
            session,
            "findings",
            session,
            "finding_index",
            rows=min(ROWS, len(session.findings)),
        )
        if session.finding_index < len(session.findings):
            found = session.findings[session.finding_index]
            note(layout.box(), context, found.text, found.kind, alert=found.kind == "ERROR")


class AXION_PT_sidebar_bake(SidebarPanel, bpy.types.Panel):
    """Bake and clear."""

    bl_label, bl_order = "Bake", 20

    def draw(self, context):
        draw_bake(self.layout, context)


class AXION_PT_sidebar_settings(SidebarPanel, bpy.types.Panel):
    """The same as in the Scene tab."""

    bl_label, bl_parent_id, bl_options = "Settings", "AXION_PT_sidebar_bake", {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        lock(layout)
        layout.use_property_split, layout.use_property_decorate = True, False
        for part in PARTS:
            part(layout, context.scene.axion)


class AXION_PT_sidebar_report(SidebarPanel, bpy.types.Panel):
    """How well the last bake kept the laws."""

    bl_label, bl_order = "Report", 30

    def draw(self, context):
        if baking.SUMMARY not in context.scene:
            self.layout.label(text="Nothing is baked yet")
            return
        draw_report(self.layout, context, wrapped)


CLASSES = (
    AXION_PT_sidebar,
    AXION_PT_sidebar_joints,
    AXION_PT_sidebar_check,
    AXION_PT_sidebar_bake,
    AXION_PT_sidebar_settings,
    AXION_PT_sidebar_report,
)
