# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a joint, its ends, its anchors and its axes."""

import numpy as np

from .checker import MOST
from .errors import shown
from .joint_types import AXES, JOINT_TYPES
from .scene import Axis


def check_joint(says, joint, bodies):
    """Tells ``says`` every problem of one joint; ``bodies`` by name."""
    if not isinstance(joint.name, str) or not joint.name:
        says.problem(f"the name of a joint is {shown(joint.name)}: give a text that is not empty")
    _check_ends(says, joint, bodies)
    says.vector("position", joint.position, 3, most=MOST, unit="m")
    says.quaternion("orientation", joint.orientation)
    says.number("compliance", joint.compliance, 0.0, unit="m/N")
    says.number("angular_compliance", joint.angular_compliance, 0.0, unit="rad/(N m)")
    says.number("break_force", joint.break_force, above=0.0, unit="N", infinite=True)
    says.number("break_torque", joint.break_torque, above=0.0, unit="N m", infinite=True)
    if not isinstance(joint.collide_connected, (bool, np.bool_)):
        says.problem(f"collide_connected is {shown(joint.collide_connected)}: it must be True or False")
    if not says.choice("kind", joint.kind, JOINT_TYPES):
        return
    kind = JOINT_TYPES[joint.kind]
    if kind.anchors:
        _check_length(says, joint)
    elif joint.anchors is not None or joint.length is not None:
        says.problem(f"anchors and length belong to distance and rope, but kind is {shown(joint.kind)}: remove them")
    if not isinstance(joint.axes, dict):
        says.problem(f"axes is {shown(joint.axes)}: give a dictionary from axis name to Axis")
        return
    for name, axis in joint.axes.items():
        if kind.anchors:
            says.problem(f"axis {shown(name)} is given, but a {joint.kind} has no axes: remove it")
        elif not says.choice("the name of an axis", name, AXES):
            continue
        elif not isinstance(axis, Axis):
            says.problem(f"axis {name} is {shown(axis)}: give an Axis")
        else:
            _check_axis(says, joint, name, axis)


def _check_ends(says, joint, bodies):
    unknown = [
        (end, name)
        for end in ("body_a", "body_b")
        if (name := getattr(joint, end)) is not None and not (isinstance(name, str) and name in bodies)
    ]
    for end, name in unknown:
        says.problem(f"{end} is {shown(name)}, which is no body of the scene: name one, or None for the world")
    if unknown:
        return
    if joint.body_a == joint.body_b:
        both = "the world" if joint.body_a is None else repr(joint.body_a)
        says.problem(f"body_a and body_b are both {both}: join two different bodies")
    elif all(name is None or bodies[name].motion in ("static", "kinematic") for name in (joint.body_a, joint.body_b)):
        says.problem(
            f"neither {joint.body_a or 'the world'} nor {joint.body_b or 'the world'} can move freely: "
            "make one of them dynamic, or remove the joint"
        )


def _check_length(says, joint):
    if joint.length is not None:
        says.number("length", joint.length, 0.0, MOST, above=0.0, unit="m")
    if joint.anchors is None:
        says.problem(f"a {joint.kind} has no anchors: give two points ((x, y, z), (x, y, z)) in the world")
    elif says.vector("anchors", joint.anchors, 2, 3, most=MOST, unit="m") and np.array_equal(*joint.anchors):
        # A distance of nothing has no direction to push in; a rope only pulls once there is one.
        if not JOINT_TYPES[joint.kind].slack:
            says.problem("both anchors are the same point: move one, or use a ball joint")
        elif joint.length is None:
            says.problem("both anchors are the same point and length is None: move one, or give a length")


