# SPDX-License-Identifier: GPL-3.0-or-later
"""From rotation matrices over time to the values of Blender's rotation channels, continuous in time.  Pure NumPy.

A rotation has two quaternions, many Euler triples and many axis-angle forms.  F-curves interpolate each channel alone,
so consecutive keys must be the nearest of these forms, or the object spins the long way round between two frames.
T frames, N objects; quaternions here are Blender's, (w, x, y, z); angles in radians.
"""

import numpy as np

from ...solver import reference
from .. import conventions

arctan2 = reference.rotation.arctan2

# Blender's rotation modes: the axes in the order in which they turn, and whether that order is an odd permutation.
EULER_ORDERS = {
    "XYZ": ((0, 1, 2), False),
    "XZY": ((0, 2, 1), True),
    "YXZ": ((1, 0, 2), True),
    "YZX": ((1, 2, 0), False),
    "ZXY": ((2, 0, 1), False),
    "ZYX": ((2, 1, 0), True),
}


def pose_matrices(position, orientation):
    """Rigid 4x4 matrices of poses.  Position (..., 3), orientation xyzw (..., 4) of any norm but 0 -> (..., 4, 4)."""
    position, q = np.asarray(position, float), np.asarray(orientation, float)
    matrix = _matrices(position.shape[:-1])
    conventions.rotation_matrix(q / np.linalg.norm(q, axis=-1, keepdims=True), out=matrix[..., :3, :3])
    matrix[..., :3, 3] = position
    return matrix


def rigid_inverse(pose):
    """Inverse of rigid 4x4 matrices (..., 4, 4); a general solver wakes its threads for each."""
    turn, inverse = pose[..., :3, :3], np.array(pose)
    inverse[..., :3, :3] = np.swapaxes(turn, -1, -2)
    inverse[..., :3, 3] = -np.einsum("...ji,...j->...i", turn, pose[..., :3, 3])
    return inverse


def moved(pose, matrices):
    """Pose (T, N, 4, 4) @ matrices (N, 4, 4) of which neither has a perspective.

    A product of so many matrices of this size is several times faster entry by entry.
    """
    product = _matrices(pose.shape[:2])
    for i in range(3):
        for j in range(4):
            entry = product[..., i, j]
            np.multiply(pose[..., i, 0], matrices[:, 0, j], out=entry)
            for k in (1, 2):
                entry += pose[..., i, k] * matrices[:, k, j]
        entry += pose[..., i, 3]
    return product


def _matrices(shape):
    """Unset 4x4 matrices (*shape, 4, 4) but for their last row, entry by entry in memory."""
    entries = np.empty((4, 4, *shape))
    entries[3, :3], entries[3, 3] = 0.0, 1.0
    return np.moveaxis(entries, (0, 1), (-2, -1))


def quaternions(rotation):
    """Unit quaternions (w, x, y, z) of rotation matrices, stable at every angle.  (..., 3, 3) -> (..., 4)."""
    return conventions.wxyz(conventions.quaternion(rotation))


def continuous_quaternions(rotation, start):
    """Quaternions with signs that follow on from one frame to the next.

    rotation (T, N, 3, 3); start (N, 4), the quaternion whose sign the first frame follows -> (T, N, 4).
    """
    q = quaternions(rotation)
    before = np.concatenate([np.asarray(start, float)[None], q[:-1]])
    flips = np.where(np.einsum("tni,tni->tn", before, q) < 0.0, -1.0, 1.0)
    return q * np.cumprod(flips, axis=0)[..., None]


def continuous_eulers(rotation, order, start):
    """Euler angles [rad], each frame the triple nearest to that of the frame before.

    rotation (T, N, 3, 3); order one of EULER_ORDERS; start (N, 3), angles that the first frame follows -> (T, N, 3).
    In gimbal lock only a sum of two angles is determined: the last angle then keeps its value.

    Near it the first angle is as uncertain as the rotation's rounding over the cosine of the second, so the last one is
    that of the rotation with the first taken out: together they are right (Herter and Lott 1993).
    """
    (i, j, k), odd = EULER_ORDERS[order]
    r, parity = np.asarray(rotation, float), -1.0 if odd else 1.0
    start = parity * np.asarray(start, float)
    cosine = np.hypot(r[..., i, i], r[..., j, i])
    first = np.moveaxis(np.empty((3, *r.shape[:2])), 0, -1)  # angle by angle in memory
    first[..., i] = arctan2(r[..., k, j], r[..., k, k])
    first[..., j] = arctan2(-r[..., k, i], cosine)
    sine, other = r[..., k, j], r[..., k, k]  # of the first angle, times a length
    first[..., k] = arctan2(sine * r[..., i, k] - other * r[..., i, j], other * r[..., j, j] - sine * r[..., j, k])
    locked = cosine < 1e-7
    angles = _followed_freely(first, j, start)
    stuck = np.flatnonzero(locked.any(axis=0))
    if len(stuck):
        tied = arctan2(-r[:, stuck, j, k], r[:, stuck, j, j])
        angles[:, stuck] = _followed(first[:, stuck], (i, j, k), start[stuck], locked[:, stuck], tied)
    return parity * angles


