# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes that start inside each other, with all their corners on each other's faces: named, and pushed apart."""

import numpy as np
import pytest
from axion.solver import Body, Plane, Scene, SolverConfig, TriangleMesh, simulate, starting_overlaps

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
HEIGHT = 0.1  # [m]


def upright(outline, hub=False):
    """A solid of upright sides on an outline (n, 2); hub: ends are fans around their middles."""
    n, k = len(outline), np.arange(len(outline))
    after = (k + 1) % n
    vertices = np.concatenate([np.insert(outline, 2, side, axis=1) for side in (-0.5 * HEIGHT, 0.5 * HEIGHT)])
    if hub:
        vertices = np.concatenate([vertices, [(0, 0, -0.5 * HEIGHT), (0, 0, 0.5 * HEIGHT)]])
        ends = (np.full(n, 2 * n), after, k), (np.full(n, 2 * n + 1), n + k, n + after)
    else:
        fan = np.arange(1, n - 1)
        ends = (0 * fan, fan + 1, fan), (0 * fan + n, n + fan, n + fan + 1)
    sides = (k, after, n + after), (k, n + after, n + k)
    return TriangleMesh(vertices, np.concatenate([np.stack(each, axis=1) for each in (*ends, *sides)]))


ROUND = 2.0 * np.pi * np.arange(24) / 24
POINTED = np.pi / 5.0 * np.arange(10)
SOLIDS = {
    "prism": upright(0.1 * np.stack([np.cos(ROUND), np.sin(ROUND)], axis=1)),
    "star": upright(
        np.where(np.arange(10) % 2, 0.1, 0.05)[:, None] * np.stack([np.cos(POINTED), np.sin(POINTED)], axis=1), hub=True
    ),
}


@pytest.mark.parametrize(
    ("name", "offset", "least"),
    [
        ("prism", (0, 0, 0), 0.049), ("prism", (0, 0, 0.03), 0.02), ("prism", (0.02, 0.013, 0), 0.02),
        ("prism", (0.1, 0, 0), 0.03), ("star", (0, 0, 0), 0.03),
    ],
)  # fmt: skip
def test_meshes_with_faces_in_one_plane_do_not_stand_in_each_other(name, offset, least):
    """One left where it was copied, above it or beside it on the same floor: they stayed in each other for ever, some
    sank wholly in, with a penetration of zero and no overlap named.
    """
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    for k, body in enumerate("AB"):
        place = np.array((0.0, 0.0, 0.5 * HEIGHT)) + k * np.array(offset)
        scene.add(Body(body, [SOLIDS[name]], position=place, mass=1.0))
    told = starting_overlaps(scene, CPU)
    assert [{each.body_a, each.body_b} for each in told] == [{"A", "B"}]
    assert told[0].depth > least
    trajectory = simulate(scene, 36, 24, CPU)
    assert trajectory.reports[0].overlap == told[0].depth
    assert sorted(trajectory.reports[0].overlapping_bodies) == ["A", "B"]
    apart = np.linalg.norm(trajectory.position[-1, 2] - trajectory.position[-1, 1])
    assert apart > 0.99 * HEIGHT
    assert starting_overlaps(_later(scene, trajectory), CPU) == []
    assert all(report.converged and report.penetration < FAST for report in trajectory.reports[12:])


def _later(scene, trajectory):
    """The scene as it is at the end."""
    later = Scene()
    for body, place, turn in zip(scene.bodies, trajectory.position[-1], trajectory.orientation[-1], strict=True):
        later.add(Body(body.name, body.shapes, motion=body.motion, position=place, orientation=turn, mass=body.mass))
    return later


@pytest.mark.parametrize("offset", [(0, 0, HEIGHT), (0.2, 0, 0), (0.2, 0, HEIGHT), (0, 0, HEIGHT + 1e-4)])
def test_meshes_that_touch_are_not_in_each_other(offset):
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    for k, body in enumerate("AB"):
        place = np.array((0.0, 0.0, 0.5 * HEIGHT)) + k * np.array(offset)
        scene.add(Body(body, [SOLIDS["prism"]], position=place, mass=1.0))
    assert starting_overlaps(scene, CPU) == []
