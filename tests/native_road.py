# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene of Blender's native rigid bodies alone: every shape, an animated paddle, a hinge, a point constraint.

Runs wherever bpy does; ``python native_road.py -- OUT.blend`` inside Blender saves it.
"""

import math
import sys

import bmesh
import bpy
from mathutils import Vector

FRAMES = 49
HINGE, PIVOT = Vector((-4.0, 2.0, 2.0)), Vector((4.0, 2.0, 3.0))


def build():
    """Fill the present scene."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    scene.frame_set(1)
    if scene.rigidbody_world is None:
        bpy.ops.rigidbody.world_add()
    world = scene.rigidbody_world
    world.collection = world.collection or bpy.data.collections.new("RigidBodyWorld")
    world.constraints = world.constraints or bpy.data.collections.new("RigidBodyConstraints")

    body("Ground", box((20, 20, 1)), (0, 0, -0.5), "BOX", passive=True)
    drop = (("Box", box((0.5, 0.5, 0.5)), "BOX"), ("Ball", sphere(0.3), "SPHERE"), ("Pill", pill(), "CAPSULE"))
    drop += (("Drum", cone(0.3, 0.3, 0.6), "CYLINDER"), ("Hat", cone(0.35, 0.0, 0.6), "CONE"))
    drop += (("Stone", stone(), "CONVEX_HULL"), ("Ring", ring(), "MESH"))
    for k, (name, data, shape) in enumerate(drop):
        item = body(name, data, (-3.0 + k, -1.0, 0.8 + 0.1 * k), shape)
        item.rotation_euler = (0.1 * k, 0.05 * k, 0.2 * k)
    dumbbell = body("Dumbbell", box((0.8, 0.1, 0.1)), (0.0, -3.0, 1.0), "COMPOUND")
    for side in (-1, 1):
        child = body(f"Weight {side}", box((0.3, 0.3, 0.3)), (0.5 * side, 0, 0), "BOX")
        child.parent = dumbbell
    marble, bowl = (
        body("Marble", sphere(0.15), (0.2, 3.0, 1.2), "SPHERE"),
        body("Bowl", dish(), (0, 3, 0.05), "MESH", True),
    )
    marble.scale = (1.5, 1.5, 1.5)
    bowl.rotation_euler = (0.0, 0.0, 0.4)

    pushed = body("Pushed", box((0.6, 0.6, 0.6)), (0.0, 0.9, 0.3), "BOX")
    pushed.rigid_body.mass = 3.0
    paddle = body("Paddle", box((0.2, 1.0, 0.8)), (-1.5, 0.9, 0.5), "BOX", passive=True)
    paddle.rigid_body.kinematic = True
    for frame, x in ((1, -1.5), (13, -1.5), (37, 0.6)):
        paddle.location.x = x
        paddle.keyframe_insert("location", frame=frame)

    # A trapdoor that falls about the Y axis of the world with a ball on it.
    post = body("Post", box((0.2, 1.0, 0.2)), HINGE - Vector((0.15, 0, 0)), "BOX", passive=True)
    door = body("Door", box((1.0, 0.8, 0.1)), HINGE + Vector((0.51, 0, 0)), "BOX")
    constraint("Hinge", "HINGE", HINGE, post, door).rotation_euler = (0.5 * math.pi, 0, 0)
    body("Load", sphere(0.25), HINGE + Vector((0.6, 0.0, 0.31)), "SPHERE").rigid_body.mass = 5.0
    hook = body("Hook", box((0.2, 0.2, 0.2)), PIVOT + Vector((0, 0, 0.11)), "BOX", passive=True)
    bob = body("Bob", sphere(0.2), PIVOT + Vector((1.0, 0, 0)), "SPHERE")
    constraint("Pivot", "POINT", PIVOT, hook, bob)
    bpy.context.view_layer.update()
    return scene


def body(name, data, location, shape, passive=False):
    """A native rigid body."""
    item = bpy.data.objects.new(name, data)
    scene = bpy.context.scene
    scene.collection.objects.link(item)
    scene.rigidbody_world.collection.objects.link(item)
    item.location = location
    native = item.rigid_body
    native.type, native.collision_shape = ("PASSIVE" if passive else "ACTIVE"), shape
    native.mesh_source, native.friction, native.use_margin, native.collision_margin = "BASE", 0.5, True, 0.0
    native.linear_damping = native.angular_damping = 0.0
    return item


