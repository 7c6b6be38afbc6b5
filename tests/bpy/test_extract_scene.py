# SPDX-License-Identifier: GPL-3.0-or-later
"""What a whole scene becomes: who takes part, units, frames, mass, and every refusal."""

import math

import bpy
import numpy as np
import pytest
from axion.axion_blender import conventions
from axion.axion_blender.extract import extract_scene, solver_config
from axion.solver import SceneError
from blend_scenes import add, body, box, box_mesh, extract, joint, key, mesh, plane


def refused(*parts):
    """The problems of the scene; each of ``parts`` must stand in the message."""
    with pytest.raises(SceneError) as caught:
        extract()
    for part in parts:
        assert part in str(caught.value)
    return caught.value.problems


def test_a_body_is_its_object():
    item = box("Box", location=(1, 2, 3), mass=7.0, friction=0.25, restitution=0.75)
    item.rotation_euler = 0.1, 0.2, 0.3
    item.axion.linear_velocity, item.axion.angular_velocity = (1, 0, 2), (0, 3, 0)
    read = extract()
    (made,) = read.scene.bodies
    assert (made.name, made.motion, made.mass, made.friction, made.restitution) == ("Box", "dynamic", 7.0, 0.25, 0.75)
    assert np.allclose(made.position, (1, 2, 3))
    expected = np.array(item.matrix_world.to_3x3())
    assert np.allclose(conventions.rotation_matrix(made.orientation), expected, atol=1e-6)
    assert np.allclose(made.linear_velocity, (1, 0, 2)) and np.allclose(made.angular_velocity, (0, 3, 0))
    assert read.bodies == {"Box": "Box"} and read.simulated == ("Box",)
    assert (read.frame_start, read.frame_end, read.frames, read.fps) == (1, 25, 24, 24.0)
    assert read.objects(bpy.context.scene) == {"Box": item}


def test_objects_that_take_no_part_are_left_out():
    box("In")
    add("Out", box_mesh())
    assert [b.name for b in extract().scene.bodies] == ["In"]


def test_a_scene_can_be_read_without_a_context():
    other = bpy.data.scenes.new("Other")
    item = bpy.data.objects.new("There", box_mesh())
    other.collection.objects.link(item)
    item.axion.enabled = True
    item.location.z = 4.0
    read = extract_scene(other)
    assert [b.name for b in read.scene.bodies] == ["There"] and np.allclose(read.scene.bodies[0].position, (0, 0, 4))


@pytest.mark.parametrize("scale", [(1, 1, 1), (3, 0.5, 2), (-1, 1, 1), (-2, -2, -2)])
def test_surface_velocity_runs_along_the_axes_of_the_object(scale):
    # A scale does not stretch it; a mirrored axis points back.  In the world: the matrix' own axes, made units.
    item = box("Belt", type="PASSIVE", surface_velocity=(2, 0, 0.5))
    item.scale, item.rotation_euler = scale, (0.3, 0.1, math.radians(90))
    bpy.context.view_layer.update()
    axes = np.array(item.matrix_world)[:3, :3]
    made = body("Belt")
    world = conventions.rotation_matrix(made.orientation) @ made.surface_velocity
    assert np.allclose(world, axes / np.linalg.norm(axes, axis=0) @ (2, 0, 0.5), atol=1e-6)
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert np.allclose(body("Belt").surface_velocity, 0.01 * made.surface_velocity, rtol=1e-6)


def test_damping_is_the_part_lost_each_second():
    box("Box", linear_damping=0.5, angular_damping=0.1)
    made = body("Box")
    # exp(-k) = 1 - d after one second.
    assert math.isclose(made.linear_damping, math.log(2.0), rel_tol=1e-6)
    assert math.isclose(math.exp(-made.angular_damping), 0.9, rel_tol=1e-6)


def test_density_times_volume():
    item = box("Box", size=(1, 2, 3), use_density=True, density=100.0)
    item.scale = 2, 1, 1
    assert math.isclose(body("Box").mass_properties()[0], 100.0 * 12.0, rel_tol=1e-6)


