# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a body, its path, its mass and its shapes."""

import itertools
from numbers import Integral

import numpy as np

from .checker import MOST
from .errors import SceneError, shown
from .scene import ALL_GROUPS, MOTIONS, MotionPath
from .shapes import SHAPES, ConvexHull

THIN = 1e-6
"""By how much of it the largest moment of inertia may be above the sum of the others: a flat plate has their sum."""
FLAT = 1e-12
"""A triangle no higher than this part of its longest side has no area."""
SMALLEST, LARGEST = 1e-12, 1e12
"""Sizes of shapes [m]: moments of inertia go with the fifth power and must stay in the range of float64."""

LIGHTEST, HEAVIEST = 1e-90, 1e90
"""Masses [kg], whose products and squares must stay in the range of float64."""


def check_body(says, body):
    """Tells ``says`` every problem of one body."""
    if not isinstance(body.name, str) or not body.name:
        says.problem(f"the name of a body is {shown(body.name)}: give a text that is not empty")
    moves = says.choice("motion", body.motion, MOTIONS)
    units = {"position": "m", "linear_velocity": "m/s", "angular_velocity": "rad/s", "surface_velocity": "m/s"}
    for what, unit in units.items():
        says.vector(what, getattr(body, what), 3, most=MOST, unit=unit)
    says.quaternion("orientation", body.orientation)
    if says.number("friction", body.friction, 0.0):
        says.number("friction", body.friction, 0.0, MOST)
    says.number("restitution", body.restitution, 0.0, 1.0)
    says.number("linear_damping", body.linear_damping, 0.0, unit="1/s")
    says.number("angular_damping", body.angular_damping, 0.0, unit="1/s")
    for what in ("collision_group", "collision_mask"):
        value = getattr(body, what)
        if not isinstance(value, Integral) or not 0 <= value <= ALL_GROUPS:
            says.problem(f"{what} is {shown(value)}: it must be a whole number from 0 to 0xFFFFFFFF (32 bits)")
    if body.path is not None:
        _check_path(says, body)
    if body.held is not None:
        _check_held(says, body)
    says.number("blend_time", body.blend_time, 0.0, unit="s")
    before = len(says.problems)
    if not isinstance(body.shapes, list):
        says.problem(f"shapes is {shown(body.shapes)}: give a list of shapes, which may be empty")
    for number, shape in enumerate(body.shapes if isinstance(body.shapes, list) else ()):
        _check_shape(says, f"shape {number}", shape, body.motion)
    whole = moves and len(says.problems) == before
    whole = _check_mass(says, body) and whole
    if whole and body.motion == "dynamic":
        _check_mass_properties(says, body)


def _check_path(says, body):
    path = body.path
    if not isinstance(path, MotionPath):
        return says.problem(f"path is {shown(path)}: give a MotionPath or None")
    if body.motion == "static":
        says.problem('motion is "static" and there is a path: make it "kinematic", or remove the path')
    return check_path(says, path)


def check_path(says, path):
    """Tells ``says`` every problem of a MotionPath."""
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
    good = says.vector("path.position", path.position, count, 3, most=MOST, unit="m")
    good = says.quaternion("path.orientation", path.orientation, count) and good and (steps > 0).all()
    return good and _check_speed(says, path, steps)


def _check_speed(says, path, steps):
    moved = np.abs(np.diff(path.position, axis=0)).max(axis=1), path.turns()
    for way, unit in zip(moved, ("m", "rad"), strict=True):
        fast = np.flatnonzero(way > MOST * steps)
        if len(fast):
            i = fast[0]
            return says.problem(
                f"path goes {way[i]:g} {unit} from {path.times[i]:g} s to {path.times[i + 1]:.17g} s: it must be up to"
                f" {MOST:g} {unit}/s, so set its times further apart"
            )
    return True


def _check_held(says, body):
    if body.path is None or body.motion != "dynamic":
        return says.problem("held is given, but only a dynamic body with a path can be held on it: remove one of them")
    if not says.vector("held", body.held, -1, 2):
        return False
    times = body.held.reshape(-1)
    wrong = np.nonzero(np.diff(times) <= 0.0)[0]
    if len(wrong):
        i = wrong[0]
        return says.problem(f"held does not increase: {times[i]:g} s is followed by {times[i + 1]:g} s; sort the times")
    return True


def _check_mass(says, body):
    good = True
    if body.mass is not None:
        good &= says.number("mass", body.mass, LIGHTEST, HEAVIEST, above=0.0, unit="kg")
    else:
        good &= says.number("density", body.density, above=0.0, unit="kg/m^3")
    if body.center_of_mass is not None:
        good &= says.vector("center_of_mass", body.center_of_mass, 3, most=MOST, unit="m")
    if body.inertia is not None:
        good &= says.vector("inertia", body.inertia, 3, 3) and _check_inertia(says, body.inertia)
    return good


