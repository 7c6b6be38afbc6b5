# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that loop over bodies: where an iterate leads, its merit along a direction, velocity from impulses.

Those that serve several stages are told which by ``islands``, a flag for each island.

x+ = x_free + h (v - v_free)        q+ = exp(h (w - w_free)) q_free
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import BODIES, DYNAMIC, STEP, BodyArrays, ContactArrays, IslandArrays, RowArrays
from .lanes import begin, end, end_of_all, island_at, item, turns
from .mathx.real import real_types
from .mathx.rotation import rotation_functions


@cache
def motion_kernels():
    """All kernels over bodies."""
    math = rotation_functions(real_types(wp.float64))
    exponential, matrix, linear, angular, six = math.exponential, math.matrix, math.linear, math.angular, math.six
    one = wp.constant(wp.float64(1.0))
    kernel = wp.kernel(module="axion_motion", enable_backward=False)
    dynamic_slot, bodies_slot, step_slot = wp.constant(DYNAMIC), wp.constant(BODIES), wp.constant(STEP)

    @kernel
    def prepare_bodies(counts: wp.array(dtype=wp.int32), bodies: BodyArrays):
        """Before a solve: the free motion as the first pose, and mass properties in world axes there."""
        at = wp.tid()
        for i in range(begin(at, 0), end_of_all(at, counts[bodies_slot])):
            q = bodies.q_free[i]
            bodies.x[i] = bodies.x_free[i]
            bodies.q[i] = q
            bodies.u_best[i] = bodies.u[i]
            bodies.arc[i] = six(wp.vec3d(), wp.vec3d())
            bodies.pulled[i] = wp.vec3d()
            if i >= counts[dynamic_slot]:
                continue
            axes = matrix(q)
            principal = bodies.principal[i]
            inverse = wp.vec3d(one / principal[0], one / principal[1], one / principal[2])
            bodies.inertia[i] = axes * wp.diag(principal) * wp.transpose(axes)
            bodies.inverse_inertia[i] = axes * wp.diag(inverse) * wp.transpose(axes)
            mass = bodies.mass[i]
            bodies.inverse_mass[i] = one / mass
            bodies.extent[i] = wp.sqrt(wp.max(principal[0], wp.max(principal[1], principal[2])) / mass)

    @kernel
    def integrate(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=wp.float64),
        bodies: BodyArrays,
        isl: IslandArrays,
    ):
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if islands[k] == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                h = settings[step_slot]
                du = bodies.u[i] - bodies.u_free[i]
                bodies.x[i] = bodies.x_free[i] + h * linear(du)
                bodies.q[i] = wp.normalize(exponential(h * angular(du)) * bodies.q_free[i])

    @kernel
    def centre(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, isl: IslandArrays):
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if isl.outer_active[k] == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                bodies.u_centre[i] = bodies.u[i]

    @wp.func(module="axion_motion")
    def body_direction(bodies: BodyArrays, isl: IslandArrays, i: int, k: int):
        """(g . d, d . (M + K) d): slope and bend of the quadratic part of the merit function."""
        d = bodies.d[i]
        turn = angular(d)
        heavier = one + isl.damping[k]
        bend = heavier * bodies.mass[i] * wp.dot(linear(d), linear(d))
        bend += wp.dot(turn, (heavier * bodies.inertia[i] + bodies.stiffness[i]) * turn)
        return wp.vec2d(-wp.dot(d, bodies.r[i]), bend)

    @wp.func(module="axion_motion")
    def body_update(bodies: BodyArrays, i: int, alpha: wp.float64):
        bodies.u[i] = bodies.u[i] + alpha * bodies.d[i]

    @kernel
    def velocity_from_impulses(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        bodies: BodyArrays,
        con: ContactArrays,
        rows: RowArrays,
        isl: IslandArrays,
    ):
        """U = u_free + s + M^-1 J^T p, s of arcs.py: after it momentum is exact by construction."""
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if islands[k] == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                gl = wp.vec3d()
                ga = wp.vec3d()
                for m in range(bodies.contact_start[i], bodies.contact_start[i + 1]):
                    c = bodies.contact_index[m]
                    f = con.force[c]
                    arm = con.arm_a[c]
                    if con.a[c] != i:
                        f = -f
                        arm = con.arm_b[c]
                    gl += f
                    ga += wp.cross(arm, f)
                for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
                    r = bodies.row_index[m]
                    jac = rows.jac_b[r]
                    if rows.a[r] == i:
                        jac = rows.jac_a[r]
                    gl += rows.p[r] * linear(jac)
                    ga += rows.p[r] * angular(jac)
                push = six(gl * bodies.inverse_mass[i], bodies.inverse_inertia[i] * ga)
                bodies.u[i] = bodies.u_free[i] + bodies.arc[i] + push

    @kernel
    def keep_bodies(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, isl: IslandArrays):
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if isl.keep[k] + isl.restore[k] == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                if isl.keep[k] == 1:
                    bodies.u_best[i] = bodies.u[i]
                if isl.restore[k] == 1:
                    bodies.u[i] = bodies.u_best[i]

    return SimpleNamespace(
        prepare_bodies=prepare_bodies,
        integrate=integrate,
        centre=centre,
        body_direction=body_direction,
        body_update=body_update,
        velocity_from_impulses=velocity_from_impulses,
        keep_bodies=keep_bodies,
    )
