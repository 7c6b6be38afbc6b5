# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies from the kernel against those of the judge."""

import numpy as np
import pytest
from axion.solver import metrics
from axion.solver.energies import Energies
from step_problems import unit


@pytest.mark.parametrize("immovable", [[], [1, 4]])
def test_energies_are_those_of_the_judge(immovable):
    rng = np.random.default_rng(3)
    mass, inertia = rng.uniform(0.5, 3.0, 6), rng.uniform(0.2, 0.5, (6, 3))
    mass[immovable], inertia[immovable] = np.inf, np.inf
    gravity, energies = (0.3, -1.0, -9.81), Energies(mass, inertia, (0.3, -1.0, -9.81))
    for _ in range(2):  # nothing is left of the first
        position, velocity, orientation = rng.normal(size=(6, 3)), rng.normal(size=(6, 6)), unit(rng, 6, 4)
        kinetic, potential = energies.of(position, orientation, velocity)
        assert kinetic == pytest.approx(metrics.kinetic_energy(mass, inertia, orientation, velocity), rel=1e-13)
        assert potential == pytest.approx(metrics.potential_energy(mass, position, gravity), rel=1e-13)


def test_a_scene_without_moving_bodies_has_none():
    floor = Energies(np.full(1, np.inf), np.full((1, 3), np.inf), (0, 0, -9.81))
    assert floor.of(np.zeros((1, 3)), np.zeros((1, 4)), np.zeros((1, 6))) == (0.0, 0.0)
