# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies rigid joints glue to one piece, and that detection looks at the inside of those that touch something and
may break.
"""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Plane, Scene
from axion.solver.collision import Collider
from axion.solver.glued import Glue
from axion.solver.model import build_model

SIZE = 0.2


def row(count=4, glue="fixed", height=1.0, **options):
    """Boxes side by side, of which each second pair is glued by a joint that lets its bodies collide."""
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static"))
    for k in range(count):
        scene.add(Body(f"Box {k}", [Box((SIZE / 2,) * 3)], position=(k * SIZE, 0.0, height)))
    for k in range(0, count - 1, 2):
        options = {"collide_connected": True, **options}
        scene.add(Joint(f"Glue {k}", glue, f"Box {k}", f"Box {k + 1}", ((k + 0.5) * SIZE, 0, height), **options))
    return scene


def glue_of(scene):
    names = [body.name for body in scene.bodies]
    return Glue(scene.joints, names, np.array([body.motion == "dynamic" for body in scene.bodies]))


def pieces(scene, alive=None):
    alive = np.ones(len(scene.joints), bool) if alive is None else np.array(alive)
    return glue_of(scene).pieces(alive)


def test_rigid_joints_make_pieces():
    found = pieces(row())
    assert found[0] == -1
    assert found[1] == found[2] >= 0
    assert found[3] == found[4] >= 0
    assert found[1] != found[3]


def test_broken_joints_make_none():
    found = pieces(row(), [False, True])
    assert (found[:3] == -1).all()
    assert found[3] == found[4] >= 0
    assert pieces(row(), [False, False]) is None


@pytest.mark.parametrize("options", [{"glue": "ball"}, {"compliance": 1e-6}, {"angular_compliance": 1e-6}])
def test_joints_that_give_make_none(options):
    assert pieces(row(**options)) is None


def test_locked_generic_joint_glues():
    locked = {name: Axis(locked=True) for name in ("x", "y", "z", "rx", "ry", "rz")}
    assert pieces(row(glue="generic", axes=locked))[1] >= 0
    assert pieces(row(glue="generic", axes={**locked, "rz": Axis()})) is None


@pytest.mark.parametrize("other", [None, "Floor"])
def test_what_hangs_on_what_stands_is_no_piece(other):
    scene = row()
    scene.add(Joint("Hook", "fixed", other, "Box 0", (0, 0, 1)))
    found = pieces(scene)
    assert (found[:3] == -1).all()
    assert found[3] == found[4] >= 0


def collided(scene, moves=(0.0, 0.0, 0.0), before=None):
    """(ContactSet, Collider) of Glue for the scene, each second pair moved on by ``moves`` [m]."""
    model = build_model(scene, device="cpu")
    place = np.array([body.position for body in scene.bodies], float)
    place[1:3] += moves
    still, turn = np.zeros((len(place), 3)), np.tile((0.0, 0.0, 0.0, 1.0), (len(place), 1))
    collider = Collider(model)
    collider.alive = np.ones(len(scene.joints), bool)
    found = glue_of(scene).collide(collider, before, place, turn, still, still, 1 / 24)
    return found, collider, (glue_of(scene), place, turn, still)


def between(found):
    return {tuple(sorted(pair)) for pair in zip(found.body_a.tolist(), found.body_b.tolist(), strict=True)}


def test_inside_of_what_touches_nothing_is_not_looked_at():
    found, collider, _ = collided(row(), moves=(-1.0, 0.0, 0.0))
    assert not len(found)
    assert (collider.pieces == pieces(row())).all()


def test_inside_of_what_touches_and_may_break_is():
    found, collider, _ = collided(row(break_force=1e6))
    assert between(found) == {(1, 2), (2, 3), (3, 4)}
    assert collider.pieces is None


def test_inside_of_what_touches_and_cannot_break_is_not():
    found, collider, _ = collided(row())
    assert between(found) == {(2, 3)}
    assert (collider.pieces == pieces(row())).all()


def test_of_what_touches_what_cannot_break_is_left_out():
    # The first pair cannot break; the second can, and a lid lies on it.
    scene = row()
    scene.joints[1].break_torque = 1e6
    scene.add(Body("Lid", [Box((SIZE / 4, SIZE / 4, 0.01))], position=(3 * SIZE, 0.0, 1.0 + SIZE / 2 + 0.0099)))
    for away, inside in ((0.0, {(2, 3), (3, 4), (4, 5)}), (-1.0, {(3, 4), (4, 5)})):
        found, collider, (glue, place, turn, still) = collided(scene, moves=(away, 0.0, 0.0))
        assert between(found) == inside
        assert collider.pieces[1] == collider.pieces[2] >= 0 and (collider.pieces[3:] == -1).all()
        collider.accept(found)
        known = collider.pieces
        assert between(glue.collide(collider, found, place, turn, still, still, 1 / 24)) == inside
        assert collider.pieces is not None and (collider.pieces == known).all()


def test_pieces_that_part_or_meet_between_steps():
    found, collider, (glue, place, turn, still) = collided(row(break_force=1e6))
    collider.accept(found)
    apart = place - [(1.0, 0.0, 0.0) if k in (1, 2) else (0.0, 0.0, 0.0) for k in range(5)]
    flying = glue.collide(collider, found, apart, turn, still, still, 1 / 24)
    assert not len(flying)
    collider.accept(flying)
    again = glue.collide(collider, flying, place, turn, still, still, 1 / 24)
    assert between(again) == {(1, 2), (2, 3), (3, 4)}
    landing = place.copy()
    landing[1:3] -= (0.1, 0.0, 1.0 - SIZE / 2)
    collider.accept(flying)
    landed = glue.collide(collider, flying, landing, turn, still, still, 1 / 24)
    assert between(landed) == {(0, 1), (0, 2), (1, 2)}
    assert (collider.pieces[3:] >= 0).all()
