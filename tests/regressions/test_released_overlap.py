# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that a path held inside each other are pushed apart once they are free."""

import numpy as np
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, simulate

SIZE, OVERLAP, RELEASE = 0.2, 0.02, 0.25
FPS = 24.0


def test_boxes_released_from_paths_that_overlap_are_pushed_apart():
    # The paths hold two cubes 2 cm inside each other: prescribed motion knows no contact.  Free, the gap must be
    # phi(q+) >= 0, so their centres are at least one edge apart; no gravity, so equal masses
    # move equally far in opposite directions.
    scene = Scene(gravity=(0, 0, 0))
    for name, x in (("Left", 0.0), ("Right", SIZE - OVERLAP)):
        path = MotionPath([0.0, RELEASE], [(x, 0, 0)] * 2, [(0, 0, 0, 1)] * 2)
        scene.add(Body(name, [Box([0.5 * SIZE] * 3)], mass=1.0, path=path))
    trajectory = simulate(scene, 10, FPS, SolverConfig(device="cpu", substeps=1))
    distance = trajectory.position[:, 1, 0] - trajectory.position[:, 0, 0]
    held = int(RELEASE * FPS)
    np.testing.assert_allclose(distance[: held + 1], SIZE - OVERLAP, atol=1e-6)
    assert trajectory.reports[held].contacts > 0
    np.testing.assert_allclose(distance[held + 3 :], SIZE, atol=1e-4)
    centre = trajectory.position[:, :, 0].mean(axis=1)
    np.testing.assert_allclose(centre, centre[0], atol=1e-5)
