# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex shapes of all kinds are as deep in each other as detection says: held against the support functions alone.

distance = max over unit d of  d . (x_b - x_a) - h_a(d) - h_b(-d)        h: support function; negative: overlap
"""

import itertools

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Sphere, TriangleMesh
from axion.solver.rotations import matrices, multiply
from contact_scenes import set_up
from figures import figure

NOISE = 1e-4  # [m] what float32 and newton's search may leave: the tolerance of fast motion
DIRECTIONS = np.random.default_rng(0).normal(size=(3000, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


def rock(random):
    corners = random.normal(size=(14, 3))
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    return ConvexHull(corners * (0.3, 0.4, 0.35) * random.uniform(0.7, 1.0, (14, 1)))


KINDS = {
    "ball": lambda random: Sphere(random.uniform(0.1, 0.5)),
    "box": lambda random: Box(random.uniform(0.05, 0.5, 3)),
    "capsule": lambda random: Capsule(*random.uniform(0.1, (0.3, 0.6))),
    "cylinder": lambda random: Cylinder(*random.uniform((0.1, 0.02), (0.4, 0.6))),
    "cone": lambda random: Cone(*random.uniform(0.1, (0.4, 0.5))),
    "hull": rock,
    "mesh": lambda random: TriangleMesh(*((hull := rock(random)).vertices, hull.triangles)),
}


def support(shape, d):
    """(K,) support function of a shape in its own frame, along directions (K, 3)."""
    aside = np.hypot(d[:, 0], d[:, 1])
    match shape:
        case Sphere():
            return shape.radius * np.linalg.norm(d, axis=1)
        case Box():
            return np.abs(d) @ np.asarray(shape.half_extents)
        case Capsule():
            return shape.radius * np.linalg.norm(d, axis=1) + shape.half_height * np.abs(d[:, 2])
        case Cylinder():
            return shape.radius * aside + shape.half_height * np.abs(d[:, 2])
        case Cone():
            return np.maximum(shape.half_height * d[:, 2], shape.radius * aside - shape.half_height * d[:, 2])
    return (d @ shape.vertices.T).max(axis=1)


def distance(shapes, frames, place, finest=1e-8):
    """(distance [m], direction (3,)) of two convex shapes, of which the second is at ``place``; frames (2, 3, 3)."""

    def along(d):
        return d @ place - support(shapes[0], d @ frames[0]) - support(shapes[1], -d @ frames[1])

    random, axes = np.random.default_rng(1), np.concatenate([*np.swapaxes(frames, 1, 2)])
    best = np.concatenate([DIRECTIONS, axes, -axes])
    best = best[np.argsort(-along(best))[:4]]
    spread = 0.05
    while spread > finest:
        for _ in range(5):
            near = best[:, None] + spread * random.normal(size=(4, 30, 3))
            near = np.concatenate([best[:, None], near / np.linalg.norm(near, axis=2, keepdims=True)], axis=1)
            value = along(near.reshape(-1, 3)).reshape(4, -1)
            best = near[np.arange(4), value.argmax(axis=1)]
        spread *= 0.4
    value = along(best)
    return value.max(), best[value.argmax()]


def posed(shapes, random):
    """Orientations (2, 4) and place (3,) of a second shape that is up to 5 mm deep in the first, or 1 mm off it.

    Half of them are nearly aligned, because that is where searches end at the wrong features.
    """
    first, other = random.normal(size=(2, 4))
    first /= np.linalg.norm(first)
    if random.random() < 0.5:
        turn = random.choice([0.0, 1e-3, 0.1]) * random.normal(size=3)
        angle = np.linalg.norm(turn)
        other = multiply(first, np.append(np.sinc(0.5 * angle / np.pi) * 0.5 * turn, np.cos(0.5 * angle)))
    tilts = np.array([first, other / np.linalg.norm(other)])
    frames, way = matrices(tilts), random.normal(size=3)
    way /= np.linalg.norm(way)
    aside = random.choice([0.0, 0.2]) * np.cross(way, random.normal(size=3))
    wanted, near, far = random.choice([1e-3, -5e-5, -1e-3, -5e-3]), 0.0, 4.0
    for _ in range(16):
        middle = 0.5 * (near + far)
        told = distance(shapes, frames, middle * way + aside, 1.0)[0]
        near, far = (middle, far) if told < wanted else (near, middle)
    return tilts, far * way + aside


@pytest.mark.parametrize("kinds", itertools.combinations_with_replacement(KINDS, 2), ids="-".join)
def test_depths_are_those_of_the_shapes(kinds):
    worst, missed, random = 0.0, 0.0, np.random.default_rng(sum(map(ord, "".join(kinds))))
    for _ in range(12):
        shapes = [KINDS[kind](random) for kind in kinds]
        tilts, place = posed(shapes, random)
        exact, _ = distance(shapes, matrices(tilts), place)
        first = Body("First", shapes[:1], orientation=tilts[0])
        other = Body("Other", shapes[1:], position=place, orientation=tilts[1])
        collider, x, q = set_up(first, other, gravity=(0.0, 0.0, 0.0))
        spin = random.choice([0.0, 1.0, 5.0]) * random.normal(size=(2, 3))
        gap = collider.collide_again(x, q, np.ones(2, bool), spin).gap.min(initial=0.0)
        worst = max(worst, min(exact, 0.0) - gap)
        missed = max(missed, gap - min(exact, 0.0))
    name = " and ".join(kinds)
    assert figure(name, "deeper than they are", worst, f"< {NOISE}", "m") < NOISE
    assert figure(name, "less deep than they are", missed, f"< {NOISE}", "m") < NOISE


def test_a_ball_beside_an_edge_of_another_face_is_no_deeper():
    """It was 111 mm deep, not 5: the way from that edge to its middle is not one of the edge, and was made one."""
    corners = np.array([
        (-86, -290, -75), (-109, 80, 232), (128, -141, 197), (-162, -216, -7), (109, 307, -142), (251, 125, 69),
        (-259, 12, 28), (45, -175, -193), (140, -27, -300), (-77, -278, 74), (263, 124, 67), (-156, -194, 162),
        (-144, 40, 203), (-66, -315, -49),
    ]) / 1000.0  # fmt: skip
    triangles = [
        (4, 1, 10), (4, 10, 8), (1, 4, 6), (4, 8, 6), (10, 1, 2), (8, 10, 2), (2, 1, 11), (13, 2, 9), (2, 11, 9),
        (11, 13, 9), (13, 11, 3), (11, 6, 3), (13, 3, 0), (6, 8, 0), (3, 6, 0), (1, 6, 12), (6, 11, 12), (11, 1, 12),
        (8, 2, 7), (2, 13, 7), (13, 0, 7), (0, 8, 7),
    ]  # fmt: skip
    stone = Body("Stone", [TriangleMesh(corners, triangles)])
    ball = Body("Ball", [Sphere(0.173)], position=(0.14, -0.316, -0.209))
    collider, x, q = set_up(stone, ball, gravity=(0.0, 0.0, 0.0))
    gap = collider.collide_again(x, q, np.ones(2, bool)).gap
    assert np.abs(gap + 0.00489).max() < 1e-4
