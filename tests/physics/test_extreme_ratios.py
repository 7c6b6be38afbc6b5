# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass ratios beyond what the solver holds: frames in which it fails say so, those it passes move nothing by itself."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Box, Plane, Scene, SolverConfig, simulate
from axion.solver.given_up import _factor

CPU = SolverConfig(device="cpu")


def tower(masses, friction):
    """Boxes of 0.2 m, each a centimetre beside the one below it."""
    scene = Scene()
    scene.add(Body("Ground", [Plane()], "static"))
    for i, mass in enumerate(masses):
        place = (0.01 * i, 0.0, 0.1 + 0.2 * i)
        scene.add(Body(f"Box {i}", [Box((0.1, 0.1, 0.1))], position=place, mass=mass, friction=friction))
    return scene


def test_where_nothing_moves_no_limit_is_too_high(recwarn):
    one = SimpleNamespace(island=np.zeros(1, int))
    assert _factor(one, np.array([False]), np.zeros(1), np.array([1e12])).tolist() == [[1.0]]
    assert not recwarn.list


@pytest.mark.parametrize("masses", [(1.0, 1e12), (1e6, 1e-6, 1e6), (1e12, 1e6, 1.0)])
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_frames_that_fail_under_a_trillion_times_the_mass_are_told(masses, friction, recwarn):
    scene = tower(masses, friction)
    trajectory = simulate(scene, 12, config=CPU)
    before, after = trajectory.linear_velocity[:-1], trajectory.linear_velocity[1:]
    moved = np.diff(trajectory.position, axis=0)
    fall = 9.81 / 24.0
    for frame, report in enumerate(trajectory.reports):
        if report.converged:  # no body gains speed, or goes farther than its speeds at both ends say
            speeds = (np.linalg.norm(values[frame], axis=1) for values in (before, after))
            first, last = speeds
            assert (last <= first + fall + 1e-3).all()
            assert (np.linalg.norm(moved[frame], axis=1) <= (np.maximum(first, last) + fall) / 24.0).all()
    assert np.isfinite(trajectory.position).all()
    if masses[0] > masses[-1]:
        assert all(report.converged for report in trajectory.reports)
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]
