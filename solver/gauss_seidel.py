# SPDX-License-Identifier: GPL-3.0-or-later
"""Projected Gauss-Seidel over the contacts of an island without joints (Jourdan, Alart, Jean 1998), one thread each.

Each contact is solved for its normal impulse, then for its two friction impulses on the disc of radius mu p_n.
Velocities are kept up to date, u = u_free + M^-1 J^T p.  A burst of sweeps breaks the cycling of active sets where
Newton stalls in violent motion, and ends what starts near its end; alone it converges far too slowly, and rows of stiff
joints it throws far off.
"""

from functools import cache

import warp as wp

from .arrays import DYNAMIC, ISLANDS, IslandArrays, structs
from .constraints.contact import contact_kernels
from .mathx.rotation import rotation_functions


@cache
def sweep_kernel(real):
    """sweep(counts, rounds, bodies, con, isl) for one real type."""
    scalar, vec3 = real.scalar, real.vec3
    arrays = structs(real)
    BodyArrays, ContactArrays = arrays.BodyArrays, arrays.ContactArrays
    math, contact = rotation_functions(real), contact_kernels(real)
    six, point_velocity = math.six, math.point_velocity
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
        if normal == scalar(0.0) and wp.length_sq(old) == scalar(0.0):
            return  # it stays open, as most do
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

    @wp.kernel(module=name, enable_backward=False)
    def sweep(
        counts: wp.array(dtype=wp.int32),
        rounds: wp.int32,
        bodies: BodyArrays,
        con: ContactArrays,
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

    return sweep
