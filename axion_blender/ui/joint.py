# SPDX-License-Identifier: GPL-3.0-or-later
"""The Physics tab of a joint: panels that follow Blender's rigid body constraint.

Order, titles and labels are those of ``bl_ui/properties_physics_rigidbody_constraint.py``; what Blender does not have
comes after what it has.
"""

import bpy

from ..properties.joint import is_joint
from .bake import lock
from .physics import PhysicsPanel
from .texts import note

GENERIC = ("GENERIC", "GENERIC_SPRING")
ANGULAR_LIMITS = {"HINGE": "z", "PISTON": "x", **dict.fromkeys(GENERIC, "xyz")}
LINEAR_LIMITS = {"SLIDER": "x", "PISTON": "x", **dict.fromkeys(GENERIC, "xyz")}
"""Joint type -> axes whose limits count."""
ANGULAR_MOTORS = {"HINGE", "PISTON", "MOTOR"}
LINEAR_MOTORS = {"SLIDER", "PISTON", "MOTOR"}
ANCHORED = {"DISTANCE", "ROPE"}


class JointPanel(PhysicsPanel):
    """Shown for joints, also where they are switched off; types: those that have the settings, None for all."""

    types = None

    @classmethod
    def poll(cls, context):
        item = context.object
        return item is not None and is_joint(item) and (cls.types is None or item.axion_joint.type in cls.types)


class AXION_PT_joint(JointPanel, bpy.types.Panel):
    """Kind of joint."""

    bl_label = "Axion Joint"

    def draw(self, context):
        self.column().prop(context.object.axion_joint, "type")


class AXION_PT_joint_settings(JointPanel, bpy.types.Panel):
    """Collisions, breaking, compliance."""

    bl_label, bl_parent_id = "Settings", "AXION_PT_joint"

    def draw(self, context):
        joint, flow = context.object.axion_joint, self.flow()
        column = flow.column()
        column.prop(joint, "enabled")
        column.prop(joint, "disable_collisions")
        column = flow.column()
        column.prop(joint, "use_breaking")
        thresholds = column.column(align=True)
        thresholds.active = joint.use_breaking
        thresholds.prop(joint, "break_force", text="Break Force")
        thresholds.prop(joint, "break_torque", text="Torque")
        column = flow.column(align=True)
        column.prop(joint, "compliance", text="Compliance")
        column.prop(joint, "angular_compliance", text="Angular")


class AXION_PT_joint_limits(JointPanel, bpy.types.Panel):
    """Ends of the free axes."""

    bl_label, bl_parent_id = "Limits", "AXION_PT_joint"
    types = {*ANGULAR_LIMITS, *LINEAR_LIMITS}

    def draw(self, context):
        pass


def draw_limits(panel, joint, kind, letters):
    """Draw the limits of one kind ("lin", "ang") on the axes in ``letters``."""
    flow = panel.flow()
    for letter in letters:
        column = flow.column()
        column.prop(joint, f"use_limit_{kind}_{letter}")
        pair = column.column(align=True)
        pair.active = getattr(joint, f"use_limit_{kind}_{letter}")
        pair.prop(joint, f"limit_{kind}_{letter}_lower", text=f"{letter.upper()} Lower")
        pair.prop(joint, f"limit_{kind}_{letter}_upper", text="Upper")


class AXION_PT_joint_limits_angular(JointPanel, bpy.types.Panel):
    """Ends of the rotations."""

    bl_label, bl_parent_id = "Angular", "AXION_PT_joint_limits"
    types = ANGULAR_LIMITS

    def draw(self, context):
        joint = context.object.axion_joint
        draw_limits(self, joint, "ang", ANGULAR_LIMITS[joint.type])


class AXION_PT_joint_limits_linear(JointPanel, bpy.types.Panel):
    """Ends of the movements."""

    bl_label, bl_parent_id = "Linear", "AXION_PT_joint_limits"
    types = LINEAR_LIMITS

    def draw(self, context):
        joint = context.object.axion_joint
        draw_limits(self, joint, "lin", LINEAR_LIMITS[joint.type])


class AXION_PT_joint_motor(JointPanel, bpy.types.Panel):
    """Drives."""

    bl_label, bl_parent_id = "Motor", "AXION_PT_joint"
    types = {*ANGULAR_MOTORS, *LINEAR_MOTORS}

    def draw(self, context):
        pass


def draw_motor(panel, joint, kind, place, strength):
    """Draw one motor ("lin", "ang"); place, strength: how its properties for target and limit end."""
    flow = panel.flow()
    flow.active = getattr(joint, f"use_motor_{kind}")
    positional = getattr(joint, f"motor_{kind}_type") == "POSITION"
    flow.column().prop(joint, f"motor_{kind}_type", text="Type")
    column = flow.column(align=True)
    if positional:
        column.prop(joint, f"motor_{kind}_{place}", text="Target")
    else:
        column.prop(joint, f"motor_{kind}_target_velocity", text="Target Velocity")
    flow.column(align=True).prop(joint, f"motor_{kind}_{strength}", text=strength.replace("_", " ").title())
    column = flow.column(align=True)
    if positional:
        column.prop(joint, f"motor_{kind}_stiffness", text="Stiffness")
    column.prop(joint, f"motor_{kind}_damping", text="Damping")


