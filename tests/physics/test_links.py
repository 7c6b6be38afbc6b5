# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves along with another body has no contact with it, and must not pass it when one of the two is stopped: links
of chains whose upper end swings or starts with a jerk, and stones that fall close above a lid.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, Sphere, simulate
from axion.solver.rotations import multiply
from contact_scenes import BAR, LONG, WIDE, link_of_capsules
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
STRAIGHT = 2.0 * (LONG - BAR)
FARTHEST = 2.0 * np.hypot(LONG - BAR, WIDE - BAR)  # hung corner in corner


def of_boxes():
    """A link with edges, as large as that of capsules."""
    long = [Box((BAR, LONG + BAR, BAR), position=(x, 0, 0)) for x in (-WIDE, WIDE)]
    return long + [Box((WIDE - BAR, BAR, BAR), position=(0, y, 0)) for y in (-LONG, LONG)]


def swing(width, period):
    """Way [m] at times [s] of a hook that swings to ``width`` and back."""
    return lambda time: width * (1.0 - np.cos(2.0 * np.pi * time / period)) / 2.0


CHAINS = {
    "capsules, 0.1 m in 0.5 s": (link_of_capsules, swing(0.1, 0.5), 23),
    "capsules, 0.2 m in 1 s": (link_of_capsules, swing(0.2, 1.0), 46),
    "boxes, 0.2 m in 0.5 s": (of_boxes, swing(0.2, 0.5), 33),
    "capsules, from rest to 0.63 m/s": (link_of_capsules, lambda time: 0.63 * time, 12),
}


@pytest.mark.parametrize("name", CHAINS)
def test_links_stay_in_each_other(name):
    shapes, way, frames = CHAINS[name]
    scene, times, upright = Scene(), np.arange(0.0, 4.0, 1.0 / 24.0), turned("x", np.pi / 2)
    for k in range(8):
        tilt = upright if k % 2 else multiply(turned("z", np.pi / 2), upright)
        if k == 0:
            places = np.stack([way(times), 0.0 * times, 1.0 + 0.0 * times], axis=1)
            path = MotionPath(times, places, np.tile(tilt, (len(times), 1)))
            scene.add(Body("Hook", shapes(), motion="kinematic", path=path))
        else:
            place = (0, 0, 1.0 - k * STRAIGHT)
            scene.add(Body(f"Link {k}", shapes(), position=place, orientation=tilt, mass=0.1))
    trajectory = simulate(scene, frames, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    apart = np.linalg.norm(np.diff(trajectory.position, axis=1), axis=2).max()
    bound = FARTHEST + CPU.tolerances()[1]
    assert figure(f"chain of {name}", "farthest two links", 1e3 * apart, 1e3 * bound, "mm") < 1e3 * bound


STONES = {"box": Box((0.05, 0.05, 0.03)), "ball": Sphere(0.03)}


@pytest.mark.parametrize("stone", STONES)
@pytest.mark.parametrize("thickness", [0.004, 0.02])
@pytest.mark.parametrize("speed", [3.0, 6.0])
def test_stone_that_falls_above_a_lid_stays_on_it(stone, thickness, speed):
    """A centimetre above it, as fast; the lid comes down on two rims within the second frame."""
    scene, height = Scene(), speed / 16.0
    for x in (-0.2, 0.2):
        scene.add(Body(f"Rim {x}", [Box((0.05, 0.3, 0.05))], motion="static", position=(x, 0, -0.05)))
    down = {"linear_velocity": (0, 0, -speed)}
    lid = Box((0.2, 0.1, 0.5 * thickness))
    scene.add(Body("Lid", [lid], position=(0, 0, height + 0.5 * thickness), mass=1.0, **down))
    above = height + thickness + 0.01 + 0.03
    scene.add(Body("Stone", [STONES[stone]], position=(0, 0, above), mass=0.2, **down))
    trajectory = simulate(scene, 6, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    lowest = 1e3 * (trajectory.position[:, 3, 2] - trajectory.position[:, 2, 2]).min()
    least = 1e3 * (0.5 * thickness + 0.03 - CPU.tolerances()[1])
    what = f"{stone} above a lid of {1e3 * thickness:.0f} mm at {speed:.0f} m/s"
    assert figure(what, "lowest above the lid's middle", lowest, least, "mm") > least
