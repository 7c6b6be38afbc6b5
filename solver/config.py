# SPDX-License-Identifier: GPL-3.0-or-later
"""SolverConfig: where the solver runs, how exactly, and by which method."""

import math
import re
from dataclasses import dataclass
from numbers import Integral, Real

from .errors import shown

QUALITY = {"preview": (5e-4, 5e-4), "normal": (1e-5, 1e-4), "final": (1e-6, 1e-6)}
"""Quality -> position tolerance [m] of what is slow, and of what is fast."""
METHODS = ("proximal", "schur")
PRECISIONS = ("auto", "float32", "float64")
MOST_STATES = 64  # that are kept of a frame


@dataclass(frozen=True)
class SolverConfig:
    """Settings of one simulation.

    Attributes:
        device: "cpu", "cuda" or "cuda:N"; "auto" takes the first CUDA device, or the CPU where there is none or its
            driver is older than CUDA 12.4.
        quality: "normal", "preview" or "final": the position tolerance when ``tolerance`` is None, see ``tolerances``.
        tolerance: largest residual [m] that still counts as converged, or None for that of the quality.
        substeps: solves per frame, at least 1; "auto" lets each frame choose by the motion and the joints in it.
        method: "proximal" (body space, the default) or "schur" (constraint space, the published baseline).
        precision: of what conjugate gradients and residuals iterate on; "auto" is float64 on the CPU and float32 on
            CUDA.  All else is float64.
        joint_damping: rate [1/s] at which jointed bodies lose their motion against each other; 0 keeps a pendulum's
            energy.
        record_forces: hand out what contacts and joints carry, see FrameForces; costs memory, about 100 bytes a contact
            and frame.
        states_per_frame: states kept of a frame, its end among them, at equal times; 1 to 64.  A frame takes a multiple
            of so many steps, so a fixed number of ``substeps`` is rounded up to one.  See ``Trajectory.every_state``.
        deterministic: the same input gives the same bits on the same machine.  On CUDA sums take longer for it; the CPU
            always repeats its bits.

    Raises:
        ValueError: names the setting, its value, the limit and the cure.
    """

    device: str = "auto"
    quality: str = "normal"
    tolerance: float | None = None
    substeps: str | int = "auto"
    method: str = "proximal"
    precision: str = "auto"
    joint_damping: float = 0.0
    deterministic: bool = True
    record_forces: bool = False
    states_per_frame: int = 1

    def __post_init__(self):
        if not isinstance(self.device, str) or not re.fullmatch(r"auto|cpu|cuda(:\d+)?", self.device):
            raise ValueError(f'device is {shown(self.device)}: it must be "auto", "cpu", or "cuda:0" and the like')
        _one_of("quality", self.quality, QUALITY)
        _one_of("method", self.method, METHODS)
        _one_of("precision", self.precision, PRECISIONS)
        if self.tolerance is not None and not (_is_number(self.tolerance) and 0.0 < self.tolerance < math.inf):
            raise ValueError(
                f"tolerance is {shown(self.tolerance)} m: give a positive length in metres, or None for the quality's"
            )
        if self.substeps != "auto" and not (_is_whole(self.substeps) and self.substeps >= 1):
            raise ValueError(f'substeps is {shown(self.substeps)}: give a whole number of at least 1, or "auto"')
        if not (_is_whole(self.states_per_frame) and 1 <= self.states_per_frame <= MOST_STATES):
            raise ValueError(
                f"states_per_frame is {shown(self.states_per_frame)}: give a whole number from 1 to {MOST_STATES}"
            )
        if not (_is_number(self.joint_damping) and 0.0 <= self.joint_damping < math.inf):
            raise ValueError(f"joint_damping is {shown(self.joint_damping)} 1/s: give a finite rate of at least 0")
        for name in ("deterministic", "record_forces"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {shown(getattr(self, name))}: it must be True or False")

    def tolerances(self):
        """(slow, fast): position tolerance [m] of bodies that are nearly at rest, and of bodies that move fast."""
        return QUALITY[self.quality] if self.tolerance is None else (self.tolerance, self.tolerance)


def _one_of(name, value, choices):
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {shown(value)}: choose one of {', '.join(choices)}")


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value):
    return isinstance(value, Integral) and not isinstance(value, bool)
