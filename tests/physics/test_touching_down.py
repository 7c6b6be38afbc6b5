# SPDX-License-Identifier: GPL-3.0-or-later
"""The integrator switches per island where contact starts: what swings goes by mid-step, and by backward Euler once a
contact holds it.

Two equal pendulums of two links and a ball are let go as an L.  One comes down on a floor, at first straight, with
e = 0; then it glides, is thrown up by its links, lands and glides again.  The other one has nothing below it.
"""

from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure
from judges import energies, largest_rise
from scenes import GRAVITY, turned

LENGTH, RADIUS, FLOOR = 0.45, 0.1, 0.2  # [m]: of a link, of the ball; the floor below the ball, as it is let go
FAST = SolverConfig(device="cpu").tolerances()[1]
SECONDS, TOUCHES = 1.25, np.sqrt(2.0 * FLOOR / GRAVITY)
ACROSS = turned("x", -0.5 * np.pi)


def pendulums():
    """Both, "Low" above the floor and "High" beside it: links of 0.5 kg that touch nothing, balls of 1 kg."""
    scene = Scene()
    top = -FLOOR - RADIUS
    scene.add(Body("Floor", [Box((2.0, 0.4, 0.5))], position=(0, 0, top - 0.5), motion="static", friction=0.0))
    for name, aside in (("Low", 0.0), ("High", 1.5)):
        hook = np.array([0.0, aside, LENGTH])
        elbow = hook + (LENGTH, 0.0, 0.0)
        ball = elbow - (0.0, 0.0, LENGTH)
        links = {"collision_mask": 0, "mass": 0.5}
        half = 0.5 * LENGTH
        scene.add(Body(f"{name} first", [Box((half, 0.02, 0.02))], position=0.5 * (hook + elbow), **links))
        scene.add(Body(f"{name} second", [Box((0.02, 0.02, half))], position=0.5 * (elbow + ball), **links))
        scene.add(Body(f"{name} ball", [Sphere(RADIUS)], position=ball, mass=1.0, friction=0.0))
        scene.add(Joint(f"{name} hook", "hinge", None, f"{name} first", hook, ACROSS))
        scene.add(Joint(f"{name} elbow", "hinge", f"{name} first", f"{name} second", elbow, ACROSS))
        scene.add(Joint(f"{name} glue", "fixed", f"{name} second", f"{name} ball", ball))
    return scene


@cache
def motion(fps, tolerance=None, substeps="auto"):
    """(reports, {name: (places of the ball, energies, its velocities)}) of the two, each 24th of a second."""
    scene = pendulums()
    config = SolverConfig(device="cpu", tolerance=tolerance, substeps=substeps)
    trajectory = simulate(scene, round(SECONDS * fps), fps, config)
    groups = {}
    for name in ("Low", "High"):
        rows = [i for i, body in enumerate(scene.bodies) if body.name.startswith(name)]
        part = SimpleNamespace(bodies=[scene.bodies[i] for i in rows], gravity=scene.gravity)
        states = ("position", "orientation", "linear_velocity", "angular_velocity")
        moved = SimpleNamespace(**{state: getattr(trajectory, state)[:: fps // 24, rows] for state in states})
        moved.times = trajectory.times[:: fps // 24]
        groups[name] = moved.position[:, -1], energies(part, moved), moved.linear_velocity[:, -1]
    return trajectory.reports, groups


def reference(fps=768):
    return motion(fps, 1e-9, 1)[1]


@pytest.mark.parametrize("fps", [24, 48])
def test_a_pendulum_that_touches_down_goes_on_as_in_short_steps(fps):
    reports, groups = motion(fps)
    name = f"pendulum that touches down, {fps} fps"
    (place, energy, _), (_, other, _) = groups["Low"], groups["High"]
    exact, exact_energy, speed = reference()["Low"]
    times = np.arange(len(place)) / 24.0
    flies = times < TOUCHES
    fall = energy[0] - exact_energy[-1]  # what it loses in all, nearly all of it where it touches down
    scale = GRAVITY * 2.0 * LENGTH
    # By mid-step it keeps its energy until it touches, and the other one all the time.
    before = np.abs(energy[flies] - energy[0]).max() / scale
    assert figure(name, "energy off before it touches, of m g L", before, 1e-3) < 1e-3
    kept = np.abs(other - other[0]).max() / scale
    assert figure(name, "energy off of the one that touches nothing, of m g L", kept, 1e-3) < 1e-3
    # Backward Euler is of first order: within half of the fastest way of a step, and a hundredth of the loss.
    bound = 0.5 * np.linalg.norm(speed[~flies], axis=1).max() / fps
    off = np.linalg.norm(place - exact, axis=1)
    assert figure(name, "place off short steps before it touches", off[flies].max(), 1e-3, "m") < 1e-3
    assert figure(name, "place off short steps", off.max(), bound, "m") < bound
    lost = np.abs(energy - exact_energy).max() / fall
    assert figure(name, "energy off short steps, of what touching down takes", lost, 0.01) < 0.01
    assert figure(name, "energy rise, of m g L", largest_rise(energy) / scale, 1e-3) < 1e-3
    figure(name, "frames that missed their tolerance", sum(not report.converged for report in reports), "none")
    worst = max(max(report.residual, report.penetration) for report in reports)
    assert figure(name, "worst residual", worst, FAST, "m") < FAST


@pytest.mark.slow
def test_what_touches_down_converges_with_the_step():
    # First order: error(h) / error(h / 2) = 2 +- 0.5.
    exact, off = reference(1536)["Low"][0], {}
    name = "pendulum that touches down"
    for fps in (96, 192, 384):
        place = motion(fps, 1e-8, 1)[1]["Low"][0]
        off[fps] = np.linalg.norm(place - exact, axis=1).max()
        figure(f"{name}, {fps} fps, tolerance 1e-8", "place off short steps", off[fps], "first order", "m")
    for coarse, fine in pairwise(off):
        ratio = off[coarse] / off[fine]
        figure(name, f"error(h) / error(h/2) at {coarse} fps", ratio, "2 +- 0.5")
        assert ratio == pytest.approx(2.0, abs=0.5)
