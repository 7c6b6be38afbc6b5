# SPDX-License-Identifier: GPL-3.0-or-later
"""What flies without hold though contacts press in it, as pieces that are glued together, falls by mid-step.

What a contact holds ends a step by backward Euler, which takes what gravity adds in a step, g h, along the whole way:
glued pieces came g h^2 / 2 too far down in every step, and lost as much energy.  What joints and contacts inside a
group hold does not depend on the motion that all of it has in common: half of that gain comes after the way.
"""

import numpy as np

from .components import connected_components
from .topology import whole_groups


def falling(problem, links, pressed, middle, bounces=None):
    """(n,) int: a number for each group of bodies that joints and pressed contacts tie to each other and to nothing
    else, -1 for all other bodies, and for those that go by mid-step anyway.  None where there is no such group.  Groups
    in which something rebounds have flights of their own in the step, which end as backward Euler has it.

    links: numbering.Links; pressed: (C,) bool contacts that carry load; middle: (B + 1,) Bodies.midpoint; bounces:
    bounces.Bounces, whose bodies have impacts in their free motion, or None.
    """
    count, contacts = problem.bodies.dynamic_count, problem.contacts
    ends = middle[:count] == 0.0
    if not ends.any():
        return None
    i, j = np.append(contacts.body_a[pressed], links.a), np.append(contacts.body_b[pressed], links.b)
    tied = (i < count) & (j < count)
    outside = np.minimum(i, j)[~tied]
    holds = np.zeros(count, bool) if bounces is None else bounces.flown.copy()
    hits = (contacts.rebound_speed != 0.0) | (contacts.rebound_gap != 0.0)
    for bodies in (outside, contacts.body_a[hits], contacts.body_b[hits]):
        holds[bodies[bodies < count]] = True
    if (holds | ~ends).all():
        return None
    label = connected_components(count, i[tied], j[tied])
    flies = ends & ~whole_groups(label, holds)
    return np.where(flies, label, -1) if flies.any() else None


def in_groups(group, count):
    """(count,) bool: bodies of the groups of an answer of ``falling``."""
    return np.zeros(count, bool) if group is None else group >= 0


def fall_by_middle(bodies, end_velocity, group, step):
    """Take half of what free motion adds to the velocity of each ``group`` (n,) of ``falling``, or None, from the way
    of its problem.Bodies, in place.

    end_velocity: (n, 6) free velocity at the step's end; step: [s].
    """
    if group is None:
        return
    index = np.flatnonzero(group >= 0)
    label, mass = group[index], bodies.mass[index]
    total, gain = np.bincount(label, mass), end_velocity[index, :3] - bodies.velocity[index, :3]
    mean = np.stack([np.bincount(label, mass * along)[label] / total[label] for along in gain.T], axis=1)
    bodies.free_velocity[index, :3] -= 0.5 * mean
    bodies.free_position[index] -= 0.5 * step * mean
