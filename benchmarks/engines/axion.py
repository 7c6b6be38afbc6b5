# SPDX-License-Identifier: GPL-3.0-or-later
"""Axion itself, with its defaults where nothing else is said."""

import platform

import warp as wp
from axion.solver import SolverConfig, simulate

from .common import Recording


def version():
    """What ran."""
    return f"this repository, Warp {wp.__version__}, Python {platform.python_version()}"


def run(scene, frames, fps, watch, device="cpu", quality="normal"):
    """See the package."""
    recording = Recording(scene, watch)

    def take(result):
        return recording.add(result.position[recording.moving], result.orientation[recording.moving])

    simulate(scene, frames=frames, fps=fps, config=SolverConfig(device=device, quality=quality), on_frame=take)
    return recording.result()
