# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a sampled path is at its samples, of which only the means from one to the next are known.

At most samples that is the mean of before and after.  Of what does not turn it is what four intervals tell, of fourth
order; what rides on a body that turns goes with it along chords, and must not be faster than those.

    v = (s- + s+) / 2 + (d- - d+) / 12        s: means before and after, d: their changes at the samples beside it

At a corner it is that of before or of after.  There the velocity changes by more than half of the speed, and not as it
does beside it: where a path turns back as evenly as a sine it is slow, and has no corner.
"""

import numpy as np

from .vectors import length

SMOOTH = 0.5  # of the speed, or of a change: a path whose velocity changes by more at a sample has a corner there
SPACED = 1e-6  # of an interval, by which samples that are evenly spaced are off


def sample_rates(times, rates, turns):
    """(S, 3) velocities at samples where a step begins, (S, 3) where one ends.

    times: (S,) of the samples [s]; rates: (S - 1, 3) mean velocities from one to the next, it stands before and after;
    turns: (S - 1,) bool, whether the body turns there.
    """
    count, still = len(times), np.zeros((1, 3))
    before, after = np.concatenate([still, rates]), np.concatenate([rates, still])
    change, mean = after - before, 0.5 * (before + after)
    corner = has_corner(before, after)
    if count > 4:
        inner, apart = slice(2, -2), np.diff(times)
        most, (left, right) = SMOOTH * length(change[inner]), (change[1:-3], change[3:-1])
        even = (length(left - change[inner]) <= most) & (length(right - change[inner]) <= most)
        beside = corner[1:-3] | corner[inner] | corner[3:-1]
        corner[inner] &= ~even
        off = (np.abs(apart[1:] - apart[:-1]) > SPACED * apart[1:]) | turns[1:] | turns[:-1]
        told = ~(off[:-2] | off[1:-1] | off[2:]) & (even | ~beside)
        mean[inner] += np.where(told[:, None], (left - right) / 12.0, 0.0)
    return np.where(corner[:, None], after, mean), np.where(corner[:, None], before, mean)


def has_corner(before, after):
    """(...) bool: whether a velocity changes from ``before`` to ``after`` (..., 3) by more than SMOOTH of its size."""
    return length(after - before) > SMOOTH * np.minimum(length(before), length(after))
