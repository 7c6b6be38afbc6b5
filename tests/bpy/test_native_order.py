# SPDX-License-Identifier: GPL-3.0-or-later
"""Who knows Blender's rigid body panels finds every setting here: the same name, sub-panel and order.

Blender's own panels are drawn by Blender's own scripts, whatever version runs this, and compared with ours.
"""

from types import SimpleNamespace

import bpy
import pytest
from axion.axion_blender.ui import joint, physics, scene
from bl_ui import properties_physics_rigidbody, properties_physics_rigidbody_constraint, properties_scene
from blend_scenes import add, box_mesh
from panel_recorder import draw_tree

ROOTS = {
    "Rigid Body": "Axion Rigid Body",
    "Rigid Body Constraint": "Axion Joint",
    "Rigid Body World": "Axion Rigid Body World",
}
NAMES = {
    "breaking_threshold": "break_force",
    "motor_ang_max_impulse": "motor_ang_max_torque",
    "motor_lin_max_impulse": "motor_lin_max_force",
    "substeps_per_frame": "substeps",
    "gravity": "gravity_factor",
}
"""Properties that are called otherwise, because they mean forces instead of impulses or lie elsewhere."""
LABELS = {
    "break_force": ("Threshold", "Break Force"),
    "motor_ang_max_torque": ("Max Impulse", "Max Torque"),
    "motor_lin_max_force": ("Max Impulse", "Max Force"),
    "spring_stiffness_y": ("Stiffness", "Y Stiffness"),
    "spring_stiffness_z": ("Stiffness", "Z Stiffness"),
}
"""Labels that differ: theirs, ours."""
EXPLAINED = {
    *("use_margin", "collision_margin"),
    *("use_deactivation", "use_start_deactivated", "deactivate_linear_velocity", "deactivate_angular_velocity"),
    *("use_override_solver_iterations", "solver_iterations"),
}
"""Settings of Bullet's solver that have nothing to set here: their sub-panel says why."""
ELSEWHERE = {
    # The spring is the one that Blender calls 2.8; Deforming needs no checkbox.
    *("spring_type", "use_deform"),
    # Axion bakes what is switched on, wherever it lies, and only when asked to; quality takes the place of iterations.
    *("enabled world", "collection", "constraints", "use_split_impulse", "solver_iterations world"),
}
"""Settings without a place here; the manual's page "If you know Blender's rigid bodies" names each."""


@pytest.fixture
def thing(empty_file):
    """An active object that is a native body and joint, and one of ours."""
    item = add("thing", box_mesh())
    bpy.context.view_layer.objects.active = item
    bpy.ops.rigidbody.world_add()
    world = empty_file.rigidbody_world
    world.collection, world.constraints = bpy.data.collections.new("bodies"), bpy.data.collections.new("joints")
    world.collection.objects.link(item)
    world.constraints.objects.link(item)
    assert item.rigid_body is not None and item.rigid_body_constraint is not None
    item.axion.enabled = item.axion_joint.enabled = True
    return item


def native_settings(shown, aliases=()):
    """[(path, property, label)] that Blender's panels show, in our words."""
    found = []
    for entry in shown:
        if entry.kind != "prop":
            continue
        name = dict(aliases).get(entry.name, NAMES.get(entry.name, entry.name))
        path = (ROOTS[entry.path[0]], *entry.path[1:])
        theirs, ours = LABELS.get(name, (entry.label, entry.label))
        assert entry.label == theirs, f"Blender calls {entry.name} {entry.label!r} now"
        found.append((path, name, ours))
    return found


def compare(native, own, aliases=(), missing=()):
    """Asserts that ``own`` shows what ``native`` shows at the same place, in its order."""
    titles = {(*entry.path, entry.label) for entry in own if entry.kind == "panel"}
    wanted = []
    for path, name, label in native_settings(native, aliases):
        if name in EXPLAINED:
            notes = [entry for entry in own if entry.path == path and entry.kind == "label"]
            assert path in titles and notes, f"nothing says why there is no {name}"
        elif name not in ELSEWHERE and name not in missing:
            wanted.append((path, name, label))
    names = {name for _, name, _ in wanted}
    assert [(e.path, e.name, e.label) for e in own if e.kind == "prop" and e.name in names] == wanted
    return wanted


@pytest.mark.parametrize("shape", ("BOX", "CONVEX_HULL", "MESH", "CONE", "COMPOUND"))
@pytest.mark.parametrize("kind", ("ACTIVE", "PASSIVE"))
def test_bodies(thing, kind, shape):
    for body in (thing.rigid_body, thing.axion):
        body.type, body.collision_shape, body.mesh_source = kind, shape, "DEFORM"
    native = draw_tree(properties_physics_rigidbody.classes, bpy.context)
    own = draw_tree(physics.CLASSES, bpy.context)
    # What moves a passive body needs no checkbox here; a note stands in its place.
    missing = {"kinematic"} if kind == "PASSIVE" else set()
    assert len(compare(native, own, {"enabled": "dynamic"}, missing)) >= 5


@pytest.mark.parametrize(
    "kind", [item.identifier for item in bpy.types.RigidBodyConstraint.bl_rna.properties["type"].enum_items]
)
def test_joints(thing, kind):
    thing.rigid_body_constraint.type = thing.axion_joint.type = kind
    native = draw_tree(properties_physics_rigidbody_constraint.classes, bpy.context)
    own = draw_tree(joint.CLASSES, bpy.context)
    assert len(compare(native, own)) >= 5


def test_the_world(thing):
    classes = [cls for cls in properties_scene.classes if "rigid_body" in cls.__name__]
    native = draw_tree([cls for cls in classes if "cache" not in cls.__name__], bpy.context)
    aliases = {"enabled": "enabled world", "solver_iterations": "solver_iterations world"}
    own = draw_tree(scene.CLASSES, bpy.context)
    weights = {p.identifier for p in bpy.types.EffectorWeights.bl_rna.properties} - {"gravity"}
    wanted = compare(native, own, aliases, weights)
    assert [label for _, _, label in wanted] == ["Speed", "Substeps Per Frame", "Gravity"]


def test_the_cache_has_the_native_frames(thing):
    cache = next(cls for cls in properties_scene.classes if cls.__name__ == "SCENE_PT_rigid_body_cache")
    shown = [e for e in draw_tree([cache], bpy.context) if e.name in ("frame_start", "frame_end")]
    own = [e for e in draw_tree(scene.CLASSES, bpy.context) if e.name in ("frame_start", "frame_end")]
    assert [(e.name, e.label, e.path[-1]) for e in shown] == [(e.name, e.label, e.path[-1]) for e in own] != []


def test_the_menu_keeps_the_native_entries_in_their_order(thing):
    native = entries(bpy.types.VIEW3D_MT_object_rigid_body)
    from axion.axion_blender.ui import menu

    own = entries(menu.AXION_MT_object)
    without = {"Apply Transformation", "Bake to Keyframes"}  # scale needs no applying; Bake writes keyframes
    wanted = [label for label in native if label not in without]
    assert [label for label in own if label in wanted] == wanted


def entries(menu):
    """Labels of a menu's entries."""
    from panel_recorder import Layout

    log = []
    menu.draw(SimpleNamespace(layout=Layout(log, ())), bpy.context)
    return [entry.label for entry in log if entry.kind == "operator"]
