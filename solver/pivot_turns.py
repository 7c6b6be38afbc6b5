# SPDX-License-Identifier: GPL-3.0-or-later
"""How groups that hang from one point turn about the line of their pull as a whole: a kernel on the host.

What keeps the energy of such groups asks for it in every step, and in NumPy it took as long as a fifth of the solve.
"""

import threading

import warp as wp

from .energies import angular, linear, moving_energy, turning_energy, vec6
from .host import HostKernel, HostTable
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .predict import module, turned

SPINS = 1e-20  # of a body's kinetic energy: less is rounding
THIN = 1e-9  # of an island's moments of inertia about its point: what hangs along the pull does not turn about it
BODIES, ISLANDS = wp.constant(0), wp.constant(1)
spins, thin = wp.constant(wp.float64(SPINS)), wp.constant(wp.float64(THIN))
zero = wp.constant(wp.float64(0.0))
six = rotation_functions(real_types(wp.float64)).six


@wp.struct
class PivotTable:
    """Dynamic bodies at the end of a step, and the islands they are in."""

    count: wp.array(dtype=wp.int32)
    island: wp.array(dtype=wp.int32)
    mass: wp.array(dtype=wp.float64)
    inertia: wp.array(dtype=wp.vec3d)
    x: wp.array(dtype=wp.vec3d)
    q: wp.array(dtype=wp.quatd)
    u: wp.array(dtype=vec6)
    before: wp.array(dtype=vec6)  # velocity at the start, and what free motion makes of it
    free: wp.array(dtype=vec6)
    point: wp.array(dtype=wp.vec3d)  # (islands,) that each hangs from
    hangs: wp.array(dtype=wp.bool)  # (islands,) from that alone; others are left aside
    loose: wp.array(dtype=wp.vec3i)  # 1: principal axes about which nothing turns a body, whose inertia is even there
    spin: wp.array(dtype=wp.vec3d)  # (islands,) scratch
    pull: wp.array(dtype=wp.vec3d)
    about: wp.array(dtype=wp.float64)
    whole: wp.array(dtype=wp.float64)
    motion: wp.array(dtype=vec6)  # out
    energy: wp.array(dtype=wp.float64)  # (islands,) out: of that motion [J]
    spinning: wp.array(dtype=wp.int32)  # out: 1 where a body spins about an axis of equal inertia around it


@wp.func(module=module)
def spins_evenly(mass: wp.float64, inertia: wp.vec3d, local: wp.vec3d, u: vec6, loose: wp.vec3i):
    """Whether a body spins about one of its ``loose`` axes."""
    whole = mass * wp.dot(linear(u), linear(u)) + wp.dot(wp.cw_mul(inertia, local), local)
    for k in range(3):
        if loose[k] != 0 and inertia[k] * local[k] * local[k] > spins * whole:
            return True
    return False


@wp.kernel(module=module, enable_backward=False)
def turn_about_pivots(table: PivotTable):
    """One thread: all bodies of an island come before its axis."""
    for k in range(table.count[ISLANDS]):
        table.spin[k] = wp.vec3d()
        table.pull[k] = wp.vec3d()
        table.about[k] = zero
        table.whole[k] = zero
        table.energy[k] = zero
    table.spinning[0] = 0
    for i in range(table.count[BODIES]):
        k = table.island[i]
        q = table.q[i]
        u = table.u[i]
        inertia = table.inertia[i]
        local = turned(wp.quatd(-q[0], -q[1], -q[2], q[3]), angular(u))
        if spins_evenly(table.mass[i], inertia, local, u, table.loose[i]):
            table.spinning[0] = 1
        arm = table.x[i] - table.point[k]
        table.whole[k] += inertia[0] + inertia[1] + inertia[2] + table.mass[i] * wp.dot(arm, arm)
        table.spin[k] += turned(q, wp.cw_mul(inertia, local)) + table.mass[i] * wp.cross(arm, linear(u))
        table.pull[k] += table.mass[i] * (linear(table.free[i]) - linear(table.before[i]))
    for k in range(table.count[ISLANDS]):
        axis = table.pull[k]
        if wp.length_sq(axis) == zero:
            axis = table.spin[k]
        table.pull[k] = wp.normalize(axis)
    for i in range(table.count[BODIES]):
        k = table.island[i]
        q = table.q[i]
        axis = table.pull[k]
        local = turned(wp.quatd(-q[0], -q[1], -q[2], q[3]), axis)
        lever = wp.cross(axis, table.x[i] - table.point[k])
        table.about[k] += wp.dot(wp.cw_mul(table.inertia[i], local), local) + table.mass[i] * wp.dot(lever, lever)
    for i in range(table.count[BODIES]):
        k = table.island[i]
        motion = vec6()
        if table.hangs[k] and table.about[k] > thin * table.whole[k]:
            rate = wp.dot(table.pull[k], table.spin[k]) / table.about[k] * table.pull[k]
            motion = six(wp.cross(rate, table.x[i] - table.point[k]), rate)
            table.energy[k] += moving_energy(table.mass[i], motion)
            table.energy[k] += turning_energy(table.inertia[i], table.q[i], motion)
        table.motion[i] = motion


class _Pivots(threading.local):
    """The table of one thread."""

    def __init__(self):
        self.table = HostTable(PivotTable, count=2, spinning=1)
        self.kernel = HostKernel(turn_about_pivots, self.table, alone=True)


_pivots = _Pivots()


def turns_about(bodies, end_velocity, end, islands, loose):
    """(n, 6) motion of each dynamic body as a part of its island turning about the line of the pull through the point
    it hangs from, 0 of islands that do not; (islands,) energy of it [J]; and whether any body of all spins about an
    axis that is ``loose``.

    Args:
        bodies: problem.Bodies of a step.
        end_velocity: (n, 6) free velocity at its end [m/s, rad/s].
        end: pose where it ends, (B, 3) and (B, 4), and (n, 6) velocity there.
        islands: (n,) number of each body's; (islands, 3) the point of each [m]; (islands,) bool, which hang from it.
        loose: (n, 3) bool, principal axes about which nothing turns a body, and its inertia is equal all around.
    """
    (island, point, hangs), n = islands, bodies.dynamic_count
    v, count = _pivots.table.reserve(max(n, len(hangs))), len(hangs)
    v.count[:] = n, count
    columns = {
        "island": island, "mass": bodies.mass, "inertia": bodies.inertia, "x": end[0][0], "q": end[0][1], "u": end[1],
        "before": bodies.velocity, "free": end_velocity, "loose": loose,
    }  # fmt: skip
    for name, values in columns.items():
        getattr(v, name)[:n] = values[:n]
    v.point[:count], v.hangs[:count] = point, hangs
    _pivots.kernel.run()
    return v.motion[:n].copy(), v.energy[:count].copy(), bool(v.spinning[0])
