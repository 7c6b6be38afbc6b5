# SPDX-License-Identifier: GPL-3.0-or-later
"""From Bake to the outputs: what is written where, Apply, files for other programs, and Clear Bake after each."""

import shutil

import axion
import bpy
import numpy as np
import pytest
from axion.axion_blender import cache_place, kept_motion
from axion.axion_blender.writers import players
from axion.solver import Trajectory
from blend_scenes import box, joint, key, plane
from test_writers_points import fingerprint, instances, marks


@pytest.fixture
def scene():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    axion.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 7, 24
    scene.axion.device = "CPU"
    plane()
    box("Box", location=(0, 0, 3))
    tilted = box("Tilted", location=(2, 0, 3), angular_velocity=(30.0, 20.0, 10.0))
    tilted.rotation_mode = "ZYX"
    key(tilted, "show_name", [(1, False)], "CONSTANT")
    joint("Hinge", "HINGE", bpy.data.objects["Box"], bpy.data.objects["Ground"])
    bpy.data.objects["Hinge"].axion_joint.enabled = False
    return scene


def bake(output="KEYFRAMES", rotation="KEEP"):
    own = bpy.context.scene.axion
    own.output, own.output_rotation = output, rotation
    assert bpy.ops.axion.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(1)


def motion(name, frames=range(1, 8)):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        found.append(np.array(bpy.data.objects[name].evaluated_get(depsgraph).matrix_world))
    bpy.context.scene.frame_set(1)
    return np.array(found)


def test_points_show_what_keyframes_show(scene):
    before = fingerprint()
    bake()
    keyed = {name: motion(name) for name in ("Box", "Tilted")}
    bake("POINTS")
    for frame in range(1, 8):
        shown = [matrix for _, matrix in instances(frame)]
        for matrix, name in zip(shown, ("Box", "Tilted"), strict=True):
            assert np.allclose(matrix, keyed[name][frame - 1], atol=1e-5)
    scene.frame_set(1)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    left = fingerprint()
    assert left == before


def keyed_frames(name):
    """Frames of the keys of an object's location, which are all linear."""
    curve = next(curve for curve in curves(bpy.data.objects[name]) if curve.data_path == "location")
    assert {key.interpolation for key in curve.keyframe_points} == {"LINEAR"}
    return np.array([key.co[0] for key in curve.keyframe_points])


def at_quarters(name):
    """(25, 4, 4): world matrices of an object, or of its point, at every quarter of the frames 1 to 7."""
    number, found = ("Box", "Tilted").index(name), []
    for quarter in range(25):
        whole, part = divmod(quarter, 4)
        shown = [matrix for _, matrix in instances(1 + whole, part / 4)] if points_shown() else []
        bpy.context.scene.frame_set(1 + whole, subframe=part / 4)
        item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(shown[number] if shown else np.array(item.matrix_world))
    bpy.context.scene.frame_set(1)
    return np.array(found)


def points_shown():
    return any(players.OWNER in item for item in bpy.context.scene.objects)


def test_keys_between_frames_are_states_of_the_solver(scene, tmp_path):
    scene.axion.keys_per_frame = 4
    before = fingerprint()
    bake()
    assert np.allclose(keyed_frames("Tilted"), 1 + np.arange(25) / 4)
    path = str(tmp_path / "motion.npz")
    assert bpy.ops.axion.export_motion(filepath=path) == {"FINISHED"}
    kept = Trajectory.load(path)
    assert kept.states_per_frame == 4 and len(kept.reports) == 6
    places = kept.every_state()[0][:, kept.index("Box")]
    keyed = at_quarters("Box")
    assert np.allclose(keyed[:, :3, 3], places, atol=1e-5)
    time = np.arange(25) / 96  # free fall, which keys at whole frames alone would show as a chain of straight lines
    assert np.allclose(keyed[:, 2, 3], 3.0 - 0.5 * 9.81 * time**2, atol=1e-5)
    turned = at_quarters("Tilted")
    bake("POINTS")
    assert np.allclose(at_quarters("Box"), keyed, atol=1e-5)
    assert np.allclose(at_quarters("Tilted"), turned, atol=1e-5)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert fingerprint() == before


def test_a_body_on_a_parent_that_moves_is_keyed_between_frames(scene):
    cart, item = bpy.data.objects.new("Cart", None), bpy.data.objects["Box"]
    scene.collection.objects.link(cart)
    item.parent = cart
    scene.axion.keys_per_frame = 4
    bake()
    free = at_quarters("Box")
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    key(cart, "location", [(1, (0, 0, 0)), (3, (4, 0, 0)), (7, (0, 0, 8))], "LINEAR")
    bake()
    assert len(keyed_frames("Box")) == 25
    assert np.allclose(at_quarters("Box"), free, atol=1e-5), "the cart's motion does not carry the box along"


