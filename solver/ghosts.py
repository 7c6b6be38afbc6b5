# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that push bodies apart which never meet.

A contact is a half-space, with the normal of the step's start.  Past an edge or a corner it reaches far beyond the
other body: a pendulum whose bob passes a centimetre above an edge stopped in the air.  What is apart at the start of a
step, is pushed, and is still farther apart at its end than the contact says, is solved once more without that contact.
If the two bodies then meet nowhere on their way, there was nothing to push.
"""

from functools import partial

import numpy as np

from .boxes_apart import near_on_the_way
from .flags import every, places, some
from .ordered import among, distinct, without
from .passing import NO_PAIRS, on_the_way, scene_poses
from .plausible import PairOverlap, pair_number
from .reference.rows import gaps
from .vectors import length
from .velocity_phase import moves

APART = 0.01  # of the smaller half extent: what was pushed and came this near did touch
SHARE = 0.5  # of the smaller half extent: way between two looks, less than what could slip through unseen
MOST = 200  # looks of a pair in a step, of which boxes tell nothing; what would take more is taken to meet
FINEST = 1000  # looks in a step; what would take more is taken to meet


def pushed_from_afar(assembly, solution, found, model, tolerance, halved=None):
    """((P,), (Q,)): numbers of the pairs of scene bodies that were apart at the start of a solved step and that its
    contacts pushed: those that are apart at its end, and those that overlap there or did before they were held apart.

    found: ContactSet at the end pose; tolerance: [m] by which gaps may be off; halved: (n,) bool, bodies whose step is
    done again in halves, so that nobody asks for their pairs, or None.
    """
    problem, order, count = assembly.problem, assembly.numbering.scene, len(assembly.contacts)
    contacts, mass, scene = problem.contacts, problem.bodies.mass, len(order) - 1
    touched, push = contacts.start_gap[:count] <= tolerance, solution.contact_impulse[:, 0]
    pushed = push > 0.0
    pushed[:count] &= ~touched
    index = places(pushed if halved is None else pushed & ~moves(contacts, halved, len(mass)))
    if not len(index) or every(touched):
        return NO_PAIRS, NO_PAIRS
    a, b = contacts.body_a, contacts.body_b
    far = problem.step * push[index] * (1.0 / mass[a[index]] + 1.0 / mass[b[index]]) > tolerance
    if not some(far):
        return NO_PAIRS, NO_PAIRS
    index, pair = index[far], pair_number(order[a], order[b], scene)
    known = pair[:count]
    apart = without(distinct(known), distinct(known[touched]))
    index = index[among(pair[index], apart)]
    if not len(index):
        return NO_PAIRS, NO_PAIRS
    told = gaps(contacts.take(index), solution.position, solution.orientation)
    size = np.minimum(model.body_size[order[a[index]]], model.body_size[order[b[index]]])
    least = PairOverlap(found.body_a, found.body_b, found.gap, scene, most=np.inf)
    seen, pair, late = least.of(order[a[index]], order[b[index]]), pair[index], pair[count:]
    apart = seen > told + np.maximum(tolerance, APART * size)
    into = (seen < -tolerance) | among(pair, distinct(late))
    return distinct(pair[apart & ~into]), distinct(pair[into])


def met(pairs, assembly, end, collider, frames, free, tolerance):
    """(P,) bool: which pairs of scene bodies, with numbers ``pairs`` (P,), meet on the way from the step's start.

    end: with position (B + 1, 3), orientation (B + 1, 4) and velocity (B + 1, 6) of the solver's bodies, which lead
    there; free: (B,) bool, scene bodies that move freely.
    """
    bodies, h, model = assembly.problem.bodies, assembly.problem.step, collider.model
    order, velocity = assembly.numbering.scene[:-1], np.zeros((len(free), 6))
    velocity[order] = end.velocity[:-1]
    first, second = np.divmod(pairs, len(free))
    turning = model.body_radius * length(velocity[:, 3:])
    speed = length(velocity[first, :3] - velocity[second, :3]) + turning[first] + turning[second]
    looks = np.ceil(h * speed / (SHARE * np.minimum(model.body_size[first], model.body_size[second])))
    out = looks > FINEST
    share = np.linspace(0.0, 1.0, int(looks[~out].max(initial=0)) + 1)[1:, None, None]
    near = near_on_the_way(model, frames, order, partial(on_the_way, bodies, end, h, share), first, second)
    out |= near.sum(axis=0) * looks > MOST * len(share)  # those of others may be finer than its own
    while (open_ := near & ~out).any():
        look = open_.sum(axis=1).argmax()  # the one that tells of most pairs
        near[look] = False
        here, watched = open_[look], np.zeros(len(free), bool)
        watched[first[here]] = watched[second[here]] = True
        poses = frames.to_body(*scene_poses(order, *on_the_way(bodies, end, h, share[look, 0])))
        found = collider.collide_again(*poses, free, velocity[:, 3:], watched, pairs[here])
        deep = found.gap < -tolerance
        out |= among(pairs, distinct(pair_number(found.body_a[deep], found.body_b[deep], len(free))))
    return out
