# SPDX-License-Identifier: GPL-3.0-or-later
"""The space that an object's channels live in, frame by frame, read from the evaluated scene.

Blender: matrix_world = space @ matrix_basis, where space = parent.matrix_world @ matrix_parent_inverse for a plain
parent.  If an ancestor is itself simulated, its world matrix comes from the trajectory; what lies between the two does
not move with physics, so the space is kept relative to that ancestor.  A vertex as parent (parent_type "VERTEX") hands
its place on and no rotation, so below one only that place moves with the ancestor.  Units: Blender units, world axes.
"""

import math
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from mathutils import Matrix

from ...solver import SceneError
from .. import compat
from ..extract import holding
from ..extract.motion import can_move, has_plain_parent
from ..showing import shown
from .records import rotation_path

OBJECTS = 1000  # that one slice reads, in some 20 ms
DELTAS = ("delta_location", "delta_rotation")


@dataclass
class Space:
    """Where an object stands at the first frame, and its channels' space over time."""

    world: np.ndarray  # (4, 4) at the first frame
    rotation: list  # rotation channel at the first frame
    scale: np.ndarray  # (3,) own times delta
    delta_location: np.ndarray  # (T, 3), or (1, 3) where nothing animates it
    delta_rotation: np.ndarray  # (T, 3, 3), or (1, 3, 3)
    ancestor: str | None  # name of the simulated object that ``matrices`` are relative to; None: the world
    matrices: np.ndarray  # (T, 4, 4), or (1, 4, 4) where nothing moves
    upright: np.ndarray | None  # (T, 4, 4) what stands at the place of ``matrices`` unturned, below a vertex as parent
    carried: bool  # constraints carry it, so ``matrices`` are not its parents' alone


def followers(objects):
    """Those that something else than their own channels may place: only Blender knows where they are at a frame."""
    return [item for item in objects if item.parent is not None or can_move(item)]


def simulated_ancestor(item, simulated):
    """Name of the nearest ancestor that is written too, or None."""
    parent = item.parent
    while parent is not None and not _is_named(parent, simulated):
        parent = parent.parent
    return parent.name if parent is not None else None


def _is_named(item, names):
    """Whether an object is the local one of one of those names: linked objects may have the same."""
    return item.library is None and item.name in names


def sample(scene, view_layer, objects, frames):
    """Spaces of ``objects`` (list) over ``frames`` (T numbers), as {object name: Space}; a generator.

    The current frame is put back at its end.  Goes through all frames only if something between an object and its
    simulated ancestor may move, and has nothing evaluated where all objects stand by their own channels.
    """
    names = {item.name: item for item in objects}
    ancestors = {item.name: simulated_ancestor(item, names) for item in objects}
    shifted = {item.name for item in objects if _has_moving_delta(item)}
    moving = [item for item in objects if item.name in shifted or _may_move(item, ancestors[item.name])]
    follow = {item.name for item in followers(objects)}
    above_others = {*ancestors.values()}
    vertices = {item.name: _held_by_vertex(item, ancestors[item.name]) for item in objects}
    seen = [item for item in objects if item.name in follow or item.name in above_others]
    spaces = {}
    with shown(view_layer, seen), _frame_kept(scene):
        for count, frame in enumerate(frames):
            if count:  # not before the first: what each slice changes is drawn once more
                yield count / len(frames)
            if seen:
                _go_to(scene, frame)
            depsgraph = view_layer.depsgraph
            for number, item in enumerate(objects if count == 0 else moving):
                if number and number % OBJECTS == 0:
                    yield (count + number / len(objects)) / len(frames)
                    if seen and abs(_at(scene) - frame) > 1e-4:  # somebody has moved the playhead
                        _go_to(scene, frame)
                    depsgraph = view_layer.depsgraph
                if item.name not in follow:
                    spaces[item.name] = _own_space(item)
                    continue
                evaluated = item.evaluated_get(depsgraph)
                matrix, upright = holding.space(evaluated, carried=True), None
                above = ancestors[item.name]
                if vertices[item.name] is not None:
                    matrix, upright = _apart(matrix, vertices[item.name].evaluated_get(depsgraph))
                if above is not None:
                    above_now = names[above].evaluated_get(depsgraph).matrix_world
                    matrix = inverse(np.array(above_now), item) @ matrix
                if count:
                    spaces[item.name].matrices[count] = matrix
                    if upright is not None:
                        spaces[item.name].upright[count] = upright
                    if item.name in shifted:
                        spaces[item.name].delta_location[count] = evaluated.delta_location
                        spaces[item.name].delta_rotation[count] = _delta_rotation(evaluated)
                else:
                    spaces[item.name] = _space_of(evaluated, evaluated.matrix_world, above, matrix, upright)
            if count == 0:
                if not moving:
                    break
                for item in moving:
                    space = spaces[item.name]
                    space.matrices = np.repeat(space.matrices, len(frames), axis=0)
                    if space.upright is not None:
                        space.upright = np.repeat(space.upright, len(frames), axis=0)
                    if item.name in shifted:
                        space.delta_location = np.repeat(space.delta_location, len(frames), axis=0)
                        space.delta_rotation = np.repeat(space.delta_rotation, len(frames), axis=0)
    return spaces


