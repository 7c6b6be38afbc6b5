# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of a Topology, by one kernel on the host that sorts by counting: half the time of NumPy's many calls."""

import threading

import warp as wp

from .components import label_roots, unite
from .host import MANY, HostKernel, HostTable
from .predict import module

DYNAMIC, BODIES, CONTACTS, ROWS, ISLANDS, RUNS, PAIRS, LINKED = (wp.constant(slot) for slot in range(8))


@wp.struct
class BodyLists:
    """Bodies, and islands, of which there are no more.  ``start`` arrays have one element more."""

    count: wp.array(dtype=wp.int32)  # in: dynamic bodies, all, contacts, rows; out: islands, runs, pairs, rows of pairs
    root: wp.array(dtype=wp.int32)  # scratch of ``unite``
    place: wp.array(dtype=wp.int32)  # scratch: of each body in ``island_body_index``
    cursor: wp.array(dtype=wp.int32)  # scratch
    body_island: wp.array(dtype=wp.int64)
    constrained: wp.array(dtype=wp.bool)
    jointed: wp.array(dtype=wp.bool)
    island_body_start: wp.array(dtype=wp.int32)
    island_body_index: wp.array(dtype=wp.int32)
    island_contact_start: wp.array(dtype=wp.int32)
    island_run_start: wp.array(dtype=wp.int32)
    island_pair_start: wp.array(dtype=wp.int32)
    island_row_start: wp.array(dtype=wp.int32)
    body_contact_start: wp.array(dtype=wp.int32)
    body_row_start: wp.array(dtype=wp.int32)
    neighbour_start: wp.array(dtype=wp.int32)


@wp.struct
class LinkLists:
    """Contacts or joint rows."""

    a: wp.array(dtype=wp.int32)  # in: both bodies of each
    b: wp.array(dtype=wp.int32)
    by_higher: wp.array(dtype=wp.int32)  # scratch
    order: wp.array(dtype=wp.int64)  # sorts them by island, then by body pair
    island: wp.array(dtype=wp.int64)  # of contacts in that order, of rows as they come
    around: wp.array(dtype=wp.int32)  # (2 links,) by body: contacts in that order, rows as they come
    of_island: wp.array(dtype=wp.int32)  # rows by island
    run_start: wp.array(dtype=wp.int32)  # (runs + 1,) contacts of one pair each, in that order


@wp.struct
class PairLists:
    """Pairs of dynamic bodies."""

    i: wp.array(dtype=wp.int64)
    j: wp.array(dtype=wp.int64)
    island: wp.array(dtype=wp.int64)
    contact_start: wp.array(dtype=wp.int32)
    contact_end: wp.array(dtype=wp.int32)
    row_start: wp.array(dtype=wp.int32)  # (pairs + 1,)
    row_index: wp.array(dtype=wp.int32)
    neighbour_body: wp.array(dtype=wp.int32)  # (2 pairs,) by body
    neighbour_pair: wp.array(dtype=wp.int32)


@wp.func(module=module)
def link(bodies: BodyLists, links: LinkLists, count: int):
    """Unite the islands of the bodies that ``count`` links link."""
    dynamic = bodies.count[DYNAMIC]
    for e in range(count):
        if links.a[e] < dynamic and links.b[e] < dynamic:
            unite(bodies.root, links.a[e], links.b[e])


@wp.func(module=module)
def clear(values: wp.array(dtype=wp.int32), count: int):
    """Zeros in the first ``count``."""
    for k in range(count):
        values[k] = 0


@wp.func(module=module)
def add_up(start: wp.array(dtype=wp.int32), count: int):
    """Where each of ``count`` begins and the last ends, from how many each has, which lies one place farther."""
    for k in range(count):
        start[k + 1] += start[k]


@wp.func(module=module)
def sort(bodies: BodyLists, links: LinkLists, count: int):
    """Fill in ``order``: of equal links as they come."""
    total = bodies.count[BODIES]
    clear(bodies.cursor, total + 1)
    for e in range(count):
        bodies.cursor[wp.max(links.a[e], links.b[e]) + 1] += 1
    add_up(bodies.cursor, total)
    for e in range(count):
        higher = wp.max(links.a[e], links.b[e])
        links.by_higher[bodies.cursor[higher]] = e
        bodies.cursor[higher] += 1
    clear(bodies.cursor, total)
    for e in range(count):
        bodies.cursor[wp.min(links.a[e], links.b[e])] += 1
    begin = int(0)
    for m in range(bodies.count[DYNAMIC]):
        i = bodies.island_body_index[m]
        number = bodies.cursor[i]
        bodies.cursor[i] = begin
        begin += number
    for s in range(count):
        e = links.by_higher[s]
        lower = wp.min(links.a[e], links.b[e])
        links.order[bodies.cursor[lower]] = wp.int64(e)
        bodies.cursor[lower] += 1


