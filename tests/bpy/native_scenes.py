# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid bodies, for tests: built by linking into the world's collections, which works on every bpy."""

import bpy
from blend_scenes import box_mesh

LOCKED = {
    **{f"use_limit_{kind}_{axis}": True for kind in ("lin", "ang") for axis in "xyz"},
    **{f"limit_{kind}_{axis}_{end}": 0.0 for kind in ("lin", "ang") for axis in "xyz" for end in ("lower", "upper")},
}
"""Generic limits that lock everything."""


def world():
    """The scene's rigid body world, on, made at the first call."""
    scene = bpy.context.scene
    if scene.rigidbody_world is None:
        bpy.ops.rigidbody.world_add()
        scene.rigidbody_world.enabled = True
        scene.rigidbody_world.collection = bpy.data.collections.new("Bodies")
        scene.rigidbody_world.constraints = bpy.data.collections.new("Constraints")
    return scene.rigidbody_world


def body(name, data=None, location=(0, 0, 0), **settings):
    """A native rigid body with a unit box unless told otherwise."""
    item = bpy.data.objects.new(name, data or box_mesh())
    bpy.context.scene.collection.objects.link(item)
    item.location = location
    world().collection.objects.link(item)
    for key, value in settings.items():
        setattr(item.rigid_body, key, value)
    return item


def constraint(name, kind, first, second, location=(0, 0, 0), **settings):
    """An empty with a native constraint."""
    item = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(item)
    item.location = location
    world().constraints.objects.link(item)
    native = item.rigid_body_constraint
    native.type, native.object1, native.object2, native.enabled = kind, first, second, True
    for key, value in settings.items():
        setattr(native, key, value)
    return item


def play(item, frames):
    """Blender's own simulation: world matrix of ``item`` at the last of ``frames``."""
    scene = bpy.context.scene
    scene.frame_end = max(scene.frame_end, frames)
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
    return item.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.copy()
