# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps of pieces so rough that they wedge each other."""

import numpy as np
import pytest
from axion.solver import Body, Box, Cone, ConvexHull, Cylinder, Scene, SolverConfig, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
PIECES = {
    "cones": lambda random: Cone(random.uniform(0.08, 0.14), random.uniform(0.08, 0.14)),
    "cylinders": lambda random: Cylinder(random.uniform(0.08, 0.12), random.uniform(0.06, 0.14)),
    "hulls": lambda random: ConvexHull(0.07 * random.normal(size=(12, 3))),
}
WIDTH, WALL, HIGH = 0.6, 0.05, 1.0  # half the bin's inside, of its walls, of their height


def binful(kind, seed, friction):
    """27 pieces that fall into a bin without a lid, each turned at random."""
    random, out = np.random.default_rng(seed), WIDTH + WALL
    walls = [Box((out + WALL, out + WALL, WALL), (0, 0, -WALL))]
    for side in (-1, 1):
        walls.append(Box((WALL, out + WALL, HIGH), (side * out, 0, HIGH)))
        walls.append(Box((out + WALL, WALL, HIGH), (0, side * out, HIGH)))
    scene = Scene(bodies=[Body("Bin", walls, motion="static", friction=friction)])
    for i in range(27):
        turn = random.normal(size=4)
        place = 0.35 * (i % 3 - 1), 0.35 * (i // 3 % 3 - 1), 0.3 + 0.35 * (i // 9)
        shape = [PIECES[kind](random)]
        scene.add(Body(f"Piece {i}", shape, position=place, orientation=turn / np.linalg.norm(turn), friction=friction))
    return scene


@pytest.mark.parametrize(
    ("kind", "seeds", "most"), [("cones", (12, 15), 12), ("hulls", (10, 12), 12), ("cylinders", (13, 15), 18)]
)
def test_rough_pieces_in_a_bin_keep_the_tolerance(kind, seeds, most):
    reports = [r for seed in seeds for r in simulate(binful(kind, seed, 2.0), 60, config=CPU).reports]
    missed = sum(not report.converged for report in reports)
    deepest = max(report.penetration for report in reports if report.converged)
    name = f"2 bins of 27 {kind}, friction 2"
    assert figure(name, "frames of 120 that missed", missed, most) <= most
    assert figure(name, "penetration in the others", deepest, FAST, "m") < FAST
