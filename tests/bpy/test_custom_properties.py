# SPDX-License-Identifier: GPL-3.0-or-later
"""Speeds and forces as keyframed custom properties: right values, drivers see them, and they go with the bake."""

import bpy
import numpy as np
import pytest
from axion.axion_blender import compat
from axion.axion_blender.writers import outputs, points
from blend_scenes import box, joint, key

GROUPS = {"axion", "axion_joint"}  # Blender 4.5 lists property groups among custom properties


@pytest.fixture
def scene(empty_file):
    """A weight of 2 kg hung from the world, and a box that falls freely."""
    empty_file.frame_end = 7
    box("Weight", (0.1, 0.1, 0.1), (0, 0, 1), mass=2.0)
    box("Falling", (0.1, 0.1, 0.1), (3, 0, 9), mass=1.0)
    joint("Rod", "HINGE", None, bpy.data.objects["Weight"], (0, 0, 2))
    empty_file.axion.use_keyed_speed = empty_file.axion.use_keyed_forces = True
    return empty_file


def curve(name, prop):
    return next(c for c in compat.curves_of(bpy.data.objects[name]) if c.data_path == f'["{prop}"]')


def snapshot():
    """What a bake must give back: custom properties, actions, slots, places, and whether there is animation data."""
    return (
        {
            o.name: (sorted(set(o.keys()) - GROUPS), tuple(o.location), o.animation_data is not None, _slots(o))
            for o in bpy.data.objects
        },
        sorted(a.name for a in bpy.data.actions),
    )


def _slots(item):
    data = item.animation_data
    if data is None or data.action is None:
        return None
    return data.action.name, data.action_slot.identifier, [c.data_path for c in compat.curves_of(item)]


def test_values_are_what_physics_says(scene):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    pull = [k.co[1] for k in curve("Rod", "axion_force").keyframe_points]
    assert [k.co[0] for k in curve("Rod", "axion_force").keyframe_points] == [2, 3, 4, 5, 6, 7]
    np.testing.assert_allclose(pull, 2.0 * 9.81, rtol=1e-3)
    speed = [tuple(k.co) for k in curve("Falling", "axion_speed").keyframe_points]
    np.testing.assert_allclose(speed, [(f, 9.81 * (f - 1) / 24.0) for f in range(1, 8)], rtol=1e-4, atol=1e-6)
    scene.frame_set(4)
    assert bpy.data.objects["Rod"]["axion_force"] == pytest.approx(2.0 * 9.81, rel=1e-3)
    assert bpy.data.objects["Falling"]["axion_contact_force"] == 0.0
    assert "newtons" in bpy.data.objects["Rod"].id_properties_ui("axion_force").as_dict()["description"]


def test_a_driver_reads_them(scene):
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    scene.collection.objects.link(lamp)
    driver = lamp.data.driver_add("energy").driver
    driver.type = "AVERAGE"
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = bpy.data.objects["Falling"], '["axion_speed"]'
    for _ in range(2):  # a second bake must not put the driver out
        assert bpy.ops.axion.bake() == {"FINISHED"}
        for frame in (7, 3):
            scene.frame_set(frame)
            energy = lamp.data.evaluated_get(bpy.context.evaluated_depsgraph_get()).energy
            assert energy == pytest.approx(9.81 * (frame - 1) / 24.0, rel=1e-4)


def test_clear_gives_everything_back_and_a_second_bake_replaces_the_first(scene):
    rod = bpy.data.objects["Rod"]
    key(rod, "hide_viewport", [(1, False), (5, False)])
    rod["mine"] = 1.0
    before = snapshot()
    for _ in range(2):
        assert bpy.ops.axion.bake() == {"FINISHED"}
        paths = [c.data_path for c in compat.curves_of(rod)]
        assert sorted(paths) == ['["axion_force"]', '["axion_torque"]', "hide_viewport"]
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert snapshot() == before


def test_clear_without_own_animation(scene):
    before = snapshot()
    assert bpy.ops.axion.bake() == {"FINISHED"}
    rod = bpy.data.objects["Rod"]
    rod.location.x = 0.25  # moving the joint after the bake is the user's business
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert rod.location.x == 0.25
    rod.location.x = 0.0
    assert snapshot() == before


