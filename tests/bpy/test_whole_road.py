# SPDX-License-Identifier: GPL-3.0-or-later
"""Native rigid bodies in, keyframes out: converted, baked, and judged again from the keyframes alone."""

import json

import bpy
import native_road
import numpy as np
import pytest
from mathutils import Vector

FALLING = ("Box", "Ball", "Pill", "Drum", "Hat", "Stone", "Ring", "Dumbbell", "Marble", "Pushed", "Door", "Load", "Bob")


@pytest.fixture(scope="module")
def road(addon):
    """Poses of all objects on all frames, and the report."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = native_road.build()
    assert bpy.ops.axion.convert_native() == {"FINISHED"}
    assert not scene.rigidbody_world.enabled
    assert bpy.ops.axion.bake() == {"FINISHED"}
    poses = {item.name: [] for item in scene.objects}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for item in scene.objects:
            poses[item.name].append(np.array(item.matrix_world))
    corners = {
        item.name: np.array([vertex.co for vertex in item.data.vertices])
        for item in scene.objects
        if item.data is not None
    }
    report = json.loads(next(text for text in bpy.data.texts if text.name.startswith("Axion Report")).as_string())
    return {name: np.array(value) for name, value in poses.items()}, corners, report


def lowest(road, name):
    """(F,) height of the lowest vertex of an object on each frame."""
    poses, corners, _ = road
    points = np.einsum("fij,vj->fvi", poses[name][:, :3, :3], corners[name]) + poses[name][:, None, :3, 3]
    return points[:, :, 2].min(axis=1)


@pytest.mark.parametrize("name", [name for name in FALLING if name not in ("Marble", "Dumbbell", "Door", "Bob")])
def test_nothing_falls_through_the_ground(road, name):
    # The ground's top is z = 0.  Shapes bounded by a primitive may stand a facet's height above their own vertices, so
    # only below counts, and the tolerance of fast motion is 1e-4 m.
    assert lowest(road, name).min() > -1.5e-4


def test_a_scaled_marble_stays_in_the_concave_bowl(road):
    poses, _, _ = road
    middle = poses["Marble"][:, :3, 3] - poses["Bowl"][:, :3, 3]
    # The bowl's inside has radius 1 about (0, 0, 1.1); the marble's is 0.225 after scale.  Facets of the bowl cut in by
    # 1 - cos(pi / 24) of the radius along a ring and half that along a meridian of 8 rings.
    reach = np.linalg.norm(middle - np.array([0, 0, 1.1]), axis=1)
    assert reach.max() < 1.0 - 0.225 + 1e-3
    assert np.linalg.norm(middle[-1] - middle[0]) > 0.1, "it rolled"


def test_the_animated_paddle_pushes_with_its_own_speed(road):
    poses, _, _ = road
    paddle, pushed = poses["Paddle"][:, 0, 3], poses["Pushed"][:, 0, 3]
    assert paddle[-1] == pytest.approx(0.6, abs=1e-6), "the paddle keeps its own animation"
    # Faces: half thickness 0.1 of the paddle, half size 0.3 of the box: while they touch, the box is 0.4 ahead or more.
    assert np.all(pushed[12:37] - paddle[12:37] > 0.4 - 1.5e-4)
    assert pushed[-1] > 1.0 - 1.5e-4


def joint_gap(road, empty, first, second):
    """Distance between the joint's point on both bodies, each carried along from the first frame [m]."""
    poses, _, _ = road
    point = np.append(poses[empty][0][:3, 3], 1.0)
    ends = [np.einsum("fij,j->fi", poses[name] @ np.linalg.inv(poses[name][0]), point) for name in (first, second)]
    return np.linalg.norm(ends[0] - ends[1], axis=1)


def test_joints_hold_and_the_report_says_so(road):
    poses, _, report = road
    gaps = np.maximum(joint_gap(road, "Hinge", "Post", "Door"), joint_gap(road, "Pivot", "Hook", "Bob"))
    assert gaps.max() < 1e-3
    assert poses["Door"][:, 2, 3].min() < 2.0 - 0.3, "the trapdoor fell"
    told = np.array([frame["joint_error"] for frame in report["frames"]])
    # Keyframes are float32: 1e-6 m at these coordinates.  The report holds the worst step of a frame, so never less.
    assert np.all(gaps[1:] <= told + 5e-6)
    assert told.max() < 1e-3


def test_the_hinge_turns_about_its_axis_only(road):
    poses, _, _ = road
    axis = Vector(poses["Hinge"][0][:3, 2])
    turned = np.einsum("fij,j->fi", (poses["Door"] @ np.linalg.inv(poses["Door"][0]))[:, :3, :3], np.array(axis))
    assert np.abs(turned - np.array(axis)).max() < 1e-4


def test_the_report_is_right_about_penetration(road):
    _, _, report = road
    told = np.array([frame["penetration"] for frame in report["frames"]])
    # Boxes rest on the plane with their true vertices, so their depth below it can be read off the keyframes.
    seen = np.maximum(0.0, -np.minimum(lowest(road, "Box"), lowest(road, "Pushed")))[1:]
    assert np.all(seen <= told + 2e-6)
    assert told.max() < 1.5e-4
    assert all(frame["converged"] for frame in report["frames"])
