# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies of a scene's bodies, frame by frame: ``energy.py`` body by body, in a kernel on the host."""

import numpy as np
import warp as wp

from .host import HostKernel, HostTable
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .predict import module, turned

_MATH = rotation_functions(real_types(wp.float64))
linear, angular = _MATH.linear, _MATH.angular
vec6 = real_types(wp.float64).vec6


@wp.struct
class EnergyTable:
    """The bodies of finite mass."""

    count: wp.array(dtype=wp.int32)
    gravity: wp.array(dtype=wp.vec3d)
    mass: wp.array(dtype=wp.float64)
    inertia: wp.array(dtype=wp.vec3d)
    x: wp.array(dtype=wp.vec3d)
    q: wp.array(dtype=wp.quatd)
    u: wp.array(dtype=vec6)
    kinetic: wp.array(dtype=wp.float64)  # out
    potential: wp.array(dtype=wp.float64)


@wp.kernel(module=module, enable_backward=False)
def energies(table: EnergyTable):
    """Kinetic and potential energy of each body."""
    i = wp.tid()
    if i >= table.count[0]:
        return
    q = table.q[i]
    v = linear(table.u[i])
    spin = turned(wp.quatd(-q[0], -q[1], -q[2], q[3]), angular(table.u[i]))
    turning = wp.dot(wp.cw_mul(table.inertia[i], spin), spin)
    table.kinetic[i] = wp.float64(0.5) * (table.mass[i] * wp.dot(v, v) + turning)
    table.potential[i] = -table.mass[i] * wp.dot(table.gravity[0], table.x[i])


class Energies:
    """Of the bodies of one scene that have a finite mass."""

    def __init__(self, mass, inertia, gravity):
        """Of B bodies: mass (B,) [kg], inf: not counted; inertia (B, 3) principal [kg m^2]; gravity (3,) [m/s^2]."""
        self._bodies = np.flatnonzero(np.isfinite(mass))
        self._all, count = len(self._bodies) == len(mass), len(self._bodies)
        self._table = HostTable(EnergyTable, count=1, gravity=1)
        self._kernel, v = HostKernel(energies, self._table), self._table.reserve(count)
        v.count[0], v.gravity[0] = count, gravity
        v.mass[:count], v.inertia[:count] = mass[self._bodies], inertia[self._bodies]
        names = ("x", "q", "u", "kinetic", "potential")
        self._x, self._q, self._u, *self._out = (getattr(v, name)[:count] for name in names)

    def of(self, position, orientation, velocity):
        """(kinetic, potential) [J], as floats; see ``kinetic_energy`` and ``potential_energy``.

        position (B, 3) of the centres of mass, orientation (B, 4), velocity (B, 6).
        """
        for into, values in ((self._x, position), (self._q, orientation), (self._u, velocity)):
            into[:] = values if self._all else values.take(self._bodies, 0)
        self._kernel.run()
        return tuple(float(values.sum()) for values in self._out)