def constraint(name, kind, location, first, second):
    """A native constraint at an empty."""
    item = bpy.data.objects.new(name, None)
    scene = bpy.context.scene
    scene.collection.objects.link(item)
    scene.rigidbody_world.constraints.objects.link(item)
    item.location = location
    native = item.rigid_body_constraint
    native.type, native.object1, native.object2, native.disable_collisions = kind, first, second, True
    return item


def made(name, fill):
    """A mesh datablock from a function that fills a BMesh."""
    data, work = bpy.data.meshes.new(name), bmesh.new()
    fill(work)
    work.to_mesh(data)
    work.free()
    return data


def box(size):
    def fill(work):
        bmesh.ops.create_cube(work, size=1.0)
        bmesh.ops.scale(work, vec=size, verts=work.verts)

    return made("box", fill)


def sphere(radius):
    return made("sphere", lambda work: bmesh.ops.create_uvsphere(work, u_segments=24, v_segments=12, radius=radius))


def cone(bottom, top, depth):
    return made(
        "cone",
        lambda work: bmesh.ops.create_cone(
            work, cap_ends=True, cap_tris=False, segments=24, radius1=bottom, radius2=top, depth=depth
        ),
    )


def pill():
    def fill(work):
        bmesh.ops.create_uvsphere(work, u_segments=24, v_segments=12, radius=0.2)
        for vertex in work.verts:
            vertex.co.z += math.copysign(0.2, vertex.co.z) if abs(vertex.co.z) > 1e-6 else 0.0

    return made("pill", fill)


def stone():
    def fill(work):
        bmesh.ops.create_icosphere(work, subdivisions=1, radius=0.35)
        for k, vertex in enumerate(work.verts):
            vertex.co *= 0.8 + 0.05 * (k % 7)

    return made("stone", fill)


def ring(major=0.35, minor=0.12, around=20, across=10):
    points, faces = [], []
    for i in range(around):
        for j in range(across):
            a, b = 2 * math.pi * i / around, 2 * math.pi * j / across
            reach = major + minor * math.cos(b)
            points.append((reach * math.cos(a), reach * math.sin(a), minor * math.sin(b)))
            n, m = (i + 1) % around, (j + 1) % across
            faces.append((i * across + j, n * across + j, n * across + m, i * across + m))
    data = bpy.data.meshes.new("ring")
    data.from_pydata(points, [], faces)
    return data


def dish(radius=1.0, thickness=0.1, around=24, rings=8):
    """A bowl with a wall: concave, closed."""
    points, faces = [], []
    for grow in (0.0, thickness):
        for i in range(1, rings + 1):
            tilt = 0.5 * math.pi * i / rings
            for j in range(around):
                a, r = 2 * math.pi * j / around, radius + grow
                height = radius - (r * math.cos(tilt) if i < rings else 0.0) + thickness
                points.append((r * math.sin(tilt) * math.cos(a), r * math.sin(tilt) * math.sin(a), height))
        points.append((0, 0, thickness - grow))
    shell = rings * around + 1
    for wall in (0, 1):
        base, pole = wall * shell, wall * shell + rings * around
        for j in range(around):
            n = (j + 1) % around
            quads = [(pole, base + j, base + n)]
            for i in range(rings - 1):
                low, high = base + i * around, base + (i + 1) * around
                quads.append((low + j, high + j, high + n, low + n))
            faces += [quad if wall == 0 else quad[::-1] for quad in quads]
    rim = (rings - 1) * around
    for j in range(around):
        n = (j + 1) % around
        faces.append((rim + j, shell + rim + j, shell + rim + n, rim + n))
    data = bpy.data.meshes.new("dish")
    data.from_pydata(points, [], faces)
    return data


if __name__ == "__main__":
    bpy.ops.wm.read_homefile(use_empty=True)
    build()
    bpy.ops.wm.save_as_mainfile(filepath=sys.argv[-1])
