# SPDX-License-Identifier: GPL-3.0-or-later
"""Where faces touch what is round half way through a step, in contacts that glide (gliding.py)."""

import numpy as np

from .reference.rotation import cross, dot, halfway
from .reference.rows import normals
from .rotations import conjugate, rotate
from .sliding import speed_at


def touch_below(problem, index):
    """Move the points of faces at ``index``, in place and in the faces, to below what is round where that is half way.

    Where a ball rolls is not where the place of a turntable goes that it touched at the start: with the velocity of
    that, it lost a fortieth of its speed in a second.  A face that turns along what is round touches it elsewhere, too:
    a plank that rocks on a log gained a quarter of its swing in six seconds, at any length of the step.
    """
    touches, bodies = problem.contacts, problem.bodies
    for own, other in ("ab", "ba"):
        round_one = getattr(touches, f"margin_{other}")[index] > 0.0
        k = index[round_one & (touches.face[index] == getattr(touches, f"body_{own}")[index])]
        if not len(k):
            continue
        body, there = getattr(touches, f"body_{own}")[k], getattr(touches, f"body_{other}")[k]
        turn, point = bodies.orientation[body], getattr(touches, f"point_{own}")
        arm = rotate(bodies.orientation[there], getattr(touches, f"point_{other}")[k])
        past = speed_at(bodies, there, arm) - speed_at(bodies, body, rotate(turn, point[k]))
        start = normals(touches.take(k), bodies.orientation)
        swept = cross(bodies.velocity[body, 3:], start)  # the normal turns with the face, and along what is round
        past += (1.0 if own == "a" else -1.0) * getattr(touches, f"margin_{other}")[k, None] * swept
        past -= dot(past, start)[:, None] * start
        point[k] += rotate(conjugate(turn), 0.5 * problem.step * past)


def push_below(touches, bodies, index, sides):
    """Move the points of what carries other bodies at ``index``, in place and in the faces, to where what is round is
    half way, seen along the normal: pushes turn the one by what they turn the other by.
    """
    own, other = (side[index] for side in sides)
    on_a = (touches.body_a[index] == own)[:, None]
    half = [halfway(bodies.orientation[body], bodies.free_orientation[body]) for body in (own, other)]
    way = 0.5 * (bodies.position + bodies.free_position)
    middle = way[own] + rotate(half[0], np.where(on_a, touches.point_a[index], touches.point_b[index])) - way[other]
    middle, along = (rotate(conjugate(half[1]), each) for each in (middle, touches.normal[index]))
    face, place = touches.face_normal[index], np.where(on_a, touches.point_b[index], touches.point_a[index])
    place = middle - (dot(middle - place, face) / dot(along, face))[:, None] * along
    for name, side in (("point_b", on_a[:, 0]), ("point_a", ~on_a[:, 0])):
        getattr(touches, name)[index[side]] = place[side]
