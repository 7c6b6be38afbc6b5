# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that something else than their own keys moves or hides: the bake follows it and is not added to it."""

import blend_scenes as build
import bpy
import numpy as np
import pytest
from axion.axion_blender import baking, showing
from mathutils import Matrix

END = 24


@pytest.fixture(autouse=True)
def scene():
    made = bpy.context.scene
    made.frame_start, made.frame_end, made.render.fps = 1, END, 24
    made.axion.quality, made.axion.use_cache = "PREVIEW", False
    made.frame_set(1)
    return made


def world(item, frames):
    """(F, 3) places and (F, 3) angles of an object in the world at frames."""
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        matrix = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
        rows.append((*matrix.translation, *matrix.to_euler()))
    bpy.context.scene.frame_set(1)
    return np.array(rows)[:, :3], np.array(rows)[:, 3:]


def bake():
    assert bpy.ops.axion.bake() == {"FINISHED"}


def struck(hide):
    """Path of a box that a keyed one pushes, which ``hide`` hides at some frames."""
    build.plane(size=40.0, type="PASSIVE", collision_shape="BOX")
    crate = build.box("Crate", size=(0.5, 0.5, 0.5), location=(0.0, 0.0, 0.25))
    pusher = build.box("Pusher", location=(-3.0, 0.0, 0.6), type="PASSIVE")
    build.key(pusher, "location", [(1, (-3.0, 0.0, 0.6)), (20, (2.0, 0.0, 0.6))])
    hide(pusher)
    bpy.context.scene.frame_set(1)
    before = pusher.hide_viewport, [curve.mute for curve in showing._hiding(pusher)]
    bake()
    assert (pusher.hide_viewport, [curve.mute for curve in showing._hiding(pusher)]) == before
    path = world(crate, range(1, END + 1))[0]
    for item in (crate, pusher, bpy.data.objects["Ground"]):
        bpy.data.objects.remove(item)
    return path


def driven(item):
    driver = item.driver_add("hide_viewport").driver
    driver.expression = "frame < 15"


def test_what_is_hidden_at_some_frames_pushes_as_if_it_were_shown():
    # It stood still while hidden, and shot away what it then came out in, at 480 m/s.
    shown = struck(lambda item: None)
    assert shown[-1, 0] > 2.0
    for hide in (lambda item: build.key(item, "hide_viewport", [(1, True), (22, False)], "CONSTANT"), driven):
        np.testing.assert_allclose(struck(hide), shown, atol=1e-6)


def test_a_delta_that_moves_is_not_added_to_the_fall():
    item = build.box("Box", location=(1.0, 0.0, 10.0))
    build.key(item, "delta_location", [(1, (0.0, 0.0, 0.0)), (END, (5.0, 0.0, 0.0))])
    build.key(item, "delta_rotation_euler", [(1, (0.0, 0.0, 0.0)), (END, (1.0, 0.0, 0.0))])
    bpy.context.scene.frame_set(1)
    bake()
    place, angle = world(item, range(1, END + 1))
    assert np.abs(place[:, :2] - (1.0, 0.0)).max() < 1e-5 and np.abs(angle).max() < 1e-5
    assert place[-1, 2] < 6.0


def test_a_delta_carries_what_is_held_and_lets_go_of_it():
    item = build.box("Box", location=(0.0, 0.0, 10.0))
    build.key(item, "delta_location", [(1, (0.0, 0.0, 0.0)), (END, (4.6, 0.0, 0.0))])
    build.key(item, "axion.kinematic", [(1, True), (13, False)], "CONSTANT")
    own = world(item, range(1, 13))[0]
    bake()
    place, _ = world(item, range(1, END + 1))
    np.testing.assert_allclose(place[:12], own, atol=1e-5)
    np.testing.assert_allclose(np.diff(place[:, 0]), 0.2, atol=1e-4)  # it goes on at the speed it had


