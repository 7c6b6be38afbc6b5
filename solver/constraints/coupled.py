# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs that vibrate faster than a step follows, next to dampers of other joints: ``reference/coupled_springs.py``
for what bodies are linked with each other.
"""

from dataclasses import dataclass

import numpy as np

from ..reference.coupled_springs import factor, own_dampers
from ..reference.row_laws import Law, vibrates
from .mobility import LOCKED, MOST, across, groups_of, laid_out, spots_of
from .observed import Observer

FOLLOWED = 1.0  # (omega h)^2 up to which steps follow a vibration, and dampers feel it
FEW = 40  # springs and dampers of one group; larger ones are left to their rows' own laws


@dataclass(eq=False)
class _Group:
    """Rows of what is linked."""

    span: slice  # among the rows observed
    rigid: np.ndarray  # numbers of rows that hold,
    gives: np.ndarray  # that have compliance,
    pulls: np.ndarray  # and of springs and dampers
    shape: tuple  # rows, bodies
    spots: np.ndarray  # (2, rows): where the part of each row's bodies goes


class Coupled:
    """Of one scene, bodies numbered as there; the world is number B."""

    def __init__(self, rows, start, holds, frames):
        """rows: JointRows; start: columns of their LawTable; holds: (R,) bool, rows of joints that hold; frames:
        BodyFrames.

        Springs and dampers whose force has a limit are left out, and nothing else is known to act.
        """
        law = start.law
        pulls = holds & ((law & Law.PULLS) != 0)
        pulls &= ((law & Law.BOUNDED) == 0) | np.isinf(start.most)
        gives, rigid = holds & ((law & Law.GIVES) != 0) & np.isinf(rows.upper), holds & (law == 0)
        self._start, self._joint = start, rows.joint
        self._groups, taken = [], []
        spring, damper = pulls & (start.stiffness > 0.0), pulls & (start.damping > 0.0)
        if spring.any() and damper.any():
            both = pulls | gives | rigid
            group = groups_of(rows, np.flatnonzero(both), np.append(np.isfinite(frames.mass), False))
            group = np.where(both, group, -1)
            for each in np.unique(group[spring]):
                self._add(rows, (rigid, gives, pulls), group == each, (spring, damper), taken)
        self._observer = Observer(rows.take(np.array(taken)), frames) if taken else None
        self._lacks = {}  # (group, step [s]) -> what ``_lacking`` told where the step starts

    def _add(self, rows, kinds, ours, acts, taken):
        """Add the group of the rows ``ours`` (R,) bool, where a damper may act on the spring of another row."""
        spring, damper = (np.flatnonzero(kind & ours) for kind in acts)
        if not len(damper) or (len(damper) == 1 and np.array_equal(spring, damper)):
            return
        rigid, gives, pulls = (np.flatnonzero(kind & ours) for kind in kinds)
        index = np.concatenate([rigid, gives, pulls])
        if len(rigid) + len(gives) > MOST or len(pulls) > FEW:
            return
        span = slice(len(taken), len(taken) + len(index))
        self._groups.append(_Group(span, rigid, gives, pulls, *spots_of(rows, index)))
        taken += index.tolist()

    def look(self, position, orientation):
        """Take in where a step starts: solver poses (B, 3), (B, 4)."""
        if self._observer is not None:
            self._observer.look(position, orientation, 0.0)
            self._lacks.clear()

    def damp(self, step, midpoint):
        """Give springs the dampers they lack in a step [s]; midpoint: (J,) as in ``JointTable.rows``."""
        if self._observer is None:
            return
        start = self._start
        for k, group in enumerate(self._groups):
            pulls = group.pulls
            fast = step**2 * start.stiffness[pulls] * start.mobility[pulls] > FOLLOWED
            if not fast.any() or (midpoint[self._joint[pulls]] < 1.0).any() or start.fades[pulls].any():
                continue  # by the end of a step all dissipates, and angles that fade have no stiffness of their own
            if (k, step) not in self._lacks:
                self._lacks[k, step] = self._lacking(group, step)
            numbers, damping, mobility = self._lacks[k, step]
            start.damping[numbers] += damping
            start.mobility[numbers] = np.where(damping > 0.0, mobility, start.mobility[numbers])

    def _lacking(self, group, step):
        """(Numbers (S,) of rows, the damping that they lack (S,), and their mobility (S,) then)."""
        start, pulls = self._start, group.pulls
        wide = laid_out(self._observer.weighed(), group.span, group.shape, group.spots)
        swings = vibrates(start.softness[group.gives], start.mobility[group.gives], step)
        first, given = len(group.rigid), len(group.rigid) + len(group.gives)
        holds = np.append(np.arange(first), first + np.flatnonzero(~swings))
        soft = np.append(first + np.flatnonzero(swings), np.arange(given, len(wide)))
        square, along = across(wide[np.append(holds, soft)], len(holds))
        square -= along @ along.T
        own, gives = (wide[soft] ** 2).sum(axis=1), group.gives[swings]
        square[np.diag(square) <= LOCKED * own] = 0.0
        square[:, np.diag(square) == 0.0] = 0.0
        mobility = np.diag(square)
        stiffness = np.append(1.0 / start.softness[gives], start.stiffness[pulls])
        damping = np.append(np.zeros(len(gives)), start.damping[pulls])
        decay, square_of = step * damping * mobility, step**2 * stiffness * mobility
        which = np.arange(len(soft)) >= len(gives)
        which = np.flatnonzero(which & (square_of > FOLLOWED) & (decay**2 < 4.0 * square_of))
        if not len(which):
            return which, np.zeros(0), np.zeros(0)
        numbers = np.append(gives, pulls)
        state = self._off(numbers), start.speed[numbers] - start.rate[numbers]
        lacks = own_dampers((stiffness, damping), factor(square), which, step, state)
        return numbers[which], lacks, mobility[which]

    def _off(self, numbers):
        """(K,) how far rows ``numbers`` (K,) are off their targets where the step starts, with their turns."""
        start = self._start
        place, turns = start.place[numbers], ((start.law[numbers] & Law.TURNS) != 0) & (start.fades[numbers] == 0)
        place = place + 2.0 * np.pi * np.round((start.angle[numbers] - place) / (2.0 * np.pi)) * turns
        return place - start.target[numbers]
