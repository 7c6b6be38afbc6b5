# SPDX-License-Identifier: GPL-3.0-or-later
"""What hurried hands do around a bake: it is told in one sentence, or it does no harm."""

import math

import pytest

bpy = pytest.importorskip("bpy")

import blend_scenes as build  # noqa: E402
from axion.axion_blender import baking, compat  # noqa: E402
from axion.axion_blender.writers import keyframes  # noqa: E402
from axion.solver import Trajectory  # noqa: E402
from test_bad_input import bake  # noqa: E402


def test_time_stretching_is_refused_as_the_keys_would_play_at_other_frames(empty_file):
    build.box("Box")
    empty_file.render.frame_map_old = empty_file.render.frame_map_new = 50  # stretches nothing
    assert baking.check(bpy.context)[0] == []
    empty_file.render.frame_map_new = 200
    (problem,) = baking.check(bpy.context)[0]
    assert problem.startswith(f"{empty_file.name}: its Time Stretching plays 50 frames in the time of 200,")
    assert "Old and New" in problem


def test_python_that_blender_did_not_run_is_warned_of(tmp_path):
    build.box("Box")
    assert not any("Python" in text for text in baking.check(bpy.context)[1])
    pusher = build.box("Pusher", location=(5, 0, 0), type="PASSIVE")
    pusher.driver_add("location", 0).driver.expression = "bpy.context.scene.frame_current"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "driven.blend"), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "driven.blend"), load_ui=False, use_scripts=False)
    told = [text for text in baking.check(bpy.context)[1] if "Python" in text]
    assert len(told) == 1 and "--enable-autoexec" in told[0] and "bpy.context.scene.frame_current" in told[0]


def drive(item, path, leader):
    """A driver of a property that reads how high an object is."""
    driver = item.driver_add(path, *([2] if path in ("location", "scale") else [])).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].transform_type = leader, "LOC_Z"
    driver.expression = "var"


def test_drivers_that_read_what_the_simulation_moves_are_told():
    weight, lift = build.box("Weight", location=(5, 0, 5)), build.box("Lift", type="PASSIVE")
    held, joint = build.box("Held", location=(9, 0, 5)), build.joint("Hinge", "HINGE", weight, None)
    drive(weight, "scale", lift)  # reads what stands
    drive(held, "location", weight)  # its place is the simulation's
    assert not any("driver" in text for text in baking.check(bpy.context)[1])
    drive(lift, "location", weight)
    drive(held, "axion.kinematic", weight)
    drive(joint, "axion_joint.motor_ang_target_velocity", weight)
    told = {text.split(":")[0] for text in baking.check(bpy.context)[1] if "reads Weight, which the" in text}
    assert told == {"Lift", "Held", "Hinge"}


def test_a_joint_says_that_its_object_was_deleted():
    first, second = build.box("Crate"), build.box("Lid", location=(0, 0, 2))
    build.joint("Hinge", "HINGE", first, second)
    with bpy.context.temp_override(selected_objects=[first]):
        bpy.ops.object.delete()
    assert bpy.data.objects["Hinge"].axion_joint.object1 == first, "the joint keeps what was deleted"
    (problem,) = baking.check(bpy.context)[0]
    assert problem == (
        "Hinge: the joint's object Crate was deleted from the scene: choose another, or remove the joint"
    )


def test_metaballs_of_one_family_are_told_why_they_are_empty():
    for name in ("Blob", "Blob.001"):
        data = bpy.data.metaballs.new("Blob")
        data.elements.new()
        build.add(name, data, type="ACTIVE")
    (problem,) = baking.check(bpy.context)[0]
    assert problem.startswith("Blob.001: it has no surface of its own (0 vertices)") and "convert them" in problem


@pytest.fixture
def library(tmp_path):
    """A .blend with an empty object and a collection."""
    build.add("Crate", None, (5, 0, 0))
    bpy.context.scene.collection.children.link(bpy.data.collections.new("Set"))
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    return path


def linked(library, kind, name):
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        setattr(wanted, kind, [name])
    return getattr(wanted, kind)[0]


@pytest.mark.parametrize("operator", ("add_joint", "connect_selected"))
def test_joints_stand_beside_a_linked_collection_that_is_active(library, operator):
    scene, layer = bpy.context.scene, bpy.context.view_layer
    scene.collection.children.link(linked(library, "collections", "Set"))
    for item in (build.box("A"), build.box("B", location=(0, 0, 2))):
        item.select_set(True)
        layer.objects.active = item
    layer.active_layer_collection = layer.layer_collection.children[0]
    assert not bpy.context.collection.is_editable
    assert getattr(bpy.ops.axion, operator)() == {"FINISHED"}
    (joint,) = [item for item in bpy.data.objects if item.axion_joint.enabled]
    assert scene.collection in joint.users_collection


def test_a_linked_parent_with_the_name_of_a_body_is_not_taken_for_it(library):
    scene = bpy.context.scene
    parent = linked(library, "objects", "Crate")
    scene.collection.objects.link(parent)
    crate, ball = build.box("Crate"), build.box("Ball", location=(0, 0, 2))
    ball.parent = parent
    assert parent.name == crate.name
    bpy.context.view_layer.update()
    where = [[(0, 0, 0), (5, 0, 2)], [(3, 0, 0), (5, 0, 2)]]  # only the crate moves
    turn, rest = [[(0, 0, 0, 1)] * 2] * 2, [[(0, 0, 0)] * 2] * 2
    keyframes.write(
        Trajectory(["Crate", "Ball"], [0, 1], where, turn, rest, rest, [], {}), {"Crate": crate, "Ball": ball}, 1
    )
    scene.frame_set(2)
    assert crate.matrix_world.translation[:] == pytest.approx((3, 0, 0), abs=1e-5)
    assert ball.matrix_world.translation[:] == pytest.approx((5, 0, 2), abs=1e-5)