def carried_by(kind, influence=((1, 1.0), (14, 0.0)), blended="CONSTANT"):
    """A ball that a constraint carries along with a hand until frame 13, and that is let go there."""
    hand = build.add("Hand", None, (0.0, 0.0, 5.0))
    build.key(hand, "location", [(1, (0.0, 0.0, 5.0)), (END, (4.6, 0.0, 5.0))])
    ball = build.box("Ball", size=(0.4, 0.4, 0.4), location=(0.0, 1.0, 5.0))
    constraint = ball.constraints.new(kind)
    if kind == "FOLLOW_PATH":
        curve = bpy.data.curves.new("Path", "CURVE")
        spline = curve.splines.new("POLY")
        spline.points.add(1)
        spline.points[1].co = (4.6, 0.0, 0.0, 1.0)
        constraint.target = build.add("Path", curve)
        constraint.use_fixed_location = True
        ball.location.z = 0.0
        for frame, share in ((1, 0.0), (END, 1.0)):
            constraint.offset_factor = share
            constraint.keyframe_insert("offset_factor", frame=frame)
    else:
        constraint.target = hand
        if kind == "CHILD_OF":
            constraint.inverse_matrix = Matrix.Translation((0.0, 0.0, -5.0))
    path = f'constraints["{constraint.name}"].influence'
    for frame, share in influence:
        constraint.influence = share
        ball.keyframe_insert(path, frame=frame)
    for layer in ball.animation_data.action.layers:
        for curve in layer.strips[0].channelbags[0].fcurves:
            for point in curve.keyframe_points:
                point.interpolation = blended if curve.data_path == path else "LINEAR"
    build.key(ball, "axion.kinematic", [(1, True), (13, False)], "CONSTANT")
    return ball


@pytest.mark.parametrize("playhead", [1, 20])
@pytest.mark.parametrize("kind", ["CHILD_OF", "FOLLOW_PATH", "COPY_LOCATION", "COPY_TRANSFORMS"])
def test_what_a_constraint_carries_stays_on_its_way_until_it_is_let_go(kind, playhead):
    # It went twice as far while it was held, with the advice to mute what carried it.
    ball = carried_by(kind)
    own = world(ball, range(1, 13))[0]
    bpy.context.scene.frame_set(playhead)
    bake()
    place, _ = world(ball, range(1, END + 1))
    np.testing.assert_allclose(place[:12], own, atol=1e-5)
    np.testing.assert_allclose(np.diff(place[13:, 0]), 0.2, atol=1e-4)
    assert place[-1, 2] < place[0, 2] - 0.5
    bake()
    np.testing.assert_allclose(world(ball, range(1, END + 1))[0], place, atol=1e-5)


@pytest.mark.parametrize(("first", "blended"), [(1, "CONSTANT"), (12, "LINEAR"), (12, "BEZIER")])
@pytest.mark.parametrize("kind", ["CHILD_OF", "FOLLOW_PATH", "COPY_LOCATION", "COPY_TRANSFORMS"])
def test_a_constraint_that_is_off_where_it_lets_go_throws_with_the_speed_of_the_hand(kind, first, blended):
    """What was carried was back on its own channels at that frame, and that jump became its speed, 340 m/s."""
    carried_by(kind, ((first, 1.0), (13, 0.0)), blended)
    assert not [words for words in baking.check(bpy.context)[1] if "let go" in words]
    bake()
    place = world(bpy.data.objects["Ball"], range(1, END + 1))[0]
    np.testing.assert_allclose(np.diff(place[:, 0]), 0.2, atol=1e-4)
    np.testing.assert_allclose(place[:13, 1:], place[:1, 1:].repeat(13, axis=0), atol=1e-4)


def test_a_constraint_that_is_off_where_it_lets_go_leaves_the_hand_s_turn_and_ease():
    ball = carried_by("CHILD_OF", ((1, 1.0), (13, 0.0)))
    hand = bpy.data.objects["Hand"]
    hand.animation_data_clear()
    hand.location = (0.0, 0.0, 5.0)
    build.key(hand, "rotation_euler", [(1, (0.0, 0.0, 0.0)), (END, (0.0, 0.0, 0.2 * (END - 1)))])
    bake()
    place, turn = world(ball, range(1, END + 1))
    way = place[13] - place[12]
    assert np.linalg.norm(way[:2]) == pytest.approx(0.2, rel=0.01), "0.2 rad a frame at an arm of 1 m"
    assert way[:2] @ place[12, :2] == pytest.approx(0.0, abs=0.002), "along the tangent"
    np.testing.assert_allclose(np.diff(np.unwrap(turn[:, 2])), 0.2, atol=1e-3)
    bpy.ops.axion.clear_bake()
    hand.animation_data_clear()
    build.key(hand, "location", [(1, (0.0, 0.0, 5.0)), (13, (3.0, 0.0, 5.0))], "BEZIER")
    assert any("has come to rest" in words for words in baking.check(bpy.context)[1]), "an eased hand drops it"
    bake()
    place, _ = world(ball, range(1, END + 1))
    np.testing.assert_allclose(place[12:, 0], 3.0, atol=0.05)


@pytest.mark.parametrize(
    ("influence", "blended"), [(((1, 1.0), (12, 0.0)), "CONSTANT"), (((11, 1.0), (12, 0.0)), "LINEAR")]
)
def test_a_constraint_that_is_off_before_it_lets_go_is_named(influence, blended):
    """It was told that its animation had come to rest, from 55 m/s, and to key Animated off where it still moves."""
    carried_by("CHILD_OF", influence, blended)
    (told,) = [words for words in baking.check(bpy.context)[1] if "let go" in words]
    assert told.startswith("Ball is let go at frame 13, but Child Of, which carried it, let go of it before"), told
    assert told.endswith("key Influence to 0 at frame 13 or later")


