# SPDX-License-Identifier: GPL-3.0-or-later
"""Motors of a joint: a mix-in of ``Object.axion_joint``.  Their targets are what can be animated on a joint."""

from bpy.props import EnumProperty, FloatProperty

from .body import STILL
from .joint_axes import positive, switch

MOTORS = (
    ("VELOCITY", "Velocity", "Hold a velocity, as a conveyor or an engine does"),
    ("POSITION", "Position", "Go to a position and hold it, as a servo does"),
)

MOVING = {"options": {"ANIMATABLE"}, "override": {"LIBRARY_OVERRIDABLE"}}


def target(name, description, default, **more):
    """Target of a motor, read at every sample of the animation."""
    options = {"soft_min": -100.0, "soft_max": 100.0, "step": 1, "precision": 3, **MOVING, **more}
    return FloatProperty(name=name, description=description, default=default, **options)


class JointMotors:
    """What drives the second body against the first."""

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
