# SPDX-License-Identifier: GPL-3.0-or-later
"""Axion itself, on the CPU with its defaults."""

import platform
from math import inf

import warp as wp
from axion.solver import SolverConfig, simulate

from .common import Recording


def version():
    """What ran."""
    return f"this repository, Warp {wp.__version__}, Python {platform.python_version()}"


def run(scene, frames, fps, cpu_limit=inf):
    """See the package."""
    recording = Recording(scene, cpu_limit)

    def take(result):
        return recording.add(result.position[recording.moving], result.orientation[recording.moving])

    simulate(scene, frames=frames, fps=fps, config=SolverConfig(device="cpu"), on_frame=take)
    return recording.result()
