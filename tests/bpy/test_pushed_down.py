# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked keys that a user pushed down into NLA strips are part of the bake, unless they were put aside as a take."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import blend_scenes as build  # noqa: E402
from axion.axion_blender.writers import custom_properties, outputs, records  # noqa: E402
from axion.solver import StepReport, Trajectory  # noqa: E402
from tumbling import portrait  # noqa: E402

OWN = ((1, (0, 0, 3)), (9, (4, 0, 3)))


def bake(*items, fall=1.0):
    """Keys at frames 1 to 5 for bodies that fall ``fall`` a frame.  Returns the warnings."""
    bpy.context.view_layer.update()
    zero = [[(0, 0, 0)] * len(items)] * 5
    where = [[(0, 0, -fall * frame)] * len(items) for frame in range(5)]
    upright = [[(0, 0, 0, 1)] * len(items)] * 5
    reports = [StepReport(frame) for frame in range(1, 5)]
    motion = Trajectory([i.name for i in items], [k / 24 for k in range(5)], where, upright, zero, zero, reports, {})
    scene, layer = bpy.context.scene, bpy.context.view_layer
    return outputs.write(motion, {item.name: item for item in items}, 1, scene, layer, 1.0)


def push_down(item, mute=False):
    """As Push Down in the Action editor, or Stash, does."""
    area = bpy.context.window_manager.windows[0].screen.areas[0]
    area.type, bpy.context.view_layer.objects.active = "DOPESHEET_EDITOR", item
    area.spaces.active.mode = "ACTION"
    item.select_set(True)
    with bpy.context.temp_override(area=area, region=area.regions[-1]):
        assert (bpy.ops.action.stash if mute else bpy.ops.action.push_down)() == {"FINISHED"}
    assert item.animation_data.action is None and len(item.animation_data.nla_tracks) == 1


def heights(item):
    found = []
    for frame in (5, 3, 1):
        bpy.context.scene.frame_set(frame)
        found.insert(0, round(item.matrix_world.translation.z, 4))
    return found


def bodies():
    """A plain body, one with keys of its own, and one of two that share an action."""
    plain, own, twin = (build.box(name, location=(5 * k, 0, 3)) for k, name in enumerate(("Plain", "Own", "Twin")))
    build.key(own, "location", OWN)
    build.key(twin, "location", OWN)
    other = build.box("Other")
    data = other.animation_data_create()
    data.action, data.action_slot = twin.animation_data.action, twin.animation_data.action_slot
    bpy.context.scene.frame_set(1)
    return plain, own, twin


@pytest.mark.parametrize("which", range(3), ids=("plain", "own action", "private copy"))
def test_clear_takes_what_was_pushed_down(which):
    item = bodies()[which]
    before, actions = portrait(item), sorted(action.name for action in bpy.data.actions)
    bake(item)
    assert heights(item) == [3, 1, -1]
    push_down(item)
    assert heights(item) == [3, 1, -1]
    bpy.context.scene.frame_set(1)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert heights(item) == [3, 3, 3] and sorted(action.name for action in bpy.data.actions) == actions
    if item.name == "Own":  # its own action was pushed down: that is the user's, without the bake
        (strip,) = item.animation_data.nla_tracks[0].strips
        assert [(c.data_path, c.array_index) for c in strip.action.layers[0].strips[0].channelbags[0].fcurves] == [
            ("location", i) for i in range(3)
        ]
        bpy.context.scene.frame_set(5)
        assert item.location.x == pytest.approx(2.0)
    else:
        assert portrait(item) == before


@pytest.mark.parametrize("which", range(3), ids=("plain", "own action", "private copy"))
def test_the_next_bake_replaces_what_was_pushed_down_and_says_so(which):
    item = bodies()[which]
    bake(item)
    push_down(item)
    name = item.animation_data.nla_tracks[0].strips[0].name
    (told,) = bake(item, fall=0.5)
    assert told.startswith(f"{item.name}: its NLA strip {name} held the earlier bake and went with it")
    assert heights(item) == [3, 2, 1]
    bpy.context.scene.frame_set(1)
    bpy.ops.axion.clear_bake()
    assert heights(item) == [3, 3, 3]


