# SPDX-License-Identifier: GPL-3.0-or-later
"""What a keyed body strikes leaves with its speed, wherever in the frame it strikes and stops.

Law of impact without restitution: what is struck leaves with the speed of what strikes, v, and goes on when that
stops: upwards by v^2 / 2 g over the way that was left.  Stacks left with the share of the frame that had passed, in
frames that had converged: the blow was taken from the way of the step.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY

CPU, FPS = SolverConfig(device="cpu"), 24.0
STEADY = (0.0, 0.0, 0.0, 1.0)


def path(times, places):
    return MotionPath(np.array(times, float), np.array(places, float), np.array([STEADY] * len(times)))


@pytest.mark.parametrize("left", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_stack_is_kicked_up_as_high_as_its_speed_leads(count, left):
    """A paddle that comes up at 4 m/s under a stack and stops ``left`` of a frame later."""
    speed, scene = 4.0, Scene(gravity=(0.0, 0.0, -GRAVITY))
    shelf = [Box((0.02, 0.2, 0.02), position=(side, 0.0, 0.0)) for side in (-0.12, 0.12)]
    scene.add(Body("Shelf", shelf, motion="static", position=(0.0, 0.0, 0.98)))
    top, start = 1.0 + left * speed / FPS, 12.0 / FPS
    places = [(0.0, 0.0, top - 3.0 * speed / FPS)] * 2 + [(0.0, 0.0, top)] * 2
    keys = path([0.0, start, start + 3.0 / FPS, 2.0], places)
    scene.add(Body("Paddle", [Box((0.05, 0.2, 0.02), position=(0.0, 0.0, -0.02))], motion="kinematic", path=keys))
    for k in range(count):
        scene.add(Body(f"Block {k + 1}", [Box((0.15, 0.1, 0.1))], position=(0.0, 0.0, 1.1 + 0.2 * k)))
    motion = simulate(scene, 36, config=CPU)
    rise = (motion.position[:, 2:, 2].max(axis=0) - motion.position[0, 2:, 2]).max()
    law = speed**2 / (2.0 * GRAVITY) + left * speed / FPS
    name = f"{count} kicked up, {left} of a frame before the paddle stops"
    assert figure(name, "rise over the law", rise / law, "1 +- 0.01") == pytest.approx(1.0, abs=0.01)  # seen at frames
    assert all(report.converged for report in motion.reports)


@pytest.mark.parametrize("left", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("kind", ["row of boxes", "tower", "balls"])
def test_what_a_bat_strikes_leaves_with_its_speed(kind, left):
    """A bat at 10 m/s hits two bodies without friction, one behind or on the other, and stops."""
    speed, scene = 10.0, Scene(gravity=(0.0, 0.0, -GRAVITY if kind == "tower" else 0.0))
    scene.add(Body("Ground", [Box((50.0, 50.0, 0.5))], motion="static", position=(0.0, 0.0, -0.5), friction=0.0))
    face, stop = -0.1, 4.0 / FPS  # where the struck body's side is, and when the bat stands again
    end = face + left * speed / FPS
    keys = path([0.0, stop, 2.0], [(end - speed * stop - 0.05, 0.0, 0.1), *[(end - 0.05, 0.0, 0.1)] * 2])
    scene.add(Body("Bat", [Box((0.05, 0.1, 0.1))], motion="kinematic", path=keys, friction=0.0))
    shape = Sphere(0.1) if kind == "balls" else Box((0.1, 0.1, 0.1))
    for k in range(2):
        place = (0.0, 0.0, 0.1 + 0.2 * k) if kind == "tower" else (0.2 * k, 0.0, 0.1)
        scene.add(Body(f"Struck {k + 1}", [shape], position=place, mass=1.0, friction=0.0))
    motion = simulate(scene, 8, config=CPU)
    struck = motion.linear_velocity[-1, 2:, 0] if kind != "tower" else motion.linear_velocity[-1, 2:3, 0]
    name = f"{kind} struck, {left} of a frame before the bat stops"
    assert figure(name, "slowest over the bat", struck.min() / speed, "1 +- 0.01") == pytest.approx(1.0, abs=0.01)
    assert all(report.converged for report in motion.reports)
