# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts and manifolds that the kernels make are those that NumPy makes of newton's answer for every shape pair."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Scene, Sphere, near_pairs
from axion.solver import model as models
from axion.solver.collision import Collider
from axion.solver.rotations import exponential, multiply
from contact_scenes import LYING, bowl, ell, grid, rock
from numpy_collider import NumpyCollider

STEP = 1.0 / 96.0
SAME = ("body_a", "body_b", "pair", "previous", "face", "deforms")
CLOSE = ("point_a", "point_b", "margin_a", "margin_b", "normal", "gap", "shift", "drift")
WHOLE = ("point_a", "point_b", "normal", "size", "lever", "place", "tilt")
LINKED, COUNTED = 200, 400  # contacts that continue others, and all that a case must have compared


def solids(rng, count):
    """Boxes, hulls and round shapes in a heap over a floor, a compound among them; most of them touch."""
    shapes = [
        lambda: Box(rng.uniform(0.1, 0.3, 3)),
        lambda: rock(24, int(rng.integers(1000))),
        lambda: Sphere(0.2),
        lambda: Capsule(0.12, 0.15),
        lambda: Cylinder(0.2, 0.1),
        lambda: Cone(0.2, 0.15),
    ]
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static"))
    scene.add(Body("Slab", [Box((1.0, 1.0, 0.1), position=(0, 0, -0.1))], motion="static", position=(0.5, 0.5, 0.1)))
    for k in range(count):
        parts = [shapes[k % len(shapes)]()]
        if k % 5 == 0:
            parts.append(Box((0.1, 0.1, 0.1), position=(0.25, 0.0, 0.0)))
        group = {"collision_group": 2, "collision_mask": 1} if k % 7 == 3 else {}
        scene.add(Body(f"Body {k}", parts, position=(*rng.uniform(-0.6, 0.6, 2), 0.15 + 0.04 * k), **group))
    return scene


def stacked(rng, count):
    """Towers of equal boxes: faces on faces, most manifolds stay."""
    scene = Scene()
    scene.add(Body("Floor", [Box((5.0, 5.0, 0.5), position=(0, 0, -0.5))], motion="static"))
    for k in range(count):
        place = (0.5 * (k % 3), 0.0, 0.1 + 0.2 * (k // 3))
        turn = exponential([0.0, 0.0, rng.uniform(-0.3, 0.3)])
        scene.add(Body(f"Box {k}", [Box((0.2, 0.15, 0.1))], position=place, orientation=turn))
    return scene


def meshes(rng, count):
    """Rings, bowls and solids on an open floor of triangles."""
    shapes = [lambda: ell(0.2), lambda: bowl(0.3), lambda: Box((0.15, 0.1, 0.1)), lambda: rock(16)]
    scene = Scene()
    scene.add(Body("Floor", [grid(6, 2.0)], motion="static"))
    for k in range(count):
        place = (*rng.uniform(-0.4, 0.4, 2), 0.15 + 0.15 * k)
        scene.add(Body(f"Body {k}", [shapes[k % 4]()], position=place, orientation=LYING if k % 2 else (0, 0, 0, 1)))
    return scene


def slabs(rng, count):
    """Towers of prisms that lean a little: faces of many corners on each other, of which detection leaves some out."""
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static"))
    for k in range(count):
        angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, int(rng.integers(6, 12))))
        rim = rng.uniform(0.2, 0.3) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        corners = np.concatenate([np.insert(rim, 2, z, axis=1) for z in (-0.05, 0.05)])
        turn = exponential(rng.uniform(-0.02, 0.02, 3) + np.array([0.0, 0.0, rng.uniform(-3.0, 3.0)]))
        place = (0.8 * (k % 4), 0.0, 0.056 + 0.106 * (k // 4))
        scene.add(Body(f"Slab {k}", [ConvexHull(corners)], position=place, orientation=turn))
    return scene


def laid(rng, count):
    """Cylinders and capsules that lie on planes, boxes, hulls and lids, and over their edges."""
    box = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.4, 0.4) for z in (-0.2, 0.0)])
    grounds = (Plane(), Box((0.5, 0.4, 0.1), position=(0, 0, -0.1)), ConvexHull(box), Cylinder(0.5, 0.1))
    rounds, scene = (Cylinder(0.1, 0.3), Capsule(0.08, 0.3), Cylinder(0.15, 0.05)), Scene()
    for k in range(count):
        ground, shape, away = grounds[k % 4], rounds[k % 3], np.array([3.0 * k, 0.0, 50.0 * (k % 4)])
        lid = away - np.array([0.0, 0.0, 0.1 * (k % 4 == 3)])
        scene.add(Body(f"Ground {k}", [ground], motion="static", position=lid, collision_group=2 << k))
        turn = multiply(exponential([0.0, 0.0, rng.uniform(-3.0, 3.0)]), LYING)
        turn = multiply(turn, exponential([0.0, 0.0, rng.uniform(-3.0, 3.0)]))
        place = away + (*rng.uniform(-0.5, 0.5, 2), shape.radius + rng.uniform(-1e-4, 1e-3))
        scene.add(Body(f"Round {k}", [shape], position=place, orientation=turn, collision_mask=2 << k))
    return scene


