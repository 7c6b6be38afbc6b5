# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects in Blender that tumble along a made-up trajectory, for the tests of the writers."""

from types import SimpleNamespace

import bpy
import numpy as np
from axion.axion_blender import compat
from axion.axion_blender.writers import channels, keyframes
from mathutils import Matrix, Quaternion

FRAMES, START = 12, 5
MODES = ("QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE")


def add(scene, name, matrix=None, parent=None, mode="QUATERNION", data=None):
    item = bpy.data.objects.new(name, data)
    scene.collection.objects.link(item)
    item.rotation_mode = mode
    item.parent = parent
    if matrix is not None:
        item.matrix_world = matrix
    bpy.context.view_layer.update()
    return item


def somewhere(seed, scale=(1, 1, 1)):
    rng = np.random.default_rng(seed)
    return Matrix.LocRotScale(rng.normal(size=3), Quaternion(rng.normal(size=4)).normalized(), scale)


def tumble(items, scale_length=1.0, frames=FRAMES):
    """A trajectory in which every object falls and turns by 0.6 rad a frame about an axis of its own."""
    bpy.context.view_layer.update()
    position, orientation = [], []
    for n, item in enumerate(items):
        place, turn, _ = item.matrix_world.decompose()
        axis = np.random.default_rng(n).normal(size=3)
        steps = [Quaternion(axis, 0.6 * frame) @ turn for frame in range(frames + 1)]
        position.append(
            [np.array(place) * scale_length + [0.1 * f, 0.02 * n * f, -0.01 * f * f] for f in range(frames + 1)]
        )
        orientation.append([[q.x, q.y, q.z, q.w] for q in steps])
    return SimpleNamespace(
        names=[item.name for item in items],
        position=np.array(position).transpose(1, 0, 2),
        orientation=np.array(orientation).transpose(1, 0, 2),
    )


def bake(scene, items, trajectory=None, **options):
    trajectory = trajectory or tumble(items)
    warnings = keyframes.write(trajectory, {item.name: item for item in items}, START, scene, **options)
    return trajectory, warnings


def assert_plays(scene, items, trajectory, scale_length=1.0, tolerance=2e-5):
    """W(t) = X(t) X(0)^-1 W(0): the law that ties an object to its body."""
    scene.frame_set(START)
    begin = {item.name: np.array(item.matrix_world) for item in items}
    poses = channels.pose_matrices(trajectory.position / scale_length, trajectory.orientation)
    for frame in range(len(poses)):
        scene.frame_set(START + frame)
        for n, item in enumerate(items):
            expected = poses[frame, n] @ np.linalg.inv(poses[0, n]) @ begin[item.name]
            assert np.abs(np.array(item.matrix_world) - expected).max() < tolerance, (item.name, frame)


def portrait(item):
    """Everything a bake may touch, exactly: values, animation data, every key of every curve."""
    data = item.animation_data
    seen = {
        "values": [
            list(getattr(item, p)) for p in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle")
        ],
        "mode": item.rotation_mode,
        "properties": sorted(item.keys()),
        "animation_data": data is not None,
    }
    if data is not None:
        seen["action"] = data.action.name if data.action else None
        seen["slot"] = data.action_slot.identifier if data.action_slot else None
        seen["last_slot"] = data.last_slot_identifier
        bag = compat.channelbag(item)
        seen["curves"] = None if bag is None else [curve_portrait(curve) for curve in bag.fcurves]
    return seen


def curve_portrait(curve):
    points = [
        (
            tuple(k.co),
            tuple(k.handle_left),
            tuple(k.handle_right),
            k.interpolation,
            k.easing,
            k.handle_left_type,
            k.type,
        )
        for k in curve.keyframe_points
    ]
    modifiers = [m.type for m in curve.modifiers]
    return curve.data_path, curve.array_index, curve.extrapolation, curve.mute, curve.lock, modifiers, points


def baked_curves(item):
    return [
        curve
        for curve in compat.channelbag(item).fcurves
        if curve.group is not None and curve.group.name == "Axion Bake"
    ]


def animate(item):
    """An action of its own with location, rotation and visibility keys, a modifier and odd handles."""
    for frame, x in ((1, 0.0), (9, 2.0), (20, -1.0)):
        item.location = x, 0.3, 0.1 * x
        item.hide_render = frame > 8
        item.rotation_euler = 0.1 * x, 0.0, x
        for path in ("location", "hide_render", "rotation_euler"):
            item.keyframe_insert(path, frame=frame)
    bag = compat.channelbag(item)
    bag.fcurves[0].modifiers.new("NOISE")
    bag.fcurves[1].extrapolation = "LINEAR"
    bag.fcurves[2].keyframe_points[1].handle_left_type = "FREE"
    bag.fcurves[2].keyframe_points[1].handle_left = 7.3, 0.25
    return item
