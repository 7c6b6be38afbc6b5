# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of two bodies that move freely rides on the other: a marble in a bowl that stands on a table, a ball on a dome.

A contact that holds does work on one body and takes as much from the other, along the normal that the surface has where
they are past each other.  Which of them the curve is of does not matter to the two, but to how it is followed: the one
that rides is the smaller, alone, without joints, and the curve is of the larger.
"""

from dataclasses import dataclass

import numpy as np

from .bounces import moving_first
from .flags import places, some
from .flat_shapes import is_flat
from .shape_extents import box_of
from .shapes import TriangleMesh
from .vectors import length

ROUND = 1e-6  # of its size: what is rounded by less has corners


class Riding:
    """The bodies of a scene that may ride on others that move freely, and those."""

    def __init__(self, size, curved, hollow):
        """size: (B + 1,) [m], infinite for what never moves freely; of those that do, which have curves: curved
        (B + 1,) bool, and hollow (B + 1,) those whose curves may turn towards what is on them.
        """
        self.size, self.curved, self.hollow = size, curved, hollow

    @classmethod
    def of(cls, bodies, jointed):
        """None where nothing can: what moves freely is of one size, or none of it has curves that carry.

        jointed: whether joints hold any of the bodies; else only what is hollow carries.
        """
        parts = [[part for shape in body.shapes for part in shape.parts()] for body in bodies]
        moves = np.array(
            [body.motion == "dynamic" and len(own) > 0 for body, own in zip(bodies, parts, strict=True)], bool
        )
        size = np.append([_size(own) if free else np.inf for own, free in zip(parts, moves, strict=True)], np.inf)
        known = size[np.isfinite(size)]
        if not len(known) or known.min() == known.max():
            return None
        curved, hollow = np.zeros((2, len(size)), bool)
        for number in places(moves & (size[:-1] > known.min())):
            may = len(parts[number]) > 1 or isinstance(parts[number][0], TriangleMesh)
            curved[number] = (may or jointed) and not is_flat(bodies[number])
            hollow[number] = may and curved[number]
        return cls(size, curved, hollow) if some(curved) else None

    def numbered(self, number, jointed):
        """The Riders of a Numbering, or None where there are none.  jointed: numbers of bodies in joints, which ride on
        nothing.
        """
        scene, n = number.scene, number.dynamic_count
        free = np.arange(len(scene)) < n
        alone = free.copy()
        alone[jointed] = False
        size, hollow = self.size[scene], self.hollow[scene] & free
        curved = self.curved[scene] & free & (hollow | ~alone)  # on balls that lie in a heap nothing rides for long
        if not some(alone) or not some(curved) or size[alone].min() >= size[curved].max():
            return None
        return Riders(size, alone, curved, hollow)


@dataclass(eq=False)
class Riders:
    """Riding, as a step numbers bodies."""

    size: np.ndarray  # (B + 1,) [m]
    alone: np.ndarray  # (B + 1,) bool: those that move freely and have no joints
    curved: np.ndarray  # (B + 1,) bool: those that carry: what moves freely and has curves, hollow or on joints
    hollow: np.ndarray  # (B + 1,) bool: those of them that are hollow

    def sides(self, contacts):
        """Bodies (C,) and (C,) of contacts, the one that rides or moves first; and (C,) bool, where it rides on a
        curve of the other, which moves freely, too: balls lie on a sphere, bricks hit it.
        """
        own, other = moving_first(contacts)
        larger = self.size.take(own) > self.size.take(other)
        small, large = np.where(larger, other, own), np.where(larger, own, other)
        rides = self.curved.take(large) & self.alone.take(small) & (self.size.take(small) < self.size.take(large))
        if not some(rides):
            return own, other, rides
        margin = np.where(contacts.body_a == small, contacts.margin_a, contacts.margin_b)
        rides &= self.hollow.take(large) | (margin > ROUND * self.size.take(small))
        return np.where(rides, small, own), np.where(rides, large, other), rides


def riding_sides(contacts, bodies):
    """Bodies (C,) and (C,) of contacts: what rides or moves, and what carries it; and (C,) bool, those of what rides on
    what moves freely itself, or None where there are none.  bodies: problem.Bodies.
    """
    if bodies.riders is None:
        return *moving_first(contacts), None
    *sides, rides = bodies.riders.sides(contacts)
    return *sides, rides if some(rides) else None


def riding_first(contacts, bodies):
    """The first two of ``riding_sides``."""
    return riding_sides(contacts, bodies)[:2]


def carried_alone(contacts, bodies, loaded):
    """(C,) bool: contacts of what rides; and (C,) bool, those of them whose body is pressed by nothing else that moves,
    nor carries what rides; None where there are none.

    loaded: (C,) bool.
    """
    if bodies.riders is None:
        return None
    *sides, rides = bodies.riders.sides(contacts)
    index = places(rides & loaded)
    if not len(index):
        return None
    own, other = (side[index] for side in sides)
    first, last = np.full(len(bodies.mass), len(bodies.mass)), np.full(len(bodies.mass), -1)
    np.minimum.at(first, own, other)
    np.maximum.at(last, own, other)
    alone = np.zeros(len(rides), bool)
    alone[index] = (first[own] == last[own]) & (last[other] < 0)
    return rides, alone


def rolls_on(contacts, index, bodies, group, stands):
    """(K,) bool: those of the contacts ``index`` (K,) of what is round and rides on what moves freely, pressed by
    nothing else that moves; and those of ``stands`` (K,) on which what carries it, or is held to it, does.

    group: as of Links.
    """
    known = carried_alone(contacts, bodies, np.ones(len(contacts), bool))
    out = np.zeros(len(index), bool)
    if known is None:
        return out
    own, other = (side[index] for side in riding_first(contacts, bodies))
    margin = np.where(contacts.body_a[index] == own, contacts.margin_a[index], contacts.margin_b[index])
    rides = known[1][index] & (margin > ROUND * bodies.riders.size[own])
    carries = np.zeros(int(group.max()) + 1, bool)
    carries[group[other[rides]]] = True
    return rides | (stands & carries[group[own]])


def _size(parts):
    """How far shapes reach from the origin of their body [m]."""
    reach = 0.0
    for shape in parts:
        middle, half = box_of(shape)
        reach = max(reach, float(length(np.stack([shape.position, middle, half])).sum()))
    return reach
