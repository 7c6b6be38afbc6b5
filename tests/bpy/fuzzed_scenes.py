# SPDX-License-Identifier: GPL-3.0-or-later
"""Axion scenes as nobody would build them: any value in any property, meshes that are none, hierarchies that shear."""

import math
import random

import bpy
from blend_scenes import add, box_mesh, mesh

NAN, INF = math.nan, math.inf
ODD = (NAN, INF, -INF, 0.0, -0.0, -1.0, 1e30, -1e30, 1e-30, 3.4e38)
LEFT_ALONE = {"rna_type", "name", "uuid", "cache_folder", "frame_start", "frame_end", "device", "device_index"}
SLOW = {"substeps": (0, 1, 3), "keys_per_frame": (1, 2)}
"""Properties whose large values are no fault, and only take long."""
HANGS = {"ARMATURE": "BONE", "MESH": "VERTEX", "LATTICE": "VERTEX", "CURVE": "VERTEX"}
BOX = box_mesh


def shapes(rng):
    """A datablock to make a body of; None makes it an empty."""
    corner = rng.choice(ODD)
    cube = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return rng.choice(
        [
            *[BOX] * 8,
            lambda: BOX((1e-5, 1e-5, 1e-5)),
            lambda: BOX((1e6, 1.0, 1e-3)),
            lambda: BOX((1, 1, 0)),
            lambda: mesh("nothing", []),
            lambda: mesh("point", [(0, 0, 0)]),
            lambda: mesh("points", [(0, 0, 0)] * 9),
            lambda: mesh("line", [(0, 0, 0), (1, 1, 1), (2, 2, 2)]),
            lambda: mesh("card", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)]),
            lambda: mesh("needle", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]),
            lambda: mesh("inside out", cube, [face[::-1] for face in faces]),
            lambda: mesh("open", cube, faces[:4]),
            lambda: mesh("twice", cube, [*faces[:3], *(face[::-1] for face in faces[:3])]),
            lambda: mesh("odd", [(corner, 0, 0), *cube[1:]], faces),
            lambda: mesh("odd everywhere", [(corner,) * 3] * 8, faces),
            lambda: None,
            lambda: bpy.data.curves.new("curve", "CURVE"),
            lambda: bpy.data.curves.new("text", "FONT"),
            lambda: bpy.data.metaballs.new("ball"),
            lambda: bpy.data.lattices.new("lattice"),
            lambda: bpy.data.lights.new("light", "POINT"),
            lambda: bpy.data.armatures.new("bones"),
        ]
    )()


def shake(owner, rng, share, objects=()):
    """Odd values for a share of the properties of a group."""
    for definition in owner.bl_rna.properties:
        name = definition.identifier
        if definition.is_readonly or name in LEFT_ALONE or rng.random() > share:
            continue
        if name in SLOW:
            value = rng.choice(SLOW[name])
        elif definition.type == "BOOLEAN":
            value = [rng.random() < 0.5 for _ in range(max(1, definition.array_length))]
        elif definition.type == "ENUM":
            value = rng.choice([entry.identifier for entry in definition.enum_items])
        elif definition.type == "INT":
            value = rng.choice([definition.hard_min, definition.hard_max, 0, 1, -1])
        elif definition.type == "FLOAT":
            value = [rng.choice([*ODD, rng.uniform(-5, 5), 1.0, 1.0]) for _ in range(max(1, definition.array_length))]
        elif definition.type == "POINTER" and definition.fixed_type.identifier == "Object":
            value = rng.choice([*objects, None])
        else:
            continue
        if isinstance(value, list) and not definition.array_length:
            value = value[0]
        setattr(owner, name, value)


