# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that spin so fast that a turn after their free one is no answer to what joints do to them.

Elsewhere the impulse p of a step turns a body after its free rotation, q+ = exp(h I^-1 J^T p) q_free, and a fast top
gives way to it as if it did not spin.  Here the impulse comes first and the body turns freely with what it then has:

    q+ = free rotation of q- with L- + J-^T p        J-: levers of the step's start; L-: ``Bodies.spin``
    L+ = L- + (J-^T + J+^T) p                        as everywhere: 2 J^T p with the levers of mid-step

Moments that have no part along a body's own axis at either end leave the momentum about it as it was, to rounding, as
free rotation does: RATTLE with a free rotation for a drift (Leimkuhler and Reich 1994; McLachlan and Zanna 2005).  It
is of second order, and keeps energy.  A disc's top at 60 rad/s on a ball joint, 4 s, energy in parts of its spin's:

    steps a second              48        96        192
    turned afterwards    own    4e-1      6e-3      6e-4       energy    5e-1      1e-2      1e-3
    turned with it       own    2e-15     9e-15     5e-15      energy    5e-4      1e-4      3e-5

Newton takes the answer of a body at rest for the slope, so that each round leaves sin(angle / 2) of what was missing.
"""

from functools import cache, lru_cache

import numpy as np
import warp as wp

from .arrays import DYNAMIC, STEP, BodyArrays, IslandArrays
from .lanes import begin, end, island_at, item, turns
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .predict import free_rotation
from .problem import frozen
from .rotations import conjugate, rotate
from .topology import KEPT


def fast_spins(bodies, fast):
    """Bodies.spin: (B, 3) angular momentum [kg m^2/s] of free motion for the dynamic bodies ``fast`` (n,) bool that go
    by mid-step; None where there are none.
    """
    n = bodies.dynamic_count
    taken = np.flatnonzero(fast & (bodies.midpoint[:n] > 0.0))
    if not len(taken):
        return None
    turned, out = bodies.free_orientation[taken], np.zeros((len(bodies.mass), 3))
    local = rotate(conjugate(turned), bodies.free_velocity[taken, 3:]) * bodies.inertia[taken]
    out[taken] = rotate(turned, local)
    return out


@lru_cache(maxsize=KEPT)
def no_spin(count):
    """(count, 3) read-only zeros: what device arrays hold where Bodies.spin is None."""
    return frozen(np.zeros((count, 3)))


@cache
def spinning_kernels():
    """(turn, lead): kernels over bodies; the first turns those of a solve, the second tells a judge where velocities
    lead.
    """
    angular = rotation_functions(real_types(wp.float64)).angular
    name = "axion_spinning"
    kernel = wp.kernel(module=name, enable_backward=False)
    dynamic_slot, step_slot = wp.constant(DYNAMIC), wp.constant(STEP)

    @wp.func(module=name)
    def led(bodies: BodyArrays, i: int, h: wp.float64):
        """Orientation that the velocity of body i, which has a spin, leads to."""
        principal = bodies.principal[i]
        free = bodies.q_free[i]
        start = bodies.q0[i]
        change = angular(bodies.u[i] - bodies.u_free[i])
        push = wp.quat_rotate(free, wp.cw_mul(principal, wp.quat_rotate_inv(free, change)))
        local = wp.cw_div(wp.quat_rotate_inv(start, bodies.spin[i] + push), principal)
        turned, _ = free_rotation(start, wp.quat_rotate(start, local), principal, h)
        return turned

    @kernel
    def turn(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=wp.float64),
        bodies: BodyArrays,
        isl: IslandArrays,
    ):
        """After ``integrate``, in the islands flagged."""
        at = wp.tid()
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if islands[k] == 0:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                if wp.length_sq(bodies.spin[i]) > wp.float64(0.0):
                    bodies.q[i] = led(bodies, i, settings[step_slot])

    @kernel
    def lead(
        counts: wp.array(dtype=wp.int32), settings: wp.array(dtype=wp.float64), bodies: BodyArrays,
        led_to: wp.array(dtype=wp.quatd),
    ):  # fmt: skip
        i = wp.tid()
        if i < counts[dynamic_slot] and wp.length_sq(bodies.spin[i]) > wp.float64(0.0):
            led_to[i] = led(bodies, i, settings[step_slot])

    return turn, lead
