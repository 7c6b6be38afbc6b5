# SPDX-License-Identifier: GPL-3.0-or-later
"""How a step numbers the bodies of the scene, and which of them joints and contacts that press tie together."""

from dataclasses import dataclass

import numpy as np

from .components import connected_components
from .flags import places, some
from .problem import Coordinate, frozen
from .riders import Riders
from .rims_that_roll import NumberedRims
from .topology import whole_groups


@dataclass(eq=False)
class Numbering:
    """Which scene body is which solver body in a step.  The world is scene number B."""

    scene: np.ndarray  # (B + 1,) scene number of each solver body, dynamic ones first
    solver: np.ndarray  # (B + 1,) solver number of each scene body
    dynamic_count: int
    loose: np.ndarray  # (B + 1,) float, 1 for those that move: Bodies.midpoint where nothing is held by a contact

    @classmethod
    def of(cls, free):
        """free: (B,) bool, which bodies move."""
        free = np.append(free, False)
        order = np.concatenate([np.nonzero(free)[0], np.nonzero(~free)[0]])
        solver = np.empty(len(order), np.int64)
        solver[order] = np.arange(len(order))
        return cls(frozen(order), frozen(solver), int(free.sum()), frozen(free[order].astype(float)))


@dataclass(eq=False)
class Links:
    """The joints that hold in a step, as the solver numbers bodies."""

    a: np.ndarray  # (rows,) int32 both bodies of each of their rows
    b: np.ndarray
    joint: np.ndarray  # (rows,)
    loose: np.ndarray  # (joints,) the largest ``Numbering.loose`` of each joint's bodies
    take: np.ndarray | None  # (rows,) bool: rows that have a body that moves; None: all
    group: np.ndarray  # (B + 1,) bodies that joints link share a number; immovable ones have one of their own, the last
    group_count: int  # that number
    sprung: np.ndarray | None  # (group_count + 1,) bool: groups that springs are in; None: no spring holds
    wheels: np.ndarray  # (B + 1,) bool: bodies that one joint holds, without limits, and no other
    flat: np.ndarray  # (B + 1,) int: bodies without curves, as ``flat_bodies`` has it
    rims: NumberedRims | None  # round ends of the bodies
    riders: Riders | None  # who may ride on what moves itself; None: nobody
    rolls: bool  # whether any body that moves is round somewhere, while another one is flat
    gives: np.ndarray | None  # (group_count + 1,) bool: groups with springs or what gives way; None: there are none
    as_one: np.ndarray | None  # (B + 1,) bodies that joints let turn only as one share a number; None: there are none

    @classmethod
    def of(cls, fixed, alive, number, springs=(), limits=(), flat=0, rims=None, riding=None, gives=()):
        """fixed: JointRows of all joints; alive: (joints,) bool, which of them hold; number: Numbering; springs,
        limits, gives: numbers of the rows that have one; flat: (B + 1,) as ``Links.flat``, of scene bodies; rims: Rims;
        riding: Riding.
        """
        holds = alive[fixed.joint] if len(fixed) else np.zeros(0, bool)
        a, b = (number.solver[side[holds]].astype(np.int32) for side in (fixed.body_a, fixed.body_b))
        n = number.dynamic_count
        linked = (a < n) & (b < n)
        label = connected_components(n, a[linked], b[linked])
        count = int(label.max()) + 1 if n else 0
        group = np.append(label, np.full(len(number.scene) - n, count))
        take = (a < n) | (b < n)
        loose, joint = np.zeros(len(alive)), fixed.joint[holds]
        loose[joint] = take
        a, b, joint, group, loose = (frozen(values) for values in (a, b, joint, group, loose))
        rows, marks = np.flatnonzero(holds), []
        for numbers in (springs, gives):
            those, mark = places(np.isin(rows, numbers) & take), None
            if len(those):
                mark = np.zeros(count + 1, bool)
                mark[group[a[those]]] = mark[group[b[those]]] = True
                mark[-1] = False
            marks.append(mark)
        sprung, gives = marks
        flat = np.broadcast_to(flat, len(group))[number.scene]
        rolls = some(flat[:n] > 0)
        held_by, first = np.zeros(len(group), np.int64), places(np.diff(joint, prepend=-1))
        for side in (a, b):
            np.add.at(held_by, side[first], 1)
        wheels, limited = held_by == 1, np.isin(np.flatnonzero(holds), limits)
        wheels[a[limited]] = wheels[b[limited]] = False
        jointed = np.append(a, b)
        rims = None if rims is None else rims.numbered(number, jointed)
        riders = None if riding is None else riding.numbered(number, jointed)
        take = None if take.all() else take
        as_one = _as_one(fixed.coordinate[holds], joint, (a, b), number) if len(fixed) else None
        return cls(a, b, joint, loose, take, group, count, sprung, wheels, flat, rims, riders, rolls, gives, as_one)


def _as_one(coordinate, joint, sides, number):
    """``Links.as_one``; coordinate, joint: (rows,) of each row; sides: both bodies of it."""
    locks = np.bincount(joint[coordinate == Coordinate.DOT], minlength=int(joint.max(initial=-1)) + 1)
    a, b = (side[locks[joint] == 3] for side in sides)
    return connected_components(len(number.scene), a, b) if len(a) else None


def held(links, contacts, pressed, passed, glides=None):
    """(B + 1,) bool: moving bodies with a pressed contact or a joint beyond a limit, or linked to one with it by joints
    and pressed contacts.

    pressed: (C,) bool; passed: (joints,) bool; glides: (C,) bool, contacts that hold nothing by themselves, or None.
    """
    mark = np.zeros(links.group_count + 1, bool)
    holds = places(pressed if glides is None else pressed & ~glides)
    for side in (contacts.body_a, contacts.body_b):
        mark[links.group.take(side.take(holds))] = True
    if some(passed):
        for side in (links.a, links.b):
            mark[links.group.take(side[passed[links.joint]])] = True
    if glides is not None and some(mark[:-1]):
        # Without any that glide, a group of bodies that a pressed contact links to another has one itself.
        index = places(pressed)
        a, b = (links.group.take(side.take(index)) for side in (contacts.body_a, contacts.body_b))
        linked = (a < links.group_count) & (b < links.group_count)
        label = connected_components(links.group_count, a[linked], b[linked])
        mark[:-1] = whole_groups(label, mark[:-1])
    mark[-1] = False
    return mark.take(links.group)
