# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest places of two segments, which may be points."""

import numpy as np

from .vectors import inner

PARALLEL = 1e-3  # square of the sine between two axes from which on they meet along a line, which takes two contacts


def closest_shares(p, d, q, e, parallel=PARALLEL):
    """(s (N,), t (N,)) in 0..1 at which p + s d and q + t e (N, 3) are nearest; either may be a point.

    parallel: square of the sine between the two up to which s is in the middle of where both are side by side.

    Source: Ericson, Real-Time Collision Detection, 2004, section 5.1.9.
    """
    r = p - q
    a, e2, f, b, c = (inner(x, y) for x, y in ((d, d), (e, e), (e, r), (d, e), (d, r)))
    long_d, long_e = a > 0.0, e2 > 0.0
    safe_a, safe_e = np.where(long_d, a, 1.0), np.where(long_e, e2, 1.0)
    cross = a * e2 - b * b
    skew = cross > parallel * a * e2
    s = np.where(skew, _between_ends((b * f - c * e2) / np.where(skew, cross, 1.0)), 0.5 * long_d)
    t = np.where(long_e, (b * s + f) / safe_e, 0.0)
    held = _between_ends(t)
    again = np.where(long_d, _between_ends((b * held - c) / safe_a), 0.0)
    s = np.where(held != t, again, s)
    s = np.where(long_e, s, np.where(long_d, _between_ends(-c / safe_a), 0.0))
    return s, held


def _between_ends(share):
    return np.minimum(np.maximum(share, 0.0), 1.0)
