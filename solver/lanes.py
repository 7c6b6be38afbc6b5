# SPDX-License-Identifier: GPL-3.0-or-later
"""How kernels go over the bodies, contacts, rows or pairs of islands that are still at work.

    at = wp.tid()
    for turn in range(turns(counts, contacts_slot, at)):
        k = island_at(isl, con.island, turn, at)
        if isl.outer_active[k] == 0:
            continue
        for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
            ...

On a CUDA device each thread has one item, and one turn, for the island of that.  On the CPU one thread has all, island
by island: of the thousands in a large heap a few need most of the rounds, and to ask every contact and body of the
others whether it is done took a fifth of the time.
"""

import warp as wp

from .arrays import CONSTRAINED, IslandArrays

constrained_slot = wp.constant(CONSTRAINED)


@wp.func_native("""
#if defined(__CUDA_ARCH__)
    return 0;
#else
    return 1;
#endif
""")
def alone() -> int:
    """1 where one thread has all."""
    ...


@wp.func
def turns(counts: wp.array(dtype=wp.int32), slot: int, at: int):
    """How many islands thread ``at`` has to look at; slot: that of ``counts`` for what the kernel goes over."""
    if alone() == 1:
        return counts[constrained_slot]
    if at < counts[slot]:
        return 1
    return 0


@wp.func
def island_at(isl: IslandArrays, island: wp.array(dtype=wp.int32), turn: int, at: int):
    """The island of a turn; island: that of each item."""
    if alone() == 1:
        return isl.constrained_index[turn]
    return island[at]


@wp.func
def begin(at: int, start: int):
    """Where a thread begins in what lies from ``start`` on."""
    if alone() == 1:
        return start
    return at


@wp.func
def end(at: int, stop: int):
    """Where it ends in what lies before ``stop``."""
    if alone() == 1:
        return stop
    return at + 1


@wp.func
def end_of_all(at: int, count: int):
    """Where it ends that goes from ``begin(at, 0)`` over ``count`` items, whatever their islands."""
    if alone() == 1:
        return count
    return wp.min(at + 1, count)


@wp.func
def item(index: wp.array(dtype=wp.int32), place: int):
    """The number of the item at a place from ``begin`` to ``end``; index: those of islands, one after the other."""
    if alone() == 1:
        return index[place]
    return place


def threads(device, room):
    """Threads to launch over ``room`` items."""
    return min(room, 1) if device.is_cpu else room
