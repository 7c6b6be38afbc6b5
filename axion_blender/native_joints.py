# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid body constraints -> ``Object.axion_joint``.  ``native`` says what was measured of Bullet."""

from . import compat

MIRRORED = {"HINGE", "GENERIC", "GENERIC_SPRING"}
"""Types whose angles Bullet measures of object 1 against object 2; Axion measures object 2 against object 1."""
AXES = ("lin_x", "lin_y", "lin_z", "ang_x", "ang_y", "ang_z")
TARGETS = ("motor_lin_target_velocity", "motor_ang_target_velocity")


def convert(item, impulse_rate, metres, notes):
    """Carry one native constraint (``item.rigid_body_constraint``) over.

    impulse_rate: substeps per second; metres: per Blender unit, the unit of Bullet's forces.
    Returns whether the joint takes part now.
    """
    native, own = item.rigid_body_constraint, item.axion_joint
    own.type, own.object1, own.object2 = native.type, native.object1, native.object2
    own.disable_collisions = native.disable_collisions
    own.enabled = native.enabled and _has_bodies(item, native, notes)
    own.compliance = own.angular_compliance = 0.0
    newton, newton_metre = metres**4, metres**5  # kg cubed with the unit, as panels show masses, times a length
    own.use_breaking = native.use_breaking
    own.break_force = native.breaking_threshold * impulse_rate * newton
    own.break_torque = native.breaking_threshold * impulse_rate * newton_metre
    for axis in AXES:
        _convert_limit(native, own, axis)
    for letter in "xyz":
        _convert_spring(item, native, own, letter, metres**3, notes)
        _convert_spring(item, native, own, f"ang_{letter}", newton_metre, notes)
    driven = native.type == "MOTOR"
    own.use_motor_lin, own.use_motor_ang = driven and native.use_motor_lin, driven and native.use_motor_ang
    own.motor_lin_target_velocity = -native.motor_lin_target_velocity
    own.motor_ang_target_velocity = -native.motor_ang_target_velocity
    own.motor_lin_max_force = native.motor_lin_max_impulse * newton
    own.motor_ang_max_torque = native.motor_ang_max_impulse * newton_metre
    _convert_animation(item, notes)
    return own.enabled


def _has_bodies(item, native, notes):
    for which, owner in (("object 1", native.object1), ("object 2", native.object2)):
        if owner is None or owner.rigid_body is None:
            what = "is empty" if owner is None else f"({owner.name}) is no rigid body"
            notes.append(f"{item.name} joins nothing, because its {which} {what}: it stays switched off")
            return False
    if native.object1 == native.object2:
        notes.append(f"{item.name} joins {native.object1.name} to itself: it stays switched off")
        return False
    return True


def _convert_limit(native, own, axis):
    lower, upper = getattr(native, f"limit_{axis}_lower"), getattr(native, f"limit_{axis}_upper")
    # Bullet takes crossed limits for none.
    setattr(own, f"use_limit_{axis}", getattr(native, f"use_limit_{axis}") and lower <= upper)
    if axis.startswith("ang") and native.type in MIRRORED:
        lower, upper = -upper, -lower
    setattr(own, f"limit_{axis}_lower", lower)
    setattr(own, f"limit_{axis}_upper", upper)


def _convert_spring(item, native, own, axis, unit, notes):
    used = native.type == "GENERIC_SPRING" and getattr(native, f"use_spring_{axis}")
    stiffness, damping = getattr(native, f"spring_stiffness_{axis}"), getattr(native, f"spring_damping_{axis}")
    if native.spring_type == "SPRING1":
        if used and damping >= 1.0:
            notes.append(
                f"{item.name} damps its spring on {axis.replace('_', ' ')} by {damping:g} in the way of Blender 2.7, "
                "which Axion cannot: the spring swings freely now"
            )
        damping = 0.0
    setattr(own, f"use_spring_{axis}", used)
    setattr(own, f"spring_stiffness_{axis}", stiffness * unit)
    setattr(own, f"spring_damping_{axis}", damping * unit)


def _convert_animation(item, notes):
    driven = item.rigid_body_constraint.type == "MOTOR"
    for curve in compat.curves_of(item):
        if not curve.data_path.startswith("rigid_body_constraint."):
            continue
        name = curve.data_path.split(".")[1]
        if driven and name in TARGETS and not len(curve.modifiers):
            _negate(compat.copy_curve(item, curve, f"axion_joint.{name}"))
        else:
            notes.append(f"{item.name} animates {name}, which is read at the first frame only")
    for driver in compat.drivers_of(item):
        if driver.data_path.startswith("rigid_body_constraint."):
            notes.append(f"{item.name} drives {driver.data_path.split('.')[1]}, which is read at the first frame only")


def _negate(curve):
    for key in curve.keyframe_points:
        left, right = key.handle_left.copy(), key.handle_right.copy()
        key.co.y = -key.co.y
        key.handle_left, key.handle_right = (left.x, -left.y), (right.x, -right.y)
    curve.update()
