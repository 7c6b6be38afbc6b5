# SPDX-License-Identifier: GPL-3.0-or-later
"""What flies without hold though contacts press on it falls by mid-step: what is struck, pieces glued to each other.

What a contact holds ends a step by backward Euler, which takes what gravity adds in a step, g h, along the whole way:
glued pieces came g h^2 / 2 too far down in every step, and lost as much energy, and so did balls with each hit on a
wall.  What joints and contacts inside a group hold does not depend on the motion that all of it has in common, and what
a body strikes and leaves holds nothing: half of that gain comes after the way.  Along the normal of a hit the gap at
the step's end decides, which is that of the flight before and after it.
"""

import numpy as np

from .components import connected_components
from .copies import replace
from .flags import every, places, some
from .reference.impact import approach, time_to_zero
from .reference.rows import start_gaps
from .topology import whole_groups
from .vectors import inner, moved


def falling(problem, links, pressed, middle, end_velocity, noise, bounces=None):
    """(n,) int: a number for each group of bodies that joints and pressed contacts tie to each other and to nothing
    else, but for what they strike and leave; -1 for all other bodies, and for those that go by mid-step anyway.  None
    where there is no such group.  For what rebounds where nothing pulls it makes no difference, and it is held.

    links: numbering.Links; pressed: (C,) bool contacts that carry load; middle: (B + 1,) Bodies.midpoint; end_velocity:
    (n, 6) free velocity at the step's end; noise: [m] that gaps are known to; bounces: bounces.Bounces, whose bodies
    have impacts in their free motion, or None.
    """
    count, contacts = problem.bodies.dynamic_count, problem.contacts
    ends, gain = middle[:count] == 0.0, end_velocity[:, :3] - problem.bodies.velocity[:count, :3]
    if not some(ends):
        return None
    index, still = pressed, None
    if some(hits := rebounding(contacts)):
        still = hits & ~_pulled(gain, contacts.body_a) & ~_pulled(gain, contacts.body_b)
        index = pressed & (still | ~hits)
    index = places(index)
    i, j = contacts.body_a.take(index), contacts.body_b.take(index)
    if len(links.a):
        i, j = np.concatenate([i, links.a]), np.concatenate([j, links.b])
    lower = np.minimum(i, j)
    tied = np.maximum(i, j) < count
    holding, outside = ~tied, places(~tied[: len(index)])
    if len(outside):
        holding[outside] = ~_leaves(problem, index[outside], end_velocity, gain, noise)
    holds = np.zeros(len(middle), bool)
    if bounces is not None:
        holds[:count] = bounces.flown
    holds[lower[holding]] = True
    if still is not None:
        holds[contacts.body_a[still]] = holds[contacts.body_b[still]] = True
    holds = holds[:count]
    if every(holds | ~ends):
        return None
    label = connected_components(count, i[tied], j[tied])
    flies = ends & ~whole_groups(label, holds)
    return np.where(flies, label, -1) if some(flies) else None


def _leaves(problem, index, end_velocity, gain, noise):
    """(K,) bool: contacts ``index`` (K,) that are hit in the step without a rebound, while nothing pulls against them.

    gain: (n, 3) of the linear velocity of free motion; others as in ``falling``.
    """
    contacts, step = problem.contacts, problem.step
    out, pull = np.zeros(len(index), bool), np.zeros((len(problem.bodies.mass), 3))
    pull[: len(gain)] = step * gain
    pull = pull.take(contacts.body_a.take(index), 0) - pull.take(contacts.body_b.take(index), 0)
    free = places(inner(contacts.normal.take(index, 0), pull) >= -noise)
    free = free[moved(pull.take(free, 0))] if len(free) else free
    if len(free):
        near = contacts.take(index[free])
        speed, more = approach(problem.bodies, near, end_velocity)
        gap = np.maximum(start_gaps(replace(problem, contacts=near)), 0.0)
        time = time_to_zero(gap, speed, more / step)
        hit = time <= step
        out[free] = hit & (-speed - more * np.where(hit, time / step, 0.0) > 2.0 * noise / step)
    return out


def _pulled(gain, body):
    """(C,) bool: whether free motion changes the velocity of each ``body`` (C,); gain: (n, 3)."""
    return (body < len(gain)) & moved(gain).take(body, mode="clip")


def rebounding(contacts):
    """(C,) bool."""
    speed = contacts.rebound_speed
    if contacts.surface_drift is not None:  # which is no rebound
        speed = speed + contacts.surface_drift
    return (speed != 0.0) | (contacts.rebound_gap != 0.0)


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
