# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging an anchor of a distance joint or rope in the viewport."""

import bpy
from bpy.props import EnumProperty, FloatVectorProperty
from bpy_extras.view3d_utils import region_2d_to_location_3d
from mathutils import Vector

from .. import limit_handles, physics_strokes
from .dragging import Drag
from .session import in_object_mode

ENDS = (("FIRST", "First", "The anchor on object 1"), ("SECOND", "Second", "The anchor on object 2"))


class AXION_OT_drag_anchor(Drag, bpy.types.Operator):
    """Set where a distance joint or rope is tied to one of its objects; interactively, by the mouse."""

    bl_idname = "axion.drag_anchor"
    bl_label = "Anchor"
    bl_description = "Drag the anchor of a distance joint or rope; Ctrl snaps, Esc puts it back"
    bl_options = {"REGISTER", "UNDO"}

    end: EnumProperty(name="End", description="Which of the two anchors", items=ENDS, default="FIRST")
    location: FloatVectorProperty(name="Location", description="New place in the world", subtype="TRANSLATION")

    @classmethod
    def poll(cls, context):
        if not in_object_mode(cls, context):
            return False
        if context.object is None or not physics_strokes.has_anchors(context.object):
            cls.poll_message_set("The active object is no distance joint or rope of Axion")
            return False
        return True

    def execute(self, context):
        settings = context.object.axion_joint
        owner = getattr(settings, f"object{self._number}")
        if owner is None:
            self.report({"ERROR"}, f"{context.object.name} has no object {self._number}: move the joint itself instead")
            return {"CANCELLED"}
        if not owner.matrix_world.determinant():
            self.report({"ERROR"}, f"{owner.name} has a scale of 0, so nothing can be tied to a place on it: mend that")
            return {"CANCELLED"}
        setattr(settings, f"anchor{self._number}", owner.matrix_world.inverted() @ Vector(self.location))
        return {"FINISHED"}

    def invoke(self, context, event):
        self._before = Vector(getattr(context.object.axion_joint, f"anchor{self._number}"))
        self._start = Vector(physics_strokes.anchors(context.object)[self._number - 1])
        self._offset = self._start - self._pointed(context, event)  # the handle does not jump to the mouse
        return self.begin(context)

    @property
    def _number(self):
        return 1 + ("FIRST", "SECOND").index(self.end)

    def _pointed(self, context, event):
        """Where the mouse points at in the plane through the anchor that faces the viewer."""
        spot = event.mouse_region_x, event.mouse_region_y
        return region_2d_to_location_3d(context.region, context.region_data, spot, self._start)

    def follow(self, context, event):
        place = self._pointed(context, event) + self._offset
        if event.ctrl:
            step = limit_handles.SNAP_LENGTH
            place = Vector([step * round(value / step) for value in place])
        self.location = place
        self.execute(context)
        return True

    def take_back(self, context):
        setattr(context.object.axion_joint, f"anchor{self._number}", self._before)

    def describe(self, context):
        units = context.scene.unit_settings
        length = physics_strokes.span(context.object)
        return (
            f"Anchor {self._number}, distance: {bpy.utils.units.to_string(units.system, 'LENGTH', length, precision=3)}"
        )


CLASSES = (AXION_OT_drag_anchor,)
