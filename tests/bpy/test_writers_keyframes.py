# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked keyframes: played by Blender they are the trajectory; cleared, the scene is what it was."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from axion.axion_blender import compat  # noqa: E402
from axion.axion_blender.writers import channels, keyframes, records  # noqa: E402
from mathutils import Euler, Matrix, Quaternion  # noqa: E402

FRAMES, START = 12, 5
MODES = ("QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE")


@pytest.fixture
def scene():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return bpy.context.scene


def add(scene, name, matrix=None, parent=None, mode="QUATERNION", data=None):
    item = bpy.data.objects.new(name, data)
    scene.collection.objects.link(item)
    item.rotation_mode = mode
    item.parent = parent
    if matrix is not None:
        item.matrix_world = matrix
    bpy.context.view_layer.update()
    return item


def somewhere(seed, scale=(1, 1, 1)):
    rng = np.random.default_rng(seed)
    return Matrix.LocRotScale(rng.normal(size=3), Quaternion(rng.normal(size=4)).normalized(), scale)


def tumble(items, scale_length=1.0, frames=FRAMES):
    """A trajectory in which every object falls and turns by 0.6 rad a frame about an axis of its own."""
    bpy.context.view_layer.update()
    position, orientation = [], []
    for n, item in enumerate(items):
        place, turn, _ = item.matrix_world.decompose()
        axis = np.random.default_rng(n).normal(size=3)
        steps = [Quaternion(axis, 0.6 * frame) @ turn for frame in range(frames + 1)]
        position.append(
            [np.array(place) * scale_length + [0.1 * f, 0.02 * n * f, -0.01 * f * f] for f in range(frames + 1)]
        )
        orientation.append([[q.x, q.y, q.z, q.w] for q in steps])
    return SimpleNamespace(
        names=[item.name for item in items],
        position=np.array(position).transpose(1, 0, 2),
        orientation=np.array(orientation).transpose(1, 0, 2),
    )


def bake(scene, items, trajectory=None, **options):
    trajectory = trajectory or tumble(items)
    warnings = keyframes.write(trajectory, {item.name: item for item in items}, START, scene, **options)
    return trajectory, warnings


def assert_plays(scene, items, trajectory, scale_length=1.0, tolerance=2e-5):
    """W(t) = X(t) X(0)^-1 W(0): the law that ties an object to its body."""
    scene.frame_set(START)
    begin = {item.name: np.array(item.matrix_world) for item in items}
    poses = channels.pose_matrices(trajectory.position / scale_length, trajectory.orientation)
    for frame in range(len(poses)):
        scene.frame_set(START + frame)
        for n, item in enumerate(items):
            expected = poses[frame, n] @ np.linalg.inv(poses[0, n]) @ begin[item.name]
            assert np.abs(np.array(item.matrix_world) - expected).max() < tolerance, (item.name, frame)


def portrait(item):
    """Everything a bake may touch, exactly: values, animation data, every key of every curve."""
    data = item.animation_data
    seen = {
        "values": [
            list(getattr(item, p)) for p in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle")
        ],
        "mode": item.rotation_mode,
        "properties": sorted(item.keys()),
        "animation_data": data is not None,
    }
    if data is not None:
        seen["action"] = data.action.name if data.action else None
        seen["slot"] = data.action_slot.identifier if data.action_slot else None
        seen["last_slot"] = data.last_slot_identifier
        bag = compat.channelbag(item)
        seen["curves"] = None if bag is None else [curve_portrait(curve) for curve in bag.fcurves]
    return seen


def curve_portrait(curve):
    points = [
        (
            tuple(k.co),
            tuple(k.handle_left),
            tuple(k.handle_right),
            k.interpolation,
            k.easing,
            k.handle_left_type,
            k.type,
        )
        for k in curve.keyframe_points
    ]
    modifiers = [m.type for m in curve.modifiers]
    return curve.data_path, curve.array_index, curve.extrapolation, curve.mute, curve.lock, modifiers, points


def baked_curves(item):
    return [
        curve
        for curve in compat.channelbag(item).fcurves
        if curve.group is not None and curve.group.name == "Axion Bake"
    ]


