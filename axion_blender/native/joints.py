# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid body constraints -> ``Object.axion_joint``.  The package says what was measured of Bullet."""

import math

from ..extract import motion
from . import animation
from .bodies import is_part, properties_of, reset

MIRRORED = {"HINGE", "GENERIC", "GENERIC_SPRING"}
"""Types whose angles Bullet measures of object 1 against object 2; Axion measures object 2 against object 1."""
AXES = ("lin_x", "lin_y", "lin_z", "ang_x", "ang_y", "ang_z")
SPRINGS = ("x", "y", "z", "ang_x", "ang_y", "ang_z")
LIMIT_PARTS = (("use_limit", ""), ("limit", "_lower"), ("limit", "_upper"))
SPRING_PARTS = ("use_spring", "spring_stiffness", "spring_damping")
ANIMATED = {
    f"motor_{kind}_target_velocity": animation.Target(f"axion_joint.motor_{kind}_target_velocity", -1)
    for kind in ("lin", "ang")
}
MOTORS = ("use_motor_lin", "use_motor_ang", "motor_lin_max_impulse", "motor_ang_max_impulse", *ANIMATED)
LIMITED = {
    "HINGE": ("ang_z",),
    "SLIDER": ("lin_x",),
    "PISTON": ("lin_x", "ang_x"),
    "GENERIC": AXES,
    "GENERIC_SPRING": AXES,
}
"""Axes whose limits Bullet heeds."""
KNOWN = {
    *("type", "spring_type", "enabled", "disable_collisions", "object1", "object2", "use_breaking"),
    *("breaking_threshold", *MOTORS),
    *(f"{what}_{axis}{end}" for axis in AXES for what, end in LIMIT_PARTS),
    *(f"{what}_{axis}" for axis in SPRINGS for what in SPRING_PARTS),
}
NEEDLESS = ("use_override_solver_iterations", "solver_iterations")
"""Axion solves to a tolerance, whatever that takes."""
GENTLE = 0.5
"""Swings of a spring of Blender 2.7 are not damped where its frequency is below this part of its speed limit; its
angular springs where the damping is not above this."""


def convert(item, world, entry):
    """Carry one native constraint (``item.rigid_body_constraint``) over.

    world: worlds.Surroundings; entry: report.Entry to fill.  Returns whether the joint takes part now.
    """
    native, own = item.rigid_body_constraint, item.axion_joint
    reset(own)
    own.type, own.object1, own.object2 = native.type, native.object1, native.object2
    own.disable_collisions = native.disable_collisions
    own.enabled = native.enabled and _has_bodies(native, world, entry)
    if not native.enabled and native.disable_collisions:
        entry.lost(
            "disable_collisions",
            "is switched off, but in Blender still keeps its two objects from colliding: in Axion they collide",
        )
    elif own.enabled and native.use_breaking and native.disable_collisions:
        entry.changed(
            "disable_collisions",
            "keeps its two objects from colliding in Blender when it has broken, too: in Axion they collide then",
        )
    newton, newton_metre = world.metres**4, world.metres**5  # kg cubed with the unit, as panels show, times a length
    _convert_breaking(native, own, world.impulse_rate * newton, world.impulse_rate * newton_metre, entry)
    for axis in AXES:
        _convert_limit(native, own, axis)
    for axis in SPRINGS:
        _convert_spring(native, own, axis, world.metres**3 if len(axis) == 1 else newton_metre, world, entry)
    driven = native.type == "MOTOR"
    own.use_motor_lin, own.use_motor_ang = driven and native.use_motor_lin, driven and native.use_motor_ang
    own.motor_lin_target_velocity = -native.motor_lin_target_velocity
    own.motor_ang_target_velocity = -native.motor_ang_target_velocity
    own.motor_lin_max_force = native.motor_lin_max_impulse * newton
    own.motor_ang_max_torque = native.motor_ang_max_impulse * newton_metre
    animation.carry(item, "rigid_body_constraint.", ANIMATED, entry)
    entry.needless += [*NEEDLESS, *_idle(native.type)]
    entry.close(properties_of(native), KNOWN)
    return own.enabled


