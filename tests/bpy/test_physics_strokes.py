# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlays draw, without a window: forces of the last bake at the current frame, joints where they are."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from axion.axion_blender import last_bake, physics_strokes, recording, strokes
from axion.axion_blender.ui import anchor_gizmos, overlays
from axion.solver import ForceHistory, FrameForces, SceneError
from blend_scenes import add, box, joint, plane
from call_count import calls_of
from mathutils import Vector


@pytest.fixture
def baked(empty_file):
    """A box at rest on a plane and a pendulum, six frames."""
    empty_file.frame_end = 7
    plane(size=4.0)
    box("Box", (0.2, 0.2, 0.2), (0, 0, 0.1), mass=2.0)
    box("Bob", (0.1, 0.1, 0.1), (1, 0, 1), mass=1.0)
    limits = {"use_limit_ang_z": True, "limit_ang_z_lower": -1.0, "limit_ang_z_upper": 1.0}
    joint("Hinge", "HINGE", None, bpy.data.objects["Bob"], (1, 0, 1.5), **limits)
    assert bpy.ops.axion.bake() == {"FINISHED"}
    return empty_file


def arrays(scene):
    return physics_strokes.build(scene, bpy.context.view_layer).arrays()


def only(scene, *names):
    settings = scene.axion.overlays
    for name in ("joints", "limits", "contacts", "contact_forces", "joint_forces", "worst"):
        setattr(settings, f"show_{name}", name in names)
    return settings


def test_contact_forces_stand_on_the_contacts_and_point_up(baked):
    only(baked, "contact_forces")
    baked.frame_set(7)
    ends, _ = arrays(baked)
    shafts = ends.reshape(-1, 2, 3)[:4]
    np.testing.assert_allclose(np.abs(shafts[:, 0]), np.tile([0.1, 0.1, 0.0], (4, 1)), atol=1e-3)
    up = shafts[:, 1] - shafts[:, 0]
    assert (np.linalg.norm(up[:, :2], axis=1) < 0.05 * np.abs(up[:, 2])).all()
    weight = np.abs(up[:, 2]).sum() / last_bake.forces(baked).arrow_scales()[0]
    assert weight == pytest.approx(2.0 * 9.81, rel=0.02)


def test_nothing_of_the_bake_is_drawn_outside_of_it(baked):
    only(baked, "contacts", "contact_forces", "joint_forces", "worst")
    for frame in (1, 8):
        baked.frame_set(frame)
        assert len(arrays(baked)[0]) == 0
    baked.frame_set(3)
    assert len(arrays(baked)[0]) > 0


def test_frames_and_limits_are_drawn_before_the_bake_too(empty_file):
    body = box("Bob", (0.1, 0.1, 0.1), (1, 0, 1), mass=1.0)
    item = joint("Hinge", "HINGE", None, body, (1, 0, 1.5), use_limit_ang_z=True)
    item.rotation_euler = (0.5, 0, 0)
    bpy.context.view_layer.update()
    settings = only(empty_file, "joints")
    ends = arrays(empty_file)[0].reshape(-1, 2, 3)
    directions = (ends[:, 1] - ends[:, 0]) / settings.size
    np.testing.assert_allclose(directions, np.array(item.matrix_world)[:3, :3].T, atol=1e-6)
    only(empty_file, "limits")
    ends = arrays(empty_file)[0].reshape(-1, 2, 3)
    assert np.abs(np.linalg.norm(ends[:24] - (1, 0, 1.5), axis=2) - settings.size).max() < 1e-6
    item.axion_joint.use_limit_ang_z = False
    assert len(arrays(empty_file)[0]) == 0


def test_selected_only(baked):
    baked.frame_set(5)
    only(baked, "contacts", "joints").selected_only = True
    for item in bpy.data.objects:
        item.select_set(False)
    assert len(arrays(baked)[0]) == 0
    bpy.data.objects["Bob"].select_set(True)
    assert len(arrays(baked)[0]) == 2 * 3  # the joint's axes
    bpy.data.objects["Box"].select_set(True)
    assert len(arrays(baked)[0]) == 2 * (3 + 4 * 3)


def test_the_recording_is_saved_with_the_file_and_forgotten_with_the_bake(baked, tmp_path):
    before = last_bake.text_of(baked)[last_bake.FORCES]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    scene = bpy.context.scene
    assert last_bake.text_of(scene)[last_bake.FORCES] == before
    assert set(last_bake.forces(scene).bodies) == {"Bob", "Box", "Ground"}
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert last_bake.forces(scene) is None and last_bake.stamp(scene) == ""


