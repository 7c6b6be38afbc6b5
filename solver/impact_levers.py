# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies that hit each other within a step are pushed: with the levers and the normal of that moment.

By the end of the step they have moved on past each other, and impulses there would give smooth balls a spin.
"""

from dataclasses import replace

import numpy as np

from .meeting import meeting_point
from .reference.impact import approach, time_to_zero
from .reference.rotation import exponential, multiply
from .rotations import conjugate, rotate


def as_they_hit(at_end, problem, solution, needed):
    """The Contacts ``at_end`` of the velocity phase, those that close in the step with what they had when they hit.

    Corners that land and stay are not among them: with the lever of the end of a step a wheel rolls on over its facets.
    Points are put where a body must be pushed at its end pose for the lever to be that of the hit, in world axes.

    Args:
        problem: StepProblem of the position phase, with the same contacts as they were at the start.
        solution: its StepSolution.
        needed: (C,) bool, contacts that take part; the others are left as they are.
    """
    contacts, bodies, h = problem.contacts, problem.bodies, problem.step
    if contacts.start_gap is None or contacts.rebound_speed is None:
        return at_end
    flies = (contacts.rebound_speed != 0.0) | (contacts.rebound_gap > 0.0)
    taken = flies | ((contacts.margin_a > 0.0) & (contacts.margin_b > 0.0))
    if contacts.glides is not None:
        taken = taken & ~contacts.glides
    some = np.flatnonzero(needed & taken & (solution.contact_impulse[:, 0] > 0.0) & (contacts.start_gap > 0.0))
    if not len(some):
        return at_end
    contacts, n = contacts.take(some), bodies.dynamic_count
    last = bodies.free_velocity + bodies.midpoint[:, None] * (bodies.free_velocity - bodies.velocity)
    speed, gain = approach(bodies, contacts, last[:n])
    time = time_to_zero(contacts.start_gap, speed, gain / h)
    hit = time <= h
    some, contacts, time = some[hit], contacts.take(hit), time[hit, None]
    poses = []
    for body in (contacts.body_a, contacts.body_b):
        velocity, pull = bodies.velocity[body], (last - bodies.velocity)[body, :3] / h
        poses.append(bodies.position[body] + time * (velocity[:, :3] + 0.5 * time * pull))
        poses.append(multiply(exponential(time * velocity[:, 3:]), bodies.orientation[body]))
    normal = contacts.normal.copy()
    if contacts.face is not None:
        for body, turn in ((contacts.body_a, poses[1]), (contacts.body_b, poses[3])):
            own = contacts.face == body
            normal[own] = rotate(turn[own], contacts.face_normal[own])
    point = meeting_point(replace(contacts, normal=normal), poses, n)
    changed = {"normal": at_end.normal.copy(), "point_a": at_end.point_a.copy(), "point_b": at_end.point_b.copy()}
    changed["normal"][some] = normal
    sides = ("point_a", contacts.body_a, poses[0]), ("point_b", contacts.body_b, poses[2])
    for name, body, place in sides:
        changed[name][some] = rotate(conjugate(solution.orientation[body]), point - place)
    return replace(at_end, **changed)
