# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that steer Newton's loops, one thread per island: start, stop, eps schedule, best iterate.

Every loop of the solve is a graph loop whose condition is one slot of ``flags``; a kernel below sets it while any
island still wants another round.  Nothing here is read by the host before the step is over.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import INNER, ISLANDS, OUTER, SWEEP, IslandArrays
from .unhindered import SLIDES as SLIDES_FREELY

MODULE = "axion_control"
islands_slot = wp.constant(ISLANDS)
outer_slot, inner_slot = wp.constant(OUTER), wp.constant(INNER)
sweep_slot = wp.constant(SWEEP)
SLIP_SHARE = wp.constant(wp.float64(0.7))  # where slip turns back; pieces that slide between others would swing on
SLOW = wp.constant(wp.float64(0.5))  # of the residual, which a round of a mechanism must not leave
MOST_MIXES = wp.constant(10)
SLIDES = wp.constant(SLIDES_FREELY)
FARTHEST = wp.constant(wp.float64(30.0))
UNKNOWN = wp.constant(wp.float64(1.0e30))  # the residual of a round that was not
EASY = wp.constant(3)  # Newton iterations of a step, at most, after which islands at rest go on with a smaller eps
EPS_ITERATED = wp.constant(wp.float64(1.0e-4))  # at least, to start from, where conjugate gradients solve
kernel = wp.kernel(module=MODULE, enable_backward=False)


@wp.struct
class Limits:
    """Constants of the loops; research figures behind them are in docs/solver.md."""

    inner: wp.int32  # Newton iterations per proximal centre
    inner_first: wp.int32  # the same in the first round, for islands with joints; then eps is too small
    outer: wp.int32  # proximal centres per solve
    stale: wp.int32  # rounds without a better iterate after which a solve is given up
    turn: wp.int32  # rounds without a better iterate after which sweeps are left out, or taken up again
    easy: wp.int32  # a centre solved in this many iterations allows a smaller eps
    late: wp.int32  # outer round from which Gauss-Seidel helps even without trouble
    stalled: wp.int32  # outer round from which it is tried in islands at rest too, if they have no joints
    cone_late: wp.int32  # as ``late``, for islands on the cone law
    sweeps: wp.int32  # Gauss-Seidel sweeps per burst
    cone_sweeps: wp.int32  # as ``sweeps``, for islands on the cone law
    search: wp.int32  # line-search trials
    unloaded: wp.int32  # outer round by which what squeezes itself on cones must have found another answer
    squeezed: wp.int32  # the same of what slides on joints (squeezes.py)
    inner_reduction: wp.float64  # gradient reduction per proximal centre
    eps_largest: wp.float64
    eps_smallest: wp.float64
    eps_joint_smallest: wp.float64
    eps_joint_iterated: wp.float64  # the same, also to start from, where conjugate gradients solve
    eps_settled: wp.float64  # below it islands at rest hand on less of it after an easy step


@kernel
def begin(counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), isl: IslandArrays):
    """Start of a solve."""
    k = wp.tid()
    if k >= counts[islands_slot]:
        return
    isl.newton_count[k] = 0
    isl.linear_count[k] = 0
    isl.sweep_count[k] = 0
    isl.outer_count[k] = 0
    if isl.sweeps_allowed[k] == 2 and isl.jointed[k] == 0:
        isl.outer_count[k] = -1  # a round of sweeps alone
    if isl.direct[k] == 0:
        isl.eps[k] = wp.max(isl.eps[k], EPS_ITERATED)
    isl.slip_share[k] = SLIP_SHARE
    isl.trouble[k] = 0
    isl.damping[k] = wp.float64(0.0)
    isl.convex[k] = 1
    isl.assumes[k] = 1
    isl.unload[k] = 0
    isl.squeezed[k] = 0
    isl.mixes[k] = 0
    isl.stale[k] = 0
    isl.sweep_active[k] = 0
    isl.sweeps_off[k] = 0
    isl.colours[k] = 0
    isl.previous[k] = UNKNOWN
    isl.best[k] = wp.float64(1.0e30)
    if isl.free[k] == SLIDES:
        isl.outer_active[k] = 0
        isl.best[k] = wp.float64(0.0)
        isl.eps[k] = isl.eps[k] * wp.float64(0.3)  # to hand on, as after any easy step
    if isl.outer_active[k] == 1:
        wp.atomic_max(flags, outer_slot, 1)


