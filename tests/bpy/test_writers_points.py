# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes into points: instances stand where the bodies are, at frames and between them, and nothing is left of them."""

import bpy
import numpy as np
import pytest
from axion.axion_blender.extract import extract_scene
from axion.axion_blender.writers import outputs, players, points
from axion.solver import SceneError, Trajectory, rotations
from blend_scenes import add, box, box_mesh, key
from call_count import calls_of

FRAMES = 5


def trajectory_of(items, seed=0):
    """Wild motion of objects from where they stand, as the solver would tell it."""
    rng = np.random.default_rng(seed)
    count = len(items)
    position = rng.uniform(-5, 5, (FRAMES + 1, count, 3))
    orientation = rotations.normalised(rng.normal(size=(FRAMES + 1, count, 4)))
    read = extract_scene(bpy.context).scene
    position[0] = [body.position for body in read.bodies]
    orientation[0] = [body.orientation for body in read.bodies]
    zero = np.zeros((FRAMES + 1, count, 3))
    times = np.arange(FRAMES + 1) / 24
    return Trajectory([item.name for item in items], times, position, orientation, zero, zero, [], {})


def instances(frame, subframe=0.0):
    """{prototype's mesh: [(place, rotation matrix, scale)]} of what is seen at a frame."""
    bpy.context.scene.frame_set(frame, subframe=subframe)
    found = []
    for entry in bpy.context.evaluated_depsgraph_get().object_instances:
        if entry.is_instance:
            found.append((entry.object.data.name, np.array(entry.matrix_world)))
        else:
            assert not points.holds(entry.object), "what is shown as a point must not be seen beside it"
    return found


def scene_of_all_sorts():
    first = box("Box", location=(1, 2, 3))
    first.scale = (2.0, 1.0, 0.5)
    twin = add("Twin", first.data, (-1, 0, 2), collision_shape="BOX")
    twin.rotation_euler = (0.4, -0.3, 2.0)
    mirrored = add("Mirrored", box_mesh((1, 2, 3)), (5, 5, 5), collision_shape="BOX")
    mirrored.scale = (1.0, -1.0, 1.0)
    bevelled = box("Bevelled", location=(0, 0, 9))
    bevelled.modifiers.new("Bevel", "BEVEL")
    child = box("Child", location=(1, 1, 1))
    child.parent = add("Parent", None, (0, 0, 4))
    bpy.context.view_layer.update()
    return [first, twin, mirrored, bevelled, child]


def bake(items, trajectory, output="POINTS"):
    scene = bpy.context.scene
    objects = {item.name: item for item in items}
    return outputs.write(trajectory, objects, 1, scene, bpy.context.view_layer, 1.0, output)


def wanted(items, trajectory, worlds, frame):
    start = np.array([np.eye(4)] * len(items))
    now = start.copy()
    for k in range(len(items)):
        for matrices, at in ((start, 0), (now, frame)):
            matrices[k, :3, :3] = rotations.matrices(trajectory.orientation[at, k])
            matrices[k, :3, 3] = trajectory.position[at, k]
    return now @ np.linalg.inv(start) @ worlds


def marks(item):
    """Custom properties of an object; to Blender 4.5 its property groups are some of them, once they were read."""
    return set(item.keys()) - {"axion", "axion_joint"}


def fingerprint():
    """All that a bake may change in the file, as text."""
    lines = []
    for item in sorted(bpy.data.objects, key=lambda item: item.name):
        lines.append((item.name, item.hide_viewport, item.hide_render, sorted(marks(item)), item.users))
        lines.append(tuple(tuple(row) for row in item.matrix_basis))
    for group in ("meshes", "node_groups", "collections", "actions", "materials"):
        lines.append((group, sorted((thing.name, thing.users) for thing in getattr(bpy.data, group))))
    return lines


def test_instances_stand_where_the_bodies_are():
    items = scene_of_all_sorts()
    worlds = np.array([np.array(item.matrix_world) for item in items])
    trajectory = trajectory_of(items)
    assert bake(items, trajectory) == []
    assert not any(item.visible_get() for item in items)
    for frame in (0, 3, FRAMES):
        found = instances(1 + frame)
        assert len(found) == len(items)
        for (mesh, matrix), item, want in zip(found, items, wanted(items, trajectory, worlds, frame), strict=True):
            assert np.allclose(matrix, want, atol=2e-5), item.name
            assert mesh == item.data.name or item.name == "Bevelled"
    assert all(item.hide_viewport and item.hide_render for item in items)
    prototypes = bpy.data.collections["Axion Points Scene Prototypes"].objects
    assert len(prototypes) == 4, "two boxes share one mesh and one prototype"


