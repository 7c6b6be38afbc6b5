# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact rows on the device: geometry, law, curvature, line search and residual.

    gap      phi = n+ . (x_a - x_b) - margin_a - margin_b                      [m], n+: n turned with the face touched
             |way between round cores| - reach                              [m], see reference/round_cores.py
    rows     v = ((phi(q+) - allowed) / h,  t1 . dv,  t2 . dv)                 [m/s], dv = velocity of a's surface
                                                                               relative to b's, running or not
    J        n, t1, t2 on the point velocities, with the levers of the step's start (levers at q+ stall the outer loop),
              or half way to the free pose where it glides, or their means (gliding.py, roly_polies.py)
    impulse  (p_n, p_1, p_2): +n p_n + t1 p_1 + t2 p_2 on body a, the opposite on body b

In law 1 of friction.py the gap velocity is v_n + shift, shift = mu |v_t| of the last round (De Saxce and Feng 1998):
without it sliding contacts would open.  Where friction can hold a contact, what it slips is an error and no slip of the
law: a wedge that has yet to build up its forces would be pushed in by mu times that, and never does.

``allowed`` < 0 is what may stay of an overlap present at the start: it is pushed out no faster than ``push_out_speed``.
``allowed`` > 0 is where a rebound inside the step leads (reference/impact.py).

Detection knows gaps to ``gap_noise`` only: a contact that starts the step nearer to touching than that touches, and
is held where it is.  Else a body at rest on more points than it needs, which never agree to the last digit, would shift
its load from one to another for ever.  What hangs on joints comes half of that deep: it is where they have it, to
micrometres, and what leads it along a wall would squeeze it for each of them.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import CONTACTS, DYNAMIC, PUSH_OUT, STEP, BodyArrays, ContactArrays, IslandArrays
from ..lanes import begin, end, end_of_all, island_at, turns
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions
from .contact_functions import contact_functions
from .friction import contact_law


