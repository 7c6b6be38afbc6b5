# SPDX-License-Identifier: GPL-3.0-or-later
"""The laws of contacts and joint rows as equations phi = 0 with derivatives: what Newton in constraint space solves.

    contact    Fischer-Burmeister of gap velocity and normal impulse, and of slip speed and slack of the friction force
    joint row  v + E p = 0 where nothing bounds the impulse, else Fischer-Burmeister towards each bound

Every equation is linearised as  a J du + b dp = -phi  with 0 <= a, 0 <= b (mathx/complementarity.py).  v, p, w, J and
their signs are those of contact.py and joints.py; all phi are velocities [m/s, rad/s].  A contact's equations lie
along n, e and f: normal, direction of friction, across it.  Left out of the derivatives: how friction's reach changes
with the normal impulse (the system would lose its symmetry), how levers turn in contacts; the residual has both.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import CONTACTS, ROWS, ContactArrays, RowArrays
from ..linear.schur import schur_struct
from ..mathx.complementarity import complementarity_functions
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions


@cache
def equation_functions():
    """contact_equations(c, v, p, con) -> ContactEquations; row_equation(r, v, p, rows) -> (phi, a, b)."""
    scalar, vec2, vec3 = wp.float64, wp.vec2d, wp.vec3d
    functions = complementarity_functions()
    fischer_burmeister, bounded, friction = functions.fischer_burmeister, functions.bounded, functions.friction
    name = "axion_equations"

    @wp.struct
    class ContactEquations:
        direction: vec2  # of friction, in (t1, t2)
        normal: vec3  # phi, a, b of each
        along: vec3
        across: vec3

    @wp.func(module=name)
    def contact_equations(con: ContactArrays, c: int, v: vec3, p: vec3, reach: scalar):
        out = ContactEquations()
        w = con.w[c]
        normal = fischer_burmeister(v[0], w * p[0])
        slide = friction(vec2(v[1], v[2]), vec2(p[1], p[2]), w, w * reach)
        out.direction = slide.direction
        out.normal = vec3(normal[0], normal[1], w * normal[2])
        out.along = slide.along
        out.across = slide.across
        return out

    @wp.func(module=name)
    def row_equation(rows: RowArrays, r: int, v: scalar, p: scalar):
        flexible = rows.compliance[r]
        out = bounded(v + flexible * p, p, rows.w[r] + flexible, rows.lower[r], rows.upper[r])
        return vec3(out[0], out[1], out[2] + out[1] * flexible)

    return SimpleNamespace(contact_equations=contact_equations, row_equation=row_equation)


@cache
def complementarity_kernels(real):
    """The kernel ``equations``: all rows of the linear system at the present iterate."""
    exact, scalar = real_types(wp.float64), real.scalar
    SchurArrays = schur_struct(real)
    tangent = rotation_functions(exact).tangent
    functions = equation_functions()
    contact_equations, row_equation = functions.contact_equations, functions.row_equation
    name = f"axion_complementarity_rows_{real.name}"
    contacts_slot, rows_slot = wp.constant(CONTACTS), wp.constant(ROWS)

    @wp.func(module=name)
    def put(sys: SchurArrays, slot: int, row: wp.vec3d):
        sys.value[slot] = scalar(row[0])
        sys.slope[slot] = scalar(row[1])
        sys.shift[slot] = scalar(row[2])

    @wp.kernel(module=name, enable_backward=False)
    def equations(counts: wp.array(dtype=wp.int32), con: ContactArrays, rows: RowArrays, sys: SchurArrays):
        """Phi, a and b of every unknown, and the directions of friction; contacts first, joint rows after them."""
        k = wp.tid()
        if k < counts[contacts_slot]:
            p = con.p[k]
            out = contact_equations(con, k, con.v[k], p, con.mu[k] * wp.max(p[0], wp.float64(0.0)))
            t1 = tangent(con.n[k])
            t2 = wp.cross(con.n[k], t1)
            e = out.direction
            sys.axis_e[k] = real.vec3(t1 * e[0] + t2 * e[1])
            sys.axis_f[k] = real.vec3(t2 * e[0] - t1 * e[1])
            slot = sys.contact_slot[k]
            put(sys, slot, out.normal)
            put(sys, slot + 1, out.along)
            put(sys, slot + 2, out.across)
            return
        r = k - counts[contacts_slot]
        if r < counts[rows_slot]:
            put(sys, sys.row_slot[r], row_equation(rows, r, rows.v[r], rows.p[r]))

    return SimpleNamespace(equations=equations)
