# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves by itself becomes a path with the right velocity; what stands still is static; what bends is refused."""

import math

import bpy
import numpy as np
import pytest
from axion.axion_blender import conventions
from axion.axion_blender.extract import motion, reshaping
from axion.solver import SceneError
from blend_scenes import add, body, box, box_mesh, extract, key

SECOND = 1.0  # the scenes have 24 frames at 24 fps


def lift(item, height=6.0):
    """Constant velocity upwards: ``height`` in the scene's one second."""
    key(item, "location", [(1, (0, 0, 0)), (25, (0, 0, height))])


def keyframes(item):
    lift(item)


def driver(item):
    curve = item.driver_add("location", 2)
    curve.driver.expression = "(frame - 1) * 0.25"


def parent(item):
    item.parent = add("Parent")
    lift(item.parent)


def grandparent(item):
    item.parent = add("Parent")
    item.parent.parent = add("Grandparent")
    lift(item.parent.parent)


def constraint(item):
    target = add("Target")
    lift(target)
    item.constraints.new("COPY_LOCATION").target = target


def bone(item):
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    made = armature.data.edit_bones.new("Bone")
    made.tail = 0, 0, 1
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = armature.pose.bones["Bone"]
    for frame, height in ((1, 0.0), (25, 6.0)):
        pose.location = 0, height, 0  # a bone's Y axis points along it, here up
        pose.keyframe_insert("location", frame=frame)
    for curve in armature.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    item.parent, item.parent_type, item.parent_bone = armature, "BONE", "Bone"


def path(item):
    curve = bpy.data.curves.new("Rail", "CURVE")
    curve.dimensions, curve.use_path = "3D", True
    points = curve.splines.new("POLY").points
    points.add(1)
    points[1].co = 0, 0, 6, 1
    item.parent = add("Rail", curve)
    key(curve, "eval_time", [(1, 0.0), (25, curve.path_duration)])


def hook(item):
    target = add("Target")
    lift(target)
    item.modifiers.new("Hook", "HOOK").object = target
    item.modifiers["Hook"].vertex_indices_set(range(8))


def nla(item):
    lift(item)
    action = item.animation_data.action
    slot = item.animation_data.action_slot
    strip = item.animation_data.nla_tracks.new().strips.new("Up", 1, action)
    strip.action_slot = slot
    item.animation_data.action = None


WAYS = (keyframes, driver, parent, grandparent, constraint, bone, path, hook, nla)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_passive_objects_move_without_a_checkbox(way):
    item = box("Lift", type="PASSIVE")
    way(item)
    made = body("Lift")
    assert made.motion == "kinematic"
    assert len(made.path.times) >= 4 * 24 + 1 and np.isclose(made.path.times[-1], SECOND)
    # 6 m in the second, along a straight line: also between the frames.
    risen = made.path.position - made.path.position[0]
    assert np.allclose(risen, np.outer(made.path.times, (0, 0, 6)), atol=1e-4)
    for time in (0.1, 0.503, 0.9):
        assert np.allclose(made.path.velocity(time)[0], (0, 0, 6), atol=1e-3)


def test_spinning_collider_has_its_angular_velocity():
    # One and a half turns in a second, frames 1/24 s apart: 22.5 degrees per frame.
    item = box("Paddle", type="PASSIVE")
    item.rotation_euler.x = 0.5
    key(item, "rotation_euler", [(1, (0.5, 0, 0)), (25, (0.5, 0, 3 * math.pi))])
    path = body("Paddle").path
    for time in (0.2, 0.7):
        linear, angular = path.velocity(time)
        assert np.allclose(angular, (0, 0, 3 * math.pi), atol=1e-3) and np.allclose(linear, 0.0, atol=1e-4)


def test_path_starts_where_the_object_is_and_is_in_metres():
    item = box("Lift", type="PASSIVE")
    key(item, "location", [(1, (100, 0, 0)), (25, (100, 200, 0))])
    bpy.context.scene.unit_settings.scale_length = 0.01
    made = body("Lift")
    assert np.allclose(made.path.position[[0, -1]], [(1, 0, 0), (1, 2, 0)], atol=1e-6)
    assert np.allclose(made.position, made.path.position[0])