@cache
def contact_kernels():
    """All kernels that loop over contacts."""
    real = real_types(wp.float64)
    scalar, vec3, zero = real.scalar, real.vec3, wp.constant(wp.float64(0.0))
    math, law, of_contacts = rotation_functions(real), contact_law(), contact_functions()
    tangent, point_velocity, measured = math.tangent, math.point_velocity, math.measured
    components, world, gap, lever = of_contacts.components, of_contacts.world, of_contacts.gap, of_contacts.lever
    arm_mass, body_velocity = of_contacts.arm_mass, of_contacts.body_velocity
    impulse, curvature, next_dual, going_on = law.impulse, law.curvature, law.next_dual, law.going_on
    kernel = wp.kernel(module="axion_contact", enable_backward=False)
    contacts_slot, dynamic_slot = wp.constant(CONTACTS), wp.constant(DYNAMIC)
    step_slot, push_out_slot = wp.constant(STEP), wp.constant(PUSH_OUT)

    @wp.func(module="axion_contact")
    def slides_by(con: ContactArrays, c: int):
        """Slip that law 1 goes by [m/s]: none where friction can hold what a contact still goes."""
        p = con.p[c]
        v = con.v[c]
        y1 = p[1] - v[1] / con.w[c]
        y2 = p[2] - v[2] / con.w[c]
        if wp.sqrt(y1 * y1 + y2 * y2) <= con.mu[c] * p[0]:
            return zero
        return wp.sqrt(v[1] * v[1] + v[2] * v[2])

    @wp.func(module="axion_contact")
    def proximal_point(con: ContactArrays, c: int, v: vec3, mode: int, sigma: scalar):
        if mode == 1:
            v = v + vec3(con.shift[c], scalar(0.0), scalar(0.0))
        return con.p_centre[c] - v / sigma

    @wp.func(module="axion_contact")
    def put_levers(bodies: BodyArrays, con: ContactArrays, c: int):
        n = con.n[c]
        con.arm_a[c] = lever(con, c, bodies, con.a[c], con.point_a[c], -n) - n * con.margin_a[c]
        con.arm_b[c] = lever(con, c, bodies, con.b[c], con.point_b[c], n) + n * con.margin_b[c]

    @kernel
    def prepare_contacts(
        counts: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=scalar),
        bodies: BodyArrays,
        con: ContactArrays,
        isl: IslandArrays,
    ):
        """Levers, effective inverse masses, allowed gap and start impulses, at the start pose."""
        at = wp.tid()
        for c in range(begin(at, 0), end_of_all(at, counts[contacts_slot])):
            a = con.a[c]
            b = con.b[c]
            n = con.n[c]
            t1 = tangent(n)
            t2 = wp.cross(n, t1)
            put_levers(bodies, con, c)
            ra = con.arm_a[c]
            rb = con.arm_b[c]
            allowed = con.rebound_gap[c]
            if wp.abs(con.start_gap[c]) <= con.gap_noise[c]:
                if isl.jointed[con.island[c]] == 1:
                    allowed -= scalar(0.5) * con.gap_noise[c]
                else:
                    allowed += con.start_gap[c]
            elif con.start_gap[c] < scalar(0.0):
                allowed += wp.min(scalar(0.0), con.start_gap[c] + settings[push_out_slot])
            con.allowed[c] = allowed
            m = scalar(0.0)
            wn = scalar(0.0)
            w1 = scalar(0.0)
            w2 = scalar(0.0)
            if a < counts[dynamic_slot]:
                m += bodies.inverse_mass[a]
                wn += arm_mass(ra, n, bodies, a)
                w1 += arm_mass(ra, t1, bodies, a)
                w2 += arm_mass(ra, t2, bodies, a)
            if b < counts[dynamic_slot]:
                m += bodies.inverse_mass[b]
                wn += arm_mass(rb, n, bodies, b)
                w1 += arm_mass(rb, t1, bodies, b)
                w2 += arm_mass(rb, t2, bodies, b)
            con.w_normal[c] = m + wn
            con.w_tangent[c] = m + wp.max(w1, w2)
            con.w[c] = m + (wn + w1 + w2) / scalar(3.0)
            start = con.start_impulse[c]
            p = vec3(wp.max(zero, wp.dot(n, start)), wp.dot(t1, start), wp.dot(t2, start))
            con.p[c] = p
            con.p_centre[c] = p
            con.p_best[c] = p
            con.radius[c] = con.mu[c] * p[0]
            con.dual[c] = wp.vec2d(p[1], p[2])
            con.shift[c] = scalar(0.0)
            con.slid[c] = scalar(0.0)

    @kernel
    def shift_contacts(counts: wp.array(dtype=wp.int32), con: ContactArrays, isl: IslandArrays):
        """Start of an outer round: how far sliding contacts would open in the cone law.

        On cones not all the way to what the last round says where that turns back, and farther where it creeps (see
        ``next_slip_share``).
        """
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.outer_active[k] == 0:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                if con.allowed[c] < -con.gap_noise[c]:
                    isl.assumes[k] = 0  # what takes several steps to push apart does not go on as it did
                if isl.outer_count[k] > 0:
                    change = con.mu[c] * slides_by(con, c) - con.shift[c]
                    share = isl.slip_share[k]
                    if isl.law[k] == 0 or (share < scalar(1.0) and change * con.slid[c] >= zero):
                        share = scalar(1.0)
                    con.slid[c] = change
                    con.shift[c] = con.shift[c] + share * change

    @kernel
    def linearise_contacts(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=scalar),
        bodies: BodyArrays,
        con: ContactArrays,
        isl: IslandArrays,
    ):
        """Gap and row velocities at the end pose of the iterate; the bias that makes v = J u + bias exact there."""
        h = settings[step_slot]
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if islands[k] == 0:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                a = con.a[c]
                b = con.b[c]
                phi = gap(con, c, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
                if con.glides[c] == 4:  # these levers go along with the iterate
                    put_levers(bodies, con, c)
                ju = body_velocity(con, c, bodies)
                con.phi[c] = phi
                running = components(con.n[c], con.surface_velocity[c])
                con.v[c] = vec3((phi - con.allowed[c]) / h, ju[1] + running[1], ju[2] + running[2])
                con.bias[c] = vec3((phi - con.allowed[c]) / h - ju[0], running[1], running[2])

    @kernel
    def linearise_contacts_velocity(
        counts: wp.array(dtype=wp.int32), islands: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """Velocity phase: contacts that carried load keep v_n >= the speed of their rebound; the others are off."""
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if islands[k] == 0:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                ju = body_velocity(con, c, bodies)
                bias = -con.rebound_speed[c]
                if con.loaded[c] == 0:
                    bias = scalar(1.0e9)
                running = components(con.n[c], con.surface_velocity[c])
                con.bias[c] = vec3(bias, running[1], running[2])
                con.v[c] = ju + con.bias[c]

    @wp.func(module="axion_contact")
    def apply_contact_law(con: ContactArrays, isl: IslandArrays, c: int, k: int):
        """Impulse, world force and world curvature of a contact for the present velocities."""
        mode = isl.law[k]
        mu = con.mu[c]
        if mode == 0 and isl.inner_count[k] > 0:
            con.radius[c] = mu * con.p[c][0]
        sigma = con.w[c] * isl.eps[k]
        y = proximal_point(con, c, con.v[c], mode, sigma)
        n = con.n[c]
        p = impulse(mode, y, mu, con.radius[c])
        curve = curvature(mode, y, mu, con.radius[c], con.dual[c], 1)
        if isl.assumed[k] == 1 and con.p_centre[c][0] > zero:
            p, curve = going_on(mode, con.p_centre[c], y, mu, p, curve)
        t1 = tangent(n)
        axes = wp.matrix_from_cols(n, t1, wp.cross(n, t1))
        con.p[c] = p
        con.force[c] = world(n, p)
        con.curvature[c] = axes * (curve / sigma) * wp.transpose(axes)

    @kernel
    def contact_forces(
        counts: wp.array(dtype=wp.int32), islands: wp.array(dtype=wp.int32), con: ContactArrays, isl: IslandArrays
    ):
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if islands[k] == 0:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                con.force[c] = world(con.n[c], con.p[c])

    @wp.func(module="axion_contact")
    def contact_direction(bodies: BodyArrays, con: ContactArrays, c: int, dynamic: int):
        """Dv = J d is kept; p . dv of the line search's slope."""
        w = vec3(scalar(0.0))
        if con.a[c] < dynamic:
            w += point_velocity(bodies.d[con.a[c]], con.arm_a[c])
        if con.b[c] < dynamic:
            w -= point_velocity(bodies.d[con.b[c]], con.arm_b[c])
        dv = components(con.n[c], w)
        con.dv[c] = dv
        return wp.dot(dv, con.p[c])

    @wp.func(module="axion_contact")
    def contact_search(con: ContactArrays, isl: IslandArrays, c: int, k: int, alpha: wp.float64):
        """(slope, bend) of the merit function along the Newton direction, at step length alpha."""
        mode = isl.law[k]
        mu = con.mu[c]
        sigma = con.w[c] * isl.eps[k]
        dv = con.dv[c]
        y = proximal_point(con, c, con.v[c] + alpha * dv, mode, sigma)
        p = impulse(mode, y, mu, con.radius[c])
        curve = curvature(mode, y, mu, con.radius[c], wp.vec2d(), 0)
        return wp.vec2d(-wp.dot(p, dv), wp.dot(dv, curve * dv) / sigma)

    @wp.func(module="axion_contact")
    def contact_update(con: ContactArrays, isl: IslandArrays, c: int, k: int, alpha: scalar):
        """Velocity and impulse after a step of that length."""
        mode = isl.law[k]
        sigma = con.w[c] * isl.eps[k]
        step = con.dv[c] * alpha
        y = proximal_point(con, c, con.v[c], mode, sigma)
        v = con.v[c] + step
        r = con.radius[c]
        p = impulse(mode, proximal_point(con, c, v, mode, sigma), con.mu[c], r)
        con.v[c] = v
        con.p[c] = p
        if mode == 0:
            moved = step / sigma
            con.dual[c] = next_dual(y, wp.vec2d(-moved[1], -moved[2]), r, con.dual[c])
        else:
            con.dual[c] = wp.vec2d(p[1], p[2])

    @kernel
    def contact_residual(counts: wp.array(dtype=wp.int32), con: ContactArrays, isl: IslandArrays):
        """Natural maps [m/s]: |min(v_n, w p_n)| and w |p_t - P_{mu p_n}(p_t - v_t / w)|.

        And ``pull``, the part of them that is due to the proximal term: sigma |p - p^|.
        """
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.outer_active[k] == 0:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                p = con.p[c]
                v = con.v[c]
                w = con.w[c]
                r = con.mu[c] * p[0]
                y1 = p[1] - v[1] / w
                y2 = p[2] - v[2] / w
                t = wp.sqrt(y1 * y1 + y2 * y2)
                f = scalar(1.0)
                if t > r:
                    f = r / t
                e1 = p[1] - f * y1
                e2 = p[2] - f * y2
                moved = wp.length(p - con.p_centre[c])
                wp.atomic_max(isl.pull, k, measured(w * isl.eps[k] * moved))
                wp.atomic_max(isl.residual_normal, k, measured(wp.abs(wp.min(v[0], w * p[0]))))
                wp.atomic_max(isl.residual_tangent, k, measured(w * wp.sqrt(e1 * e1 + e2 * e2)))

    @kernel
    def keep_contacts(counts: wp.array(dtype=wp.int32), con: ContactArrays, isl: IslandArrays):
        """End of an outer round: remember or restore the best iterate, move the proximal centre to it."""
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.keep[k] + isl.restore[k] + isl.outer_active[k] == 0:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                if isl.keep[k] == 1:
                    con.p_best[c] = con.p[c]
                if isl.restore[k] == 1:
                    con.p[c] = con.p_best[c]
                if isl.outer_active[k] == 1:
                    p = con.p[c]
                    con.p_centre[c] = p
                    if isl.unload[k] == 1:
                        con.p_centre[c] = vec3(zero, p[1], p[2])
                    con.radius[c] = con.mu[c] * p[0]
                    con.dual[c] = wp.vec2d(p[1], p[2])

    return SimpleNamespace(
        prepare_contacts=prepare_contacts,
        shift_contacts=shift_contacts,
        linearise_contacts=linearise_contacts,
        linearise_contacts_velocity=linearise_contacts_velocity,
        apply_contact_law=apply_contact_law,
        contact_forces=contact_forces,
        contact_direction=contact_direction,
        contact_search=contact_search,
        contact_update=contact_update,
        contact_residual=contact_residual,
        keep_contacts=keep_contacts,
    )
