# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms of closed loops against newton's Kamino solver, which knows nothing of ours: both tend to one motion.

Kamino solves the same laws in constraint space, in velocities and single precision, with steps of first order: halve
its step, and it must come half as far off ours, which is taken at a step whose own error is far below that.
"""

from itertools import pairwise

import numpy as np
import pytest
import truth_scenes
import warp as wp
from axion.solver import SolverConfig, simulate
from engines import newton_solver
from engines.common import Watch
from figures import figure

FPS, FRAMES, FINE = 24, 12, 192
"""Poses are compared at FRAMES frames of FPS a second; ours takes FINE steps a second."""
SUBSTEPS = (20, 40)
MECHANISMS = {
    "Bricard": truth_scenes.bricard,
    "parallelogram": lambda: truth_scenes.four_bars(1),
}


def kamino(scene, substeps):
    """(FRAMES + 1, B, 3) positions [m].

    Its kernels compile in two thirds of the time, and are no slower, where fewer functions are inlined than Warp likes.
    """
    flags, wp.config.cpu_compiler_flags = wp.config.cpu_compiler_flags, "-march=native"
    try:
        position, _ = newton_solver.run(scene, FRAMES, FPS, Watch(), solver="kamino", substeps=substeps)
    finally:
        wp.config.cpu_compiler_flags = flags
    return position


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_kamino_tends_to_the_same_motion(name):
    build = MECHANISMS[name]
    ours = {}
    for fps in (FINE // 2, FINE):
        trajectory = simulate(build(), FRAMES * fps // FPS, fps, SolverConfig(device="cpu", tolerance=1e-9, substeps=1))
        assert all(report.converged for report in trajectory.reports)
        ours[fps] = trajectory.position[:: fps // FPS]
    way = np.linalg.norm(ours[FINE][-1] - ours[FINE][0], axis=1).max()
    own = np.linalg.norm(ours[FINE] - ours[FINE // 2], axis=2).max()
    apart = {}
    for substeps in SUBSTEPS:
        apart[substeps] = np.linalg.norm(kamino(build(), substeps) - ours[FINE], axis=2).max()
        figure(f"{name}, Kamino at {FPS * substeps} steps a second", "farthest from ours", apart[substeps], "", "m")
    assert figure(f"{name}, way of the farthest body", "in 0.5 s", way, "> 0.2", "m") > 0.2
    assert own < 0.3 * apart[SUBSTEPS[-1]]
    assert apart[SUBSTEPS[-1]] < 3e-3 * way
    for coarse, fine in pairwise(SUBSTEPS):
        assert apart[coarse] > 1.7 * apart[fine]
