# SPDX-License-Identifier: GPL-3.0-or-later
"""The geometric stiffness K of joint anchors in the Newton system, see assembly.py.

K is h [(r . p) 1 - (r p^T + p r^T) / 2] for the impulse p at lever r of each anchor: the change of the lever as the
body turns.  Without it a chain with a heavy end does not converge.  A joint that pushes makes K negative; where that
led astray, only its positive semidefinite part is taken.
"""

from functools import cache

import warp as wp

from ..arrays import DYNAMIC, STEP, BodyArrays, IslandArrays, RowArrays
from ..lanes import begin, end, island_at, item, turns
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions

MODULE = "axion_stiffness"  # of kernels over bodies and islands that only scenes with joints need


@cache
def stiffness_kernel():
    """The kernel ``joint_stiffness``; scenes without joints neither launch nor compile it."""
    real = real_types(wp.float64)
    scalar, vec3, mat33 = real.scalar, real.vec3, real.mat33
    linear = rotation_functions(real).linear
    dynamic_slot, step_slot = wp.constant(DYNAMIC), wp.constant(STEP)

    @wp.func(module=MODULE)
    def anchor_stiffness(r: vec3, p: vec3, whole: bool):
        """(r . p) 1 - (r p^T + p r^T) / 2, or its positive semidefinite part from its eigenvectors in closed form."""
        length = wp.length(r) * wp.length(p)
        along = wp.dot(r, p)
        out = mat33(scalar(0.0))
        if whole:
            return along * wp.identity(n=3, dtype=scalar) - scalar(0.5) * (wp.outer(r, p) + wp.outer(p, r))
        if length > scalar(1.0e-30):
            axis = wp.cross(r, p)
            sine = wp.length(axis)
            if sine > scalar(1.0e-6) * length:
                # eigenvalues along (axis), (|r||p| + r.p)/2, and a negative one
                axis = axis / sine
                across = wp.normalize(wp.cross(axis, wp.normalize(r) + wp.normalize(p)))
                out += (scalar(0.5) * (length + along)) * wp.outer(across, across)
                if along > scalar(0.0):
                    out += along * wp.outer(axis, axis)
            elif along > scalar(0.0):
                e = wp.normalize(r)
                out += along * (wp.identity(n=3, dtype=scalar) - wp.outer(e, e))
        return out

    @wp.kernel(module=MODULE, enable_backward=False)
    def joint_stiffness(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=scalar),
        bodies: BodyArrays,
        rows: RowArrays,
        isl: IslandArrays,
    ):
        """K of the bodies of jointed islands that ``islands`` flags, from the impulses that the round started with."""
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if isl.jointed[k] * islands[k] == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                whole = isl.convex[k] == 0
                out = mat33(scalar(0.0))
                for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
                    first = bodies.row_index[m]
                    if rows.group[first] > 0:
                        force = vec3(scalar(0.0))
                        for r in range(first, first + rows.group[first]):
                            p = rows.p[r]
                            if isl.soften[k] == 1:
                                p = rows.p_centre[r]
                            force += p * linear(rows.jac_b[r])
                        if rows.b[first] == i:
                            out += anchor_stiffness(wp.quat_rotate(bodies.q[i], rows.anchor_b[first]), force, whole)
                        if rows.a[first] == i:
                            out += anchor_stiffness(wp.quat_rotate(bodies.q[i], rows.anchor_a[first]), -force, whole)
                share = scalar(1.0) - scalar(0.5) * bodies.midpoint[i]
                if wp.length_sq(bodies.spin[i]) > scalar(0.0):
                    share = scalar(0.0)  # its levers are those of the start
                bodies.stiffness[i] = out * settings[step_slot] * share

    return joint_stiffness
