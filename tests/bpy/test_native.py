# SPDX-License-Identifier: GPL-3.0-or-later
"""Converting native rigid bodies: values, not defaults; the native world stays, off; nothing is lost without a word."""

import math

import bpy
import numpy as np
import pytest
from axion.axion_blender import native
from blend_scenes import add, box_mesh, extract, key
from native_scenes import body, constraint, world

SHAPES = ("BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "CONVEX_HULL", "MESH")


def convert():
    return native.convert_native(bpy.context.scene, bpy.context.evaluated_depsgraph_get())


def test_values_of_a_body():
    values = {"mass": 3.5, "friction": 0.25, "restitution": 0.75, "linear_damping": 0.125, "angular_damping": 0.375}
    members = [i in (2, 5) for i in range(20)]
    item = body("Box", collision_shape="SPHERE", mesh_source="BASE", collision_collections=members, **values)
    done = convert()
    assert (done.bodies, done.joints) == (1, 0)
    own = item.axion
    assert own.enabled and own.type == "ACTIVE" and (own.collision_shape, own.mesh_source) == ("SPHERE", "BASE")
    assert {name: getattr(own, name) for name in values} == values
    assert list(own.collision_collections) == members


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("role", ["ACTIVE", "PASSIVE"])
def test_all_shapes_and_roles(kind, role):
    item = body("Body", collision_shape=kind, type=role)
    convert()
    assert (item.axion.collision_shape, item.axion.type) == (kind, role)
    (made,) = extract().scene.bodies
    assert made.motion == ("dynamic" if role == "ACTIVE" else "static")


@pytest.mark.parametrize("kind", ["CONVEX_HULL", "MESH"])
def test_hulls_and_meshes_keep_their_origin_as_center_of_mass(kind):
    body("Body", box_mesh((1, 1, 1), (0, 0, 2)), collision_shape=kind)
    convert()
    assert np.allclose(extract().scene.bodies[0].mass_properties()[1], 0.0, atol=1e-9)


@pytest.mark.parametrize("kind", ["BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE"])
def test_primitives_balance_at_their_middle(kind):
    body("Body", box_mesh((1, 1, 4)), collision_shape=kind)
    convert()
    # A cone's volume has its centre lower, but Bullet takes half the height.
    assert np.allclose(extract().scene.bodies[0].mass_properties()[1], 0.0, atol=1e-6)


def test_primitive_off_its_origin_is_mentioned():
    body("Body", box_mesh((1, 1, 1), (0, 0, 2)), collision_shape="BOX")
    body("Centered", collision_shape="BOX")
    (note,) = convert().notes
    assert "Body" in note and "origin" in note


def test_compound():
    parent = body("Parent", collision_shape="COMPOUND")
    for x in (-1.0, 2.0):
        body(f"Child {x}", location=(x, 0, 0), collision_shape="BOX").parent = parent
    assert convert().bodies == 3
    (made,) = extract().scene.bodies
    assert made.name == "Parent" and len(made.shapes) == 2
    assert np.allclose(made.mass_properties()[1], 0.0), "the parent's origin"


def test_compounds_in_compounds():
    outer = body("Outer", collision_shape="COMPOUND")
    inner = body("Inner", location=(1, 0, 0), collision_shape="COMPOUND")
    leaf = body("Leaf", location=(0, 2, 0), collision_shape="BOX")
    bare = body("Bare", collision_shape="COMPOUND")
    inner.parent, leaf.parent, bare.parent = outer, inner, outer
    (note,) = convert().notes
    assert note.startswith("Bare ") and "left out" in note
    (made,) = extract().scene.bodies
    assert made.name == "Outer" and np.allclose(made.shapes[0].center_of_mass(), (1, 2, 0))


def test_flat_active_bodies_are_mentioned():
    card = body("Card", box_mesh((1, 1, 0)), collision_shape="BOX")
    body("Ground", box_mesh((9, 9, 0)), type="PASSIVE", collision_shape="BOX")
    (note,) = convert().notes
    assert note.startswith("Card ") and "flat" in note
    card.modifiers.new("Solidify", "SOLIDIFY").thickness = 0.1


def test_friction_and_bounciness_multiply():
    body("Body")
    convert()
    scene = extract().scene
    assert (scene.friction_combine, scene.restitution_combine) == ("multiply", "multiply")


def test_the_native_world_is_switched_off_and_kept():
    item = body("Box", collision_shape="BOX")
    other = body("Other", location=(3, 0, 0))
    empty = constraint("Joint", "HINGE", item, other)
    convert()
    own = bpy.context.scene.rigidbody_world
    assert own is not None and not own.enabled
    assert item.rigid_body is not None and empty.rigid_body_constraint.object2 == other
    assert extract().warnings == []


def test_a_second_conversion_keeps_later_changes():
    item = body("Box", collision_shape="BOX", friction=0.5)
    convert()
    item.axion.friction = 0.125
    done = convert()
    assert (done.bodies, done.joints) == (0, 0) and item.axion.friction == 0.125


def test_a_world_that_is_off_can_be_converted_the_first_time():
    item = body("Box")
    world().enabled = False
    assert convert().bodies == 1 and item.axion.enabled


def test_keyframed_animated_is_carried():
    item = body("Ball", collision_shape="BOX")
    key(item, "rigid_body.kinematic", [(1, True), (13, False)], "CONSTANT")
    convert()
    (made,) = extract().scene.bodies
    # Blender computes the way from frame 12 to 13 already free: tests/bpy/test_native_facts.py.
    assert made.motion == "dynamic" and math.isclose(made.release_time(), 11 / 24)


def test_driven_animated_is_carried():
    item = body("Ball", collision_shape="BOX")
    item.driver_add("rigid_body.kinematic").driver.expression = "frame < 7"
    (note,) = convert().notes
    assert note.startswith("Ball ") and "kinematic" in note
    assert math.isclose(extract().scene.bodies[0].release_time(), 0.25)


def test_animated_paddle_pushes():
    item = body("Paddle", type="PASSIVE", collision_shape="BOX", kinematic=True)
    key(item, "location", [(1, (0, 0, 0)), (25, (6, 0, 0))])
    assert convert().notes == []
    (made,) = extract().scene.bodies
    assert made.motion == "kinematic" and np.allclose(made.path.velocity(0.5)[0], (6, 0, 0), atol=1e-3)


def test_passive_body_that_moves_without_animated_is_mentioned():
    item = body("Paddle", type="PASSIVE", collision_shape="BOX")
    key(item, "location", [(1, (0, 0, 0)), (25, (6, 0, 0))])
    assert any("Paddle" in note and "Animated" in note for note in convert().notes)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"collision_shape": "CONVEX_HULL", "use_margin": True, "collision_margin": 0.1}, "margin"),
        ({"collision_shape": "MESH", "collision_margin": 0.1}, "margin"),
        ({"collision_shape": "CONE", "collision_margin": 0.1}, "margin"),
        ({"collision_shape": "COMPOUND"}, "children"),
        ({"use_start_deactivated": True}, "deactivated"),
        ({"restitution": 3.0}, "bounciness"),
        ({"linear_damping": 1.0}, "damping"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_carried_is_said(settings, word):
    body("Strange", **{"collision_shape": "BOX"} | settings)
    (note,) = convert().notes
    assert note.startswith("Strange ") and word in note
    extract()


def test_margins_without_effect_are_no_word_worth():
    for kind in ("BOX", "SPHERE", "CAPSULE", "CYLINDER"):
        body(kind, collision_shape=kind, use_margin=True, collision_margin=0.1)
    body("Hull", collision_shape="CONVEX_HULL", collision_margin=0.1)
    assert convert().notes == []


def test_deforming_collider_is_mentioned_where_it_deforms():
    item = body("Cloth", collision_shape="MESH", type="PASSIVE", mesh_source="DEFORM", use_deform=True)
    item.rigid_body.collision_margin = 0.0
    body("Stiff", collision_shape="MESH", type="PASSIVE", use_deform=True).rigid_body.collision_margin = 0.0
    item.shape_key_add(name="Basis")
    item.shape_key_add(name="Bent").data[0].co.z += 1.0
    keys = item.data.shape_keys
    keys.key_blocks["Bent"].value = 1.0
    keys.key_blocks["Bent"].keyframe_insert("value", frame=20)
    (note,) = convert().notes
    assert note.startswith("Cloth ") and "deforms" in note


def test_animated_values_are_mentioned():
    item = body("Box", collision_shape="BOX")
    key(item, "rigid_body.mass", [(1, 1.0), (25, 9.0)])
    (note,) = convert().notes
    assert "Box" in note and "mass" in note


def test_force_fields_are_mentioned():
    body("Box", collision_shape="BOX")
    bpy.ops.object.effector_add(type="WIND")
    (note,) = convert().notes
    assert bpy.context.object.name in note and "force field" in note


@pytest.mark.parametrize("kind", ["FIXED", "POINT", "HINGE", "SLIDER", "PISTON", "GENERIC", "GENERIC_SPRING", "MOTOR"])
def test_all_constraint_types(kind):
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    item = constraint("Joint", kind, first, second, (1, 0, 0), disable_collisions=False)
    assert convert().joints == 1
    own = item.axion_joint
    assert (own.type, own.object1, own.object2, own.disable_collisions) == (kind, first, second, False)
    (made,) = extract().scene.joints
    assert np.allclose(made.position, (1, 0, 0)) and made.break_force == math.inf and made.collide_connected


def test_motor_settings_of_other_types_do_nothing():
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    constraint("Joint", "HINGE", first, second, use_motor_ang=True, use_motor_lin=True)
    convert()
    assert extract().scene.joints[0].axes == {}


def test_crossed_limits_are_none():
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    limits = {"use_limit_lin_x": True, "limit_lin_x_lower": 1.0, "limit_lin_x_upper": -1.0}
    constraint("Joint", "SLIDER", first, second, **limits)
    convert()
    assert extract().scene.joints[0].axes == {}


def test_animated_motor_is_carried():
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    item = constraint("Joint", "MOTOR", first, second, use_motor_ang=True)
    key(item, "rigid_body_constraint.motor_ang_target_velocity", [(1, 0.0), (25, 12.0)])
    assert convert().notes == []
    times, values = extract().scene.joints[0].axes["rx"].target
    assert np.allclose(values, -12.0 * np.asarray(times), atol=1e-4)


def test_constraints_that_do_nothing_stay_off_and_are_mentioned():
    item = body("A", collision_shape="BOX")
    constraint("Lonely", "HINGE", item, None)
    constraint("Outside", "HINGE", item, add("Empty"))
    constraint("Twice", "HINGE", item, item)
    done = convert()
    assert done.joints == 0 and extract().scene.joints == []
    assert [note.split()[0] for note in done.notes] == ["Lonely", "Outside", "Twice"]


def test_switched_off_constraint_stays_off():
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    constraint("Joint", "FIXED", first, second, enabled=False)
    assert convert().joints == 0 and extract().scene.joints == []


def test_old_spring_damping_is_mentioned():
    first, second = body("A", collision_shape="BOX"), body("B", location=(2, 0, 0), collision_shape="BOX")
    spring = {"spring_type": "SPRING1", "use_spring_x": True, "spring_damping_x": 1.0}
    constraint("Joint", "GENERIC_SPRING", first, second, **spring)
    (note,) = convert().notes
    assert note.startswith("Joint ") and "lin" not in note and " x " in note


def test_native_cache_range_is_kept():
    scene = bpy.context.scene
    body("Box", collision_shape="BOX")
    world().point_cache.frame_start, world().point_cache.frame_end = 5, 15
    convert()
    read = extract()
    assert (read.frame_start, read.frame_end) == (5, 15)
    scene.axion.use_frame_range = False
    assert extract().frame_end == 25


def test_bodies_outside_the_world_are_not_converted():
    inside, outside = body("In", collision_shape="BOX"), body("Out", collision_shape="BOX")
    world().collection.objects.unlink(outside)
    assert convert().bodies == 1 and inside.axion.enabled and not outside.axion.enabled


def test_operator():
    assert bpy.ops.axion.convert_native() == {"CANCELLED"}
    item = body("Box", collision_shape="BOX")
    assert bpy.ops.axion.convert_native() == {"FINISHED"} and item.axion.enabled


def test_unit_scale_keeps_the_motion():
    # In Blender units, a spring's frequency sqrt(k / m) and a limit stay what Bullet saw.
    first, second = body("A", collision_shape="BOX", type="PASSIVE"), body("B", location=(2, 0, 0), mass=2.0)
    spring = {"spring_type": "SPRING2", "use_spring_x": True, "spring_stiffness_x": 10.0}
    constraint("Joint", "GENERIC_SPRING", first, second, use_breaking=True, breaking_threshold=1.0, **spring)
    bpy.context.scene.unit_settings.scale_length = 0.1
    convert()
    scene = extract().scene
    mass, axis = scene.bodies[1].mass, scene.joints[0].axes["x"]
    assert math.isclose(axis.stiffness / mass, 10.0 / 2.0, rel_tol=1e-5)
    # Force over mass times the unit: 240 impulses per second on 2 kg.
    assert math.isclose(scene.joints[0].break_force / mass / 0.1, 240.0 / 2.0, rel_tol=1e-5)
