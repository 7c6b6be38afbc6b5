# SPDX-License-Identifier: GPL-3.0-or-later
"""Projected Gauss-Seidel over the contacts of an island without joints (Jourdan, Alart, Jean 1998).

Each contact is solved for its normal impulse, then for its two friction impulses on the disc of radius mu p_n.
Velocities are kept up to date, u = u_free + M^-1 J^T p.  A burst of sweeps breaks the cycling of active sets where
Newton stalls in violent motion, and ends what starts near its end; alone it converges far too slowly, and rows of stiff
joints it throws far off.

On the CPU one thread takes an island's contacts in their order.  On a CUDA device a team of threads takes it, run by
run: the contacts of one pair of bodies, which one thread takes in their order.  Runs of one colour share no moving body
and go side by side, and the next colour follows.  What finds no colour, because more than LAST runs meet at one body,
is taken by one thread at the end of a sweep.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import DYNAMIC, PARTS, BodyArrays, ContactArrays, IslandArrays
from .constraints.contact_functions import contact_functions
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .teams import TeamArrays, begin, leads, meet, stride, sums

LAST = wp.constant(62)


@wp.struct
class RunArrays:
    """Contacts of one pair of bodies each, in order of islands."""

    start: wp.array(dtype=wp.int32)  # (runs + 1,) first contact
    colour: wp.array(dtype=wp.int32)  # (runs,)
    highest: wp.array(dtype=wp.int64)  # (bodies,) mark of the run that takes its colour next
    used: wp.array(dtype=wp.int64)  # (bodies,) colours that its runs have, a bit each


@cache
def sweep_kernels():
    """The kernels ``in_order`` and ``coloured``, in a module each: a device takes one of them."""
    vec3, zero = wp.vec3d, wp.constant(wp.float64(0.0))
    math, contact = rotation_functions(real_types(wp.float64)), contact_functions()
    six, point_velocity = math.six, math.point_velocity
    components, world = contact.components, contact.world
    name, coloured_name = "axion_sweep", "axion_sweep_coloured"
    dynamic_slot, parts_slot = wp.constant(DYNAMIC), wp.constant(PARTS)

    @wp.func(module=name)
    def push(bodies: BodyArrays, i: int, impulse: vec3, arm: vec3):
        bodies.u[i] = bodies.u[i] + six(
            impulse * bodies.inverse_mass[i], bodies.inverse_inertia[i] * wp.cross(arm, impulse)
        )  # fmt: skip

    @wp.func(module=name)
    def sweep_contact(c: int, dynamic: int, bodies: BodyArrays, con: ContactArrays):
        a = con.a[c]
        b = con.b[c]
        n = con.n[c]
        old = con.p[c]
        arm_a = con.arm_a[c]
        arm_b = con.arm_b[c]
        v = components(n, point_velocity(bodies.u[a], arm_a) - point_velocity(bodies.u[b], arm_b)) + con.bias[c]
        normal = wp.max(zero, old[0] - v[0] / con.w_normal[c])
        if normal == zero and wp.length_sq(old) == zero:
            return  # it stays open, as most do
        change = world(n, vec3(normal - old[0], zero, zero))
        if a < dynamic:
            push(bodies, a, change, arm_a)
        if b < dynamic:
            push(bodies, b, -change, arm_b)
        v = components(n, point_velocity(bodies.u[a], arm_a) - point_velocity(bodies.u[b], arm_b)) + con.bias[c]
        y1 = old[1] - v[1] / con.w_tangent[c]
        y2 = old[2] - v[2] / con.w_tangent[c]
        t = wp.sqrt(y1 * y1 + y2 * y2)
        r = con.mu[c] * normal
        if t > r:
            y1 = y1 * r / t
            y2 = y2 * r / t
        change = world(n, vec3(zero, y1 - old[1], y2 - old[2]))
        if a < dynamic:
            push(bodies, a, change, arm_a)
        if b < dynamic:
            push(bodies, b, -change, arm_b)
        con.p[c] = vec3(normal, y1, y2)

    @wp.kernel(module=name, enable_backward=False)
    def in_order(
        counts: wp.array(dtype=wp.int32), team: TeamArrays, width: wp.int32, blocks: wp.int32, rounds: wp.int32,
        bodies: BodyArrays, con: ContactArrays, runs: RunArrays, isl: IslandArrays,
    ):  # fmt: skip
        """So many sweeps over the contacts of each island, in their order.  Teams are of one thread."""
        block = wp.tid() // width
        for part in range(block, counts[parts_slot], blocks):
            k = team.island[part]
            if isl.sweep_active[k] == 0:
                continue
            dynamic = counts[dynamic_slot]
            for _round in range(rounds):
                for c in range(isl.contact_start[k], isl.contact_start[k + 1]):
                    sweep_contact(c, dynamic, bodies, con)

    @wp.func(module=coloured_name)
    def mark_of(r: int, rounds: int):
        """Higher in every round, so that nothing has to be cleared; another one for each run, in no order."""
        scattered = (wp.int64(r) * wp.int64(2654435761)) & wp.int64(0xFFFFFFFF)
        return (wp.int64(rounds) << wp.int64(32)) | scattered

    @wp.func(module=coloured_name)
    def sweep_run(r: int, dynamic: int, bodies: BodyArrays, con: ContactArrays, runs: RunArrays):
        for c in range(runs.start[r], runs.start[r + 1]):
            sweep_contact(c, dynamic, bodies, con)

    @wp.func(module=coloured_name)
    def owns(r: int, mark: wp.int64, dynamic: int, con: ContactArrays, runs: RunArrays):
        """Whether no other run that waits has a higher mark at one of both bodies."""
        a = con.a[runs.start[r]]
        b = con.b[runs.start[r]]
        return (a >= dynamic or runs.highest[a] == mark) and (b >= dynamic or runs.highest[b] == mark)

    @wp.func(module=coloured_name)
    def take_colour(r: int, k: int, dynamic: int, con: ContactArrays, runs: RunArrays, isl: IslandArrays):
        """The lowest colour that neither body has, or LAST."""
        a = con.a[runs.start[r]]
        b = con.b[runs.start[r]]
        used = wp.int64(0)
        if a < dynamic:
            used |= runs.used[a]
        if b < dynamic:
            used |= runs.used[b]
        colour = int(0)
        while colour < LAST and (used >> wp.int64(colour)) & wp.int64(1) == wp.int64(1):
            colour += 1
        if a < dynamic:
            runs.used[a] = runs.used[a] | (wp.int64(1) << wp.int64(colour))
        if b < dynamic:
            runs.used[b] = runs.used[b] | (wp.int64(1) << wp.int64(colour))
        runs.colour[r] = colour
        wp.atomic_max(isl.colours, k, colour + 1)

    @wp.func(module=coloured_name)
    def colour_runs(
        k: int, part: int, first: int, step: int, dynamic: int, team: TeamArrays, con: ContactArrays, runs: RunArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """Colours such that no two runs of one colour have a moving body in common (Jones and Plassmann 1993)."""
        end = isl.run_start[k + 1]
        for r in range(first, end, step):
            runs.colour[r] = -1
            a = con.a[runs.start[r]]
            b = con.b[runs.start[r]]
            if a < dynamic:
                runs.highest[a] = wp.int64(0)
                runs.used[a] = wp.int64(0)
            if b < dynamic:
                runs.highest[b] = wp.int64(0)
                runs.used[b] = wp.int64(0)
        meet(team, part)
        waiting = wp.float64(1.0)
        rounds = int(0)
        while waiting > wp.float64(0.0):
            rounds += 1
            for r in range(first, end, step):
                if runs.colour[r] < 0:
                    a = con.a[runs.start[r]]
                    b = con.b[runs.start[r]]
                    if a < dynamic:
                        wp.atomic_max(runs.highest, a, mark_of(r, rounds))
                    if b < dynamic:
                        wp.atomic_max(runs.highest, b, mark_of(r, rounds))
            meet(team, part)
            left = wp.float64(0.0)
            for r in range(first, end, step):
                if runs.colour[r] < 0:
                    if owns(r, mark_of(r, rounds), dynamic, con, runs):
                        take_colour(r, k, dynamic, con, runs, isl)
                    elif rounds < LAST:
                        left += wp.float64(1.0)
                    else:  # more touch one body than there are colours
                        runs.colour[r] = LAST
                        wp.atomic_max(isl.colours, k, LAST + 1)
            waiting = sums(wp.vec2d(left, wp.float64(0.0)), team, part)[0]

    @wp.kernel(module=coloured_name, enable_backward=False)
    def coloured(
        counts: wp.array(dtype=wp.int32), team: TeamArrays, width: wp.int32, blocks: wp.int32, rounds: wp.int32,
        bodies: BodyArrays, con: ContactArrays, runs: RunArrays, isl: IslandArrays,
    ):  # fmt: skip
        """So many sweeps over the contacts of each island, colour by colour."""
        block = wp.tid() // width
        thread = wp.tid() - block * width
        for part in range(block, counts[parts_slot], blocks):
            k = team.island[part]
            if isl.sweep_active[k] == 0:
                continue
            dynamic = counts[dynamic_slot]
            step = stride(team, part, width)
            first = begin(team, part, thread, width, isl.run_start[k])
            if isl.colours[k] == 0:
                colour_runs(k, part, first, step, dynamic, team, con, runs, isl)
            for _round in range(rounds):
                for colour in range(isl.colours[k]):
                    if colour < LAST:
                        for r in range(first, isl.run_start[k + 1], step):
                            if runs.colour[r] == colour:
                                sweep_run(r, dynamic, bodies, con, runs)
                    elif leads(team, part, thread):
                        for r in range(isl.run_start[k], isl.run_start[k + 1]):
                            if runs.colour[r] == LAST:
                                sweep_run(r, dynamic, bodies, con, runs)
                    meet(team, part)

    return SimpleNamespace(in_order=in_order, coloured=coloured)
