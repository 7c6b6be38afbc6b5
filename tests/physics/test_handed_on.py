# SPDX-License-Identifier: GPL-3.0-or-later
"""Impacts that lead to impacts in one frame: a ball against a row, Newton's cradle, the break of a rack of balls."""

import numpy as np
import pytest
from axion.solver import Body, Joint, Plane, Scene, SolverConfig, Sphere, simulate
from axion.solver.rotations import exponential, multiply
from figures import figure
from judges import energies
from scenes import GRAVITY, ground, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
KNOWN = 2.0 * FAST * 24.0  # [m/s] to which a velocity is known
RADIUS, LENGTH = 0.05, 1.0
HINGED = turned("x", np.pi / 2)


def row(restitution, between, count=5):
    """A ball at 2 m/s along x against ``count`` balls at rest."""
    scene = Scene(gravity=(0, 0, 0))
    ball = {"mass": 1.0, "restitution": restitution, "friction": 0.0}
    scene.add(Body("Striker", [Sphere(RADIUS)], position=(-0.5, 0, 0), linear_velocity=(2, 0, 0), **ball))
    for i in range(count):
        scene.add(Body(f"Ball {i + 1}", [Sphere(RADIUS)], position=(i * (2 * RADIUS + between), 0, 0), **ball))
    return scene


def cradle(between, kind, raised=1, count=5):
    """Balls in a row on hinges or pairs of ropes; the first ``raised`` are let go from 40 degrees."""
    scene, tilt = Scene(), np.radians(40.0)
    for i in range(count):
        top = np.array([i * (2 * RADIUS + between), 0, LENGTH])
        angle = tilt if i < raised else 0.0
        place = top - LENGTH * np.array([np.sin(angle), 0, np.cos(angle)])
        turn = exponential(np.array([0, angle, 0]))
        name = f"Ball {i + 1}"
        scene.add(
            Body(name, [Sphere(RADIUS)], position=place, orientation=turn, mass=1.0, restitution=1.0, friction=0.0)
        )
        if kind == "hinge":
            scene.add(Joint(f"Hinge {i + 1}", "hinge", None, name, top, HINGED))
            continue
        for side in (-0.3, 0.3):
            scene.add(Joint(f"Rope {i + 1} {side}", "rope", None, name, anchors=(top + (0, side, 0), place)))
    return scene


@pytest.mark.parametrize("between", [0.0, 1e-3, 1e-2])
def test_a_ball_sends_off_the_last_of_a_row(between):
    # e = 1: equal masses swap velocities, hit by hit.  It came back at 1.33 m/s, and all others went off together.
    trajectory = simulate(row(1.0, between), 24, config=CPU)
    speed = trajectory.linear_velocity[-1, :, 0]
    name = f"ball against a row of five, {1000 * between:g} mm apart"
    figure(name, "speed of the last", speed[-1], "2 m/s +- the tolerance per frame", "m/s")
    figure(name, "fastest of the others", np.abs(speed[:-1]).max(), KNOWN, "m/s")
    assert speed == pytest.approx([0, 0, 0, 0, 0, 2.0], abs=KNOWN)
    assert speed.sum() == pytest.approx(2.0, abs=6 * KNOWN)


def test_a_lossy_row_hands_on_what_each_hit_leaves():
    # e = 0.5: each hit gives (1 + e) / 2 of the speed on: the last of five leaves with 2 (0.75)^5 = 0.475 m/s.
    speed = simulate(row(0.5, 1e-2), 24, config=CPU).linear_velocity[-1, :, 0]
    off = abs(speed[-1] - 2.0 * 0.75**5)
    assert figure("row with e = 0.5", "speed of the last off 2 (0.75)^5", off, KNOWN, "m/s") < KNOWN
    assert speed.sum() == pytest.approx(2.0, abs=6 * KNOWN)
    assert (np.diff(speed) > -KNOWN).all()  # nobody runs into the next


