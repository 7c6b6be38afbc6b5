# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast free motion turns bodies in mid-step, where joint rows ask how fast they turn.

Springs, dampers, friction and drives take J u h for the way that their coordinate makes, u the velocity that carries
the pose.  A body whose spin wobbles does not turn by that of its end: with it, stiff springs between two boxes that
spin as one were h^2 w' r / 2 off their middle in each step, and gave the two twice their energy in six frames.
"""

import numpy as np

from . import rotations
from .flags import places
from .vectors import length


def take_mean_turns(bodies, rows, end_velocity, step):
    """Let free motion turn what goes by mid-step and has rows that ask for rates by its mean spin on the way, in place.

    rows: JointRows; end_velocity: (n, 6) free velocity at the step's end.
    """
    n, asks = bodies.dynamic_count, places(rows.beta != 1.0)
    if not len(asks):
        return
    which = np.zeros(len(bodies.mass), bool)
    which[rows.body_a[asks]] = which[rows.body_b[asks]] = True
    which = places(which[:n] & (bodies.midpoint[:n] > 0.0))
    early, late, share = bodies.velocity[which, 3:], end_velocity[which, 3:], bodies.midpoint[which, None]
    back = rotations.conjugate(bodies.orientation[which])
    spin = rotations.logarithm(rotations.multiply(bodies.free_orientation[which], back)) / step
    mean = 0.5 * (early + late)
    whole = step * length(mean) > np.pi  # poses do not tell how often it turned
    spin[whole] = mean[whole]
    bodies.free_velocity[which, 3:] = (late + share * (2.0 * spin - late)) / (1.0 + share)
