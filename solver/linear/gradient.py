# SPDX-License-Identifier: GPL-3.0-or-later
"""What Newton leaves of the momentum equation, g, as the head of assembly.py has it: functions of one body."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import DYNAMIC, BodyArrays, ContactArrays, IslandArrays, RowArrays
from ..constraints.row_functions import row_functions
from ..lanes import begin, end, island_at, item, turns
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions


@cache
def momentum_functions():
    """Momentum and imbalance, functions of one body, and the kernel body_residual."""
    real = real_types(wp.float64)
    vec6, math = real.vec6, rotation_functions(real)
    linear, angular, six, measured = math.linear, math.angular, math.six, math.measured
    name = "axion_motion"
    kernel, dynamic_slot = wp.kernel(module=name, enable_backward=False), wp.constant(DYNAMIC)

    @wp.func(module=name)
    def momentum(bodies: BodyArrays, con: ContactArrays, rows: RowArrays, i: int):
        """G of body i, without stiffness."""
        du = bodies.u[i] - bodies.u_free[i] - bodies.arc[i]
        gl = bodies.mass[i] * linear(du)
        ga = bodies.inertia[i] * angular(du)
        for m in range(bodies.contact_start[i], bodies.contact_start[i + 1]):
            c = bodies.contact_index[m]
            f = con.force[c]
            arm = con.arm_a[c]
            if con.a[c] != i:
                f = -f
                arm = con.arm_b[c]
            gl -= f
            ga -= wp.cross(arm, f)
        g = six(gl, ga)
        for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
            r = bodies.row_index[m]
            if rows.a[r] == i:
                g -= rows.p[r] * rows.jac_a[r]
            else:
                g -= rows.p[r] * rows.jac_b[r]
        return g

    @wp.func(module=name)
    def imbalance(g: vec6, bodies: BodyArrays, i: int):
        """|M^-1 g| in m/s: the angular part counts at the body's radius of gyration."""
        lin = linear(g) * bodies.inverse_mass[i]
        ang = bodies.inverse_inertia[i] * angular(g)
        spin = wp.length(ang) * bodies.extent[i]
        return wp.sqrt(wp.dot(lin, lin) + spin * spin)

    @kernel
    def body_residual(
        counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, rows: RowArrays, isl: IslandArrays
    ):
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if isl.outer_active[k] == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                g = momentum(bodies, con, rows, i)
                wp.atomic_max(isl.gradient, k, measured(imbalance(g, bodies, i)))

    return SimpleNamespace(momentum=momentum, imbalance=imbalance, body_residual=body_residual)


@cache
def gradient_function(ropes):
    """body_gradient, a function of one body.

    ropes: whether rows may pull across their direction; without, others take a fifth less time.
    """
    real, zero = real_types(wp.float64), wp.constant(wp.float64(0.0))
    vec6, math, of_momentum = real.vec6, rotation_functions(real), momentum_functions()
    linear, angular, six, measured = math.linear, math.angular, math.six, math.measured
    momentum, imbalance, sideways = of_momentum.momentum, of_momentum.imbalance, row_functions().sideways
    name = f"axion_gradient{'_ropes' * ropes}"

    @wp.func(module=name)
    def turned(bodies: BodyArrays, rows: RowArrays, r: int, i: int, dynamic: int):
        """What the stiffness of row r across its direction answers body i to the change since the round began."""
        out = vec6()
        a = rows.a[r]
        b = rows.b[r]
        for t in range(2):
            way = zero
            if a < dynamic:
                way += wp.dot(sideways(rows, r, bodies, a, t), bodies.u[a] - bodies.u_centre[a])
            if b < dynamic:
                way += wp.dot(sideways(rows, r, bodies, b, t), bodies.u[b] - bodies.u_centre[b])
            out += (rows.turning[r] * way) * sideways(rows, r, bodies, i, t)
        return out

    @wp.func(module=name)
    def body_gradient(
        bodies: BodyArrays, con: ContactArrays, rows: RowArrays, isl: IslandArrays, i: int, k: int, dynamic: int
    ):
        """The right-hand side -g.  Returns |M^-1 g| in m/s."""
        g = momentum(bodies, con, rows, i)
        turn = angular(bodies.u[i] - bodies.u_centre[i])
        damping = isl.damping[k]
        pull = damping * bodies.mass[i] * linear(bodies.u[i] - bodies.u_centre[i])
        g += six(pull, bodies.stiffness[i] * turn + damping * (bodies.inertia[i] * turn))
        if wp.static(ropes):
            for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
                if rows.turning[bodies.row_index[m]] > zero:
                    g += turned(bodies, rows, bodies.row_index[m], i, dynamic)
        bodies.r[i] = -g
        return measured(imbalance(g, bodies, i))

    return body_gradient
