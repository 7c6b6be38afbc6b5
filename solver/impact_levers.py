# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies that hit each other within a step are pushed: with the levers and the normal of that moment.

By the end of the step they have moved on past each other, and impulses there would give smooth balls a spin.
"""

import numpy as np

from .arrivals import by_arrivals
from .copies import replace
from .curves import CENTRED
from .meeting import meeting_point
from .reference.impact import approach, time_to_zero
from .reference.rotation import exponential, multiply
from .rotations import conjugate, rotate
from .vectors import inner, length

PARTED = 1e-2  # of the smaller radius: balls farther apart at a step's end pushed each other before


def as_they_hit(at_end, assembly, solution, needed, off=None):
    """The Contacts ``at_end`` of the velocity phase, those that close in the step with what they had when they hit.

    Corners that land and stay are not among them: with the lever of the end of a step a wheel rolls on over its facets.
    Points are put where a body must be pushed at its end pose for the lever to be that of the hit, in world axes.

    Args:
        assembly: of the position phase, with the same contacts as they were at the start.
        solution: StepSolution of its problem.
        needed: (C,) bool, contacts that take part; the others are left as they are.
        off: (C,) bool, those of bodies that tumbled on past each other, or None.
    """
    problem = assembly.problem
    contacts, bodies, h = problem.contacts, problem.bodies, problem.step
    if contacts.start_gap is None or contacts.rebound_speed is None:
        return at_end
    needed = needed & (solution.contact_impulse[:, 0] > 0.0)
    if contacts.glides is not None:
        needed &= ~contacts.glides
    if contacts.core_reach is not None:
        needed &= contacts.core_reach == 0.0  # these go on around each other
    flies = (contacts.rebound_speed != 0.0) | (contacts.rebound_gap > 0.0)
    if off is not None:
        flies |= off
    some = np.flatnonzero(needed & (flies | (contacts.margin_a > 0.0) & (contacts.margin_b > 0.0)))
    if not len(some):
        return at_end
    changed = {"normal": at_end.normal.copy(), "point_a": at_end.point_a.copy(), "point_b": at_end.point_b.copy()}
    near, n = contacts.take(some), bodies.dynamic_count
    last = bodies.velocity.copy()
    last[:n] = assembly.end_velocity
    speed, gain = approach(bodies, near, assembly.end_velocity)
    time = time_to_zero(np.maximum(near.start_gap, 0.0), speed, gain / h)
    time[(near.start_gap <= 0.0) & ~flies[some]] = np.inf
    late, way, parted = _balls(near, solution, np.flatnonzero(time > h))
    time[late[parted]] = 0.0
    late, way = late[~parted], way[~parted]
    if len(late):
        kept = near.take(late)
        _put(changed, some[late], solution, kept, *_between(kept, way))
    hit, every, when = time <= h, some, time
    some, contacts, time = some[hit], near.take(hit), time[hit, None]
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
    lever_a, lever_b, way = point - poses[0], point - poses[2], poses[0] - poses[2]
    balls = np.flatnonzero(centred(contacts) & way.any(axis=1))
    if len(balls):
        normal[balls], lever_a[balls], lever_b[balls] = _between(contacts.take(balls), way[balls])
    met = hit, normal, lever_a, lever_b
    faster = by_arrivals(problem, solution, at_end, every, (when, speed, gain, last - bodies.velocity), met)
    if faster is not None:
        changed["rebound_speed"] = faster
    _put(changed, some, solution, contacts, normal, lever_a, lever_b)
    return replace(at_end, **changed)


def centred(contacts):
    """(C,) bool: contacts of two balls about their centres of mass."""
    found = inner(contacts.point_a, contacts.point_a) < (CENTRED * contacts.margin_a) ** 2
    return found & (inner(contacts.point_b, contacts.point_b) < (CENTRED * contacts.margin_b) ** 2)


def _balls(contacts, solution, index):
    """Those of ``index`` (K,) that are contacts of two smooth balls about their centres of mass; the way (N, 3) between
    these at the end, from b to a; and (N,) bool, which have parted.

    Whatever pushes smooth balls goes through their middles: while they touch, along the line between these; and where
    they have parted, as those of a rack that was struck, along that of the start.
    """
    index = index[contacts.friction.take(index) == 0.0]
    index = index[centred(contacts.take(index))]
    near = contacts.take(index)
    way = solution.position[near.body_a] - solution.position[near.body_b]
    apart = length(way) - near.margin_a - near.margin_b
    return index, way, apart > PARTED * np.minimum(near.margin_a, near.margin_b)


def _between(contacts, way):
    """Normals (K, 3) along ``way`` (K, 3) from balls b to a, and the levers of both to half way between them."""
    normal = way / length(way)[:, None]
    lever = 0.5 * (normal * (contacts.margin_b - contacts.margin_a)[:, None] - way)
    return normal, lever, lever + way


def _put(changed, index, solution, contacts, normal, lever_a, lever_b):
    """Write normals (K, 3) and levers (K, 3), in world axes, of the contacts ``index`` (K,) to ``changed``."""
    changed["normal"][index] = normal
    for name, body, lever in (("point_a", contacts.body_a, lever_a), ("point_b", contacts.body_b, lever_b)):
        changed[name][index] = rotate(conjugate(solution.orientation[body]), lever)
