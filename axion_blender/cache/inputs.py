# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes into a solve, so that two bakes can be compared: a hash of what stands still, and all that is animated.

Animated are motion paths and series of (times, values), as the targets of drives.  At time t a solve has read them up
to two frames after t and no farther, so where two scenes differ from a later sample on, their motions up to two frames
before the sample before it are the same.  Anything else that differs makes another motion from the start; so does
another version of the solver.
"""

import hashlib
import math
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ...solver import MotionPath

AHEAD = 2.0  # frames that a step looks ahead of its end, at most
MARGIN = 1e-6  # [s] the solver adds up time, so a step may end a rounding error later than a sample


@dataclass
class Inputs:
    """digest: hexadecimal, of everything but the animated; channels: {name: (times (S,) [s], values (S, n))}; frame:
    length of one [s], 0 in what a cache remembers.
    """

    digest: str
    channels: dict
    frame: float = 0.0

    def same_until(self, other):
        """Time up to which ``other`` gives the same motion [s]: inf where both are equal, -inf where nothing is."""
        if self.digest != other.digest or self.channels.keys() != other.channels.keys():
            return -math.inf
        channels = ((own, other.channels[name]) for name, own in self.channels.items())
        return min((_same_until(*pair, other.frame) for pair in channels), default=math.inf)

    def begins(self, other):
        """Whether ``other`` only knows more of the animation: every channel of this one begins the other's."""
        return self.channels.keys() == other.channels.keys() and all(
            len(times) <= len(other.channels[name][0]) and _common((times, values), other.channels[name]) == len(times)
            for name, (times, values) in self.channels.items()
        )


def inputs_of(scene, fps, config):
    """The Inputs of ``simulate(scene, ..., fps, config)``."""
    walk = _Walk()
    walk.add("solver", solver_fingerprint())
    walk.add("fps", float(fps))
    walk.add("config", config)
    walk.add("scene", scene)
    return Inputs(walk.sums.hexdigest(), walk.channels, 1.0 / fps)


@cache
def solver_fingerprint():
    """Hash of the solver's own source: another version may compute other motion."""
    sums, folder = hashlib.sha256(), Path(__file__).resolve().parents[2] / "solver"
    for path in sorted(folder.rglob("*.py")):
        sums.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return sums.hexdigest()


class _Walk:
    """Goes through a tree of dataclasses, lists, dicts, arrays, numbers and text."""

    def __init__(self):
        self.sums, self.channels = hashlib.sha256(), {}

    def add(self, name, value):
        self._note(name, type(value).__name__)
        if isinstance(value, MotionPath):
            self._channel(name, value.times, np.hstack([value.position, value.orientation]))
        elif _is_series(value):
            self._channel(name, value[0], np.array(value[1], float)[:, None])
        elif is_dataclass(value):
            for item in fields(value):
                self.add(f"{name}.{item.name}", getattr(value, item.name))
        elif isinstance(value, dict):
            for key, entry in value.items():
                self.add(f"{name}.{key}", entry)
        elif isinstance(value, (list, tuple)):
            for number, entry in enumerate(value):
                self.add(f"{name}.{number}", entry)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._note(value.dtype.str, repr(value.shape))
            self.sums.update(np.ascontiguousarray(value))
        elif value is None or isinstance(value, (str, bool, int, float, np.generic)):
            self._note(repr(value), "")
        else:
            raise TypeError(f"{name} is a {type(value).__name__}: inputs.py does not know how to compare it")

    def _channel(self, name, times, values):
        self._note("animated", name)
        self.channels[name] = np.asarray(times, float), np.asarray(values, float)

    def _note(self, *words):
        for word in words:
            text = word.encode("utf-8", "surrogatepass")
            self.sums.update(len(text).to_bytes(8, "little") + text)


def _is_series(value):
    """Whether it is (times, values), as the solver keeps the target of a drive."""
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    return all(isinstance(part, tuple) for part in value) and len(value[0]) == len(value[1]) > 0


def _common(first, second):
    """Number of samples at which two channels are equal, from the first on."""
    count = min(len(first[0]), len(second[0]))
    if first[1].shape[1:] != second[1].shape[1:]:
        return 0
    # Bits are compared, so that -0.0 and NaN are told apart like the solver may.
    same = _bits(first[0][:count]) == _bits(second[0][:count])
    same &= (_bits(first[1][:count]) == _bits(second[1][:count])).all(axis=1)
    return count if same.all() else int(np.argmin(same))


def _bits(values):
    return np.ascontiguousarray(values).view(np.int64)


def _same_until(first, second, frame):
    count = _common(first, second)
    if count == len(first[0]) == len(second[0]):
        return math.inf
    # Before the second sample a path already shows its first velocity.
    return float(first[0][count - 1]) - AHEAD * frame - MARGIN if count > 1 else -math.inf
