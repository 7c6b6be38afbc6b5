# SPDX-License-Identifier: GPL-3.0-or-later
"""The start of a Newton iteration: the laws and what is left of momentum, one team of threads an island (teams.py)."""

from functools import cache

import warp as wp

from . import teams
from .arrays import DYNAMIC, INNER, PARTS, BodyArrays, ContactArrays, IslandArrays, RowArrays
from .constraints.contact import contact_kernels
from .constraints.joints import joint_kernels
from .linear.gradient import gradient_function
from .newton_control import Limits, goes_on, iteration_begins
from .teams import TeamArrays


@cache
def gradient_kernel(ropes):
    """The kernel ``gradient``; ropes: see ``gradient_function``."""
    apply_contact_law, apply_row_law = contact_kernels().apply_contact_law, joint_kernels().apply_row_law
    body_gradient = gradient_function(ropes)
    begin, stride, leads, meet = teams.begin, teams.stride, teams.leads, teams.meet
    name = f"axion_newton{'_ropes' * ropes}"
    wp.get_module(name).options["max_unroll"] = 1  # as in assembly.py
    kernel = wp.kernel(module=name, enable_backward=False)
    dynamic_slot, parts_slot, inner_slot = wp.constant(DYNAMIC), wp.constant(PARTS), wp.constant(INNER)

    @kernel
    def gradient(
        counts: wp.array(dtype=wp.int32), team: TeamArrays, width: wp.int32, blocks: wp.int32,
        flags: wp.array(dtype=wp.int32), limits: Limits, bodies: BodyArrays, con: ContactArrays, rows: RowArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """The laws at the present iterate, g, and which islands go on: those set the flag of the loop."""
        block = wp.tid() // width
        thread = wp.tid() - block * width
        for part in range(block, counts[parts_slot], blocks):
            k = team.island[part]
            leader = leads(team, part, thread)
            if isl.inner_active[k] == 0:
                if leader:
                    isl.direct_active[k] = 0
                continue
            step = stride(team, part, width)
            if leader:
                iteration_begins(isl, k)
            meet(team, part)
            for c in range(begin(team, part, thread, width, isl.contact_start[k]), isl.contact_start[k + 1], step):
                apply_contact_law(con, isl, c, k)
            for m in range(begin(team, part, thread, width, isl.row_start[k]), isl.row_start[k + 1], step):
                apply_row_law(rows, isl, isl.row_index[m], k)
            meet(team, part)
            largest = wp.float64(0.0)
            for m in range(begin(team, part, thread, width, isl.body_start[k]), isl.body_start[k + 1], step):
                own = body_gradient(bodies, con, rows, isl, isl.body_index[m], k, counts[dynamic_slot])
                largest = wp.max(largest, own)
            wp.atomic_max(isl.gradient, k, largest)
            meet(team, part)
            if leader:
                active = wp.where(goes_on(limits, isl, k), 1, 0)
                isl.inner_active[k] = active
                isl.direct_active[k] = active * isl.direct[k]
                wp.atomic_max(flags, inner_slot, active)

    return gradient