def _other(first, j):
    """The other triple of Euler angles (..., 3) of the same rotation."""
    second = first + np.pi
    second[..., j] = np.pi - first[..., j]
    return second


def _followed_freely(first, j, start):
    """Of each triple ``first`` (T, N, 3), its other one and full turns added to them, the nearest to that before.

    start (N, 3): before the first.  Whether the frame before took the one or the other changes which is the nearer, but
    not how far the two are away; so all frames are compared at once.  Rotations out of gimbal lock only.
    """
    turn = 2.0 * np.pi
    angles = np.moveaxis(first, -1, 0)  # (3, T, N), as they lie in memory
    steps = np.empty_like(angles)
    steps[:, 0] = angles[:, 0] - start.T
    np.subtract(angles[:, 1:], angles[:, :-1], out=steps[:, 1:])
    away = np.abs(steps)
    away = np.minimum(away, np.abs(away - turn))
    across = np.pi - away
    across[j, 1:] = np.pi - np.abs(angles[j, 1:] + angles[j, :-1])
    swaps = across.sum(axis=0) < away.sum(axis=0)
    ways = first[0], _other(first[0], j)
    ways = [np.abs(way - start - turn * np.round((way - start) / turn)).sum(axis=-1) for way in ways]
    swaps[0] = ways[1] < ways[0]
    if swaps.any():
        second = np.moveaxis(_other(first, j), -1, 0)
        angles = np.where(np.logical_xor.accumulate(swaps, axis=0), second, angles)
        steps = np.diff(angles, axis=1, prepend=start.T[:, None])
    turns = np.round(steps / -turn)
    return np.moveaxis(angles + turn * np.cumsum(turns, axis=1), 0, -1)


def _followed(first, axes, start, locked, tied):
    """``_followed_freely`` frame by frame, for rotations that go through gimbal lock.

    locked (T, N): where they do; tied (T, N): the angle that they have there about the first axis if the last is 0.
    """
    (i, j, k), turn = axes, 2.0 * np.pi
    second, previous, angles = _other(first, j), start, np.empty_like(first)
    for frame in range(len(first)):
        a, b = first[frame], second[frame]
        stuck = locked[frame]
        if stuck.any():
            a, b = a.copy(), b.copy()
            a[stuck, k] = previous[stuck, k]
            a[stuck, i] = tied[frame, stuck] + np.sign(a[stuck, j]) * previous[stuck, k]
            b[stuck] = a[stuck]
        a = a + turn * np.round((previous - a) / turn)
        b = b + turn * np.round((previous - b) / turn)
        nearer = np.abs(a - previous).sum(axis=-1) <= np.abs(b - previous).sum(axis=-1)
        previous = np.where(nearer[:, None], a, b)
        angles[frame] = previous
    return angles


def continuous_axis_angles(rotation, start):
    """Angle and axis with an axis that does not flip and an angle that may pass a full turn.

    rotation (T, N, 3, 3); start (N, 4) = (angle, axis) that the first frame follows -> (T, N, 4), axes of length one.
    """
    start = np.asarray(start, float)
    q = quaternions(rotation)
    length = np.linalg.norm(q[..., 1:], axis=-1)
    angle = 2.0 * arctan2(length, q[..., 0])
    norm = np.linalg.norm(start[:, 1:], axis=-1, keepdims=True)
    before = np.where(norm > 0.0, start[:, 1:] / np.where(norm > 0.0, norm, 1.0), [0.0, 0.0, 1.0])
    turned = length > 1e-9  # without a rotation the axis is undetermined: it stays
    axis = np.concatenate([before[None], q[..., 1:] / np.where(turned, length, 1.0)[..., None]])
    if not turned.all():
        latest = np.maximum.accumulate(np.where(turned, np.arange(1, len(q) + 1)[:, None], 0), axis=0)
        axis[1:] = np.take_along_axis(axis, latest[..., None], axis=0)
    flips = np.where(np.einsum("tni,tni->tn", axis[1:], axis[:-1]) < 0.0, -1.0, 1.0)
    sign = np.cumprod(flips, axis=0)
    angle = np.unwrap(np.concatenate([start[None, :, 0], sign * angle]), axis=0)[1:]
    return np.concatenate([angle[..., None], sign[..., None] * axis[1:]], axis=-1)
