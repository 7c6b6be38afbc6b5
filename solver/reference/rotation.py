# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations in float64 NumPy, vectorised over the leading axes.

Quaternions are xyzw, R(q) takes body axes to world axes, and an angular velocity w in world axes acts from the left:
q(t + h) = exp(h w) q(t).
"""

import numpy as np

_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])
_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])


def cross(a, b):
    """Cross product along the last axis; a plain form of ``numpy.cross``, whose overhead dominates on small arrays."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return a.take(_NEXT, -1) * b.take(_AFTER, -1) - a.take(_AFTER, -1) * b.take(_NEXT, -1)


def vector_cross(p, q):
    """``cross`` of the vector parts of quaternions (..., 4), arrays of float."""
    return p.take(_NEXT, -1) * q.take(_AFTER, -1) - p.take(_AFTER, -1) * q.take(_NEXT, -1)


def dot(a, b):
    """Scalar product along the last axis."""
    return np.einsum("...i,...i->...", a, b)


def arctan2(y, x):
    """``numpy.arctan2`` of arrays in one piece: of columns it takes its vector form, which differs in the last bit, or
    does not, by where in memory its result comes to lie.
    """
    return np.arctan2(np.ascontiguousarray(y), np.ascontiguousarray(x))


def skew(a):
    """Matrix (..., 3, 3) of the cross product with ``a``: its product with b is a x b."""
    a = np.asarray(a, float)
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*a.shape[:-1], 3, 3)


def multiply(p, q):
    """Quaternion product p q: first q, then p."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    pv, pw, qv, qw = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    vector = pw * qv + qw * pv + vector_cross(p, q)
    return np.concatenate([vector, pw * qw - dot(pv, qv)[..., None]], axis=-1)


def conjugate(q):
    """Inverse rotation of a unit quaternion."""
    return np.asarray(q, float) * _CONJUGATE


def rotate(q, a):
    """R(q) a for unit quaternions q (..., 4) and vectors a (..., 3)."""
    q, a = np.asarray(q, float), np.asarray(a, float)
    return turned(q, a)


def turned(q, a):
    """``rotate`` for arrays of float: a + 2 (w + v x) (v x a) with (v, w) = q, each part of v put in order once."""
    after, before = q.take(_NEXT, -1), q.take(_AFTER, -1)
    t = 2.0 * (after * a.take(_AFTER, -1) - before * a.take(_NEXT, -1))
    return a + q[..., 3:] * t + (after * t.take(_AFTER, -1) - before * t.take(_NEXT, -1))


def matrix(q):
    """R(q) (..., 3, 3) of unit quaternions (..., 4)."""
    return rotate(np.asarray(q, float)[..., None, :], np.eye(3)).swapaxes(-1, -2)


def exponential(rotation):
    """Quaternion (..., 4) of a rotation vector (..., 3) [rad]."""
    rotation = np.asarray(rotation, float)
    half = 0.5 * np.sqrt(dot(rotation, rotation))[..., None]
    return np.concatenate([0.5 * np.sinc(half / np.pi) * rotation, np.cos(half)], axis=-1)


def angle_between(p, q):
    """Angle [rad], 0 to pi, of the rotation that takes orientation p to orientation q."""
    d = multiply(conjugate(p), q)
    return 2.0 * np.arctan2(np.sqrt(dot(d[..., :3], d[..., :3])), np.abs(d[..., 3]))


def halfway(p, q):
    """Orientation in the middle between p and q on the shorter way: the normalised sum after aligning signs."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    middle = p + np.where(dot(p, q) < 0.0, -1.0, 1.0)[..., None] * q
    return middle / np.sqrt(dot(middle, middle))[..., None]


def world_inertia(q, principal):
    """R diag(principal) R^T (..., 3, 3): the inertia [kg m^2] in world axes of a body frame along principal axes."""
    r = matrix(q)
    return np.einsum("...ij,...j,...kj->...ik", r, principal, r)
