# SPDX-License-Identifier: GPL-3.0-or-later
"""Islands, pairs and index lists against brute force."""

import numpy as np
import pytest
from axion.solver.components import connected_components
from axion.solver.problem import Contacts, JointRows
from axion.solver.topology import build_topology, groups, loops
from step_problems import random_problem

SIZES = [(1, 1, 0, 0), (1, 1, 1, 0), (6, 2, 0, 5), (6, 2, 5, 0), (12, 3, 9, 6), (40, 2, 30, 20), (5, 1, 40, 40)]


def union_find(count, edges):
    """Label of each node by the smallest member of its component, renumbered in order."""
    parent = list(range(count))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for a, b in edges:
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    roots = [root(i) for i in range(count)]
    order = {r: k for k, r in enumerate(sorted(set(roots)))}
    return [order[r] for r in roots]


@pytest.mark.parametrize("count", [0, 1, 2, 10, 100])
@pytest.mark.parametrize("edges", [0, 3, 60, 150])
def test_components_are_those_of_union_find(count, edges):
    rng = np.random.default_rng(1000 * count + edges)
    if count == 0:
        edges = 0
    i, j = rng.integers(0, max(count, 1), (2, edges))
    assert connected_components(count, i, j).tolist() == union_find(count, zip(i.tolist(), j.tolist(), strict=True))


def test_a_long_chain_in_any_order_is_one_component():
    rng = np.random.default_rng(0)
    name = rng.permutation(3000)
    order = rng.permutation(2999)
    assert not connected_components(3000, name[:-1][order], name[1:][order]).any()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_lists_against_brute_force(size, seed):
    dynamic, immovable, contact_count, row_count = size
    problem = random_problem(seed, dynamic, immovable, contact_count, row_count)
    contacts, rows, n = problem.contacts, problem.joints, dynamic
    t = build_topology(problem)
    ca, cb = contacts.body_a[t.contact_order], contacts.body_b[t.contact_order]
    assert sorted(t.contact_order.tolist()) == list(range(contact_count))
    # of one pair as they come, so that bits do not depend on how they are sorted
    low, high = np.minimum(contacts.body_a, contacts.body_b), np.maximum(contacts.body_a, contacts.body_b)
    assert t.contact_order.tolist() == np.lexsort((high, low, t.body_island[low])).tolist()
    runs = np.flatnonzero(np.diff(np.stack([low, high])[:, t.contact_order], prepend=-1).any(axis=0))
    assert t.run_start.tolist() == [*runs.tolist(), contact_count]
    edges = [
        (a, b) for a, b in [*zip(ca, cb, strict=True), *zip(rows.body_a, rows.body_b, strict=True)] if max(a, b) < n
    ]
    assert t.body_island.tolist() == union_find(n, edges)
    assert t.island_count == len(set(t.body_island))
    of_contact = [t.body_island[min(a, b)] for a, b in zip(ca, cb, strict=True)]
    of_row = [t.body_island[min(a, b)] for a, b in zip(rows.body_a, rows.body_b, strict=True)]
    assert t.contact_island.tolist() == of_contact == sorted(of_contact)
    assert t.row_island.tolist() == of_row
    for k in range(t.island_count):
        assert list(range(t.island_contact_start[k], t.island_contact_start[k + 1])) == [
            c for c in range(contact_count) if of_contact[c] == k
        ]
        assert t.island_row_index[t.island_row_start[k] : t.island_row_start[k + 1]].tolist() == [
            r for r in range(row_count) if of_row[r] == k
        ]
        assert t.constrained[k] == (k in of_contact or k in of_row) == (k in t.constrained_index)
        of_pairs = range(t.island_pair_start[k], t.island_pair_start[k + 1])
        assert list(of_pairs) == [m for m, island in enumerate(t.pair_island) if island == k]
        assert t.jointed[k] == (k in of_row)
    for i in range(n):
        around = t.body_contact_index[t.body_contact_start[i] : t.body_contact_start[i + 1]]
        assert sorted(around.tolist()) == [c for c in range(contact_count) if i in (ca[c], cb[c])]
        around = t.body_row_index[t.body_row_start[i] : t.body_row_start[i + 1]]
        assert sorted(around.tolist()) == [r for r in range(row_count) if i in (rows.body_a[r], rows.body_b[r])]
    pairs = sorted({(min(a, b), max(a, b)) for a, b in edges}, key=lambda pair: (t.body_island[pair[0]], pair))
    assert list(zip(t.pair_i.tolist(), t.pair_j.tolist(), strict=True)) == [(int(i), int(j)) for i, j in pairs]
    for k, (i, j) in enumerate(pairs):
        assert t.pair_island[k] == t.body_island[i]
        mine = [c for c in range(contact_count) if {ca[c], cb[c]} == {i, j}]
        assert list(range(t.pair_contact_start[k], t.pair_contact_end[k])) == mine
        listed = t.pair_row_index[t.pair_row_start[k] : t.pair_row_start[k + 1]].tolist()
        assert sorted(listed) == [r for r in range(row_count) if {rows.body_a[r], rows.body_b[r]} == {i, j}]
    for i in range(n):
        listed = range(t.neighbour_start[i], t.neighbour_start[i + 1])
        got = {(int(t.neighbour_body[m]), int(t.neighbour_pair[m])) for m in listed}
        want = {(int(b), k) for k, (a, b) in enumerate(pairs) if a == i}
        want |= {(int(a), -k - 1) for k, (a, b) in enumerate(pairs) if b == i}
        assert got == want and len(listed) == len(want)


