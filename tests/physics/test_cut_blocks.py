# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks cut into convex pieces that fit exactly: cold, hyperstatic, with more contact points than anything else has.

The first step knows no impulses. Laws: with friction 0.9 a block cut at random stands as if it were whole; with 0.5
pieces on steep cuts slide.  Either way every step meets the system within the tolerance, and without being halved.
"""

import numpy as np
import pytest
from axion.solver import ConvexHull, simulate
from cut_scenes import cut_block, voronoi_cells

TIGHT = 1e-5  # [m] of normal quality, below 0.5 m/s
MOST = 320  # Newton iterations of the first frame; 16 a round for all 40 rounds, and still missed, before the cone law


def test_cells_fill_the_box():
    # The cells of a Voronoi diagram are disjoint and cover the box: their volumes add up to its volume.
    seeds = np.random.default_rng(3).random((12, 3))
    cells = voronoi_cells(seeds, np.zeros(3), np.ones(3))
    assert sum(ConvexHull(cell).volume() for cell in cells) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("friction", [0.5, 0.9])
def test_cut_block_starts_cold_within_the_tolerance(friction):
    motion = simulate(cut_block(50, friction=friction), frames=2)
    first = motion.reports[0]
    assert first.contacts > 800
    assert first.newton_iterations <= MOST
    assert first.substeps == 1
    for report in motion.reports:
        assert report.converged
        assert max(report.gap_residual, report.friction_residual / 24.0, report.momentum_residual / 24.0) <= TIGHT
    if friction == 0.9:
        # At rest residuals are all that moves: TIGHT a frame.
        assert np.abs(motion.position[-1] - motion.position[0]).max() <= 2 * TIGHT


def test_cut_block_lands():
    # Dropped from 0.1 m it lands in frame 4 at 1.4 m/s; steps in motion are held to 1e-4 m.
    motion = simulate(cut_block(20, height=0.1), frames=8)
    assert all(report.converged for report in motion.reports)
    assert max(report.penetration for report in motion.reports) <= 1e-4
