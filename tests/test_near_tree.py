# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree's list of near pairs against looking at every pair in NumPy, also where many bodies are at one place."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Plane, Scene, Sphere
from axion.solver import model as models
from axion.solver.arrays import first_number, host_view
from axion.solver.collision import Collider

BODIES, STEP, ROUNDS = 300, 1.0 / 24.0, 40


def crowd(spread, far=0.0):
    """Balls and boxes of several groups in a cube of size ``spread`` at ``far``, over two planes; two are joined."""
    rng = np.random.default_rng(5)
    scene = Scene(bodies=[Body("floor", [Plane()], motion="static")])
    for k in range(BODIES):
        group, mask = ((1, 3), (2, 1), (2, 3), (1, 0))[k % 4]
        shapes = [Sphere(0.3), Box((0.2, 0.3, 0.4), position=(0.5, 0, 0))] if k % 7 == 0 else [Box((0.3, 0.3, 0.3))]
        place = far + spread * rng.random(3)
        motion = "static" if k % 11 == 0 else "dynamic"
        scene.add(Body(f"Body {k}", shapes, motion, place, collision_group=group, collision_mask=mask))
    scene.add(Body("wall", [Plane()], motion="static"))
    scene.add(Joint("joint", "ball", "Body 2", "Body 6", position=(far, far, far)))
    return scene


def listed(collider):
    """The pairs on the list, sorted, each once, and how many places they take."""
    near = collider._stage.near
    count = first_number(near._count)
    pairs = np.sort(host_view(near.near)[:count], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # the others left their places empty
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    return pairs[np.lexsort(pairs.T[::-1])], count


def looked_at(model, near):
    """The same from the boxes, pair by pair."""
    low, high = near.boxes.room_lower.numpy(), near.boxes.room_upper.numpy()
    i, j = np.triu_indices(len(low), 1)
    meet = np.all(low[i] <= high[j], axis=1) & np.all(low[j] <= high[i], axis=1)
    meet |= ~(np.isfinite(model.shape_radius[i]) & np.isfinite(model.shape_radius[j]))
    meet &= model.allowed(model.shape_body[i], model.shape_body[j])
    return np.stack([i[meet], j[meet]], axis=1)


@pytest.mark.parametrize(("spread", "far"), [(20.0, 0.0), (6.0, 1e5), (0.0, 3.0)], ids=["wide", "far off", "one place"])
def test_list_is_that_of_looking_at_every_pair(spread, far, monkeypatch):
    monkeypatch.setattr(models, "EXPLICIT_PAIRS", 0)
    scene = crowd(spread, far)
    model = models.build_model(scene)
    collider = Collider(model)
    first = collider.capacity()[1]
    pose = [body.start() for body in scene.bodies]
    position, orientation = np.array([p for p, _ in pose]), np.array([q for _, q in pose])
    still, rng, lists = np.zeros((len(pose), 3)), np.random.default_rng(1), []
    for _ in range(4):
        collider.collide(position, orientation, still, still, STEP)
        pairs, places = listed(collider)
        lists.append(pairs)
        assert len(pairs) == places
        assert np.array_equal(lists[-1], looked_at(model, collider._stage.near))
        position = position + (model.movable * rng.random(len(pose)) * 0.5)[:, None]
    assert len({len(pairs) for pairs in lists}) > 1 or spread == 0.0  # moving made it anew
    assert (collider.capacity()[1] > first) == (len(lists[0]) > first) == (spread == 0.0)


def test_pairs_of_few_that_moved_are_listed_anew_and_no_other(monkeypatch):
    monkeypatch.setattr(models, "EXPLICIT_PAIRS", 0)
    scene = crowd(8.0)
    model = models.build_model(scene)
    collider = Collider(model)
    pose = [body.start() for body in scene.bodies]
    position, orientation = np.array([p for p, _ in pose]), np.array([q for _, q in pose])
    still, rng, calls = np.zeros((len(pose), 3)), np.random.default_rng(2), []
    near = collider._stage.near
    for name in ("list", "renew"):
        known = getattr(near._tree, name)
        monkeypatch.setattr(near._tree, name, lambda *args, n=name, f=known: (calls.append(n), f(*args)))
    for turn in range(ROUNDS):
        few = rng.choice(np.flatnonzero(model.movable), 1 if turn % 8 else 120, replace=False)
        position[few] = 8.0 * rng.random((len(few), 3))
        collider.collide(position, orientation, still, still, STEP)
        assert np.array_equal(listed(collider)[0], looked_at(model, near))
    assert calls.count("renew") > ROUNDS / 2 and calls.count("list") > 3
