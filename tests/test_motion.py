# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solve prepares of its bodies, against NumPy."""

import numpy as np
import pytest
from axion.solver.arrays import download
from axion.solver.reference.rotation import world_inertia
from step_problems import Stages, random_problem


@pytest.mark.parametrize(("precision", "exact"), [("float64", 1e-14), ("float32", 2e-6)])
@pytest.mark.parametrize("seed", range(3))
def test_mass_and_first_poses_are_those_of_free_motion(seed, precision, exact):
    problem = random_problem(seed, dynamic=9, immovable=3)
    bodies, n, stages = problem.bodies, 9, Stages(problem, precision)
    turned, moments = bodies.free_orientation[:n], bodies.inertia[:n]
    for name, want in (
        ("inertia", world_inertia(turned, moments)),
        ("inverse_inertia", world_inertia(turned, 1.0 / moments)),
        ("inverse_mass", 1.0 / bodies.mass[:n]),
        ("extent", bodies.gyration()),
    ):
        assert stages.bodies(name) == pytest.approx(want, rel=exact, abs=exact * np.abs(want).max()), name
    device, total = stages.device.bodies, len(bodies.mass)
    for name, want in (("x", bodies.free_position), ("q", bodies.free_orientation)):
        assert download(getattr(device, name), total) == pytest.approx(want, abs=exact * 10.0), name
    assert np.array_equal(download(device.u_best, total), download(device.u, total))
