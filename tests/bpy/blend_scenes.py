# SPDX-License-Identifier: GPL-3.0-or-later
"""Builders shared by the tests that need Blender objects."""

import bpy

CUBE_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def mesh(name, vertices, faces=()):
    made = bpy.data.meshes.new(name)
    made.from_pydata(vertices, [], faces)
    made.update()
    return made


def box_mesh(size=(1, 1, 1), center=(0, 0, 0)):
    """A closed box, faces outwards, size along x, y, z around ``center``."""
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    vertices = [tuple(c + k * s for c, k, s in zip(center, corner, size, strict=True)) for corner in corners]
    return mesh("box", vertices, CUBE_FACES)


def add(name, data=None, location=(0, 0, 0), **settings):
    """An object in the scene; settings of ``Object.axion`` make it a body."""
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    item.location = location
    if settings:
        item.axion.enabled = True
    for key, value in settings.items():
        setattr(item.axion, key, value)
    return item


def box(name, size=(1, 1, 1), location=(0, 0, 0), center=(0, 0, 0), **settings):
    """A body with a box mesh, shape BOX unless told otherwise."""
    return add(name, box_mesh(size, center), location, **{"collision_shape": "BOX", **settings})


def plane(name="Ground", size=10.0, **settings):
    """A passive flat square, its face up."""
    h = size / 2
    data = mesh("plane", [(-h, -h, 0), (h, -h, 0), (h, h, 0), (-h, h, 0)], [(0, 1, 2, 3)])
    return add(name, data, **{"type": "PASSIVE", "collision_shape": "BOX", **settings})


def joint(name, kind, first, second, location=(0, 0, 0), **settings):
    """An empty with an Axion joint."""
    item = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(item)
    item.location = location
    own = item.axion_joint
    own.enabled, own.type, own.object1, own.object2 = True, kind, first, second
    for key, value in settings.items():
        setattr(own, key, value)
    return item


def key(item, path, frames_and_values, interpolation="LINEAR"):
    """Keyframes on ``item`` ("location", "axion.kinematic"), of that path with one interpolation."""
    owner, _, name = path.rpartition(".")
    holder = getattr(item, owner) if owner else item
    for frame, value in frames_and_values:
        setattr(holder, name, value)
        item.keyframe_insert(path, frame=frame)
    for layer in item.animation_data.action.layers:
        for bag in layer.strips[0].channelbags:
            for curve in (curve for curve in bag.fcurves if curve.data_path == path):
                for point in curve.keyframe_points:
                    point.interpolation = interpolation


def extract():
    from axion.axion_blender.extract import extract_scene

    return extract_scene(bpy.context)


def body(name):
    """The solver body of that name."""
    return next(b for b in extract().scene.bodies if b.name == name)
