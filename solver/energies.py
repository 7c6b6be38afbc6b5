# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies of bodies, ``energy.py`` body by body, in kernels on the host: of a scene's, frame by frame, and what those
of a step should end with and do.
"""

import threading
from typing import NamedTuple

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
    start_u: wp.array(dtype=vec6)
    free_q: wp.array(dtype=wp.quatd)
    free_u: wp.array(dtype=vec6)
    end_x: wp.array(dtype=wp.vec3d)
    end_q: wp.array(dtype=wp.quatd)
    end_u: wp.array(dtype=vec6)
    due: wp.array(dtype=wp.float64)  # out
    has: wp.array(dtype=wp.float64)


@wp.struct
class BalanceTable:
    """The islands of a step, and what its bodies had before, as kept_energy.py has them."""

    count: wp.array(dtype=wp.int32)  # dynamic bodies, islands
    setting: wp.array(dtype=wp.float64)  # see Shares
    island: wp.array(dtype=wp.int32)  # of each body
    known: wp.array(dtype=wp.vec2d)  # of each body: State.owed
    keeps: wp.array(dtype=wp.bool)
    takes: wp.array(dtype=wp.bool)
    stores: wp.array(dtype=wp.bool)  # what rows hold may be energy that comes back
    work: wp.array(dtype=wp.float64)  # of joint rows on the way [J]
    late: wp.array(dtype=wp.float64)  # and at its end, after damping
    outer: wp.array(dtype=wp.float64)  # that damping leaves as it is [J]
    apart: wp.array(dtype=wp.float64)  # of momenta, which is not scaled [J]
    noise: wp.array(dtype=wp.float64)  # by which what it is due may be off [J]
    still: wp.array(dtype=wp.float64)  # at speeds that are none yet [J]
    bodies: wp.array(dtype=wp.int32)  # out: how many each has
    due: wp.array(dtype=wp.float64)  # [J]
    has: wp.array(dtype=wp.float64)
    wait: wp.array(dtype=wp.vec2d)
    ours: wp.array(dtype=wp.bool)  # to be scaled
    strays: wp.array(dtype=wp.bool)  # this step alone is off by much
    waits: wp.array(dtype=wp.vec2d)  # of each body: State.owed of the next step


class Shares(NamedTuple):
    """How energies of a step are weighed."""

    damped: float  # of what is not outer, what damping leaves
    fading: float  # of the most that there was, what is left after the step
    least: float  # of the most, which may be off
    high: float  # of the most, below which no more is mended at once
    slight: float  # than this share of what there is
    much: float  # of the most, by which a step strays
    waits: float  # of the most, by which it does where that cannot be mended at once, and what work of rows is told to


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


@wp.kernel(module=module, enable_backward=False)
def balance(table: StepTable, sums: BalanceTable):
    """What each island is due and has, whether that is to be mended now, and what waits."""
    bodies = sums.count[0]
    islands = sums.count[1]
    for k in range(islands):
        sums.bodies[k] = 0
        sums.due[k] = wp.float64(0.0)
        sums.has[k] = wp.float64(0.0)
        sums.wait[k] = wp.vec2d()
    for i in range(bodies):
        k = sums.island[i]
        sums.bodies[k] += 1
        sums.due[k] += table.due[i]
        sums.has[k] += table.has[i]
        sums.wait[k] += sums.known[i]
    for k in range(islands):
        owed = sums.wait[k][0]
        outer = sums.outer[k]
        has = sums.has[k]
        if not sums.keeps[k]:
            owed = wp.float64(0.0)
        due = outer + sums.setting[0] * (sums.due[k] + (sums.work[k] + owed) - outer) + sums.late[k]
        off = has - due
        there = has
        if not sums.stores[k]:
            there = wp.min(has, due)
        peak = wp.max(there, sums.setting[1] * sums.wait[k][1])
        moves = wp.max(has - sums.apart[k], wp.float64(0.0))
        slow = moves < sums.setting[3] * peak
        if sums.stores[k]:
            slow = has < sums.setting[3] * peak
        least = sums.setting[2]
        if sums.stores[k] or slow:
            least = sums.setting[6]
        least = wp.max(least * peak, sums.noise[k])
        pays = off
        if slow:
            most = sums.setting[4] * moves
            if sums.stores[k]:
                most = wp.float64(0.0)
            pays = wp.clamp(off, -most, most)
        mends = sums.keeps[k] and wp.abs(off) > least and pays != wp.float64(0.0)
        floor = wp.max(sums.noise[k], sums.still[k])
        bears = wp.max(sums.setting[5] * peak, floor)
        waits = wp.max(sums.setting[6] * peak, floor)
        if wp.abs(off - pays) > waits:
            bears = waits
        sums.strays[k] = sums.keeps[k] and wp.abs(off + owed) > bears
        sums.ours[k] = mends or (sums.takes[k] and off > wp.float64(0.0))
        sums.due[k] = due
        sums.wait[k] = wp.vec2d()
        if sums.keeps[k]:
            owed = -off
            if sums.ours[k]:
                sums.due[k] = has - pays
                owed = pays - off
            sums.wait[k] = wp.vec2d(owed, peak) / wp.float64(sums.bodies[k])
    for i in range(bodies):
        sums.waits[i] = sums.wait[sums.island[i]]


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
    """The tables of one thread."""

    def __init__(self):
        self.table, self.sums = HostTable(StepTable, count=1, step=1), HostTable(BalanceTable, count=2, setting=7)
        self.energies = HostKernel(step_energies, self.table)
        self.balance = HostKernel(balance, self.table, self.sums, alone=True)


_step = _Step()


def balance_of_step(problem, end_velocity, pose, velocity, groups, shares):
    """Kinetic energies [J] of islands at the end of a StepProblem: (those they are due (I,), those they have (I,), (I,)
    bool twice, which are to be mended and which the step alone leaves far off, (n, 2) what waits of each body, as
    State.owed).

    An island is due what it had at the start, with the work of what acts on it from outside.
    end_velocity: (n, 6) free velocity at the step's end; pose: (B, 3), (B, 4) where it ends; velocity: (n, 6) there;
    groups: columns of BalanceTable by name; shares: Shares.
    """
    bodies, n, count = problem.bodies, problem.bodies.dynamic_count, len(groups["work"])
    v, sums = _step.table.reserve(n), _step.sums.reserve(max(n, count))
    v.count[0], v.step[0] = n, problem.step
    columns = {
        "mass": bodies.mass, "inertia": bodies.inertia, "start_x": bodies.position, "start_u": bodies.velocity,
        "free_q": bodies.free_orientation, "free_u": end_velocity, "end_x": pose[0], "end_q": pose[1],
        "end_u": velocity,
    }  # fmt: skip
    for name, values in columns.items():
        getattr(v, name)[:n] = values[:n]
    sums.count[:], sums.setting[:] = (n, count), shares
    for name, values in groups.items():
        getattr(sums, name)[: len(values)] = values
    _step.energies.run()
    _step.balance.run()
    out = (getattr(sums, name)[:count].copy() for name in ("due", "has", "ours", "strays"))
    return *out, sums.waits[:n].copy()