def _check_inertia(says, inertia):
    if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max():
        return says.problem(
            f"inertia {inertia.tolist()} is not symmetric: give a symmetric matrix about the centre of mass"
        )
    moments = np.linalg.eigvalsh(inertia)
    if not moments[0] > 0.0:
        return says.problem(
            f"inertia has a principal moment of {moments[0]:g} kg m^2: all three must be greater than 0"
        )
    half = 0.5 * moments  # their sum may be too much for float64
    if half[2] > (1.0 + THIN) * (half[0] + half[1]):
        return says.problem(
            "inertia has principal moments of {:g}, {:g} and {:g} kg m^2: no distribution of mass has one that is more"
            " than the sum of the other two; correct the matrix, or leave it out to take that of the shapes".format(
                *moments
            )
        )
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
        return says.problem(f"{what} is {shown(shape)}: give one of {', '.join(SHAPES)}")
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
    if kind == "ConvexDecomposition":
        if shape.times is not None or shape.moving_vertices is not None:
            return says.problem(f"{what} has moving_vertices, but its convex pieces cannot deform: use a TriangleMesh")
        good = _check_vertices(says, what, shape) and _check_areas(says, what, shape, [shape.vertices])
        return _check_pieces(says, what, shape) and good and placed
    if kind in ("ConvexHull", "TriangleMesh"):
        good = _check_vertices(says, what, shape) and placed
        if kind == "ConvexHull":
            return good
        if shape.times is not None or shape.moving_vertices is not None:
            good = _check_deformation(says, what, shape, motion) and good
            return good and _check_areas(says, what, shape, shape.moving_vertices)
        return good and _check_areas(says, what, shape, [shape.vertices])
    good = says.number(f"radius of {what}", shape.radius, SMALLEST, LARGEST, unit="m")
    if kind != "Sphere":
        # A capsule without a straight part is a ball, which is fine.
        least = 0.0 if kind == "Capsule" else SMALLEST
        good &= says.number(f"half_height of {what}", shape.half_height, least, LARGEST, unit="m")
    return good and placed


def _check_deformation(says, what, shape, motion):
    if motion == "dynamic":
        return says.problem(f"{what} deforms over time, which a dynamic body cannot: make the body static or kinematic")
    if not says.vector(f"times of {what}", shape.times, -1):
        return False
    if len(shape.times) == 0 or (np.diff(shape.times) <= 0.0).any():
        return says.problem(f"the {len(shape.times)} times of {what} do not increase: give at least one, sorted")
    name = f"moving_vertices of {what}"
    if not says.vector(name, shape.moving_vertices, len(shape.times), len(shape.vertices), 3):
        return False
    reach = np.abs(shape.moving_vertices).max(axis=(1, 2), initial=0.0)
    if reach.max(initial=0.0) > LARGEST:
        worst = int(reach.argmax())
        return says.problem(
            f"{name} reach {reach[worst]:g} m from its origin at {shape.times[worst]:g} s: "
            f"it must be up to {LARGEST:g} m"
        )
    return True


def _check_areas(says, what, shape, moments):
    """Whether any triangle has an area at any of these ``moments``, each (V, 3)."""
    few = 64  # of a good mesh they tell at once
    for vertices, part in itertools.product(moments, (slice(few), slice(few, None))):
        a, b, c = np.moveaxis(vertices[shape.triangles[part]], 1, 0)
        longest = np.sqrt(np.max([((p - q) ** 2).sum(1) for p, q in ((a, b), (b, c), (c, a))], axis=0))
        rounding = 4.0 * np.finfo(vertices.dtype).eps * np.abs(vertices).max()
        if (np.linalg.norm(np.cross(b - a, c - a), axis=1) > (FLAT * longest + rounding) * longest).any():
            return True
    return says.problem(
        f"none of the {len(shape.triangles)} triangles of {what} has an area, so that nothing can touch it: correct its"
        " vertices, or remove the shape"
    )


def _check_pieces(says, what, shape):
    if not isinstance(shape.pieces, tuple) or not shape.pieces:
        return says.problem(f"pieces of {what} are {shown(shape.pieces)}: make it with decompose(vertices, triangles)")
    good = True
    for number, piece in enumerate(shape.pieces):
        own = f"piece {number} of {what}"
        if says.vector(own, piece, -1, 3):
            good &= _check_vertices(says, own, ConvexHull(piece))
        else:
            good = False
    return good


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
    numbers = isinstance(triangles, np.ndarray)
    if not numbers or triangles.dtype != np.int32 or triangles.shape[1:] != (3,) or len(triangles) == 0:
        found = f"of shape {triangles.shape} and type {triangles.dtype}" if numbers else shown(triangles)
        return says.problem(f"triangles of {what} are {found}: give at least one row of three whole vertex numbers")
    wrong = triangles[(triangles < 0) | (triangles >= count)]
    if len(wrong):
        return says.problem(f"triangles of {what} name vertex {wrong[0]}, but there are {count}: use 0 to {count - 1}")
    return True
