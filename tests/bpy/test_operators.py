# SPDX-License-Identifier: GPL-3.0-or-later
"""``bpy.ops.axion.*``: what each does to the scene, what it says, and that a refusal changes nothing.

The solver is replaced by one that lets every dynamic body fall freely: here the operators are tested, not the physics.
"""

import json
import math

import axion
import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import axion.solver  # noqa: E402
from axion.axion_blender import baking, solving  # noqa: E402
from axion.axion_blender.writers import records  # noqa: E402
from axion.solver import FrameResult, SceneError, StepReport, Trajectory  # noqa: E402
from mathutils import Vector  # noqa: E402

GRAVITY = 9.81


def free_fall(scene, frames, fps, config, on_frame, say=None):
    """Exact free fall from rest: z(t) = z(0) - g t^2 / 2."""
    start = np.array([body.position for body in scene.bodies], float)
    turned = np.array([body.orientation for body in scene.bodies], float)
    moves = np.array([body.motion == "dynamic" for body in scene.bodies], float)[:, None]
    times = np.arange(frames + 1) / fps
    position = start + moves * (-GRAVITY / 2 * times**2)[:, None, None] * [0, 0, 1]
    reports = []
    for frame in range(1, frames + 1):
        reports.append(StepReport(frame, penetration=1e-5 * frame, wall_time=0.01))
        zero = np.zeros_like(start)
        if on_frame(FrameResult(frame, times[frame], position[frame], turned, zero, zero, reports[-1])) is False:
            break
    count = len(reports) + 1
    zero = np.zeros((count, *start.shape))
    names = [body.name for body in scene.bodies]
    orientation = np.repeat(turned[None], count, axis=0)
    return Trajectory(names, times[:count], position[:count], orientation, zero, zero, reports)


@pytest.fixture
def scene(monkeypatch):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    axion.register()
    monkeypatch.setitem(vars(axion.solver), "simulate", free_fall)
    monkeypatch.setattr(solving, "start_warp", lambda folder: False)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 7, 24
    return scene


def cube(name, location=(0, 0, 0), size=1.0):
    bpy.ops.mesh.primitive_cube_add(size=size, location=location)
    bpy.context.object.name = name
    return bpy.context.object


def select(*items):
    """Select exactly these; the last one is active."""
    for item in bpy.context.scene.objects:
        item.select_set(item in items)
    bpy.context.view_layer.objects.active = items[-1] if items else None


def body(name, location=(0, 0, 0), kind="ACTIVE"):
    item = cube(name, location)
    select(item)
    assert bpy.ops.axion.add_bodies(type=kind) == {"FINISHED"}
    return item


def heights(item, scene):
    found = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found.append(item.matrix_world.translation.z)
    return np.array(found)


def test_add_and_remove_bodies_act_on_the_selection(scene):
    first, second, third = cube("first"), cube("second"), cube("third")
    select(first, second)
    assert bpy.ops.axion.add_bodies(type="PASSIVE") == {"FINISHED"}
    assert [item.axion.enabled for item in (first, second, third)] == [True, True, False]
    assert first.axion.type == "PASSIVE" and first.axion.collision_shape == "MESH"
    first.axion.collision_shape = "BOX"
    assert bpy.ops.axion.add_bodies() == {"FINISHED"}
    assert first.axion.type == "ACTIVE" and first.axion.collision_shape == "BOX", "a shape chosen by hand stays"
    select(second)
    assert bpy.ops.axion.remove_bodies() == {"FINISHED"}
    assert [item.axion.enabled for item in (first, second)] == [True, False]


@pytest.mark.parametrize("name", ("add_bodies", "remove_bodies", "add_joint", "connect_selected"))
def test_nothing_fitting_selected_is_said(scene, name):
    select()
    with pytest.raises(RuntimeError, match=r"(?i)no (body|joint)|nothing"):
        getattr(bpy.ops.axion, name)()


def test_a_joint_stands_midway_and_knows_its_bodies(scene):
    left, right = body("left", (-1, 0, 2)), body("right", (3, 0, 2))
    select(left, right)
    assert bpy.ops.axion.add_joint(type="SLIDER") == {"FINISHED"}
    joint = bpy.context.object
    assert joint.type == "EMPTY" and joint.axion_joint.enabled and joint.axion_joint.type == "SLIDER"
    assert (joint.axion_joint.object1, joint.axion_joint.object2) == (left, right)
    assert joint.location == Vector((1, 0, 2))


