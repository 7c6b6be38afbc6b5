# SPDX-License-Identifier: GPL-3.0-or-later
"""Where rebounding contacts are at the end of the step they hit in: ``reference/impact.py``, contact by contact."""

import numpy as np
import warp as wp

from .host import MANY, HostKernel, HostTable
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .predict import turned
from .reference.impact import MOST_HITS
from .reference.rows import start_gaps

point_velocity = rotation_functions(real_types(wp.float64)).point_velocity
vec6 = real_types(wp.float64).vec6
HITS = wp.constant(MOST_HITS)
CONTACTS, DYNAMIC, PARTS = wp.constant(0), wp.constant(1), wp.constant(2)
STEP, SLOWEST = wp.constant(0), wp.constant(1)


@wp.struct
class ImpactBodies:
    """The solver's bodies at the step's start."""

    q: wp.array(dtype=wp.quatd)
    u: wp.array(dtype=vec6)
    gain: wp.array(dtype=wp.vec3d)  # of velocity by free motion; of those that move


@wp.struct
class ImpactContacts:
    """Contacts as in problem.Contacts, and where free motion takes them."""

    count: wp.array(dtype=wp.int32)  # contacts, bodies that move, parts of the step
    setting: wp.array(dtype=wp.float64)  # step [s], slowest approach that rebounds [m/s]
    a: wp.array(dtype=wp.int32)
    b: wp.array(dtype=wp.int32)
    point_a: wp.array(dtype=wp.vec3d)
    point_b: wp.array(dtype=wp.vec3d)
    margin_a: wp.array(dtype=wp.float64)
    margin_b: wp.array(dtype=wp.float64)
    normal: wp.array(dtype=wp.vec3d)
    start_gap: wp.array(dtype=wp.float64)
    restitution: wp.array(dtype=wp.float64)
    drift: wp.array(dtype=wp.float64)
    held: wp.array(dtype=wp.float64)  # what does not come to be of the gain of its gap velocity, with its sign changed
    gap: wp.array(dtype=wp.float64)  # out
    speed: wp.array(dtype=wp.float64)
    hits: wp.array(dtype=wp.int32)


@wp.struct
class ImpactParts:
    """Of led_course.Course, contact by contact."""

    length: wp.array(dtype=wp.float64)
    jump: wp.array(dtype=wp.float64)
    bend: wp.array(dtype=wp.float64)


module = "axion_impact"
kernel = wp.kernel(module=module, enable_backward=False)


@wp.func(module=module)
def time_to_zero(gap: wp.float64, speed: wp.float64, pull: wp.float64):
    """First t >= 0 at which gap + speed t + pull t^2 / 2 falls through zero; inf where it never does."""
    zero = wp.float64(0.0)
    root = speed * speed - wp.float64(2.0) * pull * gap
    if root < zero:
        return wp.float64(wp.inf)
    # of the two forms of the root, the one that does not subtract: it falls through zero with v = -sqrt(root)
    width = wp.sqrt(root)
    if speed < zero:
        return wp.float64(2.0) * gap / (width - speed)
    if pull < zero:
        return (speed + width) / -pull
    return wp.float64(wp.inf)


