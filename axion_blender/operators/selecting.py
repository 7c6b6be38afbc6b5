# SPDX-License-Identifier: GPL-3.0-or-later
"""Select an object by its name, as lists and reports do when they are clicked."""

import bpy
from bpy.props import BoolProperty, StringProperty

from .session import may_select, select


class AXION_OT_select_object(bpy.types.Operator):
    """Select one object and make it active."""

    bl_idname = "axion.select_object"
    bl_label = "Select Object"
    bl_description = "Select the object that a list or a report speaks of, and make it active"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name", description="Name of the object to select")
    extend: BoolProperty(name="Extend", description="Keep what is selected already", default=False)

    @classmethod
    def poll(cls, context):
        return may_select(cls, context)

    def execute(self, context):
        why_not = select(context, self.name, self.extend)
        if why_not:
            self.report({"ERROR"}, why_not)
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (AXION_OT_select_object,)