def animate(item):
    """An action of its own with location, rotation and visibility keys, a modifier and odd handles."""
    for frame, x in ((1, 0.0), (9, 2.0), (20, -1.0)):
        item.location = x, 0.3, 0.1 * x
        item.hide_render = frame > 8
        item.rotation_euler = 0.1 * x, 0.0, x
        for path in ("location", "hide_render", "rotation_euler"):
            item.keyframe_insert(path, frame=frame)
    bag = compat.channelbag(item)
    bag.fcurves[0].modifiers.new("NOISE")
    bag.fcurves[1].extrapolation = "LINEAR"
    bag.fcurves[2].keyframe_points[1].handle_left_type = "FREE"
    bag.fcurves[2].keyframe_points[1].handle_left = 7.3, 0.25
    return item


@pytest.mark.parametrize("mode", MODES)
def test_keys_play_the_trajectory_in_every_rotation_mode(scene, mode):
    items = [add(scene, f"{mode} {n}", somewhere(n, (1, 2, -0.5)), mode=mode) for n in range(3)]
    before = [(item.rotation_mode, tuple(item.scale)) for item in items]
    trajectory, warnings = bake(scene, items)
    assert warnings == []
    assert_plays(scene, items, trajectory)
    assert [(item.rotation_mode, tuple(item.scale)) for item in items] == before


@pytest.mark.parametrize("mode", MODES)
def test_delta_transforms_are_respected(scene, mode):
    item = add(scene, "delta", somewhere(4), mode=mode)
    item.delta_location, item.delta_scale = (1, 2, 3), (2, 1, 0.5)
    item.delta_rotation_euler, item.delta_rotation_quaternion = (
        Euler((0.4, -1, 2)),
        Quaternion((1, 0.3, -0.5, 0.2)).normalized(),
    )
    trajectory, _ = bake(scene, [item])
    assert_plays(scene, [item], trajectory)
    assert tuple(item.delta_location) == (1, 2, 3)


def test_one_shared_action_a_slot_a_body_linear_keys_from_the_first_frame(scene):
    items = [add(scene, f"box {n}", somewhere(n)) for n in range(4)]
    bake(scene, items)
    used = {item.animation_data.action for item in items}
    assert len(used) == 1 and used.pop().name == f"Axion {scene.name}"
    assert len({item.animation_data.action_slot.handle for item in items}) == 4
    for item in items:
        curves = baked_curves(item)
        assert sorted({c.data_path for c in curves}) == ["location", "rotation_quaternion"] and len(curves) == 7
        for curve in curves:
            assert [k.co[0] for k in curve.keyframe_points] == list(range(START, START + FRAMES + 1))
            assert {k.interpolation for k in curve.keyframe_points} == {"LINEAR"}


def test_quaternions_never_take_the_long_way_between_frames(scene):
    # Halfway between two keys a turn of 0.6 rad has turned 0.3 rad; a sign flip would show an object half a turn off.
    item = add(scene, "spinner", somewhere(1))
    bake(scene, [item], tumble([item], frames=40))
    for frame in range(40):
        scene.frame_set(START + frame)
        before = item.matrix_world.to_quaternion()
        scene.frame_set(START + frame, subframe=0.5)
        turned = before.rotation_difference(item.matrix_world.to_quaternion()).angle
        assert min(turned, 2 * np.pi - turned) == pytest.approx(0.3, abs=1e-3)


def test_parents_fixed_animated_and_simulated(scene):
    fixed = add(scene, "fixed", somewhere(10, (2, 2, 2)))
    cart = add(scene, "cart", somewhere(11))
    for frame in (1, 30):
        cart.location.x, cart.rotation_quaternion = frame, Quaternion((0, 0, 1), 0.05 * frame)
        cart.keyframe_insert("location", frame=frame)
        cart.keyframe_insert("rotation_quaternion", frame=frame)
    on_fixed = add(scene, "on fixed", somewhere(1), fixed, "XYZ")
    on_cart = add(scene, "on cart", somewhere(2), cart)
    on_cart.matrix_parent_inverse = somewhere(12)
    base = add(scene, "base", somewhere(3, (3, 3, 3)))
    on_base = add(scene, "on base", somewhere(4), base)
    middle = add(scene, "middle", somewhere(5), on_base)  # not simulated: rides on what is
    tip = add(scene, "tip", somewhere(6), middle)
    items = [tip, on_fixed, on_base, on_cart, base]
    scene.frame_set(START)
    trajectory, warnings = bake(scene, items)
    assert warnings == []
    assert_plays(scene, items, trajectory, tolerance=1e-4)


