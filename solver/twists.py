# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists of joints over whole turns: which of them a step leads to, and which it made.

Those of hinges are told by the velocity.  Where b swings against a as well, and comes close to being turned over, the
same velocity turns by any angle; there it is told by the way from pose to pose, along which (w, v . k) of rows.py goes
round zero on one side or the other.  Beyond 160 degrees of swing whole turns mean nothing and are forgotten: from then
on they are counted from within half a turn of what the twist fades to, whichever side a body came past on.  Limits
forget them where they begin to fade, or a body that came round them could not go on.
"""

from typing import NamedTuple

import numpy as np

from . import rotations
from .flags import places, some
from .problem import Coordinate
from .reference.rotation import arctan2, conjugate, dot, multiply
from .reference.rows import OVER, SWUNG

HAIR = 1e-6  # more than rounding makes of r


def expect_turns(rows, bodies, step):
    """Unwrap twists around the angle that the present velocity leads to, so that fast wheels are not miscounted.

    A drive that is rigid without limit is at its target, however many turns away: its axis is unwrapped around that.
    """
    twists = places(rows.coordinate == int(Coordinate.TWIST))  # NumPy is slow with an enum
    if not len(twists):
        return
    turn = step * _rate(rows, twists, bodies.orientation, bodies.velocity)
    if swings := some(rows.swings):
        over, seen = _past(rows, twists, bodies.orientation, bodies.free_orientation)
        first, rows.offset = rows.offset, rows.offset.copy()
        if len(over):
            turn[over] = _counted(rows.take(twists[over]), seen, seen.r >= OVER)
    rows.offset[twists] += turn
    rows.target[twists] -= turn
    far = twists[np.abs(rows.target[twists]) > np.pi]
    for k in far[_rigid(rows, far)]:
        axis = twists[(rows.joint[twists] == rows.joint[k]) & (rows.axis_a[twists] == rows.axis_a[k]).all(axis=1)]
        turns = 2.0 * np.pi * np.round(rows.target[k] / (2.0 * np.pi))
        rows.offset[axis] += turns
        rows.target[axis] -= turns
    if swings:
        rows.start = first - rows.offset
        rows.centre = rows.centre + rows.start


def count_turns(problem, solution, judged):
    """Give joint rows at the end pose, in place, the coordinates and angles with the turns the step made.

    They come within half a turn of where ``expect_turns`` thought; what drove a joint farther tells by its velocity.
    judged: the JudgedStep of the StepSolution.
    """
    rows, bodies, coordinate = problem.joints, problem.bodies, judged.coordinate
    twists = places(rows.coordinate == int(Coordinate.TWIST))
    if not len(twists):
        return
    change = problem.step * _rate(rows, twists, bodies.orientation, solution.velocity - bodies.velocity)
    whole, over = rotations.unwrapped(coordinate[twists], change), ()
    if some(rows.swings):
        over, seen = _past(rows, twists, bodies.orientation, solution.orientation)
    if not len(over):
        coordinate[twists] = whole
        return
    index = judged.fading = twists[over]
    solved = coordinate[index]
    coordinate[twists] = whole
    judged.turned, judged.reached, coordinate[index] = coordinate.copy(), coordinate.copy(), solved
    judged.turned[index] = rotations.unwrapped(seen.angle - rows.offset[index], 0.0)
    judged.reached[index] = _counted(rows.take(index), seen, True)


class _Seen(NamedTuple):
    """Of TWISTs, (F,) each, on the shorter way between two orientations of their bodies."""

    change: np.ndarray  # [rad]
    least: np.ndarray  # r on the way
    angle: np.ndarray  # at its end, within a turn [rad]
    r: np.ndarray  # at its end


def _counted(rows, seen, forgets):
    """(F,) angles of TWISTs, less their offsets, at the end of a way.  seen: _Seen; forgets: whether turns may be."""
    one_sided = (rows.beta == 1.0) & ((rows.lower == 0.0) | (rows.upper == 0.0))
    gone = forgets & (seen.least < np.where(one_sided, SWUNG, OVER)) & ~np.isnan(rows.centre)
    return rotations.unwrapped(seen.angle - rows.offset, np.where(gone, rows.centre, rows.start + seen.change))


def _past(rows, twists, first, last):
    """(places (F,) in ``twists`` of those rows that fade between orientations (B, 4), their _Seen)."""
    over = places(rows.swings[twists])
    if not len(over):
        return over, None
    index, poses = twists.take(over), np.stack([first, last])
    a, b, reference = rows.body_a.take(index), rows.body_b.take(index), rows.reference.take(index, 0)
    relative = multiply(conjugate(poses.take(a, 1)), poses.take(b, 1))
    # w alone is no more than r, and tells of most
    cosine = np.minimum(np.abs(dot(relative[0], relative[1])), 1.0)
    if np.abs(dot(relative, reference)).min() - 0.5 * np.arccos(cosine.min()) > SWUNG + HAIR:
        return over[:0], None
    turned = multiply(relative, conjugate(reference))
    w, s = turned[..., 3], dot(turned[..., :3], rows.axis_a[index])
    apart, square = dot(turned[0], turned[1]), w * w + s * s
    cosine = np.minimum(np.abs(apart), 1.0)
    # r changes by no more than the way from the nearer end, which is half of all of it at most
    if np.sqrt(square.min()) - 0.5 * np.arccos(cosine.min()) > SWUNG:
        return over[:0], None
    # (w, v . k) goes from ``at`` to ``to`` along at cos(t) + side sin(t), t up to that of ``cosine``
    at, to = np.stack([w[0], s[0]]), np.where(apart < 0.0, -1.0, 1.0) * np.stack([w[1], s[1]])
    sine = np.sqrt(1.0 - cosine**2)
    side = (to - cosine * at) / np.maximum(sine, 1e-12)
    wide, bend = (side**2).sum(axis=0), (at * side).sum(axis=0)
    mean, half = 0.5 * (square[0] + wide), 0.5 * (square[0] - wide)
    lowest = np.mod(np.arctan2(bend, half) + np.pi, 2.0 * np.pi) < 2.0 * np.arctan2(sine, cosine)
    least = np.minimum(np.where(lowest, mean - np.hypot(half, bend), np.inf), square.min(axis=0))
    change = 2.0 * np.arctan2(at[0] * to[1] - at[1] * to[0], (at * to).sum(axis=0))
    fades = places(least < SWUNG * SWUNG)
    seen = change, np.sqrt(np.maximum(least, 0.0)), 2.0 * arctan2(s[1], w[1]), np.sqrt(square[1])
    return over[fades], _Seen(*(each[fades] for each in seen))


def _rate(rows, twists, orientation, velocity):
    """(T,) how fast the rows ``twists`` turn where the step starts.  velocity: (B, 6)."""
    a, b = rows.body_a.take(twists), rows.body_b.take(twists)
    axis = rotations.rotate(orientation.take(a, 0), rows.axis_a.take(twists, 0))
    return np.einsum("ri,ri->r", axis, (velocity.take(b, 0) - velocity.take(a, 0))[:, 3:])


def _rigid(rows, k):
    """(K,) bool: rows that hold their coordinate with any force."""
    held = (rows.beta[k] == 1.0) & (rows.compliance[k] == 0.0)
    return held & np.isinf(rows.lower[k]) & np.isinf(rows.upper[k])
