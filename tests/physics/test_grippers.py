# SPDX-License-Identifier: GPL-3.0-or-later
"""Grippers: what jaws hold that motors press on it, from 2 mu F > m (g + a) on, and what keyframed jaws crush."""

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


def keyed_jaws(count, overlap, turns):
    """The Trajectory of ``count`` boxes that keyed jaws close on, to ``overlap`` [m] each, lift by 0.4 m, turn by
    ``turns`` [rad], and let go after 32 frames.
    """
    frames = np.arange(41)
    time, wide = frames / FPS, 0.12 * count
    height = 0.2 + np.interp(frames, [10, 22], [0.0, 0.4])
    angle = np.interp(frames, [22, 28], [0.0, turns])
    away = np.interp(frames, [0, 6, 32, 36], [wide + 0.2, wide + 0.05 - overlap, wide + 0.05 - overlap, wide + 0.3])
    turn = np.stack([0.0 * angle, 0.0 * angle, np.sin(0.5 * angle), np.cos(0.5 * angle)], 1)
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    for name, side in (("Left", -1.0), ("Right", 1.0)):
        place = np.stack([side * away * np.cos(angle), side * away * np.sin(angle), height], 1)
        pose = {"position": place[0], "orientation": turn[0], "path": MotionPath(time, place, turn)}
        scene.add(Body(name, [Box((0.05, 0.2, 0.15))], motion="kinematic", friction=MU, **pose))
    for k in range(count):
        place = (0.12 * (2 * k + 1 - count), 0.0, 0.2)
        scene.add(Body(f"Load {k}", [Box((0.12, 0.15, 0.2))], position=place, friction=MU))
    return simulate(scene, 40, FPS, SolverConfig(device="cpu"))


@pytest.mark.parametrize(("count", "overlap", "turns"), [(1, 1e-3, 0.0), (1, 0.02, 1.0), (2, 5e-3, 0.0)])
def test_jaws_that_keyframes_close_take_along_what_they_crush(count, overlap, turns):
    # It stayed on the ground, and the jaws went through it: overlap that does not grow needs no force that rubs.
    trajectory = keyed_jaws(count, overlap, turns)
    crushed = {f"Load {k}" for k in range(count)}
    assert all(set(trajectory.reports[frame].crushed_bodies) == crushed for frame in range(11, 31))
    rise = trajectory.position[28, 3:, 2] - trajectory.position[9, 3:, 2]
    name = f"{count} boxes in jaws that keyframes close by {overlap:g} m"
    assert figure(name, "rise, least", rise.min(), 0.4, "m") == pytest.approx(0.4, abs=1e-9)
    assert 2.0 * np.arcsin(trajectory.orientation[28, 3:, 2]) == pytest.approx(turns, abs=1e-3)
    fall = np.diff(trajectory.linear_velocity[34:37, 3:, 2], axis=0) * FPS
    assert fall == pytest.approx(-9.81, abs=1e-6)
    assert trajectory.reports[-1].converged