def _check_axis(says, joint, name, axis):
    what, before = f"axis {name}: ", len(says.problems)
    if not isinstance(axis.locked, (bool, np.bool_)):
        says.problem(f"{what}locked is {shown(axis.locked)}: it must be True or False")
    says.number(f"{what}lower", axis.lower, infinite=True)
    says.number(f"{what}upper", axis.upper, infinite=True)
    says.number(f"{what}stiffness", axis.stiffness, 0.0)
    says.number(f"{what}damping", axis.damping, 0.0)
    says.number(f"{what}rest", axis.rest, -MOST, MOST)
    says.number(f"{what}friction", axis.friction, 0.0)
    says.number(f"{what}max_force", axis.max_force, 0.0, infinite=True)
    if axis.drive is not None:
        says.choice(f"{what}drive", axis.drive, ("position", "velocity"))
    _check_target(says, what, axis.target)
    if len(says.problems) > before:
        return
    if axis.lower > axis.upper:
        says.problem(f"{what}lower {axis.lower:g} is above upper {axis.upper:g}: swap them")
    elif axis.lower == np.inf or axis.upper == -np.inf:
        says.problem(f"{what}the limits {axis.lower:g} and {axis.upper:g} leave nothing: use -inf and inf for no limit")
    if axis.locked and (axis.drive or axis.stiffness or axis.damping or axis.friction):
        says.problem(f"{what}it is locked, so a drive, spring or friction cannot act on it: unlock it, or remove them")
    if axis.locked and not axis.lower <= 0.0 <= axis.upper:
        says.problem(
            f"{what}it is locked at 0, which its limits {axis.lower:g} and {axis.upper:g} leave out: unlock it, or "
            "remove the limits"
        )
    if name in JOINT_TYPES[joint.kind].locked and not axis.locked and axis != Axis():
        says.problem(f"{what}a {joint.kind} locks this axis: use kind generic, or say locked=True")
    _check_unused(says, what, axis)


def _check_unused(says, what, axis):
    """What is given for a drive or a spring that is not there would do nothing, and nobody would know."""
    if axis.drive is None:
        drive = "choose drive 'position' or 'velocity', or remove it"
        if axis.target != 0.0:
            says.problem(f"{what}target is {shown(axis.target)}, but no drive goes there: {drive}")
        if axis.max_force != np.inf:
            says.problem(f"{what}max_force is {axis.max_force:g}, but there is no drive that it limits: {drive}")
    # the stiffness of a position drive is that of the drive, which goes to its target
    if axis.rest != 0.0 and (axis.drive == "position" or axis.stiffness == 0.0):
        cure = "say where the drive goes by target" if axis.drive == "position" else "give a stiffness, or remove it"
        says.problem(f"{what}rest is {axis.rest:g}, but no spring is relaxed there: {cure}")


def _check_target(says, what, target):
    if isinstance(target, float):
        return says.number(f"{what}target", target, -MOST, MOST)
    try:
        times, values = (np.asarray(part, float) for part in target)
    except (TypeError, ValueError):
        return says.problem(f"{what}target is {shown(target)}: give a number, or (times, values)")
    if times.ndim != 1 or times.shape != values.shape or len(times) == 0:
        return says.problem(
            f"{what}target has {times.shape} times and {values.shape} values: give one value for each time"
        )
    if not (np.isfinite(times).all() and np.isfinite(values).all()):
        return says.problem(f"{what}target holds NaN or infinite values: give finite numbers")
    if (np.diff(times) <= 0).any():
        return says.problem(f"{what}the times of target do not increase: sort them and remove doubles")
    if np.abs(values).max() > MOST:
        worst = int(np.abs(values).argmax())
        return says.problem(
            f"{what}target is {values[worst]:g} at {times[worst]:g} s: it must be from {-MOST:g} to {MOST:g}"
        )
    fast = np.flatnonzero(np.abs(np.diff(values)) > MOST * np.diff(times))
    if len(fast):
        i = fast[0]
        return says.problem(
            f"{what}target goes from {values[i]:g} at {times[i]:g} s to {values[i + 1]:g} at {times[i + 1]:.17g} s: it"
            f" must change by up to {MOST:g} a second, so set its times further apart"
        )
    return True
