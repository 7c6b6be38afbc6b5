# SPDX-License-Identifier: GPL-3.0-or-later
"""The symbolic kernels against ``reference.ordering``, which elimination of dense matrices checks: all numbers."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver.linear.elimination import LARGEST, PER_BLOCK, PER_ROW, PER_UPDATE, Eliminator
from axion.solver.reference.ordering import analyse, find_islands

ARRAYS = ("island", "island_start", "order", "row_start", "column", "source", "update_start", "update_left")
ARRAYS += ("update_right",)


def group(keys, count):
    """Where each key from 0 to ``count`` begins among the sorted ``keys``, and their positions in that order."""
    order = np.argsort(keys, kind="stable")
    return np.searchsorted(keys[order], np.arange(count + 1)), order


def topology(count, pair_i, pair_j):
    """The part of a Topology that the kernels read."""
    pair_i, pair_j = np.asarray(pair_i, np.int64), np.asarray(pair_j, np.int64)
    number = np.arange(len(pair_i))
    start, order = group(np.concatenate([pair_i, pair_j]), count)
    island = find_islands(count, pair_i, pair_j)
    islands = int(island.max()) + 1 if count else 0
    island_start, member = group(island, islands)
    return SimpleNamespace(
        body_island=island,
        island_count=islands,
        island_body_start=island_start,
        island_body_index=member,
        pair_i=pair_i,
        pair_j=pair_j,
        neighbour_start=start,
        neighbour_body=np.concatenate([pair_j, pair_i])[order],
        neighbour_pair=np.concatenate([number, -number - 1])[order],
    )


def random_graph(count, pairs, seed):
    upper = np.stack(np.triu_indices(count, 1))
    picked = np.random.default_rng(seed).permutation(upper.shape[1])[:pairs]
    return count, *upper[:, picked]


def chain(count):
    return count, np.arange(count - 1), np.arange(1, count)


GRAPHS = {
    "empty": (0, [], []),
    "single bodies": (3, [], []),
    "chain": chain(50),
    "one word full": random_graph(64, 90, 4),
    "more than a word": random_graph(65, 120, 5),
    "five words": random_graph(290, 420, 6),
    "long chain": chain(1500),
    "twenty words": random_graph(1280, 1700, 9),
    "islands": random_graph(300, 180, 7),
    "islands of many words": random_graph(3000, 1650, 10),
    "dense": random_graph(30, 435, 8),
}


def assert_same(found, expected):
    for name in ARRAYS:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert found.count == expected.count


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_finds_the_structure_of_the_reference(graph):
    given = topology(*graph)
    found = Eliminator().analyse(given, np.full(given.island_count, np.inf))
    assert_same(found, analyse(*graph))


def test_one_eliminator_serves_graphs_of_all_sizes_in_any_order():
    eliminator = Eliminator()
    for graph in [*GRAPHS.values(), *reversed(GRAPHS.values())]:
        given = topology(*graph)
        assert_same(eliminator.analyse(given, np.full(given.island_count, np.inf)), analyse(*graph))


def cost(structure):
    return PER_ROW * structure.row_count + PER_BLOCK * structure.block_count + PER_UPDATE * structure.update_count


@pytest.mark.parametrize("graph", ["chain", "dense"])
def test_an_island_that_costs_more_than_it_may_is_left_out(graph):
    given, whole = topology(*GRAPHS[graph]), analyse(*GRAPHS[graph])
    assert_same(Eliminator().analyse(given, np.array([1.001 * cost(whole)])), whole)
    without = Eliminator().analyse(given, np.array([0.999 * cost(whole)]))
    assert_same(without, analyse(*GRAPHS[graph], wanted=np.zeros(len(given.body_island), bool)))
    assert without.row_count == 0


def test_islands_that_are_left_out_keep_their_number():
    graph = GRAPHS["islands"]
    given = topology(*graph)
    odd = np.arange(given.island_count) % 2 == 1
    found = Eliminator().analyse(given, np.where(odd, np.inf, 0.0))
    assert_same(found, analyse(*graph, wanted=odd[given.body_island]))
    assert 0 < found.row_count < len(given.body_island)


def test_islands_too_large_for_the_sets_of_bits_are_left_out():
    given = topology(*chain(LARGEST + 1))
    assert Eliminator().analyse(given, np.array([np.inf])).row_count == 0
    given = topology(*chain(LARGEST))
    assert_same(Eliminator().analyse(given, np.array([np.inf])), analyse(*chain(LARGEST)))
