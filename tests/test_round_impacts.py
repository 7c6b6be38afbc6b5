# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls and capsules that meet in a step: where, and along which normal."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, ConvexHull, Scene, Sphere
from axion.solver.closest_features import nearest_feature
from axion.solver.closest_shares import closest_shares
from axion.solver.collision import Collider
from axion.solver.model import build_model
from axion.solver.rotations import conjugate, exponential, multiply, normalised, rotate

STEP = 1.0 / 24.0


@pytest.mark.parametrize("points", [0, 1, 2])
def test_nearest_places_of_two_axes(points):
    # Against all of 201 x 201 places; ``points`` of the two are none but a point.
    draw, shares = np.random.default_rng(points), np.linspace(0.0, 1.0, 201)
    p, d, q, e = draw.normal(size=(4, 40, 3))
    if points:
        e[:] = 0.0
    if points == 2:
        d[:] = 0.0
    s, t = closest_shares(p, d, q, e)
    got = np.linalg.norm(p + s[:, None] * d - q - t[:, None] * e, axis=1)
    one, other = (x[:, None] + shares[:, None] * way[:, None] for x, way in ((p, d), (q, e)))
    every = np.linalg.norm(one[:, :, None] - other[:, None], axis=3).min(axis=(1, 2))
    assert ((s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)).all()
    assert (got <= every + 1e-12).all() and (got >= every - 0.02).all()


@pytest.mark.parametrize("kinds", [(Sphere, Sphere), (Sphere, Capsule), (Capsule, Capsule)])
def test_contacts_are_those_of_the_impact(kinds):
    """Two bodies that fly and tumble: at the time when the axes are first as near as the radii, by small steps."""
    draw, met = np.random.default_rng(4), 0
    made = {Sphere: lambda: Sphere(0.1), Capsule: lambda: Capsule(0.05, 0.3)}
    scene = Scene(bodies=[Body(name, [made[kind]()]) for name, kind in zip("ab", kinds, strict=True)])
    model = build_model(scene)
    collider = Collider(model)
    position = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 0.6)])
    for _ in range(30):
        orientation = normalised(draw.normal(size=(2, 4)))
        linear, angular = draw.normal(size=(2, 3)), 5.0 * draw.normal(size=(2, 3))
        linear[1, 2] -= 15.0
        found = collider.collide(position, orientation, linear, angular, STEP, np.array([True, False]))
        if not len(found) or found.gap[0] <= 0.0:
            continue
        a, b = found.body_a[0], found.body_b[0]
        sides = [(a, found.point_a[0], found.margin_a[0]), (b, found.point_b[0], found.margin_b[0])]
        start = [position[i] + rotate(orientation[i][None], x[None])[0] for i, x, _ in sides]
        reach = sides[0][2] + sides[1][2]
        assert found.gap[0] == pytest.approx(found.normal[0] @ (start[0] - start[1]) - reach, abs=1e-6)
        normal = _first_touch(scene, (position, orientation), (linear, angular), model.gravity)
        if normal is not None:
            met += 1
            assert found.normal[0] == pytest.approx(normal if a < b else -normal, abs=2e-3)
    assert met > 10