def test_rotation_keeps_its_mode_without_jumps_or_becomes_quaternions(scene):
    item = bpy.data.objects["Tilted"]
    bake()
    assert item.rotation_mode == "ZYX"
    angles = []
    for frame in range(1, 8):
        scene.frame_set(frame)
        angles.append(item.rotation_euler[:])
    assert np.abs(np.diff(angles, axis=0)).max() < 3.0, "37 rad/s, 1.6 rad a frame"
    matrices = motion("Tilted")
    bake(rotation="QUATERNION")
    assert item.rotation_mode == "QUATERNION" and np.allclose(motion("Tilted"), matrices, atol=1e-5)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"} and item.rotation_mode == "ZYX"


@pytest.mark.parametrize("output", ["KEYFRAMES", "POINTS"])
def test_apply_keeps_the_motion_and_drops_the_setup(scene, output):
    key(bpy.data.objects["Box"], "location", [(1, (0, 0, 3)), (7, (5, 0, 3))])
    bake(output)
    before = motion("Box") if output == "KEYFRAMES" else [matrix for _, matrix in instances(5)]
    scene.frame_set(1)
    assert bpy.ops.axion.apply_bake() == {"FINISHED"}
    after = motion("Box") if output == "KEYFRAMES" else [matrix for _, matrix in instances(5)]
    assert np.array_equal(before, after)
    for item in bpy.data.objects:
        assert not item.axion.enabled and not item.axion_joint.enabled
        assert not marks(item), item.name
        for curve in curves(item):
            assert curve.data_path == "show_name" or curve.group.name == "Object Transforms"
    assert scene.axion.output == "KEYFRAMES", "all settings are as in a new scene"
    assert not bpy.data.texts and "axion_bake_summary" not in scene
    assert bpy.ops.axion.clear_bake() == {"CANCELLED"} and bpy.ops.axion.apply_bake() == {"CANCELLED"}


def test_apply_keeps_keys_of_the_scale_that_share_their_group_with_those_that_go(scene):
    for name in ("Box", "Tilted"):
        item = bpy.data.objects[name]
        for path in ("location", "rotation_euler", "scale"):  # as the key I sets them
            item.keyframe_insert(path, frame=1, group="Object Transforms")
    bake()
    baked = {name: motion(name) for name in ("Box", "Tilted")}
    assert bpy.ops.axion.apply_bake() == {"FINISHED"}
    for name, matrices in baked.items():
        own = curves(bpy.data.objects[name])
        assert np.array_equal(motion(name), matrices)
        groups = {curve.data_path: curve.group.name for curve in own if curve.data_path != "show_name"}
        assert groups == dict.fromkeys(("location", "rotation_euler", "scale"), "Object Transforms")
        assert not marks(bpy.data.objects[name])


def test_apply_changes_nothing_where_an_action_was_made_of_another_file(scene, tmp_path):
    bake()
    item = bpy.data.objects["Box"]
    path = str(tmp_path / "actions.blend")
    bpy.data.libraries.write(path, {item.animation_data.action}, fake_user=True)
    with bpy.data.libraries.load(path, link=True) as (held, wanted):
        wanted.actions = held.actions
    slot = item.animation_data.action_slot.identifier
    item.animation_data.action = wanted.actions[0]
    item.animation_data.action_slot = wanted.actions[0].slots[slot]
    with pytest.raises(RuntimeError, match="Box: its action .* is linked from another file"):
        bpy.ops.axion.apply_bake()
    for name in ("Box", "Tilted"):
        assert bpy.data.objects[name].axion.enabled and "axion_bake" in bpy.data.objects[name]


def curves(item):
    data = item.animation_data
    if data is None or data.action is None:
        return []
    return list(data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves)


def test_a_bake_after_apply_is_a_new_one(scene):
    bake()
    bpy.ops.axion.apply_bake()
    kept = motion("Box")
    action = bpy.data.objects["Box"].animation_data.action
    other = box("Other", location=(5, 5, 5))
    bake()
    assert other.animation_data.action != action
    bpy.ops.axion.clear_bake()
    assert np.array_equal(motion("Box"), kept)


def delete(*names):
    for name in names:
        bpy.data.objects.remove(bpy.data.objects[name])