def test_center_of_mass_can_be_set_in_local_space():
    item = box("Box", use_center_of_mass=True, center_of_mass=(0.5, 0, -0.25), mass=2.0)
    item.scale = 2, 2, 2
    mass, center, inertia = body("Box").mass_properties()
    assert np.allclose(center, (1, 0, -0.5), atol=1e-6)
    # A cube's inertia about its own centre, m a^2 / 6, stays that of the shape.
    assert np.allclose(inertia, np.eye(3) * mass * 4.0 / 6.0, rtol=1e-5)


def test_start_is_read_at_the_first_frame_and_the_current_frame_comes_back():
    scene = bpy.context.scene
    item = box("Box")
    key(item, "location", [(1, (0, 0, 1)), (25, (0, 0, 9))])
    scene.frame_set(13, subframe=0.25)
    assert np.allclose(body("Box").position, (0, 0, 1))
    assert (scene.frame_current, scene.frame_subframe) == (13, 0.25)


def test_current_frame_comes_back_after_a_refusal_too():
    bpy.context.scene.frame_set(7)
    box("Box", mass=-1.0)
    refused("Box", "mass", "-1")
    assert bpy.context.scene.frame_current == 7


def test_custom_frame_range_and_fractional_rate_and_speed():
    scene, settings = bpy.context.scene, bpy.context.scene.axion
    box("Box")
    scene.render.fps, scene.render.fps_base = 30, 1.001
    settings.use_frame_range, settings.frame_start, settings.frame_end, settings.time_scale = True, 10, 20, 0.5
    read = extract()
    assert (read.frame_start, read.frames) == (10, 10)
    # Half the speed: twice as many frames for a second of simulated time.
    assert math.isclose(read.fps, 30 / 1.001 / 0.5, rel_tol=1e-6)


def test_gravity():
    scene = bpy.context.scene
    box("Box")
    scene.gravity = 1, 2, -3
    assert np.allclose(extract().scene.gravity, (1, 2, -3))
    scene.axion.gravity_factor = 0.5
    assert np.allclose(extract().scene.gravity, (0.5, 1, -1.5))
    scene.use_gravity = False
    assert np.allclose(extract().scene.gravity, 0.0)


def test_gravity_that_is_animated_is_that_of_the_first_frame_and_told():
    scene = bpy.context.scene
    box("Box", type="PASSIVE")
    key(bpy.data.objects["Box"], "location", [(1, (0, 0, 0)), (25, (1, 0, 0))])  # so that the animation is played
    key(scene, "gravity", [(1, (0, 0, -9)), (25, (0, 0, 0))])
    read = extract()
    assert np.allclose(read.scene.gravity, (0, 0, -9))
    assert f"{scene.name} animates gravity, which is read at the first frame only" in read.warnings


def test_unit_scale_turns_what_panels_show_into_si():
    scene = bpy.context.scene
    item = box("Box", size=(2, 2, 2), location=(100, 0, 0), mass=5.0, linear_velocity=(10, 0, 0))
    joint("Pin", "POINT", item, None, (50, 0, 0))
    scene.unit_settings.scale_length = 0.01
    read = extract()
    (made,), (pin,) = read.scene.bodies, read.scene.joints
    assert np.allclose(made.position, (1, 0, 0)) and np.allclose(made.shapes[0].half_extents, 0.01)
    assert np.allclose(made.linear_velocity, (0.1, 0, 0)) and np.allclose(pin.position, (0.5, 0, 0))
    assert np.allclose(read.scene.gravity, (0, 0, -0.0981)) and math.isclose(made.mass, 5e-6, rel_tol=1e-6)
    assert read.scale_length == 0.01 or math.isclose(read.scale_length, 0.01, rel_tol=1e-6)
    # Fall height over size after a second does not depend on the unit scale: the motion in Blender units stays.
    scene.unit_settings.system = "NONE"
    bare = extract()
    fall = 0.5 * bare.scene.gravity[2] / bare.scene.bodies[0].shapes[0].half_extents[2]
    assert math.isclose(0.5 * read.scene.gravity[2] / made.shapes[0].half_extents[2], fall, rel_tol=1e-6)
    assert bare.scale_length == 1.0 and bare.scene.bodies[0].mass == 5.0


