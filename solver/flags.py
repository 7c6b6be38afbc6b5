# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions to few flags: NumPy's own ``any`` and ``all`` take five times as long as counting them."""

from numpy import asarray, count_nonzero


def some(flags):
    """Whether any of an array of bool is set, or of numbers is not 0."""
    return count_nonzero(flags) > 0


def every(flags):
    """Whether all of an array of bool are set."""
    return count_nonzero(flags) == flags.size


def equal(first, second):
    """Whether two arrays (N,), (M,) are the same; ``numpy.array_equal`` takes three times as long."""
    return len(first) == len(second) and count_nonzero(first == second) == len(first)


def numbers(index):
    """``index``, numbers or bool, as numbers: to take many columns by them is twice as fast as by flags."""
    index = asarray(index)
    return index.nonzero()[0] if index.dtype == bool else index


def places(flags):
    """Numbers of those that are set of an array of bool (N,); ``numpy.flatnonzero`` takes three times as long."""
    return flags.nonzero()[0]
