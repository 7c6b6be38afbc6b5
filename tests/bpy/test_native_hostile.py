# SPDX-License-Identifier: GPL-3.0-or-later
"""Native scenes that are half broken: the conversion neither fails nor keeps silent, and what it made can be baked."""

import bpy
import numpy as np
import pytest
from axion.axion_blender import native
from axion.axion_blender.native import store
from blend_scenes import box_mesh, extract, key
from native_scenes import body, constraint, world


def convert():
    done = native.convert_native(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    store.keep(bpy.context.scene, done)
    return done


def said(done, name):
    """What the report says of an object."""
    return " ".join(note.sentence for entry in done.entries if entry.name == name for note in entry.notes)


@pytest.fixture
def linked(tmp_path):
    """A body from another file, linked into the scene and its rigid body world."""
    body("Far", location=(0, 0, 3), collision_shape="BOX", friction=0.25)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.frame_end = 5
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Far"]
    item = bpy.data.objects["Far"]
    bpy.context.scene.collection.objects.link(item)
    world().collection.objects.link(item)
    return item


def test_linked_bodies_stay_as_they_are(linked):
    near = body("Near", location=(2, 0, 3), collision_shape="BOX")
    constraint("Joint", "FIXED", linked, near)
    done = convert()
    assert (done.bodies, done.joints) == (1, 0)
    assert "linked" in said(done, "Far") and "Far" in said(done, "Joint")
    assert not linked.axion.enabled
    assert [made.name for made in extract().scene.bodies] == ["Near"]


def test_library_overrides_are_converted_and_saved(linked, tmp_path):
    own = linked.override_create(remap_local_usages=True)
    done = convert()
    assert done.bodies == 1 and own.axion.enabled and own.axion.friction == 0.25
    for turn in range(2):  # Blender 5 lost what it had read itself at the second save
        path = str(tmp_path / f"user {turn}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        own = next(item for item in bpy.context.scene.objects if item.override_library is not None)
        assert own.axion.enabled and own.axion.friction == 0.25


def test_passive_bodies_that_follow_active_ones_are_mentioned():
    leader = body("Leader", collision_shape="BOX")
    follower = body("Follower", location=(2, 0, 0), type="PASSIVE", kinematic=True, collision_shape="BOX")
    follower.parent = leader
    assert "follows Leader" in said(convert(), "Follower")


def test_compound_whose_children_are_not_in_the_view_layer():
    parent = body("Parent", collision_shape="COMPOUND")
    child = body("Child", collision_shape="BOX")
    child.parent = parent
    bpy.context.scene.collection.objects.unlink(child)
    assert "without children" in said(convert(), "Parent")
    (made,) = extract().scene.bodies
    assert made.name == "Parent" and made.collision_mask == 0


def test_linked_scenes_are_refused(tmp_path):
    body("Box", collision_shape="BOX")
    bpy.context.scene.name = "Elsewhere"
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.scenes = ["Elsewhere"]
    scene = bpy.data.scenes["Elsewhere"]
    done = native.convert_native(scene, bpy.context.evaluated_depsgraph_get())
    assert "Elsewhere is linked" in done.reason and done.entries == []
    assert scene.rigidbody_world.enabled and not scene.objects["Box"].axion.enabled


@pytest.mark.parametrize("left", ["nothing", "no collections", "empty collections"])
def test_worlds_without_bodies_say_so(left):
    if left != "nothing":
        world()
        if left == "no collections":
            world().collection = world().constraints = None
    done = convert()
    assert done.reason and bpy.context.scene.name in done.reason and done.entries == []
    assert bpy.ops.axion.convert_native() == {"CANCELLED"}
    assert left == "nothing" or bpy.context.scene.rigidbody_world.enabled


def test_world_without_constraints_is_converted():
    body("Box", collision_shape="BOX")
    world().constraints = None
    assert convert().bodies == 1


def test_deleted_objects_leave_their_constraints_off():
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    constraint("Joint", "HINGE", first, second)
    bpy.data.objects.remove(second)
    done = convert()
    assert (done.bodies, done.joints) == (1, 0) and "object 2 is empty" in said(done, "Joint")
    assert extract().scene.joints == []


def test_objects_without_a_body_in_the_collection_are_passed_over():
    body("Box", collision_shape="BOX")
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    world().collection.objects.link(empty)
    assert convert().bodies == 1 and not empty.axion.enabled


def test_body_that_holds_a_constraint_itself():
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    world().constraints.objects.link(first)
    native = first.rigid_body_constraint
    native.type, native.object1, native.object2, native.enabled = "POINT", first, second, True
    assert (convert().joints, len(extract().scene.joints)) == (1, 1)


def test_constraints_at_odd_places_do_not_stop_the_bake():
    post, other = body("Post", type="PASSIVE", collision_shape="BOX"), body("Rock", type="PASSIVE", location=(4, 0, 0))
    box = body("Box", location=(2, 0, 0), collision_shape="BOX")
    parent = body("Parent", location=(0, 5, 0), collision_shape="COMPOUND")
    child = body("Child", collision_shape="BOX")
    child.parent = parent
    outside = body("Outside", location=(0, 9, 0), collision_shape="BOX")
    world().collection.objects.unlink(outside)
    constraint("Standing", "FIXED", post, other)
    constraint("Part", "FIXED", post, child)
    constraint("Stranger", "FIXED", box, outside)
    constraint("Weak", "FIXED", post, box, use_breaking=True, breaking_threshold=0.0)
    constraint("Strong", "POINT", post, box, use_breaking=True, breaking_threshold=3e38)
    constraint("Idle", "MOTOR", post, box, use_motor_lin=True, motor_lin_max_impulse=0.0)
    bpy.context.scene.frame_end = 3
    done = convert()
    assert "part of a compound" in said(done, "Part") and "no member" in said(done, "Stranger")
    assert "no load" in said(done, "Weak") and not bpy.data.objects["Weak"].axion_joint.enabled
    assert bpy.ops.axion.bake() == {"FINISHED"}


@pytest.mark.parametrize("how", ["excluded", "outside", "hidden", "unseen"])
def test_bodies_that_are_not_to_be_seen(how):
    # Blender simulates all of them; Axion all that are in the view layer.
    scene = bpy.context.scene
    floor = body("Floor", box_mesh((6, 6, 1)), (0, 0, -0.5), type="PASSIVE", collision_shape="BOX")
    box = body("Box", location=(0, 0, 0.5), collision_shape="BOX")
    constraint("Joint", "FIXED", floor, box)
    scene.collection.objects.unlink(floor)
    if how != "outside":
        holder = bpy.data.collections.new("Holder")
        scene.collection.children.link(holder)
        holder.objects.link(floor)
        holder.hide_viewport = how == "hidden"
        floor.hide_viewport = how == "unseen"
        bpy.context.view_layer.layer_collection.children["Holder"].exclude = how == "excluded"
    done = convert()
    seen = how in ("hidden", "unseen")
    assert (said(done, "Floor") == "") == seen and done.joints == (1 if seen else 0)
    assert len(extract().scene.bodies) == (2 if seen else 1)


def test_bodies_shared_with_another_scene_are_mentioned():
    item = body("Box", collision_shape="BOX")
    shared, here = world().collection, bpy.context.scene
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(item)
    with bpy.context.temp_override(scene=other):
        bpy.ops.rigidbody.world_add()
    other.rigidbody_world.collection = shared
    other.rigidbody_world.enabled = True
    done = convert()
    assert "Other" in said(done, here.name) and other.rigidbody_world.enabled


def test_animation_by_nla_strips_is_carried():
    item = body("Ball", collision_shape="BOX")
    key(item, "rigid_body.kinematic", [(1, True), (13, False)], "CONSTANT")
    key(item, "rigid_body.mass", [(1, 1.0), (13, 2.0)])
    animation = item.animation_data
    action, slot = animation.action, animation.action_slot
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Strip", 1, action)
    strip.action_slot = slot
    done = convert()
    assert "mass" in said(done, "Ball") and "kinematic" in said(done, "Ball")
    assert np.isclose(extract().scene.bodies[0].release_time(), 0.5)


def test_muted_curves_do_nothing():
    item = body("Ball", collision_shape="BOX")
    key(item, "rigid_body.mass", [(1, 1.0), (13, 2.0)])
    item.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0].mute = True
    assert convert().notes == []


def test_action_shared_by_two_bodies():
    first, second = body("A", collision_shape="BOX"), body("B", location=(3, 0, 0), collision_shape="BOX")
    key(first, "rigid_body.kinematic", [(1, True), (13, False)], "CONSTANT")
    own = second.animation_data_create()
    own.action, own.action_slot = first.animation_data.action, first.animation_data.action_slot
    convert()
    assert [np.isclose(made.release_time(), 11 / 24) for made in extract().scene.bodies] == [True, True]


def test_animated_values_are_those_of_the_first_frame():
    item = body("Box", collision_shape="BOX")
    key(item, "rigid_body.mass", [(1, 1.0), (25, 9.0)])
    bpy.context.scene.frame_set(20)
    convert()
    assert item.axion.mass == 1.0 and bpy.context.scene.frame_current == 20


def test_driven_motor_turns_its_sign():
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    item = constraint("Joint", "MOTOR", first, second, use_motor_lin=True)
    item.driver_add("rigid_body_constraint.motor_lin_target_velocity").driver.expression = "frame - 1"
    assert convert().notes == []
    times, values = extract().scene.joints[0].axes["x"].target
    assert np.allclose(values, -24.0 * np.asarray(times), atol=1e-3)


def test_locked_axes_and_animated_gravity_are_mentioned():
    item = body("Box", collision_shape="BOX")
    item.lock_location[1] = item.lock_rotation[0] = item.lock_rotation[2] = True
    scene = bpy.context.scene
    scene.keyframe_insert("gravity", frame=3)
    done = convert()
    assert "location locked on Y" in said(done, "Box") and "rotation locked on X Z" in said(done, "Box")
    assert "gravity" in said(done, scene.name)


def test_second_conversion_forgets_what_was_set_before():
    item = body("Box", collision_shape="BOX")
    item.axion.surface_velocity, item.axion.use_density = (1, 0, 0), True
    convert()
    assert tuple(item.axion.surface_velocity) == (0, 0, 0) and not item.axion.use_density


def test_edit_mode_is_refused():
    item = body("Box", collision_shape="BOX")
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        with pytest.raises(RuntimeError, match="Object Mode"):
            bpy.ops.axion.convert_native()
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