def standing(rng, count):
    """Cylinders and cones on their ends, that lean a little, on planes, lids, boxes and hulls, over edges of these."""
    prism = np.array([[0.3 * np.cos(t), 0.25 * np.sin(t), z] for t in np.arange(20) * np.pi / 10 for z in (-0.1, 0.0)])
    small = Box((0.12, 0.09, 0.05), position=(0.0, 0.0, -0.05))
    lid = Cylinder(0.25, 0.1, position=(0.0, 0.0, -0.1))
    grounds = (Plane(), Box((0.3, 0.25, 0.1), position=(0, 0, -0.1)), lid, ConvexHull(prism), small)
    rounds, scene = (Cylinder(0.2, 0.1), Cone(0.2, 0.2), Cylinder(0.25, 0.02)), Scene()
    for k in range(count):
        ground, shape, away = grounds[k % 5], rounds[k % 3], np.array([3.0 * k, 0.0, 50.0 * (k % 2)])
        turn = exponential([0.0, 0.0, rng.uniform(-3.0, 3.0)])
        scene.add(Body(f"Ground {k}", [ground], motion="static", position=away, collision_group=2 << k))
        place = away + (*rng.uniform(-0.2, 0.2, 2), shape.half_height + rng.uniform(-1e-4, 1e-3))
        turn = multiply(exponential([*rng.uniform(-3e-3, 3e-3, 2), 0.0]), turn)
        scene.add(Body(f"Round {k}", [shape], position=place, orientation=turn, collision_mask=2 << k))
    return scene