def test_points_whose_bodies_are_gone_are_applied_with_a_word_and_cleared(scene, capfd):
    bake("POINTS")
    delete("Box", "Tilted")
    assert len(instances(4)) == 2
    bpy.ops.ed.undo_push()
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert not players.shown(scene) and not bpy.data.node_groups and "Axion Points Scene" not in bpy.data.meshes
    assert bpy.ops.axion.clear_bake() == {"CANCELLED"}
    box("Box", location=(0, 0, 3))
    bake("POINTS")
    delete("Box")
    capfd.readouterr()
    assert bpy.ops.axion.apply_bake() == {"FINISHED"}
    assert "The bodies of Axion Points Scene were deleted: it stays as an ordinary object" in capfd.readouterr().out
    assert len(instances(4)) == 1 and not players.shown(scene)
    assert bpy.ops.axion.apply_bake() == {"CANCELLED"}


def test_apply_counts_what_kept_its_motion(scene, capfd):
    bake()
    action = bpy.data.objects["Box"].animation_data.action
    assert action != bpy.data.objects["Tilted"].animation_data.action
    bpy.data.actions.remove(action)
    capfd.readouterr()
    assert bpy.ops.axion.apply_bake() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Motion of 1 object applied" in said and "The motion of Box was deleted" in said
    delete("Box", "Tilted")
    box("Box", location=(0, 0, 3))
    bake()
    bpy.data.actions.remove(bpy.data.objects["Box"].animation_data.action)
    with pytest.raises(RuntimeError, match="Box has no motion any more, it was deleted: Clear Bake"):
        bpy.ops.axion.apply_bake()
    assert bpy.data.objects["Box"].axion.enabled, "nothing was changed"
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}


def test_trajectory_goes_to_a_file(scene, tmp_path):
    path = str(tmp_path / "motion.npz")
    with pytest.raises(RuntimeError, match="holds no bake"):
        bpy.ops.axion.export_motion(filepath=path)
    bake()
    assert bpy.ops.axion.export_motion(filepath=path) == {"FINISHED"}
    kept = Trajectory.load(path)
    assert kept.names == ["Ground", "Box", "Tilted"] and kept.position.shape == (7, 3, 3)
    assert np.allclose(kept.position[:, 1], motion("Box")[:, :3, 3], atol=1e-5)
    bpy.ops.axion.clear_bake()
    with pytest.raises(RuntimeError, match="holds no bake"):
        bpy.ops.axion.export_motion(filepath=path)
    with pytest.raises(RuntimeError, match="no file"):
        bpy.ops.axion.export_motion()


def reopened(path):
    """The file, as it is after the session that baked it."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    kept_motion.forget(bpy.context.scene)


def test_a_file_that_was_opened_again_has_its_motion_in_the_cache(scene, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene = bpy.context.scene
    scene.axion.keys_per_frame = 2
    bpy.data.objects["Hinge"].axion_joint.enabled = True
    bpy.data.objects["Hinge"].axion_joint.use_breaking = True
    bpy.data.objects["Hinge"].axion_joint.break_force = 1.0
    bake()
    bpy.ops.axion.export_motion(filepath=str(tmp_path / "first.npz"))
    first = Trajectory.load(tmp_path / "first.npz")
    assert list(first.broken_joints) == ["Hinge"] and first.states_per_frame == 2
    reopened(tmp_path / "shot.blend")
    assert bpy.ops.axion.export_motion(filepath=str(tmp_path / "again.npz")) == {"FINISHED"}
    again = Trajectory.load(tmp_path / "again.npz")
    assert (again.names, again.reports, again.broken_joints) == (first.names, first.reports, first.broken_joints)
    for name in ("times", "position", "orientation", "linear_velocity", "angular_velocity", "between_position"):
        assert np.array_equal(getattr(again, name), getattr(first, name)), name
    assert len(again.forces) == len(first.forces) == 6


def test_motion_that_nobody_kept_is_refused(scene, tmp_path):
    path = str(tmp_path / "motion.npz")
    scene.axion.use_cache = False
    bake()
    reopened(tmp_path / "shot.blend")
    with pytest.raises(RuntimeError, match="without a cache, or that was freed, .* bake again"):
        bpy.ops.axion.export_motion(filepath=path)
    bpy.context.scene.axion.use_cache = True
    bake()
    folder = cache_place.existing(bpy.context.scene)
    shutil.copytree(folder, tmp_path / "kept")
    box("Another", location=(-3, 0, 3))
    bpy.ops.axion.clear_bake()
    bake()
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "kept", folder)
    reopened(tmp_path / "shot.blend")
    with pytest.raises(RuntimeError, match="holds another bake"):
        bpy.ops.axion.export_motion(filepath=path)
    next(folder.glob("*.frames")).write_bytes(b"spoilt")
    with pytest.raises(RuntimeError, match="cannot be read from its cache .*bake again"):
        bpy.ops.axion.export_motion(filepath=path)
