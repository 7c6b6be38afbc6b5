# SPDX-License-Identifier: GPL-3.0-or-later
"""Projected Gauss-Seidel over the contacts and joint rows of an island (Jourdan, Alart, Jean 1998), one thread each.

Each contact is solved for its normal impulse, then for its two friction impulses on the disc of radius mu p_n; each
row for its own impulse.  Velocities are kept up to date, u = u_free + M^-1 J^T p.  A burst of sweeps breaks the
cycling of active sets where Newton stalls in violent motion; alone it converges far too slowly.
"""

from functools import cache

import warp as wp

from .arrays import DYNAMIC, ISLANDS, IslandArrays, structs
from .constraints.contact import contact_kernels
from .mathx.rotation import rotation_functions


@cache
def sweep_kernel(real):
    """sweep(counts, rounds, bodies, con, rows, isl) for one real type."""
    scalar, vec3 = real.scalar, real.vec3
    arrays = structs(real)
    BodyArrays, ContactArrays, RowArrays = arrays.BodyArrays, arrays.ContactArrays, arrays.RowArrays
    math, contact = rotation_functions(real), contact_kernels(real)
    linear, angular, six, point_velocity = math.linear, math.angular, math.six, math.point_velocity
    components, world = contact.components, contact.world
    name = f"axion_sweep_{real.name}"
    dynamic_slot, islands_slot = wp.constant(DYNAMIC), wp.constant(ISLANDS)

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
        normal = wp.max(scalar(0.0), old[0] - v[0] / con.w_normal[c])
        change = world(n, vec3(normal - old[0], scalar(0.0), scalar(0.0)))
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
        change = world(n, vec3(scalar(0.0), y1 - old[1], y2 - old[2]))
        if a < dynamic:
            push(bodies, a, change, arm_a)
        if b < dynamic:
            push(bodies, b, -change, arm_b)
        con.p[c] = vec3(normal, y1, y2)

    @wp.func(module=name)
    def sweep_row(r: int, dynamic: int, bodies: BodyArrays, rows: RowArrays):
        a = rows.a[r]
        b = rows.b[r]
        old = rows.p[r]
        v = wp.dot(rows.jac_a[r], bodies.u[a]) + wp.dot(rows.jac_b[r], bodies.u[b]) + rows.bias[r]
        free = old - (v + rows.compliance[r] * old) / (rows.w[r] + rows.compliance[r])
        p = wp.clamp(free, rows.lower[r], rows.upper[r])
        change = p - old
        if a < dynamic:
            jac = rows.jac_a[r] * change
            bodies.u[a] = bodies.u[a] + six(
                linear(jac) * bodies.inverse_mass[a], bodies.inverse_inertia[a] * angular(jac)
            )
        if b < dynamic:
            jac = rows.jac_b[r] * change
            bodies.u[b] = bodies.u[b] + six(
                linear(jac) * bodies.inverse_mass[b], bodies.inverse_inertia[b] * angular(jac)
            )
        rows.p[r] = p

    @wp.kernel(module=name, enable_backward=False)
    def sweep(
        counts: wp.array(dtype=wp.int32),
        rounds: wp.int32,
        bodies: BodyArrays,
        con: ContactArrays,
        rows: RowArrays,
        isl: IslandArrays,
    ):
        k = wp.tid()
        if k >= counts[islands_slot]:
            return
        if isl.sweep_active[k] == 0:
            return
        dynamic = counts[dynamic_slot]
        for _round in range(rounds):
            for c in range(isl.contact_start[k], isl.contact_start[k + 1]):
                sweep_contact(c, dynamic, bodies, con)
            for m in range(isl.row_start[k], isl.row_start[k + 1]):
                sweep_row(isl.row_index[m], dynamic, bodies, rows)

    return sweep
