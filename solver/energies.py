# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies of bodies, ``energy.py`` body by body, in kernels on the host: of a scene's, frame by frame, and what those
of a step should end with and do.
"""

import threading

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


@wp.struct
class StepTable:
    """The dynamic bodies of a step: where it starts, where free motion ends and where it does."""

    count: wp.array(dtype=wp.int32)
    step: wp.array(dtype=wp.float64)  # [s]
    mass: wp.array(dtype=wp.float64)
    inertia: wp.array(dtype=wp.vec3d)
    start_x: wp.array(dtype=wp.vec3d)
    start_q: wp.array(dtype=wp.quatd)
    start_u: wp.array(dtype=vec6)
    free_q: wp.array(dtype=wp.quatd)
    free_u: wp.array(dtype=vec6)
    end_x: wp.array(dtype=wp.vec3d)
    end_q: wp.array(dtype=wp.quatd)
    end_u: wp.array(dtype=vec6)
    due: wp.array(dtype=wp.float64)  # out
    has: wp.array(dtype=wp.float64)


@wp.func(module=module)
def turning_energy(inertia: wp.vec3d, q: wp.quatd, u: vec6):
    """1/2 w.I w."""
    spin = turned(wp.quatd(-q[0], -q[1], -q[2], q[3]), angular(u))
    return wp.float64(0.5) * wp.dot(wp.cw_mul(inertia, spin), spin)


@wp.func(module=module)
def moving_energy(mass: wp.float64, u: vec6):
    """1/2 m v.v."""
    return wp.float64(0.5) * mass * wp.dot(linear(u), linear(u))


@wp.kernel(module=module, enable_backward=False)
def energies(table: EnergyTable):
    """Kinetic and potential energy of each body."""
    i = wp.tid()
    if i >= table.count[0]:
        return
    u = table.u[i]
    table.kinetic[i] = moving_energy(table.mass[i], u) + turning_energy(table.inertia[i], table.q[i], u)
    table.potential[i] = -table.mass[i] * wp.dot(table.gravity[0], table.x[i])


@wp.kernel(module=module, enable_backward=False)
def step_energies(table: StepTable):
    """What each body had at the start, with the work of free motion's forces on its way; and what it has at the end.

    Free rotation keeps its energy but for what damping takes.
    """
    i = wp.tid()
    if i >= table.count[0]:
        return
    m = table.mass[i]
    inertia = table.inertia[i]
    free = table.free_u[i]
    gain = linear(free) - linear(table.start_u[i])
    work = m * wp.dot(gain, table.end_x[i] - table.start_x[i]) / table.step[0]
    table.due[i] = moving_energy(m, table.start_u[i]) + work + turning_energy(inertia, table.free_q[i], free)
    table.has[i] = moving_energy(m, table.end_u[i]) + turning_energy(inertia, table.end_q[i], table.end_u[i])


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


class _Step(threading.local):
    """The table of one thread."""

    def __init__(self):
        self.table = HostTable(StepTable, count=1, step=1)
        self.kernel = HostKernel(step_energies, self.table)


_step = _Step()


def energies_of_step(problem, end_velocity, pose, velocity):
    """(n,) kinetic energy [J] of each dynamic body at the start of a StepProblem, with the work of what acts on it from
    outside; and (n,) what it has at the end.

    end_velocity: (n, 6) free velocity at the step's end; pose: (B, 3), (B, 4) where it ends; velocity: (n, 6) there.
    """
    bodies, n = problem.bodies, problem.bodies.dynamic_count
    v = _step.table.reserve(n)
    v.count[0], v.step[0] = n, problem.step
    columns = {
        "mass": bodies.mass, "inertia": bodies.inertia, "start_x": bodies.position, "start_q": bodies.orientation,
        "start_u": bodies.velocity, "free_q": bodies.free_orientation, "free_u": end_velocity, "end_x": pose[0],
        "end_q": pose[1], "end_u": velocity,
    }  # fmt: skip
    for name, values in columns.items():
        getattr(v, name)[:n] = values[:n]
    _step.kernel.run()
    return v.due[:n].copy(), v.has[:n].copy()