def prisms(rng, count):
    """Hulls with ends of many corners on planes, boxes and each other, that lean a little, over edges and outlines."""

    def prism(sides, across, along, half):
        around = 2.0 * np.pi * np.arange(sides) / sides
        rim = np.stack([across * np.cos(around), along * np.sin(around)], axis=1)
        return ConvexHull(np.concatenate([np.insert(rim, 2, z, axis=1) for z in (-half, half)]))

    small, box = Box((0.12, 0.09, 0.1)), Box((0.3, 0.25, 0.1))
    grounds = (Plane(), box, prism(32, 0.2, 0.2, 0.1), prism(40, 0.3, 0.15, 0.1), small, prism(5, 0.2, 0.2, 0.1))
    hulls, scene = (prism(32, 0.2, 0.2, 0.1), prism(9, 0.2, 0.2, 0.1), prism(64, 0.25, 0.1, 0.1)), Scene()
    for k in range(count):
        ground, away = grounds[k % 6], np.array([3.0 * k, 0.0, 50.0 * (k % 2)])
        low = away - np.array([0.0, 0.0, 0.1 * (k % 6 > 0)])
        scene.add(Body(f"Ground {k}", [ground], motion="static", position=low, collision_group=2 << k))
        aside = rng.uniform(-0.2, 0.2, 2) if k % 4 else rng.uniform(-1e-3, 1e-3, 2)
        turn = multiply(exponential([*rng.uniform(-3e-3, 3e-3, 2), 0.0]), exponential([0.0, 0.0, rng.uniform(-3, 3)]))
        place = away + (*aside, 0.1 + rng.uniform(-1e-4, 1e-3))
        shape = hulls[(k // 6) % 3]
        scene.add(Body(f"Hull {k}", [shape], position=place, orientation=turn, collision_mask=2 << k))
    return scene


def moved(scene, position, orientation, rng):
    """Poses a step later and the velocities that lead there: a third of the bodies rest, a third creeps."""
    count = len(position)
    pace = rng.choice([0.0, 1e-3, 0.6], count)[:, None]
    pace[[body.motion != "dynamic" for body in scene.bodies]] = 0.0
    linear, angular = pace * rng.normal(size=(count, 3)), 3.0 * pace * rng.normal(size=(count, 3))
    linear[:, 2] -= 0.2 * (pace[:, 0] > 0.1)
    return (
        position + STEP * linear,
        np.array([multiply(exponential(STEP * w), q) for w, q in zip(angular, orientation, strict=True)]),
        linear,
        angular,
    )


def assert_same(found, judged, all_pairs=True):
    """Both ContactSets are one to rounding, manifolds and all; or only those of their own pairs."""
    assert len(found) == len(judged)
    for name in SAME:
        assert np.array_equal(getattr(found, name), getattr(judged, name)), name
    for name in CLOSE:
        assert getattr(found, name) == pytest.approx(getattr(judged, name), abs=1e-12), name
    owned = found.face >= 0
    assert found.face_normal[owned] == pytest.approx(judged.face_normal[owned], abs=1e-12)
    whole, other = (one.manifolds if all_pairs else one.manifolds.take(one.source) for one in (found, judged))
    assert np.array_equal(whole.pair, other.pair)
    for name in WHOLE:
        assert getattr(whole, name) == pytest.approx(getattr(other, name), abs=1e-12), name


@pytest.mark.parametrize("few", [0, 10_000], ids=["near pairs", "all pairs"])
@pytest.mark.parametrize(
    ("make", "count", "listed"),
    [
        (solids, 24, True),
        (stacked, 18, True),
        (meshes, 8, True),
        (slabs, 16, True),
        (laid, 24, True),
        (standing, 30, True),
        (prisms, 18, True),
        (solids, 24, False),
    ],
    ids=["solids", "towers", "meshes", "slabs", "laid", "standing", "prisms", "tree"],
)
def test_contacts_are_those_of_numpy(make, count, listed, few, monkeypatch):
    monkeypatch.setattr(near_pairs, "FEW", few)
    if not listed:
        monkeypatch.setattr(models, "EXPLICIT_PAIRS", 0)
    rng = np.random.default_rng(3)
    scene = make(rng, count)
    model = models.build_model(scene)
    collider, judge = Collider(model), NumpyCollider(model)
    collider.sunk, collider.ways = np.zeros(0, np.int64), np.zeros((0, 3))  # see test_ways_apart.py and test_sunk.py
    pose = [body.start() for body in scene.bodies]
    position, orientation = np.array([p for p, _ in pose]), np.array([q for _, q in pose])
    linked = compared = 0
    for step in range(16):
        position, orientation, linear, angular = moved(scene, position, orientation, rng)
        free = rng.random(len(position)) < 0.5 if step % 3 == 0 else None
        found, judged = (one.collide(position, orientation, linear, angular, STEP, free) for one in (collider, judge))
        assert_same(found, judged, free is None)  # pairs of which neither moves freely are not looked at
        assert_same(collider.collide_again(position, orientation, free, angular),
                    judge.collide_again(position, orientation, free, angular), free is None)  # fmt: skip
        linked, compared = linked + int(np.sum(found.previous >= 0)), compared + len(found)
        if free is None:  # and some steps are thrown away
            collider.accept(found)
            judge.accept(judged)
    assert linked > LINKED and compared > COUNTED
