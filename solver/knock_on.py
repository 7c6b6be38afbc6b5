# SPDX-License-Identifier: GPL-3.0-or-later
"""Impacts that lead to impacts within a step: ``reference/knock_on.py``, group by group."""

from typing import NamedTuple

import numpy as np
import warp as wp

from .components import connected_components
from .flags import some
from .host import HostKernel, HostTable
from .impact import time_to_zero, write_parts
from .mathx.real import real_types
from .reference.impact import approach
from .reference.knock_on import ROUNDS, SETTLED, SWEEPS, central, reflections, slowest_hits
from .reference.rows import start_gaps

vec6 = real_types(wp.float64).vec6
MOST_ROUNDS, MOST_SWEEPS = wp.constant(ROUNDS), wp.constant(SWEEPS)
LAST_CHANGE = wp.constant(wp.float64(SETTLED))
ZERO, HALF = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(0.5))
FREE, STRUCK, FAST = wp.constant(0), wp.constant(1), wp.constant(2)


@wp.struct
class Groups:
    """Contacts that hang together: entries start[g] to start[g + 1] of the Members."""

    count: wp.array(dtype=wp.int32)  # groups, parts of the step
    setting: wp.array(dtype=wp.float64)  # gap of what touches [m], approach that is none [m/s]
    start: wp.array(dtype=wp.int32)


@wp.struct
class Members:
    """Contacts of groups, one group after the other, with their rows as ``reflections`` has them."""

    a: wp.array(dtype=wp.int32)
    b: wp.array(dtype=wp.int32)
    j_a: wp.array(dtype=vec6)
    j_b: wp.array(dtype=vec6)
    r_a: wp.array(dtype=vec6)
    r_b: wp.array(dtype=vec6)
    restitution: wp.array(dtype=wp.float64)
    slowest: wp.array(dtype=wp.float64)
    gap: wp.array(dtype=wp.float64)
    apart: wp.array(dtype=wp.float64)  # what touches, though it is apart by up to ``close``, ends as much farther apart
    speed: wp.array(dtype=wp.float64)
    pull: wp.array(dtype=wp.float64)
    free_pull: wp.array(dtype=wp.float64)  # of free motion above surfaces that do not get faster
    impulse: wp.array(dtype=wp.float64)
    wanted: wp.array(dtype=wp.float64)
    state: wp.array(dtype=wp.int32)  # FREE, STRUCK or FAST
    bounced: wp.array(dtype=wp.int32)
    rests: wp.array(dtype=wp.int32)  # it has no pull any more
    hits: wp.array(dtype=wp.int32)


@wp.struct
class Parts:
    """Of led_course.Course, member by member, and the approach that does not rebound."""

    length: wp.array(dtype=wp.float64)
    jump: wp.array(dtype=wp.float64)
    bend: wp.array(dtype=wp.float64)
    slowest: wp.array(dtype=wp.float64)


@wp.struct
class Changes:
    """Of the velocity of each body by one reflection."""

    of: wp.array(dtype=vec6)


module = "axion_knock_on"
kernel = wp.kernel(module=module, enable_backward=False)


@wp.func(module=module)
def begin(con: Members, parts: Parts, first: int, end: int, part: int, count: int):
    """Go over to one of ``count`` parts of the step."""
    for m in range(first, end):
        at = m * count + part
        con.speed[m] = con.speed[m] + parts.jump[at]
        con.slowest[m] = parts.slowest[at]
        if con.rests[m] == 0:
            con.pull[m] = con.free_pull[m] + parts.bend[at]


@wp.func(module=module)
def strike(con: Members, first: int, end: int, close: wp.float64, still: wp.float64):
    """Mark what touches and approaches, and what it leaves with.  Returns the fastest approach; 0: there is none."""
    fastest = ZERO
    for m in range(first, end):
        speed = con.speed[m]
        con.state[m] = FREE
        if con.gap[m] <= close and speed < -still:
            fastest = wp.max(fastest, -speed)
            con.state[m] = STRUCK
            con.hits[m] = 1
            con.apart[m] = con.apart[m] + con.gap[m]
            con.gap[m] = ZERO
            con.impulse[m] = ZERO
            con.wanted[m] = ZERO
            if -speed > con.slowest[m] and con.restitution[m] > ZERO:
                con.state[m] = FAST
                con.bounced[m] = 1
                con.wanted[m] = -con.restitution[m] * speed
            else:
                con.pull[m] = ZERO
                con.rests[m] = 1
    return fastest


