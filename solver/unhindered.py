# SPDX-License-Identifier: GPL-3.0-or-later
"""Islands of contacts that nothing hinders: where free motion keeps every gap, it is the answer, and nothing pushes.

No impulse satisfies all laws there.  In a fit it is not the only answer: two walls that push against each other hold
that up by the friction it makes, whatever load they begin with, so a solve that starts from any, as from what cones
make of slip or from that of the last step, need not come to it.  Coulomb's law does not say how much of a squeeze
there is; the least is none.

Only where something slides: elsewhere no friction brakes, and the solve has it as ever.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import CONTACTS, DYNAMIC, ISLANDS, BodyArrays, ContactArrays, IslandArrays
from .constraints.contact_functions import contact_functions
from .lanes import begin, end, island_at, item, turns

STILL, SLIDES, HINDERED, PASSES = 1, 2, 3, 4  # IslandArrays.free: what free motion does; 4: see passing_by.py
FAINT = 0.01  # of ``gap_noise``: what gravity closes in a step is far more


@cache
def unhindered_kernels():
    """The kernels by name: hope, hinder, free_bodies and free_contacts."""
    gap, slip = contact_functions().gap, contact_functions().slip
    kernel = wp.kernel(module="axion_contact", enable_backward=False)
    contacts_slot, dynamic_slot, islands_slot = wp.constant(CONTACTS), wp.constant(DYNAMIC), wp.constant(ISLANDS)
    faint = wp.constant(wp.float64(FAINT))
    still, slides, hindered = wp.constant(STILL), wp.constant(SLIDES), wp.constant(HINDERED)

    @kernel
    def hope(counts: wp.array(dtype=wp.int32), isl: IslandArrays):
        k = wp.tid()
        if k < counts[islands_slot]:
            isl.free[k] = isl.outer_active[k] * (1 - isl.jointed[k]) * still

    @kernel
    def hinder(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, isl: IslandArrays):
        """After ``prepare_contacts``: a gap that free motion does not keep hinders its island."""
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.free[k] == 0 or isl.free[k] == hindered:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                a = con.a[c]
                b = con.b[c]
                left = gap(con, c, bodies.x_free[a], bodies.q_free[a], bodies.x_free[b], bodies.q_free[b])
                if not (left >= con.allowed[c] - faint * con.gap_noise[c]):
                    wp.atomic_max(isl.free, k, hindered)
                    break
                if slip(con, c, bodies.u_free[a], bodies.u_free[b]) > isl.tolerance[k]:
                    wp.atomic_max(isl.free, k, slides)

    @kernel
    def free_bodies(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, isl: IslandArrays):
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if isl.free[k] != slides:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                bodies.u[i] = bodies.u_free[i]

    @kernel
    def free_contacts(counts: wp.array(dtype=wp.int32), con: ContactArrays, isl: IslandArrays):
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.free[k] != slides:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                con.p[c] = wp.vec3d()

    return SimpleNamespace(hope=hope, hinder=hinder, free_bodies=free_bodies, free_contacts=free_contacts)
