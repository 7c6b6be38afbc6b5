# SPDX-License-Identifier: GPL-3.0-or-later
"""Trucks that keyframes, one a frame, let set out from rest or come to rest: what stands on them slips by Coulomb's.

With the velocity a bed really has at its keys nothing slips below a = mu g, and above it by (a - mu g) t^2 / 2.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, rotations, simulate
from figures import figure
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
FPS, FRICTION, BEGIN, SECONDS = 24, 0.4, 6, 1.25


def on_a_truck(share, half, stops=False, speed=2.0):
    """(way (F,) of a box along the bed, its Trajectory): a bed that gets faster by ``share`` of what friction gives.

    half: extents of the box [m]; stops: whether the bed is fast first, and comes to rest.
    """
    gain, times = share * FRICTION * GRAVITY, np.arange(BEGIN + round(SECONDS * FPS) + 6) / FPS
    late = np.maximum(times - BEGIN / FPS, 0.0)
    place = np.zeros((len(times), 3))
    place[:, 0] = 0.5 * gain * late**2
    if stops:
        until = np.minimum(late, speed / gain)
        place[:, 0] = speed * (np.minimum(times, BEGIN / FPS) + until) - 0.5 * gain * until**2
    scene = Scene()
    path = MotionPath(times, place - (0.0, 0.0, 0.1), np.tile(rotations.IDENTITY, (len(times), 1)))
    scene.add(Body("Bed", [Box((9.0, 2.0, 0.1))], motion="kinematic", path=path, friction=FRICTION))
    starts = (speed if stops else 0.0, 0.0, 0.0)
    scene.add(Body("Box", [Box(half)], position=(0.0, 0.0, half[2]), linear_velocity=starts, friction=FRICTION))
    run = simulate(scene, BEGIN + round(SECONDS * FPS), FPS, CPU)
    assert all(report.converged for report in run.reports)
    return run.position[:, 1, 0] - run.position[:, 0, 0], run


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9, 0.95, 0.98, 1.02, 1.2])
def test_a_load_slips_on_a_truck_that_sets_out_by_the_law_of_friction(share):
    """By the mean velocity of its first frame a box slipped 1 to 41 mm below the limit, and 78 mm too far above it."""
    way, _ = on_a_truck(share, (0.1, 0.1, 0.1))
    law = -0.5 * max(share - 1.0, 0.0) * FRICTION * GRAVITY * SECONDS**2
    off = abs(way[-1] - law)
    assert figure(f"truck sets out with {share:g} mu g", "slip off the law", off, "< 0.0002", "m") < 2e-4


@pytest.mark.parametrize("share", [0.8, 0.98])
def test_a_load_stands_on_a_truck_that_comes_to_rest(share):
    way, _ = on_a_truck(share, (0.1, 0.1, 0.1), stops=True)
    off = np.abs(way - way[0]).max()
    assert (
        figure(f"truck stops with {share:g} mu g", "most slip", off, "< 0.0005", "m") < 5e-4
    )  # it comes to rest between two keys


def test_a_tall_load_stands_on_a_truck_that_sets_out_below_the_limit():
    # It tips over its rear edge from a = g b / h on, here 1.02 times what friction gives.
    way, run = on_a_truck(0.95, (0.1, 0.1, 0.1 / (1.02 * FRICTION)))
    leans = rotations.rotate(run.orientation[:, 1], np.array([0.0, 0.0, 1.0]))[:, 2]
    assert (
        figure("tall load, truck sets out with 0.95 mu g", "most lean", np.arccos(leans.min()), "< 0.002", "rad") < 2e-3
    )
    assert np.abs(way).max() < 2e-3