def build(seed):
    """Fill the open file with a scene; what is wrong with it is up to the seed."""
    rng = random.Random(seed)
    scene, items = bpy.context.scene, []
    scene.frame_start, scene.frame_end = rng.choice([*[(1, 3)] * 9, (0, 2), (3, 3), (5, 2)])
    wild = rng.choice([0.0, 0.02, 0.2])
    for k in range(rng.randint(1, 6)):
        item = add(f"Body {k}", shapes(rng), [rng.uniform(-3, 3) for _ in range(3)])
        item.axion.enabled = True
        items.append(item)
        if rng.random() < 0.5:
            item.axion.type = "PASSIVE"
        item.axion.collision_shape = rng.choice(
            [e.identifier for e in item.axion.bl_rna.properties["collision_shape"].enum_items]
        )
        shake(item.axion, rng, wild)
        place(item, rng, items)
    for k in range(rng.randint(0, 4)):
        item = add(f"Joint {k}", None, [rng.uniform(-3, 3) for _ in range(3)])
        joint = item.axion_joint
        joint.enabled = True
        joint.type = rng.choice([entry.identifier for entry in joint.bl_rna.properties["type"].enum_items])
        joint.object1, joint.object2 = (rng.choice([*items, *items, None, item]) for _ in range(2))
        shake(joint, rng, wild, [*items, item])
        place(item, rng, items)
    if rng.random() < 0.3:
        rng.choice(items).axion_joint.enabled = True  # a body that is a joint as well
    if rng.random() < 0.3:
        shake(scene.axion, rng, wild)
        shake(scene.axion.effector_weights, rng, wild)
        scene.gravity = [rng.choice([0.0, -9.81, *ODD]) for _ in range(3)]
        scene.unit_settings.scale_length = rng.choice([1.0, 0.001, 1000.0])
        scene.render.fps_base = rng.choice([1.0, 1e-5, 1e6])
    scene.axion.device = "CPU"
    scene.axion.quality = "PREVIEW"
    leave_out(scene, rng, items)
    frame = rng.choice([1, 1, 2])
    for _ in range(2):  # Blender gives up a driver that fails at its first evaluation
        scene.frame_set(frame)
    return items


def place(item, rng, others):
    """Put an object somewhere, below something, with something that moves it."""
    if rng.random() < 0.15:
        setattr(
            item,
            rng.choice(["location", "rotation_euler", "scale", "delta_scale"]),
            [rng.choice(ODD) for _ in range(3)],
        )
    item.rotation_mode = rng.choice(["XYZ", "QUATERNION", "AXIS_ANGLE"])
    if rng.random() < 0.3:
        item.scale = [rng.choice([1, -1, 0.5, 2, 0]) for _ in range(3)]
    above = rng.choice(others)
    if above != item and rng.random() < 0.4:
        item.parent = above
        item.parent_type = rng.choice(["OBJECT", "OBJECT", HANGS.get(above.type, "OBJECT")])
        item.parent_bone = "no such bone"
    if rng.random() < 0.15:
        rule = item.constraints.new(rng.choice(["COPY_TRANSFORMS", "CHILD_OF", "LIMIT_DISTANCE", "TRACK_TO"]))
        rule.target = above
    if rng.random() < 0.15 and item.type in ("MESH", "CURVE", "FONT"):
        change = item.modifiers.new("Odd", rng.choice(["DECIMATE", "SOLIDIFY", "ARRAY", "SUBSURF", "MASK", "BUILD"]))
        if change.type == "DECIMATE":
            change.ratio = 0.0
    if rng.random() < 0.15:
        path, index = rng.choice([("location", 0), ("scale", 2), ("hide_viewport", -1)])
        driver = item.driver_add(path, index).driver
        driver.expression = rng.choice(["nonsense +", "1/0", "float('nan')", "frame * 1e38", "sin(frame)"])
    if rng.random() < 0.15:
        for frame, value in ((1, 0.0), (2, rng.choice([0.3, *ODD])), (4, 1.0)):
            item.location[0] = value
            item.keyframe_insert("location", index=0, frame=frame)
    if rng.random() < 0.1:
        item.axion.kinematic = True
        item.keyframe_insert("axion.kinematic", frame=1)


def leave_out(scene, rng, items):
    """Objects that are hidden, in no collection of the view layer, in two, or deleted though a joint names them."""
    for item in list(items):
        chance = rng.random()
        if chance < 0.05:
            item.hide_viewport = True
        elif chance < 0.1:
            scene.collection.objects.unlink(item)
        elif chance < 0.15:
            twin = bpy.data.collections.new("Twin")
            scene.collection.children.link(twin)
            twin.objects.link(item)
        elif chance < 0.2:
            items.remove(item)
            bpy.data.objects.remove(item)