def _own_space(item):
    """Space of an object that its own channels alone place: what Blender would evaluate, to the last bit."""
    return _space_of(item, item.matrix_basis, None, np.eye(4))


def _space_of(item, world, ancestor, matrix, upright=None):
    return Space(
        world=np.array(world),
        rotation=list(getattr(item, rotation_path(item.rotation_mode))),
        scale=np.multiply(item.scale, item.delta_scale),
        delta_location=np.array(item.delta_location)[None],
        delta_rotation=_delta_rotation(item)[None],
        ancestor=ancestor,
        matrices=matrix[None],
        upright=None if upright is None else upright[None],
        carried=bool(holding.active(item)),
    )


def _held_by_vertex(item, ancestor):
    """The object at or above ``item`` whose parent is a vertex, the one next to its simulated ancestor, or None."""
    found = None
    while ancestor is not None and not _is_named(item, (ancestor,)):
        found = item if item.parent_type == "VERTEX" else found
        item = item.parent
    return found


def _apart(matrix, held):
    """A space (4, 4) below an object that a vertex holds -> (that vertex's place, what stands there unturned)."""
    place = np.eye(4)
    above = holding.space(held) @ np.linalg.inv(np.array(held.matrix_parent_inverse))
    place[:3, 3] = above[:3, 3]
    upright = np.array(matrix)
    upright[:3, 3] -= place[:3, 3]
    return place, upright


def inverse(matrices, item):
    """Inverse of the matrices (..., 4, 4) of what is above ``item``.  Raises SceneError where they are flat."""
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError as error:
        raise SceneError(
            f"{item.name} cannot hold its motion: its parent {item.parent.name}, or one above that, has a scale of 0 "
            "at some frame; give each a scale other than 0 or clear the parent."
        ) from error


def _at(scene):
    return scene.frame_current + scene.frame_subframe


def _go_to(scene, frame):
    whole = math.floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


@contextmanager
def _frame_kept(scene):
    now = _at(scene)
    try:
        yield
    finally:
        if _at(scene) != now:  # a viewport draws all anew after it
            _go_to(scene, now)


def _delta_rotation(evaluated):
    if evaluated.rotation_mode == "QUATERNION":
        return np.array(evaluated.delta_rotation_quaternion.to_matrix())
    if evaluated.rotation_mode != "AXIS_ANGLE":
        return np.array(evaluated.delta_rotation_euler.to_matrix())
    # Not exposed to Python: what the basis holds besides scale and the object's own axis and angle.
    angle, *axis = evaluated.rotation_axis_angle
    own = np.array(Matrix.Rotation(angle, 3, axis)) if any(axis) else np.eye(3)
    scale = np.multiply(evaluated.scale, evaluated.delta_scale)
    return np.array(evaluated.matrix_basis)[:3, :3] / scale @ own.T


def _has_moving_delta(item):
    """Whether something animates the delta location or rotation of an object, which add to its own channels."""
    return compat.is_animated(item) and any(path.startswith(DELTAS) for path in compat.played_paths(item))


def _may_move(item, ancestor):
    """Whether the space of an object can differ from frame to frame, seen from its simulated ancestor."""
    if holding.active(item):
        return True
    while item.parent is not None:
        if not has_plain_parent(item):
            return True
        item = item.parent
        if _is_named(item, (ancestor,)):
            return False
        if item.animation_data is not None or len(item.constraints) or item.rigid_body is not None:
            return True
    return False