def test_parents_and_deltas_count():
    parent = add("Parent", None, (1, 0, 0))
    parent.rotation_euler.z = math.pi / 2
    item = box("Box", location=(2, 0, 0))
    item.parent, item.delta_location = parent, (0, 0, 3)
    # Turned a quarter about Z, the parent's X points along the world's Y.
    assert np.allclose(body("Box").position, (1, 2, 3), atol=1e-6)


def test_active_child_of_active_parent():
    parent = box("Parent", location=(0, 0, 5))
    child = box("Child", location=(0, 0, 2))
    child.parent = parent
    read = extract()
    assert read.simulated == ("Parent", "Child")
    assert np.allclose(next(b for b in read.scene.bodies if b.name == "Child").position, (0, 0, 7))


def test_collision_collections_become_bits():
    box("Box", collision_collections=[i in (0, 3) for i in range(20)])
    made = body("Box")
    assert made.collision_group == made.collision_mask == 0b1001


def test_combine_rules():
    box("Box")
    bpy.context.scene.axion.friction_combine, bpy.context.scene.axion.restitution_combine = "MIN", "MULTIPLY"
    read = extract()
    assert (read.scene.friction_combine, read.scene.restitution_combine) == ("min", "multiply")


@pytest.mark.parametrize("hide", ["object", "collection", "eye"])
def test_hidden_bodies_take_part_and_stay_hidden(hide):
    scene = bpy.context.scene
    item = box("Proxy", type="PASSIVE")
    key(item, "location", [(1, (0, 0, 0)), (25, (6, 0, 0))])
    group = bpy.data.collections.new("Hidden")
    scene.collection.children.link(group)
    scene.collection.objects.unlink(item)
    group.objects.link(item)
    if hide == "eye":
        item.hide_set(True)
    owner = item if hide == "object" else group
    owner.hide_viewport = hide != "eye"
    made = body("Proxy")
    assert made.motion == "kinematic" and np.allclose(made.path.position[-1], (6, 0, 0), atol=1e-5)
    assert owner.hide_viewport == (hide != "eye") and item.hide_get() == (hide == "eye")


def test_excluded_collections_take_no_part_and_are_mentioned():
    scene = bpy.context.scene
    box("In")
    item = box("Out")
    group = bpy.data.collections.new("Excluded")
    scene.collection.children.link(group)
    scene.collection.objects.unlink(item)
    group.objects.link(item)
    bpy.context.view_layer.layer_collection.children["Excluded"].exclude = True
    read = extract()
    assert list(read.bodies) == ["In"] and any("Out" in warning for warning in read.warnings)


# Refusals: each names the object.


def test_no_bodies():
    refused("no Axion bodies", bpy.context.scene.name)


@pytest.mark.parametrize("mass", [0.0, -2.0, math.nan])
@pytest.mark.parametrize("kind", ["ACTIVE", "PASSIVE"])
def test_bad_mass(mass, kind):
    box("Heavy", mass=mass, type=kind)
    refused("Heavy", "mass", f"{mass:g}")


def test_zero_scale():
    box("Thin").scale.y = 0.0
    refused("Thin", "scale is (1, 0, 1)")


def test_nan_transform():
    box("Lost").location.x = math.nan
    refused("Lost", "NaN")


def test_sheared_parent():
    parent = add("Parent")
    parent.scale = 1, 3, 1
    item = box("Slanted")
    item.parent, item.rotation_euler = parent, (0, 0, 0.5)
    refused("Slanted", "sheared")


def test_empty_mesh():
    add("Hollow", mesh("none", []), type="ACTIVE")
    refused("Hollow", "empty")


def test_nan_vertices():
    data = box_mesh()
    data.vertices[3].co.x = math.nan
    add("Broken", data, type="ACTIVE")
    refused("Broken", "NaN")


@pytest.mark.parametrize("kind", ["EMPTY", "LIGHT", "CAMERA"])
def test_objects_without_a_surface(kind):
    data = {"EMPTY": None, "LIGHT": bpy.data.lights.new("l", "POINT"), "CAMERA": bpy.data.cameras.new("c")}[kind]
    add("Thing", data, type="ACTIVE")
    refused("Thing", kind.lower())


