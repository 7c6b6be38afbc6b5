# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints between selected bodies: an empty at the pivot, whose axes are those of the joint."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..properties.joint import TYPES, is_joint
from .bodies import chosen, count
from .pairs import PATTERNS, pairs
from .placing import ORIENTATIONS, PIVOTS, NoPlaceError, place
from .session import has_active, in_object_mode


class AXION_OT_add_joint(bpy.types.Operator):
    """Join the two selected bodies, or one body to the world, by a new empty."""

    bl_idname = "axion.add_joint"
    bl_label = "Add Joint"
    bl_description = (
        "Join the two selected bodies, or one body to the world, by a new empty whose place and axes are the joint's"
    )
    bl_options = {"REGISTER", "UNDO"}

    type: EnumProperty(name="Type", description="Which movements the joint allows", items=TYPES, default="HINGE")
    pivot_type: EnumProperty(name="Location", description="Where the joint is", items=PIVOTS, default="CENTER")
    orientation: EnumProperty(
        name="Orientation",
        description="How the joint's axes lie: a hinge turns about Z, a slider slides along X",
        items=ORIENTATIONS,
        default="LOCATION",
    )

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
        try:
            frame = place(context, self.pivot_type, self.orientation, first, second)
        except NoPlaceError as error:
            self.report({"ERROR"}, f"No joint was added: {error}")
            return {"CANCELLED"}
        joint = join(context, self.type, first, second, frame)
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
    bl_description = (
        "Join the selected bodies pairwise by new empties: to the active one, in a chain, to neighbors or to parents"
    )
    bl_options = {"REGISTER", "UNDO"}

    type: EnumProperty(name="Type", description="Which movements the joints allow", items=TYPES, default="FIXED")
    pivot_type: EnumProperty(name="Location", description="Where the joints are", items=PIVOTS, default="CENTER")
    connection_pattern: EnumProperty(
        name="Connection Pattern", description="Which bodies are joined", items=PATTERNS, default="SELECTED_TO_ACTIVE"
    )
    orientation: EnumProperty(
        name="Orientation",
        description="How the joints' axes lie: a hinge turns about Z, a slider slides along X",
        items=ORIENTATIONS,
        default="LOCATION",
    )
    neighbors: IntProperty(
        name="Neighbors",
        description="How many bodies each one is joined to by the pattern Nearest",
        default=1,
        min=1,
        soft_max=12,
    )
    max_distance: FloatProperty(
        name="Max Distance",
        description="Distance between the middles of bodies up to which the pattern Nearest joins them (0 for any)",
        default=0.0,
        min=0.0,
        unit="LENGTH",
    )
    skip_joined: BoolProperty(
        name="Skip Joined", description="Leave out bodies that a joint joins already", default=True
    )

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        for name in ("type", "pivot_type", "connection_pattern", "orientation"):
            layout.prop(self, name)
        if self.connection_pattern == "NEAREST":
            layout.prop(self, "neighbors")
            layout.prop(self, "max_distance")
        layout.prop(self, "skip_joined")

    def execute(self, context):
        bodies = [item for item in selected_last_active(context) if item.axion.enabled]
        if len(bodies) < 2:
            selected = count(bodies, "body is", "bodies are")
            self.report({"ERROR"}, f"Nothing was joined: {selected} selected, and two are needed")
            return {"CANCELLED"}
        if self.connection_pattern == "SELECTED_TO_ACTIVE" and context.active_object != bodies[-1]:
            self.report({"ERROR"}, "Nothing was joined: make the body active that the others are to be joined to")
            return {"CANCELLED"}
        found = pairs(self.connection_pattern, bodies, self.neighbors, self.max_distance)
        left = found
        if self.skip_joined:
            joined = joined_pairs(context.scene)
            left = [pair for pair in found if frozenset(pair) not in joined]
        try:
            frames = [place(context, self.pivot_type, self.orientation, *pair) for pair in left]
        except NoPlaceError as error:
            self.report({"ERROR"}, f"Nothing was joined: {error}")
            return {"CANCELLED"}
        if not left:
            why = f"{count(found, 'pair is', 'pairs are')} joined already" if found else "the pattern finds no pair"
            self.report({"ERROR"}, f"Nothing was joined: {why}")
            return {"CANCELLED"}
        for (first, second), frame in zip(left, frames, strict=True):
            join(context, self.type, first, second, frame)
        self.report({"INFO"}, f"{count(left, 'joint', 'joints')} added")
        return {"FINISHED"}


class AXION_OT_remove_joints(bpy.types.Operator):
    """Make plain objects of the selected joints; their other settings stay."""

    bl_idname = "axion.remove_joints"
    bl_label = "Remove Joints"
    bl_description = (
        "Make plain objects of the selected joints: they forget which bodies they join and keep their other settings"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return in_object_mode(cls, context)

    def execute(self, context):
        items = [item for item in chosen(context) if is_joint(item) and item.is_editable]
        if not items:
            self.report({"ERROR"}, "No joint was removed: none of the selected objects is an Axion joint")
            return {"CANCELLED"}
        for item in items:
            joint = item.axion_joint
            joint.enabled, joint.object1, joint.object2 = False, None, None
        self.report({"INFO"}, f"{count(items, 'joint', 'joints')} removed")
        return {"FINISHED"}


class AXION_OT_enable_joint(bpy.types.Operator):
    """Make the active object an Axion joint."""

    bl_idname = "axion.enable_joint"
    bl_label = "Axion Joint"
    bl_description = "Make the active object an Axion joint: its place and axes become those of the joint"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not (in_object_mode(cls, context) and has_active(cls, context)):
            return False
        if not context.active_object.is_editable:
            cls.poll_message_set(
                f"{context.active_object.name} is linked from another file: make a library override of it"
            )
            return False
        return True

    def execute(self, context):
        context.active_object.axion_joint.enabled = True
        self.report({"INFO"}, f"{context.active_object.name} is a joint: choose the two objects that it joins")
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


def join(context, kind, first, second, frame):
    """A new empty at frame (location, rotation) that joins ``first`` (None: the world) and ``second``.  Returns it."""
    item = bpy.data.objects.new(f"{kind.replace('_', ' ').capitalize()} Joint", None)
    # What is linked from another file takes no new objects.
    collection = context.collection if context.collection.is_editable else context.scene.collection
    collection.objects.link(item)
    item.empty_display_type, item.empty_display_size = "ARROWS", 0.25 * max(*second.dimensions, 0.04)
    item.location, item.rotation_euler = frame[0], frame[1].to_euler()
    joint = item.axion_joint
    joint.enabled, joint.type = True, kind
    joint.object1, joint.object2 = first, second
    return item


def joined_pairs(scene):
    """Pairs of objects, as frozensets, that a joint of the scene joins."""
    joints = (item.axion_joint for item in scene.objects if item.axion_joint.enabled)
    return {frozenset((joint.object1, joint.object2)) for joint in joints}
