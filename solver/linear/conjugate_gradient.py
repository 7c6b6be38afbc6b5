# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients on the 6x6 block system, preconditioned by the Cholesky factors of its diagonal blocks.

All islands iterate side by side; each has its own scalars and stops on its own, so one graph loop serves them all.
Newton needs only a rough direction: the loop ends when the preconditioned residual has fallen to ``reduction`` of its
start. warp.optim.linear has no loop over independent islands, which is why this one exists.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import DYNAMIC, ISLANDS, LINEAR, SOFTEN, IslandArrays, structs


@cache
def cg_kernels(real):
    """For one real type: choose, precondition and start come before, the other four are one iteration."""
    scalar, vec6, mat66 = real.scalar, real.vec6, real.mat66
    arrays = structs(real)
    BodyArrays, PairArrays = arrays.BodyArrays, arrays.PairArrays
    name = f"axion_cg_{real.name}"
    wp.get_module(name).options["max_unroll"] = 1
    kernel = wp.kernel(module=name, enable_backward=False)
    dynamic_slot, islands_slot = wp.constant(DYNAMIC), wp.constant(ISLANDS)
    linear_slot, soften_slot = wp.constant(LINEAR), wp.constant(SOFTEN)

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
    def choose(counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), isl: IslandArrays):
        """Which islands iterate: those without a direct solve, and those where it failed.

        Where it failed because the whole stiffness of joints makes H indefinite, iterating would lead nowhere: there
        the direction stays zero, and the rest of the round goes on with the positive part.
        """
        k = wp.tid()
        if k >= counts[islands_slot]:
            return
        isl.linear_active[k] = 0
        if isl.inner_active[k] == 0:
            return
        if isl.direct[k] == 1 and isl.failed[k] == 1 and isl.jointed[k] == 1 and isl.convex[k] == 0:
            isl.convex[k] = 1
            isl.soften[k] = 1
            wp.atomic_max(flags, soften_slot, 1)
        elif isl.direct[k] == 0 or isl.failed[k] == 1:
            isl.linear_active[k] = 1
            isl.rz0[k] = wp.float64(0.0)
            wp.atomic_max(flags, linear_slot, 1)

    @kernel
    def precondition(
        counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), bodies: BodyArrays, isl: IslandArrays
    ):
        """Factors of the diagonal blocks; d = 0, and the first direction."""
        i = wp.tid()
        if i == 0:
            flags[linear_slot] = 0
        if i >= counts[dynamic_slot]:
            return
        k = bodies.island[i]
        if isl.linear_active[k] == 0:
            return
        factor = cholesky(bodies.diagonal[i])
        z = cholesky_solve(factor, bodies.r[i])
        bodies.cholesky[i] = factor
        bodies.d[i] = vec6()
        bodies.z[i] = z
        bodies.s[i] = z
        wp.atomic_add(isl.rz0, k, wp.float64(wp.dot(bodies.r[i], z)))

    @kernel
    def start(counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), isl: IslandArrays):
        k = wp.tid()
        if k >= counts[islands_slot]:
            return
        if isl.linear_active[k] == 0:
            return
        zero = wp.float64(0.0)
        isl.rz[k] = isl.rz0[k]
        isl.shs[k] = zero
        isl.rz_new[k] = zero
        isl.linear_round[k] = 0
        if isl.rz0[k] > zero:
            wp.atomic_max(flags, linear_slot, 1)
        else:
            isl.linear_active[k] = 0

    @kernel
    def multiply(
        counts: wp.array(dtype=wp.int32),
        flags: wp.array(dtype=wp.int32),
        bodies: BodyArrays,
        pairs: PairArrays,
        isl: IslandArrays,
    ):
        i = wp.tid()
        if i == 0:
            flags[linear_slot] = 0
        if i >= counts[dynamic_slot]:
            return
        k = bodies.island[i]
        if isl.linear_active[k] == 0:
            return
        s = bodies.s[i]
        out = bodies.diagonal[i] * s
        for m in range(bodies.neighbour_start[i], bodies.neighbour_start[i + 1]):
            n = bodies.neighbour_pair[m]
            other = bodies.s[bodies.neighbour_body[m]]
            if n >= 0:
                out += pairs.block[n] * other
            else:
                out += wp.transpose(pairs.block[-n - 1]) * other
        bodies.hs[i] = out
        wp.atomic_add(isl.shs, k, wp.float64(wp.dot(s, out)))

    @kernel
    def advance(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, isl: IslandArrays):
        i = wp.tid()
        if i >= counts[dynamic_slot]:
            return
        k = bodies.island[i]
        if isl.linear_active[k] == 0:
            return
        step = scalar(isl.rz[k] / isl.shs[k])
        bodies.d[i] = bodies.d[i] + step * bodies.s[i]
        r = bodies.r[i] - step * bodies.hs[i]
        z = cholesky_solve(bodies.cholesky[i], r)
        bodies.r[i] = r
        bodies.z[i] = z
        wp.atomic_add(isl.rz_new, k, wp.float64(wp.dot(r, z)))

    @kernel
    def turn(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, isl: IslandArrays):
        i = wp.tid()
        if i >= counts[dynamic_slot]:
            return
        k = bodies.island[i]
        if isl.linear_active[k] == 1:
            bodies.s[i] = bodies.z[i] + scalar(isl.rz_new[k] / isl.rz[k]) * bodies.s[i]

    @kernel
    def check(
        counts: wp.array(dtype=wp.int32),
        flags: wp.array(dtype=wp.int32),
        reduction: wp.float64,
        most: wp.int32,
        isl: IslandArrays,
    ):
        k = wp.tid()
        if k >= counts[islands_slot]:
            return
        if isl.linear_active[k] == 0:
            return
        isl.rz[k] = isl.rz_new[k]
        isl.shs[k] = wp.float64(0.0)
        isl.rz_new[k] = wp.float64(0.0)
        isl.linear_round[k] = isl.linear_round[k] + 1
        isl.linear_count[k] = isl.linear_count[k] + 1
        if isl.rz[k] <= reduction * reduction * isl.rz0[k] or isl.linear_round[k] >= most:
            isl.linear_active[k] = 0
        else:
            wp.atomic_max(flags, linear_slot, 1)

    return SimpleNamespace(
        choose=choose, precondition=precondition, start=start,
        multiply=multiply, advance=advance, turn=turn, check=check,
    )  # fmt: skip
