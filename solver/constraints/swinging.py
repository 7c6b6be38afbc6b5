# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows about one axis of joints that leave other axes free, too, where a step starts: what they fade to, and how far.

See reference/rows.py.  Springs and position drives fade to their targets, limits to the angle farthest from both.
"""

import numpy as np

from .. import rotations
from ..reference.rows import fades


def middle(axis):
    """Angle [rad] farthest from the limits of an Axis: half a turn off one that is alone."""
    lower, upper = axis.lower, axis.upper
    if not np.isfinite(lower):
        return upper - np.pi
    return 0.5 * (lower + upper) if np.isfinite(upper) else lower + np.pi


class Swinging:
    """TWIST rows with springs, drives or limits of joints with other free axes."""

    def __init__(self, rows, soft, driven):
        """rows: JointRows of the table; soft: numbers (S,) of those that are observed; driven: (number, Axis)."""
        self._place = np.flatnonzero(rows.swings[soft])  # among the soft ones
        self._number = soft[self._place]
        self._rows = rows.take(self._number)
        place = {int(k): i for i, k in enumerate(self._number)}
        self._led = [(place[k], axis) for k, axis in driven if k in place and axis.drive == "position"]

    def __len__(self):
        return len(self._number)

    def lay(self, observer, start, angle, orientation, time):
        """Have an Observer of the soft rows measure from ``angle`` (R,), and note in the columns ``start`` what fades.

        orientation: (B, 4) of the solver frames; time [s].
        """
        centre = self._rows.centre.copy()
        for i, axis in self._led:
            centre[i] = axis.target_at(time)[0]
        observer.near(self._place, angle[self._number], centre)
        start.fades[self._number] = fades(self._rows, np.vstack([orientation, rotations.IDENTITY]))

    def count(self, place, angle):
        """Add to coordinates ``place`` (R,) of the table, in place, the ``angle`` (R,) they were measured from."""
        place[self._number] += angle[self._number]
