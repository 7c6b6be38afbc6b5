# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of numbers as ascending arrays without repetition: NumPy's own questions to sets sort both sides each time."""

import numpy as np


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


def distinct(values):
    """``values`` (N,) as a set."""
    if len(values) < 2:
        return values
    values, first = np.sort(values, kind="stable"), np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]