def test_a_joint_of_one_body_holds_it_to_the_world_at_the_cursor(scene):
    item = body("swing", (0, 0, 2))
    scene.cursor.location, scene.cursor.rotation_euler = (0, 0, 3), (0.5, 0, 0)
    assert bpy.ops.axion.add_joint(type="HINGE", pivot_type="CURSOR") == {"FINISHED"}
    joint = bpy.context.object
    assert joint.axion_joint.object1 is None and joint.axion_joint.object2 == item
    assert joint.location == Vector((0, 0, 3)) and joint.rotation_euler.x == pytest.approx(0.5, abs=1e-6)


def test_connect_selected_makes_a_chain_by_distance_or_a_star(scene):
    items = [body(f"link {n}", (x, 0, 0)) for n, x in enumerate((0, 5, 2, 9))]
    select(*items[1:], items[0])
    assert bpy.ops.axion.connect_selected(connection_pattern="CHAIN_DISTANCE", type="FIXED") == {"FINISHED"}
    pairs = [(j.axion_joint.object1.name, j.axion_joint.object2.name) for j in scene.objects if j.axion_joint.enabled]
    assert sorted(pairs) == [("link 0", "link 2"), ("link 1", "link 3"), ("link 2", "link 1")]
    select(*items[1:], items[0])
    assert bpy.ops.axion.connect_selected(type="FIXED", skip_joined=False) == {"FINISHED"}
    assert sum(j.axion_joint.enabled and j.axion_joint.object2 == items[0] for j in scene.objects) == 3


def test_copy_settings_copies_every_property(scene):
    source, target, other = body("source"), body("target", kind="PASSIVE"), cube("other")
    settings = source.axion
    settings.friction, settings.mass, settings.linear_velocity, settings.collision_shape = 0.9, 7.0, (1, 2, 3), "SPHERE"
    settings.collision_collections[3] = True
    select(target, other, source)
    assert bpy.ops.axion.copy_settings() == {"FINISHED"}
    for item in (target, other):
        for definition in settings.bl_rna.properties:
            if not definition.is_readonly and definition.identifier != "name":
                mine, copied = getattr(settings, definition.identifier), getattr(item.axion, definition.identifier)
                same = list(mine) == list(copied) if getattr(definition, "is_array", False) else mine == copied
                assert same, definition.identifier


def test_bake_writes_the_motion_and_keeps_the_report(scene, capfd):
    box = body("box", (0, 0, 10))
    assert bpy.ops.axion.bake() == {"FINISHED"}
    times = np.arange(7) / 24
    assert np.allclose(heights(box, scene), 10 - GRAVITY * times**2 / 2, atol=1e-5)
    said = capfd.readouterr().out
    assert [f"frame {frame}/7" in said for frame in range(2, 8)] == [True] * 6
    assert baking.last_summary(scene)["worst_penetration_frame"] == 7
    text = json.loads(bpy.data.texts[f"{baking.TEXT} {scene.name}"].as_string())
    assert len(text["frames"]) == 6 and text["fps"] == 24.0 and text["scene"] == scene.name


def test_a_second_bake_simulates_what_lies_below_the_first(scene):
    box = body("box", (0, 0, 10))
    bpy.ops.axion.bake()
    first = heights(box, scene)
    scene.frame_set(7)
    bpy.ops.axion.bake()
    assert np.array_equal(heights(box, scene), first)
    scene.frame_set(1)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    box.location.z = 20
    bpy.ops.axion.bake()
    assert np.allclose(heights(box, scene), first + 10, atol=1e-5)


def test_clear_bake_leaves_no_trace(scene):
    box = body("box", (0, 0, 10))
    scene.frame_set(1)
    blocks = {name: len(getattr(bpy.data, name)) for name in ("objects", "actions", "texts", "collections", "meshes")}

    def state():
        groups = {"axion", "axion_joint"}  # until 5.0 reading a property group makes it an entry
        custom = [set(owner.keys()) - groups for owner in (box, scene)]
        return list(box.location), list(box.rotation_euler), box.animation_data, custom

    before = state()
    bpy.ops.axion.bake()
    scene.frame_set(6)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert state() == before
    assert {name: len(getattr(bpy.data, name)) for name in blocks} == blocks
    assert bpy.ops.axion.clear_bake() == {"CANCELLED"}


def test_clear_bake_removes_a_report_whose_bodies_are_gone(scene):
    body("box", (0, 0, 10))
    bpy.ops.axion.bake()
    assert baking.SUMMARY in scene
    bpy.data.objects.remove(bpy.data.objects["box"])
    assert bpy.ops.axion.clear_bake() == {"FINISHED"} and baking.SUMMARY not in scene
    assert bpy.ops.axion.clear_bake() == {"CANCELLED"}


