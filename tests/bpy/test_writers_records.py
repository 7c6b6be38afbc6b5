# SPDX-License-Identifier: GPL-3.0-or-later
"""Cleared, replaced or suspended, a bake leaves the scene as it was, bit for bit."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from axion.axion_blender import compat  # noqa: E402
from axion.axion_blender.slices import run_through  # noqa: E402
from axion.axion_blender.writers import curves, keyframes, records, staging  # noqa: E402
from tumbling import MODES, START, add, animate, assert_plays, bake, baked_curves, portrait, somewhere, tumble  # noqa: E402


@pytest.fixture
def scene():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return bpy.context.scene


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


@pytest.mark.parametrize("touch", ["nothing", "own keys", "new mode", "a modifier", "moved"])
def test_a_second_bake_leaves_what_a_clear_and_a_bake_leave(scene, touch):
    """A bake keeps what the one before it claimed, and nobody can tell."""
    found = []
    for clears in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene = bpy.context.scene
        items = [add(scene, "plain", somewhere(1), mode="XYZ"), animate(add(scene, "actor", mode="XYZ"))]
        scene.frame_set(START)
        motion, _ = bake(scene, items)
        plain = items[0]
        if touch == "own keys":
            plain.hide_render = True
            plain.keyframe_insert("hide_render", frame=3)
        elif touch == "new mode":
            plain.rotation_mode = "QUATERNION"
        elif touch == "a modifier":
            baked_curves(plain)[0].modifiers.new("NOISE")
        elif touch == "moved":
            plain.location.x += 5.0
        if clears:
            scene.frame_set(START)
            keyframes.clear(scene, items)
        bake(scene, items, motion)
        scene.frame_set(START)
        left = [json.loads(item[records.RECORD]) for item in items], [portrait(item) for item in items]
        assert keyframes.clear(scene) == 2
        found.append((*left, [portrait(item) for item in items]))
    assert found[0] == found[1]


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("slices", range(1, 14, 3))
def test_a_bake_that_is_stopped_while_it_is_written_leaves_the_earlier_one(scene, slices, fails, monkeypatch):
    items = [add(scene, "plain", somewhere(1), mode="XYZ"), animate(add(scene, "actor", mode="XYZ"))]
    items.append(add(scene, "hanger", somewhere(2), parent=add(scene, "carrier", somewhere(3))))
    items[-1].parent.keyframe_insert("location", frame=1)
    scene.frame_set(START)
    motion, _ = bake(scene, items[:2])
    before = [portrait(item) for item in items], sorted(action.name for action in bpy.data.actions)
    work = keyframes.write_slices(tumble(items), {item.name: item for item in items}, START, scene)
    parts = [next(work) for _ in range(slices)]
    assert parts == sorted(parts) and parts[0] >= 0.0 and parts[-1] < 1.0
    if fails:
        monkeypatch.setattr(staging.Stage, "add", no_memory)
        with pytest.raises(MemoryError):
            run_through(work)
    else:
        work.close()
    assert ([portrait(item) for item in items], sorted(action.name for action in bpy.data.actions)) == before
    assert_plays(scene, items[:2], motion)


def test_a_bake_that_fails_while_it_is_handed_over_leaves_none_half_done(scene, monkeypatch):
    items = [add(scene, f"box {n}", somewhere(n)) for n in range(3)]
    before = [portrait(item) for item in items]
    bake(scene, items[:2])
    begin = records.begin
    monkeypatch.setattr(records, "begin", lambda item, *rest: begin(item, *rest) if item != items[1] else no_memory())
    with pytest.raises(MemoryError):
        bake(scene, items)
    assert [portrait(item) for item in items] == before and not bpy.data.actions


def no_memory(*_):
    raise MemoryError


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


def test_own_curves_are_locked_while_they_are_set_aside(scene):
    item = animate(add(scene, "actor", mode="XYZ"))
    scene.frame_set(START)
    bag = compat.channelbag(item)
    paths = [(curve.data_path, curve.array_index) for curve in bag.fcurves]
    moving = [curve for curve in bag.fcurves if curve.data_path == "location"]
    assert len(moving) == 3 and not any(curve.lock for curve in bag.fcurves)
    moving[1].lock = True

    def locks():
        return [bag.fcurves.find("location", index=i).lock for i in range(3)]

    bake(scene, [item])
    assert [curves.aside(bag, "location", i).lock for i in range(3)] == [True] * 3 and locks() == [False] * 3
    assert not any(curve.lock for curve in bag.fcurves if curve.data_path == "hide_render"), "what still plays"
    hidden = keyframes.suspend(scene)
    assert locks() == [False, True, False]
    keyframes.resume(scene, hidden)
    assert [curves.aside(bag, "location", i).lock for i in range(3)] == [True] * 3
    bake(scene, [item])
    keyframes.clear(scene)
    assert locks() == [False, True, False]
    assert [(curve.data_path, curve.array_index) for curve in bag.fcurves] == paths


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


def test_the_record_is_plain_json(scene):
    item = add(scene, "box", somewhere(1))
    bake(scene, [item])
    assert json.loads(item[records.RECORD])["rotation_mode"] == "QUATERNION"
