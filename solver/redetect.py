# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that only show at the end of a step.

The contacts found at the start of a step do not bound a body that turns by half a radian in it: other corners come
in.  So detection runs again at the end pose, and what overlaps there joins the problem.  A body that was struck may
also have gone elsewhere than it seemed it would, and be deep in or past what stood in its way: so detection looks
ahead from the start pose once more, this time with the velocities that the step really has (unforeseen.py).
"""

from dataclasses import dataclass

import numpy as np

from .flags import every, places, some
from .ghosts import NO_PAIRS
from .passing import LAST, came_through, passed, scene_poses
from .piercing import no_piercing
from .plausible import PairOverlap, pair_number, plausible, way_moved
from .reference.rows import gaps, normals
from .second_hits import SLOW
from .unforeseen import met_on_the_way, unforeseen

UNTOLD = 1.0  # times the tolerance: how much deeper an edge may be in another body than contacts tell
STILL = 0.25  # of the tolerance: two bodies that moved less do not overlap by more than half of it unseen


@dataclass
class EndCheck:
    """What detection at the end pose found."""

    overlap: float  # deepest overlap there [m]
    unsolved: float  # the part of it that the step was not allowed to keep [m]
    missed: object  # Contacts to add to those of the step, or None if none is missing
    deepest: np.ndarray  # (B,) overlap of each scene body there [m]
    excess: np.ndarray  # (B,) the part of it that the step was not allowed to keep [m]
    free: np.ndarray  # (B,) bool, scene bodies that move freely
    passed: object = None  # (P,) pairs that went through each other in between, see passing.py; None: nobody looked
    found: object = None  # ContactSet at the end pose
    hidden: object = 0.0  # (B,) overlap of scene bodies with meshes that no contact there tells of, old or new [m]
    through: object = None  # (B,) bool: free bodies that went through others; None: nobody looked
    slipped: object = 0.0  # (B,) about how deep those were that did so in a solve that is the last resort [m]

    def after(self, earlier):
        """Itself, with what ``slipped`` in an ``earlier`` solve of the step: contacts beyond say nothing of it."""
        self.slipped = np.maximum(self.slipped, earlier.slipped)
        self.deepest = np.maximum(self.deepest, self.slipped)
        self.overlap = max(self.overlap, float(np.max(self.slipped)))
        return self


def of_others(contacts, bad):
    """The Contacts that touch none of the dynamic bodies ``bad`` (n,) bool; None where there are none."""
    if contacts is None or not some(bad):
        return contacts
    bodies = np.flatnonzero(bad)
    others = ~(np.isin(contacts.body_a, bodies) | np.isin(contacts.body_b, bodies))
    return contacts.take(others) if others.any() else None


def unchecked(count):
    """EndCheck of a step whose end tells nothing, so that none of ``count`` bodies may keep it."""
    return EndCheck(0.0, np.inf, None, np.zeros(count), np.full(count, np.inf), np.zeros(count, bool))


def check_end(assembly, solution, collider, frames, assembler, tolerance, last, bad, left_out=NO_PAIRS, before=None):
    """EndCheck of a solved step, or None where nothing moved far enough to overlap by ``tolerance`` [m] unseen.

    A contact point goes with its body: rolled on by ``way``, a rim of radius r has it way^2 / (2 r) above its lowest.
    Pairs of which neither body moved by a good part of the tolerance are not looked at; of others a corner may come in
    that no contact holds, however little they moved.
    Where bodies went through each other nothing can be added, and their step must be halved; if it is the ``last``
    resort, LAST, it is taken as it is, and they have missed.
    bad: (n,) bool, dynamic bodies whose step is halved anyway: where they go tells nothing, and may be far off.
    left_out: (P,) pairs of scene bodies that are not to be looked for ahead.
    before: EndCheck of an earlier solve of the step and (n,) bool, dynamic bodies that go the same way now; or None.
    """
    model = collider.model
    if not model.may_touch:
        return None
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    order, h = assembly.numbering.scene[:-1], problem.step
    size, radius = model.body_size[order], model.body_radius[order]
    way = way_moved(solution.velocity[:-1], radius, h)
    if assembly.bounces is not None:
        flown, made = assembly.bounces.ways(problem.bodies, solution, radius)
        way[flown] = np.maximum(way[flown], made)
    far = way**2 > 2.0 * size * tolerance
    far, meshes = some(far), model.meshes.bounds.size > 0
    if not (far or meshes):
        return None
    position, orientation = scene_poses(order, solution.position, solution.orientation)
    if not (every(np.isfinite(position)) and every(np.isfinite(orientation))):
        return None if last else unchecked(len(order))
    place = frames.to_body(position, orientation)
    hides = _hides(assembly, solution, collider, place, tolerance)
    if not (far or some(hides)):
        return None
    free = np.zeros(len(order), bool)
    free[order[:n]] = True
    spin, moved = np.empty((len(order), 3)), np.empty(len(order), bool)
    spin[order], moved[order] = solution.velocity[:-1, 3:], way > STILL * tolerance
    moved |= hides
    before = _seen_before(before, order)
    found = _found_at_end(collider, place, free, spin, moved, before)
    stuck = collider.pierced(*place)
    scene_way = np.zeros(len(order))
    scene_way[order] = way
    known = assembly.overlap
    found = plausible(found, known, scene_way, model, collider.sunk)
    at_end, deep = found, places(found.gap < 0.0)
    had = known.of(found.body_a.take(deep), found.body_b.take(deep))
    stuck, hidden = _untold(stuck, found, known, collider, frames, problem, order, tolerance)
    through, pairs = np.zeros(len(order), bool), NO_PAIRS
    if not last:
        through[stuck[0]] = through[stuck[1]] = True
    opposed = came_through(assembly, solution, found, deep[had >= -tolerance], model, tolerance)
    if some(opposed):
        through[found.body_a[opposed]] = through[found.body_b[opposed]] = True
    known_pairs = None if before is None else (before[0].passed, before[1])
    pairs = passed(assembly, solution, collider, frames, assembler, tolerance, free, bad, known_pairs)
    if len(pairs):
        through[np.concatenate(np.divmod(pairs, len(order)))] = True
    through &= free  # what they went through may hold others up
    slipped = 0.0
    if last == LAST:
        slipped, through = np.where(through, model.body_size, 0.0), np.zeros(len(order), bool)
    if some(through):
        left = ~(through[found.body_a] | through[found.body_b])
        found, had = found.take(left), had[left[deep]]
        deep = places(found.gap < 0.0)
    sides, depth = (found.body_a.take(deep), found.body_b.take(deep)), -found.gap.take(deep)
    may_stay = np.maximum(0.0, -had - problem.push_out_speed * h)  # of what the pair started with
    beyond = depth - may_stay
    deepest, excess = np.zeros((2, len(order)))
    for side in sides:
        np.maximum.at(deepest, side, depth)
        np.maximum.at(excess, side, beyond)
    if len(stuck[2]):
        for side in stuck[:2]:
            np.maximum.at(deepest, side, stuck[2])
            np.maximum.at(excess, side, stuck[2])
    deepest = np.maximum(np.maximum(deepest, hidden), slipped)
    excess[through] = np.inf
    overlap, unsolved = float(deepest.max(initial=0.0)), float(excess.max(initial=0.0))
    rest = deepest, excess, free, pairs, at_end, hidden, through, slipped
    crossed = _crossed(assembly, solution, collider, frames, assembler, tolerance, bad, free, place)
    if crossed is not None:
        added, bodies, beyond = crossed
        for side in bodies:
            np.maximum.at(excess, side, beyond)
        return EndCheck(overlap, max(unsolved, float(beyond.max())), added, *rest)
    ahead = unforeseen(assembly, solution, collider, frames, way, free, bad, left_out)
    if ahead is not None:
        ahead, may_close = ahead
        numbers = assembly.numbering, problem.bodies.free_orientation
        added = assembler.contacts(ahead, np.zeros((len(ahead), 3)), *numbers, at_start=False)
        depth = -gaps(added, solution.position, solution.orientation)
        closed = depth > np.maximum(may_close, tolerance)
        closed &= ~(through[ahead.body_a] | through[ahead.body_b])
        past = closed & (may_close > 0.0)
        # What rebounds would go on to others, on a way that late contacts tell too little of: its step is halved.
        rebounds = past & (added.restitution * depth > SLOW * problem.step)
        closed &= ~rebounds
        past &= closed
        if some(rebounds) and not last:
            rebounds[rebounds] = met_on_the_way(ahead.take(rebounds), assembly, solution, collider, frames, free)
            through[ahead.body_a[rebounds]] = through[ahead.body_b[rebounds]] = True
            excess[through & free] = unsolved = np.inf
        if some(past):
            closed[past] = met_on_the_way(ahead.take(past), assembly, solution, collider, frames, free)
            past &= closed
        if closed.any():
            for side in (ahead.body_a[past], ahead.body_b[past]):
                np.maximum.at(excess, side, depth[past])
            unsolved = max(unsolved, float(depth[past].max(initial=0.0)))
            return EndCheck(overlap, unsolved, added.take(closed), *rest)
    # Overlap that a step may keep is as it should be; contacts for it would be found and added again and again.
    missing = beyond > tolerance
    if not some(missing):
        return EndCheck(overlap, unsolved, None, *rest)
    missing &= ~_postponed(found.take(deep), np.where(missing, beyond, 0.0), free)
    if not some(missing):
        return EndCheck(overlap, unsolved, None, *rest)
    found = found.take(deep[missing])
    # Points and normals found at the end say nothing of the start: a pair's overlap there is that of its old contacts.
    start = assembly.numbering, problem.bodies.free_orientation, had[missing]
    added = assembler.contacts(found, np.zeros((len(found), 3)), *start)
    added.normal = normals(added, problem.bodies.orientation)
    return EndCheck(overlap, unsolved, added, *rest)


def _postponed(found, depth, free):
    """(C,) bool: contacts of two bodies of which one is deeper in what stands than the two are in each other.

    Where it came to by that tells nothing of the other: a stone that fell through the ground in the first solve came
    in below its neighbour, which was thrown up by it.  The next look finds what is left of them.
    found: ContactSet; depth: (C,) that is new in the step [m]; free: (B,) bool, scene bodies that move freely.
    """
    a, b, into_ground = found.body_a, found.body_b, np.zeros(len(free))
    both = free[a] & free[b]
    for side in (a, b):
        np.maximum.at(into_ground, side[~both], depth[~both])
    return both & (np.maximum(into_ground[a], into_ground[b]) > depth)


def _seen_before(before, order):
    """(EndCheck, (B,) bool: scene bodies that go the same way now) of an earlier solve that was looked at, or None."""
    check, same = (None, None) if before is None else before
    if check is None or check.found is None:
        return None
    scene = np.ones(len(order), bool)  # what is not solved goes where it goes
    scene[order[: len(same)]] = same
    return check, scene


def _found_at_end(collider, place, free, spin, moved, before):
    """The ContactSet at the end pose; what of it was found ``before``, see ``_seen_before``, is not looked for again.

    Where meshes are about it is: ``Collider.pierced`` tells of the last detection alone.
    """
    if before is None or collider.model.meshes.bounds.size:
        return collider.collide_again(*place, free, spin, moved)
    check, same = before
    found = collider.collide_again(*place, free, spin, ~same)
    found = found.take(moved[found.body_a] | moved[found.body_b])
    return found.joined(check.found.take(same[check.found.body_a] & same[check.found.body_b]))


def _hides(assembly, solution, collider, place, tolerance):
    """(B,) bool: scene bodies with edges deeper in meshes at the end than the step's contacts tell, see ``_untold``."""
    hides, (a, b, depth) = np.zeros(len(place[0]), bool), collider.pierced_near(*place)
    if len(a):
        contacts, scene = assembly.problem.contacts, assembly.numbering.scene
        gap = gaps(contacts, solution.position, solution.orientation)
        told = PairOverlap(scene[contacts.body_a], scene[contacts.body_b], gap, len(scene))
        unseen = (depth > UNTOLD * tolerance - told.of(a, b)) & ~_led_apart(collider, a, b)
        hides[a[unseen]] = hides[b[unseen]] = True
    return hides


