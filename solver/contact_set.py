# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts that a detection found, and what is carried from those of one step to those of the next."""

from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter

import numpy as np

from .copies import replace
from .flags import numbers, some
from .manifold import Manifolds, carry
from .ordered import among, distinct
from .plausible import pair_number


@dataclass
class ContactSet:
    """C contacts.  gap = normal . (x_a - x_b) - margin_a - margin_b, x the world positions of the local points [m]."""

    body_a: np.ndarray  # (C,) scene body
    body_b: np.ndarray  # (C,) scene body
    point_a: np.ndarray  # (C, 3) in the Scene body's frame (not the centre of mass)
    point_b: np.ndarray  # (C, 3)
    margin_a: np.ndarray  # (C,) rounding radius around the point
    margin_b: np.ndarray  # (C,)
    normal: np.ndarray  # (C, 3) world, unit, from b to a
    gap: np.ndarray  # (C,) at the poses of detection
    pair: np.ndarray  # (C,) int64, ascending: identifies the shape pair
    previous: np.ndarray  # (C,) index of the same contact in the ContactSet last accepted, or -1
    face: np.ndarray  # (C,) scene body whose face it touches and its normal turns with, or -1
    face_normal: np.ndarray  # (C, 3) the normal in that body's frame
    deforms: np.ndarray  # (C,) scene body whose mesh deforms there, or -1
    shift: np.ndarray  # (C, 3) way of its material until the step's end, in that body's frame [m]
    drift: np.ndarray  # (C, 3) and its velocity beyond that of the body, world [m/s]
    first: np.ndarray  # (C,) int: 1 where it is known to be what the two touch first in the step, as they do then
    manifolds: Manifolds = field(repr=False)  # whole manifolds, distant points too
    source: np.ndarray = field(repr=False)  # (C,) index of each contact in ``manifolds``

    def __len__(self):
        return len(self.body_a)

    def take(self, index):
        """The contacts at ``index`` (indices or mask)."""
        index = numbers(index)
        columns = [column.take(index, 0) for column in _COLUMNS(self)]
        return ContactSet(*columns, self.manifolds, self.source.take(index))

    def without_lasting(self, body_a, body_b, count):
        """The same, whose manifolds between these pairs of bodies (P,), of ``count`` in all, do not persist."""
        mine, wanted = (
            pair_number(*bodies, count) for bodies in ((self.manifolds.body_a, self.manifolds.body_b), (body_a, body_b))
        )
        again = among(mine, distinct(wanted))
        if not some(again):
            return self
        place = np.where(again[:, None], np.inf, self.manifolds.place)
        return replace(self, manifolds=replace(self.manifolds, place=place))

    def with_points(self, more):
        """The same, whose manifolds have the points of the Manifolds ``more``, too, behind those of their pairs."""
        whole, order = Manifolds.join([self.manifolds, more])
        number = np.empty(len(order), np.intp)
        number[order] = np.arange(len(order))
        return replace(self, manifolds=whole, source=number.take(self.source))

    def joined(self, other):
        """The contacts of both sets, in order of their pairs, with these points alone as manifolds."""
        order = np.concatenate([self.pair, other.pair]).argsort(kind="stable")
        point = np.concatenate([self.source, len(self.manifolds) + other.source]).take(order)
        columns = [np.concatenate(both).take(order, 0) for both in zip(_COLUMNS(self), _COLUMNS(other), strict=True)]
        return ContactSet(*columns, self.manifolds.and_then(other.manifolds, point), np.arange(len(order)))


_COLUMNS = attrgetter(*(item.name for item in fields(ContactSet) if item.name not in ("manifolds", "source")))


def carry_impulses(previous, impulse, contacts):
    """World impulses (P, 3) of the ContactSet ``previous`` (the one last accepted) laid on ``contacts`` -> (C, 3).

    Matched contacts take theirs; an old one without successor gives its impulse to the nearest new contact of the same
    shape pair, so that the pair's total stays.  Impulses of pairs that parted are dropped.
    """
    return carry(np.asarray(impulse, float), previous, contacts, contacts.previous)


def still_surface(count):
    """``deforms``, ``shift`` and ``drift`` of contacts on surfaces that do not deform."""
    return np.full(count, -1), np.zeros((count, 3)), np.zeros((count, 3))


@cache
def no_contacts():
    """The ContactSet of a scene in which nothing touches: always the same."""
    none, integers, numbers, vectors = no_manifolds(), np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 3))
    return ContactSet(
        integers, integers, vectors, vectors, numbers, numbers, vectors, numbers, none.pair, np.zeros(0, np.intp),
        integers, vectors, *still_surface(0), integers, none, np.zeros(0, np.intp),
    )  # fmt: skip


def no_manifolds():
    """Manifolds of a scene in which nothing touches."""
    integers, numbers, vectors = np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 3))
    return Manifolds(
        np.zeros(0, np.int64), integers, integers, vectors, vectors, numbers, numbers, vectors, numbers, numbers,
        vectors, np.zeros((0, 3, 3)),
    )  # fmt: skip
