# SPDX-License-Identifier: GPL-3.0-or-later
"""What a contact measures: its axes, levers, gap and velocities, as Warp functions for the kernels around.

An impulse or velocity of a contact has the components (n, t1, t2), along its normal and two tangents; ``glides`` tells
how its levers go (gliding.py).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import BodyArrays, ContactArrays
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions
from ..problem import Lever


@cache
def contact_functions():
    """components, world, arm_mass, rolled_on, core_way, gap, body_velocity, slip, lever."""
    real = real_types(wp.float64)
    scalar, vec3, quat, vec6 = real.scalar, real.vec3, real.quat, real.vec6
    math = rotation_functions(real)
    AT_START, HALFWAY, RIM, MADE = (wp.constant(int(Lever[name])) for name in ("START", "HALFWAY", "RIM", "MADE"))
    tangent, midway, point_velocity = math.tangent, math.midway, math.point_velocity

    @wp.func(module="axion_contact")
    def components(n: vec3, w: vec3):
        t1 = tangent(n)
        return vec3(wp.dot(n, w), wp.dot(t1, w), wp.dot(wp.cross(n, t1), w))

    @wp.func(module="axion_contact")
    def world(n: vec3, p: vec3):
        t1 = tangent(n)
        return n * p[0] + t1 * p[1] + wp.cross(n, t1) * p[2]

    @wp.func(module="axion_contact")
    def arm_mass(arm: vec3, e: vec3, bodies: BodyArrays, i: int):
        c = wp.cross(arm, e)
        return wp.dot(c, bodies.inverse_inertia[i] * c)

    @wp.func(module="axion_contact")
    def rolled_on(con: ContactArrays, c: int, i: int, q: quat, outward: vec3):
        """From the point of body i, turned with it, to the place of its rim that is outermost at the orientation q."""
        if i != wp.min(con.a[c], con.b[c]):
            return vec3(scalar(0.0))
        axis = wp.quat_rotate(q, con.rim_axis[c])
        arm = con.rim_arm[c]
        across = wp.normalize(outward - wp.dot(outward, axis) * axis)
        return wp.length(arm) * across - wp.quat_rotate(q, arm)

    @wp.func(module="axion_contact")
    def core_way(con: ContactArrays, c: int, xa: vec3, qa: quat, xb: vec3, qb: quat):
        """From the core of b to that of a, square to the axes along which they may go, see round_cores.py."""
        way = xa + wp.quat_rotate(qa, con.point_a[c]) - xb - wp.quat_rotate(qb, con.point_b[c])
        e = wp.quat_rotate(qa, con.core_axis_a[c])
        f = wp.quat_rotate(qb, con.core_axis_b[c])
        f = wp.normalize(f - wp.dot(e, f) * e)
        way -= wp.dot(e, way) * e
        return way - wp.dot(f, way) * f

    @wp.func(module="axion_contact")
    def gap(con: ContactArrays, c: int, xa: vec3, qa: quat, xb: vec3, qb: quat):
        n = con.n[c]
        if con.core_reach[c] > scalar(0.0):
            way = core_way(con, c, xa, qa, xb, qb)
            return wp.where(wp.dot(n, way) < scalar(0.0), -wp.length(way), wp.length(way)) - con.core_reach[c]
        if con.face[c] >= 0:
            turn = qb
            if con.face[c] == con.a[c]:
                turn = qa
            n = wp.quat_rotate(turn, con.face_normal[c])
        on_a = wp.quat_rotate(qa, con.point_a[c])
        on_b = wp.quat_rotate(qb, con.point_b[c])
        if con.glides[c] == 3:
            on_a += rolled_on(con, c, con.a[c], qa, -n)
            on_b += rolled_on(con, c, con.b[c], qb, n)
        apart = xa + on_a - xb - on_b
        return wp.dot(n, apart) - con.margin_a[c] - con.margin_b[c]

    @wp.func(module="axion_contact")
    def body_velocity(con: ContactArrays, c: int, bodies: BodyArrays):
        """J u: velocity of body a relative to b, along (n, t1, t2)."""
        on_a = point_velocity(bodies.u[con.a[c]], con.arm_a[c])
        return components(con.n[c], on_a - point_velocity(bodies.u[con.b[c]], con.arm_b[c]))

    @wp.func(module="axion_contact")
    def slip(con: ContactArrays, c: int, of_a: vec6, of_b: vec6):
        """Speed along a contact [m/s], of bodies with these velocities."""
        v = point_velocity(of_a, con.arm_a[c]) - point_velocity(of_b, con.arm_b[c]) + con.surface_velocity[c]
        return wp.length(v - wp.dot(con.n[c], v) * con.n[c])

    @wp.func(module="axion_contact")
    def lever(con: ContactArrays, c: int, bodies: BodyArrays, i: int, point: vec3, outward: vec3):
        """From the centre of body i to a point of it: at the start, half way to the free pose, or the mean of the way,
        to the free pose or to that of the iterate.

        Simpson's mean: times the spin and the step it is the chord along which the point goes.
        """
        ends = con.glides[c]
        start = wp.quat_rotate(bodies.q0[i], point)
        if ends == AT_START:
            return start
        last = bodies.q_free[i]
        if ends == MADE:
            last = bodies.q[i]
        half = midway(bodies.q0[i], last)
        middle = wp.quat_rotate(half, point)
        if ends == RIM:
            middle += rolled_on(con, c, i, half, outward)
        if ends == HALFWAY or ends == RIM:
            return middle
        return (start + scalar(4.0) * middle + wp.quat_rotate(last, point)) / scalar(6.0)

    return SimpleNamespace(
        components=components, world=world, arm_mass=arm_mass, rolled_on=rolled_on,
        core_way=core_way, gap=gap, body_velocity=body_velocity, slip=slip, lever=lever,
    )  # fmt: skip
