# SPDX-License-Identifier: GPL-3.0-or-later
"""Masonry arches a little thicker and thinner than the thinnest that can stand.

Limit analysis of rigid stones without tension (Heyman 1966): an arch stands where some line of thrust stays within
it.  The thinnest semicircular arch has t / R = 0.1075 (Milankovitch 1907); for few stones it is THINNEST_ARCH.
A contact that lies s inside the true edge acts like a thickness less by 2 s, so the edges must be met to some per cent
of 5 % of t / 2: 0.3 mm per metre of radius.
"""

import numpy as np
import pytest
from axion.solver import SolverConfig, simulate
from figures import figure
from judges import farthest_moved, overlaps
from table_scenes import THINNEST_ARCH, arch

CPU = SolverConfig(device="cpu")
RADIUS = 10.0
FALLEN = 0.1 * RADIUS  # drop of the keystone


def build(stones, factor, seconds, until_fallen=False):
    """The scene, its trajectory and the drop (F + 1,) of the keystone [m]."""
    scene = arch(stones, factor * THINNEST_ARCH[stones], RADIUS)
    key = stones // 2 + 1
    start = scene.bodies[key].position[2]

    def stands(result):
        return not until_fallen or start - result.position[key, 2] < FALLEN

    trajectory = simulate(scene, 24 * seconds, config=CPU, on_frame=stands)
    return scene, trajectory, start - trajectory.position[:, key, 2]


@pytest.mark.parametrize("stones", [*[n for n in THINNEST_ARCH if n < 51], pytest.param(51, marks=pytest.mark.slow)])
def test_arch_stands_when_a_little_thicker_than_the_thinnest(stones):
    scene, trajectory, drop = build(stones, 1.05, 5)
    name = f"arch of {stones} stones, 1.05 x thinnest"
    speed = np.linalg.norm(trajectory.linear_velocity[-1], axis=-1).max()
    figure(name, "crown drop in 5 s", np.abs(drop).max(), 1e-3 * RADIUS, "m")
    figure(name, "farthest any corner moves", farthest_moved(scene, trajectory).max(), 1e-3 * RADIUS, "m")
    figure(name, "speed at the end", speed, 1e-4, "m/s")
    figure(name, "penetration", overlaps(scene, trajectory, range(1, 121, 8)).max(), 1e-4, "m")
    assert np.abs(drop).max() < 1e-3 * RADIUS
    assert farthest_moved(scene, trajectory).max() < 1e-3 * RADIUS
    assert speed < 1e-4
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("stones", THINNEST_ARCH)
def test_arch_falls_when_a_little_thinner_than_the_thinnest(stones):
    scene, trajectory, drop = build(stones, 0.95, 5, until_fallen=True)
    name = f"arch of {stones} stones, 0.95 x thinnest"
    figure(name, "crown drop", drop[-1], FALLEN, "m")
    figure(name, "time until then", trajectory.times[-1], 5.0, "s")
    figure(name, "penetration", overlaps(scene, trajectory, range(1, len(drop), 8)).max(), 1e-3, "m")
    assert drop[-1] > FALLEN
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize(("friction", "stands"), [(0.27, False), (0.35, True)])
def test_thick_arch_slides_apart_where_friction_is_too_little(friction, stands):
    # t / R = 0.3, 15 stones: no equilibrium exists below mu = 0.309 (a linear programme; for stones that slide as
    # Coulomb says it proves falls, and only suggests what stands).
    scene = arch(15, 0.3, RADIUS, friction)
    key = 8
    start = scene.bodies[key].position[2]

    def stands_still(result):
        return stands or start - result.position[key, 2] < FALLEN

    trajectory = simulate(scene, 120, config=CPU, on_frame=stands_still)
    drop = start - trajectory.position[-1, key, 2]
    name = f"arch of 15 stones, t / R = 0.3, mu = {friction}"
    figure(name, "crown drop in 5 s", drop, f"{'<' if stands else '>'} {1e-3 * RADIUS if stands else FALLEN}", "m")
    assert drop < 1e-3 * RADIUS if stands else drop > FALLEN
