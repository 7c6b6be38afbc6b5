# SPDX-License-Identifier: GPL-3.0-or-later
"""The collision model: which shapes may touch, index maps, sizes and places."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, ConvexHull, Joint, MotionPath, Plane, Scene, Sphere, TriangleMesh
from axion.solver import model as model_module
from axion.solver.collision import Collider
from axion.solver.model import build_model
from axion.solver.rotations import exponential

PATH = MotionPath([0.0, 1.0], [[0.0, 0.0, 0.0], [50.0, 0.0, 0.0]], [[0.0, 0.0, 0.0, 1.0]] * 2)


def ball(name, x=0.0, **settings):
    return Body(name, [Sphere(0.5)], position=(x, 0.0, 0.0), **settings)


def touching(*things, alive=None):
    """Names of the bodies that touch when all of ``things`` overlap, as a set of pairs in the scene's order.

    alive: whether each joint holds; None: all do.
    """
    scene = Scene()
    for thing in things:
        scene.add(thing)
    collider = Collider(build_model(scene))
    collider.alive = None if alive is None else np.array(alive)
    pose = [body.start() for body in scene.bodies]
    still = np.zeros((len(pose), 3))
    contacts = collider.collide(np.array([p for p, _ in pose]), np.array([q for _, q in pose]), still, still, 0.01)
    low, high = np.minimum(contacts.body_a, contacts.body_b), np.maximum(contacts.body_a, contacts.body_b)
    names = [body.name for body in scene.bodies]
    return {(names[i], names[j]) for i, j in zip(low, high, strict=True)}


@pytest.fixture(params=["listed pairs", "tree"])
def broad_phase(request, monkeypatch):
    """Both ways of finding pairs must follow the same rule."""
    if request.param == "tree":
        monkeypatch.setattr(model_module, "EXPLICIT_PAIRS", 0)


def test_groups_and_masks(broad_phase):
    # Two bodies collide when each one's group is in the other's mask.
    one = ball("one", 0.0, collision_group=0b01, collision_mask=0b11)
    two = ball("two", 0.6, collision_group=0b10, collision_mask=0b01)
    three = ball("three", 0.3, collision_group=0b10, collision_mask=0b10)
    ghost = ball("ghost", 0.1, collision_mask=0)
    # one-two: both agree; one-three and two-three: only one side does; three-three would; nothing meets the ghost.
    assert touching(one, two, three, ghost) == {("one", "two")}


def test_immovable_bodies_do_not_collide_with_each_other(broad_phase):
    static, kinematic = ball("static", motion="static"), ball("kinematic", 0.2, motion="kinematic", path=PATH)
    held, free = ball("held", 0.4, path=PATH), ball("free", 0.6)
    floor = Body("floor", [Plane()], motion="static")
    pairs = touching(static, kinematic, held, free, floor)
    # A dynamic body that is held by a path at first counts as movable.  All start within 0.6 m of each other.
    assert ("static", "kinematic") not in pairs and ("static", "floor") not in pairs
    assert {("static", "free"), ("kinematic", "free"), ("held", "free"), ("free", "floor"), ("held", "floor")} <= pairs


def test_joined_bodies_do_not_collide_unless_asked(broad_phase):
    bodies = [ball("a"), ball("b", 0.6), ball("c", 1.2)]
    near = {("a", "b"), ("b", "c")}
    assert touching(*bodies) == near
    assert touching(*bodies, Joint("j", "ball", "b", "a")) == {("b", "c")}
    assert touching(*bodies, Joint("j", "ball", "a", "b", collide_connected=True)) == near
    assert touching(*bodies, Joint("j", "ball", None, "b")) == near


@pytest.mark.parametrize("alive", [None, (1, 1, 1, 1), (0, 1, 1, 1), (1, 0, 1, 1), (0, 0, 1, 1), (0, 0, 0, 1)])
def test_joined_bodies_collide_once_their_joints_have_broken(broad_phase, alive):
    # Two weak joints keep a and b apart, a weak and a strong one b and c.
    things = [ball("a"), ball("b", 0.6), ball("c", 1.2)]
    things += [Joint("first", "ball", "b", "a", break_force=1.0), Joint("second", "ball", "a", "b", break_torque=1.0)]
    things += [Joint("weak", "ball", "b", "c", break_force=1.0), Joint("strong", "ball", "b", "c")]
    apart = alive is None or any(alive[:2])
    assert touching(*things, alive=None if alive is None else [bool(a) for a in alive]) == (
        set() if apart else {("a", "b")}
    )


def test_shapes_of_one_body_do_not_collide(broad_phase):
    pair = Body("pair", [Sphere(0.5), Box((0.4, 0.4, 0.4))])
    assert touching(pair) == set()
    assert touching(pair, ball("other", 0.8)) == {("pair", "other")}


def test_a_path_is_collidable_all_along():
    scene = Scene()
    scene.add(ball("paddle", motion="kinematic", path=PATH))
    scene.add(ball("target", 40.0))
    collider, still = Collider(build_model(scene)), np.zeros((2, 3))
    q = np.tile((0.0, 0.0, 0.0, 1.0), (2, 1))
    assert len(collider.collide(np.array([[0.0, 0, 0], [40.0, 0, 0]]), q, still, still, 0.01)) == 0
    contacts = collider.collide(np.array([[39.1, 0, 0], [40.0, 0, 0]]), q, still, still, 0.01)
    assert contacts.gap == pytest.approx(-0.1, abs=1e-6)


def test_shapes_know_their_body_and_their_place():
    turn = exponential(np.array([0.0, 0.5 * np.pi, 0.0]))
    scene = Scene()
    scene.add(Body("floor", [Plane()], motion="static"))
    scene.add(Body("cross", [Sphere(0.1), Capsule(0.1, 1.0, position=(0.0, 0.0, 0.3), orientation=turn)]))
    model = build_model(scene)
    assert model.shape_body.tolist() == [0, 1, 1]
    x, q, still = np.array([[0.0] * 3, [0.0, 0.0, -0.15]]), np.tile((0.0, 0.0, 0.0, 1.0), (2, 1)), np.zeros((2, 3))
    contacts = Collider(model).collide(x, q, still, still, 0.01)
    # The capsule lies along X at z = 0.3 - 0.15: 5 cm above the plane, out of sight; the ball's middle is below it.
    assert contacts.gap == pytest.approx([-0.25], abs=1e-6)
    x[1, 2] = -0.21
    contacts = Collider(model).collide(x, q, still, still, 0.01)
    own = np.where((contacts.body_a == 1)[:, None], contacts.point_a, contacts.point_b)
    ends = own[np.abs(own[:, 2] - 0.3) < 0.11]
    assert np.sort(ends[:, 0]) == pytest.approx([-1.0, 1.0], abs=1e-5)
    assert np.sort(contacts.gap) == pytest.approx([-0.31, -0.01, -0.01], abs=1e-6)


def test_unit_follows_the_size_of_what_moves():
    # A power of two near the smallest edge of what moves, whatever the size of the ground.
    for edge in (0.02, 1.0, 64.0):
        scene = Scene()
        scene.add(Body("ground", [Box((1000.0, 1000.0, 1.0))], motion="static"))
        scene.add(Body("box", [Box((0.5 * edge, edge, edge))]))
        unit = build_model(scene).unit
        assert np.log2(unit) == int(np.log2(unit))
        assert edge / np.sqrt(2.0) <= unit <= edge * np.sqrt(2.0)


def test_equal_meshes_are_cooked_once():
    cube = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    triangles = ConvexHull(cube).triangles
    scene = Scene()
    for k in range(3):
        scene.add(Body(f"mesh {k}", [TriangleMesh(cube, triangles)], position=(3.0 * k, 0.0, 0.0)))
    scene.add(Body("other", [TriangleMesh(2.0 * cube, triangles)], position=(-5.0, 0.0, 0.0)))
    model = build_model(scene)
    assert model.meshes.shape_mesh.tolist() == [0, 0, 0, 1]
    assert len(set(model.mesh_id.tolist())) == 2


def test_a_scene_without_shapes_has_no_contacts():
    scene = Scene()
    collider = Collider(build_model(scene))
    none = np.zeros((0, 3))
    assert len(collider.collide(none, np.zeros((0, 4)), none, none, 0.01)) == 0
    scene.add(Body("point", [], mass=1.0, inertia=np.eye(3)))
    collider = Collider(build_model(scene))
    assert (
        len(collider.collide(np.zeros((1, 3)), np.array([[0.0, 0, 0, 1]]), np.zeros((1, 3)), np.zeros((1, 3)), 0.01))
        == 0
    )


def test_pairs_are_listed_while_they_are_few():
    # All pairs of n movable shapes, and each with the ground: n (n - 1) / 2 + n.
    scene = Scene()
    scene.add(Body("ground", [Plane()], motion="static"))
    for k in range(400):
        scene.add(ball(f"ball {k}", 2.0 * k))
    model = build_model(scene)
    assert model.pairs.shape == (400 * 399 // 2 + 400, 2)
    assert model.names[400] == "ball 399"
    for k in range(400, 500):
        scene.add(ball(f"ball {k}", 2.0 * k))
    assert build_model(scene).pairs is None