def test_linked_active_object(tmp_path):
    box("Linked", location=(0, 0, 3))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    refused("Linked", "linked", "override")


def instanced(count=1):
    """A collection with the body "Inside", which is not in the scene itself, and instances of it that stand apart."""
    group = bpy.data.collections.new("Group")
    item = box("Inside")
    bpy.context.scene.collection.objects.unlink(item)
    group.objects.link(item)
    for number in range(count):
        empty = add(f"Instance {number}", location=(4 * number, 0, 0))
        empty.instance_type, empty.instance_collection = "COLLECTION", group
    return item


def test_instances_take_no_part_and_that_is_said_once_a_collection():
    item = instanced(3)
    box("Outside")
    read = extract()
    assert [made.name for made in read.scene.bodies] == ["Outside"]
    (sentence,) = read.warnings
    for words in ("Instance 0 (and 2 more", "Group", "Inside", "take no part", "Make Instances Real"):
        assert words in sentence
    item.axion.enabled = False
    assert extract().warnings == [], "instances without bodies do not matter"


def test_a_body_that_is_also_instanced_is_simulated_itself():
    item = instanced()
    bpy.context.scene.collection.objects.link(item)
    item.location = (1, 2, 3)
    made = body("Inside")
    assert np.allclose(made.position, (1, 2, 3)) and made.motion == "dynamic"
    assert "Inside" in extract().warnings[0]


def test_a_scene_whose_only_bodies_are_instanced():
    instanced()
    (problem,) = refused("Scene", "Make Instances Real")
    assert problem.object_name == "Scene"


def test_bodies_instanced_on_faces():
    item = box("Inside", location=(0, 0, 2))
    carrier = add("Carrier", box_mesh(), (0, 0, 1))
    item.parent, carrier.instance_type = carrier, "FACES"
    assert np.allclose(body("Inside").position, (0, 0, 3))
    (sentence,) = extract().warnings
    assert "Carrier" in sentence and "Inside on its faces" in sentence


def test_passive_child_of_active_body():
    child = box("Child", type="PASSIVE")
    child.parent = box("Parent")
    refused("Child", "Parent")


def test_passive_body_that_follows_an_active_one_by_constraint():
    box("Leader")
    item = box("Follower", type="PASSIVE")
    item.constraints.new("COPY_LOCATION").target = bpy.data.objects["Leader"]
    refused("Follower", "Leader")


def test_frame_range_without_a_frame():
    box("Box")
    bpy.context.scene.frame_end = 1
    refused("frame range")


def test_all_problems_are_found_at_once():
    box("A").scale.x = 0.0
    add("B", mesh("none", []), type="ACTIVE")
    box("C")
    assert {problem.object_name for problem in refused("and 1 more")} == {"A", "B"}


def test_native_world_that_is_on_is_mentioned():
    box("Box")
    bpy.ops.rigidbody.world_add()
    world = bpy.context.scene.rigidbody_world
    world.collection = bpy.data.collections.new("Native")
    assert extract().warnings == []
    world.collection.objects.link(plane("Native Ground"))
    assert any("rigid body world" in warning for warning in extract().warnings)


def test_solver_config():
    scene = bpy.context.scene
    config = solver_config(scene)
    assert (config.device, config.quality, config.tolerance, config.substeps) == ("auto", "normal", None, "auto")
    settings = scene.axion
    settings.device, settings.device_index, settings.quality, settings.substeps = "CUDA", 1, "FINAL", 3
    settings.use_tolerance, settings.tolerance, settings.joint_damping = True, 0.5, 2.0
    scene.unit_settings.scale_length = 0.01
    config = solver_config(scene)
    assert (config.device, config.quality, config.substeps, config.joint_damping) == ("cuda:1", "final", 3, 2.0)
    assert math.isclose(config.tolerance, 0.005, rel_tol=1e-6)
    assert solver_config(scene, device="cpu", quality="preview").device == "cpu"
    with pytest.raises(ValueError, match="quality"):
        solver_config(scene, quality="best")
