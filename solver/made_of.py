# SPDX-License-Identifier: GPL-3.0-or-later
"""What a checkpoint was made of, as short hashes of every body, joint, field and setting, so that another is refused.

Paths and series of (times, values) count up to the first sample that is AHEAD or more after the checkpoint: a run has
read no more of them, and may go on where the animation is longer or another from there on.
"""

import hashlib
from dataclasses import fields, is_dataclass
from functools import cached_property
from numbers import Real

import numpy as np

from .scene import MotionPath
from .trajectory import CheckpointError

AHEAD = 2.0  # frames that a step looks ahead of its end, at most
MARGIN = 5e-7  # [s] the solver adds up time, so a step may end a rounding error later than a sample
SETTINGS = ("substeps", "method", "precision", "joint_damping", "states_per_frame", "deterministic")
"""Those of a SolverConfig that change the motion, beside the tolerances; devices differ in rounding only."""
OF_SCENE = ("gravity", "friction_combine", "restitution_combine")
KINDS = ("bodies", "joints", "fields")


class MadeOf:
    """A valid Scene, which nobody changes any more, and a SolverConfig as hashes; frame: length of one [s].

    It takes in the samples of paths as time goes by, each one once.
    """

    def __init__(self, scene, config, frame):
        self.names = {kind: [f"{thing.name}" for thing in getattr(scene, kind)] for kind in KINDS}
        self.names["scene"] = [f"Scene.{name}" for name in OF_SCENE]
        self.names["config"] = ["tolerance", *SETTINGS]
        self._scene, self._config, self._ahead = scene, config, AHEAD * frame + MARGIN

    @cached_property
    def _walks(self):
        """Lists of _Walk by kind, made when they are first asked for: most runs have no checkpoint."""
        scene, config = self._scene, self._config
        made = {kind: [_Walk(thing) for thing in getattr(scene, kind)] for kind in KINDS}
        made["scene"] = [_Walk(getattr(scene, name)) for name in OF_SCENE]
        made["config"] = [_Walk(config.tolerances()), *(_Walk(getattr(config, name)) for name in SETTINGS)]
        return made

    def arrays(self, time):
        """{name: (n,) int64} for a checkpoint at ``time`` [s]."""
        return {
            f"made_of.{kind}": np.array([walk.until(time + self._ahead) for walk in walks], np.int64)
            for kind, walks in self._walks.items()
        }

    def compare(self, read, time):
        """Raises CheckpointError where the arrays of a checkpoint at ``time`` [s] tell of others.

        read: read(name, shape) -> its array of whole numbers.
        """
        now = self.arrays(time)
        found = {name: read(name, values.shape) for name, values in now.items()}
        for kind, names in self.names.items():
            differ = np.flatnonzero(now[f"made_of.{kind}"] != found[f"made_of.{kind}"])
            if len(differ):
                more = f" (and {len(differ) - 1} more)" if len(differ) > 1 else ""
                raise CheckpointError(
                    f"{names[differ[0]]}{more} is not what the checkpoint was made with: it belongs to another"
                    f" {'config' if kind == 'config' else 'scene'}; give the one of that run, or begin at the start"
                )


class _Walk:
    """The hash of one thing: of what stands still at once, of what is animated as far as it was asked for."""

    def __init__(self, thing):
        self._sums, self._channels = hashlib.sha256(), []
        self._add(thing)

    def until(self, time):
        """Hash as a whole number of 64 bits."""
        sums = self._sums.copy()
        for channel in self._channels:
            sums.update(channel.until(time))
        return int.from_bytes(sums.digest()[:8], "little", signed=True)

    def _add(self, value):
        if isinstance(value, str):
            return self._note(f"str {value}")
        if isinstance(value, (Real, np.bool_)):  # 1, 1.0 and np.int64(1) are one number
            return self._note(repr(float(value)))
        self._note(type(value).__name__)
        if isinstance(value, MotionPath):
            self._channels.append(_Channel(value.times, np.hstack([value.position, value.orientation])))
        elif isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, tuple) for part in value):
            times, values = (np.array(part, float) for part in value)
            self._channels.append(_Channel(times, values[:, None]))
        elif is_dataclass(value):
            for item in fields(value):
                self._note(item.name)
                self._add(getattr(value, item.name))
        elif isinstance(value, dict):
            for key in sorted(value):
                self._note(key)
                self._add(value[key])
        elif isinstance(value, (list, tuple)):
            self._note(str(len(value)))
            for entry in value:
                self._add(entry)
        elif isinstance(value, np.ndarray):
            self._note(f"{value.dtype.str} {value.shape}")
            self._sums.update(np.ascontiguousarray(value))
        else:
            self._note(repr(value))
        return None

    def _note(self, word):
        text = word.encode("utf-8", "surrogatepass")
        self._sums.update(len(text).to_bytes(8, "little") + text)


class _Channel:
    """Samples of an animation, which are hashed in the order of time."""

    def __init__(self, times, values):
        self._times, self._samples = times, np.hstack([times[:, None], values])
        self._sums, self._taken = hashlib.sha256(), 0

    def until(self, time):
        """Digest of the samples up to the first one at ``time`` [s] or later, and whether all are over then; it never
        goes back.
        """
        count = min(int(np.searchsorted(self._times, time)) + 1, len(self._times))
        count = max(count, self._taken)
        self._sums.update(np.ascontiguousarray(self._samples[self._taken : count]))
        self._taken = count
        return self._sums.digest() + bytes([bool(time > self._times[-1])])
