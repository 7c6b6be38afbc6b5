# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a force field."""

import numpy as np

from .checker import MOST
from .errors import shown
from .force_fields import FALLOFFS, KINDS, SHAPES, SIDES
from .scene import MotionPath
from .validate_bodies import check_path

STRONGEST, STEEPEST = 1e12, 100.0
"""Numbers of fields and powers of distances beyond these leave the range of float64 when they are multiplied."""


def check_field(says, field, bodies):
    """Tells ``says`` every problem of one ForceField; ``bodies``: by name."""
    if not isinstance(field.name, str) or not field.name:
        says.problem(f"the name of a force field is {shown(field.name)}: give a text that is not empty")
    for what, choices in (("kind", KINDS), ("shape", SHAPES), ("falloff", FALLOFFS), ("side", SIDES)):
        says.choice(what, getattr(field, what), choices)
    for what in ("strength", "damping"):
        _check_series(says, what, getattr(field, what))
    for what in ("flow", "size", "weight"):
        says.number(what, getattr(field, what), -STRONGEST, STRONGEST)
    for what in ("power", "radial_power"):
        says.number(what, getattr(field, what), -STEEPEST, STEEPEST)
    for what in ("min_distance", "min_radius"):
        says.number(what, getattr(field, what), 0.0)
    for what in ("max_distance", "max_radius"):
        says.number(what, getattr(field, what), 0.0, infinite=True)
    for what in ("rate", "length", "force"):
        says.number(what, getattr(field, what), 1.0 / STRONGEST, STRONGEST, above=0.0)
    says.vector("position", field.position, 3, most=MOST, unit="m")
    says.quaternion("orientation", field.orientation)
    if field.path is not None:
        if isinstance(field.path, MotionPath):
            check_path(says, field.path)
        else:
            says.problem(f"path is {shown(field.path)}: give a MotionPath or None")
    for name in (field.body, *(field.excludes if isinstance(field.excludes, list) else ())):
        if name is not None and name not in bodies:
            says.problem(f"it names body {shown(name)}, which is no body of the scene: name one, or None")
    if field.permutation is not None:
        whole = isinstance(field.permutation, np.ndarray) and field.permutation.dtype == np.int32
        if not whole or not np.array_equal(np.sort(field.permutation), np.arange(256)):
            says.problem("permutation is no permutation of the numbers 0 to 255: give one, or None")


def _check_series(says, what, value):
    if not isinstance(value, tuple):
        return says.number(what, value, -STRONGEST, STRONGEST)
    times, values = (np.array(column, float) for column in value)
    if len(times) == 0 or len(times) != len(values) or not np.isfinite(times).all():
        return says.problem(
            f"{what} has {len(times)} times and {len(values)} values: give as many of each, at least one, all finite"
        )
    if not np.isfinite(values).all():
        worst = int(np.argmin(np.isfinite(values)))
        return says.problem(f"{what} is {values[worst]:g} at {times[worst]:g} s: give finite numbers")
    if np.abs(values).max() > STRONGEST:
        worst = int(np.abs(values).argmax())
        return says.problem(
            f"{what} is {values[worst]:g} at {times[worst]:g} s: it must be from {-STRONGEST:g} to {STRONGEST:g}"
        )
    if (np.diff(times) <= 0.0).any():
        return says.problem(f"the times of {what} do not increase: sort them")
    return True
