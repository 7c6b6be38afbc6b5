# SPDX-License-Identifier: GPL-3.0-or-later
"""Complementarity as equations: Fischer-Burmeister functions with their derivatives.

    phi(a, b) = a + b - sqrt(a^2 + b^2)         zero exactly where 0 <= a, 0 <= b and a b = 0 (Fischer 1992)

Every function returns what is to become zero together with its derivatives, which are never negative: that keeps the
linear system of Newton's method symmetric and positive.

    bounded    lower <= p <= upper with v = 0 between the bounds, v >= 0 at the lower and v <= 0 at the upper one:
               phi(w (p - lower), -phi(w (upper - p), -v)) (Billups 1995); v itself where there are no bounds
    friction   Coulomb's law in the plane: with y = w p - v, e = y / |y| and f at right angles to it,
                   along e    -phi(-e.v, reach - w e.p)            slip speed against the slack of the friction force
                   across     f.v                                  equal to w f.p by the choice of e, so both vanish
               reach = w mu p_n.  Its roots have v = -|v| e and p = mu p_n e, or v = 0 and |p| <= mu p_n: maximum
               dissipation.  Nothing is divided by the impulse, so a contact whose impulse left the disc comes back.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

HALF_ROOT = 0.7071067811865476
ORIGIN = 1e-9
"""Closer to the origin than this [m/s] the arguments are rounding, and so would be a choice between them."""


@cache
def complementarity_functions():
    """fischer_burmeister(a, b), bounded(v, p, w, lower, upper) -> (value, d/dv, d/dp), friction(v, p, w, reach)."""
    scalar, vec2, vec3 = wp.float64, wp.vec2d, wp.vec3d
    module = "axion_complementarity"

    @wp.func(module=module)
    def fischer_burmeister(a: scalar, b: scalar):
        """(phi, d/da, d/db), without cancellation where a or b is large; at the origin one of its subgradients."""
        s = wp.sqrt(a * a + b * b)
        if s < scalar(ORIGIN):
            half = scalar(1.0 - HALF_ROOT)
            return vec3(a + b - s, half, half)
        value = a + b - s
        if a + b > scalar(0.0):
            value = scalar(2.0) * a * b / (a + b + s)
        da = scalar(1.0) - a / s
        if a > scalar(0.0):
            da = b * b / (s * (s + a))
        db = scalar(1.0) - b / s
        if b > scalar(0.0):
            db = a * a / (s * (s + b))
        return vec3(value, da, db)

    @wp.func(module=module)
    def bounded(v: scalar, p: scalar, w: scalar, lower: scalar, upper: scalar):
        """(value, d/dv, d/dp) for an impulse between bounds, either of which may be infinite."""
        below = wp.isfinite(lower)
        above = wp.isfinite(upper)
        if below and above:
            inner = fischer_burmeister(w * (upper - p), -v)
            outer = fischer_burmeister(w * (p - lower), -inner[0])
            return vec3(outer[0], outer[2] * inner[2], w * (outer[1] + outer[2] * inner[1]))
        if below:
            one = fischer_burmeister(v, w * (p - lower))
            return vec3(one[0], one[1], w * one[2])
        if above:
            one = fischer_burmeister(-v, w * (upper - p))
            return vec3(-one[0], one[1], w * one[2])
        return vec3(v, scalar(1.0), scalar(0.0))

    @wp.struct
    class Friction:
        direction: vec2  # e; f = (-e_2, e_1)
        along: vec3  # value, d/d(e.v), d/d(e.p)
        across: vec3  # value, d/d(f.v), d/d(f.p)

    @wp.func(module=module)
    def friction(v: vec2, p: vec2, w: scalar, reach: scalar):
        """The two equations of a contact's friction and their derivatives at fixed ``reach`` and e."""
        out = Friction()
        y = w * p - v
        t = wp.length(y)
        e = vec2(scalar(1.0), scalar(0.0))
        if t > scalar(1.0e-18):
            e = y / t
        one = fischer_burmeister(-wp.dot(e, v), reach - w * wp.dot(e, p))
        stick = scalar(1.0)
        if t > reach:
            stick = wp.max(reach, scalar(0.0)) / t
        out.direction = e
        out.along = vec3(-one[0], one[1], w * one[2])
        out.across = vec3(e[0] * v[1] - e[1] * v[0], stick, w * (scalar(1.0) - stick))
        return out

    return SimpleNamespace(fischer_burmeister=fischer_burmeister, bounded=bounded, friction=friction, Friction=Friction)
