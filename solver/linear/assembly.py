# SPDX-License-Identifier: GPL-3.0-or-later
"""The Newton system H d = -g in body space: 6x6 blocks, one per body and per pair of bodies that touch.

    g = M (u - u_free) + K (w - w_centre) + d M (u - u_centre) - J^T p
    H = (1 + d) M + K + J^T P J       P: curvature of the laws (constraints/), K: geometric stiffness of joint anchors
                                      d: damping, not zero after a round that had to be taken back

H is symmetric positive definite whatever constraints are redundant, because impulses are not unknowns.  Each block is
gathered by one thread from the constraints around its body or pair, so no two threads write to the same place.  In
single precision H is rounded for conjugate gradients alone: what is factored is summed and kept in float64.

G is made in gradient.py, K of joint anchors in stiffness.py.  Where a DISTANCE of length L pulls with T, K also has
h (T / L) (1 - e e^T) of what its anchors move against each other: without it a bridge of short ropes does not converge.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import DYNAMIC, PAIRS, BodyArrays, ContactArrays, IslandArrays, PairArrays, RowArrays
from ..constraints.row_functions import row_functions
from ..lanes import begin, end, island_at, item, turns
from ..mathx.real import real_types
from .matrix import matrix_struct


@cache
def assembly_kernels(real, ropes):
    """The kernels assemble_bodies and assemble_pairs, for one real type; ropes: see ``gradient_function``."""
    exact, zero = real_types(wp.float64), wp.constant(wp.float64(0.0))
    mat66, exact66, rounds = real.mat66, exact.mat66, real is not exact
    MatrixArrays, sideways = matrix_struct(real), row_functions().sideways
    name = f"axion_assembly{'_ropes' * ropes}_{real.name}"
    wp.get_module(name).options["max_unroll"] = 1  # unrolled 6x6 loops cost minutes of compile time and gain nothing
    kernel = wp.kernel(module=name, enable_backward=False)
    dynamic_slot, pairs_slot = wp.constant(DYNAMIC), wp.constant(PAIRS)

    def of_contacts(kind):
        """(own_block, pair_block) without joints, summed in one real type."""
        scalar, mat33, mat66 = kind.scalar, kind.mat33, kind.mat66

        @wp.func(module=name, name=f"own_block_{kind.name}")
        def own_block(bodies: BodyArrays, con: ContactArrays, isl: IslandArrays, i: int, k: int):
            """(1 + d) M + K of body i and what its contacts add."""
            damping = scalar(isl.damping[k])
            m = scalar(bodies.mass[i]) * (scalar(1.0) + damping)
            top = wp.identity(n=3, dtype=scalar) * m
            low = mat33(scalar(0.0))
            last = mat33(bodies.inertia[i]) * (scalar(1.0) + damping) + mat33(bodies.stiffness[i])
            for s in range(bodies.contact_start[i], bodies.contact_start[i + 1]):
                c = bodies.contact_index[s]
                arm = con.arm_a[c]
                if con.a[c] != i:
                    arm = con.arm_b[c]
                curve = mat33(con.curvature[c])
                skew = mat33(wp.skew(arm))
                sc = skew * curve
                top += curve
                low += sc
                last -= sc * skew
            block = mat66()
            for p in range(3):
                for q in range(3):
                    block[p, q] = top[p, q]
                    block[3 + p, q] = low[p, q]
                    block[p, 3 + q] = low[q, p]
                    block[3 + p, 3 + q] = last[p, q]
            return block

        @wp.func(module=name, name=f"pair_block_{kind.name}")
        def pair_block(con: ContactArrays, pairs: PairArrays, n: int):
            """What the contacts of pair n add."""
            i = pairs.i[n]
            ll = mat33(scalar(0.0))
            la = mat33(scalar(0.0))
            al = mat33(scalar(0.0))
            aa = mat33(scalar(0.0))
            for c in range(pairs.contact_start[n], pairs.contact_end[n]):
                ri = con.arm_a[c]
                rj = con.arm_b[c]
                if con.a[c] != i:
                    ri = con.arm_b[c]
                    rj = con.arm_a[c]
                curve = mat33(con.curvature[c])
                si = mat33(wp.skew(ri))
                cj = curve * mat33(wp.skew(rj))
                ll -= curve
                la += cj
                al -= si * curve
                aa += si * cj
            block = mat66()
            for p in range(3):
                for q in range(3):
                    block[p, q] = ll[p, q]
                    block[p, 3 + q] = la[p, q]
                    block[3 + p, q] = al[p, q]
                    block[3 + p, 3 + q] = aa[p, q]
            return block

        return own_block, pair_block

    own_exact, pair_exact = of_contacts(exact)
    own_rounded, pair_rounded = of_contacts(real) if rounds else (own_exact, pair_exact)

    @wp.func(module=name)
    def own_block(bodies: BodyArrays, con: ContactArrays, isl: IslandArrays, i: int, k: int):
        if wp.static(rounds):
            if isl.direct[k] == 0:
                return exact66(own_rounded(bodies, con, isl, i, k))
        return own_exact(bodies, con, isl, i, k)

    @wp.func(module=name)
    def pair_block(con: ContactArrays, pairs: PairArrays, isl: IslandArrays, n: int, k: int):
        if wp.static(rounds):
            if isl.direct[k] == 0:
                return exact66(pair_rounded(con, pairs, n))
        return pair_exact(con, pairs, n)

    @kernel
    def assemble_bodies(
        counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, rows: RowArrays, isl: IslandArrays,
        matrix: MatrixArrays,
    ):  # fmt: skip
        """The diagonal block."""
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if isl.inner_active[k] == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                block = own_block(bodies, con, isl, i, k)
                for s in range(bodies.row_start[i], bodies.row_start[i + 1]):
                    r = bodies.row_index[s]
                    jac = rows.jac_b[r]
                    if rows.a[r] == i:
                        jac = rows.jac_a[r]
                    block += wp.outer(jac, jac) * rows.curvature[r]
                    if wp.static(ropes):
                        if rows.turning[r] > zero:
                            for t in range(2):
                                side = sideways(rows, r, bodies, i, t)
                                block += wp.outer(side, side) * rows.turning[r]
                matrix.diagonal[i] = mat66(block)
                if wp.static(rounds):
                    if isl.direct[k] == 1:
                        matrix.exact_diagonal[i] = block

    @kernel
    def assemble_pairs(
        counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, rows: RowArrays, pairs: PairArrays,
        isl: IslandArrays, matrix: MatrixArrays,
    ):  # fmt: skip
        """The block (i, j) of each pair, i < j."""
        at = wp.tid()
        for turn in range(turns(counts, pairs_slot, at)):
            k = island_at(isl, pairs.island, turn, at)
            if isl.inner_active[k] == 0:
                continue
            for n in range(begin(at, isl.pair_start[k]), end(at, isl.pair_start[k + 1])):
                i = pairs.i[n]
                block = pair_block(con, pairs, isl, n, k)
                for m in range(pairs.row_start[n], pairs.row_start[n + 1]):
                    r = pairs.row_index[m]
                    own = rows.jac_b[r]
                    other = rows.jac_a[r]
                    if rows.a[r] == i:
                        own, other = other, own
                    block += wp.outer(own, other) * rows.curvature[r]
                    if wp.static(ropes):
                        if rows.turning[r] > zero:
                            for t in range(2):
                                side = sideways(rows, r, bodies, i, t)
                                across = sideways(rows, r, bodies, pairs.j[n], t)
                                block += wp.outer(side, across) * rows.turning[r]
                matrix.block[n] = mat66(block)
                if wp.static(rounds):
                    if isl.direct[k] == 1:
                        matrix.exact_block[n] = block

    return SimpleNamespace(assemble_bodies=assemble_bodies, assemble_pairs=assemble_pairs)