def test_a_body_on_a_moving_bone(scene):
    armature = bpy.data.armatures.new("rig")
    rig = add(scene, "rig", somewhere(7), data=armature)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new("arm")
    bone.head, bone.tail = (0, 0, 0), (0, 1, 0.5)
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = rig.pose.bones["arm"]
    for frame, angle in ((1, 0.0), (25, 1.5)):
        pose.rotation_quaternion = Quaternion((1, 0, 0), angle)
        pose.keyframe_insert("rotation_quaternion", frame=frame)
    item = add(scene, "held", somewhere(8))
    item.parent, item.parent_type, item.parent_bone = rig, "BONE", "arm"
    scene.frame_set(START)
    trajectory, _ = bake(scene, [item])
    assert_plays(scene, [item], trajectory)


def test_a_parent_that_would_shear_is_refused_and_nothing_changes(scene):
    parent = add(scene, "squashed", Matrix.Diagonal((1, 1, 3, 1)))
    item = add(scene, "child", None, parent)
    before = portrait(item)
    with pytest.raises(ValueError, match=r"child .*squashed.*apply"):
        bake(scene, [item])
    assert portrait(item) == before and not bpy.data.actions


def test_metres_become_blender_units(scene):
    item = add(scene, "small world", somewhere(2))
    trajectory = tumble([item], scale_length=0.01)
    bake(scene, [item], trajectory, scale_length=0.01)
    assert_plays(scene, [item], trajectory, scale_length=0.01, tolerance=2e-4)
    scene.frame_set(START)
    assert np.allclose(np.array(item.location) * 0.01, trajectory.position[0, 0], atol=1e-6)


def test_other_channels_of_an_own_action_stay_and_the_replaced_ones_come_back(scene):
    item = animate(add(scene, "actor", mode="XYZ"))
    scene.frame_set(START)
    before, name = portrait(item), item.animation_data.action.name
    trajectory, _ = bake(scene, [item])
    assert item.animation_data.action.name == name and len(bpy.data.actions) == 1
    hide = [c for c in portrait(item)["curves"] if c[0] == "hide_render"]
    assert hide == [c for c in before["curves"] if c[0] == "hide_render"]
    assert_plays(scene, [item], trajectory)
    scene.frame_set(START)
    assert keyframes.clear(scene) == 1
    assert portrait(item) == before


@pytest.mark.parametrize("mode", MODES)
def test_clear_restores_plain_objects_exactly_and_leaves_no_datablock(scene, mode):
    items = [add(scene, f"box {n}", somewhere(n), mode=mode) for n in range(3)]
    items[1].animation_data_create()
    items[2].driver_add("hide_viewport").driver.expression = "0"
    before = [portrait(item) for item in items]
    bake(scene, items)
    scene.frame_set(START + 7)
    assert keyframes.clear(scene) == 3
    assert [portrait(item) for item in items] == before
    assert not bpy.data.actions
    assert keyframes.clear(scene) == 0


def test_a_turn_to_quaternions_is_taken_back_with_the_bake(scene):
    item = add(scene, "box", somewhere(1), mode="ZXY")
    before = portrait(item)
    trajectory, _ = bake(scene, [item], rotation="QUATERNION")
    assert item.rotation_mode == "QUATERNION"
    assert_plays(scene, [item], trajectory)
    keyframes.clear(scene)
    assert portrait(item) == before


def test_a_second_bake_replaces_the_first_and_one_clear_undoes_both(scene):
    items = [add(scene, "plain", somewhere(1)), animate(add(scene, "actor", mode="XYZ"))]
    scene.frame_set(START)
    before = [portrait(item) for item in items]
    bake(scene, items)
    keyframes.clear(scene)
    second = tumble(items)
    bake(scene, items)
    bake(scene, items, second)
    assert len(baked_curves(items[0])) == 7
    assert_plays(scene, items, second)
    scene.frame_set(START)
    keyframes.clear(scene)
    assert [portrait(item) for item in items] == before


