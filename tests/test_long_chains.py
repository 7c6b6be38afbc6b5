# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains and nets of a thousand bodies: as few Newton iterations as short ones."""

import bench_scenes
import comparison_scenes
import pytest
from axion.solver import SolverConfig, simulate
from figures import figure


@pytest.mark.parametrize(
    ("name", "scene"),
    [
        ("chain of 1000 links with a ball of their weight", lambda: comparison_scenes.chain(1000)),
        ("net of 18 by 18 knots", lambda: bench_scenes.rope_net(18)),
    ],
    ids=["chain", "net"],
)
def test_a_thousand_bodies_need_a_direct_solve_like_ten(name, scene):
    # With conjugate gradients instead: 3682 and 297 iterations in six frames.
    reports = simulate(scene(), 6, 24, SolverConfig(device="cpu")).reports
    iterations = sum(report.newton_iterations for report in reports)
    figure(f"{name}, 6 frames", "Newton iterations", iterations, 80)
    assert all(report.converged for report in reports)
    assert iterations <= 80