def test_nothing_at_all():
    problem = random_problem(0, 3, 1, 1, 1)
    problem.contacts, problem.joints = Contacts.empty(), JointRows.empty()
    t = build_topology(problem)
    assert t.island_count == 3 and not t.constrained.any() and len(t.pair_i) == 0
    assert t.body_contact_start.tolist() == [0, 0, 0, 0]


def test_equal_structures_are_one_read_only_object():
    # What depends on nothing but who touches whom is kept by identity: other poses are the same, other pairs another.
    problem, other = random_problem(0, 6, 2, 5, 4), random_problem(0, 6, 2, 5, 4)
    other.bodies.position = other.bodies.position + 1.0
    found = build_topology(problem)
    assert build_topology(other) is found
    with pytest.raises(ValueError, match="read-only"):
        found.pair_i[0] = 1
    for table in (other.contacts, other.joints):
        table.body_a[0], table.body_b[0] = table.body_b[0], table.body_a[0]
        swapped = build_topology(other)
        assert swapped is not found
        found = swapped
    other.contacts, other.joints = Contacts.empty(), JointRows.empty()
    for count in (6, 5):
        other.bodies.dynamic_count = count
        assert build_topology(other).body_island.tolist() == list(range(count))


@pytest.mark.parametrize(
    ("a", "b", "closed"),
    [
        ([5, 0, 1], [0, 1, 2], [False, False, False]),  # a chain on the ground
        ([0, 1], [1, 2], [False, False]),  # a chain in the air
        ([5, 0, 1], [0, 1, 6], [True, True, True]),  # both ends held, by two bodies that do not move
        ([5, 5], [0, 0], [True, True]),  # a door on two hinges
        ([0, 1, 2], [1, 2, 0], [True, True, True]),  # a ring in the air
        ([0, 1, 0, 5], [1, 0, 2, 3], [True, True, True, False]),  # two joints of one pair, and a pendulum apart
        ([5, 0, 5, 2], [0, 1, 2, 3], [False, False, False, False]),  # two chains on the ground are no loop
        ([], [], []),
    ],
)
def test_loops_of_joints(a, b, closed):
    a, b = np.array(a, int), np.array(b, int)
    assert loops(groups(5, a, b), a, b).tolist() == closed


def test_which_contacts_are_between_what_joints_tie_together():
    # 0-1-2 hang on the ground, which 5 and 6 are; 3-4 fly.
    pairs = [(0, 2), (1, 6), (5, 2), (3, 4), (2, 3), (4, 5)]
    problem = random_problem(0, 5, 2, len(pairs), 4)
    problem.contacts.body_a, problem.contacts.body_b = np.array(pairs, np.int32).T
    problem.joints.body_a, problem.joints.body_b = np.array([(5, 0), (0, 1), (1, 2), (3, 4)], np.int32).T
    t = build_topology(problem)
    assert t.contact_tied[np.argsort(t.contact_order)].tolist() == [True, True, True, True, False, False]
    problem.joints = JointRows.empty()
    assert not build_topology(problem).contact_tied.any()