@pytest.mark.parametrize("thing", [Sphere(0.1), Capsule(0.05, 0.3)])
@pytest.mark.parametrize(
    "shape", [Box((0.2, 0.1, 0.15)), ConvexHull([(0, 0, 0), (0.4, 0, 0), (0, 0.3, 0), (0, 0, 0.3)])]
)
def test_contacts_with_edges_are_those_of_the_impact(shape, thing):
    """Likewise with a box or hull, and the gap is that of its places at the start."""
    draw, met, felt = np.random.default_rng(5), 0, 0
    scene = Scene(bodies=[Body("solid", [shape]), Body("thing", [thing])])
    model = build_model(scene)
    collider = Collider(model)
    for _ in range(60):
        position = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 0.5)]) + 0.1 * draw.normal(size=(2, 3))
        orientation = normalised(draw.normal(size=(2, 4)))
        linear, angular = draw.normal(size=(2, 3)), 3.0 * draw.normal(size=(2, 3))
        linear[1, 2] -= 12.0
        found = collider.collide(position, orientation, linear, angular, STEP, np.array([True, False]))
        if len(found) != 1 or found.gap[0] <= 0.0:
            continue
        before = collider._detect(None, position, orientation, linear, angular, STEP, None, None)
        a, b = found.body_a[0], found.body_b[0]
        sides = [(a, found.point_a[0], found.margin_a[0]), (b, found.point_b[0], found.margin_b[0])]
        start = [position[i] + rotate(orientation[i][None], x[None])[0] for i, x, _ in sides]
        reach = sides[0][2] + sides[1][2]
        assert found.gap[0] == pytest.approx(found.normal[0] @ (start[0] - start[1]) - reach, abs=1e-5)
        touch = _first_touch_of_edges(model, thing, (position, orientation), (linear, angular))
        if touch is None:
            continue
        normal, time = touch
        if found.face[0] >= 0:
            body = found.face[0]
            turn = multiply(exponential(time * angular[body]), orientation[body])
            seen = rotate(turn[None], found.face_normal)[0]
        else:
            seen = found.normal[0]
        met, felt = met + 1, felt + (np.abs(seen - before.normal[0]).max() > 0.05)
        assert seen == pytest.approx(normal if a == 1 else -normal, abs=4e-3)
    assert met > 15 and felt > 10


def _first_touch_of_edges(model, thing, poses, velocities):
    """(normal from the solid to ``thing`` at the first touch in small steps, its time [s]); None without one."""
    times, places, turns = np.linspace(0.0, STEP, 4001)[:, None], [], []
    for i, pull in enumerate((model.gravity, 0.0)):
        turns.append(multiply(exponential(times * velocities[1][i]), poses[1][i]))
        heart = poses[0][i] + rotate(poses[1][i], model.center_of_mass[i])
        heart = heart + times * velocities[0][i] + 0.5 * times**2 * pull
        places.append(heart - rotate(turns[i], model.center_of_mass[i]))
    axis = rotate(turns[1], np.array([0.0, 0.0, getattr(thing, "half_height", 0.0)]))
    start, way = (rotate(conjugate(turns[0]), each) for each in (places[1] - axis - places[0], 2.0 * axis))
    near = nearest_feature(model, np.zeros(len(times), int), start, way)
    touch = np.flatnonzero(near.length <= thing.radius)
    if not len(touch):
        return None
    return rotate(turns[0], near.normal)[touch[0]], times[touch[0], 0]


def _first_touch(scene, poses, velocities, gravity):
    """Normal from the second body to the first at the first touch in small steps; None where there is none."""
    times, ends = np.linspace(0.0, STEP, 4001)[:, None], []
    for i, shape in enumerate(body.shapes[0] for body in scene.bodies):
        place = poses[0][i] + times * velocities[0][i] + (0.5 * times**2 * gravity if i == 0 else 0.0)
        turn = multiply(exponential(times * velocities[1][i]), poses[1][i])
        axis = rotate(turn, np.array([0.0, 0.0, getattr(shape, "half_height", 0.0)]))
        ends += [place - axis, 2.0 * axis]
    s, t = closest_shares(*ends)
    way = ends[0] + s[:, None] * ends[1] - ends[2] - t[:, None] * ends[3]
    length = np.linalg.norm(way, axis=1)
    touch = np.flatnonzero(length <= sum(body.shapes[0].radius for body in scene.bodies))
    return way[touch[0]] / length[touch[0]] if len(touch) else None


def test_which_bodies_look_the_same_however_they_turn():
    two = [Sphere(0.1, position=(0.3, 0.0, 0.0)), Sphere(0.1, position=(-0.3, 0.0, 0.0))]
    bodies = {
        "ball": [Sphere(0.1)], "shifted": [Sphere(0.1, position=(1.0, 2.0, 3.0))], "dumbbell": two,
        "shell": [Sphere(0.1), Sphere(0.3)], "rod": [Capsule(0.1, 0.2)], "box": [Box((0.1, 0.1, 0.1))],
    }  # fmt: skip
    model = build_model(Scene(bodies=[Body(name, shapes) for name, shapes in bodies.items()]))
    assert model.balls.tolist() == [True, True, False, True, False, False]
    weighted = Body("weighted", [Sphere(0.1)], mass=1.0, center_of_mass=(0.05, 0.0, 0.0))
    assert build_model(Scene(bodies=[weighted])).balls.tolist() == [False]
