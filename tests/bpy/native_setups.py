# SPDX-License-Identifier: GPL-3.0-or-later
"""Native scenes of all shapes, parents, scales, meshes and frame ranges, and of bodies in special parts."""

import bpy
from blend_scenes import box_mesh, key, mesh
from native_gallery import BLOCK, FREE, GRAVITY, STAND, ball, entry, floor, lead, start
from native_scenes import body, constraint, world


@entry
def all_shapes_on_a_floor():
    start(49, substeps=10)
    floor()
    for k, kind in enumerate(("BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "CONVEX_HULL", "MESH")):
        item = body(kind, ball() if kind == "SPHERE" else box_mesh((0.6, 0.6, 1)), (1.5 * k - 4.5, 0, 1.0 + 0.2 * k))
        item.rigid_body.collision_shape = kind
        item.rotation_euler = (0.3 * k, 0.2 * k, 0.1)
    return {}


@entry
def compound_that_falls_and_lies():
    # It lands on both children at once.  Bullet pushes it out of the floor for four frames, by 3 cm.
    start(49)
    floor()
    parent = body("Parent", box_mesh((0.1, 0.1, 0.1)), (0, 0, 1.5), collision_shape="COMPOUND", **FREE)
    for x in (-1.0, 1.0):
        body(f"Child {x:g}", location=(x, 0, 0), mass=50.0, **BLOCK).parent = parent
    return {parent: 0.04}


@entry
def scaled_compound():
    start()
    parent = body("Parent", box_mesh((0.1, 0.1, 0.1)), (0, 0, 3), collision_shape="COMPOUND", **FREE)
    parent.scale = (2, 2, 2)
    for k in range(2):
        child = body(f"Child {k}", location=(k - 0.5, 0, 0), **BLOCK)
        child.parent, child.scale = parent, (0.5, 1, 1)
    return {parent: lead(1.0)}


@entry
def compound_in_a_compound():
    start()
    outer = body("Outer", box_mesh((0.1, 0.1, 0.1)), (0, 0, 4), collision_shape="COMPOUND", **FREE)
    inner = body("Inner", box_mesh((0.1, 0.1, 0.1)), (1, 0, 0), collision_shape="COMPOUND", **FREE)
    leaf = body("Leaf", location=(0, 1, 0), **BLOCK)
    inner.parent, leaf.parent = outer, inner
    return {outer: lead(1.0)}


@entry
def compound_without_children():
    start()
    return {body("Parent", location=(0, 0, 3), collision_shape="COMPOUND", **FREE): lead(1.0)}


@entry
def concave_meshes():
    start(25, substeps=10)
    points = [(x, y, 0.3 * (x * x + y * y)) for x in (-2, -1, 0, 1, 2) for y in (-2, -1, 0, 1, 2)]
    faces = [(5 * i + j, 5 * i + j + 5, 5 * i + j + 6, 5 * i + j + 1) for i in range(4) for j in range(4)]
    body("Bowl", mesh("bowl", points, faces), type="PASSIVE", collision_shape="MESH")
    body("Marble", ball(0.3), (0.8, 0.3, 1.6), collision_shape="SPHERE")
    body("Brick", box_mesh((0.4, 0.3, 0.2)), (-0.5, 0, 1.5), collision_shape="MESH", collision_margin=0.0)
    return {}


@entry
def children_of_turned_and_scaled_parents():
    start()
    hand = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(hand)
    hand.location, hand.rotation_euler, hand.scale = (1, 2, 3), (0.5, 0.2, 1.0), (2, 2, 2)
    bpy.context.view_layer.update()
    inner = body("Inner", location=(0.5, 0, 0), **BLOCK)
    inner.parent = hand
    kept = body("Kept", location=(-3, 0, 0), **BLOCK)
    kept.parent, kept.matrix_parent_inverse = hand, hand.matrix_world.inverted()
    return {inner: lead(1.0), kept: lead(1.0)}


@entry
def uneven_and_negative_scales():
    # A box rests on its scaled half height, mirrored or not.
    start(37, substeps=20)
    floor(size=30.0)
    found = {}
    for k, scale in enumerate(((1, 2, 3), (0.5, 0.5, 2), (1, 1, -2), (-1, 2, 0.5), (-1, -1, -1))):
        item = body(f"Box {k}", location=(4 * k - 8, 0, 0.5 * abs(scale[2]) + 0.05), **BLOCK)
        item.scale = scale
        found[item] = 0.03  # Blender's margins and bounces at the first touch
    for k, kind in enumerate(("SPHERE", "CAPSULE", "CONVEX_HULL")):
        item = body(kind, ball(), (4 * k - 8, 6, 2.1), collision_shape=kind, **FREE)
        item.scale = (1.0, 1.5, 2.0)
    return found


@entry
def copies_that_share_a_mesh():
    start()
    data, found = box_mesh((0.5, 0.5, 0.5)), {}
    for k in range(20):
        item = body(f"Copy {k}", data, (k % 5, k // 5, 0.1 * k), **BLOCK)
        item.scale = [1.0 + 0.1 * (k % 3)] * 3
        found[item] = lead(1.0)
    return found


@entry
def modifiers_and_mesh_sources():
    # The array below makes the body twice as high.  Primitives fill the final bounding box whatever the source says.
    start(37, substeps=20)
    floor()
    found = {}
    rests = {("BASE", "CONVEX_HULL"): 0.5, ("DEFORM", "CONVEX_HULL"): 0.5, ("FINAL", "CONVEX_HULL"): 1.5}
    for k, ((source, kind), height) in enumerate(rests.items()):
        item = body(f"{source} {kind}", location=(3 * k - 3, 0, height + 0.05), collision_shape=kind, **FREE)
        item.rigid_body.mesh_source = source
        double = item.modifiers.new("Array", "ARRAY")
        double.use_relative_offset, double.use_constant_offset = False, True
        double.constant_offset_displace, double.count = (0, 0, -1), 2
        found[item] = 0.03
    item = body("Shape Key", location=(0, 4, 1.3), collision_shape="CONVEX_HULL", mesh_source="DEFORM", **FREE)
    item.shape_key_add(name="Basis")
    tall = item.shape_key_add(name="Tall")
    for point in tall.data:
        point.co.z *= 2.0
    tall.value = 1.0
    return found | {item: 0.03}


@entry
def later_cache_than_scene():
    start(40)
    world().point_cache.frame_start, world().point_cache.frame_end = 16, 40
    return {body("Box", **BLOCK): lead(1.0)}


@entry
def cache_that_starts_before_zero():
    # Blender's cache has no frame 0: it shows -1 once more, at -g 10/24, so that a frame's way is allowed there.
    start(15)
    world().point_cache.frame_start, world().point_cache.frame_end = -10, 15
    return {body("Box", **BLOCK): GRAVITY * 10 / 24 / 24}


@entry
def paddles_that_push():
    # The pushed box keeps ahead of the paddle or touches it: both engines show it where the paddle ends, or farther.
    start(25, substeps=20)
    floor(friction=1.0)
    box = body("Pushed", location=(1.2, 0, 0.5), friction=0.8, **BLOCK)
    paddle = body("Paddle", box_mesh((0.2, 1, 1)), (0, 0, 0.6), kinematic=True, **STAND)
    key(paddle, "location", [(1, (0, 0, 0.6)), (25, (2, 0, 0.6))])
    swing = body("Swing", location=(5, 0, 0.6), kinematic=True, **STAND)
    swing.driver_add("location", 1).driver.expression = "frame / 24"
    follower = body("Follower", location=(0, 5, 0.6), kinematic=True, **STAND)
    follower.constraints.new("COPY_LOCATION").target = swing
    return {box: 0.01}


@entry
def hand_over_by_key():
    # Thrown at 2 m/s from where the animation was a frame before the key.
    start(37)
    item = body("Thrown", kinematic=True, **BLOCK)
    key(item, "location", [(1, (0, 0, 0)), (13, (1, 0, 0))])
    key(item, "rigid_body.kinematic", [(1, True), (13, False)], "CONSTANT")
    return {item: lead(1.05) + 1e-3}


@entry
def collections_that_do_not_meet():
    start()
    floor(collision_collections=[True, *[False] * 19])
    through = body("Through", location=(0, 0, 1), collision_collections=[False, True, *[False] * 18], **BLOCK)
    both = [True, True, *[False] * 18]
    stays = body("Stays", location=(3, 0, 0.5), collision_collections=both, **BLOCK)
    return {through: lead(1.0), stays: 2e-3}


@entry
def joined_bodies_that_pass_and_collide():
    start()
    for k, passes in enumerate((True, False)):
        post = body(f"Post {k}", location=(4 * k, 0, 0), **STAND)
        arm = body(f"Arm {k}", box_mesh((2, 0.4, 0.4)), (4 * k + 1.2, 0, 0.8), **BLOCK)
        constraint(f"Pin {k}", "POINT", post, arm, (4 * k + 0.4, 0, 0.8), disable_collisions=passes)
    return {}


@entry
def bodies_that_do_not_take_part_as_such():
    start()
    floor()
    still = body("Not Dynamic", location=(0, 0, 3), enabled=False, **BLOCK)
    sleeper = body("Sleeper", location=(2, 0, 0.5), use_start_deactivated=True, **BLOCK)
    wide = body("Wide", location=(4, 0, 0.6), collision_shape="CONVEX_HULL", use_margin=True, collision_margin=0.1)
    first = body("First", location=(-3, 0, 0.5), **BLOCK)
    constraint("Half", "HINGE", first, None)
    constraint("Off", "FIXED", first, wide, enabled=False)
    constraint("Twice", "FIXED", first, first)
    return {still: 1e-5, sleeper: 2e-3}


@entry
def rotation_modes_and_deltas():
    start()
    found = {}
    for k, mode in enumerate(("QUATERNION", "AXIS_ANGLE", "ZYX")):
        item = body(mode, location=(2 * k, 0, 0), **BLOCK)
        item.rotation_mode = mode
        item.delta_location, item.delta_rotation_euler = (0, 1, 0), (0.3, 0, 0)
        found[item] = lead(1.0)
    return found


@entry
def windy_dominoes():
    start(25, substeps=10)
    floor(size=20.0, friction=0.8)
    for k in range(10):
        body(f"Domino {k}", box_mesh((0.1, 0.6, 1.2)), (0.6 * k - 3, 0, 0.6), collision_shape="BOX", mass=0.5)
    body("Bullet", ball(0.2), (-4.4, 0, 1.0), collision_shape="SPHERE", mass=2.0)
    key(bpy.data.objects["Bullet"], "location", [(1, (-4.4, 0, 1.0)), (7, (-3.3, 0, 1.0))])
    key(bpy.data.objects["Bullet"], "rigid_body.kinematic", [(1, True), (7, False)], "CONSTANT")
    bpy.ops.object.effector_add(type="WIND")
    return {}