@wp.func(module=module)
def reflect(con: Members, bodies: Changes, first: int, end: int, fastest: wp.float64):
    """Give what is struck the smallest impulses that leave it with what is wanted, and all speeds their change."""
    for m in range(first, end):
        bodies.of[con.a[m]] = vec6()
        bodies.of[con.b[m]] = vec6()
    sweep = int(0)
    going = bool(True)
    while going and sweep < MOST_SWEEPS:
        most = ZERO
        for m in range(first, end):
            if con.state[m] != FREE:
                a = con.a[m]
                b = con.b[m]
                weight = wp.dot(con.j_a[m], con.r_a[m]) + wp.dot(con.j_b[m], con.r_b[m])
                moved = wp.dot(con.j_a[m], bodies.of[a]) + wp.dot(con.j_b[m], bodies.of[b])
                new = wp.max(ZERO, con.impulse[m] + (con.wanted[m] - con.speed[m] - moved) / weight)
                change = new - con.impulse[m]
                most = wp.max(most, wp.abs(change) * weight)
                bodies.of[a] = bodies.of[a] + change * con.r_a[m]
                bodies.of[b] = bodies.of[b] + change * con.r_b[m]
                con.impulse[m] = new
        sweep += 1
        going = most > LAST_CHANGE * fastest
    for m in range(first, end):
        con.speed[m] = con.speed[m] + (
            wp.dot(con.j_a[m], bodies.of[con.a[m]]) + wp.dot(con.j_b[m], bodies.of[con.b[m]])
        )


@wp.func(module=module)
def fly(con: Members, first: int, end: int, left: wp.float64, still: wp.float64):
    """Carry the contacts on to the next arrival.  Returns the time left then; negative where nothing arrives in it."""
    time = wp.float64(wp.inf)
    for m in range(first, end):
        con.wanted[m] = time_to_zero(con.gap[m], con.speed[m], con.pull[m])
        time = wp.min(time, con.wanted[m])
    if time > left:
        return -wp.float64(1.0)
    for m in range(first, end):
        arrived = con.wanted[m] == time
        con.gap[m] = con.gap[m] + time * (con.speed[m] + HALF * con.pull[m] * time)
        con.speed[m] = con.speed[m] + con.pull[m] * time
        if arrived:
            con.gap[m] = ZERO
            if con.speed[m] >= -still:
                con.hits[m] = 1
                con.speed[m] = ZERO
                con.pull[m] = ZERO
                con.rests[m] = 1
    return left - time


@kernel
def play(groups: Groups, con: Members, bodies: Changes, parts: Parts):
    """Gap, speed, bounced and hits of the members at the end of the step; they hold what is at its start."""
    g = wp.tid()
    if g >= groups.count[0]:
        return
    first = groups.start[g]
    end = groups.start[g + 1]
    close = groups.setting[0]
    still = groups.setting[1]
    most = MOST_ROUNDS * (end - first)
    for part in range(groups.count[1]):
        begin(con, parts, first, end, part, groups.count[1])
        left = parts.length[part]
        rounds = int(0)
        going = bool(True)
        while going:
            if rounds == most:  # what still hits is taken to rest
                going = False
                for m in range(first, end):
                    if con.gap[m] <= close:
                        con.speed[m] = wp.max(con.speed[m], ZERO)
            else:
                rounds += 1
                fastest = strike(con, first, end, close, still)
                if fastest > ZERO:
                    reflect(con, bodies, first, end, fastest)
                else:
                    then = fly(con, first, end, left, still)
                    going = then >= ZERO
                    left = wp.where(going, then, left)
        for m in range(first, end):
            con.gap[m] = wp.max(ZERO, con.gap[m] + left * (con.speed[m] + HALF * con.pull[m] * left))
            con.speed[m] = con.speed[m] + con.pull[m] * left
    for m in range(first, end):
        con.gap[m] = con.gap[m] + con.apart[m]


class _Part(NamedTuple):
    """Of a StepProblem what ``reflections`` and ``start_gaps`` ask for, with some of its contacts."""

    bodies: object
    contacts: object


