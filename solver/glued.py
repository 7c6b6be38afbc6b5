# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces that rigid joints glue together: contacts among them say nothing new, unless joints may break.

What holds such bodies together are their joints.  A contact between two of them presses only as far as it contradicts
joints, by what residuals may leave, and then its group ends steps by backward Euler: three glued boxes of which two
touch along an edge lost a third of their spin in a second at 24 frames a second, and nine bricks on ice half of it.  So
they are not looked for.  Where joints may break it counts how they share loads with contacts: there it is so only as
long as nothing from outside can press the pieces on each other.  What stays apart in the step presses on nothing: six
bricks that turned 1 mm beside a wall lost two fifths of their spin in a second.
"""

from functools import partial

import numpy as np

from .components import connected_components
from .joint_types import AXES
from .reference.rotation import cross
from .rotations import rotate
from .vectors import inner


class Glue:
    """Which bodies of a scene rigid joints hold together."""

    def __init__(self, joints, names, movable, tolerance=0.0):
        """joints: Joint list; names: of the bodies; movable: (B,) bool; tolerance: [m] by which gaps may be off."""
        number = {name: i for i, name in enumerate(names)}
        rigid = [j for j, joint in enumerate(joints) if _is_rigid(joint)]
        sides = [[number.get(body, -1) for body in (joints[j].body_a, joints[j].body_b)] for j in rigid]
        self._joint, self._sides = np.array(rigid, int), np.array(sides, int).reshape(-1, 2).T
        self._lasts = np.array([not _may_break(joints[j]) for j in rigid], bool)
        self._movable, self._known, self._tolerance = movable, (None, None, None), tolerance
        self._inner = None, None

    def pieces(self, alive):
        """(B,) int: bodies that rigid joints hold together share a number, -1 for those that are alone or that such
        joints hold to what does not move; None where there are none.  alive: (joints,) bool, which joints hold.
        """
        return self._pieces(alive)[0]

    def _pieces(self, alive):
        """The same, and those of joints that cannot break alone."""
        if not len(self._joint):
            return None, None
        holds = alive[self._joint]
        key = holds.tobytes()
        if self._known[0] != key:
            pieces, lasts = self._of(self._sides[:, holds]), holds & self._lasts
            self._known = key, pieces, pieces if (lasts == holds).all() else self._of(self._sides[:, lasts])
        return self._known[1:]

    def collide(self, collider, before, *poses):
        """The ContactSet of ``collider`` at the start of a step, without contacts inside what nothing touches, and what
        cannot break.

        before: ContactSet of the last step, or None; poses: as ``Collider.collide`` has them, with the step.
        """
        pieces, solid = self._pieces(collider.alive)
        if pieces is solid:  # none may break, or there are none
            collider.pieces = solid
            found = collider.collide(*poses)
            return found if solid is None else found.take(~_inside(solid, found))
        expected = None if before is None else _untouched(pieces, before)
        collider.pieces = self._with_solid(expected, solid)
        found = collider.collide(*poses)
        close = partial(_close, self._tolerance, collider.model.center_of_mass, *poses[1:5])
        alone = _untouched(pieces, found, close)
        collider.pieces = inner = self._with_solid(alone, solid)
        if expected is not None and (alone is None or (alone[expected >= 0] < 0).any()):
            return collider.collide(*poses)
        return found if inner is None else found.take(~_inside(inner, found))

    def _with_solid(self, alone, solid):
        """(B,) int: pieces that nothing touches, ``alone`` (B,) or None, and of the others those of ``solid``, as well.

        The same object for the same two, as ``Collider.pieces`` are handed to the device anew where they are not.
        """
        if alone is None or solid is None:
            return solid if alone is None else alone
        if self._inner[0] is None or any(
            old is not new for old, new in zip(self._inner[0], (alone, solid), strict=True)
        ):
            self._inner = (alone, solid), np.where((alone < 0) & (solid >= 0), len(alone) + solid, alone)
        return self._inner[1]

    def _of(self, sides):
        count = len(self._movable)
        moves = np.append(self._movable, False)[sides]  # the world is number -1
        both = moves.all(axis=0)
        piece = connected_components(count, *sides[:, both])
        single = np.bincount(piece, minlength=count)[piece] == 1
        hangs = np.zeros(count, bool)
        hangs[sides[moves & ~both]] = True
        piece[single | np.isin(piece, piece[hangs])] = -1
        return piece if (piece >= 0).any() else None


def _is_rigid(joint):
    return joint.compliance == joint.angular_compliance == 0.0 and all(joint.is_locked(axis) for axis in AXES)


def _may_break(joint):
    return min(joint.break_force, joint.break_torque) < np.inf


def _untouched(pieces, contacts, close=None):
    """``pieces`` (B,) of Glue, or None, less those that something else touches in a ContactSet; None: none is left.

    close: tells (C,) bool, which contacts of a ContactSet may press; default: all of them.
    """
    if pieces is None:
        return None
    a, b = pieces[contacts.body_a], pieces[contacts.body_b]
    outside = a != b
    if outside.any() and close is not None:
        outside[outside] = close(contacts.take(outside))
    if not outside.any():
        return pieces
    left = np.where(np.isin(pieces, np.append(a[outside], b[outside])), -1, pieces)
    return left if (left >= 0).any() else None


def _inside(pieces, contacts):
    """(C,) bool: contacts of a ContactSet between two bodies of one of the ``pieces`` (B,)."""
    a, b = pieces[contacts.body_a], pieces[contacts.body_b]
    return (a == b) & (a >= 0)


def _close(tolerance, center, orientation, linear, angular, step, contacts):
    """(C,) bool: contacts of a ContactSet that come as near as ``tolerance`` [m] in the step.

    center: (B, 3) of mass, in the frames of the bodies; orientation, linear, angular: as ``Collider.collide`` has them.
    """
    a, b = contacts.body_a, contacts.body_b
    speed = np.zeros(len(a))
    for sign, body, point in ((1.0, a, contacts.point_a), (-1.0, b, contacts.point_b)):
        lever = rotate(orientation[body], point - center[body])
        speed += sign * inner(contacts.normal, linear[body] + cross(angular[body], lever))
    return (contacts.gap + step * np.minimum(speed, 0.0) <= tolerance) | (contacts.deforms >= 0)