def test_below_a_bake_that_was_pushed_down_the_scene_is_as_before():
    plain, own, twin = bodies()
    bake(plain, own, twin)
    for item in (plain, own, twin):
        push_down(item)
    plain.animation_data.nla_tracks[0].strips[0].frame_start_ui = 3  # elsewhere than at its start
    with outputs.below(bpy.context.scene, 1):
        assert [heights(item) for item in (plain, own, twin)] == [[3, 3, 3]] * 3
        bpy.context.scene.frame_set(5)
        assert own.location.x == pytest.approx(2.0)
    assert heights(own) == heights(twin) == [3, 1, -1]
    assert heights(plain) == [3, 3, 1]


def test_a_take_that_was_stashed_stays_beside_the_next_bake_and_clear():
    plain = bodies()[0]
    bake(plain)
    push_down(plain, mute=True)
    assert bake(plain, fall=0.5) == [] and heights(plain) == [3, 2, 1]
    bpy.context.scene.frame_set(1)
    bpy.ops.axion.clear_bake()
    assert heights(plain) == [3, 3, 3]
    strip = plain.animation_data.nla_tracks[0].strips[0]
    fall = strip.action.layers[0].strips[0].channelbag(strip.action_slot).fcurves.find("location", index=2)
    assert [point.co[1] for point in fall.keyframe_points] == [3, 2, 1, 0, -1], "the first take is whole"


def test_own_keys_come_back_out_of_a_stash():
    own = bodies()[1]
    bake(own)
    push_down(own, mute=True)
    bpy.ops.axion.clear_bake()
    own.animation_data.nla_tracks[0].mute = False
    bpy.context.scene.frame_set(5)
    assert own.location[:] == pytest.approx((2.0, 0, 3))


def test_apply_keeps_what_was_pushed_down():
    plain = bodies()[0]
    bake(plain)
    push_down(plain)
    assert bpy.ops.axion.apply_bake("EXEC_DEFAULT") == {"FINISHED"}
    assert heights(plain) == [3, 1, -1] and not records.is_baked(plain)
    (bag,) = plain.animation_data.nla_tracks[0].strips[0].action.layers[0].strips[0].channelbags
    assert {group.name for group in bag.groups} == {"Object Transforms"}


@pytest.mark.parametrize("operator", ("clear_bake", "apply_bake", "bake"))
def test_tweak_mode_is_refused_as_it_hides_the_action(operator):
    plain = bodies()[0]
    bake(plain)
    push_down(plain)
    data = plain.animation_data
    data.nla_tracks.active = data.nla_tracks[0]
    data.nla_tracks[0].strips[0].select = data.use_tweak_mode = True
    with pytest.raises(RuntimeError, match="Plain has an NLA strip in tweak mode, .* leave tweak mode"):
        getattr(bpy.ops.axion, operator)("EXEC_DEFAULT")
    data.use_tweak_mode = False
    assert heights(plain) == [3, 1, -1]


@pytest.mark.parametrize("operator", ("clear", "bake"))
def test_values_of_a_joint_that_were_pushed_down_go_with_the_bake(operator):
    plain, hinge = bodies()[0], build.joint("Hinge", "HINGE", None, bpy.data.objects["Plain"])
    scene = bpy.context.scene

    def key_forces(value):
        bake(plain)
        values = custom_properties.Staged(scene)
        values.add(hinge, {"axion_force": np.full(4, value)}, 5)
        assert values.hand_over() == []

    key_forces(7.0)
    push_down(hinge)
    scene.frame_set(3)
    assert hinge["axion_force"] == 7.0
    if operator == "bake":
        key_forces(8.0)
        scene.frame_set(3)
        assert not hinge.animation_data.nla_tracks and hinge["axion_force"] == 8.0
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert "axion_force" not in hinge
    assert hinge.animation_data is None or not hinge.animation_data.nla_tracks


def test_a_strip_of_a_linked_action_is_named(tmp_path, capfd):
    plain = bodies()[0]
    bake(plain)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"), copy=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (there, wanted):
        wanted.actions = [name for name in there.actions if name.startswith("Axion")]
    linked, data = wanted.actions[0], plain.animation_data
    slot = data.action_slot.identifier
    strip = data.nla_tracks.new().strips.new("Take", 1, linked)
    strip.action_slot, data.action = linked.slots[slot], None
    bpy.ops.axion.clear_bake()
    assert "Plain still plays baked keys in its NLA strip Take: mute or delete the strip" in capfd.readouterr().out