def _untold(stuck, found, known, collider, frames, problem, order, tolerance):
    """Those of ``stuck``, as ``Collider.pierced`` has them, that contacts at the end pose do not tell of, and that were
    not so deep at the start; and how deep (B,) scene bodies are in others by edges of which no contact tells, as they
    may have been [m].  Nothing moves those apart: it is no overlap that a step may keep.

    found: ContactSet at the end; known: PairOverlap at the start.
    """
    (a, b, depth), hidden = stuck, np.zeros(len(order))
    if not len(a):
        return stuck, hidden
    told, before = -PairOverlap(found.body_a, found.body_b, found.gap, len(order)).of(a, b), -known.of(a, b)
    unseen = (depth > told + UNTOLD * tolerance) & ~_led_apart(collider, a, b)
    for side in (a[unseen], b[unseen]):
        np.maximum.at(hidden, side, depth[unseen])
    deep = (told <= before + tolerance) & (depth > before + UNTOLD * tolerance)
    if not deep.any():
        return no_piercing(), hidden
    a, b, depth = (each[deep] for each in stuck)
    place = frames.to_body(*scene_poses(order, problem.bodies.position, problem.bodies.orientation))
    collider.collide_again(*place, pairs=pair_number(a, b, len(order)))
    start = collider.pierced(*place)
    worse = depth > -PairOverlap(start[0], start[1], -start[2], len(order)).of(a, b) + UNTOLD * tolerance
    return (a[worse], b[worse], depth[worse]), hidden


