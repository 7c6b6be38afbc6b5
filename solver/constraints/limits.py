# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the limits of joints stand in a step: at their coordinates, or on the way there.

    c(q+) >= min(lower, c(q-) + s h)      c(q+) <= max(upper, c(q-) - s h)      s: as fast as overlap is pushed out

A joint that starts beyond a limit is brought back at that speed, as bodies that overlap are: at once, 2 m or half a
turn would go by in one step, and beyond half a turn the other way round, for a pose alone does not tell its turns.
What a step lets stand of it is no error, and nothing of the way back becomes speed: such a step ends in its velocity,
so that the directions along which joints push are those along which the velocity phase takes the push back.  In
mid-step they are not, and a folded chain of four links that unfolds so began to move at 0.4 m/s by itself.
"""

import numpy as np

from ..problem import StepProblem

SPEED = StepProblem.push_out_speed  # [m/s], [rad/s]


NEAR = 0.1  # of the way back in a step: what lies no farther beyond its limit is not on its way back


def passed(limit, place, lower, step):
    """(K,) bool: which of K limits the step brings back to.  As in ``stand``."""
    return np.where(lower, limit - place, place - limit) > NEAR * step * SPEED


def stand(limit, place, lower, step):
    """(K,) coordinates that K limits ask of the end of a step.

    limit: (K,) [m] or [rad]; place: (K,) coordinates where the step starts, with their turns; lower: (K,) bool, limits
    from below; step: [s].
    """
    reach = step * SPEED
    return np.where(lower, np.minimum(limit, place + reach), np.maximum(limit, place - reach))
