# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of near pairs stays whole where only the pairs of shapes that left their room are looked for anew."""

import numpy as np
from axion.solver import Body, Box, Plane, Scene, Sphere
from axion.solver import model as models
from axion.solver.arrays import first_number, host_view
from axion.solver.collision import Collider

STEP, ROUNDS = 1.0 / 24.0, 40


def cloud(rng, count):
    """Boxes and balls in the air over two planes, some of which never touch each other, and a compound."""
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static"))
    scene.add(Body("Wall", [Plane()], motion="static", position=(-3.0, 0, 0), orientation=(0, 0.7071068, 0, 0.7071068)))
    scene.add(Body("Slab", [Box((1.0, 1.0, 0.1))], motion="static", position=(0, 0, 1.0)))
    for k in range(count):
        parts = [Box(rng.uniform(0.05, 0.2, 3)) if k % 2 else Sphere(0.1)]
        if k % 9 == 0:
            parts.append(Box((0.1, 0.1, 0.1), position=(0.3, 0.0, 0.0)))
        group = {"collision_group": 2, "collision_mask": 1} if k % 3 == 0 else {}
        scene.add(Body(f"Body {k}", parts, position=rng.uniform((-2, -2, 0.2), (2, 2, 3)), **group))
    return scene


def near_by_hand(model, boxes):
    """Pairs of shapes whose rooms overlap, planes near all, of bodies that may touch."""
    low, high = host_view(boxes.room_lower), host_view(boxes.room_upper)
    i, j = np.triu_indices(len(low), 1)
    plane = ~np.isfinite(model.shape_radius)
    meet = plane[i] | plane[j] | ((low[i] <= high[j]) & (low[j] <= high[i])).all(axis=1)
    meet &= ~(plane[i] & plane[j]) & model.allowed(model.shape_body[i], model.shape_body[j])
    return set(zip(i[meet].tolist(), j[meet].tolist(), strict=True))


def test_pairs_of_few_that_moved_are_listed_anew_and_no_other(monkeypatch):
    monkeypatch.setattr(models, "EXPLICIT_PAIRS", 0)
    rng = np.random.default_rng(5)
    scene = cloud(rng, 150)
    model = models.build_model(scene)
    collider = Collider(model)
    pose = [body.start() for body in scene.bodies]
    position, orientation = np.array([p for p, _ in pose]), np.array([q for _, q in pose])
    still, calls = np.zeros_like(position), []
    near = collider._stage.near
    for name in ("list", "renew"):
        known = getattr(near._tree, name)
        monkeypatch.setattr(near._tree, name, lambda *args, n=name, f=known: (calls.append(n), f(*args)))
    for round in range(ROUNDS):
        few = rng.choice(150, 1 if round % 8 else 60, replace=False) + 3
        position[few] = rng.uniform((-2, -2, 0.2), (2, 2, 3), (len(few), 3))
        collider.collide(position, orientation, still, still, STEP)
        listed = host_view(near.near)
        listed = listed[listed[:, 0] != listed[:, 1]].tolist()
        found = {tuple(pair) for pair in listed}
        assert len(found) == len(listed) <= first_number(near._count)
        assert found == near_by_hand(model, near.boxes)
    assert calls.count("renew") > ROUNDS / 2 and calls.count("list") > 3
