# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solve is asked of each body and what it tells of it; an island takes the strictest that its bodies ask for.

The kernels are part of the solve: they come before its first iterate and after its last.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import CONTACTS, DYNAMIC, ISLANDS, MOST_LINEAR, MOST_NEWTON, BodyArrays, ContactArrays, IslandArrays

# Proximal strength of joints that close a loop, at least, where mid-step directions hold.  The stress of redundant rows
# against each other is not determined: 1 / this of what a first iterate is off by.  It moves nothing where poses are
# exact; they are off by the tolerance, and a row of four-bars loses less at this than at 1e-6.  From 3e-5 on a first
# iterate is too weak where the rank drops.
LOOPED = wp.constant(wp.float64(1e-5))


@wp.struct
class Figures:
    """Of each dynamic body; see SolveOptions and SolveStatistics in proximal.py."""

    tolerance: wp.array(dtype=wp.float64)  # asked [m/s]: metres over the step
    eps: wp.array(dtype=wp.float64)
    sweeps: wp.array(dtype=wp.int32)
    done: wp.array(dtype=wp.int32)  # 1: solved already
    newton: wp.array(dtype=wp.int32)  # told
    swept: wp.array(dtype=wp.int32)
    residual: wp.array(dtype=wp.float64)  # [m/s]
    eps_end: wp.array(dtype=wp.float64)


@cache
def figure_kernels():
    """The kernels by name: clear, ask, warm before a solve and tell after it."""
    zero = wp.constant(wp.float64(0.0))
    kernel = wp.kernel(module="axion_motion", enable_backward=False)
    dynamic_slot, contacts_slot, islands_slot = wp.constant(DYNAMIC), wp.constant(CONTACTS), wp.constant(ISLANDS)
    newton_slot, linear_slot = wp.constant(MOST_NEWTON), wp.constant(MOST_LINEAR)

    @kernel
    def clear(counts: wp.array(dtype=wp.int32), eps_joint: wp.float64, eps_iterated: wp.float64, isl: IslandArrays):
        """Nothing is asked yet; a cold start."""
        k = wp.tid()
        if k < counts[islands_slot]:
            isl.tolerance[k] = wp.float64(wp.inf)
            isl.eps[k] = wp.float64(0.0)
            isl.eps_joint[k] = wp.where(isl.direct[k] == 1, eps_joint, wp.max(eps_joint, eps_iterated))
            isl.sweeps_allowed[k] = 0
            isl.outer_active[k] = 0
            isl.free[k] = 0
            isl.convex[k] = 1
            isl.law[k] = 1

    @kernel
    def ask(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, figures: Figures, isl: IslandArrays):
        i = wp.tid()
        if i >= counts[dynamic_slot]:
            return
        k = bodies.island[i]
        wp.atomic_min(isl.tolerance, k, figures.tolerance[i])
        wp.atomic_max(isl.eps, k, figures.eps[i])
        wp.atomic_max(isl.sweeps_allowed, k, figures.sweeps[i])
        wp.atomic_max(isl.outer_active, k, isl.constrained[k] * (1 - figures.done[i]))
        if isl.looped[k] == 1 and bodies.midpoint[i] > zero:
            wp.atomic_max(isl.eps_joint, k, LOOPED)

    @kernel
    def warm(counts: wp.array(dtype=wp.int32), con: ContactArrays, isl: IslandArrays):
        """Where a contact carries load from before, its friction is a better start than that of the cone."""
        c = wp.tid()
        if c < counts[contacts_slot] and wp.length_sq(con.start_impulse[c]) > zero:
            isl.law[con.island[c]] = 0

    @kernel
    def tell(
        counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), bodies: BodyArrays, figures: Figures,
        isl: IslandArrays,
    ):  # fmt: skip
        i = wp.tid()
        if i >= counts[dynamic_slot]:
            return
        k = bodies.island[i]
        figures.newton[i] = 0
        figures.swept[i] = 0
        figures.residual[i] = wp.float64(0.0)
        figures.eps_end[i] = isl.eps[k]
        if isl.constrained[k] == 1:
            figures.newton[i] = isl.newton_count[k]
            figures.swept[i] = isl.sweep_count[k]
            figures.residual[i] = isl.best[k]
            wp.atomic_max(flags, newton_slot, isl.newton_count[k])
            wp.atomic_max(flags, linear_slot, isl.linear_count[k])

    return SimpleNamespace(clear=clear, ask=ask, warm=warm, tell=tell)