def test_a_second_bake_replaces_the_recording(baked):
    first = last_bake.forces(baked)
    bpy.data.objects["Box"].axion.mass = 4.0
    assert bpy.ops.axion.bake() == {"FINISHED"}
    second = last_bake.forces(baked)
    assert second is not first and len(second.history) == len(first.history)
    up = [np.abs(recorded.frame(7).contact_force[:, 2]).sum() for recorded in (first, second)]
    assert up[1] == pytest.approx(2.0 * up[0], rel=0.01)


def test_a_bake_without_forces_has_none(baked):
    baked.axion.record_forces = False
    stamp = last_bake.stamp(baked)
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert last_bake.forces(baked) is None and last_bake.stamp(baked) != stamp


def test_a_damaged_recording_is_told(baked):
    text = last_bake.text_of(baked)
    text[last_bake.FORCES], text[last_bake.STAMP] = b"nonsense", "other"
    with pytest.raises(SceneError, match="bake again"):
        arrays(baked)


def test_errors_are_red(baked):
    recorded = last_bake.forces(baked)
    history = recorded.history
    history.joint_error[3], history.contact_gap[:] = 1.0, 0.0
    first, end = history.contact_offset[3:5]
    history.contact_gap[first:end] = -1.0
    only(baked, "worst")
    baked.frame_set(5)
    ends, colors = arrays(baked)
    assert len(ends) == 2 * (3 + 4 * 3 + 1)
    np.testing.assert_allclose(colors, np.tile(strokes.BAD, (len(colors), 1)), rtol=1e-6)
    baked.frame_set(4)
    assert len(arrays(baked)[0]) == 0


def test_no_handler_in_the_background():
    assert bpy.app.background and overlays._handle is None


def test_lines_of_a_thousand_bodies_cost_as_many_calls_as_there_are(empty_file):
    few, many = (_calls_for(count, empty_file) for count in (100, 1000))
    assert 0 < many < 11 * few


def _calls_for(count, empty_file):
    """Calls that the lines of ``count`` joints and four times as many contacts take."""
    random = np.random.default_rng(0)
    for k in range(len(empty_file.objects), count):
        item = add(f"Joint {k}")
        item.axion_joint.enabled, item.axion_joint.type, item.axion_joint.use_limit_ang_z = True, "HINGE", True
    contacts = 4 * count
    names = [f"Joint {k}" for k in range(count)]
    one = FrameForces(
        names, random.integers(0, count, (contacts, 2)), *(random.normal(size=(contacts, 3)) for _ in range(3)),
        random.normal(size=contacts), random.normal(size=(count, 2, 3)),
        np.tile([0.0, 0, 0, 1], (count, 2, 1)), *(random.normal(size=(count, 3)) for _ in range(2)),
        random.random(count), random.random(count),
    )  # fmt: skip
    made = recording.Recording(ForceHistory.of([one]), names, 1, 1e-4, 1.0)
    text = bpy.data.texts.new("report")
    text[last_bake.SUMMARY], text[last_bake.FORCES] = empty_file, recording.pack(made)
    text[last_bake.STAMP] = f"of {count}"
    empty_file.frame_set(2)
    last_bake.forces(empty_file)
    (ends, _), calls = calls_of(lambda: arrays(empty_file))
    assert len(ends) > 2 * 5 * contacts
    bpy.data.texts.remove(text)
    return calls


def test_a_limit_is_set_by_the_operator_and_stops_at_the_other_end(baked, capfd):
    item = bpy.data.objects["Hinge"]
    bpy.context.view_layer.objects.active = item
    assert bpy.ops.axion.drag_limit(limit="limit_ang_z_upper", value=0.5) == {"FINISHED"}
    assert item.axion_joint.limit_ang_z_upper == pytest.approx(0.5)
    assert bpy.ops.axion.drag_limit(limit="limit_ang_z_upper", value=-3.0) == {"FINISHED"}
    assert item.axion_joint.limit_ang_z_upper == pytest.approx(-1.0)
    with pytest.raises(RuntimeError, match="'type' is no limit of a joint"):
        bpy.ops.axion.drag_limit(limit="type", value=1.0)
    bpy.context.view_layer.objects.active = bpy.data.objects["Box"]
    assert not bpy.ops.axion.drag_limit.poll()


def test_the_handles_stand_where_the_bake_carried_the_joint(baked):
    item = bpy.data.objects["Hinge"]
    baked.frame_set(5)
    position, _ = physics_strokes.pose_now(baked, item)
    np.testing.assert_allclose(position, (1, 0, 1.5), atol=1e-4)
    item.location.x = 3.0
    bpy.context.view_layer.update()
    np.testing.assert_allclose(physics_strokes.pose_now(baked, item)[0], (1, 0, 1.5), atol=1e-4)
    baked.frame_set(1)  # the start is not recorded
    np.testing.assert_allclose(physics_strokes.pose_now(baked, item)[0], (3, 0, 1.5), atol=1e-4)