def test_mirrored_and_scaled_movers_keep_their_frame():
    item = box("Lift", type="PASSIVE")
    item.scale = -1, 2, 1
    lift(item)
    made = body("Lift")
    assert np.allclose(made.path.orientation, made.orientation, atol=1e-6)
    assert np.allclose(made.path.velocity(0.5)[0], (0, 0, 6), atol=1e-3)


def test_still_scenes_are_not_played(monkeypatch):
    played = []
    monkeypatch.setattr(motion.Sampler, "_matrix", lambda self, item: played.append(item))
    box("Ground", type="PASSIVE").parent = add("Room")
    box("Box", location=(0, 0, 2))
    assert {b.name: b.motion for b in extract().scene.bodies} == {"Ground": "static", "Box": "dynamic"}
    assert played == []


def test_animation_that_moves_nothing_makes_a_static_body():
    item = box("Ground", type="PASSIVE")
    key(item, "location", [(1, (0, 0, 0)), (25, (0, 0, 0))])
    made = body("Ground")
    assert made.motion == "static" and made.path is None


def test_animation_of_other_things_makes_a_static_body():
    item = box("Ground", type="PASSIVE")
    key(item, "hide_render", [(1, True), (25, False)])
    assert body("Ground").motion == "static"


def test_motion_between_the_frames_only_is_seen():
    # A full turn each frame looks still at whole frames.
    item = box("Fan", type="PASSIVE")
    key(item, "rotation_euler", [(1, (0, 0, 0)), (25, (0, 0, 24 * math.tau))])
    made = body("Fan")
    assert made.motion == "kinematic"
    assert np.allclose(made.path.velocity(0.5)[1], (0, 0, 24 * math.tau), rtol=1e-4)


def test_active_bodies_ignore_their_animation():
    item = box("Box")
    lift(item)
    made = body("Box")
    assert made.motion == "dynamic" and made.path is None


def test_animated_active_body_is_held_throughout():
    item = box("Box", kinematic=True)
    lift(item)
    read = extract()
    (made,) = read.scene.bodies
    assert made.motion == "kinematic" and np.allclose(made.path.position[-1], (0, 0, 6), atol=1e-5)
    assert read.simulated == (), "it keeps its own animation, so it gets no keys"


def test_settings_count_that_were_made_after_the_scene_was_evaluated():
    # Blender's evaluated objects do not see add-on properties that are set later, unless they are tagged.
    item = box("Box")
    lift(item)
    bpy.context.view_layer.update()
    item.axion.kinematic = True
    assert body("Box").motion == "kinematic"


def test_animated_active_body_that_stands_still():
    box("Box", kinematic=True)
    assert body("Box").motion == "static"


def test_hand_over_from_animation_to_physics():
    item = box("Ball")
    lift(item)
    key(item, "axion.kinematic", [(1, True), (13, False)], "CONSTANT")
    read = extract()
    (made,) = read.scene.bodies
    assert made.motion == "dynamic" and read.simulated == ("Ball",)
    # Held up to the frame where Animated goes off, half a second in, then let go with the velocity it has there.
    assert math.isclose(made.release_time(), 0.5)
    assert np.allclose(made.path.velocity(made.release_time())[0], (0, 0, 6), atol=1e-3)
    assert np.allclose(made.path.position[-1], (0, 0, 3), atol=1e-5)


def test_body_that_hangs_still_until_it_is_let_go():
    item = box("Ball", location=(0, 0, 4))
    key(item, "axion.kinematic", [(1, True), (7, False)], "CONSTANT")
    made = body("Ball")
    assert math.isclose(made.release_time(), 0.25) and np.allclose(made.path.position, (0, 0, 4))