def groups_of(problem, count, rebounds):
    """Contacts that hang together with one that ``rebounds`` (C,) bool by bodies that move, of ``count`` in all: their
    numbers, group by group, the group of each, and their ``reflections``.

    Those that stand alone and groups with impacts that are not central are left out.
    """
    contacts = problem.contacts
    moving = (contacts.body_a < count) & (contacts.body_b < count)
    label = connected_components(count, contacts.body_a[moving], contacts.body_b[moving])
    label = label[np.minimum(contacts.body_a, contacts.body_b)]  # bodies that do not move come last
    together = np.zeros(count, bool)
    together[label[rebounds]] = True
    together &= np.bincount(label, minlength=count) > 1
    taken = np.flatnonzero(together[label])
    taken = taken[np.argsort(label[taken], kind="stable")]
    rows = reflections(_Part(problem.bodies, contacts.take(taken)))
    together[label[taken[~central(rows)]]] = False
    keep = together[label[taken]]
    taken = taken[keep]
    return taken, (np.cumsum(together) - 1)[label[taken]], [values[keep] for values in rows]


class KnockOn:
    """Impacts that lead to impacts, for the contacts of one scene, step by step."""

    def __init__(self):
        self._groups, self._members = HostTable(Groups, count=2, setting=2), HostTable(Members)
        self._changes, self._parts = HostTable(Changes), HostTable(Parts)
        self._kernel = HostKernel(play, self._groups, self._members, self._changes, self._parts)

    def rebounds(self, problem, end_velocity, alone, slowest, close, held=None, course=None):
        """Gap (C,) [m], speed (C,) [m/s] and hits (C,) bool as ``Impacts.rebounds``, but of what hangs together.

        problem, end_velocity, slowest, held, course: as there; alone: its result; close: gaps below this [m] touch.
        """
        gap, speed, hits = alone
        bounces = (gap > 0.0) | (speed != 0.0)
        if not some(bounces):
            return alone
        taken, group, rows = groups_of(problem, len(end_velocity), bounces)
        if not len(taken):
            return alone
        held, course = None if held is None else held[taken], None if course is None else course.take(taken)
        found = self._play(problem, end_velocity, taken, group, rows, bounces[taken], slowest, close, held, course)
        gap[taken], speed[taken], found = found
        hits[taken] |= found
        return gap, speed, hits

    def _play(self, problem, end_velocity, taken, group, rows, bounces, slowest, close, held, course):
        """Gap, speed and hits of the contacts ``taken``, which come group by group, with their ``rows``."""
        ours = _Part(problem.bodies, problem.contacts.take(taken))
        contacts, size = ours.contacts, len(taken)
        speed, gain = approach(ours.bodies, contacts, end_velocity)
        start = np.append(np.flatnonzero(np.diff(group, prepend=-1)), size)
        groups, v = self._groups.reserve(len(start)), self._members.reserve(size)
        self._changes.reserve(len(ours.bodies.mass))
        groups.start[: len(start)] = start
        groups.setting[:] = close, slowest
        parts = write_parts(self._parts, problem.step, size, course)
        groups.count[:] = len(start) - 1, parts
        least = self._parts.views.slowest[: size * parts].reshape(size, parts)
        for part in range(parts):
            faster = gain if course is None else gain + problem.step * course.bend[:, part]
            least[:, part] = slowest_hits(ours, end_velocity, faster, bounces, slowest)
        v.a[:size], v.b[:size] = contacts.body_a, contacts.body_b
        for name, values in zip(("j_a", "j_b", "r_a", "r_b"), rows, strict=True):
            getattr(v, name)[:size] = values
        v.restitution[:size] = contacts.restitution
        v.gap[:size], v.speed[:size] = np.maximum(start_gaps(ours), 0.0), speed
        v.free_pull[:size] = (gain if held is None else gain + held) / problem.step
        v.bounced[:size] = v.hits[:size] = v.rests[:size] = 0
        v.apart[:size] = 0.0
        self._kernel.run()
        bounced = v.bounced[:size] > 0
        return np.where(bounced, v.gap[:size], 0.0), np.where(bounced, v.speed[:size], 0.0), v.hits[:size] > 0
