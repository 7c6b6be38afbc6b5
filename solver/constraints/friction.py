# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact law: Signorini's condition and Coulomb's disc, as a proximal map with its curvature.

    y = p^ - v / sigma                            p^: centre of the proximal term, sigma: its strength [1/kg]
    p_n = max(0, y_n)                             gap velocity and impulse: 0 <= v_n + sigma (p_n - p^_n), p_n >= 0
    p_t = y_t min(1, r / |y_t|),  r = mu p_n      r lagged by one iterate (Tresca): convex inside

The impulse acts along +n, +t1, +t2 on body a and the opposite on body b.  Curvature P = dp/dy: of a sliding contact
in the primal-dual form of Chan, Golub and Mulet (1999), symmetrised, with d the dual iterate of p_t; it is positive
semidefinite and does not chatter as the plain derivative does.  Law 1 projects y on the cone |p_t| <= mu p_n
instead, which needs no radius: the first solve of contacts that have no impulse yet, and islands in which Newton chases
the radius.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

STICKING = 1.0 - 1e-6  # of the disc's radius: a contact whose impulse stays below does not slide


@cache
def contact_law():
    """impulse(law, y, mu, r) -> p;  curvature(law, y, mu, r, d, primal_dual) -> P;  next_dual(...) -> d."""
    scalar, vec2, vec3, mat33 = wp.float64, wp.vec2d, wp.vec3d, wp.mat33d
    module = "axion_friction"
    sticking = wp.constant(scalar(STICKING))

    @wp.func(module=module)
    def impulse(law: int, y: vec3, mu: scalar, r: scalar):
        t = wp.sqrt(y[1] * y[1] + y[2] * y[2])
        if law == 1:
            if t <= mu * y[0]:
                return y
            if mu * t <= -y[0]:
                return vec3(scalar(0.0))
            normal = (y[0] + mu * t) / (scalar(1.0) + mu * mu)
            f = mu * normal / wp.max(t, scalar(1.0e-30))
            return vec3(normal, f * y[1], f * y[2])
        f = scalar(1.0)
        if t > r:
            f = r / t
        return vec3(wp.max(scalar(0.0), y[0]), f * y[1], f * y[2])

    @wp.func(module=module)
    def clipped(d: vec2, r: scalar):
        length = wp.length(d)
        if length > r:
            return d * (r / length)
        return d

    @wp.func(module=module)
    def on_mantle(y: vec3, mu: scalar, t: scalar):
        """Dp/dy of the nearest point of the line through the tip of the cone along its mantle; t: |y_t|."""
        zero = scalar(0.0)
        one = scalar(1.0)
        a = one / (one + mu * mu)
        if t <= scalar(1.0e-30):
            return mat33(a, zero, zero, zero, zero, zero, zero, zero, zero)
        e1 = y[1] / t
        e2 = y[2] / t
        c = wp.max(zero, mu * (y[0] + mu * t) * a / t)
        off = (a * mu * mu - c) * e1 * e2
        return mat33(
            a, a * mu * e1, a * mu * e2,
            a * mu * e1, a * mu * mu * e1 * e1 + c * (one - e1 * e1), off,
            a * mu * e2, off, a * mu * mu * e2 * e2 + c * (one - e2 * e2),
        )  # fmt: skip

    @wp.func(module=module)
    def curvature(law: int, y: vec3, mu: scalar, r: scalar, d: vec2, primal_dual: int):
        zero = scalar(0.0)
        one = scalar(1.0)
        t = wp.sqrt(y[1] * y[1] + y[2] * y[2])
        if law == 1:
            if t <= mu * y[0]:
                return wp.identity(n=3, dtype=scalar)
            if mu * t <= -y[0]:
                return mat33(zero)
            return on_mantle(y, mu, t)
        normal = wp.where(y[0] > zero, one, zero)
        if r <= zero:
            return mat33(normal, zero, zero, zero, zero, zero, zero, zero, zero)
        if t <= r:
            return mat33(normal, zero, zero, zero, one, zero, zero, zero, one)
        e1 = y[1] / t
        e2 = y[2] / t
        if primal_dual == 0:
            c = r / t
            return mat33(
                normal, zero, zero,
                zero, c * (one - e1 * e1), -c * e1 * e2,
                zero, -c * e1 * e2, c * (one - e2 * e2),
            )  # fmt: skip
        s = clipped(d, r)
        off = -scalar(0.5) * (s[0] * e2 + s[1] * e1) / t
        return mat33(
            normal, zero, zero, zero, (r - s[0] * e1) / t, off, zero, off, (r - s[1] * e2) / t
        )  # fmt: skip

    @wp.func(module=module)
    def next_dual(y: vec3, dy: vec2, r: scalar, d: vec2):
        t = wp.sqrt(y[1] * y[1] + y[2] * y[2])
        moved = vec2(y[1] + dy[0], y[2] + dy[1])
        if t > r and r > scalar(0.0):
            k = (y[1] * dy[0] + y[2] * dy[1]) / t
            moved = (moved * r - clipped(d, r) * k) / t
        return clipped(moved, r)

    @wp.func(module=module)
    def going_on(law: int, centre: vec3, y: vec3, mu: scalar, p: vec3, curve: mat33):
        """(p, P) of the law, given those at y, where what pushes and what sticks in the proximal centre goes on so."""
        zero = scalar(0.0)
        one = scalar(1.0)
        if wp.sqrt(centre[1] * centre[1] + centre[2] * centre[2]) < sticking * mu * centre[0]:
            return y, wp.identity(n=3, dtype=scalar)
        if law == 1:
            t = wp.sqrt(y[1] * y[1] + y[2] * y[2])
            normal = (y[0] + mu * t) / (one + mu * mu)
            f = mu * normal / wp.max(t, scalar(1.0e-30))
            return vec3(normal, f * y[1], f * y[2]), on_mantle(y, mu, t)
        sliding = mat33(
            one, zero, zero, zero, curve[1, 1], curve[1, 2], zero, curve[2, 1], curve[2, 2]
        )  # fmt: skip
        return vec3(y[0], p[1], p[2]), sliding

    return SimpleNamespace(impulse=impulse, curvature=curvature, next_dual=next_dual, going_on=going_on)