def test_of_an_animation_that_jumps_where_it_lets_go_is_told():
    ball = build.box("Ball", size=(0.4, 0.4, 0.4), location=(0.0, 1.0, 5.0))
    build.key(ball, "location", [(1, (0.0, 1.0, 5.0)), (13, (3.0, 1.0, 5.0))], "CONSTANT")
    build.key(ball, "axion.kinematic", [(1, True), (13, False)], "CONSTANT")
    bpy.context.scene.frame_set(1)
    (told,) = [words for words in baking.check(bpy.context)[1] if "let go" in words]
    assert (
        told.startswith("Ball is let go at frame 13, at which its animation jumps by 3 m") and "a frame later" in told
    )
    for easing in ("EXPO", "QUINT", "BACK", "LINEAR"):  # the steepest motion that Blender makes in a frame
        build.key(ball, "location", [(12, (0.0, 1.0, 5.0)), (13, (3.0, 1.0, 5.0))], easing)
        for curve in ball.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
            for point in curve.keyframe_points:
                point.easing = "EASE_IN"
        bpy.context.scene.frame_set(1)
        assert not [words for words in baking.check(bpy.context)[1] if "jumps" in words], easing


@pytest.mark.parametrize(("kind", "told"), [("CHILD_OF", False), ("COPY_LOCATION", True)])
def test_of_constraints_that_override_keys_at_other_frames_is_told(kind, told):
    carried_by(kind)
    bpy.context.scene.frame_set(20)
    _, warnings = baking.check(bpy.context)
    assert any("can override the baked keys" in words for words in warnings) == told


def on_bone(item):
    """Parents an object to a bone; returns that."""
    rig = build.add("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Bone").tail = 0, 0, 1
    bpy.ops.object.mode_set(mode="OBJECT")
    item.parent, item.parent_type, item.parent_bone = rig, "BONE", "Bone"
    return rig.pose.bones["Bone"]


def test_a_passive_body_on_a_bone_that_follows_a_simulated_one_is_refused():
    """It followed the place at which the other stood before the simulation."""
    lead, wall = build.box("Lead", location=(0, 0, 5)), build.box("Wall", location=(3, 0, 5), type="PASSIVE")
    constraint = on_bone(wall).constraints.new("CHILD_OF")
    constraint.target = lead
    (problem,) = baking.check(bpy.context)[0]
    assert problem.startswith("Wall: it follows Lead, which the simulation moves")
    constraint.mute = True
    assert not baking.check(bpy.context)[0]


@pytest.mark.parametrize("way", ["its own", "over an empty", "of a parent", "of a bone"])
def test_of_a_constraint_that_follows_another_simulated_body_is_told(way):
    """It carried the body 6 m off its keys without a word."""
    build.plane(size=40.0)
    lead, item = build.box("Lead", location=(0, 0, 5)), build.box("Item", location=(3, 0, 5))
    owner, target = item, lead
    if way == "over an empty":
        target = build.add("Between")
        target.parent = lead
    if way == "of a parent":
        owner = item.parent = build.add("Above")
    if way == "of a bone":
        owner = on_bone(item)
    constraint = owner.constraints.new("CHILD_OF")
    constraint.target = target

    def told():
        return [words for words in baking.check(bpy.context)[1] if "off the baked keys" in words]

    (sentence,) = told()
    whose = {"of a parent": " of its parent Above", "of a bone": " of Rig's bone Bone"}.get(way, "")
    assert sentence.startswith(f"Item: the constraint Child Of{whose} follows Lead, which the simulation moves")
    lead.axion.type = "PASSIVE"
    assert not told()
    lead.axion.type, constraint.mute = "ACTIVE", True
    assert not told()


@pytest.mark.parametrize(("turns", "told"), [(1.0, False), (2.0, True)])
def test_of_blades_that_turn_too_fast_to_tell_which_way_is_told(turns, told):
    fan = build.box("Fan", size=(3.0, 0.1, 0.6), type="PASSIVE")
    build.key(fan, "rotation_euler", [(1, (0.0, 0.0, 0.0)), (END, (0.0, 0.0, 2.0 * np.pi * turns * (END - 1)))])
    build.box("Cube", size=(0.2, 0.2, 0.2), location=(1.0, 0.3, 0.0))
    bpy.context.scene.frame_set(1)
    _, warnings = baking.check(bpy.context)
    assert any("which way it sweeps cannot be told" in words for words in warnings) == told
