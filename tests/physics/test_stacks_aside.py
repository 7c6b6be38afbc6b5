# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks of cubes that nobody has aligned: a little aside, turned about the vertical, or both, they stand as others do.

The middle of all that lies above each face is over that face, so equilibrium exists; contacts of rigid bodies carry it
without giving way, whatever the height.  The bounds are those of aligned stacks.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, SolverConfig, simulate
from figures import figure
from judges import farthest_moved, rms_speed
from scenes import ground, turned

ASIDE = 0.02  # [m] at most, along either axis


def stack_aside(count, aside, turn, seed):
    """``count`` cubes of 1 m and 1 kg, each up to ``aside`` [m] and ``turn`` [rad] off, at random."""
    random, scene = np.random.default_rng(seed), Scene()
    ground(scene)
    for i in range(count):
        place = (*random.uniform(-aside, aside, 2), i + 0.5)
        orientation = turned("z", random.uniform(-turn, turn))
        scene.add(Body(f"Box {i + 1}", [Box((0.5, 0.5, 0.5))], position=place, orientation=orientation, mass=1.0))
    return scene


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(("aside", "turn"), [(ASIDE, 0.0), (0.0, np.pi), (ASIDE, np.pi)])
@pytest.mark.parametrize("count", [10, 30, 60])
def test_stack_of_boxes_aside_comes_to_rest(count, aside, turn, seed):
    scene = stack_aside(count, aside, turn, seed)
    trajectory = simulate(scene, 240, config=SolverConfig(device="cpu"))
    drift, speed = farthest_moved(scene, trajectory).max(), rms_speed(scene, trajectory)
    missed = sum(not report.converged for report in trajectory.reports)
    name = f"stack of {count}, {100 * aside:g} cm aside, turned by up to {turn:.0f} rad, {seed}"
    figure(name, "drift in 10 s", drift, 1e-3, "m")
    figure(name, "rms speed at the end", speed[-1], 1e-3, "m/s")
    assert drift < 1e-3
    assert speed[-1] == 0.0  # below the bound: it rests
    assert missed == 0
