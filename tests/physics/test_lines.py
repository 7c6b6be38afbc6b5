# SPDX-License-Identifier: GPL-3.0-or-later
"""What distances and ropes hold swings by its law at frame-sized steps, as on hinges: ways follow arcs (arcs.py)."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY
from smooth_motion import complete_elliptic, runge_kutta
from test_spinning import momenta

CPU = SolverConfig(device="cpu")


def down(angle):
    """Unit vector at an angle from straight down [rad]."""
    return np.array([np.sin(angle), 0.0, -np.cos(angle)])


def lines(kind, lengths, angles):
    """Bobs of 1 kg, each on a line from the one before, the first from the world."""
    scene, place, before = Scene(), np.zeros(3), None
    for k, (length, angle) in enumerate(zip(lengths, angles, strict=True)):
        end = place + length * down(angle)
        scene.add(Body(f"Bob{k}", [Sphere(0.1 * length)], position=end, mass=1.0, collision_mask=0))
        scene.add(Joint(f"Line{k}", kind, before, f"Bob{k}", anchors=(place, end)))
        place, before = end, f"Bob{k}"
    return scene


def leans(trajectory):
    """(F + 1, n) angle of each line from straight down [rad]."""
    ways = np.diff(trajectory.position, axis=1, prepend=0.0)
    return np.unwrap(np.arctan2(ways[..., 0], -ways[..., 2]), axis=0)


def period(times, angle):
    """Mean period [s] between the first and the last passage through zero, by linear interpolation."""
    i = np.nonzero((angle[:-1] <= 0.0) & (angle[1:] > 0.0))[0]
    zero = times[i] - (times[i + 1] - times[i]) * angle[i] / (angle[i + 1] - angle[i])
    return (zero[-1] - zero[0]) / (len(zero) - 1)


@pytest.mark.parametrize("kind", ["distance", "rope"])
@pytest.mark.parametrize("length", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("degrees", [10, 90])
def test_a_bob_on_a_line_has_its_period(kind, length, degrees):
    """T = 4 sqrt(L / g) K(sin^2(A / 2)): bobs took 3.5, 1.8 and 0.92 % longer."""
    start = np.radians(degrees)
    trajectory = simulate(lines(kind, [length], [start]), 240, 24, CPU)
    want = 4.0 * np.sqrt(length / GRAVITY) * complete_elliptic(np.sin(0.5 * start) ** 2)
    name = f"bob on a {kind} of {length} m from {degrees} degrees, 24 fps"
    off = period(trajectory.times, leans(trajectory)[:, 0]) / want - 1.0
    assert abs(figure(name, "period too long by", off, 5e-3)) < 5e-3
    energy = np.array([report.kinetic_energy + report.potential_energy for report in trajectory.reports])
    off = np.abs(energy - energy[0]).max() / (GRAVITY * length)
    assert figure(name, "energy off, 10 s, of m g L", off, 5e-3) < 5e-3
    assert (
        figure(name, "line off", np.abs(np.linalg.norm(trajectory.position[:, 0], axis=1) - length).max(), 1e-4) < 1e-4
    )


def double_pendulum(length, angles, seconds):
    """(angles (2,) at the end): two equal masses on two equal lines, by Lagrange's equations."""

    def rate(state):
        a, w = state[:2], state[2:]
        part, turn = np.cos(a[0] - a[1]), np.sin(a[0] - a[1])
        push = -np.array([turn * w[1] ** 2, -turn * w[0] ** 2])
        push -= GRAVITY / length * np.array([2.0, 1.0]) * np.sin(a)
        return np.concatenate([w, np.linalg.solve([[2.0, part], [part, 1.0]], push)])

    return runge_kutta(rate, (*angles, 0.0, 0.0), np.linspace(0.0, seconds, 4001))[-1, :2]


@pytest.mark.parametrize("angles", [(0.7, 0.7), (1.57, 1.57)])
def test_two_bobs_on_lines_swing_by_their_law(angles):
    """Lines turn each other: without arcs bobs were ten times farther off, and five by weight alone."""
    trajectory = simulate(lines("distance", [0.3, 0.3], angles), 48, 24, CPU)
    off = np.abs(leans(trajectory)[-1] - double_pendulum(0.3, angles, 2.0)).max()
    assert figure(f"two bobs on lines from {angles[0]} rad, 24 fps", "off in 2 s", off, 0.02, "rad") < 0.02


def hung(fps):
    """A box of 10 cm that hangs from its top by a line of 10 cm, let go at 60 degrees."""
    place = 0.1 * down(np.pi / 3.0)
    scene = Scene()
    box = Body("Box", [Box((0.06, 0.04, 0.1))], position=place - [0.0, 0.0, 0.05], mass=1.0, collision_mask=0)
    scene.add(box)
    scene.add(Joint("Line", "distance", None, "Box", anchors=(np.zeros(3), place)))
    return simulate(scene, 3 * fps, fps, CPU)


def test_a_box_on_a_line_swings_as_in_short_steps():
    """Its end of the line has a lever: it was 3 cm off after three seconds."""
    coarse, fine = hung(24), hung(480)
    off = np.linalg.norm(coarse.position[:, 0] - fine.position[::20, 0], axis=1).max()
    assert figure("box on a line of 10 cm, 24 fps", "off in 3 s", off, 2e-3, "m") < 2e-3


def test_two_on_a_line_keep_their_momenta():
    """Nothing acts from outside: spins of boxes give what lines that end beside their middles take."""
    scene, rng = Scene(gravity=(0.0, 0.0, 0.0)), np.random.default_rng(2)
    for name, x in (("A", -0.3), ("B", 0.3)):
        scene.add(Body(name, [Box((0.2, 0.15, 0.1))], position=(x, 0.0, 0.0), mass=1.0 + x, collision_mask=0,
                       linear_velocity=rng.normal(size=3), angular_velocity=2.0 * rng.normal(size=3)))  # fmt: skip
    scene.add(Joint("Line", "distance", "A", "B", anchors=((-0.2, 0.05, 0.0), (0.2, 0.0, 0.03))))
    for method in ("proximal", "schur"):
        trajectory = simulate(scene, 48, 24, SolverConfig(device="cpu", method=method, tolerance=1e-7))
        whole = momenta(scene, trajectory)
        off = np.linalg.norm(whole - whole[0], axis=1).max() / np.linalg.norm(whole[0])
        assert figure(f"two boxes on a line, {method}", "angular momentum off, 2 s", off, 1e-8) < 1e-8


def test_a_rope_that_comes_taut_gives_nothing():
    """A bob drops beside its hook until its rope holds it: what goes along the rope is lost, and nothing is given."""
    scene, place = Scene(), np.array([0.1, 0.0, 0.0])
    scene.add(Body("Bob", [Sphere(0.02)], position=place, mass=1.0, collision_mask=0))
    scene.add(Joint("Rope", "rope", None, "Bob", anchors=(np.zeros(3), place), length=0.15))
    trajectory = simulate(scene, 120, 24, CPU)
    energy = np.array([report.kinetic_energy + report.potential_energy for report in trajectory.reports])
    apart = np.linalg.norm(trajectory.position[:, 0], axis=1)
    assert apart.max() < 0.1501
    rises = np.maximum(energy - np.minimum.accumulate(energy), 0.0).max() / (GRAVITY * 0.15)
    assert figure("bob whose rope comes taut", "energy gained, of m g L", rises, 5e-3) < 5e-3
