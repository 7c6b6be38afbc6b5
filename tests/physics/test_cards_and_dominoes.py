# SPDX-License-Identifier: GPL-3.0-or-later
"""A card house that friction alone holds up, and a row of dominoes that falls."""

import numpy as np
import pytest
from axion.solver import SolverConfig, rotations, simulate
from figures import figure
from judges import energies, farthest_moved, largest_rise, overlaps
from table_scenes import card_house, dominoes

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]


def test_card_house_of_four_storeys_stands():
    # Each pair holds itself where tan(20 degrees) = 0.364 <= 0.6, and the floors between carry what pulls them apart.
    scene = card_house(4)
    trajectory = simulate(scene, 120, config=CPU)
    moved, depth = farthest_moved(scene, trajectory).max(), overlaps(scene, trajectory, range(1, 121, 8)).max()
    figure("card house of 4 storeys", "moves in 5 s", moved, 2e-3, "m")
    figure("card house of 4 storeys", "penetration", depth, 1e-4, "m")
    assert moved < 2e-3
    assert depth < 1e-4
    assert all(report.converged for report in trajectory.reports)


def tilts(trajectory):
    """(F + 1, B) angle of each body's z axis from upright [rad]."""
    up = rotations.rotate(trajectory.orientation, np.broadcast_to([0.0, 0.0, 1.0], trajectory.position.shape))
    return np.arccos(np.clip(up[..., 2], -1.0, 1.0))


def wave_speed(trajectory, pitch, first=10, last=40):
    """Slope of the straight line through place and time at which dominoes pass a tilt of 10 degrees [m/s]."""
    tilt, limit = tilts(trajectory)[:, 1:], np.radians(10.0)
    numbers, times = np.arange(first, last + 1), []
    for i in numbers:
        after = int(np.argmax(tilt[:, i] > limit))
        before = tilt[after - 1, i]
        part = (limit - before) / (tilt[after, i] - before)
        times.append(trajectory.times[after - 1] + part * (trajectory.times[after] - trajectory.times[after - 1]))
    return np.polyfit(times, pitch * numbers, 1)[0]


@pytest.mark.slow
def test_dominoes_all_fall_in_a_wave_of_known_speed():
    # Far from its start the wave is steady: what a domino hands on is what it got and its own fall.  Bullet, MuJoCo
    # and XPBD with ten and more steps a frame agree on 3.16 to 3.21 m/s for this row.
    scene = dominoes(50)
    trajectory = simulate(scene, 264, config=CPU)
    fallen = int((tilts(trajectory)[-1] > np.radians(30.0)).sum())
    speed, rise = wave_speed(trajectory, 0.5), largest_rise(energies(scene, trajectory))
    depth = overlaps(scene, trajectory, range(1, 265, 8)).max()
    missed = sum(not report.converged for report in trajectory.reports)
    figure("50 dominoes", "fallen", fallen, 50)
    figure("50 dominoes", "wave speed", speed, "3.17 within 3 %", "m/s")
    figure("50 dominoes", "energy rise", rise, 50 * 9.81 * FAST, "J")
    figure("50 dominoes", "penetration", depth, FAST, "m")
    figure("50 dominoes", "frames missed", missed, 0)
    assert fallen == 50
    assert rise < 50 * 9.81 * FAST  # all weight lifted by the tolerance
    assert depth < FAST
    assert abs(speed / 3.17 - 1.0) < 0.03
    assert missed == 0
