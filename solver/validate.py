# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds all that is wrong with a scene.  Nothing is repaired: each problem names object, value, limit and cure."""

from collections import Counter
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from .coerce import UNIT_TOLERANCE
from .errors import SceneError
from .joint_types import AXES, JOINT_TYPES
from .materials import COMBINE
from .scene import ALL_GROUPS, MOTIONS, Axis, Body, Joint, MotionPath
from .shapes import SHAPES

SMALLEST, LARGEST = 1e-12, 1e12
"""Sizes of shapes [m]: moments of inertia go with the fifth power and must stay in the range of float64."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.  ``str(problem)`` is one sentence that starts with the object's name."""

    object_name: str
    message: str

    def __str__(self):
        return f"{self.object_name}: {self.message}"


def validate(scene):
    """Every problem of the scene, in its order; an empty list when it can be simulated."""
    problems = []
    scene_says = _Checker("Scene", problems)
    scene_says.vector("gravity", scene.gravity, 3)
    scene_says.choice("friction_combine", scene.friction_combine, COMBINE)
    scene_says.choice("restitution_combine", scene.restitution_combine, COMBINE)
    for kind, things, cls in (("body", scene.bodies, Body), ("joint", scene.joints, Joint)):
        if not isinstance(things, list):
            scene_says.problem(f"its {'bodies' if cls is Body else 'joints'} are {things!r}: give a list")
            return problems
        for thing in things:
            if not isinstance(thing, cls):
                scene_says.problem(f"the list of bodies or joints holds {thing!r}, which is no {cls.__name__}")
        names = Counter(str(thing.name) for thing in things if isinstance(thing, cls))
        for name, count in names.items():
            if count > 1:
                _Checker(name, problems).problem(f"{count} things share this {kind} name: give each its own")
    bodies = {body.name: body for body in scene.bodies if isinstance(body, Body) and isinstance(body.name, str)}
    for body in scene.bodies:
        if isinstance(body, Body):
            _check_body(_Checker(body.name, problems), body)
    for joint in scene.joints:
        if isinstance(joint, Joint):
            _check_joint(_Checker(joint.name, problems), joint, bodies)
    return problems


def raise_if_invalid(scene):
    """Raises SceneError with the first problem as its message and all of them in ``problems``."""
    problems = validate(scene)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise SceneError(f"{problems[0]}{more}", problems)


class _Checker:
    """Collects problems of one object.  Each question returns whether the value is good."""

    def __init__(self, name, problems):
        self.name, self.problems = name if isinstance(name, str) else _one_line(repr(name)), problems

    def problem(self, message):
        self.problems.append(Problem(self.name, _one_line(message)))
        return False

    def number(self, what, value, lower=-np.inf, upper=np.inf, *, above=None, unit="", infinite=False):
        """A number from lower to upper, or greater than ``above``; infinite ones only where allowed."""
        unit = f" {unit}" if unit else ""
        if not isinstance(value, float):
            return self.problem(f"{what} is {value!r}: give a number")
        if np.isnan(value) or (np.isinf(value) and not infinite):
            return self.problem(f"{what} is {value}{unit}: give a finite number")
        if above is not None and not value > above:
            return self.problem(f"{what} is {value:g}{unit}: it must be greater than {above:g}")
        if not lower <= value <= upper:
            limit = f"at least {lower:g}" if np.isinf(upper) else f"from {lower:g} to {upper:g}"
            return self.problem(f"{what} is {value:g}{unit}: it must be {limit}")
        return True

    def vector(self, what, value, *shape):
        """A finite array; -1 in the shape stands for any number."""
        wanted = "(" + ", ".join("any" if n < 0 else str(n) for n in shape) + ")"
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return self.problem(f"{what} is {value!r}: give numbers of shape {wanted}")
        if value.ndim != len(shape) or any(n >= 0 and n != m for n, m in zip(shape, value.shape, strict=True)):
            return self.problem(f"{what} has shape {value.shape}: give numbers of shape {wanted}")
        bad = np.argwhere(~np.isfinite(value))
        if len(bad):
            place = tuple(int(i) for i in bad[0])
            return self.problem(f"{what}{list(place)} is {value[place]} ({len(bad)} such values): give finite numbers")
        return True

    def quaternion(self, what, value, *shape):
        if not self.vector(what, value, *shape, 4):
            return False
        lengths = np.linalg.norm(value, axis=-1)
        worst = lengths.flat[np.argmax(np.abs(lengths - 1.0))] if lengths.size else 1.0
        if abs(worst - 1.0) > UNIT_TOLERANCE:
            return self.problem(
                f"{what} is a quaternion of length {worst:.9g}: it must be 1 within {UNIT_TOLERANCE:g}, so normalise it"
            )
        return True

    def choice(self, what, value, choices):
        if not isinstance(value, str) or value not in choices:
            return self.problem(f"{what} is {value!r}: choose one of {', '.join(choices)}")
        return True


