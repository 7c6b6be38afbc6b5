# SPDX-License-Identifier: GPL-3.0-or-later
"""Trajectory -> keyframes of location and rotation on the simulated objects, and back again."""

import bpy
import numpy as np

from ...solver import SceneError
from ..slices import part, run_through
from . import custom_properties, overrides, placing, records, staging

PLANNING = 0.3
"""Part of the writing that finds the numbers to be written."""


def write(
    trajectory, objects, frame_start, scene=None, view_layer=None, scale_length=1.0, rotation="KEEP", per_frame=1
):
    """Bake a trajectory into keyframes; an earlier bake of these objects is replaced.

    trajectory: names, position [m] (S, B, 3), orientation xyzw (S, B, 4).  objects: {body name: Object} of the
    bodies to write.  Keys lie at frame_start and every 1 / per_frame of a frame from there.  scale_length: metres per
    Blender unit.  rotation: "KEEP" each object's rotation mode, or turn all to "QUATERNION".  Returns warnings, one
    sentence each.  Raises SceneError, before anything is changed, where an object cannot hold the motion.
    """
    return run_through(
        write_slices(trajectory, objects, frame_start, scene, view_layer, scale_length, rotation, per_frame)
    )


def write_slices(
    trajectory, objects, frame_start, scene=None, view_layer=None, scale_length=1.0, rotation="KEEP", per_frame=1
):
    """``write`` as a generator: yields the part done, 0 to 1, and returns the warnings.

    Between two slices earlier bakes are hidden and nothing else has changed; closed there, it brings them back.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    stop = overrides.problems(objects.values())
    if stop:
        raise SceneError(stop[0])
    frames = frame_start + np.arange(len(trajectory.position)) / per_frame
    hidden, stage = hide(objects.values()), None
    try:
        plan = yield from part(
            placing.plan(trajectory, objects, frames, scene, view_layer, scale_length, rotation), 0.0, PLANNING
        )
        # Only now: a new curve has Blender build its graph anew at the next frame, and planning goes through frames.
        stage = staging.Stage(scene)
        keys = np.empty((7, len(frames), 2), dtype=np.float32)
        keys[..., 0] = frames
        for number, (item, mode, channels) in enumerate(plan):
            yield PLANNING + (1.0 - PLANNING) * number / len(plan)
            keys[: len(channels), :, 1] = channels
            stage.add(item, mode, keys[: len(channels)])
        custom_properties.clear(scene)  # they may lie in the very slots that get the motion
        stage.hand_over()
    except BaseException:
        if stage is not None:
            stage.remove()
        resume(scene, [item for item in hidden if holds(item)])
        raise
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
    if cleared:
        _replay(scene)
    return cleared


def suspend(scene, objects=None):
    """Hide bakes for a while, so that the scene below them can be read.  Returns the objects for ``resume``.

    Raises SceneError, before anything is changed, where an object's record of its bake is broken.
    """
    baked = hide(scene.objects if objects is None else objects)
    if baked:
        _replay(scene)
    return baked


def hide(objects):
    """``suspend`` for whoever sets the frame next: until then, Blender does not see that anything has changed."""
    baked = [item for item in objects if records.is_baked(item)]
    records.check(baked)
    for item in baked:
        records.hide(item)
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


def _replay(scene):
    """Evaluate the current frame again, so that objects stand where their animation now says."""
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
