# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies in motion from Blender to keyframes: hand-over both ways, a guide, wind; and nothing is left."""

import axion
import bpy
import numpy as np
import pytest
from blend_scenes import add, box, key
from test_outputs import motion
from test_writers_points import fingerprint

LAST = 37


@pytest.fixture
def scene():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    axion.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST, 24
    scene.axion.device = "CPU"
    return scene


def test_a_box_is_thrown_and_caught_again(scene):
    item = box("Box", location=(0, 0, 5))
    key(item, "location", [(1, (0, 0, 5)), (LAST, (6, 0, 5))])  # 4 m/s
    key(item, "axion.kinematic", [(1, True), (13, False), (25, True)], "CONSTANT")
    scene.frame_set(1)
    before, animated = fingerprint(), motion("Box", range(1, LAST + 1))[:, :3, 3]
    assert bpy.ops.axion.bake() == {"FINISHED"}
    baked = motion("Box", range(1, LAST + 1))[:, :3, 3]
    t = np.arange(12) / 24
    flight = animated[12] + np.column_stack([4 * t, 0 * t, -0.5 * 9.81 * t**2])
    assert np.allclose(baked[:13], animated[:13], atol=1e-5) and np.allclose(baked[24:], animated[24:], atol=1e-5)
    assert np.allclose(baked[12:24], flight, atol=1e-4)
    assert bpy.ops.axion.bake() == {"FINISHED"}, "the animation below the bake is what a second bake reads"
    assert np.allclose(motion("Box", range(1, LAST + 1))[:, :3, 3], baked, atol=1e-6)
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}
    assert fingerprint() == before
    assert np.array_equal(motion("Box", range(1, LAST + 1))[:, :3, 3], animated)


def test_a_guided_box_is_blown_off_by_as_much_as_the_spring_gives(scene):
    scene.gravity = (0, 0, 0)
    item = box("Box", mass=2.0, use_guide=True, guide_stiffness=400.0, guide_damping=60.0)
    key(item, "location", [(1, (0, 0, 0)), (LAST, (0, 3, 0))])
    fan = add("Fan")
    bpy.context.view_layer.objects.active = fan
    bpy.ops.object.forcefield_toggle()
    fan.field.type, fan.field.strength, fan.field.flow = "WIND", 24.0 * 40.0, 0.0  # 40 N upwards
    scene.frame_set(1)
    assert bpy.ops.axion.bake() == {"FINISHED"}
    place = motion("Box", [LAST])[0, :3, 3]
    assert np.allclose(place, (0, 3, 0.1), atol=3e-3), "40 N over 400 N/m"
    assert "Guide of Box" not in bpy.data.objects
