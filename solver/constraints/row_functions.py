# SPDX-License-Identifier: GPL-3.0-or-later
"""What a joint row measures: its coordinate and its Jacobian at two poses, as Warp functions for the kernels around.

    LINEAR    axis . (anchor b - anchor a)         m      axis fixed in body a
    DOT       axis of a . axis of b                1      rad where it is small
    TWIST     turn of b against a about the axis   rad    within half a turn of its offset; fades where b turns over
    DISTANCE  |anchor b - anchor a|                m

Axes are fixed in body a, so the lever of a LINEAR row on a reaches to b's anchor: that keeps angular momentum.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import BodyArrays, RowArrays
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions
from ..problem import Coordinate
from ..reference.rows import OVER, SWUNG


@cache
def row_functions():
    """measure, midstep, spins, halfway, stepped, vectors, demand, sideways."""
    real = real_types(wp.float64)
    scalar, vec3, quat, vec6 = real.scalar, real.vec3, real.quat, real.vec6
    math = rotation_functions(real)
    six, linear, tangent = math.six, math.linear, math.tangent
    name = "axion_rows"
    LINEAR, DOT, TWIST = (wp.constant(int(Coordinate[name])) for name in ("LINEAR", "DOT", "TWIST"))
    TWO_PI = 6.283185307179586
    SWUNG_R, OVER_R = SWUNG, OVER

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
    def vectors(rows: RowArrays, r: int, xa: wp.vec3d, qa: quat, xb: wp.vec3d, qb: quat):
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
    def turn_between(rows: RowArrays, r: int, qa: quat, qb: quat):
        """How b is turned against a from row r's reference."""
        return wp.quat_inverse(qa) * qb * wp.quat_inverse(rows.reference[r])

    @wp.func(module=name)
    def angle_of(rows: RowArrays, r: int, s: scalar, w: scalar):
        """Angle of the TWIST r, less its offset; s, w: of how b is turned, along the axis."""
        angle = scalar(2.0) * wp.atan2(s, w) - rows.offset[r]
        return angle - scalar(TWO_PI) * wp.round(angle / scalar(TWO_PI)) + rows.offset[r] - rows.offset[r]

    @wp.func(module=name)
    def fade(cosine: scalar):
        """What is left of a TWIST at this cosine of half its swing, and the derivative of that."""
        wide = scalar(SWUNG_R) - scalar(OVER_R)
        part = wp.clamp((cosine - scalar(OVER_R)) / wide, scalar(0.0), scalar(1.0))
        left = part * part * (scalar(3.0) - scalar(2.0) * part)
        return left, scalar(6.0) * part * (scalar(1.0) - part) / wide

    @wp.func(module=name)
    def fading(rows: RowArrays, r: int, v: vec3, s: scalar, w: scalar, whole: vec3, near: scalar):
        """Derivative of the TWIST r where it fades, in a's frame; whole: that of the angle; near: as in jacobian_of."""
        k = rows.axis_a[r]
        cosine = wp.sqrt(w * w + s * s)
        left, slope = fade(cosine)
        other = scalar(1.0) - left
        if wp.isnan(rows.centre[r]):
            return left * whole + other * k
        of_sine = w * k + wp.cross(v, k)  # twice the derivatives of s and w
        of_cosine = -v
        outward = (s * of_sine + w * of_cosine) / wp.max(scalar(2.0) * cosine, scalar(1.0e-15))
        off = scalar(2.0) * wp.atan2(s, w) - rows.offset[r]
        off -= scalar(TWO_PI) * wp.round((off - near) / scalar(TWO_PI)) + rows.centre[r]
        half = wp.atan2(s, w) - scalar(0.5) * off  # of the centre, so many turns on
        smooth = of_sine * wp.cos(half) - of_cosine * wp.sin(half)
        off -= scalar(2.0) * cosine * wp.sin(scalar(0.5) * off)
        return left * whole + other * smooth + off * slope * outward

    @wp.func(module=name)
    def angle_before(rows: RowArrays, r: int, qa: quat, qb: quat, mean_a: quat, mean_b: quat):
        """Angle of the TWIST r, less its offset, at mean orientations before those given, by the way between them."""
        rel = turn_between(rows, r, qa, qb)
        mean = turn_between(rows, r, mean_a, mean_b)
        s = wp.dot(vec3(rel[0], rel[1], rel[2]), rows.axis_a[r])
        mean_s = wp.dot(vec3(mean[0], mean[1], mean[2]), rows.axis_a[r])
        w = rel[3]
        mean_w = mean[3]
        angle = angle_of(rows, r, s, w)
        if wp.dot(rel, mean) < scalar(0.0):
            mean_s = -mean_s
            mean_w = -mean_w
        return angle + scalar(2.0) * wp.atan2(w * mean_s - s * mean_w, w * mean_w + s * mean_s)

    @wp.func(module=name)
    def coordinate_of(rows: RowArrays, r: int, at: Vectors, qa: quat, qb: quat):
        """Coordinate of row r, less its offset; that of a TWIST at the orientations given."""
        coordinate = rows.coordinate[r]
        c = at.length
        if coordinate == LINEAR:
            c = wp.dot(at.axis, at.d)
        if coordinate == DOT:
            c = wp.dot(at.axis, at.other)
        if coordinate == TWIST:
            rel = turn_between(rows, r, qa, qb)
            s = wp.dot(vec3(rel[0], rel[1], rel[2]), rows.axis_a[r])
            angle = angle_of(rows, r, s, rel[3])
            cosine = wp.sqrt(rel[3] * rel[3] + s * s)
            if cosine < scalar(SWUNG_R) and not wp.isnan(rows.centre[r]):
                left, _ = fade(cosine)
                off = angle - rows.centre[r]
                near = scalar(2.0) * cosine * wp.sin(scalar(0.5) * off)
                return rows.centre[r] + left * off + (scalar(1.0) - left) * near
            return angle
        return c - rows.offset[r]

    @wp.func(module=name)
    def jacobian_of(rows: RowArrays, r: int, at: Vectors, qa: quat, qb: quat, near: scalar):
        """Row r with its Jacobian, without its coordinate; that of a TWIST at the orientations given.

        near: angle, less its offset, within half a turn of which a TWIST is.
        """
        out = Row()
        zero = vec3(scalar(0.0))
        coordinate = rows.coordinate[r]
        if coordinate == LINEAR:
            out.jac_a = six(-at.axis, -wp.cross(at.arm_a + at.d, at.axis))
            out.jac_b = six(at.axis, wp.cross(at.arm_b, at.axis))
        elif coordinate == DOT:
            turn = wp.cross(at.other, at.axis)
            out.jac_a = six(zero, -turn)
            out.jac_b = six(zero, turn)
        elif coordinate == TWIST:
            rel = turn_between(rows, r, qa, qb)
            k = rows.axis_a[r]
            v = vec3(rel[0], rel[1], rel[2])
            s = wp.dot(v, k)
            w = rel[3]
            square = w * w + s * s
            local = (w * (w * k + wp.cross(v, k)) + s * v) / wp.max(square, scalar(1.0e-30))
            if square < scalar(SWUNG_R * SWUNG_R):
                local = fading(rows, r, v, s, w, local, near)
            turn = wp.quat_rotate(qa, local)
            out.jac_a = six(zero, -turn)
            out.jac_b = six(zero, turn)
        else:
            along = at.d / wp.max(at.length, scalar(1.0e-12))
            out.jac_a = six(-along, -wp.cross(at.arm_a, along))
            out.jac_b = six(along, wp.cross(at.arm_b, along))
        return out

    @wp.func(module=name)
    def measure(rows: RowArrays, r: int, xa: wp.vec3d, qa: quat, xb: wp.vec3d, qb: quat):
        """Coordinate and Jacobian of row r at the given poses."""
        at = vectors(rows, r, xa, qa, xb, qb)
        row = jacobian_of(rows, r, at, qa, qb, scalar(0.0))
        row.c = coordinate_of(rows, r, at, qa, qb)
        return row

    @wp.func(module=name)
    def mean_rotation(q0: quat, q1: quat):
        if wp.dot(q0, q1) < scalar(0.0):
            return wp.normalize(q0 - q1)
        return wp.normalize(q0 + q1)

    @wp.func(module=name)
    def midstep(rows: RowArrays, r: int, bodies: BodyArrays, dynamic: int):
        """1 where one of the bodies of row r asks for its Jacobian in mid-step, 0 at the end pose."""
        a = rows.a[r]
        b = rows.b[r]
        middle = scalar(0.0)
        if a < dynamic:
            middle = wp.max(middle, bodies.midpoint[a])
        if b < dynamic:
            middle = wp.max(middle, bodies.midpoint[b])
        return middle

    @wp.func(module=name)
    def spins(bodies: BodyArrays, i: int, dynamic: int):
        """Whether body i has a ``spin``."""
        if i >= dynamic:
            return False
        return wp.length_sq(bodies.spin[i]) > scalar(0.0)

    @wp.func(module=name)
    def early_turn(coordinate: int, at: Vectors, start: Vectors, jac_a: vec6, jac_b: vec6, second: bool):
        """Jacobian of body a, or b (``second``), with its lever of the start: what a body with a spin feels."""
        if coordinate == TWIST:
            return wp.where(second, jac_b, jac_a)
        force = linear(jac_b)
        lever = start.arm_a
        if coordinate == LINEAR:
            lever = start.arm_a + start.d
        if coordinate == DOT:
            if second:
                return six(force, wp.cross(start.other, at.axis))
            return six(force, -wp.cross(at.other, start.axis))
        if second:
            return six(force, wp.cross(start.arm_b, force))
        return six(-force, -wp.cross(lever, force))

    @wp.func(module=name)
    def mean_vectors(start: Vectors, end: Vectors):
        """Half way between those of two poses."""
        half = scalar(0.5)
        out = Vectors()
        out.arm_a = half * (start.arm_a + end.arm_a)
        out.arm_b = half * (start.arm_b + end.arm_b)
        out.d = half * (start.d + end.d)
        out.axis = half * (start.axis + end.axis)
        out.other = half * (start.other + end.other)
        out.length = half * (start.length + end.length)
        return out

    @wp.func(module=name)
    def between(rows: RowArrays, r: int, bodies: BodyArrays, at: Vectors, qa: quat, qb: quat):
        """Row r with its Jacobian in mid-step of a step to the given end orientations, where vectors are ``at``."""
        if rows.coordinate[r] != TWIST:
            return jacobian_of(rows, r, at, qa, qb, scalar(0.0))
        mean_a = mean_rotation(bodies.q0[rows.a[r]], qa)
        mean_b = mean_rotation(bodies.q0[rows.b[r]], qb)
        return jacobian_of(rows, r, at, mean_a, mean_b, angle_before(rows, r, qa, qb, mean_a, mean_b))

    @wp.func(module=name)
    def halfway(rows: RowArrays, r: int, bodies: BodyArrays, xa: wp.vec3d, qa: quat, xb: wp.vec3d, qb: quat):
        """Row r with its Jacobian in mid-step of a step to the given end poses."""
        a = rows.a[r]
        b = rows.b[r]
        start = vectors(rows, r, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b])
        return between(rows, r, bodies, mean_vectors(start, vectors(rows, r, xa, qa, xb, qb)), qa, qb)

    @wp.func(module=name)
    def stepped(
        rows: RowArrays, r: int, bodies: BodyArrays, dynamic: int, xa: wp.vec3d, qa: quat, xb: wp.vec3d, qb: quat
    ):  # fmt: skip
        """Coordinate of row r at the given end poses; its Jacobian there, or in mid-step as bodies feel it."""
        a = rows.a[r]
        b = rows.b[r]
        end = vectors(rows, r, xa, qa, xb, qb)
        row = Row()
        if midstep(rows, r, bodies, dynamic) > scalar(0.0):
            start = vectors(rows, r, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b])
            at = mean_vectors(start, end)
            row = between(rows, r, bodies, at, qa, qb)
            early_a = spins(bodies, a, dynamic)
            early_b = spins(bodies, b, dynamic)
            if early_a or early_b:
                mid = row
                if early_a:
                    row.jac_a = early_turn(rows.coordinate[r], at, start, mid.jac_a, mid.jac_b, False)
                if early_b:
                    row.jac_b = early_turn(rows.coordinate[r], at, start, mid.jac_a, mid.jac_b, True)
        else:
            row = jacobian_of(rows, r, end, qa, qb, scalar(0.0))
        row.c = coordinate_of(rows, r, end, qa, qb)
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

    return SimpleNamespace(
        measure=measure,
        midstep=midstep,
        spins=spins,
        halfway=halfway,
        stepped=stepped,
        vectors=vectors,
        demand=demand,
        sideways=sideways,
    )
