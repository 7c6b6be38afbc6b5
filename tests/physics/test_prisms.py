# SPDX-License-Identifier: GPL-3.0-or-later
"""Hulls that stand on faces of many corners, judged by the law of the lever: they tip where the pull leads out of the
face.  Held at up to eight of its corners, others from step to step, a prism of 64 sides fell at 0.95 of what tips it.
"""

from itertools import product

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Plane, Scene, SolverConfig, TriangleMesh, simulate
from axion.solver.face_polygons import face_polygons
from axion.solver.rotations import exponential, matrices
from figures import figure
from numpy_corners import _clipped
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
ROUGH = 10.0  # friction: nothing slides
DIRECTIONS = np.radians([0, 20, 45, 137, 200, 290])
CORNERS = np.array(list(product((-3.0, 3.0), (-3.0, 3.0), (-0.2, 0.0))))
SIDES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4)]
GROUNDS = {
    "plane": Plane(),
    "box": Box((3.0, 3.0, 0.1), position=(0, 0, -0.1)),
    "hull": ConvexHull(CORNERS),
    "mesh": TriangleMesh(CORNERS, np.array([*SIDES, (1, 5, 7), (1, 7, 3)])),
}


def rim(sides, radius, turn=0.0, aside=(0.0, 0.0)):
    """Corners (sides, 2) of an even polygon [m]."""
    around = 2.0 * np.pi * np.arange(sides) / sides + turn
    return radius * np.stack([np.cos(around), np.sin(around)], axis=1) + aside


def prism(sides, radius, half, turn=0.0):
    return ConvexHull(np.concatenate([np.insert(rim(sides, radius, turn), 2, z, axis=1) for z in (-half, half)]))


def lever(region, middle, direction):
    """How far it is from ``middle`` (2,) to the outline of a convex region (N, 2) in a direction [rad]."""
    way, least = np.array([np.cos(direction), np.sin(direction)]), np.inf
    for start, end in zip(region, np.roll(region, -1, axis=0), strict=True):
        square = np.array([end[1] - start[1], start[0] - end[0]])
        square *= np.sign(square @ (start - region.mean(axis=0)))
        if square @ way > 1e-12:
            least = min(least, square @ (start - middle) / (square @ way))
    return least


def fall(ground, hull, place, height, arm, direction, seconds=2.0):
    """(Largest lean [degrees], way along the ground [m], frames that missed) of a hull at ``place`` (3,), the centre of
    mass ``height`` above the ground, under a pull that leads to ``arm`` from there on the ground, in a direction [rad].
    """
    slant = np.arctan(arm / height)
    pull = np.array([np.sin(slant) * np.cos(direction), np.sin(slant) * np.sin(direction), -np.cos(slant)])
    scene = Scene(gravity=tuple(GRAVITY * pull))
    scene.add(Body("Ground", [ground], motion="static", friction=ROUGH))
    scene.add(Body("Hull", [hull], position=place, friction=ROUGH))
    trajectory = simulate(scene, round(seconds * 24), 24, CPU)
    upright = matrices(trajectory.orientation[:, 1])[:, 2, 2].min()
    way = np.linalg.norm((trajectory.position[-1, 1] - trajectory.position[0, 1])[:2])
    missed = sum(not report.converged for report in trajectory.reports)
    return np.degrees(np.arccos(min(1.0, upright))), way, missed


def judged(scene, runs, held):
    """Record and judge what runs, arguments of ``fall`` with levers [m], did at ``held`` of these, and at 1.02."""
    stood = np.array([fall(*args, held * arm, direction) for *args, arm, direction in runs])
    fallen = [fall(*args, 1.02 * arm, direction, seconds=3.0)[0] for *args, arm, direction in runs[1:3]]
    assert figure(scene, f"lean at {held} of what tips it", stood[:, 0].max(), 0.1, "deg") < 0.1
    assert figure(scene, "way", 1e3 * stood[:, 1].max(), 0.2, "mm") < 0.2
    assert not stood[:, 2].any()
    assert figure(scene, "least lean within 3 s at 1.02 of that", min(fallen), 15.0, "deg") > 15.0


@pytest.mark.parametrize(("sides", "ground"), [(8, "plane"), (32, "mesh"), (64, "hull"), (128, "box")])
def test_prisms_fall_by_the_law_of_the_lever(sides, ground):
    hull = prism(sides, 0.1, 0.2)
    runs = [
        (GROUNDS[ground], hull, (0, 0, 0.2), 0.2, lever(rim(sides, 0.1), np.zeros(2), direction), direction)
        for direction in DIRECTIONS
    ]
    judged(f"prism of {sides} sides on a {ground}", runs, 0.98)


def test_a_cone_of_many_sides_falls_by_the_law_of_the_lever():
    hull = ConvexHull(np.concatenate([np.insert(rim(32, 0.1), 2, -0.1, axis=1), [(0.0, 0.0, 0.3)]]))
    runs = [
        (Plane(), hull, (0, 0, 0.1), 0.1, lever(rim(32, 0.1), np.zeros(2), direction), direction)
        for direction in DIRECTIONS[:3]
    ]
    judged("cone of 32 sides", runs, 0.98)


@pytest.mark.parametrize(
    ("below", "radius", "aside", "held"),
    [
        (32, 0.1, (0.0, 0.0), 0.98),
        (64, 0.08, (0.01, 0.02), 0.95),
        (48, 0.1, (0.05, 0.0), 0.95),
        (4, 0.12, (0, 0), 0.98),
    ],
    ids=["equal", "smaller", "aside", "box"],
)
def test_prisms_on_prisms_fall_by_the_law_of_the_lever(below, radius, aside, held):
    ground, runs = prism(below, radius, 0.05), []
    for k, direction in enumerate(DIRECTIONS[:3]):
        region = _clipped(rim(32, 0.1, 0.3 + k, aside), rim(below, radius))
        place = (aside[0], aside[1], 0.25)
        runs.append(
            (ground, prism(32, 0.1, 0.2, 0.3 + k), place, 0.2, lever(region, np.array(aside), direction), direction)
        )
    judged(f"prism on a prism of {below} sides", runs, held)


def test_a_prism_goes_round_with_a_turntable():
    spin, away, friction = 2.5, 0.8, 0.9  # half of what tips it, 0.57 of what it slides at
    scene = Scene()
    table = Body("Table", [prism(64, 1.2, 0.1)], motion="kinematic", friction=friction, angular_velocity=(0, 0, spin))
    scene.add(table)
    scene.add(
        Body("Prism", [prism(32, 0.1, 0.1)], position=(away, 0, 0.2), friction=friction,
             linear_velocity=(0, away * spin, 0), angular_velocity=(0, 0, spin))
    )  # fmt: skip
    trajectory = simulate(scene, 120, 24, CPU)
    out = np.hypot(*trajectory.position[-1, 1, :2]) - away
    assert abs(figure("prism on a turntable", "way outwards in 5 s", 1e3 * out, 1.0, "mm")) < 1.0


def test_faces_of_single_precision_are_whole():
    rng = np.random.default_rng(1)
    for sides in (16, 32, 64, 128):
        turn = matrices(exponential(rng.normal(size=3))[None])[0]
        corners = (prism(sides, 0.1, 0.2).vertices @ turn.T).astype(np.float32)
        polygons = face_polygons([ConvexHull(corners)], np.zeros((1, 3)), np.eye(3)[None])
        assert np.sort(np.diff(polygons.start))[-2:].tolist() == [sides, sides]
        assert np.sort(np.diff(polygons.span_start))[-2:].tolist() == [16, 16]
