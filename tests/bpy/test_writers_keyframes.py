# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked keyframes, played by Blender, are the trajectory."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from blend_scenes import box_mesh  # noqa: E402
from mathutils import Euler, Matrix, Quaternion  # noqa: E402
from tumbling import FRAMES, MODES, START, add, assert_plays, bake, baked_curves, portrait, somewhere, tumble  # noqa: E402


@pytest.fixture
def scene():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return bpy.context.scene


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


def test_a_vertex_of_a_simulated_parent_hands_its_place_on_and_no_rotation(scene):
    """The child went round with the body as on a plain parent, metres from where it was simulated."""
    base = add(scene, "base", somewhere(3, (2, 2, 2)), data=box_mesh())
    on_vertex = add(scene, "on vertex", somewhere(4), base)
    middle = add(scene, "middle", somewhere(5), base, data=box_mesh())  # not simulated: held by what is
    below = add(scene, "below", somewhere(6), middle)
    again = add(scene, "again", somewhere(7), middle)
    for item, vertex in ((on_vertex, 3), (middle, 5), (again, 1)):
        item.parent_type, item.parent_vertices = "VERTEX", (vertex, 0, 0)
        item.matrix_parent_inverse = somewhere(10 + vertex)
    for frame in (1, 30):
        middle.rotation_quaternion = Quaternion((0, 0, 1), 0.05 * frame)
        middle.keyframe_insert("rotation_quaternion", frame=frame)
    items = [again, below, on_vertex, base]
    scene.frame_set(START)
    trajectory, warnings = bake(scene, items)
    assert warnings == []
    assert_plays(scene, items, trajectory, tolerance=1e-4)


@pytest.mark.parametrize("moves", [False, True])
def test_a_curve_as_parent_puts_bodies_on_its_path(scene, moves):
    """Curves have Path Animation from the start: keys of what was parented to one were off by the place on it."""
    curve = bpy.data.curves.new("rail", "CURVE")
    curve.dimensions, curve.use_path, curve.use_path_follow = "3D", True, True
    points = curve.splines.new("POLY").points
    points.add(2)
    points[1].co, points[2].co = (1, 2, 3, 1), (4, 0, 0, 1)
    if moves:
        for frame, time in ((1, 0.0), (30, 80.0)):
            curve.eval_time = time
            curve.keyframe_insert("eval_time", frame=frame)
    item = add(scene, "held", somewhere(8), add(scene, "rail", somewhere(9), data=curve))
    scene.frame_set(START)
    trajectory, warnings = bake(scene, [item])
    assert warnings == []
    assert_plays(scene, [item], trajectory)


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


def test_whatever_overrides_the_keys_is_named(scene):
    held, driven, quiet = (add(scene, name, somewhere(1)) for name in ("held", "driven", "quiet"))
    held.constraints.new("LIMIT_LOCATION").name = "Fence"
    driven.driver_add("location", 2).driver.expression = "1"
    _, warnings = bake(scene, [held, driven, quiet])
    assert len(warnings) == 2
    assert "held" in warnings[0] and "Fence" in warnings[0]
    assert "driven" in warnings[1] and "location" in warnings[1]
