# SPDX-License-Identifier: GPL-3.0-or-later
"""``Object.axion_joint``: one joint between two bodies, at the place and orientation of its object.

Order as in Blender's rigid body constraint panel.  Only the targets of motors can be animated, everything else is
read once, at the first frame.
"""

import math

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty

from .body import STILL

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

MOTORS = (
    ("VELOCITY", "Velocity", "Hold a velocity, as a conveyor or an engine does"),
    ("POSITION", "Position", "Go to a position and hold it, as a servo does"),
)

UNBROKEN = 1e9  # newtons, newton metres: more than any joint in a scene bears
MOVING = {"options": {"ANIMATABLE"}, "override": {"LIBRARY_OVERRIDABLE"}}


def switch(name, description, default=False):
    """A checkbox that is read once."""
    return BoolProperty(name=name, description=description, default=default, **STILL)


def limit_lin(side, axis, default):
    """Lower or upper end of the movement along one axis."""
    return FloatProperty(
        name=f"{side} {axis} Limit",
        description=f"{side} end of the movement along the joint's {axis} axis, from where it stands at the start",
        default=default,
        step=10,
        precision=3,
        unit="LENGTH",
        **STILL,
    )


def limit_ang(side, axis, default):
    """Lower or upper end of the rotation about one axis."""
    return FloatProperty(
        name=f"{side} {axis} Angle Limit",
        description=f"{side} end of the rotation about the joint's {axis} axis, from where it stands at the start",
        default=math.radians(default),
        min=-math.tau,
        max=math.tau,
        step=10,
        precision=3,
        subtype="ANGLE",
        unit="ROTATION",
        **STILL,
    )


def positive(name, description, default, **more):
    """A number without a unit of Blender's, not below zero."""
    options = {"min": 0.0, "step": 10, "precision": 3, **STILL, **more}
    return FloatProperty(name=name, description=description, default=default, **options)


def target(name, description, default, **more):
    """Target of a motor, read at every sample of the animation."""
    options = {"soft_min": -100.0, "soft_max": 100.0, "step": 1, "precision": 3, **MOVING, **more}
    return FloatProperty(name=name, description=description, default=default, **options)


