# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions to values, whose bad answers become problems with the object's name."""

from dataclasses import dataclass

import numpy as np

from .coerce import UNIT_TOLERANCE
from .errors import one_line, shown

MOST = 1e12
"""Places [m], speeds [m/s, rad/s] and their like beyond this leave the range of float64 when they are multiplied."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.  ``str(problem)`` is one sentence that starts with the object's name."""

    object_name: str
    message: str

    def __str__(self):
        return f"{self.object_name}: {self.message}"


class Checker:
    """Collects problems of one object.  Each question returns whether the value is good."""

    def __init__(self, name, problems):
        self.name, self.problems = name if isinstance(name, str) else shown(name), problems

    def problem(self, message):
        """Notes one; False."""
        self.problems.append(Problem(self.name, one_line(message)))
        return False

    def number(self, what, value, lower=-np.inf, upper=np.inf, *, above=None, unit="", infinite=False):
        """A number from lower to upper, or greater than ``above``; infinite ones only where allowed."""
        unit = f" {unit}" if unit else ""
        if not isinstance(value, float):
            return self.problem(f"{what} is {shown(value)}: give a number")
        if np.isnan(value) or (np.isinf(value) and not infinite):
            return self.problem(f"{what} is {value}{unit}: give a finite number")
        if above is not None and not value > above:
            return self.problem(f"{what} is {value:g}{unit}: it must be greater than {above:g}")
        if not lower <= value <= upper:
            limit = f"at least {lower:g}" if np.isinf(upper) else f"from {lower:g} to {upper:g}"
            return self.problem(f"{what} is {value:g}{unit}: it must be {limit}")
        return True

    def vector(self, what, value, *shape, most=np.inf, unit=""):
        """A finite array, numbers from -most to most; -1 in the shape stands for any number."""
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return self.problem(f"{what} is {shown(value)}: give numbers of shape {_shape_words(shape)}")
        if value.shape != shape and (
            value.ndim != len(shape) or any(n >= 0 and n != m for n, m in zip(shape, value.shape, strict=True))
        ):
            return self.problem(f"{what} has shape {value.shape}: give numbers of shape {_shape_words(shape)}")
        if np.isfinite(value).all():
            return value.size == 0 or most == np.inf or self._within(what, value, most, f" {unit}" if unit else "")
        bad = np.argwhere(~np.isfinite(value))
        place = tuple(int(i) for i in bad[0])
        return self.problem(f"{what}{list(place)} is {value[place]} ({len(bad)} such values): give finite numbers")

    def _within(self, what, value, most, unit):
        place = np.unravel_index(np.abs(value).argmax(), value.shape)
        if abs(value[place]) <= most:
            return True
        return self.problem(
            f"{what}{[int(i) for i in place]} is {value[place]:g}{unit}: it must be from {-most:g} to {most:g}{unit}"
        )

    def quaternion(self, what, value, *shape):
        """Unit quaternions xyzw of shape (*shape, 4)."""
        if not self.vector(what, value, *shape, 4):
            return False
        lengths = np.sqrt(np.einsum("...i,...i->...", value, value))
        worst = lengths.flat[np.argmax(np.abs(lengths - 1.0))] if lengths.size else 1.0
        if abs(worst - 1.0) > UNIT_TOLERANCE:
            return self.problem(
                f"{what} is a quaternion of length {worst:.9g}: it must be 1 within {UNIT_TOLERANCE:g}, so normalise it"
            )
        return True

    def choice(self, what, value, choices):
        """One of the names in ``choices``."""
        if not isinstance(value, str) or value not in choices:
            return self.problem(f"{what} is {shown(value)}: choose one of {', '.join(choices)}")
        return True


def _shape_words(shape):
    return "(" + ", ".join("any" if n < 0 else str(n) for n in shape) + ")"
