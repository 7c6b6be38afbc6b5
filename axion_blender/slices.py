# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in slices: generators that yield the part done, 0 to 1, and return what they were to find."""


def run_through(slices):
    """Run a generator to its end here and now; returns what it returns."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            return end.value


def part(slices, first, last):
    """The same generator as a part of a larger one: what it yields lies between ``first`` and ``last``."""
    while True:
        try:
            done = next(slices)
        except StopIteration as end:
            return end.value
        yield first + (last - first) * done
