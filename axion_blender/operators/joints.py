# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints between selected bodies: an empty at the pivot, whose axes are those of the joint."""

import bpy
from bpy.props import EnumProperty

from ..properties.joint import TYPES
from .bodies import chosen, count
from .session import in_object_mode

PIVOTS = (
    ("CENTER", "Center", "Midway between the two bodies"),
    ("ACTIVE", "Active", "At the active body"),
    ("SELECTED", "Selected", "At the other body"),
    ("CURSOR", "3D Cursor", "At the 3D cursor, with its axes"),
)
PATTERNS = (
    ("SELECTED_TO_ACTIVE", "Selected to Active", "Join each selected body to the active one"),
    (
        "CHAIN_DISTANCE",
        "Chain by Distance",
        "Join the bodies in a chain, each to the nearest one that is not in it yet",
    ),
)


class AXION_OT_add_joint(bpy.types.Operator):
    """Join the two selected bodies, or one body to the world, by a new empty."""

    bl_idname = "axion.add_joint"
    bl_label = "Add Joint"
    bl_description = "Join the two selected bodies, or one body to the world, by a new empty"
    bl_options = {"REGISTER", "UNDO"}

    type: EnumProperty(name="Type", description="Which movements the joint allows", items=TYPES, default="HINGE")
    pivot_type: EnumProperty(name="Location", description="Where the joint is", items=PIVOTS, default="CENTER")

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        bodies = [item for item in selected_last_active(context) if item.axion.enabled]
        if len(bodies) not in (1, 2):
            text = (
                f"No joint was added: {count(bodies, 'body is', 'bodies are')} selected; select two, or one to hold it"
            )
            self.report({"ERROR"}, f"{text} to the world")
            return {"CANCELLED"}
        first, second = bodies if len(bodies) == 2 else (None, bodies[0])
        joint = join(context, self.type, first, second, self.pivot_type)
        for item in context.selected_objects:
            item.select_set(False)
        joint.select_set(True)
        context.view_layer.objects.active = joint
        self.report({"INFO"}, f"{joint.name} joins {first.name if first else 'the world'} and {second.name}")
        return {"FINISHED"}


class AXION_OT_connect_selected(bpy.types.Operator):
    """Join the selected bodies pairwise."""

    bl_idname = "axion.connect_selected"
    bl_label = "Connect Selected"
    bl_description = "Join the selected bodies pairwise"
    bl_options = {"REGISTER", "UNDO"}

    type: EnumProperty(name="Type", description="Which movements the joints allow", items=TYPES, default="FIXED")
    pivot_type: EnumProperty(name="Location", description="Where the joints are", items=PIVOTS[:3], default="CENTER")
    connection_pattern: EnumProperty(
        name="Pattern", description="Which bodies are joined", items=PATTERNS, default="SELECTED_TO_ACTIVE"
    )

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        bodies = [item for item in selected_last_active(context) if item.axion.enabled]
        if len(bodies) < 2:
            selected = count(bodies, "body is", "bodies are")
            self.report({"ERROR"}, f"Nothing was joined: {selected} selected, and two are needed")
            return {"CANCELLED"}
        active = bodies[-1]
        if self.connection_pattern == "CHAIN_DISTANCE":
            pairs = chain(bodies)
        elif context.active_object != active:
            self.report({"ERROR"}, "Nothing was joined: make the body active that the others are to be joined to")
            return {"CANCELLED"}
        else:
            pairs = [(item, active) for item in bodies[:-1]]
        joints = [join(context, self.type, first, second, self.pivot_type) for first, second in pairs]
        self.report({"INFO"}, f"{count(joints, 'joint', 'joints')} added")
        return {"FINISHED"}


class AXION_OT_remove_joints(bpy.types.Operator):
    """Take the selected joints out of the Axion simulation; their objects and settings stay."""

    bl_idname = "axion.remove_joints"
    bl_label = "Remove Joints"
    bl_description = "Take the selected joints out of the Axion simulation; their objects and settings stay"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        items = [item for item in chosen(context) if item.axion_joint.enabled and item.is_editable]
        if not items:
            self.report({"ERROR"}, "No joint was removed: none of the selected objects is an Axion joint")
            return {"CANCELLED"}
        for item in items:
            item.axion_joint.enabled = False
        self.report({"INFO"}, f"{count(items, 'joint', 'joints')} removed")
        return {"FINISHED"}


class AXION_OT_enable_joint(bpy.types.Operator):
    """Make the active object an Axion joint."""

    bl_idname = "axion.enable_joint"
    bl_label = "Axion Joint"
    bl_description = "Make the active object an Axion joint"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context) and context.active_object is not None and context.active_object.is_editable

    def execute(self, context):
        context.active_object.axion_joint.enabled = True
        return {"FINISHED"}


CLASSES = (
    AXION_OT_add_joint,
    AXION_OT_connect_selected,
    AXION_OT_remove_joints,
    AXION_OT_enable_joint,
)


def selected_last_active(context):
    """The selected objects by name, the active one last."""
    active = context.active_object
    items = sorted((item for item in context.selected_objects if item != active), key=lambda item: item.name)
    return [*items, active] if active is not None and active.select_get() else items


def join(context, kind, first, second, pivot):
    """A new empty that joins two bodies (``first`` may be None: the world).  Returns it."""
    place, turn = second.matrix_world.translation.copy(), None
    if pivot == "CURSOR":
        cursor = context.scene.cursor.matrix
        place, turn = cursor.translation.copy(), cursor.to_quaternion()
    elif first is not None and pivot == "CENTER":
        place = (first.matrix_world.translation + place) / 2
    elif first is not None and pivot == "SELECTED":
        place = first.matrix_world.translation.copy()
    item = bpy.data.objects.new(f"{kind.replace('_', ' ').capitalize()} Joint", None)
    context.collection.objects.link(item)
    item.empty_display_type, item.empty_display_size = "ARROWS", 0.25 * max(*second.dimensions, 0.04)
    item.location = place
    if turn is not None:
        item.rotation_euler = turn.to_euler()
    joint = item.axion_joint
    joint.enabled, joint.type = True, kind
    joint.object1, joint.object2 = first, second
    return item


def chain(bodies):
    """Pairs of a chain that begins at the last body and goes on to the nearest one left, again and again."""
    left, pairs = list(bodies[:-1]), []
    end = bodies[-1]
    while left:
        here = end.matrix_world.translation
        following = min(left, key=lambda item: ((item.matrix_world.translation - here).length, item.name))
        left.remove(following)
        pairs.append((end, following))
        end = following
    return pairs