@pytest.mark.parametrize("spoil", ("mass", "solver", "bug"))
def test_a_bake_that_fails_says_why_and_leaves_the_earlier_one(scene, monkeypatch, capfd, spoil):
    box = body("box", (0, 0, 10))
    bpy.ops.axion.bake()
    first = heights(box, scene)

    def break_down(described, frames, fps, config, on_frame, say=None):
        raise {"solver": SceneError("box: its contacts cannot be held"), "bug": TypeError("box: a bug")}[spoil]

    if spoil == "mass":
        box.axion.mass = -1.0
    else:
        monkeypatch.setitem(vars(axion.solver), "simulate", break_down)
    with pytest.raises(RuntimeError, match="box"):
        bpy.ops.axion.bake()
    if spoil != "bug":
        lines = capfd.readouterr().err.strip().splitlines()
        assert len(lines) == 1 and "box" in lines[0]
    assert np.array_equal(heights(box, scene), first)
    assert not bpy.context.window_manager.axion.running


def test_a_bake_without_bodies_says_so(scene):
    cube("no body")
    with pytest.raises(RuntimeError, match=r"(?i)bod(y|ies)"):
        bpy.ops.axion.bake()
    assert not bpy.data.actions and not bpy.data.texts


def test_check_scene_lists_every_problem_by_object(scene):
    first, second = body("first", (0, 0, 1)), body("second", (0, 0, 5))
    assert bpy.ops.axion.check_scene() == {"FINISHED"}
    assert bpy.context.window_manager.axion.checked == scene.session_uid
    first.axion.mass, second.axion.mass = -1.0, 0.0
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.axion.check_scene()
    assert "first" in str(caught.value) and "second" in str(caught.value)
    assert len(bpy.context.window_manager.axion.problems.splitlines()) == 2
    assert not any(records.is_baked(item) for item in scene.objects)


def test_a_refused_bake_lists_what_it_found(scene):
    first, second = body("first", (0, 0, 1)), body("second", (0, 0, 5))
    first.axion.mass, second.axion.mass = -1.0, 0.0
    with pytest.raises(RuntimeError, match="first"):
        bpy.ops.axion.bake()
    session = bpy.context.window_manager.axion
    assert [(found.name, found.kind) for found in session.findings] == [("first", "ERROR"), ("second", "ERROR")]
    assert session.checked == scene.session_uid


def test_check_scene_leaves_a_bake_as_it_is(scene):
    box = body("box", (0, 0, 10))
    bpy.ops.axion.bake()
    first = heights(box, scene)
    bpy.ops.axion.check_scene()
    assert np.array_equal(heights(box, scene), first)


def test_operators_wait_for_object_mode(scene):
    body("box")
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("bake", "clear_bake", "check_scene", "add_bodies", "remove_bodies", "add_joint"):
        assert not getattr(bpy.ops.axion, name).poll()


def test_check_scene_lists_problems_of_all_kinds_with_warnings(scene):
    """What cannot be solved, what cannot be read and what only is noticed; one kind hid the others."""
    first, second, third = body("first", (0, 0, 1)), body("second", (0, 0, 5)), body("third", (0, 0, 9))
    joints = [bpy.data.objects.new(name, None) for name in ("loose", "held")]
    for item in joints:
        scene.collection.objects.link(item)
        item.axion_joint.enabled = True
    joints[1].axion_joint.object1, joints[1].axion_joint.object2 = first, second
    first.axion.mass = math.nan
    outside = body("outside", (9, 0, 1))
    group = bpy.data.collections.new("Excluded")
    scene.collection.children.link(group)
    scene.collection.objects.unlink(outside)
    group.objects.link(outside)
    bpy.context.view_layer.layer_collection.children["Excluded"].exclude = True
    with pytest.raises(RuntimeError):
        bpy.ops.axion.check_scene()
    found = [(entry.name, entry.kind) for entry in bpy.context.window_manager.axion.findings]
    assert ("first", "ERROR") in found and ("loose", "ERROR") in found
    assert any(name == "outside" and kind != "ERROR" for name, kind in found)
    assert not any(name in ("held", "third") for name, _ in found)
    third.scale = (0, 1, 1)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError):
        bpy.ops.axion.check_scene()
    found = [(entry.name, entry.kind) for entry in bpy.context.window_manager.axion.findings]
    assert ("third", "ERROR") in found and any(name == "outside" and kind != "ERROR" for name, kind in found)
