# SPDX-License-Identifier: GPL-3.0-or-later
"""How hard a drive can brake: what hangs on either side of its joint, taken as one rigid body.

A rigid drive within a force that spends all of it to the last step would swing about its target for ever.  From the
speed sqrt(2 a d) the largest deceleration a stops over the distance d: a step leads no nearer than that.  Gravity's
part in it is not known here: coming down, a heavy load overshoots and comes back.
"""

import numpy as np
import warp as wp

from ..components import connected_components
from ..problem import Coordinate
from ..rotations import conjugate, rotate
from .springs import module


@wp.func(module=module)
def slower(target: wp.float64, rate: wp.float64, place: wp.float64, brake: wp.float64, h: wp.float64):
    """(way, speed): what is left to a drive's target where a step starts, and how much faster than it the step may end.

    target, rate: of the end of the step; place: coordinate at its start; brake: a, with what hangs on the joint.
    """
    way = target - h * rate - place
    speed = wp.sqrt(wp.float64(2.0) * brake * wp.abs(way)) - h * brake
    return way, wp.max(speed, wp.float64(0.0))


class Carried:
    """Bodies on both sides of joint rows of one scene, numbered as there; the world is number B."""

    def __init__(self, rows, links, frames):
        """rows: LINEAR and TWIST JointRows; links: (joint, body_a, body_b), each (L,), of what holds.

        A side is what is linked with a row's body, but for the row's own joint.  It is None where it cannot move
        on as a whole: in a closed loop, or linked with what does not move.
        """
        self._rows, count = rows, len(frames.mass)
        self._mass, self._inertia = frames.mass, frames.inertia
        moves = np.append(np.isfinite(frames.mass), False)
        joint, *ends = (np.asarray(column) for column in links)
        self._sides = []
        for r in range(len(rows)):
            label = connected_components(count + 1, *(end[joint != rows.joint[r]] for end in ends))
            for start, end in ((rows.body_a[r], rows.body_b[r]), (rows.body_b[r], rows.body_a[r])):
                side = label == label[start]
                if not moves[start]:
                    self._sides.append(())
                else:
                    self._sides.append(None if side[end] or not moves[side].all() else np.flatnonzero(side))

    def mobility(self, position, orientation, own):
        """(R,) acceleration by a unit force or torque along each row.

        position (B, 3), orientation (B, 4): solver poses; own: (R,), where a side is None, of the row's bodies alone.
        """
        rows, found = self._rows, own.copy()
        for r in range(len(rows)):
            sides = self._sides[2 * r : 2 * r + 2]
            if any(side is None for side in sides):
                continue
            body = rows.body_b[r] if len(sides[1]) else rows.body_a[r]
            local, anchor = (rows.axis_b, rows.anchor_b) if len(sides[1]) else (rows.axis_a, rows.anchor_a)
            axis = rotate(orientation[body], local[r])
            at = position[body] + rotate(orientation[body], anchor[r])
            turns = rows.coordinate[r] == int(Coordinate.TWIST)
            loads = (self._load(side, turns, axis, at, position, orientation) for side in sides if len(side))
            found[r] = sum(1.0 / load for load in loads)
        return found

    def _load(self, side, turns, axis, at, position, orientation):
        """Mass [kg] of the bodies ``side``, or their moment of inertia [kg m^2] about the axis through ``at``."""
        mass = self._mass[side]
        if not turns:
            return mass.sum()
        spin = rotate(conjugate(orientation[side]), np.broadcast_to(axis, (len(side), 3)))
        arm = np.cross(axis, position[side] - at)
        return (self._inertia[side] * spin**2).sum() + (mass[:, None] * arm**2).sum()