@pytest.mark.parametrize(
    ("keys", "held"),
    [
        ([(1, False), (13, True)], [(0.5, math.inf)]),
        ([(1, True), (7, False), (13, True)], [(0.0, 0.25), (0.5, math.inf)]),
        ([(1, True), (7, False), (13, True), (19, False)], [(0.0, 0.25), (0.5, 0.75)]),
    ],
)
def test_bodies_can_be_taken_back_any_number_of_times(keys, held):
    item = box("Ball", blend_frames=6.0)
    lift(item)
    key(item, "axion.kinematic", keys, "CONSTANT")
    made = body("Ball")
    assert made.motion == "dynamic" and made.blend_time == 0.25
    assert np.allclose(made.held[:, 0], [a for a, _ in held])
    for end, wanted in zip(made.held[:, 1], held, strict=True):
        assert math.isclose(end, wanted[1]) if math.isfinite(wanted[1]) else end > SECOND
    for begin, end in made.held:
        assert np.allclose(made.path.pose(begin)[0], (0, 0, 6 * begin), atol=1e-5)
        assert np.allclose(made.path.velocity(min(end, SECOND))[0], (0, 0, 6), atol=1e-3)


def test_velocity_at_the_release_is_the_slope_of_the_curve_there():
    # z = 4 t^2 m by keys on every frame: the curve's slope at 0.5 s is 4 m/s, that of the last sample 3.96.
    item = box("Ball")
    item.driver_add("location", 2).driver.expression = "4 * ((frame - 1) / 24) ** 2"
    item.driver_add("rotation_euler", 2).driver.expression = "3 * ((frame - 1) / 24) ** 2"
    key(item, "axion.kinematic", [(1, True), (13, False)], "CONSTANT")
    linear, angular = body("Ball").path.velocity(0.5)
    assert np.allclose(linear, (0, 0, 4), atol=2e-3) and np.allclose(angular, (0, 0, 3), atol=2e-3)


def test_guided_bodies_get_a_spring_to_their_animation():
    item = box("Ball", use_guide=True, guide_stiffness=200.0, guide_damping=5.0, guide_angular_stiffness=0.0)
    item.axion.guide_angular_damping = 0.0
    lift(item)
    scene = extract().scene
    ball, ghost = scene.bodies
    (spring,) = scene.joints
    assert (ball.motion, ghost.motion, ghost.shapes) == ("dynamic", "kinematic", [])
    assert np.allclose(ghost.path.velocity(0.5)[0], (0, 0, 6), atol=1e-3)
    assert set(spring.axes) == {"x", "y", "z"} and spring.axes["x"].stiffness == 200.0
    item.axion.use_guide_limit, item.axion.guide_max_force = True, 7.0
    assert extract().scene.joints[0].axes["z"].max_force == 7.0


def test_a_guide_takes_a_name_that_is_free():
    lift(box("Ball", use_guide=True))
    box("Guide of Ball", location=(9, 0, 0))
    scene = extract().scene
    assert [made.name for made in scene.bodies] == ["Ball", "Guide of Ball", "Guide of Ball 2"]
    assert scene.joints[0].name == "Guide of Ball 2"


def test_a_guided_body_that_stands_still_is_pulled_to_its_place():
    box("Ball", location=(1, 2, 3), use_guide=True)
    ghost = extract().scene.bodies[1]
    assert np.allclose(ghost.path.position, [(1, 2, 3)], atol=1e-6)


def test_kinematic_of_passive_bodies_means_nothing():
    key(box("Ground", type="PASSIVE"), "axion.kinematic", [(1, False), (13, True)], "CONSTANT")
    assert body("Ground").motion == "static"


def test_rigid_hook_turns_the_collider():
    # All vertices follow an empty that turns: a rigid motion, although the object's own matrix stands still.
    target = add("Target")
    key(target, "rotation_euler", [(1, (0, 0, 0)), (25, (0, 0, 2.0))])
    item = box("Door", size=(2, 1, 1), type="PASSIVE")
    item.modifiers.new("Hook", "HOOK").object = target
    item.modifiers["Hook"].vertex_indices_set(range(8))
    path = body("Door").path
    assert np.allclose(path.velocity(0.5)[1], (0, 0, 2), atol=1e-2)
    assert np.allclose(
        conventions.rotation_matrix(path.orientation[-1])[:, 0], (math.cos(2), math.sin(2), 0), atol=1e-4
    )


