# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes that turn over corners that slide, at one step a frame: ladders on smooth walls, sticks that fall on ice."""

import numpy as np
import pytest
from axion.solver import Body, Box, Plane, Scene, SolverConfig, rotations, simulate
from figures import figure
from judges import reported_energies
from scenes import GRAVITY, turned

HALF = np.array([0.02, 0.2, 1.0])
CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
LOST = 2e-3  # of what gravity gives on the way


def leaning(lean, wall, half=HALF):
    """A box of half edges ``half`` [m] let go ``lean`` [rad] off the vertical on smooth ground, with a wall or not."""
    scene, turn = Scene(), turned("y", -lean)
    scene.add(Body("Floor", [Plane()], motion="static", friction=0.0))
    if wall:
        scene.add(Body("Wall", [Plane()], motion="static", orientation=turned("y", 0.5 * np.pi), friction=0.0))
    low = rotations.rotate(turn[None], half * CORNERS).min(axis=0)
    scene.add(Body("Box", [Box(half)], position=(-low[0], 0, -low[2]), orientation=turn, mass=1.0, friction=0.0))
    return scene


def lean_of(trajectory):
    """(F + 1,) angle to the vertical [rad]."""
    up = rotations.rotate(trajectory.orientation[:, -1], np.array([0.0, 0.0, 1.0])[None])
    return np.arccos(np.clip(up[:, 2], -1.0, 1.0))


@pytest.mark.parametrize("fps", [24, 48, 96])
@pytest.mark.parametrize(
    ("name", "wall", "lean"), [("ladder", True, 0.35), ("ladder", True, 0.7), ("stick", False, 0.1)]
)
def test_nothing_is_lost_on_a_corner_that_slides(name, wall, lean, fps):
    # The ladder lost 5 % of what gravity gave it until it lay, at 24 frames a second, and the stick 4 %.
    trajectory = simulate(leaning(lean, wall), 2 * fps, fps, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    leans, energy = lean_of(trajectory), reported_energies(trajectory)
    falls = (leans[1:] < 1.35) & (np.arange(1, len(leans)) < np.argmax(leans > 1.35))
    given = GRAVITY * (trajectory.position[0, -1, 2] - trajectory.position[1:, -1, 2])[falls].max()
    lost = (energy[0] - energy)[falls]
    title = f"{name} from {lean:g} rad, {fps} frames a second"
    assert falls.sum() > 3
    assert figure(title, "energy lost, of what gravity gave", np.abs(lost).max() / given, LOST) < LOST
    assert leans[-1] == pytest.approx(0.5 * np.pi, abs=1e-4)  # it lies at last


def test_a_ladder_leaves_the_wall_as_fast_as_it_must():
    # A thin rod leaves the wall at cos(lean) = 2/3 cos(start), and then keeps (g L cos^3(start))^(1/2) / 3 across.
    trajectory = simulate(leaning(0.35, True, HALF * (0.1, 1.0, 1.0)), 48, 24, SolverConfig(device="cpu"))
    exact = np.sqrt(GRAVITY * 2.0 * HALF[2] * np.cos(0.35) ** 3) / 3.0
    speed = trajectory.linear_velocity[:, -1, 0].max()
    assert figure(
        "ladder from 0.35 rad", "speed it keeps, off that of a rod", speed / exact - 1.0, 0.01
    ) == pytest.approx(0.0, abs=0.01)
