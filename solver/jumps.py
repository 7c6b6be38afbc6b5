# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives whose angle is to jump: a step done in parts goes there part by part.

A rigid drive is at its target when a step ends, wherever it was before.  About one axis any angle is reached at once.
About several, Newton's method ends short of more than two radians, for the mean direction of a step is not the slope
where it ends, and in parts of the step the first would be to make the whole jump.
"""

import numpy as np

from .reference.rows import coordinates

FAR = 0.5  # [rad] to where the target is when a step begins: less is no jump, but what the last step left


def spread(rows, rate, drives, bodies, step, left):
    """In place: have drives that are to jump make a share of the way in this step.

    Args:
        rows: JointRows of a step.
        rate: (R,) of their targets [m/s, rad/s].
        drives: (R,) bool, rows that drive an angle to a target with any force.
        bodies: Bodies, where the step starts.
        step: length of this step, and ``left``: with all that is to follow until they are to be there [s].
    """
    if not drives.any():
        return
    those = rows.take(drives)
    way = those.target - step * rate[drives] - coordinates(those, bodies.position, bodies.orientation)
    jump = np.where(np.abs(way) > FAR, way, 0.0)
    rows.target[drives] -= (1.0 - step / left) * jump
    rows.centre[drives] = rows.target[drives]
