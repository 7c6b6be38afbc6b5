# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes down on something sprung is thrown back as high as its springs throw it, whenever in a step it lands."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, simulate
from figures import figure
from scenes import GRAVITY, turned

PAD, LOAD = 2.0, 20.0  # [kg]
HEIGHTS = np.arange(0.5, 2.05, 0.1)  # [m]


def rebound(stiffness, height, load=LOAD, fps=24, strength=np.inf):
    """(Trajectory, height [m] to which it throws) of a box that falls from ``height`` on a pad on a spring [N/m]."""
    scene = Scene()
    scene.add(Body("Pad", [Box((0.5, 0.5, 0.03))], mass=PAD))
    spring = {"x": Axis(stiffness=stiffness, rest=PAD * GRAVITY / stiffness)}
    scene.add(Joint("Spring", "slider", None, "Pad", orientation=turned("y", -0.5 * np.pi), axes=spring,
                    break_force=strength))  # fmt: skip
    scene.add(Body("Box", [Box((0.2, 0.2, 0.2))], position=(0.0, 0.0, 0.23 + height), mass=load))
    trajectory = simulate(scene, round(1.6 * fps), fps, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    z, rate = trajectory.position[:, 1, 2] - 0.23, trajectory.linear_velocity[:, 1, 2]
    lands = np.argmax(z < 0.0)
    low = lands + np.argmin(z[lands : lands + fps // 2])
    away = slice(low, low + round(0.35 * fps))
    return trajectory, np.where(rate[away] > 0.0, z[away] + rate[away] ** 2 / (2.0 * GRAVITY), 0.0).max()


def law(stiffness, height, load=LOAD):
    """Height [m] of the rebound: both go on together, keep their energy, and part where the spring is not strained."""
    both, free = load + PAD, PAD * GRAVITY / stiffness
    speed = np.sqrt(2.0 * GRAVITY * height) * load / both
    energy = 0.5 * both * speed**2 - both * GRAVITY * free + 0.5 * stiffness * free**2
    return free + energy / (both * GRAVITY)


@pytest.mark.parametrize(("stiffness", "least", "mean"), [(1e3, 0.96, 0.98), (1e4, 0.84, 0.93)])
def test_a_box_is_thrown_back_as_high_as_the_law_has_it(stiffness, least, mean):
    """The springs acted for all of the step of the hit: 0.94, 0.82 and 0.66 in the mean, down to 0.5."""
    share = np.array([rebound(stiffness, height)[1] / law(stiffness, height) for height in HEIGHTS])
    name = f"box on a pad on a spring of {stiffness:.0f} N/m, 24 fps: height over the law's"
    assert figure(name, "mean of 16", share.mean(), f"> {mean}", "") > mean
    assert figure(name, "least of 16", share.min(), f"> {least}", "") > least
    assert figure(name, "most of 16", share.max(), "< 1.005", "") < 1.005
