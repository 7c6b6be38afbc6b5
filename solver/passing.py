# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps in which a body turned too far for its contacts: what the two ends of such a step do not tell.

A contact is a plane at a point of the start pose.  That bounds any way, but no turn: a tumbling bullet may come to lie
on the far side of a thin wall, and a spinning rod passes a post between two frames.  And an impulse at the levers of
the start pose, on the inertia of a long body that has turned since, sets it spinning as no impact can.  Such a step
must be halved, until no body turns far in it; to add contacts found at its end would push bodies on to the side where
they should not be.
"""

import numpy as np

from .plausible import pair_number
from .reference.rotation import exponential, multiply
from .reference.rows import gaps

TURN = 1.0  # [rad] less in a step is bounded by contacts well enough
SAMPLE = 0.5  # [rad] between two looks at bodies that turn farther
MOST = 16  # looks a step
DEEP = 0.1  # of the smallest half extent: how far two bodies may seem to overlap between two looks
OPPOSED = -0.1  # cosine of two normals that point to different sides


def came_through(problem, found, order):
    """(K,) bool: contacts of ``found`` whose normals oppose all that their two bodies had at the start, still apart.

    problem: StepProblem; found: ContactSet at the end pose; order: scene number of each solver body.
    """
    contacts = problem.contacts
    through = np.zeros(len(found), bool)
    deep = np.nonzero(found.gap < 0.0)[0]
    if not len(deep) or not len(contacts):
        return through
    a, b = order[contacts.body_a], order[contacts.body_b]
    start = pair_number(a, b, len(order))
    by_pair = np.argsort(start, kind="stable")
    start, pair = start[by_pair], pair_number(found.body_a[deep], found.body_b[deep], len(order))
    first, last = np.searchsorted(start, pair), np.searchsorted(start, pair, "right")
    touching = np.append(0, np.cumsum(contacts.start_gap[by_pair] <= 0.0))
    apart = np.flatnonzero((first < last) & (touching[first] == touching[last]))
    if not len(apart):
        return through
    deep, first, count = deep[apart], first[apart], (last - first)[apart]
    begin = np.cumsum(count) - count
    before = by_pair[np.arange(count.sum()) - np.repeat(begin - first, count)]  # of each, all of its pair at the start
    normal = np.where((a < b)[:, None], contacts.normal, -contacts.normal)[before]
    towards = np.where((found.body_a < found.body_b)[:, None], found.normal, -found.normal)[np.repeat(deep, count)]
    through[deep] = np.maximum.reduceat((towards * normal).sum(axis=1), begin) < OPPOSED
    return through


def passed(assembly, solution, collider, frames, assembler, free):
    """(B,) bool: scene bodies that met another between the ends of a step, of which one turned far, and did not stop.

    Looks along the way: what contacts at one look do not hold apart until the next was not held apart by the step.
    free: (B,) bool, scene bodies that move freely.
    """
    problem, model, order = assembly.problem, collider.model, assembly.numbering.scene[:-1]
    bodies, h, velocity = problem.bodies, problem.step, solution.velocity[:-1]
    turn, through = h * np.linalg.norm(velocity[:, 3:], axis=1), np.zeros(len(order), bool)
    spinning = _near_others(bodies.position[:-1], model.body_radius[order], velocity, h, np.flatnonzero(turn > TURN))
    if not len(spinning):
        return through
    looks, watched = int(min(MOST, np.ceil(turn[spinning].max() / SAMPLE))), np.zeros(len(order), bool)
    watched[order[spinning]] = True
    touching = _pairs(problem.contacts, order)[problem.contacts.start_gap <= 0.0]
    here = bodies.position, bodies.orientation
    linear, angular = np.zeros((len(order), 3)), np.zeros((len(order), 3))
    linear[order], angular[order] = velocity[:, :3], velocity[:, 3:]
    for look in range(1, looks + 1):
        share = look / looks
        there = (
            (1.0 - share) * bodies.position + share * solution.position,
            multiply(exponential(share * h * solution.velocity[:, 3:]), bodies.orientation),
        )
        place = frames.to_body(*scene_poses(order, *here))
        found = collider.collide(*place, linear, angular, h / looks, free, watched)
        if len(found):
            nearby = assembler.contacts(found, np.zeros((len(found), 3)), assembly.numbering, here[1])
            size = found.manifolds.size[found.source]
            met = (found.gap > 0.0) & (gaps(nearby, *there) < -DEEP * size) & ~np.isin(_pairs(nearby, order), touching)
            through[found.body_a[met]] = through[found.body_b[met]] = True
        here = there
    return through


def scene_poses(order, position, orientation):
    """Poses (B, 3), (B, 4) of the scene's bodies, from those of the solver's and of the world, which comes last.

    order: (B,) scene number of each solver body.
    """
    place, tilt = np.empty((len(order), 3)), np.empty((len(order), 4))
    place[order], tilt[order] = position[:-1], orientation[:-1]
    return place, tilt


def _pairs(contacts, order):
    """(C,) int64, a number for each pair of bodies of solver Contacts."""
    return pair_number(order[contacts.body_a], order[contacts.body_b], len(order))


def _near_others(position, radius, velocity, step, spinning):
    """Those of ``spinning`` (N,) that may meet another body in the step; planes have no radius and are always near."""
    reach = radius + step * np.linalg.norm(velocity[:, :3], axis=1)
    near = np.zeros(len(spinning), bool)
    for k, i in enumerate(spinning):
        met = (np.linalg.norm(position - position[i], axis=1) < reach + reach[i]) | (radius == 0.0)
        near[k] = np.count_nonzero(met) > met[i]
    return spinning[near]
