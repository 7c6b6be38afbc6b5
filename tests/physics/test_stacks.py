# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks of cubes, light and heavy, small and large: what touches exactly at the start stays there for ever.

Equilibrium: the contacts carry the weight above them and nothing accelerates.  Overlap is told from the poses alone.
"""

import numpy as np
import pytest
from axion.solver import SolverConfig, simulate
from figures import figure
from judges import farthest_moved, overlaps, rms_speed
from scenes import GRAVITY, stack

CPU = SolverConfig(device="cpu")


@pytest.mark.parametrize("count", [10, 30, 100])
def test_stack_stands_for_ten_seconds(count):
    # Below 1 mm every box is still on the one below: contacts may be off by 1e-5 m each, 1e-3 m over 100 of them.
    scene, name = stack(count, size=1.0), f"stack of {count}"
    trajectory = simulate(scene, 240, config=CPU)
    drift, speed = farthest_moved(scene, trajectory), rms_speed(scene, trajectory)
    missed = sum(not report.converged for report in trajectory.reports)
    figure(name, "drift in 10 s", drift.max(), 1e-3, "m")
    figure(name, "rms speed at the end", speed[-1], 1e-3, "m/s")
    figure(name, "frames missed", missed, 0)
    assert drift.max() < 1e-3
    assert speed[-1] < 1e-3
    assert missed == 0


@pytest.mark.parametrize(("ratio", "bound"), [(1e3, 1e-4), (1e4, 1e-3)])
def test_heavy_box_does_not_sink_into_a_light_one(ratio, bound):
    # 5 s; whatever the masses, solid bodies do not overlap.
    scene, name = stack(2, size=1.0, heavier=ratio), f"{ratio:.0f}:1 box on box"
    trajectory = simulate(scene, 120, config=CPU)
    depth, drift = overlaps(scene, trajectory).max(), farthest_moved(scene, trajectory).max()
    speed = rms_speed(scene, trajectory)[-1]
    figure(name, "penetration, always", depth, bound, "m")
    figure(name, "drift in 5 s", drift, 1e-3, "m")
    figure(name, "rms speed at the end", speed, 1e-3, "m/s")
    assert depth < bound
    assert drift < 1e-3
    assert speed < 1e-3
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("size", [0.02, 1.0, 50.0])
def test_stack_stands_at_every_scale(size):
    # The bounds of the stack of 1 m, lengths in sizes and speeds in sqrt(g size): statics has no other scale.
    scene, name = stack(10, size=size, mass=1000.0 * size**3), f"stack of 10 at {size:g} m"
    trajectory = simulate(scene, 240, config=CPU)
    drift = farthest_moved(scene, trajectory).max() / size
    depth = overlaps(scene, trajectory, range(1, 241, 8)).max() / size
    speed = rms_speed(scene, trajectory)[-1] / np.sqrt(GRAVITY * size)
    figure(name, "drift in 10 s", drift, 1e-3, "sizes")
    figure(name, "penetration", depth, 1e-4, "sizes")
    figure(name, "rms speed at the end", speed, 1e-3 / np.sqrt(GRAVITY), "sqrt(g size)")
    assert drift < 1e-3
    assert depth < 1e-4
    assert speed < 1e-3 / np.sqrt(GRAVITY)
    assert all(report.converged for report in trajectory.reports)
