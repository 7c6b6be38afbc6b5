# SPDX-License-Identifier: GPL-3.0-or-later
"""Trajectory -> keyframes of location and rotation on the simulated objects, and back again."""

import bpy
import numpy as np

from ...solver import SceneError
from . import overrides, placing, records

LINEAR = 1  # BEZIER would overshoot at impacts, CONSTANT would give motion blur nothing to blur


def write(trajectory, objects, frame_start, scene=None, view_layer=None, scale_length=1.0, rotation="KEEP"):
    """Bake a trajectory into keyframes; an earlier bake of these objects is replaced.

    trajectory: names, position [m] (F+1, B, 3), orientation xyzw (F+1, B, 4).  objects: {body name: Object} of the
    bodies to write.  Keys lie at frame_start .. frame_start + F.  scale_length: metres per Blender unit.  rotation:
    "KEEP" each object's rotation mode, or turn all to "QUATERNION".  Returns warnings, one sentence each.  Raises
    SceneError, before anything is changed, where an object cannot hold the motion.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    stop = overrides.problems(objects.values())
    if stop:
        raise SceneError(stop[0])
    kept = suspend(scene, objects.values())
    try:
        plan = placing.plan(trajectory, objects, frame_start, scene, view_layer, scale_length, rotation)
    except BaseException:
        resume(scene, kept)
        raise
    frames = frame_start + np.arange(len(trajectory.position))
    for item, mode, location, turned in plan:
        _store(item, scene, mode, frames, location, turned)
    _replay(scene)
    return overrides.warnings(scene, objects.values())


def clear(scene, objects=None):
    """Take back the bakes of a scene's objects, or of those given.  Returns how many objects held one."""
    cleared = sum(records.end(item) for item in (scene.objects if objects is None else objects))
    if cleared:
        _replay(scene)
    return cleared


def suspend(scene, objects=None):
    """Take bakes back for a while, so that the scene below them can be read.  Returns what ``resume`` puts on again."""
    baked = [item for item in (scene.objects if objects is None else objects) if records.is_baked(item)]
    kept = []
    for item in baked:
        curves = {(curve.data_path, curve.array_index): curve for curve in records.baked_curves(item)}
        path = records.rotation_path(item.rotation_mode)
        location = [curves.get(("location", i)) for i in range(3)]
        turned = [curves.get((path, i)) for i in range(len(getattr(item, path)))]
        if None in location or None in turned:
            continue  # keys that someone deleted since are not put on again
        frames = _keys(location[0])[:, 0]
        values = np.stack([_keys(curve)[:, 1] for curve in (*location, *turned)], axis=1)
        kept.append((item, item.rotation_mode, frames, values[:, :3], values[:, 3:]))
    clear(scene, baked)
    return kept


def resume(scene, kept):
    """Put suspended bakes on again."""
    for item, mode, frames, location, turned in kept:
        _store(item, scene, mode, frames, location, turned)
    _replay(scene)


def _store(item, scene, mode, frames, location, turned):
    """Frames (T,), location (T, 3) [Blender units], turned (T, 3 or 4) -> F-curves."""
    bag = records.begin(item, scene, mode)
    linear = np.full(len(frames), LINEAR, dtype=np.int32)
    keys = np.empty((len(frames), 2), dtype=np.float32)
    keys[:, 0] = frames
    for path, values in (("location", location), (records.rotation_path(mode), turned)):
        for i in range(values.shape[1]):
            keys[:, 1] = values[:, i]
            curve = bag.fcurves.new(path, index=i)
            curve.keyframe_points.add(len(frames))
            curve.keyframe_points.foreach_set("co", keys.ravel())
            curve.keyframe_points.foreach_set("interpolation", linear)
            curve.update()


def _keys(curve):
    keys = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", keys)
    return keys.reshape(-1, 2)


def _replay(scene):
    """Evaluate the current frame again, so that objects stand where their animation now says."""
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
