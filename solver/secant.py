# SPDX-License-Identifier: GPL-3.0-or-later
"""Rounds of a mechanism that do not close in on its joints, and where they lead: Anderson's mixing of the last two.

In mid-step Newton measures by J of half way what J of the end pose changes.  Where a mechanism passes a place at which
it could branch, a crank and a rod in one line, a combination of its rows is nearly zero half way and is not at the end:
each round goes many times too far along it, to one side and the other, and no shorter step helps.  What two rounds did
tells by how much, whatever the number of bodies (D. G. Anderson, J. ACM 12, 1965, with a memory of one):

    u = G - s (G - G')    s = f.M (f - f') / |f - f'|_M^2     f = G - u_centre: what a round changed; ': of the last

G is where a round led.  Only islands without contacts, whose joints close a loop: other rounds close in as they are.
"""

from functools import cache

import warp as wp

from . import teams
from .arrays import PARTS, BodyArrays, IslandArrays
from .linear.stiffness import MODULE
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .teams import TeamArrays


@cache
def secant_kernel():
    """The kernel ``mix``."""
    real = real_types(wp.float64)
    math = rotation_functions(real)
    linear, angular, vec6 = math.linear, math.angular, real.vec6
    begin, stride, sums, leads = teams.begin, teams.stride, teams.sums, teams.leads
    kernel = wp.kernel(module=MODULE, enable_backward=False)
    parts_slot = wp.constant(PARTS)

    @wp.func(module=MODULE)
    def product(bodies: BodyArrays, i: int, x: vec6, y: vec6):
        """X.M y of body i."""
        spin = wp.dot(angular(x), bodies.inertia[i] * angular(y))
        return bodies.mass[i] * wp.dot(linear(x), linear(y)) + spin

    @kernel
    def mix(
        counts: wp.array(dtype=wp.int32), team: TeamArrays, width: wp.int32, blocks: wp.int32, bodies: BodyArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """The next iterate of islands that ``mixes`` flags; what this round did, for those that may be next time."""
        thread = wp.tid() - wp.tid() // width * width
        for part in range(wp.tid() // width, counts[parts_slot], blocks):
            k = team.island[part]
            if isl.looped[k] * isl.outer_active[k] == 0 or isl.contact_start[k] < isl.contact_start[k + 1]:
                continue
            if isl.restore[k] == 1:  # u is not where the round led
                continue
            step = stride(team, part, width)
            first = begin(team, part, thread, width, isl.body_start[k])
            share = wp.float64(0.0)
            if isl.mixes[k] > 0:
                found = wp.vec2d()
                for m in range(first, isl.body_start[k + 1], step):
                    i = isl.body_index[m]
                    way = bodies.u[i] - bodies.u_centre[i]
                    more = way - bodies.way[i]
                    found += wp.vec2d(product(bodies, i, way, more), product(bodies, i, more, more))
                found = sums(found, team, part)
                if found[1] > wp.float64(0.0):
                    share = found[0] / found[1]
                if leads(team, part, thread):
                    isl.restore[k] = 1  # its geometry is to be read again
            for m in range(first, isl.body_start[k + 1], step):
                i = isl.body_index[m]
                led = bodies.u[i]
                bodies.u[i] = led - share * (led - bodies.led[i])
                bodies.way[i] = led - bodies.u_centre[i]
                bodies.led[i] = led

    return mix
