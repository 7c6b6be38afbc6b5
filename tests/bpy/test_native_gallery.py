# SPDX-License-Identifier: GPL-3.0-or-later
"""Native scenes: each converts with a complete report, bakes, and moves as it did natively where that was right."""

import bpy
import native_motions  # noqa: F401, fills the gallery
import native_setups  # noqa: F401
import numpy as np
import pytest
from axion.axion_blender import baking
from axion.axion_blender.native import store
from native_gallery import GALLERY

GROUPS = {"BODY": "RigidBodyObject", "JOINT": "RigidBodyConstraint", "WORLD": "RigidBodyWorld"}


def poses(items):
    """World matrices (frames, items, 4, 4) over the frames of scene and simulation, as Blender plays them."""
    scene, found = bpy.context.scene, []
    for frame in range(min(scene.frame_start, scene.rigidbody_world.point_cache.frame_start), scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        found.append([np.array(item.evaluated_get(depsgraph).matrix_world) for item in items])
    scene.frame_set(scene.frame_start)
    return np.array(found).reshape(len(found), len(items), 4, 4)


def angles(first, second):
    """Angles [rad] between the axes of world matrices (..., 4, 4), which mirrored ones share up to their sign."""
    axes = [m[..., :3, :3] / np.linalg.norm(m[..., :3, :3], axis=-2, keepdims=True) for m in (first, second)]
    cosines = np.abs(np.sum(axes[0] * axes[1], axis=-2)).min(axis=-1)
    return np.arccos(np.minimum(cosines, 1.0))


def unsaid(scene):
    """(object, native property) of all that the report in the scene leaves out."""
    said = {}
    for row in store.read(scene):
        said.setdefault((row["kind"], row["name"]), set()).update(row["settings"], row["needless"])
    world = scene.rigidbody_world
    owners = [("WORLD", scene)]
    owners += [("BODY", item) for item in (world.collection.all_objects if world.collection else ())]
    owners += [("JOINT", item) for item in (world.constraints.all_objects if world.constraints else ())]
    left = []
    for kind, owner in owners:
        names = {p.identifier for p in getattr(bpy.types, GROUPS[kind]).bl_rna.properties} - {"rna_type"}
        left += [(owner.name, name) for name in names - said.get((kind, owner.name), set())]
    return left


LONG = {
    *("windy_dominoes", "paddles_that_push", "all_shapes_on_a_floor", "concave_meshes", "copies_that_share_a_mesh"),
    *("joined_bodies_that_pass_and_collide", "imperial_units", "tilted_gravity_at_30_drop_frames", "scaled_compound"),
    *("slow_world_with_weak_gravity", "spring_of_blender_27", "joint_that_bears_its_load", "hinge_that_stops"),
    *("rotation_modes_and_deltas", "modifiers_and_mesh_sources", "piston_that_turns", "later_cache_than_scene"),
}
"""A second each, which is too long in sum."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in GALLERY])
def test_native_scene_converts_bakes_and_matches(name):
    scene = bpy.context.scene
    tolerances = GALLERY[name]()
    items = list(tolerances)
    wanted = poses(items)
    assert bpy.ops.axion.convert_native() == {"FINISHED"}
    assert unsaid(scene) == []
    assert bpy.ops.axion.bake() == {"FINISHED"}
    assert not scene.rigidbody_world.enabled
    assert baking.last_summary(scene)["missed"] == 0
    movers = [i for i in scene.objects if i.axion.enabled and i.axion.type == "ACTIVE"]
    assert np.isfinite(poses(movers)).all()
    if not items:
        return
    found = poses(items)
    away = np.linalg.norm(found[..., :3, 3] - wanted[..., :3, 3], axis=2).max(axis=0)
    assert [(item.name, far) for item, far in zip(items, away, strict=True) if far > tolerances[item]] == []
    turned = angles(found, wanted).max(axis=0)
    assert [(item.name, far) for item, far in zip(items, turned, strict=True) if far > tolerances[item] + 2e-3] == []