@kernel
def outer_begin(counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), isl: IslandArrays):
    """Start of an outer round: a new proximal centre."""
    k = wp.tid()
    if k == 0:
        flags[outer_slot] = 0
    if k >= counts[islands_slot]:
        return
    isl.inner_count[k] = 0
    isl.inner_active[k] = wp.where(isl.outer_count[k] < 0, 0, isl.outer_active[k])
    isl.keep[k] = 0
    isl.restore[k] = 0


@kernel
def inner_reset(flags: wp.array(dtype=wp.int32)):
    """Clear the flag of Newton's loop, before ``gradient`` sets it again."""
    flags[inner_slot] = 0


@wp.func(module=MODULE)
def iteration_begins(isl: IslandArrays, k: int):
    """Before the laws of a Newton iteration."""
    isl.gradient[k] = wp.float64(0.0)
    isl.assumed[k] = 0
    # Centres of joint rows are nothing in the first round, and new contacts have none either.
    known = isl.outer_count[k] > 0 or isl.law[k] + isl.jointed[k] == 0
    if isl.inner_count[k] == 0 and known:
        isl.assumed[k] = isl.assumes[k]


@wp.func(module=MODULE)
def goes_on(limits: Limits, isl: IslandArrays, k: int):
    """Whether the gradient of an island is still too large for this proximal centre."""
    if isl.inner_count[k] == 0:
        isl.gradient0[k] = isl.gradient[k]
    share = wp.float64(0.03)  # what is left goes into gaps, and those are measured; stiff joints make much more of it
    if isl.jointed[k] == 1:
        share = wp.float64(0.01)
    aim = isl.tolerance[k]
    if isl.jointed[k] == 0 and isl.outer_count[k] > 0 and isl.previous[k] < UNKNOWN:
        aim = wp.max(aim, isl.previous[k])  # what the centre is off by is more than what Newton leaves
    done = isl.gradient[k] < share * aim
    if isl.inner_count[k] > 0 and isl.gradient[k] < limits.inner_reduction * isl.gradient0[k]:
        done = True
    # The velocity at the start may pass within the tolerance of a short step, and with it the step's impulses be lost.
    if (isl.outer_count[k] == 0 and isl.inner_count[k] == 0) or isl.assumed[k] == 1:
        done = False
    return not done and isl.gradient[k] < wp.float64(1.0e30)


@wp.func(module=MODULE)
def may_restart(limits: Limits, isl: IslandArrays, k: int):
    """Whether the first round may begin anew with a larger eps: with joints, unless it has done so."""
    return isl.outer_count[k] == 0 and isl.jointed[k] == 1 and isl.eps[k] < limits.eps_largest


@wp.func(module=MODULE)
def struggles(limits: Limits, isl: IslandArrays, k: int):
    """Whether Newton has taken as many iterations as a proximal centre may."""
    return isl.inner_count[k] >= wp.where(may_restart(limits, isl, k), limits.inner_first, limits.inner)


@wp.func(module=MODULE)
def iteration_ends(limits: Limits, isl: IslandArrays, k: int):
    """After a Newton step."""
    isl.newton_count[k] = isl.newton_count[k] + 1
    isl.inner_count[k] = isl.inner_count[k] + 1
    if struggles(limits, isl, k) or isl.reached[k] == 1:
        isl.inner_active[k] = 0


