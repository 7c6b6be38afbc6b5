# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct solve of the Newton matrix: block Cholesky A = U^T U over the 6x6 blocks of ``reference.ordering.Structure``.

On the CPU one thread takes all islands, row by row; on a CUDA device a block of threads takes it, level by level
(``ldlt_levels``).  Either way the result has the same bits on every run.  All is float64, on CUDA, too: joints with
small proximal terms under heavy bodies give condition numbers of 3e7 to 4e10, beyond what float32 with refinement can
recover.  Formulas: ``reference.ordering``; Golub, Van Loan, "Matrix Computations", 4.2.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np
import warp as wp

from ..arrays import of_arrays, send, staging, zeros
from ..mathx.real import real_types
from ..teams import width_on
from .ldlt_layout import LayoutArrays, LevelArrays, level_lengths, levels_of
from .ldlt_levels import level_kernels

_DOUBLE = real_types(wp.float64)
_ROWS = 6  # stored rows of one block
_UPLOADED = ("island_start", "order", "row_start", "column", "source", "update_start", "update_left", "update_right")
_WIDTH = 8  # columns of a stored row on the CPU, the last two 0: whole registers
_LINE = wp.types.vector(length=_WIDTH, dtype=wp.float64)
_BLOCK = wp.types.matrix(shape=(_ROWS, _WIDTH), dtype=wp.float64)
# By itself the compiler leaves the block in memory, and takes four times as long.
# Products have statements of their own, so that none is fused with its difference and bits are those of any processor.
_REDUCED = """
    typedef double line __attribute__((vector_size(64), aligned(8)));
    line rest[6];
    for (int r = 0; r < 6; ++r) rest[r] = *(const line*)s.data[r];
    for (int k = first; k < last; ++k) {
        const double* left = (const double*)(u.data + update_left.data[k] * 6);
        const line* right = (const line*)(u.data + update_right.data[k] * 6);
        for (int m = 0; m < 6; ++m) {
            for (int r = 0; r < 6; ++r) {
                const line product = left[8 * m + r] * right[m];
                rest[r] -= product;
            }
        }
    }
    if (pivot >= 0) {
        const double* above = (const double*)(u.data + pivot);
        for (int m = 0; m < 6; ++m) {
            for (int r = 0; r < m; ++r) {
                const line product = above[8 * r + m] * rest[r];
                rest[m] -= product;
            }
            rest[m] *= above[9 * m];
        }
    }
    for (int r = 0; r < 6; ++r) *(line*)s.data[r] = rest[r];
    return s;
"""


