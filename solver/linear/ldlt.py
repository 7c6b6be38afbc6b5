# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct solve of the Newton matrix: block Cholesky A = U^T U over the 6x6 blocks of ``ordering.Structure``.

One thread takes one island, row by row, so the result has the same bits on every run.  The factor is float64 whatever the
real type of the solver: joints with small proximal terms under heavy bodies give condition numbers of 3e7 to 4e10, beyond
what float32 with refinement can recover.  Formulas: see ``ordering``; Golub and Van Loan, "Matrix Computations", 4.2.
"""

from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import warp as wp

from ..mathx.real import real_types

_DOUBLE = real_types(wp.float64)
_ROWS = 6  # stored rows of one block


@lru_cache(maxsize=None)
def kernels(real):
    """The ``factor`` and ``solve`` kernels for matrices and vectors of ``real`` (RealTypes), in a module of their own."""
    module = f"{__name__}.{real.name}"
    wp.set_module_options({"enable_backward": False}, module=module)
    mat66, vec6, double6 = real.mat66, real.vec6, _DOUBLE.vec6

    @wp.kernel(module=module)
    def factor(
        island_count: wp.array(dtype=wp.int32),
        mask: wp.array(dtype=wp.int32),
        island_start: wp.array(dtype=wp.int32),
        row_start: wp.array(dtype=wp.int32),
        source: wp.array(dtype=wp.int32),
        update_start: wp.array(dtype=wp.int32),
        update_left: wp.array(dtype=wp.int32),
        update_right: wp.array(dtype=wp.int32),
        diagonal: wp.array(dtype=mat66),
        coupling: wp.array(dtype=mat66),
        u: wp.array(dtype=double6),
        failed: wp.array(dtype=wp.int32),
    ):
        island = wp.tid()
        if island >= island_count[0]:
            return
        if mask[island] == 0:
            return
        failed[island] = 0
        for row in range(island_start[island], island_start[island + 1]):
            pivot = _ROWS * row_start[row]
            for block in range(row_start[row], row_start[row + 1]):
                base = _ROWS * block
                s = wp.matrix(shape=(6, 6), dtype=wp.float64)
                origin = source[block]
                if origin >= 0:
                    if base == pivot:
                        given = diagonal[origin]
                    else:
                        given = coupling[origin // 2]
                        if origin % 2 == 1:
                            given = wp.transpose(given)
                    for r in range(6):
                        for c in range(6):
                            s[r, c] = wp.float64(given[r, c])
                for k in range(update_start[block], update_start[block + 1]):
                    left = _ROWS * update_left[k]
                    right = _ROWS * update_right[k]
                    for m in range(6):
                        s -= wp.outer(u[left + m], u[right + m])
                if base == pivot:
                    for m in range(6):
                        d = s[m, m]
                        if not (d > wp.float64(0.0) and wp.isfinite(d)):
                            failed[island] = 1
                            return
                        reciprocal = wp.float64(1.0) / wp.sqrt(d)
                        line = s[m] * reciprocal
                        for r in range(m + 1, 6):
                            s[r] = s[r] - line[r] * line
                        line[m] = reciprocal  # only the reciprocal is ever needed
                        u[base + m] = line
                else:
                    for m in range(6):
                        line = s[m]
                        for r in range(m):
                            line -= u[pivot + r][m] * s[r]
                        line = line * u[pivot + m][m]
                        s[m] = line
                        u[base + m] = line

    @wp.kernel(module=module)
    def solve(
        island_count: wp.array(dtype=wp.int32),
        mask: wp.array(dtype=wp.int32),
        failed: wp.array(dtype=wp.int32),
        island_start: wp.array(dtype=wp.int32),
        order: wp.array(dtype=wp.int32),
        row_start: wp.array(dtype=wp.int32),
        column: wp.array(dtype=wp.int32),
        u: wp.array(dtype=double6),
        rhs: wp.array(dtype=vec6),
        y: wp.array(dtype=double6),
        x: wp.array(dtype=vec6),
    ):
        island = wp.tid()
        if island >= island_count[0]:
            return
        if mask[island] == 0:
            return
        begin = island_start[island]
        end = island_start[island + 1]
        if failed[island] != 0:
            for row in range(begin, end):
                x[order[row]] = vec6()
            return
        for row in range(begin, end):
            given = rhs[order[row]]
            value = double6()
            for m in range(6):
                value[m] = wp.float64(given[m])
            y[row] = value
        for row in range(begin, end):
            pivot = _ROWS * row_start[row]
            value = y[row]
            for m in range(6):
                line = u[pivot + m]
                value[m] = value[m] * line[m]
                for r in range(m + 1, 6):
                    value[r] = value[r] - line[r] * value[m]
            y[row] = value
            for block in range(row_start[row] + 1, row_start[row + 1]):
                rest = y[column[block]]
                for m in range(6):
                    rest -= value[m] * u[_ROWS * block + m]
                y[column[block]] = rest
        for k in range(end - begin):
            row = end - 1 - k
            pivot = _ROWS * row_start[row]
            value = y[row]
            for block in range(row_start[row] + 1, row_start[row + 1]):
                known = y[column[block]]
                for m in range(6):
                    value[m] = value[m] - wp.dot(u[_ROWS * block + m], known)
            result = vec6()
            for down in range(6):
                m = 5 - down
                line = u[pivot + m]
                for r in range(m + 1, 6):
                    value[m] = value[m] - line[r] * value[r]
                value[m] = value[m] * line[m]
                result[m] = real.scalar(value[m])
            y[row] = value
            x[order[row]] = result

    return SimpleNamespace(factor=factor, solve=solve)


class BlockFactor:
    """Factor of one block matrix on one device, in arrays sized by capacity.

    ``launch_factor`` and ``launch_solve`` only launch, with dimensions that depend on the capacity alone, so they may be
    recorded in a graph, inside loops too.  The graph stays valid through any ``set_structure`` that leaves ``generation``
    as it was; after a change of ``generation`` it must be recorded again.

    Attributes:
        generation: rises whenever arrays were allocated anew.
        mask: (island capacity,) int32 on the device; islands with 0 are skipped by factor and solve, at no cost.
        failed: (island capacity,) int32 on the device; 1 where the last factorisation met a pivot that is not positive.
        structure: the ``ordering.Structure`` in use, or None.
    """

    def __init__(self, device, real):
        self.device = wp.get_device(device)
        self.real = real
        self.structure = None
        self.generation = 0
        self._kernels = kernels(real)
        self._capacity = {"islands": 0, "rows": 0, "blocks": 0, "updates": 0}
        self.reserve(islands=1, rows=1, blocks=1, updates=1)

    def reserve(self, islands=0, rows=0, blocks=0, updates=0):
        """Make room for structures of this size; allocate only where it is lacking, and then twice as much or more."""
        needed = {"islands": islands, "rows": rows, "blocks": blocks, "updates": updates}
        lacking = {name for name, size in needed.items() if size > self._capacity[name]}
        if not lacking:
            return
        for name in lacking:
            self._capacity[name] = max(2 * self._capacity[name], needed[name], 16)
        if "islands" in lacking:
            islands = self._capacity["islands"]
            self._island_count = self._zeros(1, wp.int32)
            self._island_start = self._zeros(islands + 1, wp.int32)
            self.mask = self._zeros(islands, wp.int32)
            self.failed = self._zeros(islands, wp.int32)
        if "rows" in lacking:
            rows = self._capacity["rows"]
            self._order = self._zeros(rows, wp.int32)
            self._row_start = self._zeros(rows + 1, wp.int32)
            self._y = self._zeros(rows, _DOUBLE.vec6)
        if "blocks" in lacking:
            blocks = self._capacity["blocks"]
            self._column = self._zeros(blocks, wp.int32)
            self._source = self._zeros(blocks, wp.int32)
            self._update_start = self._zeros(blocks + 1, wp.int32)
            self._u = self._zeros(_ROWS * blocks, _DOUBLE.vec6)
        if "updates" in lacking:
            updates = self._capacity["updates"]
            self._update_left = self._zeros(updates, wp.int32)
            self._update_right = self._zeros(updates, wp.int32)
        self.generation += 1
        # What survived in the other arrays belongs to a structure that is no longer complete.
        self.structure = None
        self._island_count.zero_()

    def set_structure(self, structure, active_islands=None):
        """Take over another structure; allocates only where it does not fit.  Not to be called while recording.

        active_islands: (islands,) of bool, first content of ``mask``; None: all islands.  Raises ValueError on another length.
        """
        islands = structure.island_count
        active = np.ones(islands, np.int32) if active_islands is None else np.asarray(active_islands).astype(np.int32)
        if active.shape != (islands,):
            raise ValueError(f"active_islands has shape {active.shape}; the structure has {islands} islands, give one flag each.")
        self.reserve(islands, structure.row_count, structure.block_count, structure.update_count)
        self._upload(self._island_start, structure.island_start)
        self._upload(self._order, structure.order)
        self._upload(self._row_start, structure.row_start)
        self._upload(self._column, structure.column)
        self._upload(self._source, structure.source)
        self._upload(self._update_start, structure.update_start)
        self._upload(self._update_left, structure.update_left)
        self._upload(self._update_right, structure.update_right)
        self._upload(self.mask, active)
        self._upload(self._island_count, np.array([islands], np.int32))
        self.failed.zero_()
        self.structure = structure

    def launch_factor(self, diagonal, coupling):
        """Factorise the islands that ``mask`` names and set their ``failed``.

        diagonal: (n or more,) ``real.mat66``, only the upper triangles count.  coupling: (m or more,) ``real.mat66``, block
        (i, j) of each pair.
        """
        wp.launch(
            self._kernels.factor,
            dim=self._capacity["islands"],
            inputs=[
                self._island_count, self.mask, self._island_start, self._row_start, self._source, self._update_start,
                self._update_left, self._update_right, diagonal, coupling, self._u, self.failed,
            ],
            device=self.device,
        )  # fmt: skip

    def launch_solve(self, rhs, x):
        """Solve A x = rhs with the last factor.  rhs, x: (n or more,) ``real.vec6``; they may be the same array.

        x is left alone in islands that ``mask`` skips, and zero in islands that ``failed``.
        """
        wp.launch(
            self._kernels.solve,
            dim=self._capacity["islands"],
            inputs=[
                self._island_count, self.mask, self.failed, self._island_start, self._order, self._row_start,
                self._column, self._u, rhs, self._y, x,
            ],
            device=self.device,
        )  # fmt: skip

    def _zeros(self, size, dtype):
        return wp.zeros(size, dtype=dtype, device=self.device)

    def _upload(self, array, values):
        if len(values):
            wp.copy(array, wp.array(np.ascontiguousarray(values), dtype=wp.int32, device="cpu"), count=len(values))
