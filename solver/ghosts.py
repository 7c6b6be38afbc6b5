# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that push bodies apart which never meet.

A contact is a half-space, with the normal of the step's start.  Past an edge or a corner it reaches far beyond the
other body: a pendulum whose bob passes a centimetre above an edge stopped in the air.  What is apart at the start of a
step, is pushed, and is still farther apart at its end than the contact says, is solved once more without that contact.
So is what free motion leads past: that it touches in the end proves nothing, as the push may have tilted it until it
did; what others push together is real.  If the two bodies then meet nowhere on their way, nothing was to be pushed.
"""

from functools import partial
from types import SimpleNamespace

import numpy as np

from .boxes_apart import near_on_the_way
from .flags import every, places
from .ordered import among, distinct, union, without
from .passing import NO_PAIRS, on_the_way, scene_poses
from .plausible import PairOverlap
from .pushed_back import end_without
from .reference.rows import gaps
from .rotations import conjugate, rotate
from .vectors import length
from .velocity_phase import moves

APART = 0.01  # of the smaller half extent: what was pushed and came this near did touch
SHARE = 0.5  # of the smaller half extent: way between two looks, less than what could slip through unseen
MOST = 200  # looks of a pair in a step, of which boxes tell nothing; what would take more is taken to meet
FINEST = 1000  # looks in a step; what would take more is taken to meet


def suspects(solved, first, real, flown, halved, collider, frames, tolerance):
    """Numbers of the pairs of scene bodies that may have been pushed in a Solved step and not met, but for ``real``.

    Of those that touch at the end only what free motion leads past each other: the others would have met anyway.
    first: the Solved step before any were left out; flown: {pair: whether its free motion lets it meet}, to which
    answers are added; halved, tolerance: as in ``pushed_from_afar``.
    """
    if not solved.seen:
        return NO_PAIRS
    judged = solved.check.found, collider.model, tolerance, halved
    apart, touching = (without(pairs, real) for pairs in pushed_from_afar(solved.assembly, solved.solution, *judged))
    new = np.array([pair for pair in touching.tolist() if pair not in flown], np.int64)
    if len(new):
        bodies = first.assembly.problem.bodies
        end = SimpleNamespace(
            position=bodies.free_position, orientation=bodies.free_orientation, velocity=bodies.free_velocity
        )
        meet = _run_into(new, first.assembly, end, collider.model, frames, tolerance)
        if not every(meet):
            asked = new[~meet]
            meet[~meet] = met(asked, first.assembly, end, collider, frames, first.check.free, tolerance)
        others = places(~meet & _pushed_by_others(solved.assembly, solved.solution, new))
        if len(others):  # which may push them together
            end = end_without(solved.assembly.problem, solved.solution, places(of_pairs(new[others], solved.assembly)))
            meet[others] = met(new[others], solved.assembly, end, collider, frames, first.check.free, tolerance)
        flown.update(zip(new.tolist(), meet.tolist(), strict=True))
    return union(apart, np.array([pair for pair in touching.tolist() if not flown[pair]], np.int64))


def _run_into(pairs, assembly, end, model, frames, tolerance):
    """(P,) bool: ``pairs`` of scene bodies, both boxes, of which one has a place of their contacts in the other by more
    than ``tolerance`` [m] at the ``end``, as in ``met``: they meet there, and nobody need look.  Of others nothing is
    told.
    """
    boxes, bodies, contacts = model.body_boxes, assembly.problem.bodies, assembly.problem.contacts
    index = places(of_pairs(pairs, assembly))
    one, two = (boxes.exact.take(side.take(index)) for side in assembly.sides)
    index = index[one & two]
    a, b = contacts.body_a.take(index), contacts.body_b.take(index)
    point = np.concatenate([contacts.point_a.take(index, 0), contacts.point_b.take(index, 0)])
    own, other = np.concatenate([a, b]), np.concatenate([b, a])
    position, orientation = on_the_way(bodies, end, assembly.problem.step, 1.0)
    way = position.take(own, 0) + rotate(orientation.take(own, 0), point) - position.take(other, 0)
    scene = assembly.numbering.scene.take(other)
    way = frames.outward(scene, rotate(conjugate(orientation.take(other, 0)), way)) - boxes.middle.take(scene, 0)
    inside = np.abs(np.einsum("kji,kj->ki", boxes.axes.take(scene, 0), way)) < boxes.half.take(scene, 0) - tolerance
    inside = inside.all(axis=1).reshape(2, -1).any(axis=0)
    return among(pairs, distinct(assembly.pairs.take(index[inside])))


def of_pairs(pairs, assembly):
    """(C,) bool: the contacts of an Assembly's problem that are of ``pairs`` (P,) of scene bodies."""
    return among(assembly.pairs, pairs)


def _pushed_by_others(assembly, solution, pairs):
    """(P,) bool: which ``pairs`` of scene bodies have one that other contacts push, too, and none that joints hold."""
    order, contacts, n = assembly.numbering.scene, assembly.problem.contacts, len(assembly.island)
    push = places((solution.contact_impulse[:, 0] > 0.0) & ~of_pairs(pairs, assembly))
    pushed, jointed = np.zeros((2, len(order) - 1), bool)
    for side in (contacts.body_a[push], contacts.body_b[push]):
        pushed[order[side[side < n]]] = True
    jointed[order[:n]] = assembly.island_jointed[assembly.island]
    either = np.stack(np.divmod(pairs, len(jointed)))
    return pushed[either].any(axis=0) & ~jointed[either].any(axis=0)


