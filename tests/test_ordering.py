# SPDX-License-Identifier: GPL-3.0-or-later
"""The symbolic factorisation, checked against dense elimination on the graph and by replaying its sums in NumPy."""

import numpy as np
import pytest
from axion.solver.reference.ordering import analyse, find_islands


def chain(count):
    return count, np.arange(count - 1), np.arange(1, count)


def grid(rows, columns):
    number = np.arange(rows * columns).reshape(rows, columns)
    along = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    across = np.stack([number[:-1].ravel(), number[1:].ravel()])
    return rows * columns, *np.concatenate([along, across], axis=1)


def random_graph(count, pairs, seed):
    upper = np.stack(np.triu_indices(count, 1))
    picked = np.random.default_rng(seed).permutation(upper.shape[1])[:pairs]
    return count, *upper[:, picked]


CASES = {
    "empty": (0, [], []),
    "single bodies": (3, [], []),
    "chain": chain(50),
    "grid": grid(5, 6),
    "loops": random_graph(40, 70, 1),
    "several islands": random_graph(30, 20, 2),
    "dense": random_graph(9, 36, 3),
}


def symbolic_fill(structure, pair_i, pair_j):
    """Non-zero pattern of U by elimination on a dense boolean matrix: the definition of fill."""
    position = np.empty(structure.count, int)
    position[structure.order] = np.arange(structure.count)
    pattern = np.eye(structure.count, dtype=bool)
    pattern[position[pair_i], position[pair_j]] = pattern[position[pair_j], position[pair_i]] = True
    for k in range(structure.count):
        later = np.flatnonzero(pattern[k, k + 1 :]) + k + 1
        pattern[np.ix_(later, later)] = True
    return np.triu(pattern)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_blocks_are_exactly_the_pattern_of_the_factor(case):
    structure = analyse(*case)
    row = np.repeat(np.arange(structure.row_count), np.diff(structure.row_start))
    found = np.zeros((structure.count, structure.count), bool)
    found[row, structure.column] = True
    assert found.sum() == structure.block_count  # none twice
    assert np.array_equal(found, symbolic_fill(structure, np.asarray(case[1], int), np.asarray(case[2], int)))
    # Row by row, the diagonal first, then rising columns.
    assert np.array_equal(structure.column[structure.row_start[:-1]], np.arange(structure.row_count))
    assert np.all(np.diff(row.astype(np.int64) * max(structure.count, 1) + structure.column) > 0)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_replaying_the_updates_with_scalars_gives_the_cholesky_factor(case):
    # With 1x1 blocks the sums of the module's docstring are the textbook Cholesky factorisation, U = L^T.
    count, pair_i, pair_j = case
    structure = analyse(*case)
    rng = np.random.default_rng(0)
    coupling = rng.normal(size=len(pair_i))
    matrix = np.zeros((count, count))
    matrix[pair_i, pair_j] = matrix[pair_j, pair_i] = coupling
    diagonal = np.abs(matrix).sum(axis=0) + 1.0
    matrix += np.diag(diagonal)

    u = np.zeros(structure.block_count)
    for row in range(structure.row_count):
        first = structure.row_start[row]
        for block in range(first, structure.row_start[row + 1]):
            source = structure.source[block]
            value = 0.0 if source < 0 else diagonal[source] if block == first else coupling[source // 2]
            updates = slice(structure.update_start[block], structure.update_start[block + 1])
            value -= np.sum(u[structure.update_left[updates]] * u[structure.update_right[updates]])
            u[block] = np.sqrt(value) if block == first else value / u[first]
    dense = np.zeros((count, count))
    dense[np.repeat(np.arange(count), np.diff(structure.row_start)), structure.column] = u
    permuted = matrix[np.ix_(structure.order, structure.order)]
    np.testing.assert_allclose(dense, np.linalg.cholesky(permuted).T if count else dense, atol=1e-13)


def test_transposed_flag_says_which_body_comes_first():
    count, pair_i, pair_j = CASES["loops"]
    structure = analyse(count, pair_i, pair_j)
    row = np.repeat(np.arange(count), np.diff(structure.row_start))
    given = (structure.source >= 0) & (structure.column != row)
    pair, transposed = structure.source[given] // 2, structure.source[given] % 2 == 1
    assert np.array_equal(np.sort(pair), np.arange(len(pair_i)))
    row_body, column_body = structure.order[row[given]], structure.order[structure.column[given]]
    assert np.array_equal(row_body, np.where(transposed, pair_j[pair], pair_i[pair]))
    assert np.array_equal(column_body, np.where(transposed, pair_i[pair], pair_j[pair]))
    assert transposed.any() and not transposed.all()


def test_trees_have_no_fill():
    # Minimum degree removes leaves first, so a tree's factor has the blocks of the tree: n diagonal and n - 1 others.
    rng = np.random.default_rng(4)
    count = 60
    parents = np.array([rng.integers(0, k) for k in range(1, count)])
    structure = analyse(count, parents, np.arange(1, count))
    assert structure.block_count == 2 * count - 1
    assert structure.update_count == count - 1  # one product per edge: into the diagonal of the later body


def test_minimum_degree_keeps_the_fill_of_a_net_low():
    # Row-by-row order of a k x k grid fills the band: about k^3 = 2744 blocks for k = 14.  Minimum degree stays near
    # k^2 log k; a third less than the band is asked for.
    structure = analyse(*grid(14, 14))
    assert structure.block_count < 14**3 * 2 / 3


def test_islands_are_contiguous_and_numbered_by_their_lowest_body():
    count, pair_i, pair_j = 9, [1, 0, 4, 5], [7, 3, 5, 8]
    structure = analyse(count, pair_i, pair_j)
    assert structure.island.tolist() == [0, 1, 2, 0, 3, 3, 4, 1, 3]
    assert np.array_equal(structure.island, find_islands(count, np.array(pair_i), np.array(pair_j)))
    for island in range(structure.island_count):
        rows = slice(structure.island_start[island], structure.island_start[island + 1])
        assert sorted(structure.order[rows]) == np.flatnonzero(structure.island == island).tolist()


def test_islands_join_along_any_path():
    # A chain through shuffled numbers is one component, however far the labels have to travel.
    rng = np.random.default_rng(5)
    walk = rng.permutation(500)
    pairs = np.sort(np.stack([walk[:-1], walk[1:]]), axis=0)
    assert np.array_equal(find_islands(500, *pairs), np.zeros(500))


def test_islands_that_nobody_wants_get_no_rows_but_keep_their_number():
    wanted = np.zeros(9, bool)
    wanted[[5, 6]] = True
    structure = analyse(9, [1, 0, 4, 5], [7, 3, 5, 8], wanted)
    assert structure.island_count == 5
    assert np.diff(structure.island_start).tolist() == [0, 0, 0, 3, 1]
    assert sorted(structure.order) == [4, 5, 6, 8]
    assert set(structure.source[structure.source >= 0] // 2) >= {2, 3}


def test_the_same_pairs_in_another_order_give_the_same_elimination():
    count, pair_i, pair_j = CASES["loops"]
    shuffle = np.random.default_rng(6).permutation(len(pair_i))
    one, other = analyse(count, pair_i, pair_j), analyse(count, pair_i[shuffle], pair_j[shuffle])
    assert np.array_equal(one.order, other.order)
    assert np.array_equal(one.column, other.column)
    assert np.array_equal(one.update_left, other.update_left)


def test_all_arrays_are_int32():
    structure = analyse(*CASES["grid"])
    arrays = [value for value in vars(structure).values() if isinstance(value, np.ndarray)]
    assert len(arrays) == 9 and all(array.dtype == np.int32 for array in arrays)


@pytest.mark.parametrize(
    ("pair_i", "pair_j", "message"),
    [
        ([0, 1], [1, 3], r"Pair 1 is \(1, 3\)"),
        ([2], [1], r"Pair 0 is \(2, 1\)"),
        ([1], [1], r"Pair 0 is \(1, 1\)"),
        ([-1], [1], r"Pair 0 is \(-1, 1\)"),
        ([0, 1, 0], [1, 2, 1], r"Pair \(0, 1\) is given more than once"),
        ([0, 1], [2], "pair_i has 2 entries and pair_j 1"),
    ],
)
def test_wrong_pairs_are_refused(pair_i, pair_j, message):
    with pytest.raises(ValueError, match=message):
        analyse(3, pair_i, pair_j)
