# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each object's channels must be for it to move as its body does.

W(t) = X(t) X(0)^-1 W(0), with X the body's pose and W the object's world matrix: so neither the place of the body's
frame in the object nor the object's scale matter.  Then W = space @ basis with
basis = T(delta + location) . delta rotation . rotation . scale gives location and rotation; scale is never written.
T frames, N objects, Blender units.
"""

import numpy as np

from ...solver import SceneError
from ..extract import holding
from ..slices import part
from . import channels, parents

CHUNK = 12_000  # matrices at a time: those fit the processor's cache, and no slice grows with the frames


def plan(trajectory, objects, frames, scene, view_layer, scale_length, rotation):
    """[(object, rotation mode, channels (6 or 7, T) float32: location, then rotation)].  Changes nothing; a generator.

    frames (T,): of the trajectory's states; other arguments as ``keyframes.write``.  Raises SceneError for an object
    that a parent's scale would shear.
    """
    index = {name: i for i, name in enumerate(trajectory.names)}
    column = {item.name: index[name] for name, item in objects.items()}
    items = list(objects.values())
    named = {item.name: item for item in items}
    _check_finite(trajectory, column, frames)
    spaces = yield from part(parents.sample(scene, view_layer, items, frames), 0.0, 0.5)
    done = []
    count = max(1, CHUNK // len(frames))
    for first in range(0, len(items), count):
        yield 0.5 + 0.5 * first / len(items)
        chunk = items[first : first + count]
        basis = _worlds(trajectory, chunk, column, spaces, scale_length)
        for n, item in enumerate(chunk):
            space = spaces[item.name]
            if item.parent is None and not space.carried:
                continue
            matrices = space.matrices
            if space.ancestor is not None:
                above = [named[space.ancestor]]
                matrices = _worlds(trajectory, above, column, spaces, scale_length)[:, 0] @ matrices
                if space.upright is not None:
                    place, matrices = matrices[:, :3, 3], np.broadcast_to(space.upright, matrices.shape).copy()
                    matrices[:, :3, 3] += place
            basis[:, n] = parents.inverse(matrices, item) @ basis[:, n]
        done += _channels(chunk, basis, [spaces[item.name] for item in chunk], rotation)
    return done


def mode(item, rotation):
    """The rotation mode that an object's keys will have."""
    return item.rotation_mode if rotation == "KEEP" else rotation


def _check_finite(trajectory, column, frames):
    if np.isfinite(trajectory.position).all() and np.isfinite(trajectory.orientation).all():
        return
    finite = np.isfinite(trajectory.position).all(axis=-1) & np.isfinite(trajectory.orientation).all(axis=-1)
    for name, at in column.items():
        if not finite[:, at].all():
            frame = frames[np.argmin(finite[:, at])]
            raise SceneError(
                f"{name}: its motion is NaN or infinite from frame {frame:.10g} on; bake a shorter range, more substeps"
                " or a higher quality to find what drives it there."
            )


def _worlds(trajectory, items, column, spaces, scale_length):
    """World matrices (T, N, 4, 4) of simulated objects."""
    columns = [column[item.name] for item in items]
    position = np.asarray(trajectory.position, float)[:, columns] / scale_length
    pose = channels.pose_matrices(position, np.asarray(trajectory.orientation, float)[:, columns])
    start = np.stack([spaces[item.name].world for item in items])
    return channels.moved(pose, channels.rigid_inverse(pose[0]) @ start)


def _channels(items, basis, spaces, rotation):
    """Basis matrices (T, N, 4, 4) -> rows of the plan."""
    scale = np.stack([space.scale for space in spaces])
    for item, own in zip(items, scale, strict=True):
        if not own.all():
            sizes = ", ".join(f"{size:g}" for size in own)
            raise SceneError(f"{item.name}: its scale is ({sizes}): all three must differ from 0")
    turned = basis[..., :3, :3] / scale[:, None, :]
    follows = np.array([item.parent is not None or space.carried for item, space in zip(items, spaces, strict=True)])
    for item, amount in zip(items, _defects(follows, turned), strict=True):
        if not amount < holding.DEFECT:
            culprit, cure = f"its constraints ({holding.resizers(item)})", "mute them"
            if item.parent is not None:
                culprit = f"the scale of its parent ({item.parent.name})"
                cure = "apply the parent's scale or clear the parent"
            raise SceneError(
                f"{item.name} cannot hold its motion as location and rotation: {culprit} would shear or resize it by "
                f"{amount:.2g} (limit {holding.DEFECT:g}); {cure}."
            )
    delta = _side_by_side([space.delta_rotation for space in spaces])
    if (delta != np.eye(3)).any():
        turned = np.swapaxes(delta, -1, -2) @ turned
    location = basis[..., :3, 3] - _side_by_side([space.delta_location for space in spaces])
    modes = [mode(item, rotation) for item in items]
    rows = [None] * len(items)
    for turning in sorted(set(modes)):  # each mode's formula runs once, for all its objects
        at = [n for n, m in enumerate(modes) if m == turning]
        own = slice(None) if len(at) == len(items) else at  # which copies nothing
        values = _in_mode(turning, [items[n] for n in at], [spaces[n] for n in at], turned[:, own])
        values = np.concatenate([location[:, own], values], axis=-1).transpose(1, 2, 0).astype(np.float32, order="C")
        for n, channel in zip(at, values, strict=True):
            rows[n] = (items[n], turning, channel)
    return rows


def _side_by_side(values):
    """Arrays (T, ...) or (1, ...) of N objects as one, (T, N, ...), or (1, N, ...) where all are of the latter."""
    frames = max(len(each) for each in values)
    return np.stack([np.broadcast_to(each, (frames, *each.shape[1:])) for each in values], axis=1)


def _defects(follows, turned):
    """How far each object's rotations (T, N, 3, 3) are from orthonormal.  All are as the first of those that follow
    nothing; follows: (N,) bool.
    """
    defect = np.abs(np.swapaxes(turned[0], -1, -2) @ turned[0] - np.eye(3)).max(axis=(1, 2))
    if follows.any():
        seen = turned[:, follows]
        defect[follows] = np.abs(np.swapaxes(seen, -1, -2) @ seen - np.eye(3)).max(axis=(0, 2, 3))
    return defect


def _in_mode(mode, items, spaces, turned):
    """Rotations (T, N, 3, 3) -> the channel of one rotation mode, following on from where the objects stand."""
    if mode == "QUATERNION":
        start = [
            space.rotation if item.rotation_mode == mode else channels.quaternions(turned[0, n])
            for n, (item, space) in enumerate(zip(items, spaces, strict=True))
        ]
        return channels.continuous_quaternions(turned, start)
    start = [space.rotation for space in spaces]
    if mode == "AXIS_ANGLE":
        return channels.continuous_axis_angles(turned, start)
    return channels.continuous_eulers(turned, mode, start)
