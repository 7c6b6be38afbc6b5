# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of the sidebar: the scene's joints, and what a check found.  A click on a line selects the object."""

import bpy

from ..properties.joint import is_joint
from .bake import lock
from .joint import amiss


class AXION_UL_joints(bpy.types.UIList):
    """Joints of the scene, sorted by name."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index):
        joint = item.axion_joint
        row = layout.row(align=True)
        row.active = joint.enabled
        row.label(text=item.name, icon="RIGID_BODY_CONSTRAINT", translate=False)
        if amiss(joint):
            row.label(text="", icon="ERROR")
        switch = layout.row()
        lock(switch)
        switch.prop(joint, "enabled", text="", icon="CHECKBOX_HLT" if joint.enabled else "CHECKBOX_DEHLT", emboss=False)

    def filter_items(self, context, data, property):
        return filtered(getattr(data, property), self.filter_name, self.bitflag_filter_item)


def filtered(items, wanted, flag):
    """What Blender wants of a list: for each object ``flag`` or 0, and its place in the order of names."""
    shown = [flag if is_joint(item) and wanted.lower() in item.name.lower() else 0 for item in items]
    return shown, bpy.types.UI_UL_list.sort_items_by_name(items, "name")


class AXION_UL_findings(bpy.types.UIList):
    """What the last check found."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index):
        layout.label(text=item.text, icon=item.kind, translate=False)


CLASSES = (AXION_UL_joints, AXION_UL_findings)