def test_deforming_collider_is_refused():
    item = box("Jelly", type="PASSIVE")
    item.shape_key_add(name="Basis")
    tall = item.shape_key_add(name="Tall")
    for point in tall.data:
        point.co.z *= 2.0
    for frame, value in ((1, 0.0), (25, 1.0)):
        tall.value = value
        tall.keyframe_insert("value", frame=frame)
    with pytest.raises(SceneError, match="Jelly.*deforms"):
        extract()
    item.axion.mesh_source = "BASE"
    assert body("Jelly").motion == "static"


def test_collider_that_changes_topology_is_refused():
    item = box("Grow", type="PASSIVE")
    array = item.modifiers.new("Array", "ARRAY")
    for frame, count in ((1, 1), (25, 5)):
        array.count = count
        array.keyframe_insert("count", frame=frame)
    with pytest.raises(SceneError, match=r"Grow.*number of vertices"):
        extract()


def test_animated_scale_is_refused():
    key(box("Balloon", type="PASSIVE"), "scale", [(1, (1, 1, 1)), (25, (2, 2, 2))])
    with pytest.raises(SceneError, match=r"Balloon.*scale changes.*frame 25"):
        extract()


def test_constant_modifiers_do_not_move():
    item = box("Rounded", type="PASSIVE", collision_shape="MESH")
    item.modifiers.new("Smooth", "SUBSURF")
    item.modifiers.new("Mirror", "MIRROR").mirror_object = add("Mirror")
    box("Cut", type="PASSIVE").modifiers.new("Cut", "BOOLEAN").object = box("Cutter", location=(0.5, 0, 0))
    assert not motion.can_move(item) and not reshaped()
    assert body("Rounded").motion == "static"


def test_modifiers_that_refer_to_something_moving_are_watched():
    item, mirror = box("Rounded", type="PASSIVE"), add("Mirror")
    item.modifiers.new("Mirror", "MIRROR").mirror_object = mirror
    lift(mirror)
    assert reshaped() == {"Rounded"}


def reshaped():
    return reshaping.go_to(bpy.context.scene, bpy.context.view_layer, 1)


def test_frame_handlers_may_move_anything():
    item = box("Ground", type="PASSIVE")

    def move(scene, *_):
        item.location.z = 0.25 * (scene.frame_current_final - 1)

    bpy.app.handlers.frame_change_pre.append(move)
    try:
        assert np.allclose(body("Ground").path.velocity(0.5)[0], (0, 0, 6), atol=1e-3)
    finally:
        bpy.app.handlers.frame_change_pre.remove(move)


def test_part_that_moves_within_its_compound_is_mentioned():
    rig = add("Rig", None, type="ACTIVE", collision_shape="COMPOUND")
    part = box("Part")
    part.parent = rig
    lift(part)
    assert any("Part" in warning and "Rig" in warning for warning in extract().warnings)


def test_moving_compound():
    rig = add("Rig", None, type="PASSIVE", collision_shape="COMPOUND")
    child = add("Part", box_mesh(), (1, 0, 0), type="PASSIVE")
    child.parent = rig
    lift(rig)
    made = body("Rig")
    assert made.motion == "kinematic" and np.allclose(made.path.velocity(0.5)[0], (0, 0, 6), atol=1e-3)


def test_a_body_that_is_not_dynamic_stands_or_follows_its_animation():
    item = box("Box", dynamic=False)
    assert body("Box").motion == "static"
    key(item, "location", [(1, (0, 0, 0)), (25, (0, 0, 6))])
    assert body("Box").motion == "kinematic"
    item.axion.dynamic = True
    assert body("Box").motion == "dynamic"
