# SPDX-License-Identifier: GPL-3.0-or-later
"""The factorisation and solve of ``ldlt`` by many threads an island, for devices on which one thread is slow.

Rows of one level of the elimination tree go side by side (ldlt_layout.py).  One block of threads takes an island, level
by level, an entry of a 6x6 block or of a vector each; 6x6 triangles stay with one thread.  Every sum is one thread's,
in the order of the structure, so the result has the same bits on every run.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..mathx.real import real_types
from ..teams import wait
from .ldlt_layout import LayoutArrays, LevelArrays

ENTRIES = wp.constant(36)  # of a block


@cache
def level_kernels():
    """``factor`` and ``solve`` over islands times ``width`` threads."""
    module = __name__
    wp.set_module_options({"enable_backward": False, "max_unroll": 1}, module=module)
    vec6 = real_types(wp.float64).vec6

    @wp.struct
    class EntryArrays:
        diagonal: wp.array3d(dtype=wp.float64)
        coupling: wp.array3d(dtype=wp.float64)
        u: wp.array2d(dtype=wp.float64)  # lines of the factor, six a block
        rhs: wp.array2d(dtype=wp.float64)
        y: wp.array2d(dtype=wp.float64)
        x: wp.array2d(dtype=wp.float64)

    @wp.func(module=module)
    def given(layout: LayoutArrays, matrix: EntryArrays, block: int, pivot: bool, r: int, c: int):
        """Entry of A."""
        origin = layout.source[block]
        if origin < 0:
            return wp.float64(0.0)
        if pivot:
            return matrix.diagonal[origin, r, c]
        if origin % 2 == 1:
            return matrix.coupling[origin // 2, c, r]
        return matrix.coupling[origin // 2, r, c]

    @wp.func(module=module)
    def triangle(matrix: EntryArrays, base: int):
        """Cholesky factor of the pivot block in place, with reciprocal diagonal.  Whether it is positive definite."""
        s = wp.matrix(shape=(6, 6), dtype=wp.float64)
        for r in range(6):
            for c in range(6):
                s[r, c] = matrix.u[base + r, c]
        for m in range(6):
            d = s[m, m]
            if not (d > wp.float64(0.0) and wp.isfinite(d)):
                return False
            reciprocal = wp.float64(1.0) / wp.sqrt(d)
            line = s[m] * reciprocal
            for r in range(m + 1, 6):
                s[r] = s[r] - line[r] * line
            for c in range(m):
                line[c] = wp.float64(0.0)
            line[m] = reciprocal
            for c in range(6):
                matrix.u[base + m, c] = line[c]
        return True

    @wp.func(module=module)
    def forward(matrix: EntryArrays, pivot: int, given: vec6):
        """U_kk^-T times a vector; pivot: first line of U_kk."""
        out = vec6()
        for m in range(6):
            value = given[m]
            for r in range(m):
                value -= matrix.u[pivot + r, m] * out[r]
            out[m] = value * matrix.u[pivot + m, m]
        return out

    @wp.kernel(module=module)
    def factor(layout: LayoutArrays, levels: LevelArrays, matrix: EntryArrays, width: wp.int32):
        island = wp.tid() // width
        if island >= layout.island_count[0]:
            return
        if layout.mask[island] == 0:
            return
        thread = wp.tid() - island * width
        if thread == 0:
            layout.failed[island] = 0
        for level in range(levels.island_level[island], levels.island_level[island + 1]):
            first = levels.level_block[level]
            last = levels.level_block[level + 1]
            for e in range(ENTRIES * first + thread, ENTRIES * last, width):
                block = levels.blocks[e // ENTRIES]
                r = (e % ENTRIES) // 6
                c = e % 6
                s = given(layout, matrix, block, layout.row_start[levels.block_row[block]] == block, r, c)
                for k in range(layout.update_start[block], layout.update_start[block + 1]):
                    left = 6 * layout.update_left[k]
                    right = 6 * layout.update_right[k]
                    for m in range(6):
                        s -= matrix.u[left + m, r] * matrix.u[right + m, c]
                matrix.u[6 * block + r, c] = s
            wait()
            for j in range(levels.level_row[level] + thread, levels.level_row[level + 1], width):
                if not triangle(matrix, 6 * layout.row_start[levels.rows[j]]):
                    layout.failed[island] = 1
            wait()
            if layout.failed[island] == 1:
                return
            for e in range(6 * first + thread, 6 * last, width):
                block = levels.blocks[e // 6]
                c = e % 6
                pivot = layout.row_start[levels.block_row[block]]
                if block != pivot:
                    column = vec6()
                    for m in range(6):
                        column[m] = matrix.u[6 * block + m, c]
                    column = forward(matrix, 6 * pivot, column)
                    for m in range(6):
                        matrix.u[6 * block + m, c] = column[m]
            wait()

    @wp.kernel(module=module)
    def solve(layout: LayoutArrays, levels: LevelArrays, matrix: EntryArrays, width: wp.int32):
        island = wp.tid() // width
        if island >= layout.island_count[0]:
            return
        if layout.mask[island] == 0:
            return
        thread = wp.tid() - island * width
        if layout.failed[island] != 0:
            for e in range(6 * layout.island_start[island] + thread, 6 * layout.island_start[island + 1], width):
                matrix.x[layout.order[e // 6], e % 6] = wp.float64(0.0)
            return
        begin = levels.island_level[island]
        end = levels.island_level[island + 1]
        for level in range(begin, end):
            first = levels.level_row[level]
            last = levels.level_row[level + 1]
            for e in range(6 * first + thread, 6 * last, width):
                row = levels.rows[e // 6]
                c = e % 6
                value = matrix.rhs[layout.order[row], c]
                for k in range(levels.above_start[row], levels.above_start[row + 1]):
                    block = levels.above[k]
                    for m in range(6):
                        value -= matrix.y[levels.block_row[block], m] * matrix.u[6 * block + m, c]
                matrix.y[row, c] = value
            wait()
            for j in range(first + thread, last, width):
                row = levels.rows[j]
                known = vec6()
                for m in range(6):
                    known[m] = matrix.y[row, m]
                known = forward(matrix, 6 * layout.row_start[row], known)
                for m in range(6):
                    matrix.y[row, m] = known[m]
            wait()
        for down in range(end - begin):
            level = end - 1 - down
            first = levels.level_row[level]
            last = levels.level_row[level + 1]
            for e in range(6 * first + thread, 6 * last, width):
                row = levels.rows[e // 6]
                m = e % 6
                value = matrix.y[row, m]
                for block in range(layout.row_start[row] + 1, layout.row_start[row + 1]):
                    for c in range(6):
                        value -= matrix.u[6 * block + m, c] * matrix.y[layout.column[block], c]
                matrix.y[row, m] = value
            wait()
            for j in range(first + thread, last, width):
                row = levels.rows[j]
                pivot = 6 * layout.row_start[row]
                line = vec6()
                for back in range(6):
                    m = 5 - back
                    value = matrix.y[row, m]
                    for r in range(m + 1, 6):
                        value -= matrix.u[pivot + m, r] * line[r]
                    value *= matrix.u[pivot + m, m]
                    line[m] = value
                    matrix.y[row, m] = value
                    matrix.x[layout.order[row], m] = value
            wait()

    return SimpleNamespace(factor=factor, solve=solve, EntryArrays=EntryArrays)
