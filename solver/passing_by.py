# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls of a fit that what slides passes by: a solve goes without them, and where it keeps their gaps it is the answer.

What is hindered in a fit is squeezed as little as what is not (unhindered.py): one wall of a shaft that leans carries
what slides in it, the others nothing.  A squeeze between that and the one opposite is an answer, too, as Coulomb's law
has it, whatever load it begins with: that of cones, of gaps that a step of fast motion left off, or of Newton's last
impulses keeps itself up by the friction it makes, and what slides stops in the air.

So walls that free motion slides along and keeps, or leaves, are left out where another one is opposite, both nearer
than it slides in the step.  Once all else is met, those whose gaps are not kept come back, and the solve goes on.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import CONTACTS, DYNAMIC, STEP, BodyArrays, ContactArrays, IslandArrays
from .constraints.contact_functions import contact_functions
from .lanes import begin, end, island_at, turns
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .unhindered import FAINT, HINDERED, PASSES

OUT = -1.0e6  # [m] gap at which what is left out acts
OPPOSITE = -0.3  # cosine: of any normals that can balance each other two are as far apart, in a tetrahedron all
PATIENCE = 8  # rounds after which what is missed comes back though all else is not met


@cache
def passing_kernels():
    """The kernels by name: leave_out and bring_back."""
    contact = contact_functions()
    gap, slip, components = contact.gap, contact.slip, contact.components
    point_velocity = rotation_functions(real_types(wp.float64)).point_velocity
    name = "axion_contact"
    kernel = wp.kernel(module=name, enable_backward=False)
    contacts_slot, dynamic_slot, step_slot = wp.constant(CONTACTS), wp.constant(DYNAMIC), wp.constant(STEP)
    faint, out, opposite = (wp.constant(wp.float64(value)) for value in (FAINT, OUT, OPPOSITE))
    hindered, passes, patience = (wp.constant(value) for value in (HINDERED, PASSES, PATIENCE))

    @wp.func(module=name)
    def has_opposite(bodies: BodyArrays, con: ContactArrays, c: int, dynamic: int, reach: wp.float64):
        """Whether the moving body of contact c has another wall as near that could squeeze it against this one."""
        i = wp.min(con.a[c], con.b[c])
        n = con.n[c]
        if con.b[c] == i:
            n = -n
        for m in range(bodies.contact_start[i], bodies.contact_start[i + 1]):
            j = bodies.contact_index[m]
            cosine = wp.dot(n, con.n[j])
            if con.b[j] == i:
                cosine = -cosine
            if cosine < opposite and con.start_gap[j] <= reach and wp.max(con.a[j], con.b[j]) >= dynamic:
                return True
        return False

    @kernel
    def leave_out(
        counts: wp.array(dtype=wp.int32), settings: wp.array(dtype=wp.float64), bodies: BodyArrays, con: ContactArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """After ``hinder``: walls opposite to others that free motion passes by."""
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.free[k] < hindered:
                continue
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                a = con.a[c]
                b = con.b[c]
                if wp.max(a, b) < counts[dynamic_slot]:
                    continue
                speed = slip(con, c, bodies.u_free[a], bodies.u_free[b])
                way = speed * settings[step_slot]
                if speed <= isl.tolerance[k] or con.start_gap[c] > way:
                    continue
                left = gap(con, c, bodies.x_free[a], bodies.q_free[a], bodies.x_free[b], bodies.q_free[b])
                if not (left >= con.allowed[c] - faint * con.gap_noise[c]):
                    continue
                if has_opposite(bodies, con, c, counts[dynamic_slot], way):
                    isl.free[k] = passes
                    con.spared[c] = con.allowed[c]
                    con.allowed[c] = out
                    con.p[c] = wp.vec3d()
                    con.p_centre[c] = wp.vec3d()
                    con.p_best[c] = wp.vec3d()
                    con.radius[c] = wp.float64(0.0)
                    con.dual[c] = wp.vec2d()

    @kernel
    def bring_back(
        counts: wp.array(dtype=wp.int32), settings: wp.array(dtype=wp.float64), bodies: BodyArrays, con: ContactArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """After the residual: gaps of what was left out count as the others, and those not kept are solved for.

        Not yet after the first round on cones, where what slides parts from what carries it.
        """
        at = wp.tid()
        for turn in range(turns(counts, contacts_slot, at)):
            k = island_at(isl, con.island, turn, at)
            if isl.outer_active[k] == 0 or isl.free[k] != passes:
                continue
            met = wp.max(isl.gradient[k], wp.max(isl.residual_normal[k], isl.residual_tangent[k])) < isl.tolerance[k]
            first = isl.outer_count[k] <= 0 and isl.law[k] == 1
            for c in range(begin(at, isl.contact_start[k]), end(at, isl.contact_start[k + 1])):
                if con.allowed[c] != out:
                    continue
                speed = (con.phi[c] - con.spared[c]) / settings[step_slot]
                if speed > -isl.tolerance[k]:
                    continue
                wp.atomic_max(isl.missed, k, -speed)
                if first or not (met or isl.outer_count[k] >= patience):
                    continue
                a = con.a[c]
                b = con.b[c]
                v = point_velocity(bodies.u[a], con.arm_a[c]) - point_velocity(bodies.u[b], con.arm_b[c])
                con.allowed[c] = con.spared[c]
                con.v[c][0] = speed
                con.bias[c][0] = speed - components(con.n[c], v)[0]
                isl.best[k] = wp.float64(1.0e30)
                isl.previous[k] = wp.float64(1.0e30)

    return SimpleNamespace(leave_out=leave_out, bring_back=bring_back)
