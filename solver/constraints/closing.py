# SPDX-License-Identifier: GPL-3.0-or-later
"""How joints close that are apart where a step starts: no faster than overlap leaves.

    |c(q+)| = max(0, |c(q-)| - s h)      c: the errors of a joint's rigid rows, lengths or angles; s: see limits.py

Keyframes that hold a body away from its joint, or take it back, leave joints so, and steps that were given up on.  Shut
in one step, half a metre would be a speed of 12 m/s at 24 frames a second and of 190 m/s at 384, along directions that
turn on the way, and part of it stayed.  All rows of a joint shrink alike, so that anchors come together on a straight
line.  As with limits, such a step ends in its velocity (backward Euler): the velocity phase takes all of the push back.
Unlike limits, which may be passed for good reasons, a joint that is apart is told in the reports, as overlap is.
"""

import numpy as np

from ..flags import some
from ..metrics import joint_norms
from ..problem import Coordinate
from ..reference.row_laws import NEAR, SPEED
from .observed import Observer


class Closing:
    """The rigid locks of one scene's joints, and how far each joint is off.

    A joint's locked lengths are one group, its locked angles another.
    """

    def __init__(self, rows, frames, locks, joints, least):
        """rows: JointRows of the table, ``locks`` (L,) the numbers of those that are rigid; joints: how many there are;
        least: [m or rad] what steps that converge may leave.
        """
        self._rows = rows.take(locks)
        self._locks, self._frames, self._least, self._count = locks, frames, least, joints
        angle = self._rows.coordinate == int(Coordinate.DOT)
        groups, self._group = np.unique(2 * self._rows.joint + angle, return_inverse=True)
        self._joint, self._angle = groups // 2, groups % 2 == 1
        self._place, self._off = np.zeros(len(locks)), np.zeros(len(groups))
        self._number = np.full(len(rows), -1)  # in ``locks``, of each row of the table
        self._number[locks] = np.arange(len(locks))
        self._observer, self._apart = None, False

    def observe(self, position, orientation):
        """Take in where a step starts: solver poses (B, 3), (B, 4)."""
        if self._observer is None:
            self._observer = Observer(self._rows, self._frames)
        place = self._place = self._observer.places(position, orientation)
        square = np.bincount(self._group, place * place, len(self._off))
        self._apart = square.max() > self._least**2
        if self._apart:
            norm = np.sqrt(square)
            self._off = np.where(self._angle, np.arcsin(np.minimum(norm, 1.0)), norm)

    def closes(self, step):
        """(groups,) bool: which are farther off than steps leave, and a step [s] of this length is to close.

        Where any is ``_apart``.
        """
        return self._off > max(self._least, NEAR * SPEED * step)

    def passed(self, step):
        """(joints,) bool: those that a step of this length closes; None where there are none."""
        if not self._apart or not some(closes := self.closes(step)):
            return None
        out = np.zeros(self._count, bool)
        out[self._joint[closes]] = True
        return out

    def targets(self, number, step):
        """(R,) coordinates that rows ``number`` (R,) of the table end a step with, 0 where they are no locks; None
        where all locks end at 0.
        """
        if not self._apart:
            return None
        left = np.where(self.closes(step), np.maximum(self._off - SPEED * step, 0.0), 0.0)
        if not some(left):
            return None
        before, after = (np.where(self._angle, np.sin(off), off) for off in (self._off, left))
        share = np.divide(after, before, out=np.zeros(len(left)), where=left > 0.0)[self._group]
        return np.append(share * self._place, 0.0)[self._number[number]]


def tell(residuals, joints, left, error, fast):
    """Have StepResiduals tell of joints that the step lets stand apart, beside what it missed, in place.

    Bodies that did not come even so far have missed by all of it: their ``error`` (n,), in place, is no less.
    joints: JointRows; left: (R,) as JointTable.left has it; fast: the tolerance [m].
    """
    angle = residuals.joint_row_is_angle
    off = joint_norms(joints, angle, left)
    off = np.where(angle, np.arcsin(np.minimum(off, 1.0)), off)
    residuals.joint_row = np.maximum(residuals.joint_row, off)
    for name, rows in (("joint_error", ~angle), ("joint_error_angle", angle)):
        setattr(residuals, name, max(getattr(residuals, name), float(off[rows].max(initial=0.0))))
    missed = np.flatnonzero(error > fast)
    if len(missed):
        of_body = np.zeros(max(joints.body_a.max(), joints.body_b.max(), len(error)) + 1)
        np.maximum.at(of_body, joints.body_a, off)
        np.maximum.at(of_body, joints.body_b, off)
        error[missed] = np.maximum(error[missed], of_body[missed])
