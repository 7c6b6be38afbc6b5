# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint rows on the device: every joint is a list of scalar rows (problem.JointRows); kernels know rows, not joints.

    law       sigma (p - p^) + v + E p = 0, clipped to lower <= p <= upper        E: compliance [1/kg]
    row       v = beta (c(q+) - target) / h + (1 - beta) J u - target_velocity    c: its coordinate
    J         at the end pose, or in mid-step where a body asks for it (``midpoint``): it keeps energy
    impulse   p acts along +J_b^T on body b and +J_a^T on body a; LINEAR: +axis on b at the anchor, -axis on a

Axes are fixed in body a, so the lever of a LINEAR row on a reaches to b's anchor: that keeps angular momentum.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import DYNAMIC, ROWS, STEP, IslandArrays, structs
from ..mathx.rotation import rotation_functions
from ..problem import Coordinate


@cache
def joint_kernels(real):
    """All kernels that loop over joint rows, for one real type."""
    scalar, vec3, quat, vec6 = real.scalar, real.vec3, real.quat, real.vec6
    arrays = structs(real)
    BodyArrays, RowArrays = arrays.BodyArrays, arrays.RowArrays
    math = rotation_functions(real)
    six, measured, linear, tangent = math.six, math.measured, math.linear, math.tangent
    name = f"axion_joints_{real.name}"
    kernel = wp.kernel(module=name, enable_backward=False)
    rows_slot, dynamic_slot, step_slot = wp.constant(ROWS), wp.constant(DYNAMIC), wp.constant(STEP)
    LINEAR, DOT, TWIST, DISTANCE = (
        wp.constant(int(Coordinate[name])) for name in ("LINEAR", "DOT", "TWIST", "DISTANCE")
    )
    TWO_PI = 6.283185307179586

    @wp.struct
    class Row:
        c: scalar
        jac_a: vec6
        jac_b: vec6

    @wp.struct
    class Vectors:
        arm_a: vec3
        arm_b: vec3
        d: vec3
        axis: vec3
        other: vec3
        length: scalar

    @wp.func(module=name)
    def vectors(rows: RowArrays, r: int, xa: vec3, qa: quat, xb: vec3, qb: quat):
        """Levers, separation and axes of row r at the given poses, in world axes."""
        out = Vectors()
        out.arm_a = wp.quat_rotate(qa, rows.anchor_a[r])
        out.arm_b = wp.quat_rotate(qb, rows.anchor_b[r])
        out.d = xb + out.arm_b - xa - out.arm_a
        out.axis = wp.quat_rotate(qa, rows.axis_a[r])
        out.other = wp.quat_rotate(qb, rows.axis_b[r])
        out.length = wp.length(out.d)
        return out

    @wp.func(module=name)
    def row_of(rows: RowArrays, r: int, at: Vectors, qa: quat, qb: quat):
        """Coordinate and Jacobian of row r; those of a TWIST at the orientations given."""
        out = Row()
        zero = vec3(scalar(0.0))
        coordinate = rows.coordinate[r]
        if coordinate == LINEAR:
            out.c = wp.dot(at.axis, at.d)
            out.jac_a = six(-at.axis, -wp.cross(at.arm_a + at.d, at.axis))
            out.jac_b = six(at.axis, wp.cross(at.arm_b, at.axis))
        elif coordinate == DOT:
            turn = wp.cross(at.other, at.axis)
            out.c = wp.dot(at.axis, at.other)
            out.jac_a = six(zero, -turn)
            out.jac_b = six(zero, turn)
        elif coordinate == TWIST:
            rel = wp.quat_inverse(qa) * qb * wp.quat_inverse(rows.reference[r])
            k = rows.axis_a[r]
            v = vec3(rel[0], rel[1], rel[2])
            s = wp.dot(v, k)
            w = rel[3]
            turn = wp.quat_rotate(qa, (w * (w * k + wp.cross(v, k)) + s * v) / wp.max(w * w + s * s, scalar(1.0e-30)))
            angle = scalar(2.0) * wp.atan2(s, w) - rows.offset[r]
            out.c = angle - scalar(TWO_PI) * wp.round(angle / scalar(TWO_PI)) + rows.offset[r]
            out.jac_a = six(zero, -turn)
            out.jac_b = six(zero, turn)
        else:
            along = at.d / wp.max(at.length, scalar(1.0e-12))
            out.c = at.length
            out.jac_a = six(-along, -wp.cross(at.arm_a, along))
            out.jac_b = six(along, wp.cross(at.arm_b, along))
        out.c = out.c - rows.offset[r]
        return out

    @wp.func(module=name)
    def measure(rows: RowArrays, r: int, xa: vec3, qa: quat, xb: vec3, qb: quat):
        """Coordinate and Jacobian of row r at the given poses."""
        return row_of(rows, r, vectors(rows, r, xa, qa, xb, qb), qa, qb)

    @wp.func(module=name)
    def body_mass(jac: vec6, bodies: BodyArrays, i: int):
        t = vec3(jac[3], jac[4], jac[5])
        f = vec3(jac[0], jac[1], jac[2])
        return bodies.inverse_mass[i] * wp.dot(f, f) + wp.dot(t, bodies.inverse_inertia[i] * t)

    @wp.func(module=name)
    def mean_rotation(q0: quat, q1: quat):
        if wp.dot(q0, q1) < scalar(0.0):
            return wp.normalize(q0 - q1)
        return wp.normalize(q0 + q1)

    @wp.func(module=name)
    def clipped(p: scalar, rows: RowArrays, r: int):
        return wp.clamp(p, rows.lower[r], rows.upper[r])

    @wp.func(module=name)
    def stepped(
        rows: RowArrays, r: int, bodies: BodyArrays, dynamic: int, xa: vec3, qa: quat, xb: vec3, qb: quat
    ):  # fmt: skip
        """Coordinate of row r at the given end poses; its Jacobian there, or in mid-step."""
        a = rows.a[r]
        b = rows.b[r]
        row = measure(rows, r, xa, qa, xb, qb)
        middle = scalar(0.0)
        if a < dynamic:
            middle = wp.max(middle, bodies.midpoint[a])
        if b < dynamic:
            middle = wp.max(middle, bodies.midpoint[b])
        if middle > scalar(0.0):
            at = vectors(rows, r, xa, qa, xb, qb)
            start = vectors(rows, r, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b])
            half = scalar(0.5)
            at.arm_a = half * (start.arm_a + at.arm_a)
            at.arm_b = half * (start.arm_b + at.arm_b)
            at.d = half * (start.d + at.d)
            at.axis = half * (start.axis + at.axis)
            at.other = half * (start.other + at.other)
            at.length = half * (start.length + at.length)
            mid = row_of(rows, r, at, mean_rotation(bodies.q0[a], qa), mean_rotation(bodies.q0[b], qb))
            row.jac_a = mid.jac_a
            row.jac_b = mid.jac_b
        return row

    @wp.func(module=name)
    def demand(rows: RowArrays, r: int, c: scalar, ju: scalar, h: scalar):
        """What a row asks to vanish: v = beta (c - target) / h + (1 - beta) J u - target_velocity."""
        beta = rows.beta[r]
        return beta * (c - rows.target[r]) / h + (scalar(1.0) - beta) * ju - rows.target_velocity[r]

    @wp.func(module=name)
    def sideways(rows: RowArrays, r: int, bodies: BodyArrays, i: int, second: int):
        """Row of body i, one of the two of row r, for what its anchors move against each other across its direction."""
        e = wp.normalize(linear(rows.jac_b[r]))
        t = tangent(e)
        if second == 1:
            t = wp.cross(e, t)
        if rows.a[r] == i:
            return six(-t, -wp.cross(wp.quat_rotate(bodies.q[i], rows.anchor_a[r]), t))
        return six(t, wp.cross(wp.quat_rotate(bodies.q[i], rows.anchor_b[r]), t))

    @kernel
    def prepare_rows(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, rows: RowArrays):
        """Effective inverse mass and start impulse, at the start pose.

        The proximal centre starts at zero all the same: what redundant joints do against each other cancels out of
        every equation, so a centre handed on from step to step would pile it up.  The start impulse serves K.
        """
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        a = rows.a[r]
        b = rows.b[r]
        row = measure(rows, r, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b])
        w = scalar(0.0)
        if a < counts[dynamic_slot]:
            w += body_mass(row.jac_a, bodies, a)
        if b < counts[dynamic_slot]:
            w += body_mass(row.jac_b, bodies, b)
        rows.w[r] = wp.max(w, scalar(1.0e-30))
        p = clipped(rows.start_impulse[r], rows, r)
        rows.p[r] = p
        rows.p_centre[r] = scalar(0.0)
        rows.p_best[r] = p
        rows.turning[r] = scalar(0.0)

    @kernel
    def linearise_rows(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=scalar),
        bodies: BodyArrays,
        rows: RowArrays,
    ):
        """Row velocities at the end pose of the present iterate, Jacobians, and the bias with v = J u + bias there."""
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        if islands[rows.island[r]] == 0:
            return
        a = rows.a[r]
        b = rows.b[r]
        row = stepped(rows, r, bodies, counts[dynamic_slot], bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
        ju = wp.dot(row.jac_a, bodies.u[a]) + wp.dot(row.jac_b, bodies.u[b])
        v = demand(rows, r, row.c, ju, settings[step_slot])
        rows.jac_a[r] = row.jac_a
        rows.jac_b[r] = row.jac_b
        rows.v[r] = v
        rows.bias[r] = v - ju

    @kernel
    def turn_rows(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=scalar),
        bodies: BodyArrays,
        rows: RowArrays,
    ):
        """How stiff the pull of a DISTANCE makes it across its direction, which turns with its anchors: h T / L."""
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        if islands[rows.island[r]] == 0 or rows.coordinate[r] != DISTANCE:
            return
        a = rows.a[r]
        b = rows.b[r]
        length = vectors(rows, r, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b]).length
        share = scalar(1.0) - scalar(0.5) * wp.max(bodies.midpoint[a], bodies.midpoint[b])
        rows.turning[r] = scalar(0.0)
        if rows.p[r] < scalar(0.0) and length > scalar(0.0):
            rows.turning[r] = -settings[step_slot] * share * rows.p[r] / length

    @kernel
    def linearise_rows_velocity(
        counts: wp.array(dtype=wp.int32), islands: wp.array(dtype=wp.int32), bodies: BodyArrays, rows: RowArrays
    ):
        """Velocity phase: the directions of the end pose, v = J u - target_velocity."""
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        if islands[rows.island[r]] == 0:
            return
        a = rows.a[r]
        b = rows.b[r]
        row = measure(rows, r, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
        rows.jac_a[r] = row.jac_a
        rows.jac_b[r] = row.jac_b
        rows.bias[r] = -rows.target_velocity[r]
        rows.v[r] = wp.dot(row.jac_a, bodies.u[a]) + wp.dot(row.jac_b, bodies.u[b]) - rows.target_velocity[r]

    @kernel
    def apply_row_law(counts: wp.array(dtype=wp.int32), rows: RowArrays, isl: IslandArrays):
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        k = rows.island[r]
        if isl.inner_active[k] == 0:
            return
        sigma = rows.w[r] * scalar(isl.eps_joint[k])
        stiff = scalar(1.0) / (sigma + rows.compliance[r])
        free = (sigma * rows.p_centre[r] - rows.v[r]) * stiff
        rows.p[r] = clipped(free, rows, r)
        rows.curvature[r] = scalar(0.0)
        if free > rows.lower[r] and free < rows.upper[r]:
            rows.curvature[r] = stiff

    @kernel
    def row_direction(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, rows: RowArrays, isl: IslandArrays):
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        k = rows.island[r]
        if isl.inner_active[k] == 0:
            return
        a = rows.a[r]
        b = rows.b[r]
        dv = scalar(0.0)
        if a < counts[dynamic_slot]:
            dv += wp.dot(rows.jac_a[r], bodies.d[a])
        if b < counts[dynamic_slot]:
            dv += wp.dot(rows.jac_b[r], bodies.d[b])
        rows.dv[r] = dv
        wp.atomic_add(isl.slope_base, k, wp.float64(dv * rows.p[r]))

    @kernel
    def turn_direction(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, rows: RowArrays, isl: IslandArrays):
        """The part of what ``turn_rows`` found in the bend along the direction."""
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        k = rows.island[r]
        if isl.inner_active[k] == 0 or rows.turning[r] == scalar(0.0):
            return
        a = rows.a[r]
        b = rows.b[r]
        for t in range(2):
            way = scalar(0.0)
            if a < counts[dynamic_slot]:
                way += wp.dot(sideways(rows, r, bodies, a, t), bodies.d[a])
            if b < counts[dynamic_slot]:
                way += wp.dot(sideways(rows, r, bodies, b, t), bodies.d[b])
            wp.atomic_add(isl.bend_base, k, wp.float64(rows.turning[r] * way * way))

    @kernel
    def row_search(counts: wp.array(dtype=wp.int32), rows: RowArrays, isl: IslandArrays):
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        k = rows.island[r]
        if isl.search_active[k] == 0:
            return
        sigma = rows.w[r] * scalar(isl.eps_joint[k])
        stiff = scalar(1.0) / (sigma + rows.compliance[r])
        dv = rows.dv[r]
        free = (sigma * rows.p_centre[r] - rows.v[r] - scalar(isl.alpha[k]) * dv) * stiff
        wp.atomic_add(isl.slope, k, wp.float64(-clipped(free, rows, r) * dv))
        if free > rows.lower[r] and free < rows.upper[r]:
            wp.atomic_add(isl.bend, k, wp.float64(dv * dv * stiff))

    @kernel
    def row_update(counts: wp.array(dtype=wp.int32), rows: RowArrays, isl: IslandArrays):
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        k = rows.island[r]
        if isl.inner_active[k] == 0:
            return
        sigma = rows.w[r] * scalar(isl.eps_joint[k])
        v = rows.v[r] + scalar(isl.alpha[k]) * rows.dv[r]
        rows.v[r] = v
        rows.p[r] = clipped((sigma * rows.p_centre[r] - v) / (sigma + rows.compliance[r]), rows, r)

    @kernel
    def row_residual(counts: wp.array(dtype=wp.int32), rows: RowArrays, isl: IslandArrays):
        """Natural map of the clipped law [m/s]: |v + E p| between the bounds; at a bound only the wrong sign counts."""
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        k = rows.island[r]
        if isl.outer_active[k] == 0:
            return
        p = rows.p[r]
        w = rows.w[r] + rows.compliance[r]
        slip = rows.v[r] + rows.compliance[r] * p
        error = (p - clipped(p - slip / w, rows, r)) * w
        wp.atomic_max(isl.residual_joint, k, measured(wp.abs(error) * rows.share[r]))

    @kernel
    def keep_rows(counts: wp.array(dtype=wp.int32), rows: RowArrays, isl: IslandArrays):
        r = wp.tid()
        if r >= counts[rows_slot]:
            return
        k = rows.island[r]
        if isl.keep[k] == 1:
            rows.p_best[r] = rows.p[r]
        if isl.restore[k] == 1:
            rows.p[r] = rows.p_best[r]
        if isl.outer_active[k] == 1:
            rows.p_centre[r] = rows.p[r]

    return SimpleNamespace(
        prepare_rows=prepare_rows,
        linearise_rows=linearise_rows,
        turn_rows=turn_rows,
        turn_direction=turn_direction,
        sideways=sideways,
        linearise_rows_velocity=linearise_rows_velocity,
        apply_row_law=apply_row_law,
        row_direction=row_direction,
        row_search=row_search,
        row_update=row_update,
        row_residual=row_residual,
        keep_rows=keep_rows,
        measure=measure,
        stepped=stepped,
        demand=demand,
    )
