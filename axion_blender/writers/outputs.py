# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake is written to, as one thing to whoever bakes: keyframes on the objects, or points in place of them.

Either replaces the other.  The functions are those of ``keyframes`` and mean the same for both.
"""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ..slices import run_through
from . import custom_properties, keyframes, moved, players, points, pushed, records, shared

KEYFRAMES, POINTS = "KEYFRAMES", "POINTS"


class _Motion(NamedTuple):
    """What the writers read of a Trajectory, with all its states in a row."""

    names: list[str]
    position: np.ndarray  # (S, B, 3)
    orientation: np.ndarray  # (S, B, 4)


def write_slices(trajectory, objects, frame_start, scene, view_layer, scale_length, output=KEYFRAMES, rotation="KEEP"):
    """Bake a trajectory as ``output`` says; an earlier bake of these objects is replaced.

    A generator: it yields the part done, 0 to 1, and returns warnings.  trajectory: solver.Trajectory; what it holds
    between the frames is written, too.  Other arguments as ``keyframes.write``.  Raises SceneError, before anything is
    changed, where an object cannot hold the motion.
    """
    records.check(scene.objects)
    gone = [
        f"{item.name}: its NLA strip {name} held the earlier bake and went with it; mute a strip to keep it as a take"
        for item in scene.objects
        if records.is_baked(item)
        for name in pushed.playing(item)
    ]
    motion = _Motion(trajectory.names, *trajectory.every_state())
    per_frame = trajectory.states_per_frame
    shared.let_go_of_points(scene)
    if output == POINTS:
        hidden = keyframes.suspend(scene, objects.values())
        try:
            warnings = yield from points.write_slices(
                motion, objects, frame_start, scene, view_layer, scale_length, per_frame
            )
        except BaseException:
            keyframes.resume(scene, hidden)
            raise
        keyframes.clear(scene, [item for item in objects.values() if keyframes.holds(item)])
        shared.clear_points_of_others(scene)
        return [*warnings, *gone]
    warnings = yield from keyframes.write_slices(
        motion, objects, frame_start, scene, view_layer, scale_length, rotation, per_frame
    )
    shared.clear_points_of_others(scene)
    points.clear(scene)
    return [*warnings, *gone]


def write(*arguments, **options):
    """``write_slices`` at once.  Returns warnings."""
    return run_through(write_slices(*arguments, **options))


def clear(scene, objects=None):
    """Take back the bakes of a scene's objects, or the keyframes of those given.

    Returns how many objects held one; points whose bodies were all deleted count as one.
    """
    if objects is not None:
        return keyframes.clear(scene, objects)
    records.check([item for item in scene.objects if points.holds(item)])
    held = sum(item.is_editable and (holds(item) or custom_properties.holds(item)) for item in scene.objects)
    held = held or len(players.shown(scene))
    keyframes.clear(scene)
    shared.let_go_of_points(scene)
    shared.clear_points_of_others(scene)
    points.clear(scene)
    return held


def holds(item):
    """Whether an object holds a bake."""
    return keyframes.holds(item) or points.holds(item)


def is_baked(scene):
    """Whether a scene holds a bake, if only points whose bodies were deleted."""
    return bool(players.shown(scene)) or any(holds(item) for item in scene.objects)


@contextmanager
def below(scene, first):
    """The scene as it is below its bakes, for a while: what a bake from frame ``first`` on simulates.

    Yields the moved.Moves of baked objects, which stand where they were moved to.  Raises SceneError, before anything
    is changed, where an object's record of its bake is broken.
    """
    moves = moved.find(scene, first)
    moves.adopt(scene)
    try:
        hidden = suspend(scene)
        try:
            yield moves
        finally:
            resume(scene, hidden)
    finally:
        moves.take_back(scene)
        moves.put_back()


def suspend(scene):
    """Hide bakes for a while, so that the scene below them can be read.  Returns the objects for ``resume``.

    Raises SceneError, before anything is changed, where an object's record of its bake is broken.
    """
    records.check(scene.objects)
    hidden = keyframes.suspend(scene)
    try:
        return [*hidden, *points.suspend(scene)]
    except BaseException:
        keyframes.resume(scene, hidden)
        raise


def resume(scene, objects):
    """Let hidden bakes play again."""
    keyframes.resume(scene, [item for item in objects if keyframes.holds(item)])
    points.resume(scene, objects)
