# SPDX-License-Identifier: GPL-3.0-or-later
"""Random native scenes: the conversion never fails and leaves nothing out; what it made bakes or names an object."""

import math
import random

import bpy
import pytest
from axion.axion_blender import native
from axion.axion_blender.native import report
from axion.solver import SceneError
from blend_scenes import box_mesh, extract, mesh
from native_scenes import body, constraint, world


def shake(owner, rng, skip=()):
    """Random values for the properties of one native struct, most of them left as they are."""
    for definition in owner.bl_rna.properties:
        name = definition.identifier
        if definition.is_readonly or name in skip or rng.random() < 0.5:
            continue
        if definition.type == "BOOLEAN":
            several = getattr(definition, "is_array", False)
            value = [rng.random() < 0.5 for _ in range(definition.array_length)] if several else rng.random() < 0.5
        elif definition.type == "ENUM":
            value = rng.choice(definition.enum_items).identifier
        elif definition.type in ("FLOAT", "INT"):
            low, high = max(definition.hard_min, -1e3), min(definition.hard_max, 1e3)
            value = rng.choice([low, high, definition.default, rng.uniform(low, high)])
            value = int(value) if definition.type == "INT" else value
        else:
            continue
        setattr(owner, name, value)


def shape(rng):
    return rng.choice(
        [
            lambda: box_mesh((1, 1, 1), (0, 0, rng.choice([0, 0, 2]))),
            lambda: box_mesh((1, 2, 0)),
            lambda: mesh("point", [(0, 0, 0)]),
            lambda: mesh("nothing", []),
            lambda: mesh("card", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)]),
        ]
    )()


def build(seed):
    rng = random.Random(seed)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = rng.choice([1.0, 0.01, 1000.0])
    items = []
    for k in range(rng.randint(1, 6)):
        item = body(f"Body {k}", shape(rng), [rng.uniform(-5, 5) for _ in range(3)])
        item.rotation_euler = [rng.uniform(-math.pi, math.pi) for _ in range(3)]
        item.scale = [rng.choice([1, 1, -1, 0.5, 2, 0]) if rng.random() < 0.3 else 1 for _ in range(3)]
        shake(item.rigid_body, rng)
        if items and rng.random() < 0.4:
            item.parent = rng.choice(items)
        if rng.random() < 0.2:
            path = rng.choice(["rigid_body.kinematic", "rigid_body.mass", "rigid_body.enabled", "location"])
            item.keyframe_insert(path, frame=1)
            item.keyframe_insert(path, frame=9)
        if rng.random() < 0.2:
            item.driver_add("rigid_body.kinematic").driver.expression = rng.choice(["frame < 5", "nonsense +", "0"])
        item.hide_viewport = rng.random() < 0.1
        items.append(item)
    for k in range(rng.randint(0, 5)):
        ends = [rng.choice([*items, None]) for _ in range(2)]
        link = constraint(f"Joint {k}", "FIXED", *ends)
        link.scale = [rng.choice([1, 1, -1, 0]) for _ in range(3)] if rng.random() < 0.2 else (1, 1, 1)
        shake(link.rigid_body_constraint, rng)
        if rng.random() < 0.2:
            link.keyframe_insert("rigid_body_constraint.motor_lin_target_velocity", frame=3)
    for item in items:
        if rng.random() < 0.1:
            world().collection.objects.unlink(item)
        elif rng.random() < 0.1:
            scene.collection.objects.unlink(item)
    shake(world(), rng, skip=("enabled",))
    if rng.random() < 0.3:
        shake(world().effector_weights, rng)
    scene.frame_end = 9
    scene.frame_set(rng.choice([1, 1, 5]))
    return items


GROUPS = {"BODY": "RigidBodyObject", "JOINT": "RigidBodyConstraint", "WORLD": "RigidBodyWorld"}


@pytest.mark.parametrize("seed", range(60))
def test_random_native_scene(seed):
    build(seed)
    done = native.convert_native(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    if done.reason:
        assert done.entries == []
        return
    assert not bpy.context.scene.rigidbody_world.enabled
    for entry in done.entries:
        said = {*entry.carried, *entry.needless, *(note.name for note in entry.notes)}
        wanted = {p.identifier for p in getattr(bpy.types, GROUPS[entry.kind]).bl_rna.properties} - {"rna_type"}
        converted = "type" not in {note.name for note in entry.notes}
        assert not converted or wanted <= said
        assert all(note.sentence.startswith(entry.name) or note.name == "field" for note in entry.notes)
        assert {note.status for note in entry.notes} <= {report.CHANGED, report.LOST}
    try:
        extract()
    except SceneError as error:
        names = [item.name for item in bpy.context.scene.objects] + [bpy.context.scene.name]
        assert any(str(problem).startswith(name) for problem in error.problems for name in names)
