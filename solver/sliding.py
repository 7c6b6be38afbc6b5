# SPDX-License-Identifier: GPL-3.0-or-later
"""Jointed bodies that slide or roll on what is flat and stands still: skaters, sledges in tow, glued rubble on a floor.

By backward Euler joints take from all that goes round: two boxes held together that spun on smooth ice at 8 rad/s had
4.6 after a second at 24 frames a second, and a puck on a rope round a pole half of its speed after four.  The normal of
such contacts is the same all the way, and what they hold slides in the plane: they glide (gliding.py).
"""

import numpy as np

from .flags import places
from .flat_shapes import HELD
from .reference.rotation import cross, dot
from .reference.rows import normals
from .rotations import rotate
from .vectors import length

GOES = 1e-3  # [m] in a step: groups of which nothing slides farther, or rolls, rest or come to rest
TILTS = 0.1  # [rad] in a step: what turns out of the plane by more leaves the places that it stands on


def slides(touches, index, problem, links, sides, is_round):
    """(K,) bool: those of the contacts ``index`` (K,) in which a jointed body of a group that goes slides or rolls.

    sides: (K,) body that moves and (K,) other body; is_round: (K,) bool, whether the first is, where they touch.
    """
    bodies, (own, other) = problem.bodies, sides
    n, jointed = bodies.dynamic_count, np.zeros(len(bodies.mass), bool)
    jointed[links.a] = jointed[links.b] = True
    may = (own < n) & (other >= n) & jointed.take(own) & (links.flat.take(other) == HELD)
    may &= bodies.straight(problem.step).take(other)
    found = places(may)
    if not len(found):
        return may
    near, body, past = index[found], own[found], bodies.velocity.take(other[found], 0)[:, :3]
    normal, velocity = normals(touches, bodies.orientation, near), bodies.velocity.take(body, 0)
    velocity, spin = velocity[:, :3] - past, velocity[:, 3:]
    slip = speed_at(bodies, body, arms(touches, bodies, body, near)) - past
    group = links.group[body]
    slides, goes = (_fastest(length(across(speed, normal)), group) for speed in (slip, velocity))
    stays = problem.step * length(across(spin, normal)) <= TILTS
    far = GOES / problem.step
    may[found] = stays & (slides > far) | is_round[found] & (np.maximum(slides, goes) > far)
    return may


def arms(contacts, bodies, body, index):
    """(N, 3) places of contacts ``index`` (N,) from the middles of ``body`` (N,), of each one of its two."""
    on_a = contacts.body_a.take(index) == body
    point = np.where(on_a[:, None], contacts.point_a.take(index, 0), contacts.point_b.take(index, 0))
    return rotate(bodies.orientation.take(body, 0), point)


def speed_at(bodies, body, arm):
    """(N, 3) velocity of places ``arm`` (N, 3) from the middles of bodies (N,)."""
    velocity = bodies.velocity.take(body, 0)
    return velocity[:, :3] + cross(velocity[:, 3:], arm)


def across(vector, normal):
    """The part of ``vector`` (K, 3) in the plane of ``normal`` (K, 3)."""
    return vector - dot(vector, normal)[:, None] * normal


def _fastest(speed, group):
    """(K,) largest ``speed`` (K,) of each one's ``group`` (K,)."""
    largest = np.zeros(group.max() + 1)
    np.maximum.at(largest, group, speed)
    return largest[group]