def test_suspended_bakes_show_what_lies_below_and_come_back_as_they_were(scene):
    items = [add(scene, "plain", somewhere(1), mode="XYZ"), animate(add(scene, "actor", mode="XYZ"))]
    scene.frame_set(START)
    below = [list(item.matrix_world) for item in items]
    trajectory, _ = bake(scene, items, rotation="QUATERNION")
    baked_curves(items[0])[1].keyframe_points[2].interpolation = "BEZIER"  # what an artist did to it since
    before = [portrait(item)["curves"] for item in items]
    scene.frame_set(START)
    hidden = keyframes.suspend(scene)
    assert [list(item.matrix_world) for item in items] == below
    keyframes.resume(scene, hidden)
    assert [portrait(item)["curves"] for item in items] == before
    assert_plays(scene, items, trajectory)


def test_a_suspended_bake_can_be_cleared_and_baked_over(scene):
    item = animate(add(scene, "actor", mode="XYZ"))
    scene.frame_set(START)
    before = portrait(item)
    bake(scene, [item])
    keyframes.suspend(scene)
    trajectory, _ = bake(scene, [item])
    assert_plays(scene, [item], trajectory)
    keyframes.suspend(scene)
    scene.frame_set(START)
    assert keyframes.clear(scene) == 1
    assert portrait(item) == before


def test_a_copy_of_a_baked_object_shares_its_keys_and_is_cleared_with_it(scene):
    item = animate(add(scene, "actor", mode="XYZ"))
    scene.frame_set(START)
    before = portrait(item)
    bake(scene, [item])
    twin = item.copy()
    scene.collection.objects.link(twin)
    keyframes.resume(scene, keyframes.suspend(scene))
    assert len(baked_curves(item)) == 6
    scene.frame_set(START)
    assert keyframes.clear(scene) == 2
    assert portrait(item) == before and portrait(twin)["curves"] == before["curves"]


@pytest.mark.parametrize("channel", ("position", "orientation"))
def test_a_motion_that_is_not_finite_is_refused_and_the_earlier_bake_stays(scene, channel):
    item = add(scene, "lost", somewhere(1))
    good, _ = bake(scene, [item])
    bad = tumble([item])
    getattr(bad, channel)[4, 0, 1] = np.nan
    with pytest.raises(ValueError, match=rf"lost.*frame {START + 4}"):
        bake(scene, [item], bad)
    assert_plays(scene, [item], good)


def test_clear_works_in_a_saved_and_loaded_file(scene, tmp_path):
    items = [add(scene, "plain", somewhere(1)), animate(add(scene, "actor", mode="XYZ"))]
    scene.frame_set(START)
    before = [portrait(item) for item in items]
    bake(scene, items)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    scene = bpy.context.scene
    assert keyframes.clear(scene) == 2
    assert [portrait(bpy.data.objects[name]) for name in ("plain", "actor")] == before


def test_keys_made_after_the_bake_survive_clearing(scene):
    item = add(scene, "box", somewhere(1))
    bake(scene, [item])
    item.hide_render = True
    item.keyframe_insert("hide_render", frame=3)
    keyframes.clear(scene)
    assert [c[0] for c in portrait(item)["curves"]] == ["hide_render"]
    bake(scene, [item])
    keyframes.clear(scene)
    assert [c[0] for c in portrait(item)["curves"]] == ["hide_render"]


def test_two_objects_on_one_slot_move_apart_and_go_back(scene):
    first, second = animate(add(scene, "first", mode="XYZ")), add(scene, "second", mode="XYZ")
    data = second.animation_data_create()
    data.action, data.action_slot = first.animation_data.action, first.animation_data.action_slot
    scene.frame_set(START)
    before = [portrait(first), portrait(second)]
    trajectory, _ = bake(scene, [first, second])
    assert_plays(scene, [first, second], trajectory)
    scene.frame_set(START)
    keyframes.clear(scene)
    assert [portrait(first), portrait(second)] == before
    assert len(bpy.data.actions) == 1


def test_whatever_overrides_the_keys_is_named(scene):
    held, driven, quiet = (add(scene, name, somewhere(1)) for name in ("held", "driven", "quiet"))
    held.constraints.new("LIMIT_LOCATION").name = "Fence"
    driven.driver_add("location", 2).driver.expression = "1"
    _, warnings = bake(scene, [held, driven, quiet])
    assert len(warnings) == 2
    assert "held" in warnings[0] and "Fence" in warnings[0]
    assert "driven" in warnings[1] and "location" in warnings[1]


def test_the_record_is_plain_json(scene):
    item = add(scene, "box", somewhere(1))
    bake(scene, [item])
    assert json.loads(item[records.RECORD])["rotation_mode"] == "QUATERNION"
