# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps in which a body turned too far for its contacts: what the two ends of such a step do not tell.

A contact is a plane at a point of the start pose.  That bounds any way, but no turn: a tumbling bullet may come to lie
on the far side of a thin wall, and a spinning rod passes a post between two frames.  And an impulse at the levers of
the start pose, on the inertia of a long body that has turned since, sets it spinning as no impact can.  Such a step
must be halved, until no body turns far in it; to add contacts found at its end would push bodies on to the side where
they should not be.
"""

from functools import partial

import numpy as np

from .boxes_apart import near_on_the_way
from .flags import places, some
from .ordered import among, distinct, without
from .plausible import pair_number, way_moved
from .reference.rotation import exponential, multiply
from .reference.rows import gaps
from .rotations import rotate
from .vectors import inner, length

HALVED, FINER, LAST = range(3)
"""Whether a step that misses is done again in halves, only one in which bodies go through each other, or none."""
TURN = 1.0  # [rad] less in a step is bounded by contacts well enough
SAMPLE = 0.5  # [rad] between two looks at bodies that turn farther
MOST = 16  # looks a step
THICK = 0.5  # of the half extents of two bodies: in each other by less, the shortest way apart is the way they came
DEEP = 0.1  # of the smallest half extent: how far two bodies may seem to overlap between two looks
NO_PAIRS = np.zeros(0, np.int64)
OPPOSED = -0.1  # cosine of two normals that point to different sides


def came_through(assembly, solution, found, deep, model, tolerance):
    """(K,) bool: contacts of ``found`` whose normals oppose all that their two bodies had at the start, then apart; of
    bodies that touched those whose middles are on the other side; of those that had no contact, what turning brought
    in so deep that its normal may be that of the far side.

    assembly: Assembly of the step; solution: its StepSolution; found: ContactSet at the end pose; deep: (N,) numbers of
    those of its contacts that overlap, as their bodies did not at the start; model: CollisionModel; tolerance: [m] by
    which what touches may seem to overlap.
    """
    contacts, bodies = assembly.problem.contacts, len(assembly.numbering.scene) - 1
    through = np.zeros(len(found), bool)
    if not len(deep):
        return through
    (a, b), (by_pair, start) = assembly.sides, assembly.overlap.ordered
    pair = pair_number(found.body_a.take(deep), found.body_b.take(deep), bodies)
    first, last = start.searchsorted(pair), start.searchsorted(pair, "right")
    if some(first == last):
        new = deep[first == last]
        through[new] = _came_round(assembly, solution, found, new, model)
    inside = np.zeros(len(start) + 1, np.intp)
    np.cumsum(contacts.start_gap.take(by_pair) < -tolerance, out=inside[1:])
    apart = places((first < last) & (inside[first] == inside[last]))
    if not len(apart):
        return through
    deep, pair, first, count = deep[apart], pair[apart], first[apart], (last - first)[apart]
    begin = np.cumsum(count) - count
    before = by_pair[np.arange(count.sum()) - np.repeat(begin - first, count)]  # of each, all of its pair at the start
    # both normals from the body with the greater number to the other one
    same = (a < b).take(before) == np.repeat((found.body_a < found.body_b).take(deep), count)
    cosine = inner(np.repeat(found.normal.take(deep, 0), count, axis=0), contacts.normal.take(before, 0))
    opposed = np.maximum.reduceat(np.where(same, cosine, -cosine), begin) < OPPOSED
    if some(opposed):
        opposed &= ~among(pair, _stay_on_their_side(assembly, solution, model, tolerance))
        through[deep[opposed]] = True
    return through


def passed(assembly, solution, collider, frames, assembler, tolerance, free, bad, before=None):
    """(P,) numbers of pairs of scene bodies, see ``pair_number``, that met between the ends of a step, one of which
    turned far, and did not stop.

    Looks along the way: what contacts at one look do not hold apart until the next was not held apart by the step.
    tolerance: [m] by which what touches may seem to overlap;
    free: (B,) bool, scene bodies that move freely; bad: (n,) bool, dynamic bodies not to be looked at; before: (pairs
    that an earlier solve of the step was found to have, (B,) bool: scene bodies that go the same way now), or None.
    """
    problem, model, order = assembly.problem, collider.model, assembly.numbering.scene[:-1]
    bodies, h, velocity = problem.bodies, problem.step, solution.velocity[:-1]
    turn, through = h * length(velocity[:, 3:]), [NO_PAIRS]
    turn[model.balls[order]] = turn[: len(bad)][bad] = 0.0
    spinning = places(turn > TURN)
    if not len(spinning) and (before is None or not len(before[0])):
        return NO_PAIRS
    touching = _stay_on_their_side(assembly, solution, model, tolerance)
    reach = np.where(model.body_radius[order] == 0.0, np.inf, model.body_radius[order])  # planes are always near
    first, second = _near_others(bodies.position[:-1], reach, velocity, h, spinning)
    if before is not None:
        known, same = before
        through.append(known[same[np.array(np.divmod(known, len(order)))].all(axis=0)])
        changed = ~(same[order[first]] & same[order[second]])
        first, second = first[changed], second[changed]
    free_of = ~np.isin(pair_number(order[first], order[second], len(order)), touching)  # those are no answer
    first, second = first[free_of], second[free_of]
    if not len(first):
        return np.setdiff1d(through[-1], touching)
    looks = int(min(MOST, np.ceil(turn[first].max() / SAMPLE)))
    between = partial(on_the_way, bodies, solution, h, (np.arange(looks)[:, None, None] + 0.5) / looks)
    wider = 0.5 / looks * way_moved(velocity, model.body_radius[order], h)
    near = near_on_the_way(model, frames, order, between, order[first], order[second], wider)
    here = bodies.position, bodies.orientation
    linear, angular = np.zeros((len(order), 3)), np.zeros((len(order), 3))
    linear[order], angular[order] = velocity[:, :3], velocity[:, 3:]
    for look in range(1, looks + 1):
        there, now = on_the_way(bodies, solution, h, look / looks), near[look - 1]
        place, watched = frames.to_body(*scene_poses(order, *here)), np.zeros(len(order), bool)
        watched[order[first[now]]] = True
        found = collider.collide(*place, linear, angular, h / looks, free, watched) if now.any() else ()
        if len(found):
            nearby = assembler.contacts(found, np.zeros((len(found), 3)), assembly.numbering, here[1])
            size = found.manifolds.size[found.source]
            # what is only just in each other at one look may have passed by the next
            met = (found.gap > -DEEP * size) & (gaps(nearby, *there) < -DEEP * size)
            # and what turns comes in with a place that was not the nearest
            met |= (found.gap <= -DEEP * size) & (look > 1)
            through.append(pair_number(order[nearby.body_a[met]], order[nearby.body_b[met]], len(order)))
        here = there
    return np.setdiff1d(np.concatenate(through), touching)


def _came_round(assembly, solution, found, new, model):
    """(N,) bool: which of contacts ``new`` (N,) of ``found`` have bodies without meshes that turning may have brought
    into each other by more than half of what they are thick: the shortest way apart may not be the way they came.
    """
    scene, turned = assembly.numbering.scene[:-1], np.zeros(len(assembly.numbering.scene) - 1)
    turned[scene] = assembly.problem.step * length(solution.velocity[:-1, 3:])
    turned *= model.body_radius
    turned[model.balls] = 0.0
    a, b, shapes = found.body_a.take(new), found.body_b.take(new), np.divmod(found.pair.take(new), len(model.shapes))
    thick = THICK * model.shape_half.min(axis=1)[np.stack(shapes)].sum(axis=0)
    deep = np.minimum(-found.gap.take(new), turned[a] + turned[b]) > thick
    return deep & ~(model.body_mesh[a] | model.body_mesh[b])


def _stay_on_their_side(assembly, solution, model, tolerance):
    """(P,) numbers of pairs of scene bodies that touch at the start of a step, and for which nobody need look: those
    in each other, and those whose middles are at its end where they were, seen from what they touch.

    Middles of what moves and is convex alone: that of a drum is in its hollow, and links of a chain go around others.
    """
    contacts = assembly.problem.contacts
    touch = places(contacts.start_gap <= 0.0)
    if not len(touch):
        return NO_PAIRS
    contacts, pair = contacts.take(touch), assembly.pairs[touch]
    position, orientation = solution.position, solution.orientation
    heights, scene = [], assembly.numbering.scene
    tells = np.append(model.movable & ~model.body_mesh, False)
    tells[model.compounds] = False
    tells = tells[scene]
    tells[assembly.problem.bodies.dynamic_count :] = False
    for own, other, point, sign in (
        (contacts.body_a, contacts.body_b, contacts.point_b, 1.0),
        (contacts.body_b, contacts.body_a, contacts.point_a, -1.0),
    ):
        place = position.take(other, 0) + rotate(orientation.take(other, 0), point)
        height = sign * inner(contacts.normal, position.take(own, 0) - place)
        heights.append(np.where(tells[own], height, np.inf))
    inside = contacts.start_gap < -tolerance
    return without(distinct(pair), without(distinct(pair[np.minimum(*heights) < 0.0]), distinct(pair[inside])))


def on_the_way(bodies, end, step, share, which=slice(None)):
    """Poses of solver bodies at a ``share`` of the way of a step, or at (L, 1, 1) shares: (..., N, 3), (..., N, 4).

    bodies: problem.Bodies at the start; end: with the position and velocity, over the step, that lead there; which:
    (N,) of the bodies, default all.
    """
    place = (1.0 - share) * bodies.position[which] + share * end.position[which]
    return place, multiply(exponential(share * step * end.velocity[which, 3:]), bodies.orientation[which])


def scene_poses(order, position, orientation):
    """Poses (B, 3), (B, 4) of the scene's bodies, from those of the solver's and of the world, which comes last.

    order: (B,) scene number of each solver body.
    """
    place, tilt = np.empty((len(order), 3)), np.empty((len(order), 4))
    place[order], tilt[order] = position[:-1], orientation[:-1]
    return place, tilt


def _near_others(position, reach, velocity, step, spinning):
    """((P,), (P,)): pairs of one of ``spinning`` (N,) and another body that may meet in the step; reach: (B,) [m]."""
    reach = reach + step * length(velocity[:, :3])
    first, second = [], []
    for i in spinning.tolist():
        met = length(position - position[i]) < reach + reach[i]
        met[i] = False
        second.append(places(met))
        first.append(np.full(len(second[-1]), i))
    return (np.concatenate(column) if column else np.zeros(0, int) for column in (first, second))
