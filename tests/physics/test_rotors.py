# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed blades that turn far in a frame hit what is in their sweep."""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, Sphere, simulate
from axion.solver.rotations import exponential
from figures import figure

CPU = SolverConfig(device="cpu")
FRAMES = 12


def blade(turns, place, frames=FRAMES, shape=None):
    """A blade of 3 m that turns so often a frame, of four samples as in Blender, and a cube at a place."""
    scene, times = Scene(gravity=(0, 0, 0)), np.arange(4 * frames + 1) / 96.0
    turn = np.zeros((len(times), 3))
    turn[:, 2] = 2.0 * np.pi * turns * 24.0 * times
    path = MotionPath(times, np.zeros((len(times), 3)), exponential(turn))
    scene.add(Body("Fan", [shape or Box((1.5, 0.05, 0.3))], motion="kinematic", path=path))
    scene.add(Body("Cube", [Box((0.1, 0.1, 0.1))], position=place, mass=1.0))
    return simulate(scene, frames, config=CPU)


@pytest.mark.parametrize("turns", [0.25, 0.5, 0.75, 1.0, 1.5])
def test_what_is_in_the_sweep_of_a_blade_is_hit_in_the_first_frame(turns):
    # At one turn a frame, 1440 a minute, it was never touched.
    trajectory = blade(turns, (1.0, 0.6, 0.0))
    speed = np.linalg.norm(trajectory.linear_velocity[1, 1])
    rim = 2.0 * np.pi * turns * 24.0 * np.hypot(1.0, 0.6)
    assert figure(f"cube in a blade of {turns} turns a frame", "speed", speed / rim, "0.1 to 2", "of the blade's") > 0.1
    assert speed < 2.0 * rim
    assert all(report.converged for report in trajectory.reports)


def test_steps_are_shorter_only_where_something_is_near_and_sees_it_turn():
    assert all(report.substeps == 1 for report in blade(1.0, (30.0, 0.0, 0.0)).reports)
    assert all(report.substeps == 1 for report in blade(1.0, (1.7, 0.0, 0.0), shape=Sphere(1.5)).reports)
    near = blade(1.0, (2.2, 0.0, 0.0), frames=3)
    assert all(report.substeps == 4 for report in near.reports)