def test_before_after_and_between_the_frames():
    items = scene_of_all_sorts()
    trajectory = trajectory_of(items)
    bake(items, trajectory)
    at = {frame: np.array([m[:3, 3] for _, m in instances(frame)]) for frame in (-3, 1, 2, 3, 6, 90)}
    assert np.array_equal(at[-3], at[1]) and np.array_equal(at[90], at[6])
    half = np.array([matrix[:3, 3] for _, matrix in instances(2, 0.25)])
    assert np.allclose(half, 0.75 * at[2] + 0.25 * at[3], atol=1e-5)
    for _, matrix in instances(2, 0.25):
        turn = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
        assert np.allclose(turn.T @ turn, np.eye(3), atol=1e-5)


def test_clear_leaves_no_trace():
    items = scene_of_all_sorts()
    items[0].hide_render = True
    before = fingerprint()
    bake(items, trajectory_of(items))
    assert fingerprint() != before
    assert outputs.clear(bpy.context.scene) == len(items)
    assert fingerprint() == before
    assert all(item.visible_get() for item in items)
    assert outputs.clear(bpy.context.scene) == 0


def test_each_output_replaces_the_other():
    items = scene_of_all_sorts()
    items[0].hide_render = True
    key(items[0], "location", [(1, (1, 2, 3)), (25, (3, 2, 1))])
    bpy.context.scene.frame_set(1)
    before = fingerprint()
    trajectory = trajectory_of(items)
    bake(items, trajectory)
    first = fingerprint()
    bake(items, trajectory)
    assert fingerprint() == first, "a second bake replaces the first"
    bake(items, trajectory, "KEYFRAMES")
    assert not instances(2) and not items[1].hide_viewport and items[0].hide_render
    bake(items, trajectory)
    assert instances(2) and not any("axion_bake" in item for item in items)
    bpy.context.scene.frame_set(1)
    outputs.clear(bpy.context.scene)
    assert fingerprint() == before