@kernel
def settle(counts: wp.array(dtype=wp.int32), isl: IslandArrays):
    """Which islands take their velocities from their impulses once Newton has stopped.

    Not those with joints: their directions turn with the pose, and stiff joints would answer with errors of length.
    The next round may try the whole stiffness of joints again.
    """
    k = wp.tid()
    if k < counts[islands_slot]:
        isl.rebuild[k] = isl.outer_active[k] * (1 - isl.jointed[k])
        isl.soften[k] = 0


@kernel
def request_sweeps(
    counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), limits: Limits, isl: IslandArrays
):
    """Gauss-Seidel breaks the cycling of active sets in violent motion; at rest it only adds drift, so it is gated."""
    k = wp.tid()
    if k >= counts[islands_slot]:
        return
    isl.sweep_active[k] = 0
    if isl.outer_active[k] == 0:
        return
    late = wp.where(isl.law[k] == 1, limits.cone_late, limits.late)
    if isl.jointed[k] == 1 or (isl.sweeps_allowed[k] == 0 and isl.outer_count[k] < limits.stalled):
        return
    if isl.sweeps_off[k] == 1:
        return
    if struggles(limits, isl, k):
        isl.trouble[k] = 1
    if isl.trouble[k] == 1 or isl.outer_count[k] >= late or isl.outer_count[k] < 0:
        isl.sweep_active[k] = 1
        isl.sweep_left[k] = wp.where(isl.law[k] == 1, limits.cone_sweeps, limits.sweeps)
        wp.atomic_max(flags, sweep_slot, 1)


@kernel
def sweeps_done(counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), block: wp.int32, isl: IslandArrays):
    """After a block of Gauss-Seidel sweeps; ``sweep_reset`` came before."""
    k = wp.tid()
    if k >= counts[islands_slot]:
        return
    if isl.sweep_active[k] == 0:
        return
    isl.sweep_count[k] = isl.sweep_count[k] + block
    isl.sweep_left[k] = isl.sweep_left[k] - block
    if isl.sweep_left[k] <= 0:
        isl.sweep_active[k] = 0
    else:
        wp.atomic_max(flags, sweep_slot, 1)


@kernel
def sweep_reset(flags: wp.array(dtype=wp.int32)):
    """Clear the flag of the sweep loop."""
    flags[sweep_slot] = 0


@kernel
def residual_begin(counts: wp.array(dtype=wp.int32), isl: IslandArrays):
    """Before a residual is measured."""
    k = wp.tid()
    if k >= counts[islands_slot]:
        return
    zero = wp.float64(0.0)
    isl.gradient[k] = zero
    isl.residual_normal[k] = zero
    isl.residual_tangent[k] = zero
    isl.missed[k] = zero
    isl.pull[k] = zero
    isl.residual_joint[k] = zero
    isl.unload[k] = 0


@wp.func(module=MODULE)
def next_slip_share(isl: IslandArrays, k: int, value: wp.float64):
    """How much of the change of slip an island on cones takes over, after a round with residual ``value``.

    Where a wheel spins or a foot skids, slip alone may creep to its end by a few per cent a round: then the rest of
    that geometric series is taken at once (Aitken), and a plain round comes after.
    """
    rate = value / isl.previous[k]
    tenth = wp.float64(0.1) * value
    alone = isl.pull[k] < tenth and isl.gradient[k] < tenth and isl.inner_count[k] <= 3
    if isl.jointed[k] == 0 or isl.slip_share[k] > SLIP_SHARE or isl.damping[k] > wp.float64(0.0) or not alone:
        return SLIP_SHARE
    if rate <= wp.float64(0.95) or rate >= wp.float64(1.0):
        return SLIP_SHARE
    return wp.min(wp.float64(1.0) / (wp.float64(1.0) - rate), FARTHEST)


@wp.func(module=MODULE)
def mixes_next(isl: IslandArrays, k: int, value: wp.float64):
    """Whether a round with residual ``value`` did not close in on the joints of a mechanism, see secant.py."""
    if isl.looped[k] == 0 or isl.contact_start[k] < isl.contact_start[k + 1] or isl.outer_count[k] < 2:
        return False
    return value > SLOW * isl.previous[k] and wp.abs(isl.mixes[k]) < MOST_MIXES