class AXION_PG_joint(bpy.types.PropertyGroup):
    """Joint of an object."""

    enabled: switch("Enabled", "Let the joint take part in the Axion simulation; its settings stay when it is off")
    type: EnumProperty(
        name="Type", description="Movements that the joint allows", items=TYPES, default="FIXED", **STILL
    )
    disable_collisions: switch("Disable Collisions", "Let the two joined bodies pass through each other", True)

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

    use_limit_lin_x: switch("X Axis", "Limit the movement along the joint's X axis")
    use_limit_lin_y: switch("Y Axis", "Limit the movement along the joint's Y axis")
    use_limit_lin_z: switch("Z Axis", "Limit the movement along the joint's Z axis")
    use_limit_ang_x: switch("X Angle", "Limit the rotation about the joint's X axis")
    use_limit_ang_y: switch("Y Angle", "Limit the rotation about the joint's Y axis")
    use_limit_ang_z: switch("Z Angle", "Limit the rotation about the joint's Z axis")
    limit_lin_x_lower: limit_lin("Lower", "X", -1.0)
    limit_lin_x_upper: limit_lin("Upper", "X", 1.0)
    limit_lin_y_lower: limit_lin("Lower", "Y", -1.0)
    limit_lin_y_upper: limit_lin("Upper", "Y", 1.0)
    limit_lin_z_lower: limit_lin("Lower", "Z", -1.0)
    limit_lin_z_upper: limit_lin("Upper", "Z", 1.0)
    limit_ang_x_lower: limit_ang("Lower", "X", -45.0)
    limit_ang_x_upper: limit_ang("Upper", "X", 45.0)
    limit_ang_y_lower: limit_ang("Lower", "Y", -45.0)
    limit_ang_y_upper: limit_ang("Upper", "Y", 45.0)
    limit_ang_z_lower: limit_ang("Lower", "Z", -45.0)
    limit_ang_z_upper: limit_ang("Upper", "Z", 45.0)

    use_motor_lin: switch("Linear Motor", "Drive the movement along the joint's X axis by a velocity or to a position")
    use_motor_ang: switch("Angular Motor", "Drive the rotation about the joint's X axis, of a hinge about its Z axis")
    motor_lin_type: EnumProperty(
        name="Linear Motor Type",
        description="What the linear motor aims at: a velocity or a position",
        items=MOTORS,
        default="VELOCITY",
        **STILL,
    )
    motor_lin_target_velocity: target(
        "Target Velocity",
        "Velocity that the linear motor holds, of the second body against the first",
        1.0,
        unit="VELOCITY",
    )
    motor_lin_target_position: target(
        "Target Position",
        "Place on the joint's X axis that the linear motor goes to, 0 being where the second body starts",
        0.0,
        unit="LENGTH",
    )
    motor_lin_max_force: positive(
        "Linear Motor Max Force",
        "Largest force of the linear motor in newtons; when it is too weak, the motor falls behind its target",
        1000.0,
        soft_max=1e5,
    )
    motor_lin_stiffness: positive(
        "Linear Motor Stiffness", "Force in newtons per metre off the target position (0 is rigid)", 0.0, soft_max=1e5
    )
    motor_lin_damping: positive(
        "Linear Motor Damping",
        "Force in newton seconds per metre off the target's velocity (0 is rigid for a velocity motor)",
        0.0,
        soft_max=1e4,
    )
    motor_ang_type: EnumProperty(
        name="Angular Motor Type",
        description="What the angular motor aims at: an angular velocity or an angle",
        items=MOTORS,
        default="VELOCITY",
        **STILL,
    )
    motor_ang_target_velocity: target(
        "Angular Target Velocity",
        "Angular velocity in radians per second that the motor holds, of the second body against the first",
        1.0,
    )
    motor_ang_target_angle: target(
        "Target Angle",
        "Angle that the angular motor goes to, 0 being how the second body starts",
        0.0,
        subtype="ANGLE",
        unit="ROTATION",
    )
    motor_ang_max_torque: positive(
        "Angular Motor Max Torque",
        "Largest torque of the angular motor in newton metres; when it is too weak, the motor falls behind its target",
        1000.0,
        soft_max=1e5,
    )
    motor_ang_stiffness: positive(
        "Angular Motor Stiffness",
        "Torque in newton metres per radian off the target angle (0 is rigid)",
        0.0,
        soft_max=1e5,
    )
    motor_ang_damping: positive(
        "Angular Motor Damping",
        "Torque in newton metre seconds per radian off the target's velocity (0 is rigid for a velocity motor)",
        0.0,
        soft_max=1e4,
    )

    use_spring_x: switch("X Spring", "Put a spring on the movement along the joint's X axis")
    use_spring_y: switch("Y Spring", "Put a spring on the movement along the joint's Y axis")
    use_spring_z: switch("Z Spring", "Put a spring on the movement along the joint's Z axis")
    use_spring_ang_x: switch("X Angle Spring", "Put a spring on the rotation about the joint's X axis")
    use_spring_ang_y: switch("Y Angle Spring", "Put a spring on the rotation about the joint's Y axis")
    use_spring_ang_z: switch("Z Angle Spring", "Put a spring on the rotation about the joint's Z axis")
    spring_stiffness_x: positive(
        "X Axis Stiffness", "Force in newtons per metre that the spring along X pulls back with", 10.0
    )
    spring_stiffness_y: positive(
        "Y Axis Stiffness", "Force in newtons per metre that the spring along Y pulls back with", 10.0
    )
    spring_stiffness_z: positive(
        "Z Axis Stiffness", "Force in newtons per metre that the spring along Z pulls back with", 10.0
    )
    spring_stiffness_ang_x: positive(
        "X Angle Stiffness", "Torque in newton metres per radian that the spring about X turns back with", 10.0
    )
    spring_stiffness_ang_y: positive(
        "Y Angle Stiffness", "Torque in newton metres per radian that the spring about Y turns back with", 10.0
    )
    spring_stiffness_ang_z: positive(
        "Z Angle Stiffness", "Torque in newton metres per radian that the spring about Z turns back with", 10.0
    )
    spring_damping_x: positive(
        "Damping X", "Force in newton seconds per metre against motion of the spring along X", 0.5
    )
    spring_damping_y: positive(
        "Damping Y", "Force in newton seconds per metre against motion of the spring along Y", 0.5
    )
    spring_damping_z: positive(
        "Damping Z", "Force in newton seconds per metre against motion of the spring along Z", 0.5
    )
    spring_damping_ang_x: positive(
        "Damping X Angle", "Torque in newton metre seconds per radian against motion of the spring about X", 0.5
    )
    spring_damping_ang_y: positive(
        "Damping Y Angle", "Torque in newton metre seconds per radian against motion of the spring about Y", 0.5
    )
    spring_damping_ang_z: positive(
        "Damping Z Angle", "Torque in newton metre seconds per radian against motion of the spring about Z", 0.5
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
