# SPDX-License-Identifier: GPL-3.0-or-later
"""Concave meshes that start inside each other come apart at a bounded speed, on the side on which they overlap.

Their contacts push every way: what one pushed away another one pushed back, and they stayed in each other for ever.
"""

from itertools import pairwise

import numpy as np
import pytest
from axion.solver import Body, MotionPath, Plane, Scene, SolverConfig, TriangleMesh, simulate, starting_overlaps
from axion.solver.rotations import matrices
from contact_scenes import grid, torus
from figures import figure
from monkeys import deepest, monkey
from scenes import turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
PUSH_OUT = 3.0  # m/s, see StepProblem.push_out_speed
FRAME = {"mass": 1.0, "center_of_mass": (0, 0, 0), "inertia": 0.02 * np.eye(3)}


def two_monkeys(closed, seed, apart):
    """(Scene without gravity, vertices, triangles): two, turned at will, whose origins are ``apart`` m."""
    vertices, triangles = monkey(closed)
    random, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, 0))
    turns, way = random.normal(size=(2, 4)), random.normal(size=3)
    turns, way = turns / np.linalg.norm(turns, axis=1)[:, None], way / np.linalg.norm(way)
    for name, where, turn in zip("AB", (np.zeros(3), apart * way), turns, strict=True):
        scene.add(Body(name, [TriangleMesh(vertices, triangles)], position=where, orientation=turn, **FRAME))
    return scene, vertices, triangles


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("apart", [0.25, 0.2, 0.15])
@pytest.mark.parametrize("seed", range(4))
def test_monkeys_come_apart(closed, seed, apart):
    """Voxels or shells with holes: in as many frames as their depth takes at the speed of the push, and one more."""
    scene, vertices, triangles = two_monkeys(closed, seed, apart)
    (told,) = starting_overlaps(scene, CPU)
    assert told.depth > 0.005
    frames = 2 + int(told.depth / (PUSH_OUT * STEP))
    trajectory = simulate(scene, frames, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    label = f"{'closed' if closed else 'open'} monkeys {apart} m apart, {seed}"
    left = deepest(vertices, triangles, trajectory.position[-1], trajectory.orientation[-1])
    assert figure(label, "left", left, 2.0 * FAST, "m") < 2.0 * FAST
    # A way no longer than needed, no speed from it, and all of it together stays in its place.
    way = np.diff(trajectory.position, axis=1)[:, 0]
    assert np.linalg.norm(way[-1] - way[0]) < 1.2 * told.depth + 0.01
    speed = np.abs(trajectory.linear_velocity[-1]).max()
    assert figure(label, "speed", speed, FAST / STEP, "m/s") < FAST / STEP
    assert np.linalg.norm(np.diff(way, axis=0), axis=1).max() < (PUSH_OUT + 1.0) * STEP
    assert np.abs(trajectory.position.mean(axis=1) - trajectory.position[0].mean(axis=0)).max() < FAST


def rounds(one, other):
    """How often one closed curve (N, 3) goes through another one (M, 3): Gauss's integral over their chords."""
    start, way = one, np.roll(one, -1, axis=0) - one
    begin, along = other, np.roll(other, -1, axis=0) - other
    apart = (start + 0.5 * way)[:, None] - begin - 0.5 * along
    volume = np.einsum("nmi,nmi->nm", apart, np.cross(way[:, None], along))
    return float(np.sum(volume / np.linalg.norm(apart, axis=2) ** 3)) / (4.0 * np.pi)


@pytest.mark.parametrize("overlap", [0.004, 0.012, 0.03])
def test_links_of_a_chain_that_overlap_come_apart_and_stay_linked(overlap):
    """Tubes of 5 cm: the way through each other is farther, and the chain hangs on."""
    big, small, count = 0.1, 0.025, 4
    scene, link, pitch = Scene(), torus(big, small, 24, 10), 2.0 * (big - small)
    turns = (0.5, 0.5, 0.5, 0.5), tuple(turned("x", 0.5 * np.pi))
    for k in range(count):
        place, motion = (0, 0, -k * (pitch + overlap)), "dynamic" if k else "static"
        scene.add(Body(f"Link {k}", [link], motion=motion, position=place, orientation=turns[k % 2], mass=1.0))
    told = starting_overlaps(scene, CPU)
    assert [each.depth for each in told] == pytest.approx([overlap] * (count - 1), abs=1e-3)
    trajectory = simulate(scene, 24, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    assert trajectory.reports[-1].penetration < FAST
    angle = 2.0 * np.pi * np.arange(200) / 200
    circle = big * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    poses = matrices(trajectory.orientation[-1]), trajectory.position[-1]
    rings = [circle @ turn.T + place for turn, place in zip(*poses, strict=True)]
    for one, other in pairwise(rings):
        assert abs(rounds(one, other)) == pytest.approx(1.0, abs=0.02)
    drop = -np.diff(trajectory.position[-1, :, 2])
    assert (drop < pitch + 1e-3).all() and (drop > pitch - 2e-3).all()


@pytest.mark.parametrize("depth", [0.03, 0.1])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("ground", ["level", "bowl"])
def test_a_monkey_in_ground_of_triangles_comes_up(ground, closed, depth):
    height = (lambda x, y: 0.5 * (x * x + y * y)) if ground == "bowl" else (lambda x, y: 0.0 * x)
    vertices, triangles = monkey(closed)
    turn = np.array((0.3, 0.5, 0.1, 0.8)) / np.linalg.norm((0.3, 0.5, 0.1, 0.8))
    tips = vertices @ matrices(turn[None])[0].T
    scene, place = Scene(), (0.0, 0.0, (height(*tips.T[:2]) - tips[:, 2]).max() - depth)
    scene.add(Body("Ground", [grid(32, 2.0, height)], motion="static"))
    scene.add(Body("Monkey", [TriangleMesh(vertices, triangles)], position=place, orientation=turn, **FRAME))
    (told,) = starting_overlaps(scene, CPU)
    above = 0.25 * 0.125**2 if ground == "bowl" else 0.0  # how far its triangles are above the bowl
    assert told.depth == pytest.approx(depth, abs=0.05 * depth + above)
    trajectory = simulate(scene, 24, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    poses = trajectory.position[2:, 1], matrices(trajectory.orientation[2:, 1])
    seen = [vertices @ turned_by.T + at for at, turned_by in zip(*poses, strict=True)]
    below = max((height(*each.T[:2]) - each[:, 2]).max() for each in seen)
    label = f"{'closed' if closed else 'open'} monkey {depth} m in a {ground} of triangles"
    assert figure(label, "corners below it", below, 2.0 * FAST, "m") < 2.0 * FAST


def test_monkeys_that_keyframes_held_in_each_other_come_apart_when_they_are_let_go():
    scene, vertices, triangles = two_monkeys(True, 0, 0.2)
    free = simulate(scene, 3, config=CPU)
    for body in scene.bodies:
        body.path = MotionPath([0.0, 1.0], [body.position] * 2, [body.orientation] * 2)
        body.held = [(0.0, 3.5 * STEP)]
    trajectory = simulate(scene, 8, config=CPU)
    assert (trajectory.position[3] == trajectory.position[0]).all()
    assert trajectory.reports[4].overlap == pytest.approx(free.reports[0].overlap, rel=0.01)
    assert deepest(vertices, triangles, trajectory.position[-1], trajectory.orientation[-1]) < 2.0 * FAST
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.slow
def test_a_heap_of_monkeys_that_start_in_each_other_falls_out_of_it():
    """A dozen in a column, several of which are in two others."""
    vertices, triangles = monkey()
    scene, random = Scene(), np.random.default_rng(2)
    scene.add(Body("Ground", [Plane()], motion="static"))
    for k in range(12):
        turn = random.normal(size=4)
        place = (*(0.12 * (np.arange(2) == k % 2) * (-1) ** (k // 2)), 0.4 + 0.25 * k)
        mesh = TriangleMesh(vertices, triangles)
        scene.add(Body(f"Monkey {k}", [mesh], position=place, orientation=turn / np.linalg.norm(turn), **FRAME))
    assert len(starting_overlaps(scene, CPU)) > 6
    trajectory = simulate(scene, 12, config=CPU)
    for place, turn in zip(trajectory.position[6:, 1:], trajectory.orientation[6:, 1:], strict=True):
        assert deepest(vertices, triangles, place, turn) < 2.0 * FAST
    assert all(report.converged for report in trajectory.reports[6:])