def _one_line(text):
    return " ".join(text.split())


def _check_body(says, body):
    if not isinstance(body.name, str) or not body.name:
        says.problem(f"the name of a body is {body.name!r}: give a text that is not empty")
    moves = says.choice("motion", body.motion, MOTIONS)
    for what in ("position", "linear_velocity", "angular_velocity"):
        says.vector(what, getattr(body, what), 3)
    says.quaternion("orientation", body.orientation)
    says.number("friction", body.friction, 0.0)
    says.number("restitution", body.restitution, 0.0, 1.0)
    says.number("linear_damping", body.linear_damping, 0.0, unit="1/s")
    says.number("angular_damping", body.angular_damping, 0.0, unit="1/s")
    for what in ("collision_group", "collision_mask"):
        value = getattr(body, what)
        if not isinstance(value, Integral) or not 0 <= value <= ALL_GROUPS:
            says.problem(f"{what} is {value!r}: it must be a whole number from 0 to 0xFFFFFFFF (32 bits)")
    if body.path is not None:
        _check_path(says, body)
    before = len(says.problems)
    if not isinstance(body.shapes, list):
        says.problem(f"shapes is {body.shapes!r}: give a list of shapes, which may be empty")
    for number, shape in enumerate(body.shapes if isinstance(body.shapes, list) else ()):
        _check_shape(says, f"shape {number}", shape, body.motion)
    whole = moves and len(says.problems) == before
    whole = _check_mass(says, body) and whole
    if whole and body.motion == "dynamic":
        _check_mass_properties(says, body)


def _check_path(says, body):
    path = body.path
    if not isinstance(path, MotionPath):
        return says.problem(f"path is {path!r}: give a MotionPath or None")
    if body.motion == "static":
        says.problem('motion is "static" and there is a path: make it "kinematic", or remove the path')
    if not says.vector("path.times", path.times, -1):
        return False
    count = len(path.times)
    if count == 0:
        return says.problem("path has 0 samples: give at least one, or remove the path")
    steps = np.diff(path.times)
    if (steps <= 0).any():
        i = int(np.argmax(steps <= 0))
        says.problem(
            f"path.times does not increase: {path.times[i]:g} s is followed by {path.times[i + 1]:g} s; sort them"
        )
    says.vector("path.position", path.position, count, 3)
    return says.quaternion("path.orientation", path.orientation, count)


def _check_mass(says, body):
    good = True
    if body.mass is not None:
        good &= says.number("mass", body.mass, above=0.0, unit="kg")
    else:
        good &= says.number("density", body.density, above=0.0, unit="kg/m^3")
    if body.center_of_mass is not None:
        good &= says.vector("center_of_mass", body.center_of_mass, 3)
    if body.inertia is not None:
        good &= says.vector("inertia", body.inertia, 3, 3) and _check_inertia(says, body.inertia)
    return good


