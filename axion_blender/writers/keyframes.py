# SPDX-License-Identifier: GPL-3.0-or-later
"""Trajectory -> keyframes of location and rotation on the simulated objects, and back again."""

import bpy
import numpy as np

from ...solver import SceneError
from . import actions, curves, custom_properties, overrides, placing, records


def write(
    trajectory, objects, frame_start, scene=None, view_layer=None, scale_length=1.0, rotation="KEEP", per_frame=1
):
    """Bake a trajectory into keyframes; an earlier bake of these objects is replaced.

    trajectory: names, position [m] (S, B, 3), orientation xyzw (S, B, 4).  objects: {body name: Object} of the
    bodies to write.  Keys lie at frame_start and every 1 / per_frame of a frame from there.  scale_length: metres per
    Blender unit.  rotation: "KEEP" each object's rotation mode, or turn all to "QUATERNION".  Returns warnings, one
    sentence each.  Raises SceneError, before anything is changed, where an object cannot hold the motion.
    """
    slices = write_slices(trajectory, objects, frame_start, scene, view_layer, scale_length, rotation, per_frame)
    while True:
        try:
            next(slices)
        except StopIteration as end:
            return end.value


def write_slices(
    trajectory, objects, frame_start, scene=None, view_layer=None, scale_length=1.0, rotation="KEEP", per_frame=1
):
    """``write`` as a generator: yields the part done, 0 to 1, and returns the warnings.

    Between two slices some objects hold the new bake and others the old: run it to its end.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    stop = overrides.problems(objects.values())
    if stop:
        raise SceneError(stop[0])
    hidden = suspend(scene, objects.values())
    try:
        frames = frame_start + np.arange(len(trajectory.position)) / per_frame
        plan = placing.plan(trajectory, objects, frames, scene, view_layer, scale_length, rotation)
    except BaseException:
        resume(scene, hidden)
        raise
    for number, (item, mode, location, turned) in enumerate(plan):
        yield number / len(plan)
        _store(item, scene, mode, frames, location, turned)
    _replay(scene)
    return overrides.warnings(scene, objects.values())


def clear(scene, objects=None):
    """Take back the bakes of a scene's objects, or of those given.  Returns how many objects held one.

    Objects linked from another file keep theirs: it is part of that file.  Raises SceneError, before anything is
    changed, where an object's record of its bake is broken.
    """
    items = [item for item in (scene.objects if objects is None else objects) if item.is_editable]
    records.check(items)
    cleared = sum(records.end(item) for item in items)
    if objects is None:
        custom_properties.clear(scene)
        actions.remove_unused()
    if cleared:
        _replay(scene)
    return cleared


def suspend(scene, objects=None):
    """Hide bakes for a while, so that the scene below them can be read.  Returns the objects for ``resume``.

    Raises SceneError, before anything is changed, where an object's record of its bake is broken.
    """
    baked = [item for item in (scene.objects if objects is None else objects) if records.is_baked(item)]
    records.check(baked)
    for item in baked:
        records.hide(item)
    if baked:
        _replay(scene)
    return baked


def holds(item):
    """Whether an object holds a bake."""
    return records.is_baked(item)


def resume(scene, objects):
    """Let hidden bakes play again."""
    for item in objects:
        records.show(item)
    if objects:
        _replay(scene)


def _store(item, scene, mode, frames, location, turned):
    """Frames (T,), location (T, 3) [Blender units], turned (T, 3 or 4) -> F-curves."""
    bag = records.renew(item, scene, mode)
    if bag is None:
        records.end(item)
        bag = records.begin(item, scene, mode)
    keys, pattern = np.empty((len(frames), 2), dtype=np.float32), None
    keys[:, 0] = frames
    for path, values in (("location", location), (records.rotation_path(mode), turned)):
        for i in range(values.shape[1]):
            keys[:, 1] = values[:, i]
            pattern = curves.new(bag, path, i, keys, pattern)


def _replay(scene):
    """Evaluate the current frame again, so that objects stand where their animation now says."""
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
