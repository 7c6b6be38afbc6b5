# SPDX-License-Identifier: GPL-3.0-or-later
"""newton's contacts in order of their keys, on the CPU: as many as there are, where newton sorts all it has room for.

They come in a few ascending runs, one a kernel of the narrow phase, which a natural merge sort puts together in as many
steps as there are contacts (Knuth, "The Art of Computer Programming", volume 3, 5.2.4).  Sorting the room took half the
time of a detection.  On a CUDA device newton's own sort is fast.
"""

import warp as wp

from .arrays import allocate, of_arrays, zeros
from .contact_geometry import MODULE


@wp.struct
class ContactColumns:
    """What newton says of each contact, and its key."""

    key: wp.array(dtype=wp.int64)
    shape0: wp.array(dtype=wp.int32)
    shape1: wp.array(dtype=wp.int32)
    point0: wp.array(dtype=wp.vec3)
    point1: wp.array(dtype=wp.vec3)
    offset0: wp.array(dtype=wp.vec3)
    offset1: wp.array(dtype=wp.vec3)
    normal: wp.array(dtype=wp.vec3)
    margin0: wp.array(dtype=wp.float32)
    margin1: wp.array(dtype=wp.float32)
    tids: wp.array(dtype=wp.int32)


@wp.func(module=MODULE)
def end_of_run(key: wp.array(dtype=wp.int64), order: wp.array(dtype=wp.int32), begin: int, count: int):
    """Where the run of ascending keys ends that begins there."""
    end = begin + 1
    while end < count and key[order[end - 1]] <= key[order[end]]:
        end += 1
    return wp.min(end, count)


@wp.func(module=MODULE)
def merge(
    key: wp.array(dtype=wp.int64), order: wp.array(dtype=wp.int32), spare: wp.array(dtype=wp.int32), begin: int,
    middle: int, end: int,
):  # fmt: skip
    """Two runs as one; of equal keys those of the first come first."""
    for k in range(begin, end):
        spare[k] = order[k]
    first = int(begin)
    second = int(middle)
    for k in range(begin, end):
        takes_first = first < middle
        if takes_first and second < end:
            takes_first = key[spare[first]] <= key[spare[second]]
        if takes_first:
            order[k] = spare[first]
            first += 1
        else:
            order[k] = spare[second]
            second += 1


@wp.func(module=MODULE)
def copy(source: ContactColumns, i: int, target: ContactColumns, k: int):
    """All but the key."""
    target.shape0[k] = source.shape0[i]
    target.shape1[k] = source.shape1[i]
    target.point0[k] = source.point0[i]
    target.point1[k] = source.point1[i]
    target.offset0[k] = source.offset0[i]
    target.offset1[k] = source.offset1[i]
    target.normal[k] = source.normal[i]
    target.margin0[k] = source.margin0[i]
    target.margin1[k] = source.margin1[i]
    target.tids[k] = source.tids[i]


@wp.kernel(module=MODULE, enable_backward=False)
def sort_contacts(
    number: wp.array(dtype=wp.int32), columns: ContactColumns, copies: ContactColumns, order: wp.array(dtype=wp.int32),
    spare: wp.array(dtype=wp.int32),
):  # fmt: skip
    """One thread: all contacts."""
    count = wp.min(number[0], columns.key.shape[0])
    for k in range(count):
        order[k] = k
    while end_of_run(columns.key, order, 0, count) < count:
        begin = int(0)
        while begin < count:
            middle = end_of_run(columns.key, order, begin, count)
            end = int(middle)
            if middle < count:
                end = end_of_run(columns.key, order, middle, count)
                merge(columns.key, order, spare, begin, middle, end)
            begin = end
    first = int(0)
    while first < count and order[first] == first:
        first += 1
    for k in range(first, count):
        copy(columns, k, copies, k)
    for k in range(first, count):
        copy(copies, order[k], columns, k)


class ContactOrder:
    """Takes the place of the sorter of a newton.CollisionPipeline."""

    def __init__(self, capacity):
        """capacity: room for contacts."""
        self._copies = allocate(ContactColumns, {"key": 1}, capacity, "cpu")
        self._order, self._spare = (zeros(capacity, wp.int32, "cpu") for _ in range(2))

    def sort_full(self, sort_keys, contact_count, *, stiffness, damping, friction, device, **columns):
        """Launch the sort of newton's contacts; what only its own solvers read stays where it is: here nothing has it.

        sort_keys, contact_count: Warp arrays; columns: those of ContactColumns.
        """
        columns = of_arrays(ContactColumns, key=sort_keys, **columns)
        inputs = [contact_count, columns, self._copies, self._order, self._spare]
        wp.launch(sort_contacts, dim=1, inputs=inputs, device=device)
