# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn objects into bodies and back, and copy a body's settings."""

import bpy
from bpy.props import EnumProperty

from ..properties.body import SHAPES, TYPES
from .session import has_active, in_object_mode

SHAPED = {"MESH", "CURVE", "SURFACE", "META", "FONT"}
"""Object types that have a surface; of an empty only a compound can be made, by hand."""


class AXION_OT_add_bodies(bpy.types.Operator):
    """Make the selected objects Axion rigid bodies."""

    bl_idname = "axion.add_bodies"
    bl_label = "Add Bodies"
    bl_description = (
        "Make the selected objects Axion rigid bodies; active ones get the convex hull as shape, passive ones the mesh"
    )
    bl_options = {"REGISTER", "UNDO"}

    type: EnumProperty(name="Type", description="Who moves the objects", items=TYPES, default="ACTIVE")

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        items = [item for item in chosen(context) if item.type in SHAPED and item.is_editable]
        if not items:
            self.report({"ERROR"}, "No body was added: select objects that have a surface and are not linked")
            return {"CANCELLED"}
        for item in items:
            body = item.axion
            if not body.enabled:
                # As Blender's own: what stands may be concave, what moves gets the hull.
                body.collision_shape = "MESH" if self.type == "PASSIVE" else "CONVEX_HULL"
            body.enabled, body.type = True, self.type
        self.report({"INFO"}, f"{count(items, 'body', 'bodies')} {self.type.lower()}")
        return {"FINISHED"}


class OnBodies:
    """Mixed into an operator that has ``change(item)`` for each selected body, and the words to tell of it.

    refusal: what was not done where none is selected.  ``told()``: what follows the number of bodies.
    """

    refusal = ""

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        items = editable_bodies(context)
        if not items:
            self.report({"ERROR"}, f"{self.refusal}: none of the selected objects is an Axion body")
            return {"CANCELLED"}
        for item in items:
            self.change(item)
        self.report({"INFO"}, f"{count(items, 'body', 'bodies')} {self.told()}")
        return {"FINISHED"}


class AXION_OT_remove_bodies(OnBodies, bpy.types.Operator):
    """Take the selected objects out of the Axion simulation; their settings stay."""

    bl_idname = "axion.remove_bodies"
    bl_label = "Remove Bodies"
    bl_description = "Take the selected objects out of the Axion simulation; their settings stay"
    bl_options = {"REGISTER", "UNDO"}
    refusal = "No body was removed"

    def change(self, item):
        item.axion.enabled = False

    def told(self):
        return "removed"


class AXION_OT_change_shape(OnBodies, bpy.types.Operator):
    """Change the collision shapes of the selected bodies."""

    bl_idname = "axion.change_shape"
    bl_label = "Change Shape"
    bl_description = "Give all selected bodies one kind of collision shape"
    bl_options = {"REGISTER", "UNDO"}
    refusal = "No shape was changed"

    type: EnumProperty(name="Shape", description="Collision shape of the bodies", items=SHAPES, default="CONVEX_HULL")

    def change(self, item):
        item.axion.collision_shape = self.type

    def told(self):
        return f"with the shape {next(entry[1] for entry in SHAPES if entry[0] == self.type)}"


class AXION_OT_copy_settings(bpy.types.Operator):
    """Copy the active object's body settings to the other selected objects."""

    bl_idname = "axion.copy_settings"
    bl_label = "Copy Settings to Selected"
    bl_description = (
        "Copy all Axion settings of the active object to the other selected ones; "
        "what a joint joins stays, and objects that are no bodies yet become bodies"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context) and has_active(cls, context)

    def execute(self, context):
        source = context.active_object
        kind = "axion_joint" if source.axion_joint.enabled and not source.axion.enabled else "axion"
        if not getattr(source, kind).enabled:
            self.report({"ERROR"}, f"{source.name} is neither a body nor a joint: make the one to copy from active")
            return {"CANCELLED"}
        items = [item for item in context.selected_objects if item != source and item.is_editable]
        if kind == "axion":
            items = [item for item in items if item.type in SHAPED]
        else:
            items = [item for item in items if item.axion_joint.enabled]
        if not items:
            self.report({"ERROR"}, f"No settings were copied: besides {source.name} nothing fitting is selected")
            return {"CANCELLED"}
        for item in items:
            copy_group(getattr(source, kind), getattr(item, kind), skip=("object1", "object2"))
        self.report({"INFO"}, f"Settings of {source.name} copied to {count(items, 'object', 'objects')}")
        return {"FINISHED"}


CLASSES = (AXION_OT_add_bodies, AXION_OT_remove_bodies, AXION_OT_change_shape, AXION_OT_copy_settings)


def chosen(context):
    """The selected objects, or the active one if nothing is selected."""
    return list(context.selected_objects) or [item for item in (context.active_object,) if item is not None]


def editable_bodies(context):
    """The selected bodies that can be changed."""
    return [item for item in chosen(context) if item.axion.enabled and item.is_editable]


def copy_group(source, target, skip=()):
    """Copy every property of one group to another of the same type."""
    for definition in source.bl_rna.properties:
        name = definition.identifier
        if not definition.is_readonly and name != "name" and name not in skip:
            setattr(target, name, getattr(source, name))


def count(items, one, many):
    """Number and noun, like 1 body, 2 bodies."""
    return f"{len(items)} {one if len(items) == 1 else many}"
