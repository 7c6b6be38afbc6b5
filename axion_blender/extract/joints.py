# SPDX-License-Identifier: GPL-3.0-or-later
"""``Object.axion_joint`` -> solver.Joint, in the frame of the joint's object at the first frame."""

import math
from dataclasses import dataclass

import numpy as np

from ...solver import Axis, Joint, SceneError
from .. import conventions
from . import bodies

KINDS = {
    **{"FIXED": "fixed", "POINT": "ball", "HINGE": "hinge", "SLIDER": "slider", "PISTON": "piston"},
    **{"GENERIC": "generic", "GENERIC_SPRING": "generic", "MOTOR": "generic", "DISTANCE": "distance", "ROPE": "rope"},
}
LIMITS = {"HINGE": ("rz",), "SLIDER": ("x",), "PISTON": ("x", "rx")}
"""Coordinates whose limits count; those of GENERIC and GENERIC_SPRING are all six."""
MOTORS = {"HINGE": ("", "rz"), "SLIDER": ("x", ""), "PISTON": ("x", "rx"), "MOTOR": ("x", "rx")}
"""Coordinates that the linear and the angular motor drive."""
ALL = ("x", "y", "z", "rx", "ry", "rz")
MOTOR_TARGETS = (
    *("motor_lin_target_velocity", "motor_ang_target_velocity"),
    *("motor_lin_target_position", "motor_ang_target_angle"),
)
FREE = {"POINT": ("rx", "ry", "rz"), "HINGE": ("rz",), "SLIDER": ("x",), "PISTON": ("x", "rx"), "MOTOR": ("x", "rx")}
"""Coordinates that joint friction acts on; of GENERIC and GENERIC_SPRING all six that are not locked."""


def watch(item, sampler):
    """Note what can be animated on a joint."""
    for name in MOTOR_TARGETS:
        sampler.watch_value(item, "axion_joint", name)


@dataclass(frozen=True)
class Start:
    """A joint at the first frame, in Blender units: Pose of its object, world places (3,) of its two anchors."""

    pose: conventions.Pose
    anchors: tuple


def start(item, depsgraph):
    """Start of a joint now.  Raises SceneError naming the object whose world matrix is no rigid pose."""
    settings = item.axion_joint
    pose = bodies.world_pose(item, depsgraph)
    ends = ((settings.object1, settings.anchor1), (settings.object2, settings.anchor2))
    return Start(pose, tuple(_anchor(owner, point, pose, depsgraph) for owner, point in ends))


def joint(item, names, start, sampler, metres):
    """solver.Joint of an object.

    names: {object's full name: body name} of all that takes part.  Raises SceneError naming the joint.
    """
    settings = item.axion_joint
    first, second = _end(item, settings.object1, names), _end(item, settings.object2, names)
    if first is None and second is None:
        raise SceneError(f"{item.name}: the joint has neither object 1 nor object 2: choose the bodies to join")
    if first == second:
        raise SceneError(f"{item.name}: the joint joins {first} to itself: choose two different objects")
    made = Joint(
        item.name_full,
        KINDS[settings.type],
        first,
        second,
        position=start.pose.position * metres,
        orientation=start.pose.orientation,
        axes=axes(item, sampler, metres),
        compliance=settings.compliance,
        angular_compliance=settings.angular_compliance,
        break_force=settings.break_force if settings.use_breaking else math.inf,
        break_torque=settings.break_torque if settings.use_breaking else math.inf,
        collide_connected=not settings.disable_collisions,
    )
    if settings.type in ("DISTANCE", "ROPE"):
        made.anchors = [anchor * metres for anchor in start.anchors]
        made.length = settings.length * metres if settings.use_length else None
    return made