class AXION_PT_joint_motor_angular(JointPanel, bpy.types.Panel):
    """Drive of the rotation."""

    bl_label, bl_parent_id = "Angular", "AXION_PT_joint_motor"
    types = ANGULAR_MOTORS

    def draw_header(self, context):
        lock(self.layout)
        self.layout.row().prop(context.object.axion_joint, "use_motor_ang", text="")

    def draw(self, context):
        draw_motor(self, context.object.axion_joint, "ang", "target_angle", "max_torque")


class AXION_PT_joint_motor_linear(JointPanel, bpy.types.Panel):
    """Drive of the movement."""

    bl_label, bl_parent_id = "Linear", "AXION_PT_joint_motor"
    types = LINEAR_MOTORS

    def draw_header(self, context):
        lock(self.layout)
        self.layout.row().prop(context.object.axion_joint, "use_motor_lin", text="")

    def draw(self, context):
        draw_motor(self, context.object.axion_joint, "lin", "target_position", "max_force")


def amiss(joint):
    """What is wrong with the two objects of a joint, a sentence, or an empty text."""
    if joint.object1 is None and joint.object2 is None:
        return "Choose the bodies to join; one alone is held to the world"
    if joint.object1 == joint.object2:
        return f"{joint.object1.name} cannot be joined to itself"
    for owner in (joint.object1, joint.object2):
        if owner is not None and not owner.axion.enabled:
            return f"{owner.name} is no Axion body, so it takes no part in the simulation"
    return ""


class AXION_PT_joint_objects(JointPanel, bpy.types.Panel):
    """What it joins."""

    bl_label, bl_parent_id = "Objects", "AXION_PT_joint"

    def draw(self, context):
        joint, column = context.object.axion_joint, self.column()
        for number, word in ((1, "First"), (2, "Second")):
            column.prop(joint, f"object{number}", text=word)
            if joint.type in ANCHORED:
                column.prop(joint, f"anchor{number}", text="Anchor")
        warning = amiss(joint)
        if warning:
            note(column, context, warning, "ERROR", alert=True)
        if joint.type in ANCHORED:
            column.prop(joint, "use_length")
            length = column.column()
            length.active = joint.use_length
            length.prop(joint, "length")


class AXION_PT_joint_iterations(JointPanel, bpy.types.Panel):
    """Why a joint needs no iterations of its own."""

    bl_label, bl_parent_id, bl_options = "Override Iterations", "AXION_PT_joint", {"DEFAULT_CLOSED"}

    def draw(self, context):
        note(self.layout, context, "Nothing to set: every joint is solved to the tolerance of the scene", "INFO")


class AXION_PT_joint_springs(JointPanel, bpy.types.Panel):
    """Springs of the free axes."""

    bl_label, bl_parent_id = "Springs", "AXION_PT_joint"
    types = {"GENERIC_SPRING"}

    def draw(self, context):
        pass


def draw_springs(panel, joint, prefix, word):
    """Draw the springs of one kind: prefix "" or "ang_"; word: what the checkbox says after the axis."""
    flow = panel.flow()
    for letter in "xyz":
        axis, name = f"{prefix}{letter}", letter.upper()
        column = flow.column()
        column.prop(joint, f"use_spring_{axis}", text=f"{name} {word}")
        pair = column.column(align=True)
        pair.active = getattr(joint, f"use_spring_{axis}")
        pair.prop(joint, f"spring_stiffness_{axis}", text=f"{name} Stiffness")
        pair.prop(joint, f"spring_damping_{axis}", text="Damping")


class AXION_PT_joint_springs_angular(JointPanel, bpy.types.Panel):
    """Springs of the rotations."""

    bl_label, bl_parent_id = "Angular", "AXION_PT_joint_springs"
    types = {"GENERIC_SPRING"}

    def draw(self, context):
        draw_springs(self, context.object.axion_joint, "ang_", "Angle")


class AXION_PT_joint_springs_linear(JointPanel, bpy.types.Panel):
    """Springs of the movements."""

    bl_label, bl_parent_id = "Linear", "AXION_PT_joint_springs"
    types = {"GENERIC_SPRING"}

    def draw(self, context):
        draw_springs(self, context.object.axion_joint, "", "Axis")


class AXION_PT_joint_friction(JointPanel, bpy.types.Panel):
    """Dry friction within the joint."""

    bl_label, bl_parent_id, bl_options = "Friction", "AXION_PT_joint", {"DEFAULT_CLOSED"}
    types = {"POINT", *ANGULAR_MOTORS, *LINEAR_MOTORS, *GENERIC}

    def draw(self, context):
        joint, column = context.object.axion_joint, self.column()
        if joint.type not in {"POINT", "HINGE"}:
            column.prop(joint, "friction_lin", text="Linear")
        if joint.type != "SLIDER":
            column.prop(joint, "friction_ang", text="Angular")


CLASSES = (
    AXION_PT_joint,
    AXION_PT_joint_settings,
    AXION_PT_joint_limits,
    AXION_PT_joint_limits_angular,
    AXION_PT_joint_limits_linear,
    AXION_PT_joint_motor,
    AXION_PT_joint_motor_angular,
    AXION_PT_joint_motor_linear,
    AXION_PT_joint_objects,
    AXION_PT_joint_iterations,
    AXION_PT_joint_springs,
    AXION_PT_joint_springs_angular,
    AXION_PT_joint_springs_linear,
    AXION_PT_joint_friction,
)
