# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits and springs of a joint's axes: mix-ins of ``Object.axion_joint``, and what its files build properties with."""

import math

from bpy.props import BoolProperty, FloatProperty

from .body import STILL


def switch(name, description, default=False):
    """A checkbox that is read once."""
    return BoolProperty(name=name, description=description, default=default, **STILL)


def positive(name, description, default, **more):
    """A number without a unit of Blender's, not below zero."""
    options = {"min": 0.0, "step": 10, "precision": 3, **STILL, **more}
    return FloatProperty(name=name, description=description, default=default, **options)


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


class JointLimits:
    """Ends of movements and rotations, measured from where the second body starts."""

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


class JointSprings:
    """Springs to where the second body starts."""

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