def met_without(pairs, solved, free, touched, collider, frames, tolerance):
    """(P,) bool: which ``pairs`` of scene bodies meet in a Solved step without their contacts, or had to be held apart.

    Those among ``touched``, which touched with them, must come through without a touch, others without overlap; both
    known to the ``tolerance`` [m].
    """
    assembly = solved.assembly
    found = assembly.pairs[len(assembly.contacts) :]
    clear = tolerance * np.array([1.0 if pair in touched else -1.0 for pair in pairs.tolist()])
    return met(pairs, assembly, solved.solution, collider, frames, free, clear) | among(pairs, distinct(found))


def pushed_from_afar(assembly, solution, found, model, tolerance, halved=None, least=0.0):
    """((P,), (Q,)): numbers of the pairs of scene bodies that were apart at the start of a solved step and that its
    contacts pushed: those that are apart at its end, and those that touch or overlap there, or did before they were
    held apart, and may do so only as they were pushed.

    found: ContactSet at the end pose; tolerance: [m] by which gaps may be off; halved: (n,) bool, bodies whose step is
    done again in halves, so that nobody asks for their pairs, or None; least: [m], what pushes moved by less does not
    count.
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
    if least > 0.0:
        index = index[problem.step * push[index] * (1.0 / mass[a[index]] + 1.0 / mass[b[index]]) > least]
    pair = assembly.pairs
    known = pair[:count]
    index = index[~among(pair.take(index), distinct(known[touched]))]
    if len(index) and index[-1] >= count:  # one that only showed at the end
        index = index[among(pair.take(index), distinct(known))]
    if not len(index):
        return NO_PAIRS, NO_PAIRS
    a, b, pair, late = a.take(index), b.take(index), pair.take(index), distinct(pair[count:])
    told = gaps(contacts.take(index), solution.position, solution.orientation)
    size = np.minimum(model.body_size[order[a]], model.body_size[order[b]])
    seen = PairOverlap(found.body_a, found.body_b, found.gap, scene, most=np.inf).of(order[a], order[b])
    into = (seen < -tolerance) | among(pair, late)
    apart = seen > told + np.maximum(tolerance, APART * size)
    tilts = _tilted(assembly, solution, model, tolerance)
    return distinct(pair[apart & ~into]), distinct(pair[into | ~apart & (tilts[a] | tilts[b])])


def _tilted(assembly, solution, model, tolerance):
    """(B + 1,) bool: solver bodies of which a part is elsewhere at a step's end than after free motion, by more than
    ``tolerance`` [m], as they turned otherwise.

    A push alone leads away from what it came from, so that what touches at the end would have been deeper without it.
    """
    bodies, order = assembly.problem.bodies, assembly.numbering.scene[:-1]
    gained = assembly.problem.step * length(solution.velocity[:, 3:] - bodies.free_velocity[:, 3:])
    tilts = np.zeros(len(gained), bool)
    tilts[:-1] = (gained[:-1] * model.body_radius[order] > tolerance) & ~model.balls[order]
    return tilts


def met(pairs, assembly, end, collider, frames, free, clear):
    """(P,) bool: which pairs of scene bodies, with numbers ``pairs`` (P,), meet on the way from the step's start.

    end: with position (B + 1, 3), orientation (B + 1, 4) and velocity (B + 1, 6) of the solver's bodies, which lead
    there; free: (B,) bool, scene bodies that move freely; clear: gap [m] of all or
    (P,) down to which they are apart.
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
    clear = np.broadcast_to(clear, len(pairs))
    wider = np.full(len(order), max(0.0, 0.5 * clear.max(initial=0.0)))
    near = near_on_the_way(model, frames, order, partial(on_the_way, bodies, end, h, share), first, second, wider)
    out |= near.any(axis=0) & (clear >= 2.0 * wider[0]) & model.body_boxes.exact[[first, second]].all(axis=0)
    out |= near.sum(axis=0) * looks > MOST * len(share)  # those of others may be finer than its own
    while (open_ := near & ~out).any():
        look = len(near) - 1 - open_.sum(axis=1)[::-1].argmax()  # that tells of most pairs; the last finds them deepest
        near[look] = False
        here, watched = open_[look], np.zeros(len(free), bool)
        watched[first[here]] = watched[second[here]] = True
        poses = frames.to_body(*scene_poses(order, *on_the_way(bodies, end, h, share[look, 0])))
        found = collider.collide_again(*poses, free, velocity[:, 3:], watched, pairs[here])
        a, b, depth = collider.pierced(*poses)  # contacts do not tell of all edges that are in a mesh
        both = np.append(found.body_a, a), np.append(found.body_b, b), np.append(found.gap, -depth)
        out |= PairOverlap(*both, len(free), most=np.inf).of(first, second) < clear
    return out
