# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated settings that a bake does not follow are named with their object, wherever their keys lie."""

import bpy
import pytest
from blend_scenes import box, extract, joint, key


def by_strip(owner, path, values, slot):
    """Keys of a data path in an NLA strip on ``owner``, written by hand as a script may."""
    animation, action = owner.animation_data_create(), bpy.data.actions.new("by hand")
    made = action.slots.new(slot, owner.name)
    bag = action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(made, ensure=True)
    for index, ends in enumerate(values):
        curve = bag.fcurves.new(path, index=index)
        for frame, value in zip((1, 10), ends, strict=True):
            curve.keyframe_points.insert(frame, value)
    strip = animation.nla_tracks.new().strips.new("Strip", 1, action)
    strip.action_slot = made


def test_gravity_that_a_strip_animates_is_told():
    scene = bpy.context.scene
    box("Box")
    by_strip(scene, "gravity", [(0, 0), (0, 0), (-9.81, 0)], "SCENE")
    assert "Scene animates gravity, which is read at the first frame only" in extract().warnings


def test_curves_of_settings_that_cannot_be_keyed_are_named():
    item = box("Box", friction=0.5)
    with pytest.raises(TypeError, match="not animatable"):
        item.axion.keyframe_insert("friction", frame=1)
    by_strip(item, "axion.friction", [(0.1, 0.9)], "OBJECT")
    hinge = joint("Hinge", "HINGE", item, None)
    by_strip(hinge, "axion_joint.break_force", [(1, 2)], "OBJECT")
    bpy.context.scene.frame_set(10)
    assert item.axion.friction == 0.5, "Blender does not play it"
    key(box("Keyed", location=(5, 0, 0)), "axion.kinematic", [(1, True), (3, False)], "CONSTANT")
    first, second = extract().warnings
    assert first.startswith("Box has an F-curve of axion.friction") and "stays 0.5" in first
    assert second.startswith("Hinge has an F-curve of axion_joint.break_force") and "targets of motors" in second
