# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies in motion from Blender to keyframes: hand-over both ways, a guide, wind; and nothing is left."""

import axion
import bpy
import numpy as np
import pytest
from blend_scenes import add, box, extract, key
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


def test_an_eased_lift_throws_a_box_as_high_as_the_law(scene):
    """Blender's ease is 3 s^2 - 2 s^3: the box leaves where that bends by -g, and rises by v^2 / 2 g from there."""
    plate = box("Lift", size=(4, 4, 0.2), location=(0, 0, -0.1), type="PASSIVE", kinematic=True)
    key(plate, "location", [(4, (0, 0, -0.1)), (16, (0, 0, 1.9))], "BEZIER")
    box("Box", size=(0.4, 0.4, 0.4), location=(0, 0, 0.2))
    scene.frame_set(1)
    assert bpy.ops.axion.bake() == {"FINISHED"}
    height = motion("Box", range(1, LAST + 1))[:, 2, 3] - 0.2
    way, seconds = 2.0, 0.5
    share = 0.5 + 9.81 * seconds**2 / (12.0 * way)
    speed = 6.0 * way / seconds * share * (1.0 - share)
    law = way * share**2 * (3.0 - 2.0 * share) + speed**2 / (2.0 * 9.81)
    assert height.max() == pytest.approx(law, rel=0.01)  # 3 % too high, with the mean velocity of a frame
    assert bpy.ops.axion.clear_bake() == {"FINISHED"}


def keyed_throw(end, off, interpolation="BEZIER", way=5.0):
    """A box whose keys take it ``way`` metres to frame ``end``, let go at frame ``off``; warnings, its speed then."""
    item = box("Box", location=(0, 0, 5))
    key(item, "location", [(1, (0, 0, 5)), (end, (way, 0, 5))], interpolation)
    key(item, "axion.kinematic", [(1, True), (off, False)], "CONSTANT")
    bpy.context.scene.frame_set(1)
    read = extract()
    (made,) = read.scene.bodies
    return read.warnings, np.linalg.norm(made.path.velocity(made.path.times[-1] - 1e-6)[0])


@pytest.mark.parametrize(("end", "off", "interpolation"), [(10, 10, "BEZIER"), (10, 11, "BEZIER"), (10, 11, "LINEAR")])
def test_a_release_where_a_quick_motion_has_just_ended_is_named(scene, end, off, interpolation):
    (sentence,), speed = keyed_throw(end, off, interpolation)
    assert speed < 0.1 and sentence.startswith(f"Box is let go at frame {off}") and "still moves" in sentence


@pytest.mark.parametrize(
    ("end", "off", "interpolation", "way", "least"),
    [
        (10, 8, "BEZIER", 5.0, 13.0),  # the slope of the ease, as the animation shows it
        (10, 10, "LINEAR", 5.0, 13.3),
        (10, 20, "BEZIER", 5.0, 0.0),  # held at rest for a while
        (30, 30, "BEZIER", 1.0, 0.0),  # put down slowly
    ],
)
def test_other_releases_are_as_they_seem(scene, end, off, interpolation, way, least):
    warnings, speed = keyed_throw(end, off, interpolation, way)
    assert warnings == [] and speed >= least


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
