# SPDX-License-Identifier: GPL-3.0-or-later
"""The symbolic factorisation of ``reference.ordering`` as kernels on the CPU, island by island, every step anew.

Contacts come and go, so what couples which bodies changes from step to step, and Python sets would take longer than the
solve.  First comes the order of elimination, which tells what the factor costs; islands whose factor costs more than
they may spend are left out.  The blocks of the others are listed after that.  Minimum degree on sets of bits, the next
body from a tournament: George and Liu, "The evolution of the minimum degree ordering algorithm", 1989.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np
import warp as wp

from ..arrays import allocate, host_view, upload
from ..host import graph_of
from ..reference.ordering import Structure

LARGEST = 16384  # bodies of an island: its sets of bits take 32 MB
FEWEST = 256  # elements to make room for
PER_ROW, PER_BLOCK, PER_UPDATE = 0.10, 0.07, 0.05
"""Microseconds on the CPU that a row, a block and an update of the factor cost in factorisation and solve together."""

_last = wp.constant(2**31 - 1)
_row_cost, _block_cost, _update_cost = (wp.constant(wp.float32(cost)) for cost in (PER_ROW, PER_BLOCK, PER_UPDATE))
_LISTED = ("order", "row_start", "column", "source", "update_start", "update_left", "update_right")


@wp.struct
class Graph:
    """Bodies by island, and the bodies and pairs around each."""

    islands: wp.array(dtype=wp.int32)  # (1,) how many
    island_start: wp.array(dtype=wp.int32)  # (islands + 1,)
    member: wp.array(dtype=wp.int32)  # (n,) bodies by island
    rank: wp.array(dtype=wp.int32)  # scratch: (n,) place of each body among those of its island
    neighbour_start: wp.array(dtype=wp.int32)
    neighbour_body: wp.array(dtype=wp.int32)
    neighbour_pair: wp.array(dtype=wp.int32)  # k: this body comes first in pair k; -k-1: second


@wp.struct
class Elimination:
    """What the first kernel finds.  Members are addressed by their place in ``Graph.member``."""

    bits: wp.array(dtype=wp.uint64)  # a word for 64 members, for each: those still coupled to it when its turn comes
    bits_begin: wp.array(dtype=wp.int32)  # (islands,) in ``bits``
    tree: wp.array(dtype=wp.int32)  # (2 n,) scratch: degree * size + rank of each, and the lesser of every two
    order: wp.array(dtype=wp.int32)  # (n,) members in elimination order, by island
    position: wp.array(dtype=wp.int32)  # (n,) row of each member
    blocks: wp.array(dtype=wp.int32)  # (islands,) 0: left out
    updates: wp.array(dtype=wp.int32)
    most: wp.array(dtype=wp.float32)  # (islands,) [us]


@wp.struct
class Lists:
    """The arrays of ``reference.ordering.Structure`` that the second kernel fills."""

    row_begin: wp.array(dtype=wp.int32)  # (islands + 1,) first row, block and update of each island
    block_begin: wp.array(dtype=wp.int32)
    update_begin: wp.array(dtype=wp.int32)
    order: wp.array(dtype=wp.int32)
    row_start: wp.array(dtype=wp.int32)
    column: wp.array(dtype=wp.int32)
    source: wp.array(dtype=wp.int32)
    update_start: wp.array(dtype=wp.int32)
    update_left: wp.array(dtype=wp.int32)
    update_right: wp.array(dtype=wp.int32)
    cursor: wp.array(dtype=wp.int32)  # (blocks,) scratch


@cache
def kernels():
    """(eliminate, list_blocks), both one thread for all islands."""
    module = __name__
    wp.set_module_options({"enable_backward": False}, module=module)

    @wp.func(module=module)
    def single(bit: int):
        return wp.uint64(1) << wp.uint64(bit)

    @wp.func(module=module)
    def lowest(x: wp.uint64):
        """Number of the lowest bit that is set."""
        return int(wp.bit_count(x ^ (x - wp.uint64(1)))) - 1

    @wp.func(module=module)
    def enter(tree: wp.array(dtype=wp.int32), base: int, leaf: int, value: int):
        """Give a leaf of the tournament another value."""
        place = int(leaf)
        tree[base + place] = value
        while place > 1:
            place = place // 2
            tree[base + place] = wp.min(tree[base + 2 * place], tree[base + 2 * place + 1])

    @wp.func(module=module)
    def eliminate_island(graph: Graph, out: Elimination, k: int):
        """Order, blocks and updates of an island that stays within ``most``."""
        begin = graph.island_start[k]
        size = graph.island_start[k + 1] - begin
        out.blocks[k] = 0
        out.updates[k] = 0
        if out.most[k] <= float(size) * (_row_cost + _block_cost):
            return
        words = (size + 63) // 64
        bits = out.bits_begin[k]
        tree = 2 * begin
        for m in range(size):
            graph.rank[graph.member[begin + m]] = m
        for m in range(size):
            for w in range(words):
                out.bits[bits + words * m + w] = wp.uint64(0)
            body = graph.member[begin + m]
            first = graph.neighbour_start[body]
            last = graph.neighbour_start[body + 1]
            for e in range(first, last):
                other = graph.rank[graph.neighbour_body[e]]
                word = bits + words * m + other // 64
                out.bits[word] = out.bits[word] | single(other % 64)
            out.tree[tree + size + m] = (last - first) * size + m
        for up in range(1, size):
            place = size - up
            out.tree[tree + place] = wp.min(out.tree[tree + 2 * place], out.tree[tree + 2 * place + 1])
        blocks = int(0)
        updates = int(0)
        for turn in range(size):
            own = out.tree[tree + 1] % size
            degree = out.tree[tree + 1] // size
            enter(out.tree, tree, size + own, _last)
            out.order[begin + turn] = begin + own
            blocks += degree + 1
            updates += degree * (degree + 1) // 2
            cost = float(size) * _row_cost + float(blocks) * _block_cost + float(updates) * _update_cost
            if cost > out.most[k]:
                return
            for w in range(words):
                rest = out.bits[bits + words * own + w]
                while rest != wp.uint64(0):
                    low = lowest(rest)
                    rest = rest & (rest - wp.uint64(1))
                    other = 64 * w + low
                    count = int(0)
                    for v in range(words):
                        word = bits + words * other + v
                        joined = out.bits[word] | out.bits[bits + words * own + v]
                        if v == own // 64:
                            joined = joined & ~single(own % 64)
                        if v == w:
                            joined = joined & ~single(low)
                        out.bits[word] = joined
                        count += int(wp.bit_count(joined))
                    enter(out.tree, tree, size + other, count * size + other)
        out.blocks[k] = blocks
        out.updates[k] = updates

    @wp.func(module=module)
    def list_blocks_of(graph: Graph, found: Elimination, out: Lists, k: int):
        """The blocks of every row of an island, where each comes from, and the products each takes."""
        row_begin = out.row_begin[k]
        size = out.row_begin[k + 1] - row_begin
        begin = graph.island_start[k]
        words = (size + 63) // 64
        for turn in range(size):
            found.position[found.order[begin + turn]] = row_begin + turn
        block = int(out.block_begin[k])
        for turn in range(size):
            m = found.order[begin + turn]
            body = graph.member[m]
            row = row_begin + turn
            start = int(block)
            out.order[row] = body
            out.row_start[row] = start
            out.column[start] = row
            out.source[start] = body
            block += 1
            for w in range(words):
                rest = found.bits[found.bits_begin[k] + words * (m - begin) + w]
                while rest != wp.uint64(0):
                    column = found.position[begin + 64 * w + lowest(rest)]
                    rest = rest & (rest - wp.uint64(1))
                    place = int(block)
                    while out.column[place - 1] > column:
                        out.column[place] = out.column[place - 1]
                        place -= 1
                    out.column[place] = column
                    out.source[block] = -1
                    block += 1
            for e in range(graph.neighbour_start[body], graph.neighbour_start[body + 1]):
                column = found.position[begin + graph.rank[graph.neighbour_body[e]]]
                if column > row:
                    place = int(start + 1)
                    while out.column[place] < column:
                        place += 1
                    pair = graph.neighbour_pair[e]
                    out.source[place] = 2 * pair
                    if pair < 0:
                        out.source[place] = -2 * pair - 1
        row_end = row_begin + size
        out.row_start[row_end] = block
        first_block = out.block_begin[k]
        for b in range(first_block, block):
            out.cursor[b] = 0
        for fill in range(2):
            for row in range(row_begin, row_end):
                end = out.row_start[row + 1]
                for left in range(out.row_start[row] + 1, end):
                    target = int(out.row_start[out.column[left]])
                    for right in range(left, end):
                        while out.column[target] < out.column[right]:
                            target += 1
                        slot = out.cursor[target]
                        out.cursor[target] = slot + 1
                        if fill == 1:
                            out.update_left[slot] = left
                            out.update_right[slot] = right
            if fill == 0:
                place = int(out.update_begin[k])
                for b in range(first_block, block):
                    out.update_start[b] = place
                    place += out.cursor[b]
                    out.cursor[b] = out.update_start[b]
                out.update_start[block] = place

    @wp.kernel(module=module)
    def eliminate(graph: Graph, out: Elimination):
        for k in range(graph.islands[0]):
            eliminate_island(graph, out, k)

    @wp.kernel(module=module)
    def list_blocks(graph: Graph, found: Elimination, out: Lists):
        for k in range(graph.islands[0]):
            list_blocks_of(graph, found, out, k)

    return SimpleNamespace(eliminate=eliminate, list_blocks=list_blocks)


class Eliminator:
    """Finds structures, step after step, in arrays on the CPU that grow."""

    def __init__(self):
        self._kernels = kernels()
        self._given = dict.fromkeys(("bodies", "pairs", "islands", "words"), -1)
        self._listed = dict.fromkeys(("islands", "rows", "blocks", "updates"), -1)

    def analyse(self, topology, most):
        """Structure of the factor over the islands of a Topology: number for number that of ``reference.ordering``.

        most: (islands,) microseconds that factor and solve of an island may cost; islands that would cost more, and
        those of more than ``LARGEST`` bodies, get no rows.  The structure's arrays are views, good until the next call.
        """
        island, islands = topology.body_island, topology.island_count
        n, size = len(island), topology.island_body_start[1:] - topology.island_body_start[:-1]
        most = np.where(size <= LARGEST, most, 0.0)
        words = np.where(most > 0.0, size * ((size + 63) // 64), 0)
        if _grown(self._given, n, len(topology.pair_i), islands, int(words.sum())):
            self._make_graph(**self._given)
        graph, found = self._graph, self._found
        host_view(graph.islands)[0] = islands
        upload(graph.island_start, topology.island_body_start)
        upload(graph.member, topology.island_body_index)
        upload(graph.neighbour_start, topology.neighbour_start)
        upload(graph.neighbour_body, topology.neighbour_body)
        upload(graph.neighbour_pair, topology.neighbour_pair)
        upload(found.bits_begin, np.cumsum(words) - words)
        upload(found.most, most)
        wp.capture_launch(self._eliminate)

        blocks, updates = host_view(found.blocks)[:islands], host_view(found.updates)[:islands]
        begins = np.zeros((3, islands + 1), np.int32)
        for counts, begin in zip((np.where(blocks > 0, size, 0), blocks, updates), begins, strict=True):
            np.cumsum(counts, out=begin[1:])
        rows, block_count, update_count = begins[:, -1].tolist()
        if _grown(self._listed, islands, rows, block_count, update_count):
            self._make_lists(**self._listed)
        lists = self._lists
        upload(lists.row_begin, begins[0])
        upload(lists.block_begin, begins[1])
        upload(lists.update_begin, begins[2])
        host_view(lists.row_start)[rows] = block_count
        host_view(lists.update_start)[block_count] = update_count
        if self._list_blocks is None:
            self._list_blocks = graph_of(self._kernels.list_blocks, 1, graph, found, lists)
        wp.capture_launch(self._list_blocks)
        lengths = rows, rows + 1, block_count, block_count, block_count + 1, update_count, update_count
        views = (host_view(getattr(lists, name))[:length] for name, length in zip(_LISTED, lengths, strict=True))
        return Structure(n, island.astype(np.int32), begins[0], *views)

    def _make_graph(self, bodies, pairs, islands, words):
        around = dict.fromkeys(("neighbour_body", "neighbour_pair"), 2 * pairs)
        starts = {"islands": 1, "island_start": islands + 1, "neighbour_start": bodies + 1}
        self._graph = allocate(Graph, around | starts, bodies, "cpu")
        of_islands = dict.fromkeys(("blocks", "updates", "most", "bits_begin"), islands)
        self._found = allocate(Elimination, of_islands | {"bits": words, "tree": 2 * bodies}, bodies, "cpu")
        self._eliminate, self._list_blocks = graph_of(self._kernels.eliminate, 1, self._graph, self._found), None

    def _make_lists(self, islands, rows, blocks, updates):
        of_islands = dict.fromkeys(("row_begin", "block_begin", "update_begin"), islands + 1)
        of_updates = dict.fromkeys(("update_left", "update_right"), updates)
        others = {"order": rows, "row_start": rows + 1, "update_start": blocks + 1}
        self._lists, self._list_blocks = allocate(Lists, of_islands | of_updates | others, blocks, "cpu"), None


def _grown(capacity, *sizes):
    """Whether ``capacity`` had to be raised for ``sizes``, given in its order; at least to the double, then."""
    lacking = [(name, size) for name, size in zip(capacity, sizes, strict=True) if size > capacity[name]]
    for name, size in lacking:
        capacity[name] = max(size + size // 2, 2 * capacity[name], FEWEST)
    return bool(lacking)
