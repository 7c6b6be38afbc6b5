# SPDX-License-Identifier: GPL-3.0-or-later
"""Each operator is one step of undo, and says FINISHED with a report."""

import blend_scenes
import bpy
import pytest
from axion.axion_blender import compat
from axion.axion_blender.writers import outputs

OPERATORS = {
    "add_bodies": {"type": "PASSIVE"},
    "remove_bodies": {},
    "change_shape": {"type": "SPHERE"},
    "apply_material": {"material": "STEEL"},
    "calculate_mass": {"material": "STEEL"},
    "copy_settings": {},
    "add_joint": {"type": "SLIDER"},
    "connect_selected": {},
    "remove_joints": {},
    "enable_joint": {},
    "select_object": {"name": "third"},
}


def state():
    """All that the operators can change, as plain values."""
    found = {}
    for item in bpy.context.scene.objects:
        body, joint = item.axion, item.axion_joint
        own = (body.enabled, body.type, body.collision_shape, body.density, body.mass, body.use_density, body.friction)
        found[item.name] = (*own, joint.enabled, joint.type, item.select_get())
    return found, bpy.context.view_layer.objects.active.name


@pytest.mark.parametrize("name", OPERATORS)
def test_one_step(empty_file, name, capfd):
    for number, title in enumerate(("first", "second", "third")):
        bpy.ops.mesh.primitive_cube_add(location=(3 * number, 0, 0))
        item = bpy.context.object
        item.name, item.axion.enabled = title, title != "third"
    for title in ("first", "second"):
        bpy.data.objects[title].select_set(True)
    bpy.data.objects["third"].select_set(False)
    second = bpy.data.objects["second"]
    bpy.context.view_layer.objects.active = second
    second.axion.friction = 0.75
    if name == "remove_joints":
        second.axion_joint.enabled = True
    bpy.ops.ed.undo_push(message="before")
    before = state()
    capfd.readouterr()
    assert getattr(bpy.ops.axion, name)("EXEC_DEFAULT", True, **OPERATORS[name]) == {"FINISHED"}
    after = state()
    assert after != before
    if name != "select_object":
        assert "Info:" in capfd.readouterr().out, "it says what it did"
    bpy.ops.ed.undo()
    assert state() == before
    bpy.ops.ed.redo()
    assert state() == after


def motion():
    """What moves every object, key by key, and what the scene keeps of its bake."""
    found = {}
    for item in bpy.context.scene.objects:
        keys = {
            (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
            for curve in compat.curves_of(item)
        }
        found[item.name] = keys, tuple(item.location), item.rotation_mode, item.axion.enabled
    return found, sorted(action.name for action in bpy.data.actions), sorted(text.name for text in bpy.data.texts)


@pytest.mark.parametrize("output", ("KEYFRAMES", "POINTS"))
def test_a_bake_its_clearing_and_its_applying_are_one_step_each(empty_file, output):
    scene = empty_file
    scene.frame_end, scene.axion.device, scene.axion.quality, scene.axion.output = 4, "CPU", "PREVIEW", output
    scene.axion.use_cache = False
    blend_scenes.plane()
    box = blend_scenes.box("Box", (0.3, 0.3, 0.3), (0, 0, 1))
    blend_scenes.key(box, "hide_render", [(1, False), (3, True)])
    scene.frame_set(1)
    for name, again in (("bake", False), ("clear_bake", True), ("bake", False), ("apply_bake", True)):
        bpy.ops.ed.undo_push(message="before")
        before = motion()
        assert getattr(bpy.ops.axion, name)("EXEC_DEFAULT", True) == {"FINISHED"}
        after = motion()
        assert after != before
        bpy.ops.ed.undo()
        assert motion() == before, f"undo of {name}"
        bpy.ops.ed.redo()
        assert motion() == after, f"redo of {name}"
        assert any(outputs.holds(item) for item in bpy.context.scene.objects) != again
