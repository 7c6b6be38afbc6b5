# SPDX-License-Identifier: GPL-3.0-or-later
"""The Schur complement of Newton's system, as an operator for conjugate residuals: one unknown per row impulse.

Newton's equations for the change of velocity du and of impulse dp, with rows  a J du + b dp = -phi  (0 <= a, 0 <= b;
constraints/complementarity.py) and the momentum residual g = M (u - u_free) - J^T p:

    N du = J^T dp - g                                   N = M + K, K: geometric stiffness of joint anchors
    [J N^-1 J^T + C] dp = -phi / a + J N^-1 g           C = b / a

Rows that do not act have a = 0, so the system is solved for y with s = sqrt(a) and dp = d + s y instead, which stays
symmetric and has no infinities:

    [s J N^-1 J^T s + b + eps a w] y = -(phi + b d) / s - s J N^-1 (J^T d - g),    d = -phi b / (b^2 + (a w)^2)

eps w is Levenberg's shift: redundant rows (a box on four corners) leave J N^-1 J^T singular.  It multiplies the step
alone and vanishes with it, so what is solved stays the same.  J^T is never stored: products walk the constraints around
each body.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import CONTACTS, DYNAMIC, ROWS, BodyArrays, ContactArrays, IslandArrays, RowArrays
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions
from .gradient import momentum_functions

STEP_ONLY, START, WHOLE = 0, 1, 2
"""Which impulses go to the bodies: s y; d, less g; d + s y, less g."""


@cache
def schur_struct(real):
    """The arrays of the system: per contact, per row (both: first unknown), per unknown, per body."""
    scalar, vec3, vec6, mat33 = real.scalar, real.vec3, real.vec6, real.mat33

    @wp.struct
    class SchurArrays:
        contact_slot: wp.array(dtype=wp.int32)  # first of a contact's three unknowns: along n, e, f
        row_slot: wp.array(dtype=wp.int32)
        axis_e: wp.array(dtype=vec3)
        axis_f: wp.array(dtype=vec3)
        value: wp.array(dtype=scalar)  # phi
        slope: wp.array(dtype=scalar)  # a
        shift: wp.array(dtype=scalar)  # b
        root: wp.array(dtype=scalar)  # s
        damping: wp.array(dtype=scalar)  # b + eps a w
        start: wp.array(dtype=scalar)  # d
        right: wp.array(dtype=scalar)
        unknown: wp.array(dtype=scalar)  # y
        inverse_diagonal: wp.array(dtype=scalar)
        velocity: wp.array(dtype=vec6)  # N^-1 (J^T impulse - g) of each body
        inverse_block: wp.array(dtype=mat33)  # angular part of N^-1
        contact_step: wp.array(dtype=vec3)  # dp in (n, t1, t2)
        row_step: wp.array(dtype=scalar)

    return SchurArrays


@cache
def schur_kernels(real):
    """Kernels of the system for one real type."""
    scalar, vec3, vec6, mat33, exact6 = real.scalar, real.vec3, real.vec6, real.mat33, real_types(wp.float64).vec6
    SchurArrays = schur_struct(real)
    math = rotation_functions(real)
    linear, angular, six, tangent = math.linear, math.angular, math.six, math.tangent
    momentum = momentum_functions().momentum
    name = f"axion_schur_{real.name}"
    kernel = wp.kernel(module=name, enable_backward=False)
    contacts_slot, dynamic_slot, rows_slot = wp.constant(CONTACTS), wp.constant(DYNAMIC), wp.constant(ROWS)
    step_only, start_only = wp.constant(STEP_ONLY), wp.constant(START)

    @kernel
    def body_blocks(
        counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, rows: RowArrays, sys: SchurArrays
    ):
        """Momentum residual, as -g, and N^-1 of each body."""
        i = wp.tid()
        if i >= counts[dynamic_slot]:
            return
        bodies.r[i] = -momentum(bodies, con, rows, i)
        sys.inverse_block[i] = wp.inverse(mat33(bodies.inertia[i]) + mat33(bodies.stiffness[i]))

    @wp.func(module=name)
    def impulse(sys: SchurArrays, x: wp.array(dtype=scalar), slot: int, which: int):
        if which == step_only:
            return sys.root[slot] * x[slot]
        if which == start_only:
            return sys.start[slot]
        return sys.start[slot] + sys.root[slot] * x[slot]

    @kernel
    def to_bodies(
        counts: wp.array(dtype=wp.int32), which: int, x: wp.array(dtype=scalar), bodies: BodyArrays,
        con: ContactArrays, rows: RowArrays, sys: SchurArrays,
    ):  # fmt: skip
        """``velocity`` = N^-1 J^T (s x), or N^-1 (J^T (d + s x) - g)."""
        i = wp.tid()
        if i >= counts[dynamic_slot]:
            return
        gl = vec3(scalar(0.0))
        ga = vec3(scalar(0.0))
        for m in range(bodies.contact_start[i], bodies.contact_start[i + 1]):
            c = bodies.contact_index[m]
            slot = sys.contact_slot[c]
            f = (
                vec3(con.n[c]) * impulse(sys, x, slot, which)
                + sys.axis_e[c] * impulse(sys, x, slot + 1, which)
                + sys.axis_f[c] * impulse(sys, x, slot + 2, which)
            )
            arm = con.arm_a[c]
            if con.a[c] != i:
                f = -f
                arm = con.arm_b[c]
            gl += f
            ga += wp.cross(vec3(arm), f)
        for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
            r = bodies.row_index[m]
            jac = vec6(rows.jac_b[r])
            if rows.a[r] == i:
                jac = vec6(rows.jac_a[r])
            p = impulse(sys, x, sys.row_slot[r], which)
            gl += p * linear(jac)
            ga += p * angular(jac)
        if which != step_only:
            gl += linear(vec6(bodies.r[i]))
            ga += angular(vec6(bodies.r[i]))
        sys.velocity[i] = six(gl * scalar(bodies.inverse_mass[i]), sys.inverse_block[i] * ga)

    @wp.func(module=name)
    def contact_velocity(con: ContactArrays, c: int, sys: SchurArrays, dynamic: int):
        """World velocity of body a relative to b at contact c, of ``sys.velocity``."""
        out = vec3(scalar(0.0))
        a = con.a[c]
        b = con.b[c]
        if a < dynamic:
            out += linear(sys.velocity[a]) + wp.cross(angular(sys.velocity[a]), vec3(con.arm_a[c]))
        if b < dynamic:
            out -= linear(sys.velocity[b]) + wp.cross(angular(sys.velocity[b]), vec3(con.arm_b[c]))
        return out

    @wp.func(module=name)
    def row_velocity(rows: RowArrays, r: int, sys: SchurArrays, dynamic: int):
        out = scalar(0.0)
        if rows.a[r] < dynamic:
            out += wp.dot(vec6(rows.jac_a[r]), sys.velocity[rows.a[r]])
        if rows.b[r] < dynamic:
            out += wp.dot(vec6(rows.jac_b[r]), sys.velocity[rows.b[r]])
        return out

    @wp.func(module=name)
    def put(z: wp.array(dtype=scalar), q: int, value: scalar, beta: scalar, y: wp.array(dtype=scalar)):
        z[q] = value
        if beta != scalar(0.0):  # y may hold anything where it does not count
            z[q] = value + beta * y[q]

    @kernel
    def multiply(
        counts: wp.array(dtype=wp.int32), x: wp.array(dtype=scalar), y: wp.array(dtype=scalar),
        z: wp.array(dtype=scalar), alpha: scalar, beta: scalar, con: ContactArrays, rows: RowArrays, sys: SchurArrays,
    ):  # fmt: skip
        """``z`` = alpha (s J velocity + damping x) + beta y, over contacts first and joint rows after them."""
        k = wp.tid()
        if k < counts[contacts_slot]:
            v = contact_velocity(con, k, sys, counts[dynamic_slot])
            slot = sys.contact_slot[k]
            local = vec3(wp.dot(vec3(con.n[k]), v), wp.dot(sys.axis_e[k], v), wp.dot(sys.axis_f[k], v))
            for j in range(3):
                q = slot + j
                put(z, q, alpha * (sys.root[q] * local[j] + sys.damping[q] * x[q]), beta, y)
            return
        r = k - counts[contacts_slot]
        if r < counts[rows_slot]:
            q = sys.row_slot[r]
            along = row_velocity(rows, r, sys, counts[dynamic_slot])
            put(z, q, alpha * (sys.root[q] * along + sys.damping[q] * x[q]), beta, y)

    @wp.func(module=name)
    def point_mass(arm: vec3, e: vec3, bodies: BodyArrays, sys: SchurArrays, i: int):
        turn = wp.cross(arm, e)
        return scalar(bodies.inverse_mass[i]) + wp.dot(turn, sys.inverse_block[i] * turn)

    @wp.func(module=name)
    def body_mass(jac: vec6, bodies: BodyArrays, sys: SchurArrays, i: int):
        turn = angular(jac)
        return scalar(bodies.inverse_mass[i]) * wp.dot(linear(jac), linear(jac)) + wp.dot(
            turn, sys.inverse_block[i] * turn
        )

    @wp.func(module=name)
    def scale(sys: SchurArrays, q: int, w: scalar, shift: scalar, active: int):
        """Scaling, start and diagonal of unknown q whose diagonal in J N^-1 J^T is w."""
        a = sys.slope[q]
        b = sys.shift[q]
        zero = scalar(0.0)
        sys.root[q] = wp.sqrt(a)
        sys.damping[q] = b + a * shift
        sys.start[q] = zero
        sys.right[q] = zero
        sys.unknown[q] = zero
        if active == 1 and b > zero:
            phi = sys.value[q] / (b * b + a * a * w * w)
            sys.start[q] = -phi * b
            sys.right[q] = -phi * a * w * w * sys.root[q]
        elif active == 1:
            sys.right[q] = -sys.value[q] / sys.root[q]
        diagonal = a * w + sys.damping[q]
        sys.inverse_diagonal[q] = zero
        if diagonal > scalar(1.0e-30):
            sys.inverse_diagonal[q] = scalar(1.0) / diagonal

    @kernel
    def scale_rows(
        counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, rows: RowArrays, sys: SchurArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """s, d, damping, the diagonal preconditioner, and -(phi + b d) / s; islands that are done take no step."""
        k = wp.tid()
        n = counts[dynamic_slot]
        if k < counts[contacts_slot]:
            shift = scalar(isl.eps[con.island[k]] * con.w[k])
            active = isl.outer_active[con.island[k]]
            a = con.a[k]
            b = con.b[k]
            for j in range(3):
                e = vec3(con.n[k])
                if j == 1:
                    e = sys.axis_e[k]
                if j == 2:
                    e = sys.axis_f[k]
                w = scalar(0.0)
                if a < n:
                    w += point_mass(vec3(con.arm_a[k]), e, bodies, sys, a)
                if b < n:
                    w += point_mass(vec3(con.arm_b[k]), e, bodies, sys, b)
                scale(sys, sys.contact_slot[k] + j, w, shift, active)
            return
        r = k - counts[contacts_slot]
        if r < counts[rows_slot]:
            w = scalar(0.0)
            if rows.a[r] < n:
                w += body_mass(vec6(rows.jac_a[r]), bodies, sys, rows.a[r])
            if rows.b[r] < n:
                w += body_mass(vec6(rows.jac_b[r]), bodies, sys, rows.b[r])
            soft = scalar(isl.eps_joint[rows.island[r]] * rows.w[r])
            scale(sys, sys.row_slot[r], w, soft, isl.outer_active[rows.island[r]])

    @wp.func(module=name)
    def right_of(sys: SchurArrays, q: int, v: scalar, active: int):
        if active == 1:
            sys.right[q] = sys.right[q] - sys.root[q] * v

    @kernel
    def right_side(
        counts: wp.array(dtype=wp.int32), con: ContactArrays, rows: RowArrays, sys: SchurArrays, isl: IslandArrays
    ):
        """Completes the right-hand side after ``to_bodies`` of START: - s J velocity."""
        k = wp.tid()
        if k < counts[contacts_slot]:
            active = isl.outer_active[con.island[k]]
            v = contact_velocity(con, k, sys, counts[dynamic_slot])
            slot = sys.contact_slot[k]
            right_of(sys, slot, wp.dot(vec3(con.n[k]), v), active)
            right_of(sys, slot + 1, wp.dot(sys.axis_e[k], v), active)
            right_of(sys, slot + 2, wp.dot(sys.axis_f[k], v), active)
            return
        r = k - counts[contacts_slot]
        if r < counts[rows_slot]:
            along = row_velocity(rows, r, sys, counts[dynamic_slot])
            right_of(sys, sys.row_slot[r], along, isl.outer_active[rows.island[r]])

    @kernel
    def read_bodies(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, sys: SchurArrays, isl: IslandArrays):
        """Change du of each body, after ``to_bodies`` of WHOLE."""
        i = wp.tid()
        if i >= counts[dynamic_slot]:
            return
        bodies.d[i] = exact6()
        if isl.outer_active[bodies.island[i]] == 1:
            bodies.d[i] = exact6(sys.velocity[i])

    @kernel
    def read_impulses(counts: wp.array(dtype=wp.int32), con: ContactArrays, sys: SchurArrays):
        """Change dp of each contact in (n, t1, t2), and of each row."""
        k = wp.tid()
        if k < counts[contacts_slot]:
            slot = sys.contact_slot[k]
            q = vec3()
            for j in range(3):
                q[j] = sys.start[slot + j] + sys.root[slot + j] * sys.unknown[slot + j]
            n = vec3(con.n[k])
            t1 = tangent(n)
            t2 = wp.cross(n, t1)
            across = sys.axis_e[k] * q[1] + sys.axis_f[k] * q[2]
            sys.contact_step[k] = vec3(q[0], wp.dot(t1, across), wp.dot(t2, across))
            return
        r = k - counts[contacts_slot]
        if r < counts[rows_slot]:
            slot = sys.row_slot[r]
            sys.row_step[r] = sys.start[slot] + sys.root[slot] * sys.unknown[slot]

    return SimpleNamespace(
        body_blocks=body_blocks, to_bodies=to_bodies, multiply=multiply, scale_rows=scale_rows, right_side=right_side,
        read_bodies=read_bodies, read_impulses=read_impulses,
    )  # fmt: skip
