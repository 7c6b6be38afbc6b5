# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points of a fresh manifold continue which remembered ones of the same pair of shapes."""

import warp as wp

from .contact_arrays import ChosenArrays, OldArrays, PointArrays
from .contact_geometry import MODULE, distance_of

REACH = 0.1  # how far a point and the one it continues may be apart, in units of the pair's smallest half extent

reach, far = wp.constant(wp.float64(REACH)), wp.constant(wp.float64(1e300))
aligned = wp.constant(wp.float64(0.1 * REACH))


@wp.func(module=MODULE)
def look_around(
    target: PointArrays, i: int, remembered: PointArrays, old: OldArrays, first: int, last: int, chosen: ChosenArrays,
):  # fmt: skip
    """Note the nearest point that point i may continue, of those that none continues yet, and how far away it is."""
    nearest = int(-1)
    apart = far
    for j in range(first, last):
        if not old.used[j]:
            distance = distance_of(target, i, remembered, j)
            if distance <= reach * target.size[i] and distance < apart:
                apart = distance
                nearest = j
    chosen.nearest[i] = nearest
    chosen.apart[i] = apart


@wp.func(module=MODULE)
def match(
    target: PointArrays, chosen: ChosenArrays, place: int, count: int, remembered: PointArrays, old: OldArrays,
    first: int, last: int,
):  # fmt: skip
    """Links of the points of one pair: all in their order where that fits, else one to one, nearest first."""
    alike = bool(count == last - first)
    if alike:
        for i in range(count):
            alike = alike and distance_of(target, place + i, remembered, first + i) <= aligned * target.size[place]
    if alike:
        for i in range(count):
            chosen.link[place + i] = first + i
        return
    for i in range(place, place + count):
        look_around(target, i, remembered, old, first, last, chosen)
    for _round in range(count):
        best = int(-1)
        least = far
        for i in range(place, place + count):
            if chosen.link[i] < 0 and chosen.apart[i] < least:
                least = chosen.apart[i]
                best = i
        if best < 0:
            return
        taken = chosen.nearest[best]
        chosen.link[best] = taken
        old.used[taken] = True
        for i in range(place, place + count):
            if chosen.link[i] < 0 and chosen.nearest[i] == taken:
                look_around(target, i, remembered, old, first, last, chosen)
