# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a sampled path is at its samples, of which only the means from one to the next are known.

At most samples that is the mean of before and after.  Of what does not turn it is what four intervals tell, of fourth
order; what rides on a body that turns goes with it along chords, and must not be faster than those.

    v = (s- + s+) / 2 + (d- - d+) / 12        s: means before and after, d: their changes at the samples beside it

At a corner it is that of before or of after.  There the velocity changes by more than half of the speed, and not as it
does beside it: where a path turns back as evenly as a sine it is slow, and has no corner.  What changes beside a corner
as it does there on the other side has none either, but is as fast as the corner lets it become: what sets out from rest
and gets faster evenly is slow at first.  At the corner itself an interval is as fast as its mean and its other end say,

    v = 2 s - v'        v': velocity at its other end

and if it were to go back then, it set out later than at the sample, and is there as fast as before.  Taken as the mean
of the first interval, that of a truck that set out made its load see half as much more acceleration in the second.
"""

import numpy as np

from .vectors import inner, length

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
    bends, corner = has_corner(before, after), np.zeros(count + 2, bool)
    left, right = np.concatenate([still, change[:-1]]), np.concatenate([change[1:], still])
    as_left, as_right = (length(side - change) <= SMOOTH * length(change) for side in (left, right))
    corner[1:-1] = bends & ~(as_left & as_right)
    if count > 4:
        within, apart = slice(2, -2), np.diff(times)
        even, beside = (as_left & as_right)[within], bends[1:-3] | bends[within] | bends[3:-1]
        off = (np.abs(apart[1:] - apart[:-1]) > SPACED * apart[1:]) | turns[1:] | turns[:-1]
        told = ~(off[:-2] | off[1:-1] | off[2:]) & (even | ~beside) & ~(corner[2:-4] | corner[4:-2])
        mean[within] += np.where(told[:, None], (left - right)[within] / 12.0, 0.0)
    corner = corner[1:-1] & ~(as_left & corner[2:] | as_right & corner[:-2])
    begins, ends = np.where(corner[:, None], after, mean), np.where(corner[:, None], before, mean)
    sets_out, comes_in = corner[:-1] & ~corner[1:], corner[1:] & ~corner[:-1]
    begins[:-1][sets_out] = _at_corner(rates, mean[1:], before[:-1], sets_out)
    ends[1:][comes_in] = _at_corner(rates, mean[:-1], after[1:], comes_in)
    return begins, ends


def _at_corner(rates, inside, beyond, where):
    """(K, 3) velocities at the corner at one end of those intervals ``where`` (S - 1,) bool: as if it changed evenly.

    rates: (S - 1, 3) means of intervals; inside: velocities at their other ends; beyond: means beyond the corners.
    """
    rates, inside, beyond = rates[where], inside[where], beyond[where]
    led = 2.0 * rates - inside
    past = inner(led - beyond, rates - beyond) < 0.0
    return np.where(past[:, None], beyond, led)


def has_corner(before, after):
    """(...) bool: whether a velocity changes from ``before`` to ``after`` (..., 3) by more than SMOOTH of its size."""
    return length(after - before) > SMOOTH * np.minimum(length(before), length(after))