def test_switching_them_off_removes_them_at_the_next_bake(scene):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    scene.axion.use_keyed_speed = scene.axion.use_keyed_forces = False
    assert bpy.ops.axion.bake() == {"FINISHED"}
    for name in ("Rod", "Weight", "Falling"):
        item = bpy.data.objects[name]
        assert not {"axion_speed", "axion_force", "axion_bake_values"} & set(item.keys())
        assert not [c for c in compat.curves_of(item) if c.data_path.startswith("[")]


def test_a_property_of_the_users_is_left_alone(scene, capfd):
    bpy.data.objects["Rod"]["axion_force"] = "mine"
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert bpy.data.objects["Rod"]["axion_force"] == "mine"
    assert "Rod has a custom property axion_force of its own" in capfd.readouterr().out
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert bpy.data.objects["Rod"]["axion_force"] == "mine"


def test_clear_leaves_a_property_of_the_users_on_a_body(scene):
    falling = bpy.data.objects["Falling"]
    falling["axion_speed"] = 42.0
    for _ in range(2):
        assert bpy.ops.axion.bake() == {"FINISHED"}
        assert falling["axion_speed"] == 42.0
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert falling["axion_speed"] == 42.0


def test_a_bake_after_apply_leaves_what_was_applied(scene):
    assert bpy.ops.axion.bake() == {"FINISHED"} and bpy.ops.axion.apply_bake() == {"FINISHED"}
    falling = bpy.data.objects["Falling"]
    paths = [c.data_path for c in compat.curves_of(falling)]
    assert '["axion_speed"]' in paths
    falling.axion.enabled = scene.axion.use_keyed_speed = True
    assert bpy.ops.axion.bake() == {"FINISHED"} and bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert "axion_speed" in falling and sorted(c.data_path for c in compat.curves_of(falling)) == sorted(paths)


@pytest.mark.parametrize("output", ["KEYFRAMES", "POINTS"])
def test_apply_keeps_the_values_of_joints_and_points(scene, output):
    scene.axion.output = output
    assert bpy.ops.axion.bake() == {"FINISHED"} and bpy.ops.axion.apply_bake() == {"FINISHED"}
    for _ in range(2):
        for name, prop in (("Rod", "axion_force"), ("Falling", "axion_speed")):
            item = bpy.data.objects[name]
            assert prop in item and len(curve(name, prop).keyframe_points) > 5
            assert not {"axion_bake", "axion_bake_values", "axion_points_hidden"} & set(item.keys())
        assert bpy.ops.axion.clear_bake() == {"CANCELLED"}


def test_clear_says_that_it_took_the_values_of_a_joint(scene):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    for name in ("Weight", "Falling"):
        bpy.data.objects.remove(bpy.data.objects[name])
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert "axion_force" not in bpy.data.objects["Rod"]


@pytest.mark.parametrize("name", ["axion_bake", "axion_bake_values", "axion_points_hidden"])
def test_a_broken_record_is_named_before_anything_changes(scene, name):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    broken = bpy.data.objects["Rod"]
    for record in ("junk", "{}", 1.5):
        broken[name] = record
        before = snapshot()
        for operator in (bpy.ops.axion.bake, bpy.ops.axion.clear_bake, bpy.ops.axion.apply_bake):
            with pytest.raises(RuntimeError, match=f"Rod: the record of its bake is broken: delete .* {name} and") as e:
                operator()
            assert "Traceback" not in str(e.value)
            assert snapshot() == before
        assert broken[name] == record


def test_keyframes_play_again_where_points_cannot_be_hidden(scene, monkeypatch):
    assert bpy.ops.axion.bake() == {"FINISHED"}
    before = snapshot()

    def fail(scene):
        raise MemoryError

    monkeypatch.setattr(points, "suspend", fail)
    with pytest.raises(MemoryError):
        outputs.suspend(scene)
    assert snapshot() == before
