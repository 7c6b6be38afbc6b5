# SPDX-License-Identifier: GPL-3.0-or-later
"""Axes and angles of joints with several degrees of freedom, as newton has them."""

import numpy as np

from . import rotations


def angular_coordinates(axes, turn):
    """Angles (n,) of a D6 joint with n = 2 or 3 turning axes, and covectors (n, 3): angle rate = covector . w.

    axes: (n, 3) unit, at right angles.  turn: (3, 3) orientation of the child's joint frame in the parent's, where
    axes and covectors are given too.  As newton has it: turns about axis 0, the carried axis 1 and the carried axis 2;
    of two axes, the middle turn about their cross product is the locked one.
    """
    three = axes if len(axes) == 3 else np.array([axes[0], np.cross(axes[0], axes[1]), axes[1]])
    basis = np.array([three[0], three[1], np.cross(three[0], three[1])])
    hand = np.sign(basis[2] @ three[2])
    r = basis @ turn @ basis.T
    first, last = np.arctan2(-r[1, 2], r[2, 2]), hand * np.arctan2(-r[0, 1], r[0, 0])
    middle = np.arcsin(np.clip(r[0, 2], -1.0, 1.0))
    carried = rotations.rotate(rotations.exponential(first * three[0]), three[1])
    third = turn @ three[2]
    volume = three[0] @ np.cross(carried, third)
    volume = np.copysign(max(abs(volume), 1e-4), volume)  # newton's own bound near gimbal lock
    dual = np.array([np.cross(carried, third), np.cross(third, three[0]), np.cross(three[0], carried)]) / volume
    angle = np.array([first, middle, last])
    keep = [0, 1, 2] if len(axes) == 3 else [0, 2]
    return angle[keep], dual[keep]


def complement(span):
    """Orthonormal vectors (3 - n, 3) at right angles to the n orthonormal rows of ``span``."""
    if not len(span):
        return np.eye(3)
    return np.linalg.svd(np.asarray(span, float).reshape(-1, 3))[2][len(span) :]
