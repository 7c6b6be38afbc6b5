# SPDX-License-Identifier: GPL-3.0-or-later
"""What squeezes in a fit for no reason: no load, speed or overlap does, but what cones and joints leave, and rounding.

Two walls that push against each other hold that up, from round to round and from step to step, and the friction on it
brakes, in frames that have converged.  What joints tie together, or to what stands, is squeezed in any precision:

    on cones          slip changes with friction, and shift by mu times as much: 1 % of a squeeze goes in a round
    at joints         1e-9 m; some 1e-5 m where conjugate gradients solve in single precision: they are not as stiff

So a solve goes on while such a contact carries load, slides and has room to spare, or joints are off by as much: what
has room carries nothing into the next round, and once all else is met that is on discs.  The best round is kept.
Conjugate gradients in single precision squeeze more, and there it is done for all contacts of islands with joints:

    in each gap       some 1e-7 of the levers
    after cones       1e-7 of the speed over eps: they stop all that slides, and the next round starts there

So contacts that are held and slide may come half of ``gap_noise`` deep there, as those of what hangs on joints do in
any precision, and deeper ones stay at the gap that the solver itself measures; the round after cones starts from free
motion.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import CONTACTS, DYNAMIC, STEP, IslandArrays, structs
from .constraints.contact import contact_kernels
from .lanes import begin, end, end_of_all, island_at, item, turns

FAINT = wp.constant(wp.float64(0.01))  # of the tolerance: what stops nothing
FRESH, SLIDING = 1, 2  # IslandArrays.unload: all that pushes, or what slides with room to spare


@cache
def squeeze_kernels(real):
    """The kernels by name: come_deep, look, free_bodies and let_go."""
    scalar, arrays = wp.float64, structs(real)
    BodyArrays, ContactArrays = arrays.BodyArrays, arrays.ContactArrays
    gap, slip = contact_kernels(real).gap, contact_kernels(real).slip
    name = f"axion_contact_{real.name}"
    kernel = wp.kernel(module=name, enable_backward=False)
    contacts_slot, dynamic_slot = wp.constant(CONTACTS), wp.constant(DYNAMIC)
    step_slot = wp.constant(STEP)
    fresh, sliding = wp.constant(FRESH), wp.constant(SLIDING)
    single = wp.constant(int(real.scalar is wp.float32))

    @wp.func(module=name)
    def rounded(isl: IslandArrays, k: int):
        """1 where Newton's matrix and directions are in single precision."""
        return single * (1 - isl.direct[k])

    @kernel
    def come_deep(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, isl: IslandArrays):
        """After ``prepare_contacts``: where contacts that are held end the step, without joints.

        Those that slide, or would in free motion: what rests stays where it is.  Of contacts that only showed at the
        end pose the points say nothing of the start: there they are as deep as where the other shape bends away.
        """
        at = wp.tid()
        for c in range(begin(at, 0), end_of_all(at, counts[contacts_slot])):
            k = con.island[c]
            if rounded(isl, k) * (1 - isl.jointed[k]) == 0 or wp.abs(con.start_gap[c]) > con.gap_noise[c]:
                continue
            a = con.a[c]
            b = con.b[c]
            fastest = wp.max(slip(con, c, bodies.u[a], bodies.u[b]), slip(con, c, bodies.u_free[a], bodies.u_free[b]))
            if fastest > isl.tolerance[k]:
                start = gap(con, c, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b])
                if wp.abs(start - con.start_gap[c]) <= con.gap_noise[c]:
                    con.allowed[c] = con.rebound_gap[c] + wp.min(start, -scalar(0.5) * con.gap_noise[c])

    @wp.func(module=name)
    def brakes(con: ContactArrays, isl: IslandArrays, c: int, k: int):
        """Whether a contact that is held slides under load; where all is float64, between what joints tie together."""
        if rounded(isl, k) + con.tied[c] == 0:
            return False
        v = con.v[c]
        flush = wp.abs(con.start_gap[c]) <= con.gap_noise[c]
        slides = wp.sqrt(v[1] * v[1] + v[2] * v[2]) > isl.tolerance[k]
        return flush and slides and con.w[c] * con.p[c][0] > FAINT * isl.tolerance[k]

    @wp.func(module=name)
    def has_room(con: ContactArrays, c: int):
        """Whether a contact is open by half of what it may be deep."""
        return con.phi[c] - con.allowed[c] > scalar(0.25) * con.gap_noise[c]

    @kernel
    def look(
        counts: wp.array(dtype=wp.int32), settings: wp.array(dtype=scalar), con: ContactArrays, isl: IslandArrays
    ):  # fmt: skip
        """Before ``outer_check``: which islands with joints are squeezed, or may be, for their joints are off."""
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.outer_active[k] * isl.jointed[k] == 0:
                continue
            off = settings[step_slot] * isl.residual_joint[k]
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                if brakes(con, isl, c, k) and (has_room(con, c) or off > scalar(0.25) * con.gap_noise[c]):
                    isl.unload[k] = sliding

    @kernel
    def free_bodies(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, isl: IslandArrays):
        """The round after cones starts from free motion, without joints."""
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if isl.unload[k] != fresh or rounded(isl, k) * (1 - isl.jointed[k]) == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                bodies.u[i] = bodies.u_free[i]

    @kernel
    def let_go(counts: wp.array(dtype=wp.int32), con: ContactArrays, isl: IslandArrays):
        """After ``keep_contacts``: contacts that carry nothing into the next round."""
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.outer_active[k] == 0 or isl.unload[k] == 0:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                if isl.unload[k] == fresh and rounded(isl, k) * (1 - isl.jointed[k]) == 1:
                    isl.restore[k] = 1  # so that the geometry is read again
                elif isl.unload[k] != sliding or not (brakes(con, isl, c, k) and has_room(con, c)):
                    continue
                con.p[c] = wp.vec3d()
                con.p_centre[c] = wp.vec3d()
                con.radius[c] = wp.float64(0.0)
                con.dual[c] = wp.vec2d()

    return SimpleNamespace(come_deep=come_deep, look=look, free_bodies=free_bodies, let_go=let_go)
