# SPDX-License-Identifier: GPL-3.0-or-later
"""From rotation matrices over time to the values of Blender's rotation channels, continuous in time.  Pure NumPy.

A rotation has two quaternions, many Euler triples and many axis-angle forms.  F-curves interpolate each channel alone,
so consecutive keys must be the nearest of these forms, or the object spins the long way round between two frames.
T frames, N objects; quaternions here are Blender's, (w, x, y, z); angles in radians.
"""

import numpy as np

from .. import conventions

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
    matrix = np.zeros((*position.shape[:-1], 4, 4))
    matrix[..., :3, :3] = conventions.rotation_matrix(q / np.linalg.norm(q, axis=-1, keepdims=True))
    matrix[..., :3, 3] = position
    matrix[..., 3, 3] = 1.0
    return matrix


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
    """
    (i, j, k), odd = EULER_ORDERS[order]
    r = np.asarray(rotation, float)
    cosine = np.hypot(r[..., i, i], r[..., j, i])
    locked = cosine < 1e-7
    first = np.empty((*r.shape[:2], 3))
    first[..., i] = np.arctan2(r[..., k, j], r[..., k, k])
    first[..., j] = np.arctan2(-r[..., k, i], cosine)
    first[..., k] = np.arctan2(r[..., j, i], r[..., i, i])
    second = first + np.pi
    second[..., j] = np.pi - first[..., j]

    turn, parity = 2.0 * np.pi, -1.0 if odd else 1.0
    previous = parity * np.asarray(start, float)
    angles = np.empty_like(first)
    for frame in range(len(r)):
        a, b = first[frame], second[frame]
        stuck = locked[frame]
        if stuck.any():
            a, b = a.copy(), b.copy()
            a[stuck, k] = previous[stuck, k]
            tied = np.arctan2(-r[frame, stuck, j, k], r[frame, stuck, j, j])
            a[stuck, i] = tied + np.sign(a[stuck, j]) * previous[stuck, k]
            b[stuck] = a[stuck]
        a = a + turn * np.round((previous - a) / turn)
        b = b + turn * np.round((previous - b) / turn)
        nearer = np.abs(a - previous).sum(axis=-1) <= np.abs(b - previous).sum(axis=-1)
        previous = np.where(nearer[:, None], a, b)
        angles[frame] = previous
    return parity * angles


def continuous_axis_angles(rotation, start):
    """Angle and axis with an axis that does not flip and an angle that may pass a full turn.

    rotation (T, N, 3, 3); start (N, 4) = (angle, axis) that the first frame follows -> (T, N, 4), axes of length one.
    """
    start = np.asarray(start, float)
    q = quaternions(rotation)
    length = np.linalg.norm(q[..., 1:], axis=-1)
    angle = 2.0 * np.arctan2(length, q[..., 0])
    norm = np.linalg.norm(start[:, 1:], axis=-1, keepdims=True)
    previous = np.where(norm > 0.0, start[:, 1:] / np.where(norm > 0.0, norm, 1.0), [0.0, 0.0, 1.0])
    axis = np.empty((*q.shape[:2], 3))
    for frame in range(len(q)):  # without a rotation the axis is undetermined: it stays
        turned = length[frame] > 1e-9
        candidate = q[frame, :, 1:] / np.where(turned, length[frame], 1.0)[:, None]
        sign = np.where(np.einsum("ni,ni->n", candidate, previous) < 0.0, -1.0, 1.0)
        previous = np.where(turned[:, None], sign[:, None] * candidate, previous)
        angle[frame] *= sign
        axis[frame] = previous
    angle = np.unwrap(np.concatenate([start[None, :, 0], angle]), axis=0)[1:]
    return np.concatenate([angle[..., None], axis], axis=-1)
