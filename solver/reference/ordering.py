# SPDX-License-Identifier: GPL-3.0-or-later
"""Symbolic part of the block factorisation: which 6x6 blocks exist, in which order they are computed, and from what.

The matrix A is symmetric with one diagonal block per body and one block per pair of coupled bodies.  Bodies that are
connected through pairs form an island; islands share nothing.  With bodies renumbered by elimination order, A = U^T U
with U block upper triangular, and block (k, c) of U follows from

    S_kc = A_kc - sum over m < k of U_mk^T U_mc,    U_kk = chol(S_kk),    U_kc = U_kk^-T S_kc.

The order is by minimum degree (George and Liu, "The evolution of the minimum degree ordering algorithm", 1989), ties by
the lower body number, so the same pairs always give the same structure.
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np


@dataclass(frozen=True)
class Structure:
    """What ``analyse`` finds.  All arrays int32.  Rows are bodies in elimination order, those of one island contiguous.

    Blocks are numbered row by row; each row starts with its diagonal block and goes on with rising columns.
    """

    count: int  # n: bodies
    island: np.ndarray  # (n,) island of each body; islands are numbered by their lowest body
    island_start: np.ndarray  # (islands + 1,) rows of each island; empty for islands left out
    order: np.ndarray  # (rows,) body of each row
    row_start: np.ndarray  # (rows + 1,) blocks of each row
    column: np.ndarray  # (blocks,) column of each block, as a row number
    source: np.ndarray  # (blocks,) diagonal: body; else 2 * pair, + 1 where the pair's block is transposed; -1 for fill
    update_start: np.ndarray  # (blocks + 1,) updates of each block
    update_left: np.ndarray  # (updates,) block (m, k) of the sum above
    update_right: np.ndarray  # (updates,) block (m, c), m rising

    @property
    def island_count(self):
        """Islands, those left out included."""
        return len(self.island_start) - 1

    @property
    def row_count(self):
        """Bodies that take part."""
        return len(self.order)

    @property
    def block_count(self):
        """Blocks of the factor, diagonal and fill included."""
        return len(self.column)

    @property
    def update_count(self):
        """6x6 products that one factorisation takes."""
        return len(self.update_left)


def find_islands(count, pair_i, pair_j):
    """Connected components of the graph of ``count`` bodies and the given pairs: the component of each body.

    (count,) int32; components are numbered by their lowest body.
    """
    parent = np.arange(count)
    while True:
        a, b = parent[pair_i], parent[pair_j]
        apart = a != b
        if not apart.any():
            break
        np.minimum.at(parent, np.maximum(a, b)[apart], np.minimum(a, b)[apart])
        while True:
            grandparent = parent[parent]
            if np.array_equal(grandparent, parent):
                break
            parent = grandparent
    return np.unique(parent, return_inverse=True)[1].reshape(-1).astype(np.int32)


def analyse(count, pair_i, pair_j, wanted=None):
    """Structure of the factor of a matrix over ``count`` bodies with off-diagonal blocks at (pair_i, pair_j).

    pair_i, pair_j: (m,) body numbers, pair_i < pair_j, each pair once.  wanted: None, or (count,) bool: an island takes
    part where any of its bodies is wanted; the others keep their number but get no rows.  Raises ValueError on pairs
    that are out of range, out of order or given twice.
    """
    count = int(count)
    pair_i, pair_j = np.asarray(pair_i, np.int64).reshape(-1), np.asarray(pair_j, np.int64).reshape(-1)
    _check_pairs(count, pair_i, pair_j)
    island = find_islands(count, pair_i, pair_j)
    island_count = int(island.max()) + 1 if count else 0
    takes_part = np.ones(count, bool)
    if wanted is not None:
        flag = np.zeros(island_count, bool)
        flag[island[np.asarray(wanted, bool)]] = True
        takes_part = flag[island]

    pairs = np.flatnonzero(takes_part[pair_i])
    order, neighbours = _minimum_degree(np.flatnonzero(takes_part), pair_i[pairs], pair_j[pairs], count)
    by_island = np.argsort(island[order], kind="stable")
    order, neighbours = order[by_island], [neighbours[k] for k in by_island]
    rows = len(order)
    position = np.zeros(count, np.int64)
    position[order] = np.arange(rows)

    # A block's key is row * rows + column: sorted keys are the numbering of the blocks.
    degree = np.fromiter(map(len, neighbours), np.int64, rows)
    flat = np.fromiter((body for row in neighbours for body in row), np.int64, int(degree.sum()))
    diagonal = np.arange(rows) * (rows + 1)
    keys = np.sort(np.concatenate([diagonal, np.repeat(np.arange(rows), degree) * rows + position[flat]]))
    row_start = np.concatenate([[0], np.cumsum(degree + 1)])
    column = keys % max(rows, 1)

    source = np.full(len(keys), -1)
    source[row_start[:-1]] = order
    first, second = position[pair_i[pairs]], position[pair_j[pairs]]
    upper = np.minimum(first, second) * rows + np.maximum(first, second)
    source[np.searchsorted(keys, upper)] = 2 * pairs + (first > second)

    target, left, right = _updates(rows, keys, row_start, column, degree)
    by_target = np.argsort(target * max(len(keys), 1) + left)
    update_start = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=len(keys)))])
    island_start = np.searchsorted(island[order], np.arange(island_count + 1))
    as_int32 = (
        a.astype(np.int32)
        for a in (island_start, order, row_start, column, source, update_start, left[by_target], right[by_target])
    )
    return Structure(count, island, *as_int32)


def _check_pairs(count, pair_i, pair_j):
    if len(pair_i) != len(pair_j):
        raise ValueError(f"pair_i has {len(pair_i)} entries and pair_j {len(pair_j)}; give both bodies of each pair.")
    wrong = np.flatnonzero((pair_i < 0) | (pair_i >= pair_j) | (pair_j >= count))
    if len(wrong):
        k = int(wrong[0])
        raise ValueError(f"Pair {k} is ({pair_i[k]}, {pair_j[k]}); give it as i < j, both from 0 to {count - 1}.")
    key = np.sort(pair_i * count + pair_j)
    twice = np.flatnonzero(key[1:] == key[:-1])
    if len(twice):
        i, j = divmod(int(key[twice[0]]), count)
        raise ValueError(f"Pair ({i}, {j}) is given more than once; add its blocks together and give it once.")


def _minimum_degree(bodies, pair_i, pair_j, count):
    """Bodies in elimination order, and for each the set of bodies that remain coupled to it when its turn comes."""
    adjacent = [set() for _ in range(count)]
    for i, j in zip(pair_i.tolist(), pair_j.tolist(), strict=True):
        adjacent[i].add(j)
        adjacent[j].add(i)
    queue = [len(adjacent[body]) * count + body for body in bodies.tolist()]  # sorts by degree, then by number
    heapify(queue)
    eliminated = [False] * count
    order, neighbours = [], []
    while queue:
        degree, body = divmod(heappop(queue), count)
        row = adjacent[body]
        if eliminated[body] or degree != len(row):
            continue
        eliminated[body] = True
        order.append(body)
        neighbours.append(row)
        for other in row:
            mine = adjacent[other]
            mine |= row
            mine.discard(body)
            mine.discard(other)
            heappush(queue, len(mine) * count + other)
    return np.array(order, np.int64), neighbours


def _updates(rows, keys, row_start, column, degree):
    """(target, left, right) block of every product U_mk^T U_mc, for all rows of equal degree at once."""
    parts = [np.zeros((3, 0), np.int64)]
    for size in np.unique(degree[degree > 0]).tolist():
        blocks = row_start[:-1][degree == size][:, None] + np.arange(1, size + 1)
        a, b = np.triu_indices(size)
        left, right = blocks[:, a].reshape(-1), blocks[:, b].reshape(-1)
        target = np.searchsorted(keys, column[left] * rows + column[right])
        parts.append(np.stack([target, left, right]))
    return np.concatenate(parts, axis=1)
