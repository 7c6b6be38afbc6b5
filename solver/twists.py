# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists of joints over whole turns: which of them a step leads to, and which it made."""

import numpy as np

from . import rotations
from .flags import places
from .problem import Coordinate


def expect_turns(rows, bodies, step):
    """Unwrap twists around the angle that the present velocity leads to, so that fast wheels are not miscounted.

    A drive that is rigid without limit is at its target, however many turns away: its axis is unwrapped around that.
    """
    twist = places(rows.coordinate == int(Coordinate.TWIST))  # NumPy is slow with an enum
    if not len(twist):
        return
    turn = step * _rate(rows, twist, bodies.orientation, bodies.velocity)
    rows.offset[twist] += turn
    rows.target[twist] -= turn
    far = twist[np.abs(rows.target[twist]) > np.pi]
    if not len(far):
        return
    for k in far[_rigid(rows, far)]:
        axis = twist[(rows.joint[twist] == rows.joint[k]) & (rows.axis_a[twist] == rows.axis_a[k]).all(axis=1)]
        turns = 2.0 * np.pi * np.round(rows.target[k] / (2.0 * np.pi))
        rows.offset[axis] += turns
        rows.target[axis] -= turns


def count_turns(problem, solution, coordinate):
    """In place: (R,) coordinates of joint rows at the end pose, less their offsets, with the turns the step made.

    They come within half a turn of where ``expect_turns`` thought; what drove a joint farther tells by its velocity.
    """
    rows, bodies = problem.joints, problem.bodies
    twist = places(rows.coordinate == int(Coordinate.TWIST))
    if len(twist):
        change = problem.step * _rate(rows, twist, bodies.orientation, solution.velocity - bodies.velocity)
        coordinate[twist] = rotations.unwrapped(coordinate[twist], change)


def _rate(rows, twist, orientation, velocity):
    """(T,) how fast the rows ``twist`` turn where the step starts.  velocity: (B, 6)."""
    a, b = rows.body_a[twist], rows.body_b[twist]
    axis = rotations.rotate(orientation[a], rows.axis_a[twist])
    return np.einsum("ri,ri->r", axis, velocity[b, 3:] - velocity[a, 3:])


def _rigid(rows, k):
    """(K,) bool: rows that hold their coordinate with any force."""
    held = (rows.beta[k] == 1.0) & (rows.compliance[k] == 0.0)
    return held & np.isinf(rows.lower[k]) & np.isinf(rows.upper[k])
