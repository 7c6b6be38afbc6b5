# SPDX-License-Identifier: GPL-3.0-or-later
"""How far apart two bodies are that are both round where they touch, wherever they have got by the end of a step.

A ball has a point for a core, the round side of a cylinder or capsule its axis, with a radius around them.  With x_a,
x_b the two contact points on them, and e, f unit vectors along the axes, of which each pair has none, one or two:

    d = x_a - x_b, less what of it lies along e and f        phi = |d| - reach        n+ = d / |d|

``reach`` is the sum of both radii, as far as detection knows the gap of the start.  The plane of the start, n . d, says
that two such bodies are nearer than that once they have gone past each other: by s^2 / (2 R) after a way of s around a
distance R of their cores.
"""

import numpy as np

from .rotation import dot, rotate


def core_ways(contacts, index, position, orientation):
    """Ways d (K, 3) between the cores of contacts ``index`` (K,) at poses (B, 3), (B, 4) [m], and (K,) their lengths,
    negative where they point against the contacts' normals.
    """
    sides = (contacts.body_a, contacts.core_axis_a), (contacts.body_b, contacts.core_axis_b)
    axes = (rotate(orientation.take(body[index], 0), axis[index]) for body, axis in sides)
    d = across(between(contacts, index, position, orientation), *axes)
    far = np.sqrt(dot(d, d))
    return d, np.where(dot(contacts.normal[index], d) < 0.0, -far, far)


def between(contacts, index, position, orientation):
    """(K, 3) from the points of bodies b to those of bodies a, of contacts ``index`` (K,), at poses (B, 3), (B, 4)."""
    sides = (contacts.body_a, contacts.point_a), (contacts.body_b, contacts.point_b)
    on_a, on_b = (
        position.take(body[index], 0) + rotate(orientation.take(body[index], 0), point[index]) for body, point in sides
    )
    return on_a - on_b


def across(d, e, f):
    """Vectors d (K, 3) less what of them lies along e and f (K, 3), unit vectors or zero."""
    f = f - dot(e, f)[:, None] * e
    square = dot(f, f)
    d = d - dot(e, d)[:, None] * e
    return d - (dot(f, d) / np.where(square > 0.0, square, 1.0))[:, None] * f


def core_gaps(contacts, gap, position, orientation):
    """``gap`` (C,) [m], but phi of those contacts that are between round cores."""
    index = np.flatnonzero(contacts.core_reach > 0.0)
    gap[index] = core_ways(contacts, index, position, orientation)[1] - contacts.core_reach[index]
    return gap


def end_normals(contacts, normal, position, orientation):
    """World normals (C, 3) at poses (B, 3), (B, 4): ``normal`` (C, 3), but n+ of contacts between round cores."""
    if contacts.core_reach is None:
        return normal
    index, normal = np.flatnonzero(contacts.core_reach > 0.0), normal.copy()
    d, far = core_ways(contacts, index, position, orientation)
    normal[index] = d / far[:, None]
    return normal
