# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies on joints that swing and strike each other without restitution lose what the law of impact takes, no more.

Two smooth pendulums that meet: with I each about its own pivot and r the lever of the normal about it, one impulse
along the normal takes 1/2 m v^2, 1 / m = r_a^2 / I_a + r_b^2 / I_b, v the speed with which they meet.  The
step of the hit went by backward Euler in all of its length, which took up to five times that.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY

CPU, FPS, RADIUS = SolverConfig(device="cpu"), 24.0, 0.05
LYING = (-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # axis along y
LENGTH, MASS = np.array([0.3, 0.9]), np.array([2.0, 20.0])
INERTIA = MASS * (1e-3 + LENGTH**2)  # about the pivots


def earlier(angle, spin, seconds):
    """Angles and spins of the pendulums ``seconds`` before they have those given, by Runge and Kutta."""
    state, pull, h = np.array([angle, spin]), MASS * GRAVITY * LENGTH / INERTIA, -seconds / 400.0
    for _ in range(400):
        slopes = []
        for part in (0.0, 0.5, 0.5, 1.0):
            at = state + part * h * (slopes[-1] if slopes else 0.0)
            slopes.append(np.array([at[1], -pull * np.sin(at[0])]))
        state = state + h / 6.0 * (slopes[0] + 2.0 * slopes[1] + 2.0 * slopes[2] + slopes[3])
    return state


def pendulums(angle, spin, seconds):
    """Two pendulums that meet with these angles and spins after ``seconds``, and what the hit takes from them [J].

    Positive angles lead to positive x; the first is the one that comes from behind.
    """
    arm = LENGTH[:, None] * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    along = LENGTH[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    normal = np.array([1.0, 0.0])
    pivot = np.stack([-arm[0] - RADIUS * normal, -arm[1] + RADIUS * normal])
    lever = along @ normal
    meets = lever @ (spin * [1.0, -1.0])
    loss = 0.5 * meets**2 / np.sum(lever**2 / INERTIA)
    scene, (begins, turns) = Scene(gravity=(0.0, 0.0, -GRAVITY)), earlier(angle, spin, seconds)
    for k, (theta, rate) in enumerate(zip(begins, turns, strict=True)):
        place = (pivot[k, 0], 0.0, pivot[k, 1])
        moves = {"orientation": (0.0, -np.sin(theta / 2.0), 0.0, np.cos(theta / 2.0))}
        moves["angular_velocity"] = (0.0, -rate, 0.0)
        speed = LENGTH[k] * rate * np.array([np.cos(theta), 0.0, np.sin(theta)])
        hangs = {"center_of_mass": (0.0, 0.0, -LENGTH[k]), "inertia": 1e-3 * MASS[k] * np.eye(3), "mass": MASS[k]}
        ball, matter = Sphere(RADIUS, position=(0.0, 0.0, -LENGTH[k])), {"friction": 0.0}
        scene.add(Body(f"Bob {k}", [ball], position=place, linear_velocity=tuple(speed), **moves, **hangs, **matter))
        scene.add(Joint(f"Hinge {k}", "hinge", None, f"Bob {k}", position=place, orientation=LYING))
    return scene, loss


def lost(motion):
    """What energy a motion loses [J]."""
    energy = [report.kinetic_energy + report.potential_energy for report in motion.reports]
    assert all(report.converged for report in motion.reports)
    return energy[0] - energy[-1]


@pytest.mark.parametrize("phase", [0.1, 0.25, 0.4, 0.55, 0.7, 0.85])
@pytest.mark.parametrize("angle, spin", [((0.0, 0.0), (5.0, 0.8)), ((0.3, 0.1), (4.3, 0.95)), ((0.5, 0.1), (5.0, 0.8))])
def test_pendulums_that_meet_lose_what_the_law_of_impact_takes(angle, spin, phase):
    """At their lowest points, and where weight and their arcs pull them apart again: after any part of a frame."""
    scene, loss = pendulums(np.array(angle), np.array(spin), (3.0 + phase) / FPS)
    ratio = lost(simulate(scene, 6, FPS, CPU)) / loss
    name = f"pendulums at {angle} rad after {phase} of a frame"
    assert figure(name, "energy lost over the law", ratio, "1 +- 0.03") == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("phase", [0.1, 0.25, 0.4, 0.55, 0.7, 0.85])
def test_pendulums_that_stay_on_each_other_keep_their_energy(phase):
    """They meet at their lowest points, and the heavy one pushes the light one on: nothing but the hit takes energy."""
    scene, loss = pendulums(np.zeros(2), np.array([4.0, -0.9]), (2.0 + phase) / FPS)
    motion = simulate(scene, 7, FPS, CPU)
    gap = np.linalg.norm(np.diff(bobs(motion), axis=1)[:, 0], axis=1) - 2.0 * RADIUS
    assert np.abs(gap[4:]).max() < CPU.tolerances()[1]
    energy = [report.kinetic_energy + report.potential_energy for report in motion.reports]
    name = f"pendulums that meet after {phase} of a frame and swing on together"
    assert figure(name, "energy lost over the law", lost(motion) / loss, "1 +- 0.03") == pytest.approx(1.0, abs=0.03)
    assert figure(name, "lost after the hit, of the hit", (energy[3] - energy[-1]) / loss, 0.01) < 0.01


def bobs(motion):
    """Places (frames, 2, 3) of the bobs."""
    turn = 2.0 * np.arctan2(motion.orientation[..., 1], motion.orientation[..., 3])
    return motion.position - LENGTH[:, None] * np.stack([np.sin(turn), np.zeros_like(turn), np.cos(turn)], axis=-1)


def clapper(start, mass, substeps="auto"):
    """A frame of two walls that swings, let go at ``start`` [rad], and in it a bob on a rod that they strike."""
    scene, turned = Scene(gravity=(0.0, 0.0, -GRAVITY)), (0.0, np.sin(start / 2.0), 0.0, np.cos(start / 2.0))
    walls = [Box((0.02, 0.1, 0.2), position=(side * 0.2, 0.0, -0.3)) for side in (-1.0, 1.0)]
    frame = {"mass": mass[0], "inertia": 0.5 * np.eye(3), "center_of_mass": (0.0, 0.0, -0.3), "friction": 0.2}
    bob = {"mass": mass[1], "inertia": 0.01 * np.eye(3), "center_of_mass": (0.0, 0.0, -0.28), "friction": 0.2}
    place = (-0.03 * np.sin(start), 0.0, -0.03 * np.cos(start))
    scene.add(Body("Frame", walls, orientation=turned, **frame))
    scene.add(Body("Bob", [Sphere(0.04, position=(0.0, 0.0, -0.3))], position=place, orientation=turned, **bob))
    scene.add(Joint("Crown", "hinge", None, "Frame", orientation=LYING))
    at = {"position": place, "orientation": LYING, "collide_connected": True}
    scene.add(Joint("Pin", "hinge", "Frame", "Bob", **at))
    return simulate(scene, 24, FPS, SolverConfig(device="cpu", substeps=substeps))


@pytest.mark.parametrize("start, mass", [(1.1, (5.0, 5.0)), (1.4, (20.0, 2.0)), (1.4, (5.0, 5.0))])
def test_a_clapper_in_a_swinging_frame_loses_what_it_does_in_short_steps(start, mass):
    """Up to three strikes in a second."""
    ratio = lost(clapper(start, mass)) / lost(clapper(start, mass, 32))
    name = f"clapper of {mass[1]:g} kg in a frame of {mass[0]:g} kg, from {start} rad"
    assert figure(name, "energy lost over that of 32 steps a frame", ratio, "1 +- 0.03") == pytest.approx(1.0, abs=0.03)