def axes(item, sampler, metres):
    """{coordinate: Axis} of a joint object: limits, springs and motors, lengths in metres."""
    settings, found = item.axion_joint, {}
    generic = settings.type in ("GENERIC", "GENERIC_SPRING")
    for name in ALL if generic else LIMITS.get(settings.type, ()):
        linear = len(name) == 1
        kind, letter = ("lin", name) if linear else ("ang", name[1])
        unit = metres if linear else 1.0
        if getattr(settings, f"use_limit_{kind}_{letter}"):
            lower = getattr(settings, f"limit_{kind}_{letter}_lower") * unit
            upper = getattr(settings, f"limit_{kind}_{letter}_upper") * unit
            if lower > upper:  # what is no number is told by the solver
                raise SceneError(
                    f"{item.name}: the lower limit of {_spoken(name)} {lower:g} is above the upper {upper:g}: swap them"
                )
            locked = lower == upper == 0.0
            found[name] = {"locked": True} if locked else {"lower": lower, "upper": upper}
        spring = letter if linear else f"ang_{letter}"
        locked = found.get(name, {}).get("locked", False)
        if settings.type == "GENERIC_SPRING" and not locked and getattr(settings, f"use_spring_{spring}"):
            found.setdefault(name, {}).update(
                stiffness=getattr(settings, f"spring_stiffness_{spring}"),
                damping=getattr(settings, f"spring_damping_{spring}"),
            )
    for name in ALL if generic else FREE.get(settings.type, ()):
        friction = settings.friction_lin if len(name) == 1 else settings.friction_ang
        if friction != 0.0 and not found.get(name, {}).get("locked", False):
            found.setdefault(name, {})["friction"] = friction
    for name, motor in _motors(item, sampler, metres).items():
        found.setdefault(name, {}).update(motor)
    return {name: Axis(**values) for name, values in found.items()}


def _motors(item, sampler, metres):
    settings = item.axion_joint
    linear, angular = MOTORS.get(settings.type, ("", ""))
    found = {}
    if linear and settings.use_motor_lin:
        found[linear] = _motor(item, sampler, "lin", "target_position", "max_force", metres)
    if angular and settings.use_motor_ang:
        found[angular] = _motor(item, sampler, "ang", "target_angle", "max_torque", 1.0)
    return found


def _motor(item, sampler, kind, place, strength, unit):
    """What one motor does to its axis.  place, strength: how its properties for target and limit end."""
    settings = item.axion_joint
    positional = getattr(settings, f"motor_{kind}_type") == "POSITION"
    name = f"motor_{kind}_{place if positional else 'target_velocity'}"
    motor = {
        "drive": "position" if positional else "velocity",
        "target": _target(item, sampler, name, unit),
        "max_force": getattr(settings, f"motor_{kind}_{strength}"),
        "damping": getattr(settings, f"motor_{kind}_damping"),
    }
    if positional:
        motor["stiffness"] = getattr(settings, f"motor_{kind}_stiffness")
    return motor


def _target(item, sampler, name, unit):
    series = sampler.series(item, name)
    if series is None:
        return getattr(item.evaluated_get(sampler.depsgraph).axion_joint, name) * unit
    return series[0], series[1] * unit


def _end(item, owner, names):
    if owner is None:
        return None
    if not owner.users_scene:  # Blender keeps what was deleted from its scenes while a joint holds it
        raise SceneError(
            f"{item.name}: the joint's object {owner.name} was deleted from the scene: choose another, or remove the "
            "joint"
        )
    if owner.name_full not in names:
        raise SceneError(
            f"{item.name}: the joint's object {owner.name} takes no part in the simulation: make it an Axion body "
            "in this view layer, or choose another"
        )
    return names[owner.name_full]


def _anchor(owner, point, pose, depsgraph):
    """World place of a point of ``owner`` (Blender units); of the world, the joint's own place."""
    if owner is None:
        return pose.position
    bodies.world_pose(owner, depsgraph)
    matrix = np.array(owner.evaluated_get(depsgraph).matrix_world)
    return matrix[:3, :3] @ np.array(point) + matrix[:3, 3]


def _spoken(name):
    return f"{name.upper()} movement" if len(name) == 1 else f"{name[1].upper()} rotation"
