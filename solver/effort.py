# SPDX-License-Identifier: GPL-3.0-or-later
"""How hard a solve tries, by the speed of the fastest body in each island: a kernel on the host.

Past what carries it straight on: what rests on a truck rests.
"""

import operator

import numpy as np
import warp as wp

from .bounces import moving_first
from .flags import some
from .host import HostKernel, HostTable
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .predict import module
from .straight_carriers import carried_at, carry
from .vectors import length

_MATH = rotation_functions(real_types(wp.float64))
linear, angular = _MATH.linear, _MATH.angular
vec6 = real_types(wp.float64).vec6

BODIES, ISLANDS = wp.constant(0), wp.constant(1)
TIGHT, LOOSE, MOVING, SETTLED, RESTING, SLOW, CALM = (wp.constant(slot) for slot in range(7))


@wp.struct
class EffortTable:
    """Dynamic bodies and their islands."""

    count: wp.array(dtype=wp.int32)
    setting: wp.array(dtype=wp.float64)  # see Effort
    u: wp.array(dtype=vec6)
    mass: wp.array(dtype=wp.float64)
    inertia: wp.array(dtype=wp.vec3d)
    island: wp.array(dtype=wp.int32)
    jointed: wp.array(dtype=wp.int32)  # (islands,)
    speed: wp.array(dtype=wp.float64)  # (islands,) scratch
    tolerance: wp.array(dtype=wp.float64)  # out [m]
    aim: wp.array(dtype=wp.float64)
    sweeps: wp.array(dtype=wp.bool)


@wp.kernel(module=module, enable_backward=False)
def set_effort(table: EffortTable):
    """One thread: all bodies of an island come before the first figure of it."""
    for k in range(table.count[ISLANDS]):
        table.speed[k] = wp.float64(0.0)
    for i in range(table.count[BODIES]):
        moments = table.inertia[i]
        gyration = wp.sqrt(wp.max(moments[0], wp.max(moments[1], moments[2])) / table.mass[i])
        speed = wp.max(wp.length(linear(table.u[i])), gyration * wp.length(angular(table.u[i])))
        k = table.island[i]
        table.speed[k] = wp.max(table.speed[k], speed)
    for i in range(table.count[BODIES]):
        k = table.island[i]
        speed = table.speed[k]
        tolerance = table.setting[TIGHT]
        share = table.setting[SETTLED]
        if speed > table.setting[SLOW]:
            tolerance = table.setting[LOOSE]
            share = table.setting[MOVING]
        if speed <= table.setting[CALM] and table.jointed[k] == 0:
            share = table.setting[RESTING]
        table.tolerance[i] = tolerance
        table.aim[i] = share * tolerance
        table.sweeps[i] = speed > table.setting[CALM]


class Effort:
    """Of the steps of one scene."""

    def __init__(self, tolerances, shares, speeds):
        """Take the constants.

        tolerances: of slow and of fast islands [m]; shares: of them, what islands that move, that are slow and that are
        calm and without joints aim at; speeds: up to which an island is slow, and calm [m/s].
        """
        self._table, self._setting = HostTable(EffortTable, count=2, setting=7), (*tolerances, *shares, *speeds)
        self._kernel = HostKernel(set_effort, self._table, alone=True)
        self._known = None

    def of(self, bodies, island, jointed, carried=None):
        """(tolerance [m], aim [m], bool whether Gauss-Seidel may help), (n,) each, of problem.Bodies that start a step.

        island: (n,) of each dynamic body; jointed: (islands,) bool, which of them joints hold; carried: (n, 3) velocity
        of what carries each [m/s], or None.
        """
        n = bodies.dynamic_count
        v = self._table.reserve(max(n, len(jointed)))
        known = bodies.mass, bodies.inertia, island, jointed, v.u
        if self._known is None or not all(map(operator.is_, self._known, known)):
            v.count[:], v.setting[:] = (n, len(jointed)), self._setting
            v.mass[:n], v.inertia[:n], v.island[:n] = bodies.mass[:n], bodies.inertia[:n], island
            v.jointed[: len(jointed)] = jointed
            frozen = not any(values.flags.writeable for values in known[:-1])
            self._known = known if frozen else None
        v.u[:n] = bodies.velocity[:n]
        if carried is not None:
            v.u[:n, :3] -= carried
        self._kernel.run()
        return v.tolerance[:n].copy(), v.aim[:n].copy(), v.sweeps[:n].copy()


def speeds(assembly, solution, known, noise):
    """(n,) speed of the fastest body of each body's island in a solved step, past what carries it [m/s].

    known: that in the world; noise: as in ``carried_at``.
    """
    bodies, n = assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    if not carry(assembly.problem):
        return known
    carried = carried_at(assembly, bodies.velocity, noise)
    if not some(carried):
        return known
    linear, turning = length(solution.velocity[:n, :3] - carried), length(solution.velocity[:n, 3:])
    fastest = np.zeros(len(assembly.island_jointed))
    np.maximum.at(fastest, assembly.island, np.maximum(linear, bodies.gyration()[:n] * turning))
    return np.where(carried.any(axis=1), fastest[assembly.island], known)


def hanging(assembly):
    """(n,) bool: bodies of islands that joints hold, and in which nothing touches."""
    contacts, island, held = assembly.problem.contacts, assembly.island, assembly.island_jointed
    if len(contacts):
        lower = np.minimum(contacts.body_a, contacts.body_b)  # what does not move comes last
        held = held & (np.bincount(island[lower], minlength=len(held)) == 0)
    return held[island]


def adds_up(problem):
    """(n,) bool: bodies of a StepProblem of which a solve leaves the same error step after step: with a spin that
    joints turn, on rims that roll, which would land from it, and roly-polies with nothing else near, which would gain
    by it.  None: there are none.
    """
    bodies, contacts = problem.bodies, problem.contacts
    if bodies.spin is None and contacts.rim_arm is None and contacts.rolls is None:
        return None
    n = bodies.dynamic_count
    found = np.zeros(n, bool) if bodies.spin is None else bodies.spin[:n].any(axis=1)
    if contacts.rim_arm is not None:
        found[moving_first(contacts)[0][contacts.rim_arm.any(axis=1)]] = True
    if contacts.rolls is not None:
        (own, other), among = moving_first(contacts), np.zeros(n, bool)
        among[own[other < n]] = among[other[other < n]] = True
        rolls = own[contacts.rolls]
        found[rolls[~among[rolls]]] = True
    return found
