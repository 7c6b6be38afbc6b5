# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that joints hold and that go straight on all the same: the wheels of a cart, boxes hitched to each other.

Where they touch first in a step is told as of what flies freely (convex_impacts.py).  A contact of the step's start
has the line to what was nearest there: at 24 frames a second a wheel at 8 m/s meets a kerb a third of a metre from
there, and in steps of 1/384 s carts still lost up to a third more than by law.

Joints turn a body aside where they hold it off its middle and it spins about another axis than that of its lever, and
where they tie it to what does not move freely, as links of a bridge.
"""

from typing import NamedTuple

import numpy as np

from .components import connected_components
from .flags import some
from .problem import Coordinate
from .reference.rotation import cross
from .rotations import rotate
from .topology import groups_with
from .vectors import length

ASIDE = 0.02  # of its smallest half extent: how far joints may turn a body aside in a step


class Held(NamedTuple):
    """Bodies that joints hold."""

    body: np.ndarray  # (B,) bool
    aside: np.ndarray  # (B,) bool: those of them that joints turn aside, or may


class StraightFlight:
    """Which bodies of a scene joints keep from flying freely."""

    def __init__(self, joints, size):
        """joints: JointTable or like it; size: (B,) smallest half extent of each body [m]."""
        self._joints, self._size, self._known = joints, size, (None, None)

    def look(self, free, orientation, spin, step):
        """The Held bodies of now, and which of them joints turn aside in a step [s]; None: they hold none.

        free: (B,) bool, bodies that move freely; orientation: (B, 4) of the solver's poses; spin: (B, 3) [rad/s].
        """
        if not some(self._joints.alive):
            return None
        held, loose, body, anchor = self._held(free)
        if loose is None:
            return Held(held, held)
        turning = spin.take(body, 0)
        aside = length(turning) * length(cross(turning, rotate(orientation.take(body, 0), anchor)))
        far = 0.5 * step**2 * aside > ASIDE * self._size.take(body)
        straight = ~groups_with(loose, body[far], len(held) + 1)
        return Held(held, held & ~np.append(straight, False)[loose])

    def _held(self, free):
        """(B,) bool: bodies that joints hold; (B,) int, a number for each group of them, -1 for those that joints tie
        to what does not move freely, or None where that is so of all; and (L,) body, (L, 3) its levers, of such groups.
        """
        alive, fixed, count = self._joints.alive, self._joints.fixed, len(self._size)
        key = alive.tobytes() + free.tobytes()
        if self._known[0] == key:
            return self._known[1]
        holds = alive[fixed.joint]
        a, b = fixed.body_a[holds], fixed.body_b[holds]
        held, moves = np.zeros(count + 1, bool), np.append(free, False)
        held[a] = held[b] = True
        linked = moves[a] & moves[b]
        group = np.append(connected_components(count, a[linked], b[linked]), -1)
        roped = fixed.coordinate[holds] == Coordinate.DISTANCE
        tied = np.concatenate([a[~linked], b[~linked], a[roped], b[roped]])
        tied = groups_with(group, tied[moves[tied]], count)
        anchors = np.concatenate([fixed.anchor_a[holds], fixed.anchor_b[holds]])
        ends = np.hstack([np.concatenate([a, b])[:, None], anchors])
        linear = np.tile(fixed.coordinate[holds] == Coordinate.LINEAR, 2)
        loose = np.where(np.append(tied, True)[group] | ~held | ~moves, -1, group)[:-1]
        ends = np.unique(ends[linear & (np.append(loose, -1)[ends[:, 0].astype(int)] >= 0)], axis=0)
        if not (loose >= 0).any():
            loose = None
        self._known = key, (held[:-1], loose, ends[:, 0].astype(int), ends[:, 1:])
        return self._known[1]