@wp.func(module=module)
def list_around(
    bodies: BodyLists, links: LinkLists, count: int, sorted: bool, start: wp.array(dtype=wp.int32)
):  # fmt: skip
    """Fill in ``around``: of each body first the links of which it is a; by their place in ``order`` if ``sorted``."""
    dynamic = bodies.count[DYNAMIC]
    clear(start, dynamic + 1)
    for e in range(count):
        if links.a[e] < dynamic:
            start[links.a[e] + 1] += 1
        if links.b[e] < dynamic:
            start[links.b[e] + 1] += 1
    add_up(start, dynamic)
    for i in range(dynamic):
        bodies.cursor[i] = start[i]
    for side in range(2):
        for k in range(count):
            e = int(k)
            if sorted:
                e = int(links.order[k])
            i = links.a[e]
            if side == 1:
                i = links.b[e]
            if i < dynamic:
                links.around[bodies.cursor[i]] = k
                bodies.cursor[i] += 1


@wp.func(module=module)
def is_of(links: LinkLists, place: int, count: int, lower: int, higher: int):
    """Whether there is a link at a ``place`` of the order, and it is between these bodies."""
    if place >= count:
        return False
    e = int(links.order[place])
    return wp.min(links.a[e], links.b[e]) == lower and wp.max(links.a[e], links.b[e]) == higher


@wp.func(module=module)
def key(bodies: BodyLists, links: LinkLists, place: int, count: int):
    """What the link at a ``place`` of the order is sorted by; greater than all where there is none."""
    if place >= count:
        return wp.int64(9223372036854775807)
    e = int(links.order[place])
    lower = wp.min(links.a[e], links.b[e])
    higher = wp.max(links.a[e], links.b[e])
    return wp.int64(bodies.place[lower]) * wp.int64(bodies.count[BODIES]) + wp.int64(higher)


@wp.func(module=module)
def list_islands(bodies: BodyLists, contacts: LinkLists, rows: LinkLists):
    """Islands, in order of their smallest member, and their bodies."""
    dynamic = bodies.count[DYNAMIC]
    for i in range(dynamic):
        bodies.root[i] = i
    link(bodies, contacts, bodies.count[CONTACTS])
    link(bodies, rows, bodies.count[ROWS])
    islands = label_roots(bodies.root, bodies.body_island, dynamic)
    bodies.count[ISLANDS] = islands
    clear(bodies.island_body_start, islands + 1)
    for i in range(dynamic):
        bodies.island_body_start[int(bodies.body_island[i]) + 1] += 1
    add_up(bodies.island_body_start, islands)
    for k in range(islands):
        bodies.cursor[k] = bodies.island_body_start[k]
        bodies.constrained[k] = False
        bodies.jointed[k] = False
    for i in range(dynamic):
        k = int(bodies.body_island[i])
        bodies.island_body_index[bodies.cursor[k]] = i
        bodies.place[i] = bodies.cursor[k]
        bodies.cursor[k] += 1


@wp.func(module=module)
def list_rows(bodies: BodyLists, rows: LinkLists):
    """Islands of the joint rows, and their rows."""
    islands = bodies.count[ISLANDS]
    clear(bodies.island_row_start, islands + 1)
    for r in range(bodies.count[ROWS]):
        k = int(bodies.body_island[wp.min(rows.a[r], rows.b[r])])
        rows.island[r] = wp.int64(k)
        bodies.constrained[k] = True
        bodies.jointed[k] = True
        bodies.island_row_start[k + 1] += 1
    add_up(bodies.island_row_start, islands)
    for k in range(islands):
        bodies.cursor[k] = bodies.island_row_start[k]
    for r in range(bodies.count[ROWS]):
        k = int(rows.island[r])
        rows.of_island[bodies.cursor[k]] = r
        bodies.cursor[k] += 1