def shared_slot():
    """Two bodies on one slot of an action, baked: each holds a private copy or what is left of the action."""
    box, twin = build.box("Box"), build.box("Twin", location=(3, 0, 0))
    build.key(box, "location", ((1, (0, 0, 0)), (5, (0, 0, 5))))
    data = twin.animation_data_create()
    data.action, data.action_slot = box.animation_data.action, box.animation_data.action_slot
    return box, twin, box.animation_data.action


def remove_slot(item):
    item.animation_data.action.slots.remove(item.animation_data.action_slot)


HANDS = {
    "no slot": lambda item: setattr(item.animation_data, "action_slot", None),
    "slot removed": remove_slot,
    "slot renamed": lambda item: setattr(item.animation_data.action_slot, "name_display", "Other"),
    "no action": lambda item: setattr(item.animation_data, "action", None),
    "action removed": lambda item: bpy.data.actions.remove(item.animation_data.action),
    "no animation": lambda item: item.animation_data_clear(),
    "other action": lambda item: setattr(item.animation_data, "action", bpy.data.actions.new("Mine")),
}


@pytest.mark.parametrize("hand", HANDS)
def test_clear_gives_the_own_action_back_whatever_became_of_its_copy(hand):
    box, twin, own = shared_slot()
    bake(box, twin)
    assert box.animation_data.action != own, "the bake stands in a private copy"
    HANDS[hand](box)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    for item in (box, twin):
        assert item.animation_data.action == own and item.animation_data.action_slot == own.slots[0]
    assert len(own.layers[0].strips[0].channelbag(own.slots[0]).fcurves) == 3
    assert hand != "other action" or "Mine" in bpy.data.actions, "an action that the bake did not make stays"


def test_a_solo_track_that_mutes_the_keys_is_named():
    box = build.box("Box")
    build.key(box, "location", ((1, (0, 0, 0)), (5, (0, 0, 5))))
    data = box.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("Old", 1, data.action)
    strip.action_slot, data.action, track.is_solo = data.action_slot, None, True
    found = [text for text in baking.check(bpy.context)[1] if "solo" in text]
    assert found == [f"Box: its NLA track {track.name} is solo, which mutes the baked keys; end solo to bake."]


@pytest.mark.parametrize("end", ("lower", "upper"))
def test_a_limit_that_is_no_number_is_told_as_such(end):
    own = build.joint("Rail", "SLIDER", build.box("Box"), None).axion_joint
    own.use_limit_lin_x = True
    setattr(own, f"limit_lin_x_{end}", math.nan)
    (problem,) = baking.check(bpy.context)[0]
    assert problem.startswith(f"Rail: axis x: {end} is nan") and "swap" not in problem


def ungroup(bag):
    bag.groups.remove(bag.groups["Axion Bake"])


def rename_group(bag):
    bag.groups["Axion Bake"].name = "Mine"


def ungroup_one(bag):
    bag.fcurves[2].group = None


@pytest.mark.parametrize("hand", (ungroup, rename_group, ungroup_one))
@pytest.mark.parametrize("own", (False, True), ids=("none", "own keys"))
@pytest.mark.parametrize("operator", ("clear_bake", "apply_bake"))
def test_baked_channels_that_left_their_group_are_still_the_bakes(hand, own, operator):
    box = build.box("Box", location=(0, 0, 5))
    if own:  # their first key is what the bake begins with
        build.key(box, "location", ((1, (0, 0, 5)), (9, (0, 0, 7))))
        bpy.context.scene.frame_set(1)
    bake(box)
    baked = [[tuple(point.co) for point in curve.keyframe_points] for curve in compat.curves_of(box)]
    hand(compat.channelbag(box))
    assert getattr(bpy.ops.axion, operator)("EXEC_DEFAULT") == {"FINISHED"}
    if operator == "clear_bake":
        paths = {curve.data_path: len(curve.keyframe_points) for curve in compat.curves_of(box)}
        assert paths == ({"location": 2} if own else {}) and box.location[:] == (0, 0, 5)
    else:
        left = {(c.data_path, c.array_index): [tuple(p.co) for p in c.keyframe_points] for c in compat.curves_of(box)}
        assert len(left) == 6 and all(keys in baked for keys in left.values())


def test_own_keys_that_begin_like_the_bake_stay_own_while_it_is_hidden():
    box = build.box("Box", location=(0, 0, 5))
    build.key(box, "location", ((1, (0, 0, 5)), (9, (0, 0, 7))))
    bpy.context.scene.frame_set(1)
    bake(box)
    hidden = keyframes.suspend(bpy.context.scene)
    keyframes.resume(bpy.context.scene, keyframes.suspend(bpy.context.scene) or hidden)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert [len(curve.keyframe_points) for curve in compat.curves_of(box)] == [2, 2, 2]


def test_buttons_that_need_an_active_object_say_so(empty_file):
    """The tooltip of a grey button, and a script, were told that the context is incorrect."""
    bpy.context.view_layer.objects.active = None
    for operator in (bpy.ops.axion.copy_settings, bpy.ops.axion.enable_joint):
        with pytest.raises(RuntimeError, match="No object is active: click one first"):
            operator()
    with pytest.raises(RuntimeError, match="is no Axion body: click the one"):
        bpy.ops.axion.add_material_preset(name="Own")