@cache
def kernels():
    """The ``factor`` and ``solve`` kernels, one thread for all islands."""
    module = __name__
    wp.set_module_options({"enable_backward": False}, module=module)
    mat66, vec6 = _DOUBLE.mat66, _DOUBLE.vec6

    @wp.struct
    class MatrixArrays:
        diagonal: wp.array(dtype=mat66)
        coupling: wp.array(dtype=mat66)
        u: wp.array(dtype=_LINE)  # rows of the factor's blocks

    @wp.struct
    class VectorArrays:
        u: wp.array(dtype=_LINE)
        rhs: wp.array(dtype=vec6)
        y: wp.array(dtype=_LINE)
        x: wp.array(dtype=vec6)

    @wp.func_native(_REDUCED)
    def reduced(
        s: _BLOCK,
        u: wp.array(dtype=_LINE),
        update_left: wp.array(dtype=wp.int32),
        update_right: wp.array(dtype=wp.int32),
        first: int,
        last: int,
        pivot: int,
    ) -> _BLOCK:
        """Block s less the products of its updates ``first`` to ``last``, in their order; if ``pivot`` is not -1, its
        rows solved with the transposed pivot block whose rows begin there.
        """
        ...

    @wp.func(module=module)
    def factor_island(layout: LayoutArrays, matrix: MatrixArrays, island: int):
        layout.failed[island] = 0
        for row in range(layout.island_start[island], layout.island_start[island + 1]):
            pivot = _ROWS * layout.row_start[row]
            for block in range(layout.row_start[row], layout.row_start[row + 1]):
                base = _ROWS * block
                s = _BLOCK()
                origin = layout.source[block]
                if origin >= 0:
                    if base == pivot:
                        given = matrix.diagonal[origin]
                    else:
                        given = matrix.coupling[origin // 2]
                        if origin % 2 == 1:
                            given = wp.transpose(given)
                    for r in range(6):
                        for c in range(6):
                            s[r, c] = given[r, c]
                first = layout.update_start[block]
                last = layout.update_start[block + 1]
                above = wp.where(base == pivot, -1, pivot)
                s = reduced(s, matrix.u, layout.update_left, layout.update_right, first, last, above)
                if base == pivot:
                    for m in range(6):
                        d = s[m, m]
                        if not (d > wp.float64(0.0) and wp.isfinite(d)):
                            layout.failed[island] = 1
                            return
                        reciprocal = wp.float64(1.0) / wp.sqrt(d)
                        line = s[m] * reciprocal
                        for r in range(m + 1, 6):
                            s[r] = s[r] - line[r] * line
                        for c in range(m):
                            line[c] = wp.float64(0.0)
                        line[m] = reciprocal  # only the reciprocal is ever needed
                        matrix.u[base + m] = line
                else:
                    for m in range(6):
                        matrix.u[base + m] = s[m]

    @wp.func(module=module)
    def solve_island(layout: LayoutArrays, vectors: VectorArrays, island: int):
        begin = layout.island_start[island]
        end = layout.island_start[island + 1]
        if layout.failed[island] != 0:
            for row in range(begin, end):
                vectors.x[layout.order[row]] = vec6()
            return
        for row in range(begin, end):
            given = vectors.rhs[layout.order[row]]
            value = _LINE()
            for m in range(6):
                value[m] = given[m]
            vectors.y[row] = value
        for row in range(begin, end):
            pivot = _ROWS * layout.row_start[row]
            value = vectors.y[row]
            for m in range(6):
                line = vectors.u[pivot + m]
                known = value[m] * line[m]
                value -= known * line  # left of the diagonal the line is zero
                value[m] = known
            vectors.y[row] = value
            for block in range(layout.row_start[row] + 1, layout.row_start[row + 1]):
                rest = vectors.y[layout.column[block]]
                for m in range(6):
                    rest -= value[m] * vectors.u[_ROWS * block + m]
                vectors.y[layout.column[block]] = rest
        for k in range(end - begin):
            row = end - 1 - k
            pivot = _ROWS * layout.row_start[row]
            value = vectors.y[row]
            for block in range(layout.row_start[row] + 1, layout.row_start[row + 1]):
                later = vectors.y[layout.column[block]]
                for m in range(6):
                    value[m] = value[m] - wp.dot(vectors.u[_ROWS * block + m], later)
            result = vec6()
            for down in range(6):
                m = 5 - down
                line = vectors.u[pivot + m]
                for r in range(m + 1, 6):
                    value[m] = value[m] - line[r] * value[r]
                value[m] = value[m] * line[m]
                result[m] = value[m]
            vectors.y[row] = value
            vectors.x[layout.order[row]] = result

    # One thread takes all islands: to load a kernel's arguments for each takes as long as a small island's factor.
    @wp.kernel(module=module)
    def factor(layout: LayoutArrays, matrix: MatrixArrays):
        for island in range(layout.island_count[0]):
            if layout.mask[island] != 0:
                factor_island(layout, matrix, island)

    @wp.kernel(module=module)
    def solve(layout: LayoutArrays, vectors: VectorArrays):
        for island in range(layout.island_count[0]):
            if layout.mask[island] != 0:
                solve_island(layout, vectors, island)

    return SimpleNamespace(factor=factor, solve=solve, MatrixArrays=MatrixArrays, VectorArrays=VectorArrays)


class BlockFactor:
    """Factor of one block matrix on one device, in arrays sized by capacity.

    ``launch_factor`` and ``launch_solve`` only launch, with dimensions that depend on the capacity alone, so they may
    be recorded in a graph, inside loops too.  The graph stays valid through any ``set_structure`` that leaves
    ``generation`` as it was; after a change of ``generation`` it must be recorded again.

    Attributes:
        generation: rises whenever arrays were allocated anew.
        mask: (island capacity,) int32 on the device; islands with 0 are skipped by factor and solve, at no cost.
        failed: (island capacity,) int32 on the device; 1 where the last factorisation met a pivot that is not positive.
        structure: the ``reference.ordering.Structure`` in use, or None.
    """

    def __init__(self, device, by_levels=None):
        """by_levels: whether a block of threads takes each island; None: on a CUDA device."""
        self.device = wp.get_device(device)
        self.by_levels = self.device.is_cuda if by_levels is None else by_levels
        self.structure = None
        self.generation = 0
        self._kernels = level_kernels() if self.by_levels else kernels()
        self._capacity = {"islands": 0, "rows": 0, "blocks": 0, "updates": 0}
        self.reserve(islands=16, rows=64, blocks=128, updates=128)

    def reserve(self, islands=0, rows=0, blocks=0, updates=0):
        """Make room for structures of this size.  Where it is lacking, allocate at least twice as much as there was.

        An allocation forgets ``structure`` and replaces ``mask`` and ``failed``.
        """
        needed = {"islands": islands, "rows": rows, "blocks": blocks, "updates": updates}
        if all(size <= self._capacity[name] for name, size in needed.items()):
            return
        for name, size in needed.items():
            if size > self._capacity[name]:
                self._capacity[name] = max(size, 2 * self._capacity[name])
        size = self._capacity
        lengths = {
            "island_count": 1,
            "mask": size["islands"],
            "failed": size["islands"],
            "island_start": size["islands"] + 1,
            "order": size["rows"],
            "row_start": size["rows"] + 1,
            "column": size["blocks"],
            "source": size["blocks"],
            "update_start": size["blocks"] + 1,
            "update_left": size["updates"],
            "update_right": size["updates"],
        }
        of_levels = level_lengths(size["islands"], size["rows"], size["blocks"]) if self.by_levels else {}
        lengths |= of_levels
        # One array holds all the integers, so that a structure goes to the device in one copy.
        ends = np.cumsum(list(lengths.values())).tolist()
        self._integers = zeros(ends[-1], wp.int32, self.device)
        numbers = staging(self._integers)
        slices = {name: slice(end - lengths[name], end) for name, end in zip(lengths, ends, strict=True)}
        self._host = {name: numbers[part] for name, part in slices.items()}
        arrays = {name: self._integers[part] for name, part in slices.items()}
        self._layout = of_arrays(LayoutArrays, **{name: arrays[name] for name in lengths if name not in of_levels})
        self._levels = of_arrays(LevelArrays, **{name: arrays[name] for name in of_levels})
        self.mask, self.failed = self._layout.mask, self._layout.failed
        line = _DOUBLE.vec6 if self.by_levels else _LINE
        self._u = zeros(_ROWS * size["blocks"], line, self.device)
        self._y = zeros(size["rows"], line, self.device)
        self.structure = None
        self.generation += 1

    def set_structure(self, structure, active_islands=None):
        """Take over another structure; allocates only where it does not fit.  Not to be called while recording.

        active_islands: (islands,) of bool, the first content of ``mask``; None: all islands.  Raises ValueError on
        another length.
        """
        islands = structure.island_count
        active = np.ones(islands, bool) if active_islands is None else np.asarray(active_islands, bool)
        if active.shape != (islands,):
            raise ValueError(
                f"active_islands has shape {active.shape}, but there are {islands} islands; give one flag for each."
            )
        self.reserve(islands, structure.row_count, structure.block_count, structure.update_count)
        staging(self._integers)
        host = self._host
        host["island_count"][0] = islands
        host["mask"][:islands] = active
        host["failed"][:] = 0
        for name in _UPLOADED:
            values = getattr(structure, name)
            host[name][: len(values)] = values
        for name, values in (levels_of(structure) if self.by_levels else {}).items():
            host[name][: len(values)] = values
        send(self._integers, len(self._integers))
        self.structure = structure

    def launch_factor(self, diagonal, coupling):
        """Factorise the islands that ``mask`` names and set their ``failed``.

        diagonal: (n or more,) mat66, only the upper triangles count.  coupling: (m or more,) mat66, block (i, j) of
        each pair.
        """
        if self.by_levels:
            self._launch_by_levels(self._kernels.factor, diagonal=diagonal, coupling=coupling)
            return
        matrix = of_arrays(self._kernels.MatrixArrays, diagonal=diagonal, coupling=coupling, u=self._u)
        self._launch(self._kernels.factor, matrix)

    def launch_solve(self, rhs, x):
        """Solve A x = rhs with the last factor.  rhs, x: (n or more,) vec6; they may be the same array.

        x is left alone in islands that ``mask`` skips, and zero in islands that ``failed``.
        """
        if self.by_levels:
            self._launch_by_levels(self._kernels.solve, rhs=rhs, x=x)
            return
        vectors = of_arrays(self._kernels.VectorArrays, u=self._u, rhs=rhs, y=self._y, x=x)
        self._launch(self._kernels.solve, vectors)

    def _launch(self, kernel, *arrays):
        wp.launch(kernel, 1, inputs=[self._layout, *arrays], device=self.device)

    def _launch_by_levels(self, kernel, **given):
        width = width_on(self.device)
        given |= {"u": self._u, "y": self._y}
        entries = of_arrays(self._kernels.EntryArrays, **{name: _entries(array) for name, array in given.items()})
        inputs = [self._layout, self._levels, entries, width]
        wp.launch(kernel, self._capacity["islands"] * width, inputs=inputs, device=self.device)


def _entries(array):
    """The numbers in an array of vectors or matrices, which must live as long: an array of more dimensions."""
    kind = array.dtype
    shape = (*array.shape, *kind._shape_)
    return wp.array(ptr=array.ptr, dtype=kind._wp_scalar_type_, shape=shape, device=array.device)
