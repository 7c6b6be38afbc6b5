# SPDX-License-Identifier: GPL-3.0-or-later
"""``Object.axion_joint``: one joint between two bodies, at the place and orientation of its object.

Order as in Blender's rigid body constraint panel.  Only the targets of motors can be animated, everything else is
read once, at the first frame.
"""

import bpy
from bpy.props import EnumProperty, FloatVectorProperty, PointerProperty

from .body import STILL
from .joint_axes import JointLimits, JointSprings, positive, switch
from .joint_motors import JointMotors

TYPES = (
    ("FIXED", "Fixed", "Glue two bodies together"),
    ("POINT", "Point", "Let two bodies turn around a common point"),
    ("HINGE", "Hinge", "Let one body turn about the joint's Z axis only"),
    ("SLIDER", "Slider", "Let one body slide along the joint's X axis only"),
    ("PISTON", "Piston", "Let one body slide along the joint's X axis and turn about it"),
    ("GENERIC", "Generic", "Limit movement and rotation on chosen axes"),
    ("GENERIC_SPRING", "Generic Spring", "Limit movement and rotation on chosen axes, with springs"),
    ("MOTOR", "Motor", "Drive one body along or about the joint's X axis"),
    ("DISTANCE", "Distance", "Keep the distance of two points, like a rod"),
    ("ROPE", "Rope", "Keep two points from moving farther apart, like a rope"),
)

UNBROKEN = 1e9  # newtons, newton metres: more than any joint in a scene bears


class AXION_PG_joint(JointLimits, JointMotors, JointSprings, bpy.types.PropertyGroup):
    """Joint of an object."""

    enabled: switch("Enabled", "Let the joint take part in the Axion simulation; its settings stay when it is off")
    type: EnumProperty(
        name="Type", description="Movements that the joint allows", items=TYPES, default="FIXED", **STILL
    )
    disable_collisions: switch(
        "Disable Collisions",
        "Let the two joined bodies pass through each other while the joint holds, as a door and its frame must",
        True,
    )

    object1: PointerProperty(
        name="Object 1",
        description="First body; leave one of the two empty to hold the other to the world",
        type=bpy.types.Object,
        override={"LIBRARY_OVERRIDABLE"},
    )
    object2: PointerProperty(
        name="Object 2",
        description="Second body; leave one of the two empty to hold the other to the world",
        type=bpy.types.Object,
        override={"LIBRARY_OVERRIDABLE"},
    )

    use_breaking: switch("Breakable", "Let the joint break for good when it has to bear more than the thresholds")
    break_force: positive(
        "Break Force",
        "Force in newtons that breaks the joint; 9.81 is the weight of a kilogram",
        UNBROKEN,
        precision=1,
        soft_max=1e5,
    )
    break_torque: positive(
        "Break Torque",
        "Torque in newton metres that breaks the joint; a kilogram on an arm of one metre is 9.81",
        UNBROKEN,
        precision=1,
        soft_max=1e5,
    )
    compliance: positive(
        "Compliance",
        "Give of the joint in metres per newton (0 is rigid, as steel; 0.001 is a stiff spring)",
        0.0,
        soft_max=1.0,
        step=1,
        precision=6,
    )
    angular_compliance: positive(
        "Angular Compliance",
        "Give of the joint in radians per newton metre (0 is rigid)",
        0.0,
        soft_max=1.0,
        step=1,
        precision=6,
    )

    friction_lin: positive(
        "Linear Friction",
        "Dry friction in newtons on each free movement of the joint, which has to be overcome before it slides",
        0.0,
        soft_max=1e4,
    )
    friction_ang: positive(
        "Angular Friction",
        "Dry friction in newton metres on each free rotation of the joint, which lets it hold a pose",
        0.0,
        soft_max=1e4,
    )

    anchor1: FloatVectorProperty(
        name="Anchor 1",
        description="Point of object 1, in its local space, where the distance joint or rope ends",
        size=3,
        subtype="XYZ",
        unit="LENGTH",
        **STILL,
    )
    anchor2: FloatVectorProperty(
        name="Anchor 2",
        description="Point of object 2, in its local space, where the distance joint or rope ends",
        size=3,
        subtype="XYZ",
        unit="LENGTH",
        **STILL,
    )
    use_length: switch("Custom Length", "Set the length by hand instead of taking the distance at the first frame")
    length: positive(
        "Length",
        "Length of the distance joint or rope; a rope longer than its distance hangs slack",
        1.0,
        unit="LENGTH",
    )


def is_joint(item):
    """Whether an object is a joint, switched on or off."""
    joint = item.axion_joint
    return joint.enabled or joint.object1 is not None or joint.object2 is not None
