# SPDX-License-Identifier: GPL-3.0-or-later
"""Sidebar: what the conversion of Blender's own rigid bodies carried, and what not.  A click selects the object."""

from functools import partial

import bpy

from ..native import store
from .sidebar import SidebarPanel
from .texts import note

MANY = 6
"""Lines that the list shows before it scrolls."""
GROUPS = {"BODY": "RigidBodyObject", "JOINT": "RigidBodyConstraint", "WORLD": "RigidBodyWorld"}
ICONS = {"CARRIED": "CHECKMARK", "CHANGED": "INFO", "LOST": "ERROR"}


def spoken(kind, settings):
    """Settings, "mass, friction", as Blender's panels call them.  kind: "BODY", "JOINT" or "WORLD"."""
    return ", ".join(map(partial(_label, kind), settings.split(", ")))


def _label(kind, name):
    definition = getattr(bpy.types, GROUPS[kind]).bl_rna.properties.get(name)
    return name.replace("_", " ").title() if definition is None else definition.name


class AXION_UL_native_rows(bpy.types.UIList):
    """Lines of the report; what was carried is left out unless asked for."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index):
        words = "carried" if item.status == "CARRIED" else spoken(item.kind, item.settings)
        layout.label(text=f"{item.name}: {words}", icon=ICONS[item.status])

    def filter_items(self, context, data, property_name):
        rows = getattr(data, property_name)
        shown = [self.bitflag_filter_item] * len(rows)
        if self.filter_name:
            helpers = bpy.types.UI_UL_list
            shown = helpers.filter_items_by_name(self.filter_name, self.bitflag_filter_item, rows, "name") or shown
        if not data.show_carried:
            shown = [flag if row.status != "CARRIED" else 0 for flag, row in zip(shown, rows, strict=True)]
        return shown, []


class AXION_PT_sidebar_native(SidebarPanel, bpy.types.Panel):
    """The report of the last conversion."""

    bl_label, bl_parent_id = "Conversion Report", "AXION_PT_sidebar"

    @classmethod
    def poll(cls, context):
        return len(context.scene.axion_native.rows) > 0

    def draw(self, context):
        layout, kept = self.layout, context.scene.axion_native
        row = layout.row()
        row.label(text=f"Bodies {kept.bodies}, joints {kept.joints}, remarks {store.missing(context.scene)}")
        row.operator("axion.clear_conversion_report", text="", icon="X")
        layout.prop(kept, "show_carried", text="Show What Was Carried")
        layout.template_list("AXION_UL_native_rows", "", kept, "rows", kept, "active_index", rows=MANY)
        if not 0 <= kept.active_index < len(kept.rows):
            return
        shown = kept.rows[kept.active_index]
        if shown.status != "CARRIED":
            texts = [shown.sentence]
        elif kept.show_carried:
            texts = [f"{word}: {spoken(shown.kind, names)}" for word, names in _parts(shown) if names]
        else:
            return
        for text in texts:
            note(layout, context, text)


def _parts(row):
    return ("Carried", row.settings), ("Without effect, or not needed", row.needless)


CLASSES = (AXION_UL_native_rows, AXION_PT_sidebar_native)