def test_points_survive_saving_and_play_without_the_extension(tmp_path):
    items = scene_of_all_sorts()
    trajectory = trajectory_of(items)
    bake(items, trajectory)
    place = np.array([matrix for _, matrix in instances(3)])
    path = str(tmp_path / "points.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert np.array_equal(place, np.array([matrix for _, matrix in instances(3)]))
    assert points.clear(bpy.context.scene) == len(place)
    assert not bpy.data.node_groups


def test_what_cannot_be_shown_is_named_before_anything_changes():
    items = scene_of_all_sorts()
    trajectory = trajectory_of(items)
    before = fingerprint()
    trajectory.position[3, 1] = np.nan
    with pytest.raises(SceneError, match="Twin"):
        bake(items, trajectory)
    assert fingerprint() == before


def test_children_that_stay_behind_are_named():
    items = scene_of_all_sorts()
    add("Lamp").parent = items[1]
    assert any("Lamp" in sentence and "Twin" in sentence for sentence in bake(items, trajectory_of(items)))


class Looker(bpy.types.RenderEngine):
    """Notes what a render is given to draw."""

    bl_idname, bl_label = "AXION_TEST_LOOKER", "Looker"
    seen = ()

    def render(self, depsgraph):
        Looker.seen = places(depsgraph)


def places(depsgraph):
    """Where the bodies stand that are drawn, along X, in order."""
    bodies = (one for one in depsgraph.object_instances if one.is_instance or one.object.name.startswith("Box"))
    return sorted(round(one.matrix_world.translation.x, 3) for one in bodies)


def drawn():
    """Places of the bodies in a render, and in the viewport."""
    bpy.ops.render.render()
    return Looker.seen, places(bpy.context.evaluated_depsgraph_get())


@pytest.fixture
def looker():
    bpy.utils.register_class(Looker)
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.render.engine, scene.render.resolution_x, scene.render.resolution_y = Looker.bl_idname, 8, 8
    yield scene
    bpy.utils.unregister_class(Looker)


def test_bodies_are_hidden_from_render_and_viewport_as_keyed_ones_are(looker):
    data = box_mesh()
    items = [add(f"Box {k}", data, (k, 0, 0), collision_shape="BOX") for k in range(6)]
    items[1].hide_render = items[2].hide_viewport = True
    groups = [bpy.data.collections.new(name) for name in ("No Render", "No Viewport", "Inner")]
    for group, above, item in zip(groups, (looker, looker, groups[0]), items[3:], strict=True):
        getattr(above, "collection", above).children.link(group)
        looker.collection.objects.unlink(item)
        group.objects.link(item)
    groups[0].hide_render = groups[1].hide_viewport = True
    expected = [0, 2, 4], [0, 1, 3, 5]
    assert drawn() == expected, "Blender itself"
    trajectory = trajectory_of(items)
    trajectory.position[:] = trajectory.position[0]
    for _ in range(2):  # the second time they are hidden already
        bake(items, trajectory)
        assert drawn() == expected
    bake(items, trajectory, "KEYFRAMES")
    assert drawn() == expected


def test_what_rays_see_is_kept_apart():
    data = box_mesh()
    items = [add(f"Box {k}", data, (k, 0, 0), collision_shape="BOX") for k in range(3)]
    items[1].visible_camera = False
    bake(items, trajectory_of(items))
    bpy.context.scene.frame_set(1)
    made = bpy.context.evaluated_depsgraph_get().object_instances
    assert [one.object.visible_camera for one in made if one.is_instance] == [True, False, True]


def test_instances_of_what_became_a_point_are_named():
    items = scene_of_all_sorts()
    group = bpy.data.collections.new("Group")
    group.objects.link(items[0])
    empty = add("Copy")
    empty.instance_type, empty.instance_collection = "COLLECTION", group
    assert any("Copy" in sentence and "Box" in sentence for sentence in bake(items, trajectory_of(items)))


def test_a_frame_of_thousands_of_points_costs_what_one_of_hundreds_does():
    def calls_with(count):
        data = box_mesh()
        items = [add(f"{count} {k:04}", data, collision_shape="BOX") for k in range(count)]
        bake(items, trajectory_of(items))
        bpy.context.scene.frame_set(1)
        assert not any(item.animation_data and item.animation_data.action for item in items)
        _, calls = calls_of(lambda: bpy.context.scene.frame_set(2))
        assert len(instances(2)) == count
        for item in items:
            bpy.data.objects.remove(item)
        return calls

    few = calls_with(200)
    assert 0 < calls_with(2000) < 1.1 * few


def test_what_was_done_to_the_object_stays_over_bakes():
    """Its name, collection, modifiers, materials, place and properties stay; it was deleted and made anew."""
    items = scene_of_all_sorts()
    scene, trajectory = bpy.context.scene, trajectory_of(items)
    bake(items, trajectory)
    (player,) = players.shown(scene)
    effects = bpy.data.collections.new("Effects")
    scene.collection.children.link(effects)
    scene.collection.objects.unlink(player)
    effects.objects.link(player)
    player.name, player.location, player["mine"], player.pass_index = "Debris", (0, 0, 5), 1, 7
    player.modifiers.new("Mine", "SUBSURF")
    player.data.materials.append(bpy.data.materials.new("Rust"))
    copy = player.copy()
    copy.data, copy.name = player.data.copy(), "Take 1"
    effects.objects.link(copy)
    seen = len(instances(3))
    bake(items, trajectory_of(items, seed=1))
    assert players.shown(scene) == [player] and player.name == "Debris" and list(player.users_collection) == [effects]
    assert [modifier.name for modifier in player.modifiers] == ["Axion Points", "Mine"]
    assert tuple(player.location) == (0, 0, 5) and player["mine"] == 1 and player.pass_index == 7
    assert [material.name for material in player.data.materials] == ["Rust"]
    assert len(instances(3)) == seen and copy.name == "Take 1" and players.OWNER not in copy
    places = sorted(round(matrix[0, 3], 3) for _, matrix in instances(3))
    outputs.clear(scene)
    assert effects.objects[:] == [copy], "a copy with a mesh of its own stays, and plays what it was copied from"
    assert len(instances(3)) == seen // 2
    assert {round(matrix[0, 3], 3) for _, matrix in instances(3)} <= set(places)


def test_a_player_without_its_modifier_gets_a_new_one():
    items = scene_of_all_sorts()
    trajectory = trajectory_of(items)
    bake(items, trajectory)
    (player,) = players.shown(bpy.context.scene)
    player.modifiers.clear()
    player.modifiers.new("Mine", "SUBSURF")
    bake(items, trajectory)
    assert [modifier.name for modifier in player.modifiers] == ["Axion Points", "Mine"]
    assert len(instances(3)) == len(items)