@pytest.mark.parametrize("kind", ["hinge", "rope"])
@pytest.mark.parametrize("between", [0.0, 1e-3])
def test_cradle(kind, between):
    # The last ball takes all: its v^2 / 2 + g z is that of the first, and the others hang still.
    scene = cradle(between, kind)
    trajectory = simulate(scene, 72, config=CPU)
    speed, height = trajectory.linear_velocity[..., 0], trajectory.position[..., 2]
    hit = int(np.argmax(speed[:, -1] > 0.3)) + 1
    energy = (0.5 * (trajectory.linear_velocity**2).sum(axis=2) + GRAVITY * height)[hit]
    name = f"cradle on {kind}s, {1000 * between:g} mm apart"
    taken = energy[-1] / (GRAVITY * height[0, 0])
    figure(name, "energy that the last ball takes", taken, "1 +- 0.02")
    figure(name, "fastest of the others", np.abs(speed[hit, :-1]).max(), 0.02, "m/s")
    assert taken == pytest.approx(1.0, abs=0.02)
    assert np.abs(speed[hit, :-1]).max() < 0.01 * speed[hit, -1]
    # and hands it back: the first comes up again, with energy that contacts do not add to
    up = height[hit + 12 : hit + 40, 0].max()
    assert figure(name, "height the first comes back to", up / height[0, 0], "1 +- 0.05") == pytest.approx(1, abs=0.05)
    total = energies(scene, trajectory)
    rise = (total.max() - total[0]) / total[0]
    assert figure(name, "most energy over that at the start", rise, 0.01) < 0.01


def test_two_balls_of_a_cradle_send_off_two():
    trajectory = simulate(cradle(0.0, "rope", raised=2), 20, config=CPU)
    speed = trajectory.linear_velocity[..., 0]
    hit = int(np.argmax(speed[:, -1] > 0.3)) + 1
    others = figure("cradle, two of five", "fastest of the other three", np.abs(speed[hit, :3]).max(), 0.02, "m/s")
    assert others < 0.01 * speed[hit, -1]
    assert speed[hit, 3] == pytest.approx(speed[hit, 4], rel=0.01)


def test_break_keeps_momentum_and_is_even():
    # A ball against a triangle of ten on the line of symmetry: mirror images leave with mirrored velocities, and the
    # line's momentum only falls by what friction on the table takes, mu g of each in a frame.
    scene, radius = Scene(), 0.0286
    ground(scene, friction=0.0)
    ball = {"mass": 0.17, "restitution": 0.95, "friction": 0.0}
    scene.add(Body("Cue", [Sphere(radius)], position=(-0.4, 0, radius), linear_velocity=(6, 0, 0), **ball))
    places = [(r, c) for r in range(4) for c in range(r + 1)]
    for r, c in places:
        at = (np.sqrt(3.0) * 1.001 * r * radius, (2 * c - r) * 1.001 * radius, radius)
        scene.add(Body(f"Ball {r}.{c}", [Sphere(radius)], position=at, **ball))
    trajectory = simulate(scene, 12, config=CPU)
    velocity = trajectory.linear_velocity[-1, 1:]
    assert velocity.sum(axis=0)[:2] == pytest.approx([6.0, 0.0], abs=11 * KNOWN)
    mirror = [places.index((r, r - c)) + 1 for r, c in places]
    uneven = np.abs(velocity[mirror] * (1, -1, 1) - velocity[1:]).max()
    assert figure("break of ten balls", "unevenness of the velocities", uneven, 0.05, "m/s") < 0.05
    assert trajectory.reports[-1].kinetic_energy < 0.5 * 0.17 * 36.0


@pytest.mark.parametrize("turn", [0.0, 0.002, 0.007])
def test_marbles_in_a_pit_come_to_rest(turn):
    # Twelve marbles with e = 0.3 in a pit of twelve slopes, let go from places turned by that [rad]: what they hand on
    # to each other dies out.  Where a nudge that weight may carry rebounded, they pushed each other about at 0.06 m/s
    # for ever; so did half of ten such heaps where marbles at rest were taken to fall on slopes 3 mm beside them.
    scene, count = Scene(), 12
    for i in range(count):
        tilt = multiply(turned("z", 2.0 * np.pi * i / count), turned("y", -0.6))
        scene.add(Body(f"Slope {i + 1}", [Plane()], motion="static", orientation=tilt, friction=0.2))
    for i in range(count):
        place = (0.3 * np.cos(i + turn), 0.3 * np.sin(i + turn), 0.6 + 0.1 * i)
        scene.add(Body(f"Marble {i + 1}", [Sphere(0.04)], position=place, mass=0.1, restitution=0.3, friction=0.2))
    trajectory = simulate(scene, 120, config=CPU)
    speed = np.linalg.norm(trajectory.linear_velocity[96:, count:], axis=2).max()
    name = f"twelve marbles in a pit, turned by {turn:g} rad"
    assert figure(name, "fastest after four seconds", speed, 2 * KNOWN, "m/s") < 2 * KNOWN