def _check_inertia(says, inertia):
    if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max():
        return says.problem(
            f"inertia {inertia.tolist()} is not symmetric: give a symmetric matrix about the centre of mass"
        )
    least = np.linalg.eigvalsh(inertia)[0]
    if not least > 0.0:
        return says.problem(f"inertia has a principal moment of {least:g} kg m^2: all three must be greater than 0")
    return True


def _check_mass_properties(says, body):
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            weight, _, inertia = body.mass_properties()
    except SceneError as error:
        return says.problem(str(error).removeprefix(f"{body.name}: "))
    if not (
        np.isfinite(weight) and weight > 0.0 and np.isfinite(inertia).all() and np.linalg.eigvalsh(inertia)[0] > 0.0
    ):
        return says.problem(
            f"its shapes give a mass of {weight:g} kg and moments of inertia of {np.diag(inertia)} kg m^2, "
            "which are not all positive and finite: check the sizes of the shapes, or give mass and inertia"
        )
    return True


def _check_shape(says, what, shape, motion):
    kind = type(shape).__name__
    if not isinstance(shape, tuple(SHAPES.values())):
        return says.problem(f"{what} is {shape!r}: give one of {', '.join(SHAPES)}")
    what = f"{what} ({kind})"
    placed = says.vector(f"position of {what}", shape.position, 3)
    placed &= says.quaternion(f"orientation of {what}", shape.orientation)
    if kind == "Plane":
        if motion != "static":
            return says.problem(f'{what} has no end but motion is "{motion}": make the body static, or use a Box')
        return placed
    if kind == "Box":
        if (
            says.vector(f"half_extents of {what}", shape.half_extents, 3)
            and not ((shape.half_extents >= SMALLEST) & (shape.half_extents <= LARGEST)).all()
        ):
            sizes = ", ".join(f"{size:g}" for size in shape.half_extents)
            return says.problem(f"half_extents of {what} are ({sizes}) m: all must be from {SMALLEST:g} to {LARGEST:g}")
        return placed
    if kind in ("ConvexHull", "TriangleMesh"):
        return _check_vertices(says, what, shape) and placed
    good = says.number(f"radius of {what}", shape.radius, SMALLEST, LARGEST, unit="m")
    if kind != "Sphere":
        # A capsule without a straight part is a ball, which is fine.
        least = 0.0 if kind == "Capsule" else SMALLEST
        good &= says.number(f"half_height of {what}", shape.half_height, least, LARGEST, unit="m")
    return good and placed


def _check_vertices(says, what, shape):
    if not says.vector(f"vertices of {what}", shape.vertices, -1, 3):
        return False
    size = float(np.abs(shape.vertices).max(initial=0.0))
    if len(shape.vertices) and not SMALLEST <= size <= LARGEST:
        return says.problem(
            f"vertices of {what} reach {size:g} m from its origin: it must be from {SMALLEST:g} to {LARGEST:g} m"
        )
    if type(shape).__name__ == "ConvexHull":
        try:
            return len(shape.triangles) > 0
        except SceneError as error:
            return says.problem(f"{what}: {error}")
    triangles, count = shape.triangles, len(shape.vertices)
    whole = isinstance(triangles, np.ndarray) and triangles.dtype == np.int32
    if not whole or triangles.ndim != 2 or triangles.shape[1] != 3 or len(triangles) == 0:
        found = f"of shape {triangles.shape}" if whole else repr(triangles)
        return says.problem(f"triangles of {what} are {found}: give at least one row of three whole vertex numbers")
    wrong = triangles[(triangles < 0) | (triangles >= count)]
    if len(wrong):
        return says.problem(f"triangles of {what} name vertex {wrong[0]}, but there are {count}: use 0 to {count - 1}")
    return True


