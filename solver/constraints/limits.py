# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the limits of joints stand in a step: at their coordinates, or on the way there.

    c(q+) >= min(lower, c(q-) + s h)      c(q+) <= max(upper, c(q-) - s h)      s: as fast as overlap is pushed out

A joint that starts beyond a limit is brought back at that speed, as bodies that overlap are: at once, 2 m or half a
turn would go by in one step, and beyond half a turn the other way round, for a pose alone does not tell its turns.
What a step lets stand of it is no error, and nothing of the way back becomes speed: such a step ends in its velocity,
so that the directions along which joints push are those along which the velocity phase takes the push back.  In
mid-step they are not, and a folded chain of four links that unfolds so began to move at 0.4 m/s by itself.
"""

import warp as wp

from ..reference.row_laws import NEAR, SPEED
from .springs import module

BACK = wp.constant(wp.float64(SPEED))
LEAST = wp.constant(wp.float64(NEAR * SPEED))


@wp.func(module=module)
def stand(limit: wp.float64, place: wp.float64, lower: bool, h: wp.float64):
    """Coordinate that a limit asks of the end of a step; place: where it starts; lower: a limit from below."""
    if lower:
        return wp.min(limit, place + h * BACK)
    return wp.max(limit, place - h * BACK)


@wp.func(module=module)
def passed(limit: wp.float64, place: wp.float64, lower: bool, h: wp.float64):
    """Whether the step brings the coordinate back to the limit."""
    if lower:
        return limit - place > h * LEAST
    return place - limit > h * LEAST
