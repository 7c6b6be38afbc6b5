# SPDX-License-Identifier: GPL-3.0-or-later
"""The one point at which the two bodies of a contact are pushed, wherever each of them takes its own."""

import numpy as np

from .copies import replace
from .reference.rows import contact_places
from .rotations import conjugate, rotate

ROUND, OTHER, STANDS, FACE = range(4)
"""Sides of a contact; of two, the one named later is touched below the other's point."""


def at_one_point(contacts, solution, dynamic_count):
    """The contacts with both their points at one place at the end pose: equal and opposite there, so that the impulses
    keep angular momentum however far the two points slid apart in the step; see ``meeting_point``.
    """
    a, b, turn = contacts.body_a, contacts.body_b, solution.orientation
    poses = solution.position[a], turn[a], solution.position[b], turn[b]
    middle, zero = meeting_point(contacts, poses, dynamic_count), np.zeros(len(contacts))
    points = {
        "point_a": rotate(conjugate(turn[a]), middle - poses[0]),
        "point_b": rotate(conjugate(turn[b]), middle - poses[2]),
    }
    none = dict.fromkeys(("rim_axis", "rim_arm", "core_reach", "core_axis_a", "core_axis_b"))
    return replace(contacts, **points, margin_a=zero, margin_b=zero, **none)


def meeting_point(contacts, poses, dynamic_count):
    """(C, 3) where both bodies of each contact are pushed, when the bodies are at ``poses``.

    A face is touched below the other body's point, wherever its own point has gone: a smooth ball gets no spin.  So is
    what is not solved, else a wheel would be pushed where it touched the ground before the step; and by what is round,
    all else.  Two of a kind meet half way.

    poses: (C, 3), (C, 4) of bodies a and (C, 3), (C, 4) of bodies b; dynamic_count: of the bodies that are solved,
    which come first.
    """
    x_a, q_a, x_b, q_b = poses
    n = contacts.normal
    on_a = x_a + contact_places(contacts, contacts.body_a, contacts.point_a, q_a, -n) - n * contacts.margin_a[:, None]
    on_b = x_b + contact_places(contacts, contacts.body_b, contacts.point_b, q_b, n) + n * contacts.margin_b[:, None]
    apart = np.einsum("ci,ci->c", n, on_a - on_b)[:, None] * n
    face = np.full(len(contacts), -1) if contacts.face is None else contacts.face
    bodies, margins = (contacts.body_a, contacts.body_b), (contacts.margin_a, contacts.margin_b)
    ranks = [
        np.where(face == body, FACE, np.where(body >= dynamic_count, STANDS, np.where(margin > 0.0, ROUND, OTHER)))
        for body, margin in zip(bodies, margins, strict=True)
    ]
    on_a, on_b = (
        np.where((own > other)[:, None], below, point)
        for own, other, below, point in ((*ranks, on_b + apart, on_a), (*ranks[::-1], on_a - apart, on_b))
    )
    return 0.5 * (on_a + on_b)
