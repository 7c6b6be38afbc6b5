# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of numbers as ascending arrays without repetition: NumPy's own questions to sets sort both sides each time.

And runs of equal numbers in ascending arrays.
"""

import numpy as np

from .flags import places


def among(values, ordered):
    """(N,) bool: which of ``values`` (N,) are among ``ordered`` (K,), which ascend."""
    if not len(ordered):
        return np.zeros(len(values), bool)
    return ordered.take(ordered.searchsorted(values), mode="clip") == values


def without(first, second):
    """What of ``first`` (N,) is not in ``second`` (K,), both ascending."""
    return first[~among(first, second)] if len(first) and len(second) else first


def union(first, second):
    """What is in either, both ascending without repetition."""
    return np.union1d(first, second) if len(first) and len(second) else first if len(first) else second


def segments(values):
    """Start of each run of equal values in a sorted array, and its values."""
    first = np.empty(len(values), bool)
    first[:1] = True
    np.not_equal(values[1:], values[:-1], out=first[1:])
    start = places(first)
    return start, values.take(start)


def run_lengths(start, count):
    """(N,) how long the runs are that begin at ``start`` (N,), the last of which ends at ``count``."""
    length = np.empty_like(start)
    if len(start):
        np.subtract(start[1:], start[:-1], out=length[:-1])
        length[-1] = count - start[-1]
    return length


def distinct(values):
    """``values`` (N,) as a set."""
    return values if len(values) < 2 else segments(np.sort(values, kind="stable"))[1]