def _led_apart(collider, a, b):
    """(N,) bool: pairs of scene bodies of which meshes started in each other, and leave on one way; see ``sunk.py``."""
    sunk, shapes = collider.sunk, collider.model.shape_body
    if sunk is None or not len(sunk):
        return np.zeros(len(a), bool)
    bodies = len(collider.model.names)
    led = pair_number(*shapes[np.stack(np.divmod(sunk, len(shapes)))], bodies)
    return np.isin(pair_number(a, b, bodies), led)


def _crossed(assembly, solution, collider, frames, assembler, tolerance, bad, free, place):
    """(Contacts of bodies whose middle went through a mesh, their scene bodies (2, C), how far they are beyond (C,)
    [m]), or None; see ``crossing.py``.  tolerance, bad: as in ``check_end``; free: (B,) bool, scene bodies solved;
    place: poses of the bodies' frames at the end.
    """
    problem, order = assembly.problem, assembly.numbering.scene[:-1]
    if not collider.model.meshes.bounds.size:
        return None
    begin = frames.to_body(*scene_poses(order, problem.bodies.position, problem.bodies.orientation))
    found = collider.crossings(begin, place)
    if not len(found):
        return None
    halved = np.zeros(len(order), bool)
    halved[order[: len(bad)][bad]] = True
    a, b = found.body_a, found.body_b
    found = found.take(~(halved[a] | halved[b]) & (free[a] | free[b]))
    numbers = assembly.numbering, problem.bodies.free_orientation
    added = assembler.contacts(found, np.zeros((len(found), 3)), *numbers, at_start=False)
    beyond = -gaps(added, solution.position, solution.orientation)
    new = beyond > tolerance
    if not new.any():
        return None
    found = found.take(new)
    return added.take(new), (found.body_a, found.body_b), beyond[new]
