# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties: native names and order, units, tooltips, and what Blender may animate."""

import math

import bpy
import pytest
from blend_scenes import add

GROUPS = ("Object.axion", "Object.axion_joint", "Scene.axion")
NATIVE = {"Object.axion": "RigidBodyObject", "Object.axion_joint": "RigidBodyConstraint"}
ANIMATABLE = {
    "kinematic",
    *("motor_lin_target_velocity", "motor_ang_target_velocity"),
    *("motor_lin_target_position", "motor_ang_target_angle"),
}
"""What a bake reads at every sample; test_extract_motion and test_extract_joints check that it does."""
OTHER_MEANING = {
    # Bullet's solver settings, and impulses where Axion has forces.
    "RigidBodyObject": {
        *("use_deform", "use_deactivation", "use_start_deactivated", "deactivate_linear_velocity"),
        *("deactivate_angular_velocity", "use_margin", "collision_margin"),
    },
    "RigidBodyConstraint": {
        *("spring_type", "breaking_threshold", "use_override_solver_iterations", "solver_iterations"),
        *("motor_lin_max_impulse", "motor_ang_max_impulse"),
    },
}


def properties(name):
    owner, pointer = name.split(".")
    group = getattr(bpy.types, owner).bl_rna.properties[pointer].fixed_type
    return [p for p in group.properties if p.identifier not in ("rna_type", "name")]


@pytest.mark.parametrize("name", NATIVE)
def test_native_names_are_kept(name):
    native = {p.identifier for p in getattr(bpy.types, NATIVE[name]).bl_rna.properties} - {"rna_type"}
    own = {p.identifier for p in properties(name)}
    assert native - own == OTHER_MEANING[NATIVE[name]]


@pytest.mark.parametrize("name", NATIVE)
def test_choices_contain_the_native_ones_in_their_order(name):
    native = getattr(bpy.types, NATIVE[name]).bl_rna.properties
    for own in properties(name):
        if own.type == "ENUM" and own.identifier in native:
            theirs = [item.identifier for item in native[own.identifier].enum_items]
            assert [item.identifier for item in own.enum_items][: len(theirs)] == theirs
            assert [item.value for item in own.enum_items] == list(range(len(own.enum_items)))


@pytest.mark.parametrize("name", NATIVE)
def test_units_are_the_native_ones(name):
    native = getattr(bpy.types, NATIVE[name]).bl_rna.properties
    for own in properties(name):
        if own.type == "FLOAT" and own.identifier in native:
            assert own.unit == native[own.identifier].unit, own.identifier


@pytest.mark.parametrize("name", GROUPS)
def test_tooltips_are_one_sentence_without_full_stop(name):
    for own in properties(name):
        texts = [own.description, *(item.description for item in getattr(own, "enum_items", ()))]
        for text in texts:
            assert text and text[0].isupper() and not text.endswith("."), own.identifier
            assert ". " not in text, own.identifier


@pytest.mark.parametrize("name", GROUPS)
def test_only_what_the_bake_follows_can_be_animated(name):
    for own in properties(name):
        if own.type not in ("POINTER", "STRING"):
            assert own.is_animatable == (own.identifier in ANIMATABLE), own.identifier


@pytest.mark.parametrize("name", GROUPS)
def test_properties_can_be_overridden(name):
    for own in properties(name):
        assert own.is_overridable, own.identifier


@pytest.mark.parametrize("value", [-1.0, 0.0, math.nan])
def test_wrong_masses_are_stored_for_axion_to_name(value):
    # A hard limit would turn a wrong number into another one without a word.
    item = add("Box")
    item.axion.mass = item.axion.density = value
    for stored in (item.axion.mass, item.axion.density):
        assert stored == value or math.isnan(stored) == math.isnan(value) is True


def test_settings_survive_saving(tmp_path):
    item = add("Box", None, mass=3.0, friction=0.25, collision_shape="CAPSULE")
    item.axion_joint.object1 = item
    bpy.context.scene.axion.quality = "FINAL"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    own = bpy.data.objects["Box"].axion
    assert (own.enabled, own.mass, own.friction, own.collision_shape) == (True, 3.0, 0.25, "CAPSULE")
    assert bpy.data.objects["Box"].axion_joint.object1 == bpy.data.objects["Box"]
    assert bpy.context.scene.axion.quality == "FINAL"


def test_new_objects_take_no_part():
    item = add("Box")
    assert not item.axion.enabled and not item.axion_joint.enabled