def _check_joint(says, joint, bodies):
    if not isinstance(joint.name, str) or not joint.name:
        says.problem(f"the name of a joint is {joint.name!r}: give a text that is not empty")
    _check_ends(says, joint, bodies)
    says.vector("position", joint.position, 3)
    says.quaternion("orientation", joint.orientation)
    says.number("compliance", joint.compliance, 0.0, unit="m/N")
    says.number("angular_compliance", joint.angular_compliance, 0.0, unit="rad/(N m)")
    says.number("break_force", joint.break_force, above=0.0, unit="N", infinite=True)
    says.number("break_torque", joint.break_torque, above=0.0, unit="N m", infinite=True)
    if not isinstance(joint.collide_connected, (bool, np.bool_)):
        says.problem(f"collide_connected is {joint.collide_connected!r}: it must be True or False")
    if not says.choice("kind", joint.kind, JOINT_TYPES):
        return
    kind = JOINT_TYPES[joint.kind]
    if kind.anchors:
        _check_length(says, joint)
    elif joint.anchors is not None or joint.length is not None:
        says.problem(f"anchors and length belong to distance and rope, but kind is {joint.kind!r}: remove them")
    if not isinstance(joint.axes, dict):
        says.problem(f"axes is {joint.axes!r}: give a dictionary from axis name to Axis")
        return
    for name, axis in joint.axes.items():
        if kind.anchors:
            says.problem(f"axis {name!r} is given, but a {joint.kind} has no axes: remove it")
        elif not says.choice("the name of an axis", name, AXES):
            continue
        elif not isinstance(axis, Axis):
            says.problem(f"axis {name} is {axis!r}: give an Axis")
        else:
            _check_axis(says, joint, name, axis)


def _check_ends(says, joint, bodies):
    unknown = [
        (end, name)
        for end in ("body_a", "body_b")
        if (name := getattr(joint, end)) is not None and not (isinstance(name, str) and name in bodies)
    ]
    for end, name in unknown:
        says.problem(f"{end} is {name!r}, which is no body of the scene: name one, or None for the world")
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
        says.number("length", joint.length, above=0.0, unit="m")
    if joint.anchors is None:
        says.problem(f"a {joint.kind} has no anchors: give two points ((x, y, z), (x, y, z)) in the world")
    elif says.vector("anchors", joint.anchors, 2, 3) and joint.length is None and joint.rest_length() <= 0.0:
        says.problem("both anchors are the same point and length is None: move one, give a length, or use a ball joint")


def _check_axis(says, joint, name, axis):
    what, before = f"axis {name}: ", len(says.problems)
    if not isinstance(axis.locked, (bool, np.bool_)):
        says.problem(f"{what}locked is {axis.locked!r}: it must be True or False")
    says.number(f"{what}lower", axis.lower, infinite=True)
    says.number(f"{what}upper", axis.upper, infinite=True)
    says.number(f"{what}stiffness", axis.stiffness, 0.0)
    says.number(f"{what}damping", axis.damping, 0.0)
    says.number(f"{what}rest", axis.rest)
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
    if name in JOINT_TYPES[joint.kind].locked and not axis.locked and axis != Axis():
        says.problem(f"{what}a {joint.kind} locks this axis: use kind generic, or say locked=True")


def _check_target(says, what, target):
    if isinstance(target, float):
        return says.number(f"{what}target", target)
    try:
        times, values = (np.asarray(part, float) for part in target)
    except (TypeError, ValueError):
        return says.problem(f"{what}target is {target!r}: give a number, or (times, values)")
    if times.ndim != 1 or times.shape != values.shape or len(times) == 0:
        return says.problem(
            f"{what}target has {times.shape} times and {values.shape} values: give one value for each time"
        )
    if not (np.isfinite(times).all() and np.isfinite(values).all()):
        return says.problem(f"{what}target holds NaN or infinite values: give finite numbers")
    if (np.diff(times) <= 0).any():
        return says.problem(f"{what}the times of target do not increase: sort them and remove doubles")
    return True