@kernel
def outer_check(counts: wp.array(dtype=wp.int32), flags: wp.array(dtype=wp.int32), limits: Limits, isl: IslandArrays):
    """Accept, keep the best, or go back to it; shrink eps where progress is slow, raise it where Newton struggles."""
    k = wp.tid()
    if k >= counts[islands_slot]:
        return
    isl.keep[k] = 0
    isl.restore[k] = 0
    if isl.outer_active[k] == 0:
        return
    value = wp.max(
        wp.max(isl.gradient[k], isl.residual_joint[k]), wp.max(isl.residual_normal[k], isl.residual_tangent[k])
    )
    value = wp.max(value, isl.missed[k])
    finite = value == value and value < wp.float64(1.0e30)
    isl.stale[k] = wp.where(value < isl.best[k], 0, isl.stale[k] + 1)
    if isl.stale[k] > 0 and isl.stale[k] % limits.turn == 0 and isl.sweep_count[k] > 0:
        isl.sweeps_off[k] = 1 - isl.sweeps_off[k]  # where they lead again and again is no answer
    exhausted = isl.outer_count[k] + 1 >= limits.outer
    if isl.jointed[k] + isl.squeezed[k] == 0:  # joints make rounds worse before they make them better
        exhausted = exhausted or isl.stale[k] >= limits.stale
    round = isl.outer_count[k]
    struggled = struggles(limits, isl, k)
    # After a blow nothing is as the eps handed on has it: the first round starts anew with the largest.
    if struggled and may_restart(limits, isl, k):
        isl.eps[k] = limits.eps_largest
        isl.restore[k] = 1
        wp.atomic_max(flags, outer_slot, 1)
        return
    isl.outer_count[k] = round + 1
    law = isl.law[k]
    squeezed = isl.unload[k] == 2 and round < limits.squeezed
    isl.unload[k] = 0
    met = finite and value < isl.tolerance[k]
    # On cones what slides wants to part by mu times its slip.  Where it cannot, it is squeezed for that, and sticks.
    # The next round tells whether it would without.
    if round == 0 and law == 1 and isl.pull[k] > wp.float64(0.0) and isl.sweep_count[k] == 0:
        isl.unload[k] = wp.where(met or isl.jointed[k] == 1 or isl.sweeps_allowed[k] > 0, 1, 0)
    elif squeezed:
        isl.unload[k] = 2
    if round == 0:
        isl.law[k] = 0
    if struggled:
        isl.law[k] = 1  # Newton chases the lagged radius; on cones it has a convex function, and ends in a few steps
    if (met and isl.unload[k] == 0) or exhausted:
        isl.outer_active[k] = 0
        settled = isl.newton_count[k] <= EASY and isl.eps[k] < limits.eps_settled
        if settled and isl.jointed[k] + isl.sweeps_allowed[k] == 0 and isl.direct[k] == 1:
            isl.eps[k] = isl.eps[k] * wp.float64(0.3)  # to hand on: as long as it is large, contacts are springs
        if finite and (value < isl.best[k] or isl.squeezed[k] > 0):
            isl.best[k] = value
            isl.keep[k] = 1
        else:
            isl.restore[k] = 1
        return
    if finite and (isl.unload[k] == 1 or (isl.unload[k] == 2 and met)):
        wp.atomic_max(flags, outer_slot, 1)
        isl.keep[k] = 1
        if met:
            isl.best[k] = value
            isl.squeezed[k] = isl.unload[k]
            if isl.unload[k] == 2:
                isl.law[k] = 0  # on cones friction changes the slip, and that the gap speed by mu times as much
        return
    if isl.squeezed[k] > 0:
        if round < wp.where(isl.squeezed[k] == 2, limits.squeezed, limits.unloaded):
            wp.atomic_max(flags, outer_slot, 1)
        else:
            isl.outer_active[k] = 0
            isl.restore[k] = 1
        return
    mixes = finite and mixes_next(isl, k, value)
    isl.mixes[k] = wp.where(mixes, wp.abs(isl.mixes[k]) + 1, -wp.abs(isl.mixes[k]))
    worse = wp.where(isl.jointed[k] == 1, wp.float64(10.0), wp.float64(3.0))
    if not finite or (not mixes and value > worse * isl.best[k] and round > 0):
        isl.restore[k] = 1
        isl.unload[k] = 0
        most = wp.float64(100.0)
        again = isl.previous[k] == isl.best[k] and isl.trouble[k] == 1 and isl.eps[k] >= limits.eps_largest
        if isl.jointed[k] == 1:
            again = again and isl.convex[k] == 1 and isl.damping[k] >= most
            isl.convex[k] = 1
            isl.law[k] = 1  # the lagged radius may be what misled it
            isl.damping[k] = wp.min(wp.max(isl.damping[k] * wp.float64(10.0), wp.float64(0.1)), most)
        isl.trouble[k] = 1
        isl.slip_share[k] = SLIP_SHARE
        isl.eps[k] = wp.min(isl.eps[k] * wp.float64(4.0), limits.eps_largest)
        if again:  # the next round would be this one once more, unless it was sweeps that led astray
            if isl.sweeps_off[k] == 1 or isl.sweep_count[k] == 0:
                isl.outer_active[k] = 0
                return
            isl.sweeps_off[k] = 1
        wp.atomic_max(flags, outer_slot, 1)
        isl.previous[k] = isl.best[k]
        return
    wp.atomic_max(flags, outer_slot, 1)
    if value < isl.best[k]:
        isl.best[k] = value
        isl.keep[k] = 1
        isl.damping[k] = isl.damping[k] * wp.float64(0.1)
        if isl.damping[k] < wp.float64(0.01):
            isl.damping[k] = wp.float64(0.0)
    if isl.inner_count[k] <= limits.easy and value > wp.float64(0.3) * isl.previous[k]:
        slow = wp.min(wp.float64(0.3) * value, wp.float64(0.1) * isl.tolerance[k])
        contact = wp.max(isl.residual_normal[k], isl.residual_tangent[k])
        if law == 1 and isl.pull[k] < wp.float64(0.5) * value:
            contact = wp.float64(0.0)  # it comes from slip that has not settled, which a smaller eps does not help
        if contact > slow and (value <= isl.previous[k] or contact >= isl.gradient[k]):
            isl.eps[k] = wp.min(isl.eps[k], wp.max(isl.eps[k] * wp.float64(0.3), limits.eps_smallest))
        if isl.residual_joint[k] > wp.float64(0.3) * value:
            least = wp.where(isl.direct[k] == 1, limits.eps_joint_smallest, limits.eps_joint_iterated)
            isl.eps_joint[k] = wp.max(isl.eps_joint[k] * wp.float64(0.1), least)
    elif struggled:
        isl.eps[k] = wp.min(isl.eps[k] * wp.float64(10.0), limits.eps_largest)
    if isl.gradient[k] > wp.float64(0.3) * isl.previous[k] and isl.trouble[k] == 0:
        isl.convex[k] = 0  # only the turn of the directions is left: Newton needs all of it
    isl.slip_share[k] = wp.where(law == 1, next_slip_share(isl, k, value), SLIP_SHARE)
    isl.previous[k] = value


@cache
def control_kernels():
    """The kernels above by name."""
    return SimpleNamespace(
        begin=begin, outer_begin=outer_begin, inner_reset=inner_reset, request_sweeps=request_sweeps,
        sweeps_done=sweeps_done, sweep_reset=sweep_reset, residual_begin=residual_begin, outer_check=outer_check,
        settle=settle,
    )  # fmt: skip