@wp.func(module=module)
def rebound_of(con: ImpactContacts, bodies: ImpactBodies, parts: ImpactParts, c: int):
    """Gap, speed and hits of one contact at the end of the step."""
    zero = wp.float64(0.0)
    h = con.setting[STEP]
    n = con.normal[c]
    a = con.a[c]
    b = con.b[c]
    arm_a = turned(bodies.q[a], con.point_a[c]) - con.margin_a[c] * n
    arm_b = turned(bodies.q[b], con.point_b[c]) + con.margin_b[c] * n
    speed = wp.dot(n, point_velocity(bodies.u[a], arm_a) - point_velocity(bodies.u[b], arm_b)) + con.drift[c]
    gain = zero
    if a < con.count[DYNAMIC]:
        gain += wp.dot(n, bodies.gain[a])
    if b < con.count[DYNAMIC]:
        gain -= wp.dot(n, bodies.gain[b])
    gap = wp.max(con.start_gap[c], zero)
    hits = int(0)
    bounced = bool(False)
    for part in range(con.count[PARTS]):
        bend = parts.bend[c * con.count[PARTS] + part]
        left = parts.length[part]
        speed += parts.jump[c * con.count[PARTS] + part]
        pull = (gain + con.held[c]) / h + bend
        slowest = wp.max(con.setting[SLOWEST], wp.float64(0.5) * wp.abs(gain + h * bend))
        moving = bool(True)
        going = bool(True)
        rounds = int(0)
        while going:
            time = time_to_zero(gap, speed, pull)
            going = time <= left
            if going and rounds == HITS:  # one that still hits is taken to rest
                going = False
                moving = False
                speed = zero
            if going:
                rounds += 1
                hits = 1
                arrival = speed + pull * time
                left = left - time
                gap = zero
                if -arrival <= slowest or con.restitution[c] <= zero:
                    going = False
                    moving = False
                    speed = zero
                else:
                    bounced = True
                    speed = -con.restitution[c] * arrival
        if moving:
            gap = wp.max(zero, gap + left * (speed + wp.float64(0.5) * pull * left))
            speed = speed + pull * left
    con.hits[c] = hits
    con.gap[c] = wp.where(bounced, gap, zero)
    con.speed[c] = wp.where(bounced, speed, zero)


@kernel
def rebound(con: ImpactContacts, bodies: ImpactBodies, parts: ImpactParts):
    """One thread: the same of the table's contacts."""
    for c in range(con.count[CONTACTS]):
        rebound_of(con, bodies, parts, c)


def write_parts(table, step, count, course):
    """Put a led_course.Course of ``count`` contacts, or None, into a HostTable of ImpactParts; returns its parts."""
    if course is None:
        views = table.reserve(count)
        views.length[0], views.jump[:count], views.bend[:count] = step, 0.0, 0.0
        return 1
    parts, size = len(course.parts), course.jump.size
    views = table.reserve(max(size, parts))
    views.length[:parts], views.jump[:size], views.bend[:size] = course.parts, course.jump.ravel(), course.bend.ravel()
    return parts


class Impacts:
    """Newton's law of impact for the contacts of one scene, step by step."""

    def __init__(self):
        self._contacts, self._bodies = HostTable(ImpactContacts, MANY, count=3, setting=2), HostTable(ImpactBodies)
        self._parts = HostTable(ImpactParts, MANY)
        self._kernel = HostKernel(rebound, self._contacts, self._bodies, self._parts, alone=True)

    def rebounds(self, problem, end_velocity, slowest, held=None, course=None):
        """Gap (C,) [m] and speed (C,) [m/s] a rebound ends the step with, and hits (C,) bool; see the reference.

        problem: StepProblem; end_velocity: (n, 6) free velocity of those that move at the step's end; slowest: [m/s];
        held: (C,) of ``kept_up`` in foresight.py, or None; course: led_course.Course, or None.
        """
        contacts, bodies, count, n = problem.contacts, problem.bodies, len(problem.contacts), len(end_velocity)
        if not count:
            return np.zeros(0), np.zeros(0), np.zeros(0, bool)
        total = len(bodies.mass)
        v, w = self._contacts.reserve(count), self._bodies.reserve(total)
        parts = write_parts(self._parts, problem.step, count, course)
        v.count[:], v.setting[:] = (count, n, parts), (problem.step, slowest)
        v.a[:count], v.b[:count] = contacts.body_a, contacts.body_b
        v.point_a[:count], v.point_b[:count] = contacts.point_a, contacts.point_b
        v.margin_a[:count], v.margin_b[:count] = contacts.margin_a, contacts.margin_b
        v.normal[:count], v.start_gap[:count] = contacts.normal, start_gaps(problem)
        v.restitution[:count] = contacts.restitution
        v.drift[:count] = 0.0 if contacts.surface_drift is None else contacts.surface_drift
        v.held[:count] = 0.0 if held is None else held
        w.q[:total], w.u[:total] = bodies.orientation, bodies.velocity
        np.subtract(end_velocity[:, :3], bodies.velocity[:n, :3], out=w.gain[:n])
        self._kernel.run()
        return v.gap[:count].copy(), v.speed[:count].copy(), v.hits[:count].astype(bool)