@wp.func(module=module)
def list_pairs(bodies: BodyLists, contacts: LinkLists, rows: LinkLists, pairs: PairLists):
    """Pairs that contacts or rows couple, runs of contacts, and what of both the islands have."""
    dynamic = bodies.count[DYNAMIC]
    islands = bodies.count[ISLANDS]
    contact_count = bodies.count[CONTACTS]
    row_count = bodies.count[ROWS]
    clear(bodies.island_contact_start, islands + 1)
    clear(bodies.island_run_start, islands + 1)
    clear(bodies.island_pair_start, islands + 1)
    c = int(0)
    r = int(0)
    p = int(0)
    runs = int(0)
    linked = int(0)
    while c < contact_count or r < row_count:
        e = int(0)
        lower = int(0)
        higher = int(0)
        if key(bodies, contacts, c, contact_count) <= key(bodies, rows, r, row_count):
            e = int(contacts.order[c])
            lower = wp.min(contacts.a[e], contacts.b[e])
            higher = wp.max(contacts.a[e], contacts.b[e])
        else:
            e = int(rows.order[r])
            lower = wp.min(rows.a[e], rows.b[e])
            higher = wp.max(rows.a[e], rows.b[e])
        k = int(bodies.body_island[lower])
        first = int(c)
        while is_of(contacts, c, contact_count, lower, higher):
            contacts.island[c] = wp.int64(k)
            c += 1
        if c > first:
            contacts.run_start[runs] = first
            runs += 1
            bodies.constrained[k] = True
            bodies.island_contact_start[k + 1] += c - first
            bodies.island_run_start[k + 1] += 1
        if higher < dynamic:
            pairs.i[p] = wp.int64(lower)
            pairs.j[p] = wp.int64(higher)
            pairs.island[p] = wp.int64(k)
            pairs.contact_start[p] = wp.where(c > first, first, 0)
            pairs.contact_end[p] = wp.where(c > first, c, 0)
            pairs.row_start[p] = linked
            bodies.island_pair_start[k + 1] += 1
            p += 1
        while is_of(rows, r, row_count, lower, higher):
            if higher < dynamic:
                pairs.row_index[linked] = int(rows.order[r])
                linked += 1
            r += 1
    contacts.run_start[runs] = contact_count
    pairs.row_start[p] = linked
    add_up(bodies.island_contact_start, islands)
    add_up(bodies.island_run_start, islands)
    add_up(bodies.island_pair_start, islands)
    bodies.count[RUNS] = runs
    bodies.count[PAIRS] = p
    bodies.count[LINKED] = linked


@wp.func(module=module)
def list_neighbours(bodies: BodyLists, pairs: PairLists):
    """The pairs around each body: first those in which it comes first."""
    dynamic = bodies.count[DYNAMIC]
    clear(bodies.neighbour_start, dynamic + 1)
    for p in range(bodies.count[PAIRS]):
        bodies.neighbour_start[int(pairs.i[p]) + 1] += 1
        bodies.neighbour_start[int(pairs.j[p]) + 1] += 1
    add_up(bodies.neighbour_start, dynamic)
    for i in range(dynamic):
        bodies.cursor[i] = bodies.neighbour_start[i]
    for side in range(2):
        for p in range(bodies.count[PAIRS]):
            i = int(pairs.i[p])
            other = int(pairs.j[p])
            number = int(p)
            if side == 1:
                i = int(pairs.j[p])
                other = int(pairs.i[p])
                number = -p - 1
            pairs.neighbour_body[bodies.cursor[i]] = other
            pairs.neighbour_pair[bodies.cursor[i]] = number
            bodies.cursor[i] += 1


@wp.kernel(module=module, enable_backward=False)
def make_lists(bodies: BodyLists, contacts: LinkLists, rows: LinkLists, pairs: PairLists):
    """One thread: all of them."""
    list_islands(bodies, contacts, rows)
    list_rows(bodies, rows)
    sort(bodies, contacts, bodies.count[CONTACTS])
    sort(bodies, rows, bodies.count[ROWS])
    list_pairs(bodies, contacts, rows, pairs)
    list_around(bodies, contacts, bodies.count[CONTACTS], True, bodies.body_contact_start)
    list_around(bodies, rows, bodies.count[ROWS], False, bodies.body_row_start)
    list_neighbours(bodies, pairs)


class IndexLists(threading.local):
    """The tables of one thread."""

    def __init__(self):
        of_contacts, of_pairs = HostTable(LinkLists, MANY), HostTable(PairLists, MANY)
        self._tables = HostTable(BodyLists, count=8), of_contacts, HostTable(LinkLists), of_pairs
        self._kernel = HostKernel(make_lists, *self._tables, alone=True)

    def of(self, dynamic, total, contacts, rows):
        """The views of BodyLists, LinkLists of contacts and of rows, and PairLists, good until the next call.

        dynamic: how many of the ``total`` bodies, the first ones, move; contacts, rows: (a (K,), b (K,)) bodies.
        """
        counts = len(contacts[0]), len(rows[0])
        sizes = total + 1, 2 * counts[0] + 1, 2 * counts[1] + 1, 2 * sum(counts) + 1
        views = [table.reserve(size) for table, size in zip(self._tables, sizes, strict=True)]
        views[0].count[:4] = dynamic, total, *counts
        for links, (a, b), count in zip(views[1:3], (contacts, rows), counts, strict=True):
            links.a[:count], links.b[:count] = a, b
        self._kernel.run()
        return views