def test_a_rope_is_a_line_from_anchor_to_anchor(empty_file):
    body = box("Bob", (0.1, 0.1, 0.1), (1, 0, 1), mass=1.0)
    joint("Rope", "ROPE", None, body, (0, 0, 3), anchor2=(0.5, 0, 0))
    bpy.context.view_layer.update()
    only(empty_file, "joints")
    ends, _ = arrays(empty_file)
    np.testing.assert_allclose(ends[:2], [(0, 0, 3), (1.5, 0, 1)], atol=1e-6)
    # A cross at either end: three lines through it, one along each axis.
    crosses = ends[2:14].reshape(3, 2, 2, 3)
    np.testing.assert_allclose(crosses.mean(axis=2), np.broadcast_to([(0, 0, 3), (1.5, 0, 1)], (3, 2, 3)), atol=1e-6)
    np.testing.assert_allclose(np.ptp(crosses, axis=2), 0.08 * np.eye(3)[:, None].repeat(2, axis=1), atol=1e-6)


def test_a_rope_that_was_baked_is_drawn_between_its_bodies(empty_file):
    empty_file.frame_end = 4
    first, second = box("A", (0.1, 0.1, 0.1), (0, 0, 1), mass=1.0), box("B", (0.1, 0.1, 0.1), (1, 0, 1), mass=1.0)
    joint("Rod", "DISTANCE", first, second, (5, 5, 5), anchor1=(0.05, 0, 0), anchor2=(-0.05, 0, 0))
    assert bpy.ops.axion.bake() == {"FINISHED"}
    only(empty_file, "joints")
    empty_file.frame_set(4)
    ends = arrays(empty_file)[0]
    want = [first.matrix_world @ Vector((0.05, 0, 0)), second.matrix_world @ Vector((-0.05, 0, 0))]
    assert want[0].z < 0.95, "it fell"
    np.testing.assert_allclose(ends[:2], want, atol=1e-4)


def test_an_anchor_is_set_by_the_operator(empty_file):
    body = box("Bob", (0.1, 0.1, 0.1), (1, 0, 1), mass=1.0)
    body.scale, body.rotation_euler = (2, 2, 2), (0, 0, np.pi / 2)
    item = joint("Rope", "ROPE", None, body, (0, 0, 3))
    bpy.context.view_layer.objects.active = item
    bpy.context.view_layer.update()
    assert bpy.ops.axion.drag_anchor(end="SECOND", location=(1, 0.5, 1)) == {"FINISHED"}
    np.testing.assert_allclose(item.axion_joint.anchor2, (0.25, 0, 0), atol=1e-6)
    np.testing.assert_allclose(physics_strokes.anchors(item)[1], (1, 0.5, 1), atol=1e-6)
    with pytest.raises(RuntimeError, match="Rope has no object 1: move the joint itself"):
        bpy.ops.axion.drag_anchor(end="FIRST", location=(0, 0, 0))
    body.scale = (0, 1, 1)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="Bob has a scale of 0"):
        bpy.ops.axion.drag_anchor(end="SECOND", location=(0, 0, 0))
    item.axion_joint.type = "HINGE"
    assert not bpy.ops.axion.drag_anchor.poll()


class Gizmos(list):
    """Stands in for what Blender makes handles of in a window."""

    def new(self, kind):
        asked = SimpleNamespace(name=None, end=None)

        def target(name):
            asked.name = name
            return asked

        self.append(SimpleNamespace(kind=kind, asked=asked, target_set_operator=target))
        return self[-1]


def test_each_anchor_on_an_object_has_a_handle(empty_file):
    body = box("Bob", (0.1, 0.1, 0.1), (1, 0, 1), mass=1.0)
    item = joint("Rope", "ROPE", None, body, (0, 0, 3), anchor2=(0.5, 0, 0))
    bpy.context.view_layer.update()
    group, context = SimpleNamespace(gizmos=Gizmos()), SimpleNamespace(object=item, scene=empty_file)
    anchor_gizmos.AXION_GGT_anchors.setup(group, context)
    anchor_gizmos.AXION_GGT_anchors.draw_prepare(group, context)
    assert [dot.asked.name for dot in group.gizmos] == ["axion.drag_anchor"] * 2
    assert [(dot.asked.end, dot.hide) for dot in group.gizmos] == [("FIRST", True), ("SECOND", False)]
    np.testing.assert_allclose(group.gizmos[1].matrix_basis.translation, (1.5, 0, 1), atol=1e-6)


def test_forces_come_out_of_the_cache_as_well(baked, capfd):
    first = last_bake.forces(baked).history
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert "frames are in the cache" in capfd.readouterr().out
    second = last_bake.forces(baked).history
    assert second is not first
    for name, values in first.tree().items():
        np.testing.assert_array_equal(getattr(second, name), values)
