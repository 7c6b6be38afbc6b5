# SPDX-License-Identifier: GPL-3.0-or-later
"""Grippers: motors press jaws on a body, and keyframes lift the hand.  It comes along where 2 mu F > m (g + a)."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Cylinder, Joint, MotionPath, Plane, Scene, SolverConfig, Sphere, simulate
from figures import figure

MASS, MU, RISE, FPS = 50.0, 0.6, 2.0, 24  # RISE: acceleration of the hand from the first second on [m/s^2]
SHAPES = {"box": Box((0.25, 0.25, 0.25)), "ball": Sphere(0.25), "tin": Cylinder(0.25, 0.25)}


def gripped(shape, force):
    """Heights of what is gripped, a frame each, from the moment on when the hand begins to rise."""
    time = np.arange(2 * FPS + 1) / FPS
    height = 1.0 + 0.5 * RISE * np.maximum(time - 1.0, 0.0) ** 2
    place, turn = np.stack([0.0 * time, 0.0 * time, height + 0.3], 1), np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1))
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    path = MotionPath(time, place, turn)
    scene.add(Body("Hand", [Box((0.8, 0.1, 0.05))], motion="kinematic", position=place[0], path=path))
    locked = {name: Axis(locked=True) for name in ("y", "z", "rx", "ry", "rz")}
    for name, side in (("Left", -1.0), ("Right", 1.0)):
        at = (0.35 * side, 0.0, 0.65)
        scene.add(Body(name, [Box((0.05, 0.2, 0.6))], position=at, friction=MU, mass=20.0))
        motor = {"x": Axis(drive="velocity", target=-0.5 * side, max_force=force)}
        scene.add(Joint(f"Slider {name}", "generic", "Hand", name, at, axes=motor | locked))
    scene.add(Body("Load", [shape], position=(0, 0, 0.25), friction=MU, mass=MASS))
    trajectory = simulate(scene, 2 * FPS, FPS, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    return trajectory.position[FPS:, scene.index("Load"), 2]


@pytest.mark.parametrize("kind", SHAPES)
def test_what_is_gripped_comes_along_from_the_force_of_coulombs_law_on(kind):
    needed = MASS * (9.81 + RISE) / (2.0 * MU)
    for share in (0.8, 0.97, 1.02):
        load = gripped(SHAPES[kind], share * needed)
        speed = np.diff(load) * FPS
        gain = (speed[-1] - speed[8]) * FPS / (len(speed) - 9)  # what lags as the hand starts has caught up by then
        law = np.clip(2.0 * MU * share * needed / MASS - 9.81, 0.0, RISE)  # what friction does not lift falls behind
        name = f"{kind} in a gripper of {share:g} of the force it needs"
        assert figure(name, "acceleration", gain, law, "m/s^2") == pytest.approx(law, abs=5e-3)
