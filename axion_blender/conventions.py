# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Blender's conventions meet the solver's.  Pure NumPy; the only file that knows both worlds.

    Blender                                    solver
    quaternions (w, x, y, z)                   quaternions (x, y, z, w)
    world matrix T . R . S, float32            body frame (position, orientation), float64; S is baked into the shapes
    Blender units, shown times scale_length    metres
    damping: part lost each second             damping: rate [1/s]
    20 collision collections                   group and mask, bits

The body's frame is the object's world matrix without its scale, so its origin is the object's origin; the centre of
mass lies where the shapes put it.  A mirrored object (negative determinant) keeps a right-handed frame: all three
scales are taken as negative.
"""

import math
from dataclasses import dataclass

import numpy as np

SHEAR_LIMIT = 1e-4
"""Cosine between two axes of a world matrix that still counts as a right angle: float32 noise stays below 1e-6."""
FLAT_SCALE = 1e-7
"""Scale of an axis, relative to the largest, that counts as zero."""


@dataclass(frozen=True)
class Pose:
    """A world matrix taken apart: position (3,), orientation (4,) xyzw, scale (3,), whose signs are all alike."""

    position: np.ndarray
    orientation: np.ndarray
    scale: np.ndarray

    def matrix(self):
        """The pose without scale (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rotation_matrix(self.orientation), self.position
        return matrix


def decompose(matrix):
    """World matrix (4, 4) -> Pose.

    Raises:
        ValueError: what is wrong with the matrix, as the end of a sentence that starts with the object's name.
    """
    matrix = np.asarray(matrix, float)
    if not np.isfinite(matrix).all():
        raise ValueError("its world matrix holds NaN or infinite values: clear its transforms, drivers or constraints")
    sizes = np.linalg.norm(matrix[:3, :3], axis=0)
    if not sizes.min() > FLAT_SCALE * sizes.max():
        x, y, z = sizes
        raise ValueError(f"its scale is ({x:.3g}, {y:.3g}, {z:.3g}): all three must differ from 0")
    pose, slant = decompose_many(matrix)
    if slant > SHEAR_LIMIT:
        raise ValueError(
            f"its world matrix is sheared by {slant:.2g} (limit {SHEAR_LIMIT:g}): apply the scale of its parent"
        )
    return pose


def is_solid(matrices):
    """Whether world matrices (..., 4, 4) are finite and without a scale of zero, (...) of bool."""
    matrices = np.asarray(matrices, float)
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    sizes = np.linalg.norm(np.where(finite[..., None, None], matrices, 0.0)[..., :3, :3], axis=-2)
    return finite & (sizes.min(axis=-1) > FLAT_SCALE * sizes.max(axis=-1))


def decompose_many(matrices):
    """World matrices (..., 4, 4), finite and without zero scale -> (Pose of arrays (..., 3 or 4), slant).

    slant (...): the largest cosine between two axes, above SHEAR_LIMIT where the matrix is sheared.
    """
    matrices = np.asarray(matrices, float)
    axes = matrices[..., :3, :3]
    sizes = np.linalg.norm(axes, axis=-2)
    rotation = axes / sizes[..., None, :]
    slant = np.abs(np.swapaxes(rotation, -1, -2) @ rotation - np.eye(3)).max(axis=(-2, -1))
    sign = np.where(np.linalg.det(rotation) < 0, -1.0, 1.0)
    turned = quaternion(sign[..., None, None] * rotation)
    return Pose(matrices[..., :3, 3].copy(), turned, sign[..., None] * sizes), slant


def quaternion(rotation):
    """Unit quaternions (..., 4) xyzw, w >= 0, of rotation matrices (..., 3, 3).

    Takes the column of 4 q q^T with the largest diagonal entry (Shepperd 1978), so nothing small is divided by.
    """
    m = np.asarray(rotation, float)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    xw, yw, zw = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    table = np.array(  # entry by entry in memory, which is several times faster
        [
            [1 + xx - yy - zz, xy, xz, xw],
            [xy, 1 - xx + yy - zz, yz, yw],
            [xz, yz, 1 - xx - yy + zz, zw],
            [xw, yw, zw, 1 + xx + yy + zz],
        ]
    )
    best = np.argmax([table[k, k] for k in range(4)], axis=0)
    q = np.take_along_axis(table, best[None, None], axis=0)[0]
    q /= np.linalg.norm(q, axis=0)
    return np.moveaxis(np.where(q[3] < 0, -q, q), 0, -1)


def rotation_matrix(q, out=None):
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4) xyzw; ``out``: where to write them."""
    x, y, z, w = np.moveaxis(np.asarray(q, float), -1, 0)
    if out is None:
        out = np.moveaxis(np.empty((3, 3, *x.shape)), (0, 1), (-2, -1))  # in memory as in ``quaternion``
    entry = np.moveaxis(out, (-2, -1), (0, 1))
    entry[0, 0], entry[1, 1], entry[2, 2] = (1 - 2 * (a * a + b * b) for a, b in ((y, z), (x, z), (x, y)))
    for i, j, side, up in ((0, 1, x * y, w * z), (2, 0, x * z, w * y), (1, 2, y * z, w * x)):
        np.multiply(2, side - up, out=entry[i, j, ...])
        np.multiply(2, side + up, out=entry[j, i, ...])
    return out


def rotation_of_vector(vector):
    """Quaternion (4,) xyzw of a rotation vector (3,) [rad]."""
    half = 0.5 * np.linalg.norm(vector)
    return np.append(0.5 * np.sinc(half / np.pi) * np.asarray(vector, float), np.cos(half))


def wxyz(q):
    """The solver's quaternions (..., 4) xyzw -> Blender's."""
    return np.roll(np.asarray(q, float), 1, axis=-1)


def baked(vertices, scale):
    """Vertices (V, 3) of an object in its body's frame: local coordinates times ``scale`` (3,), float64."""
    return np.asarray(vertices, float) * np.asarray(scale, float)


def wound(triangles, scale):
    """Triangles (T, 3) whose outside stays outside under ``scale`` (3,): the winding turns where it mirrors."""
    triangles = np.asarray(triangles)
    return triangles[:, ::-1] if np.prod(np.sign(scale)) < 0 else triangles


def rigid_motion(start, moved):
    """The rotation (3, 3) and translation (3,) that best carry points ``start`` (V, 3) to ``moved`` (V, 3), float64.

    Least squares (Kabsch 1976).  Returns (rotation, translation, largest distance that remains).
    """
    start, moved = np.asarray(start, float), np.asarray(moved, float)
    a, b = start.mean(axis=0), moved.mean(axis=0)
    u, _, vt = np.linalg.svd((start - a).T @ (moved - b))
    flip = np.diag([1.0, 1.0, 1.0 if np.linalg.det(vt.T @ u.T) > 0 else -1.0])
    rotation = vt.T @ flip @ u.T
    translation = b - rotation @ a
    return rotation, translation, float(np.linalg.norm(start @ rotation.T + translation - moved, axis=1).max())


def metres_per_unit(system, scale_length):
    """Metres per Blender unit as Blender's panels show lengths: without a unit system they show bare numbers, so 1."""
    return 1.0 if system == "NONE" else float(scale_length)


def damping_rate(lost):
    """Rate k [1/s] of a velocity that loses the part ``lost`` (0 <= lost < 1) each second: exp(-k) = 1 - lost."""
    return -math.log1p(-lost)


def collision_bits(collections):
    """(group, mask) of a body in ``collections`` (20 booleans): two bodies collide when they share a collection."""
    bits = sum(1 << i for i, member in enumerate(collections) if member)
    return bits, bits
