# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a joint's limit in the viewport: what the gizmos start, one undo step each."""

import bpy
from bpy.props import FloatProperty, StringProperty

from .. import limit_handles, physics_strokes
from .dragging import Drag, ray
from .session import in_object_mode


class AXION_OT_drag_limit(Drag, bpy.types.Operator):
    """Set one end of a joint's range; interactively, by the mouse."""

    bl_idname = "axion.drag_limit"
    bl_label = "Joint Limit"
    bl_description = "Drag the limit of a joint; Ctrl snaps, Esc puts it back"
    bl_options = {"REGISTER", "UNDO"}

    limit: StringProperty(name="Limit", description="Property of the limit, such as limit_ang_z_upper")
    value: FloatProperty(name="Value", description="New value of the limit, in radians or Blender units", precision=3)

    @classmethod
    def poll(cls, context):
        if not in_object_mode(cls, context):
            return False
        if context.object is None or not context.object.axion_joint.enabled:
            cls.poll_message_set("The active object is no Axion joint")
            return False
        return True

    def execute(self, context):
        settings = context.object.axion_joint
        if not self._known(settings):
            return {"CANCELLED"}
        other = getattr(settings, limit_handles.other_end(self.limit))
        self.value = limit_handles.allowed(self.limit, self.value, other)
        setattr(settings, self.limit, self.value)
        return {"FINISHED"}

    def invoke(self, context, event):
        settings = context.object.axion_joint
        if not self._known(settings):
            return {"CANCELLED"}
        self._before = self.value = getattr(settings, self.limit)
        self._pose = physics_strokes.pose_now(context.scene, context.object)
        at = self._pointed(context, event)
        self._offset = 0.0 if at is None else self._before - at  # the handle does not jump to the mouse
        return self.begin(context)

    def follow(self, context, event):
        at = self._pointed(context, event)
        if at is None:
            return False
        value = at + self._offset
        self.value = limit_handles.snapped(self.limit, value) if event.ctrl else value
        self.execute(context)
        return True

    def take_back(self, context):
        setattr(context.object.axion_joint, self.limit, self._before)

    def _known(self, settings):
        if self.limit in settings.bl_rna.properties and self.limit.startswith(("limit_lin_", "limit_ang_")):
            return True
        self.report({"ERROR"}, f"{self.limit!r} is no limit of a joint: give one such as limit_ang_z_upper")
        return False

    def _pointed(self, context, event):
        return limit_handles.value_at(self.limit, ray(context, event), *self._pose, self.value)

    def describe(self, context):
        label = context.object.axion_joint.bl_rna.properties[self.limit].name
        linear = limit_handles.axis_of(self.limit)[1]
        kind, units = ("LENGTH", context.scene.unit_settings) if linear else ("ROTATION", context.scene.unit_settings)
        return f"{label}: {bpy.utils.units.to_string(units.system, kind, self.value, precision=3)}"


CLASSES = (AXION_OT_drag_limit,)
