# SPDX-License-Identifier: GPL-3.0-or-later
"""A ``reference.ordering.Structure`` as kernels read it, and the levels of its rows in the elimination tree.

Rows wait for the rows they are updated from alone.  Those are below them in the elimination tree, whose parent of a row
is the column of its first block beside the diagonal; so rows of one level, counted from the leaves, go side by side
(Liu, "The role of elimination trees in sparse factorization", 1990).
"""

import numpy as np
import warp as wp


@wp.struct
class LayoutArrays:
    """A ``reference.ordering.Structure``, and which islands take part."""

    island_count: wp.array(dtype=wp.int32)
    mask: wp.array(dtype=wp.int32)
    failed: wp.array(dtype=wp.int32)
    island_start: wp.array(dtype=wp.int32)
    order: wp.array(dtype=wp.int32)
    row_start: wp.array(dtype=wp.int32)
    column: wp.array(dtype=wp.int32)
    source: wp.array(dtype=wp.int32)
    update_start: wp.array(dtype=wp.int32)
    update_left: wp.array(dtype=wp.int32)
    update_right: wp.array(dtype=wp.int32)


@wp.struct
class LevelArrays:
    """What follows from a ``reference.ordering.Structure`` for the levels of its islands."""

    island_level: wp.array(dtype=wp.int32)  # (islands + 1,) first level of each island
    level_row: wp.array(dtype=wp.int32)  # (levels + 1,) first of its rows in ``rows``
    rows: wp.array(dtype=wp.int32)  # (rows,) by level
    level_block: wp.array(dtype=wp.int32)  # (levels + 1,) first of the blocks of its rows in ``blocks``
    blocks: wp.array(dtype=wp.int32)  # (blocks,) by level
    block_row: wp.array(dtype=wp.int32)  # (blocks,) row of each block
    above_start: wp.array(dtype=wp.int32)  # (rows + 1,) blocks in the column of each row, in ``above``
    above: wp.array(dtype=wp.int32)  # (blocks,) without those on the diagonal


def level_lengths(islands, rows, blocks):
    """Lengths of the members of LevelArrays for so many islands, rows and blocks."""
    return {
        "island_level": islands + 1, "level_row": rows + 1, "rows": rows, "level_block": rows + 1, "blocks": blocks,
        "block_row": blocks, "above_start": rows + 1, "above": blocks,
    }  # fmt: skip


def levels_of(structure):
    """{member of LevelArrays: int array} of a Structure."""
    rows, start = structure.row_count, structure.row_start
    block_row = np.repeat(np.arange(rows), np.diff(start))
    beside = np.flatnonzero(structure.column != block_row)
    parent = np.full(rows, -1)
    has = np.diff(start) > 1
    parent[has] = structure.column[start[:-1][has] + 1]
    height = [0] * rows
    for row, above in enumerate(parent.tolist()):  # parents come later than their children
        if above >= 0:
            height[above] = max(height[above], height[row] + 1)
    height = np.array(height, int)
    island = np.repeat(np.arange(structure.island_count), np.diff(structure.island_start))
    order = np.lexsort((height, island))
    new = np.append(True, (np.diff(height[order]) != 0) | (np.diff(island[order]) != 0))[:rows]
    level = np.zeros(rows, int)
    level[order] = np.cumsum(new) - 1
    count = int(new.sum())
    of_block = level[block_row]
    by_level, by_column = np.argsort(of_block, kind="stable"), np.argsort(structure.column[beside], kind="stable")
    numbers, ends = np.arange(count + 1), np.arange(rows + 1)
    return {
        "island_level": np.searchsorted(island[order][new], np.arange(structure.island_count + 1)),
        "level_row": np.append(np.flatnonzero(new), rows),
        "rows": order,
        "level_block": np.searchsorted(of_block[by_level], numbers),
        "blocks": by_level,
        "block_row": block_row,
        "above_start": np.searchsorted(structure.column[beside][by_column], ends),
        "above": beside[by_column],
    }
