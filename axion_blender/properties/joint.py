# SPDX-License-Identifier: GPL-3.0-or-later
"""``Object.axion_joint``: one joint between two bodies, at the place and orientation of its object.

Order as in Blender's rigid body constraint panel.  Only the motor velocities can be animated, everything else is read
once, at the first frame.
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

UNBROKEN = 1e9  # newtons, newton metres: more than any joint in a scene bears
MOVING = {"options": {"ANIMATABLE"}, "override": {"LIBRARY_OVERRIDABLE"}}


def switch(name, description, default=False):
    """A checkbox that is read once."""
    return BoolProperty(name=name, description=description, default=default, **STILL)


def limit_lin(side, axis, default):
    """Lower or upper end of the movement along one axis."""
    name, description = f"{axis} {side}", f"{side} limit of the movement along {axis} axis"
    return FloatProperty(
        name=name, description=description, default=default, step=10, precision=3, unit="LENGTH", **STILL
    )


def limit_ang(side, axis, default):
    """Lower or upper end of the rotation about one axis."""
    return FloatProperty(
        name=f"{axis} {side}",
        description=f"{side} limit of the rotation about {axis} axis",
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


class AXION_PG_joint(bpy.types.PropertyGroup):
    """Joint of an object."""

    enabled: switch("Axion Joint", "Let the joint take part in the Axion simulation")
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

    use_breaking: switch("Breakable", "Let the joint break when it has to bear too much")
    break_force: positive("Break Force", "Force in newtons that breaks the joint", UNBROKEN, precision=1, soft_max=1e5)
    break_torque: positive(
        "Break Torque", "Torque in newton metres that breaks the joint", UNBROKEN, precision=1, soft_max=1e5
    )
    compliance: positive("Compliance", "Give in metres per newton (0 is rigid)", 0.0, soft_max=1.0, step=1, precision=6)
    angular_compliance: positive(
        "Angular Compliance",
        "Give in radians per newton metre (0 is rigid)",
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

    use_motor_lin: switch("Linear Motor", "Drive the movement along the joint's X axis")
    use_motor_ang: switch("Angular Motor", "Drive the rotation about the joint's X axis, of a hinge about its Z axis")
    motor_lin_target_velocity: FloatProperty(
        name="Target Velocity",
        description="Velocity that the linear motor holds, of the second body against the first",
        default=1.0,
        soft_min=-100.0,
        soft_max=100.0,
        step=1,
        precision=3,
        unit="VELOCITY",
        **MOVING,
    )
    motor_lin_max_force: positive("Max Force", "Largest force of the linear motor in newtons", 1000.0, soft_max=1e5)
    motor_ang_target_velocity: FloatProperty(
        name="Target Velocity",
        description="Angular velocity in radians per second that the motor holds, of the second body against the first",
        default=1.0,
        soft_min=-100.0,
        soft_max=100.0,
        step=1,
        precision=3,
        **MOVING,
    )
    motor_ang_max_torque: positive(
        "Max Torque", "Largest torque of the angular motor in newton metres", 1000.0, soft_max=1e5
    )

    use_spring_x: switch("X Axis", "Put a spring on the movement along the joint's X axis")
    use_spring_y: switch("Y Axis", "Put a spring on the movement along the joint's Y axis")
    use_spring_z: switch("Z Axis", "Put a spring on the movement along the joint's Z axis")
    use_spring_ang_x: switch("X Angle", "Put a spring on the rotation about the joint's X axis")
    use_spring_ang_y: switch("Y Angle", "Put a spring on the rotation about the joint's Y axis")
    use_spring_ang_z: switch("Z Angle", "Put a spring on the rotation about the joint's Z axis")
    spring_stiffness_x: positive("X Stiffness", "Force along X in newtons per metre", 10.0)
    spring_stiffness_y: positive("Y Stiffness", "Force along Y in newtons per metre", 10.0)
    spring_stiffness_z: positive("Z Stiffness", "Force along Z in newtons per metre", 10.0)
    spring_stiffness_ang_x: positive("X Angle Stiffness", "Torque about X in newton metres per radian", 10.0)
    spring_stiffness_ang_y: positive("Y Angle Stiffness", "Torque about Y in newton metres per radian", 10.0)
    spring_stiffness_ang_z: positive("Z Angle Stiffness", "Torque about Z in newton metres per radian", 10.0)
    spring_damping_x: positive("X Damping", "Damping of the spring along X in newton seconds per metre", 0.5)
    spring_damping_y: positive("Y Damping", "Damping of the spring along Y in newton seconds per metre", 0.5)
    spring_damping_z: positive("Z Damping", "Damping of the spring along Z in newton seconds per metre", 0.5)
    spring_damping_ang_x: positive("X Angle Damping", "Damping about X in newton metre seconds per radian", 0.5)
    spring_damping_ang_y: positive("Y Angle Damping", "Damping about Y in newton metre seconds per radian", 0.5)
    spring_damping_ang_z: positive("Z Angle Damping", "Damping about Z in newton metre seconds per radian", 0.5)

    anchor1: FloatVectorProperty(
        name="Anchor 1",
        description="End of a distance joint or rope in the local space of object 1",
        size=3,
        subtype="XYZ",
        unit="LENGTH",
        **STILL,
    )
    anchor2: FloatVectorProperty(
        name="Anchor 2",
        description="End of a distance joint or rope in the local space of object 2",
        size=3,
        subtype="XYZ",
        unit="LENGTH",
        **STILL,
    )
    use_length: switch("Custom Length", "Set the length by hand instead of taking the distance at the first frame")
    length: positive("Length", "Length of the distance joint or rope", 1.0, unit="LENGTH")
