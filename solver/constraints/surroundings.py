# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes along with joint rows that brake, are pulled or give way, as long as the same joints hold."""

import numpy as np

from .braking import Carried
from .coupled import Coupled
from .mobility import FEW, Held, matters, with_what_goes_along


class Surroundings:
    """Of the rows of one JointTable."""

    def __init__(self, fixed, start, some, holds, frames):
        """fixed: JointRows; start: columns of their LawTable, which are written; some: numbers of the rows with springs
        or dampers, of those that brake, and of those with compliance; holds: (R,) bool, rows of joints that hold;
        frames: BodyFrames.
        """
        self._start, (self._pulled, self._arriving, self._giving) = start, some
        links = fixed.joint[holds], fixed.body_a[holds], fixed.body_b[holds]
        rigid = np.flatnonzero(holds & (start.law == 0))
        self._gains = start.stiffness[self._pulled], start.damping[self._pulled]
        self._mobility = start.mobility[self._pulled]
        self._carried = Carried(fixed.take(self._arriving), links, frames)
        self._held = Held(fixed, self._pulled, rigid, frames)
        self._soft = Held(fixed, self._giving, rigid, frames, FEW)
        self._coupled = Coupled(fixed, start, holds, frames)

    def look(self, position, orientation):
        """Find how easily the rows move from solver poses (B, 3), (B, 4); each alone, they do by what stands there."""
        start, pulled = self._start, self._pulled
        if len(arriving := self._arriving):
            start.mobility[arriving] = self._carried.mobility(position, orientation, start.mobility[arriving])
        if len(pulled):
            own = start.mobility[pulled]
            asked = matters(*self._gains, own)
            self._mobility = start.mobility[pulled] = self._held.mobility(position, orientation, own, asked)
        if len(giving := self._giving):
            own, softness = start.mobility[giving], start.softness[giving]
            start.mobility[giving] = with_what_goes_along(self._soft, softness, own, position, orientation)
        self._coupled.look(position, orientation)

    def damp(self, step, midpoint):
        """Give springs what dampers of others take from them in a step [s]; midpoint: (J,) as in JointTable.rows."""
        self._start.damping[self._pulled], self._start.mobility[self._pulled] = self._gains[1], self._mobility
        self._coupled.damp(step, midpoint)
