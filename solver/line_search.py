# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact line search along a Newton direction, one team of threads for each island (teams.py).

The merit function of the inner loop is convex along d, its slope piecewise smooth:

    slope(alpha) = g . d + alpha d . (M + K) d + sum over contacts and rows of (p_0 - p(v + alpha J d)) . J d

The search is Newton's on the slope, safeguarded by the bracket found so far, and ends at a tenth of the first slope.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from . import teams
from .arrays import DYNAMIC, PARTS, BodyArrays, ContactArrays, IslandArrays, RowArrays
from .constraints.contact import contact_kernels
from .constraints.joints import joint_kernels
from .motion import motion_kernels
from .newton_control import Limits, iteration_ends
from .teams import TeamArrays

FLAT = wp.constant(wp.float64(1.0e-6))  # of the first slope: what is left of it is rounding
FARTHEST = wp.constant(wp.float64(4.0))  # step length tried while no end of the bracket is known
TENTH, HALF = wp.constant(wp.float64(0.1)), wp.constant(wp.float64(0.5))


@cache
def search_kernels(ropes):
    """``directions`` before ``search``; ropes: whether rows may pull across their direction."""
    body_direction, body_update = motion_kernels().body_direction, motion_kernels().body_update
    of_contacts, of_rows = contact_kernels(), joint_kernels()
    contact_direction, contact_search = of_contacts.contact_direction, of_contacts.contact_search
    row_direction, turn_direction, row_search = of_rows.row_direction, of_rows.turn_direction, of_rows.row_search
    contact_update, row_update = of_contacts.contact_update, of_rows.row_update
    begin, stride, sums, leads = teams.begin, teams.stride, teams.sums, teams.leads
    kernel = wp.kernel(module=f"axion_search{'_ropes' * ropes}", enable_backward=False)
    dynamic_slot, parts_slot = wp.constant(DYNAMIC), wp.constant(PARTS)

    @kernel
    def directions(
        counts: wp.array(dtype=wp.int32), team: TeamArrays, width: wp.int32, blocks: wp.int32, bodies: BodyArrays,
        con: ContactArrays, rows: RowArrays, isl: IslandArrays,
    ):  # fmt: skip
        """Dv = J d of all contacts and rows, the first slope, and what of slope and bend no law changes."""
        block = wp.tid() // width
        thread = wp.tid() - block * width
        for part in range(block, counts[parts_slot], blocks):
            k = team.island[part]
            if isl.inner_active[k] == 0:
                continue
            step = stride(team, part, width)
            dynamic = counts[dynamic_slot]
            of_bodies = wp.vec2d()
            for m in range(begin(team, part, thread, width, isl.body_start[k]), isl.body_start[k + 1], step):
                of_bodies += body_direction(bodies, isl, isl.body_index[m], k)
            base = wp.float64(0.0)
            for c in range(begin(team, part, thread, width, isl.contact_start[k]), isl.contact_start[k + 1], step):
                base += contact_direction(bodies, con, c, dynamic)
            turned = wp.float64(0.0)
            for m in range(begin(team, part, thread, width, isl.row_start[k]), isl.row_start[k + 1], step):
                r = isl.row_index[m]
                base += row_direction(bodies, rows, r, dynamic)
                if wp.static(ropes):
                    if rows.turning[r] != wp.float64(0.0):
                        for t in range(2):
                            turned += turn_direction(bodies, rows, r, t, dynamic)
            of_bodies = sums(of_bodies, team, part)
            others = sums(wp.vec2d(base, turned), team, part)
            if leads(team, part, thread):
                isl.slope0[k] = of_bodies[0]
                isl.slope_base[k] = others[0] + of_bodies[0]
                isl.bend_base[k] = of_bodies[1] + others[1]

    @kernel
    def search(
        counts: wp.array(dtype=wp.int32), team: TeamArrays, width: wp.int32, blocks: wp.int32, limits: Limits,
        bodies: BodyArrays, con: ContactArrays, rows: RowArrays, isl: IslandArrays,
    ):  # fmt: skip
        """The step length ``alpha``, after so many trials (``search_round``), and the iterate there."""
        block = wp.tid() // width
        thread = wp.tid() - block * width
        for part in range(block, counts[parts_slot], blocks):
            k = team.island[part]
            if isl.inner_active[k] == 0:
                continue
            step = stride(team, part, width)
            first_contact = begin(team, part, thread, width, isl.contact_start[k])
            first_row = begin(team, part, thread, width, isl.row_start[k])
            zero = wp.float64(0.0)
            slope0 = isl.slope0[k]
            alpha = wp.float64(1.0)
            low = wp.float64(0.0)
            high = wp.float64(-1.0)
            trials = int(0)
            reached = int(0)
            going = bool(True)
            while going:
                found = wp.vec2d()
                for c in range(first_contact, isl.contact_start[k + 1], step):
                    found += contact_search(con, isl, c, k, alpha)
                for m in range(first_row, isl.row_start[k + 1], step):
                    found += row_search(rows, isl, isl.row_index[m], k, alpha)
                found = sums(found, team, part)
                slope = found[0] + isl.slope_base[k] + alpha * isl.bend_base[k]
                bend = found[1] + isl.bend_base[k]
                trials += 1
                if wp.abs(slope) <= TENTH * wp.abs(slope0) or trials >= limits.search:
                    going = False
                    # Rows are linear between their bounds: where none was passed, the full step ends at the root.
                    if isl.contact_start[k] == isl.contact_start[k + 1] and trials == 1:
                        reached = wp.where(wp.abs(slope) <= FLAT * wp.abs(slope0), 1, 0)
                else:
                    if slope < zero:
                        low = alpha
                    else:
                        high = alpha
                    alpha = alpha - slope / bend
                    if high > zero:
                        if alpha <= low or alpha >= high:
                            alpha = HALF * (low + high)
                    else:
                        alpha = wp.min(alpha, FARTHEST)
            for c in range(first_contact, isl.contact_start[k + 1], step):
                contact_update(con, isl, c, k, alpha)
            for m in range(first_row, isl.row_start[k + 1], step):
                row_update(rows, isl, isl.row_index[m], k, alpha)
            for m in range(begin(team, part, thread, width, isl.body_start[k]), isl.body_start[k + 1], step):
                body_update(bodies, isl.body_index[m], alpha)
            if leads(team, part, thread):
                isl.alpha[k] = alpha
                isl.search_round[k] = trials
                isl.reached[k] = reached
                iteration_ends(limits, isl, k)

    return SimpleNamespace(directions=directions, search=search)