def _idle(kind):
    """Properties without effect on a constraint of a type."""
    found = [f"{what}_{axis}{end}" for axis in AXES if axis not in LIMITED.get(kind, ()) for what, end in LIMIT_PARTS]
    if kind != "GENERIC_SPRING":
        found += ["spring_type", *(f"{what}_{axis}" for axis in SPRINGS for what in SPRING_PARTS)]
    return found if kind == "MOTOR" else [*found, *MOTORS]


def _has_bodies(native, world, entry):
    for name, owner in (("object1", native.object1), ("object2", native.object2)):
        spoken = f"object {name[-1]}"
        if owner is None:
            why = "is empty"
        elif owner.rigid_body is None:
            why = f"({owner.name}) is no rigid body"
        elif owner not in world.members:
            why = f"({owner.name}) is no member of the rigid body world"
        elif is_part(owner, world.members):
            why = f"({owner.name}) is a part of a compound, which Blender's constraints do not hold"
        elif owner not in world.converted:
            why = f"({owner.name}) was not converted"
        elif owner not in world.layer:
            why = f"({owner.name}) takes no part in the view layer"
        else:
            continue
        entry.lost(name, f"joins nothing, because its {spoken} {why}: it stays switched off")
        return False
    if native.object1 == native.object2:
        entry.lost("object2", f"joins {native.object1.name} to itself: it stays switched off")
        return False
    if not (motion.may_be_free(native.object1) or motion.may_be_free(native.object2)):
        entry.lost("object2", "joins two objects that the simulation does not move: it stays switched off")
        return False
    return True


def _convert_breaking(native, own, newton, newton_metre, entry):
    own.use_breaking = native.use_breaking
    if native.breaking_threshold > 0.0:
        own.break_force = native.breaking_threshold * newton
        own.break_torque = native.breaking_threshold * newton_metre
    elif native.use_breaking:
        own.use_breaking = own.enabled = False
        entry.changed("breaking_threshold", "breaks under no load at all: it is switched off instead")


def _convert_limit(native, own, axis):
    lower, upper = getattr(native, f"limit_{axis}_lower"), getattr(native, f"limit_{axis}_upper")
    # Bullet takes crossed limits for none.
    setattr(own, f"use_limit_{axis}", getattr(native, f"use_limit_{axis}") and lower <= upper)
    if axis.startswith("ang") and native.type in MIRRORED:
        lower, upper = -upper, -lower
    setattr(own, f"limit_{axis}_lower", lower)
    setattr(own, f"limit_{axis}_upper", upper)


def _convert_spring(native, own, axis, unit, world, entry):
    used = native.type == "GENERIC_SPRING" and getattr(native, f"use_spring_{axis}")
    stiffness, damping = getattr(native, f"spring_stiffness_{axis}"), getattr(native, f"spring_damping_{axis}")
    if native.spring_type == "SPRING1":
        if used and _brakes(native, axis, stiffness, damping, world):
            entry.lost(
                f"spring_damping_{axis}",
                f"damps its spring on {axis.replace('_', ' ')} by {damping:g} in the way of Blender 2.7, "
                "which Axion cannot: the spring swings freely now",
            )
        damping = 0.0
    setattr(own, f"use_spring_{axis}", used)
    setattr(own, f"spring_stiffness_{axis}", stiffness * unit)
    setattr(own, f"spring_damping_{axis}", damping * unit)


def _brakes(native, axis, stiffness, damping, world):
    """Whether the speed limit of an old spring is low enough to be felt.

    Bullet drives the axis towards the speed c x, c = (1 - damping) stiffness / (iterations x substep), with at most the
    spring's force.  That is more than a free swing's omega x unless the spring is weak or the damping near 1.
    """
    if damping >= 1.0 or len(axis) > 1:  # of angular springs the inertia is not known here
        return damping > GENTLE
    weights = [1.0 / o.rigid_body.mass for o in (native.object1, native.object2) if world.moves(o)]
    limit = (1.0 - damping) * stiffness * world.impulse_rate / world.iterations(native)
    return math.sqrt(stiffness * sum(weights)) > GENTLE * limit
