# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients on the 6x6 block system, preconditioned by the Cholesky factors of its diagonal blocks.

A team of threads takes each island from start to end (teams.py), so all iterate side by side and none waits.
Each body turns its neighbours' directions itself, so that a team waits twice a round.  Newton needs only a rough
direction: the loop ends when the preconditioned residual has fallen to ``reduction`` of its start.  warp.optim.linear
has no loop over independent islands, which is why this one exists.
"""

from functools import cache

import warp as wp

from ..arrays import PARTS, BodyArrays, IslandArrays
from ..mathx.real import real_types
from ..teams import TeamArrays, begin, leads, meet, stride, sums
from .matrix import matrix_struct


@cache
def cg_kernel(real):
    """The kernel ``iterate``, for one real type."""
    scalar, vec6, mat66, whole = real.scalar, real.vec6, real.mat66, real_types(wp.float64).vec6
    MatrixArrays = matrix_struct(real)
    name = f"axion_cg_{real.name}"
    wp.get_module(name).options["max_unroll"] = 1
    kernel = wp.kernel(module=name, enable_backward=False)
    parts_slot = wp.constant(PARTS)

    @wp.func(module=name)
    def cholesky(a: mat66):
        """Lower factor of a, with reciprocal diagonal."""
        factor = mat66()
        for i in range(6):
            s = a[i, i]
            for k in range(i):
                s -= factor[i, k] * factor[i, k]
            d = scalar(1.0) / wp.sqrt(s)
            factor[i, i] = d
            for j in range(i + 1, 6):
                t = a[j, i]
                for k in range(i):
                    t -= factor[j, k] * factor[i, k]
                factor[j, i] = t * d
        return factor

    @wp.func(module=name)
    def cholesky_solve(factor: mat66, b: vec6):
        y = vec6()
        for i in range(6):
            s = b[i]
            for k in range(i):
                s -= factor[i, k] * y[k]
            y[i] = s * factor[i, i]
        x = vec6()
        for back in range(6):
            i = 5 - back
            s = y[i]
            for k in range(i + 1, 6):
                s -= factor[k, i] * x[k]
            x[i] = s * factor[i, i]
        return x

    @kernel
    def iterate(
        counts: wp.array(dtype=wp.int32), team: TeamArrays, width: wp.int32, blocks: wp.int32, reduction: wp.float64,
        most: wp.int32, bodies: BodyArrays, matrix: MatrixArrays, isl: IslandArrays,
    ):  # fmt: skip
        """The direction d of islands without a direct solve, and of those where it failed.

        Where it failed because the whole stiffness of joints makes H indefinite, iterating would lead nowhere: there
        the direction stays zero, and the rest of the round goes on with the positive part.
        """
        block = wp.tid() // width
        thread = wp.tid() - block * width
        for part in range(block, counts[parts_slot], blocks):
            k = team.island[part]
            if isl.inner_active[k] == 0 or (isl.direct[k] == 1 and isl.failed[k] == 0):
                continue
            leader = leads(team, part, thread)
            if isl.direct[k] == 1 and isl.jointed[k] == 1 and isl.convex[k] == 0:
                meet(team, part)  # all have read it
                if leader:
                    isl.convex[k] = 1
                    isl.soften[k] = 1
                continue
            step = stride(team, part, width)
            first = begin(team, part, thread, width, isl.body_start[k])
            end = isl.body_start[k + 1]
            zero = wp.float64(0.0)
            part_of_sum = wp.float64(0.0)
            for m in range(first, end, step):
                i = isl.body_index[m]
                factor = cholesky(matrix.diagonal[i])
                r = vec6(bodies.r[i])
                z = cholesky_solve(factor, r)
                matrix.cholesky[i] = factor
                matrix.left[i] = r
                matrix.found[i] = vec6()
                matrix.z[i] = z
                matrix.s[2 * i] = vec6()
                part_of_sum += wp.float64(wp.dot(r, z))
            rz = sums(wp.vec2d(part_of_sum, zero), team, part)[0]
            enough = reduction * reduction * rz
            turn = scalar(0.0)
            last = int(0)  # which of its two places holds the last s: others still read it
            rounds = int(0)
            going = rz > zero
            while going:
                part_of_sum = zero
                for m in range(first, end, step):
                    i = isl.body_index[m]
                    s = matrix.z[i] + turn * matrix.s[2 * i + last]
                    matrix.s[2 * i + 1 - last] = s
                    out = matrix.diagonal[i] * s
                    for slot in range(bodies.neighbour_start[i], bodies.neighbour_start[i + 1]):
                        n = bodies.neighbour_pair[slot]
                        j = bodies.neighbour_body[slot]
                        other = matrix.z[j] + turn * matrix.s[2 * j + last]
                        if n >= 0:
                            out += matrix.block[n] * other
                        else:
                            out += wp.transpose(matrix.block[-n - 1]) * other
                    matrix.hs[i] = out
                    part_of_sum += wp.float64(wp.dot(s, out))
                last = 1 - last
                length = scalar(rz / sums(wp.vec2d(part_of_sum, zero), team, part)[0])
                part_of_sum = zero
                for m in range(first, end, step):
                    i = isl.body_index[m]
                    matrix.found[i] = matrix.found[i] + length * matrix.s[2 * i + last]
                    r = matrix.left[i] - length * matrix.hs[i]
                    z = cholesky_solve(matrix.cholesky[i], r)
                    matrix.left[i] = r
                    matrix.z[i] = z
                    part_of_sum += wp.float64(wp.dot(r, z))
                rz_new = sums(wp.vec2d(part_of_sum, zero), team, part)[0]
                rounds += 1
                going = rz_new > enough and rounds < most
                turn = scalar(rz_new / rz)
                rz = rz_new
            for m in range(first, end, step):
                bodies.d[isl.body_index[m]] = whole(matrix.found[isl.body_index[m]])
            if leader:
                isl.linear_count[k] = isl.linear_count[k] + rounds

    return iterate
