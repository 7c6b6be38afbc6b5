# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that cannot be: two bodies overlap no deeper than they did before plus the way they moved since.

Detection against single triangles of a thin or open mesh sometimes meets the far side, and reports a depth of the whole
thickness where the bodies only just touch.  Pushed out in one step, such a contact would be an explosion.
"""

from functools import cached_property

import numpy as np

from .ordered import segments
from .vectors import length

SLACK = 0.02  # of the smaller half extent: depths this near the bound are left alone


class PairOverlap:
    """Deepest overlap of each pair of bodies in a list of contacts; sorted when it is first asked for."""

    def __init__(self, body_a, body_b, gap, count, most=0.0):
        """body_a, body_b: (C,) numbers below ``count``; gap: (C,) [m]; most: gap of pairs without a lesser one [m]."""
        self._bodies, self._gap, self._count, self._most = (body_a, body_b), gap, count, most

    @cached_property
    def pairs(self):
        """(C,) ``pair_number`` of each in the list."""
        return self._key(*self._bodies)

    @cached_property
    def ordered(self):
        """(C,) numbers of the list's contacts, by pair, and their pairs (C,), ascending."""
        order = self.pairs.argsort(kind="stable")
        return order, self.pairs.take(order)

    @cached_property
    def _deepest(self):
        """Pairs (P,) ascending, and the gap (P + 1,) of each; that of all others last."""
        order, pair = self.ordered
        first, pair = segments(pair)
        deepest = np.full(len(first) + 1, self._most)
        if len(first):
            np.minimum(np.minimum.reduceat(np.take(self._gap, order), first), self._most, out=deepest[:-1])
        return pair, deepest

    def of(self, body_a, body_b):
        """(N,) deepest gap of each pair, at most ``most``; that for pairs that were not in the list."""
        wanted, (pair, deepest) = self._key(body_a, body_b), self._deepest
        if not len(pair):
            return np.full(len(wanted), self._most)
        slot = pair.searchsorted(wanted)
        return deepest.take(np.where(pair.take(slot, mode="clip") == wanted, slot, -1))

    def _key(self, body_a, body_b):
        return pair_number(body_a, body_b, self._count)


def pair_number(body_a, body_b, count):
    """(C,) int64, one number for each pair of bodies whichever comes first; bodies are numbered below ``count``."""
    low, high = np.minimum(body_a, body_b), np.maximum(body_a, body_b)
    return np.asarray(low, np.int64) * count + high


def plausible(contacts, known, way, model, sunk=None):
    """The ContactSet without contacts of meshes deeper than their bodies can have come.

    known: PairOverlap before; way: (B,) how far any point of each body moved since [m]; model: CollisionModel; sunk:
    (Q,) numbers of pairs of shapes that are in each other anyway, whose contacts tell now of one place, now of another.
    """
    if not model.body_mesh.any():
        return contacts
    a, b = contacts.body_a, contacts.body_b
    size = model.body_size
    deepest = known.of(a, b) - way[a] - way[b] - SLACK * np.minimum(size[a], size[b])
    keep = (contacts.gap >= deepest) | ~(model.body_mesh[a] | model.body_mesh[b])
    if sunk is not None and len(sunk):
        keep |= np.isin(contacts.pair, sunk)
    if keep.all():
        return contacts
    return contacts.take(keep)


def way_moved(velocity, radius, step):
    """(N,) the farthest any point of each body moves in a step [m].  velocity (N, 6), radius (N,) around its origin."""
    linear, angular = speeds(velocity)
    return step * (linear + radius * angular)


def speeds(velocity):
    """Lengths (N,) of the linear [m/s] and (N,) of the angular part [rad/s] of velocities (N, 6)."""
    return length(velocity[:, :3]), length(velocity[:, 3:])
