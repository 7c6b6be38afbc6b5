# SPDX-License-Identifier: GPL-3.0-or-later
"""What squeezes in a fit for no reason: no load, speed or overlap does, but what cones and joints leave.

Two walls that push against each other hold that up, from round to round and from step to step, and the friction on it
brakes, in frames that have converged.  So it is with what joints tie together, or to what stands:

    on cones          slip changes with friction, and shift by mu times as much: 1 % of a squeeze goes in a round
    at joints         1e-9 m; some 1e-5 m where conjugate gradients solve in single precision: they are not as stiff

So a solve goes on while such a contact carries load, slides and has room to spare, or joints are off by as much: what
has room carries nothing into the next round, and once all else is met that is on discs.  The best round is kept.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import CONTACTS, STEP, ContactArrays, IslandArrays
from .lanes import begin, end, island_at, turns

FAINT = wp.constant(wp.float64(0.01))  # of the tolerance: what stops nothing
SLIDING = 2  # IslandArrays.unload: what slides with room to spare


@cache
def squeeze_kernels():
    """The kernels by name: look and let_go."""
    name = "axion_contact"
    kernel = wp.kernel(module=name, enable_backward=False)
    contacts_slot, step_slot, sliding = wp.constant(CONTACTS), wp.constant(STEP), wp.constant(SLIDING)

    @wp.func(module=name)
    def brakes(con: ContactArrays, isl: IslandArrays, c: int, k: int):
        """Whether a contact that is held, between what joints tie together, slides under load."""
        if con.tied[c] == 0:
            return False
        v = con.v[c]
        flush = wp.abs(con.start_gap[c]) <= con.gap_noise[c]
        slides = wp.sqrt(v[1] * v[1] + v[2] * v[2]) > isl.tolerance[k]
        return flush and slides and con.w[c] * con.p[c][0] > FAINT * isl.tolerance[k]

    @wp.func(module=name)
    def has_room(con: ContactArrays, c: int):
        """Whether a contact is open by half of what it may be deep."""
        return con.phi[c] - con.allowed[c] > wp.float64(0.25) * con.gap_noise[c]

    @kernel
    def look(
        counts: wp.array(dtype=wp.int32), settings: wp.array(dtype=wp.float64), con: ContactArrays, isl: IslandArrays
    ):  # fmt: skip
        """Before ``outer_check``: which islands with joints are squeezed, or may be, for their joints are off."""
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.outer_active[k] * isl.jointed[k] == 0:
                continue
            off = settings[step_slot] * isl.residual_joint[k]
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                if brakes(con, isl, c, k) and (has_room(con, c) or off > wp.float64(0.25) * con.gap_noise[c]):
                    isl.unload[k] = sliding

    @kernel
    def let_go(counts: wp.array(dtype=wp.int32), con: ContactArrays, isl: IslandArrays):
        """After ``keep_contacts``: contacts that carry nothing into the next round."""
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.outer_active[k] == 0 or isl.unload[k] != sliding:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                if not (brakes(con, isl, c, k) and has_room(con, c)):
                    continue
                con.p[c] = wp.vec3d()
                con.p_centre[c] = wp.vec3d()
                con.radius[c] = wp.float64(0.0)
                con.dual[c] = wp.vec2d()

    return SimpleNamespace(look=look, let_go=let_go)
