# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls that go over a crest: a surface that turns away from them, which gravity holds them to.

A contact is a plane, at the start of a step the one that touches there.  On it a ball ends the step above a crest, by
v^2 h^2 / 2 R; in the next it falls on to it, and what it falls by is lost: marbles on gentle waves came to rest.  It
goes along the chord instead, square to the normal half way between those of both ends, by mid-step (gliding.py), which
keeps its energy: half of what it loses on the tangent of the start it would gain on that of the end.

Where the pull does not suffice to hold it on the chord, it leaves it: contacts do not pull.
What is apart at the start and comes to it in the step hits it, as wheels do the far edge of a slot.
"""

from dataclasses import dataclass

import numpy as np

from .copies import replace
from .curves import ALONG, FACET, HAIR, MOST, SMOOTH, TURN, angles, outwards, passing
from .flags import places, some
from .manifold import locate
from .ordered import segments
from .passing import on_the_way, scene_poses
from .riders import ROUND, riding_first
from .rotations import conjugate, rotate
from .vectors import inner, length

LONG = 0.9 * ALONG  # [rad] by which it may turn in a step
ABOVE = 0.1  # of the tolerance: what ends a step nearer to what carried it still lies on it


@dataclass
class Crests:
    """Bodies that go over crests in a step, and the Assembly with their chords for contacts."""

    body: np.ndarray  # (n,) bool: those that can take them in this step
    too_long: np.ndarray  # (n,) bool: those whose step is too long for it
    assembly: object


def crests(assembly, solution, ours, collider, frames, found, fast, free):
    """The Crests of a solved step, or None where there are none.

    ours: (C,) bool, answer of ``on_what_is_not_solved``; found: ContactSet at the end pose; fast: the loose tolerance
    [m]; free: (B,) bool, scene bodies that move freely.
    """
    problem, n, count = assembly.problem, assembly.problem.bodies.dynamic_count, len(assembly.contacts)
    contacts, bodies, order = problem.contacts, problem.bodies, assembly.numbering.scene
    if not count or not some(ours):
        return None
    own, other = sides = riding_first(contacts, bodies)
    size = collider.model.body_radius[order[np.minimum(own, n - 1)]]
    margin = np.where(contacts.body_a == own, contacts.margin_a, contacts.margin_b)
    loaded = solution.contact_impulse[:, 0] > 0.0
    ours = ours & (contacts.rebound_speed == 0.0) & (margin > ROUND * size)
    ours &= bodies.straight(problem.step)[other] & (np.arange(len(own)) < count)
    # What lies along a line is held at both ends, also where one of them bears nothing just now.
    pair, near = assembly.contacts.pair, assembly.contacts.gap <= fast
    index = places(ours[:count] & (loaded[:count] | near))
    index = index[np.isin(pair[index], pair[places(ours & loaded)])]
    index = index[_told_by_one(collider.model, pair[index])]
    lies = np.append(found.gap, np.inf)[nearest_of_pairs(pair[index], found)] <= ABOVE * fast
    index = index[~lies]
    start = outwards(contacts, contacts.normal, own)[index]
    past = passing(contacts, bodies, sides)[index]
    speed = length(past)
    rate = inner(start, past)
    good = (np.abs(rate) <= ALONG * speed) & (near[index] | (-problem.step * rate <= fast))  # others are hit
    index, start, past = index[good], start[good], past[good]
    if not len(index):
        return None
    fall = np.zeros((len(order) - 1, 3))
    fall[order[own[index]]] = -speed[good, None] * start  # with their own velocity they leave what turns away
    looks = _Looks(assembly, solution, collider, frames, fall, free)
    end = looks.normals(1.0, index)
    turn = angles(start, end)
    middle = start + end
    middle /= np.maximum(length(middle), 1e-300)[:, None]
    away = inner(end - start, past) > 0.0
    good = away & (turn > TURN) & (turn <= MOST)
    asked = places(good & (turn > FACET))
    if len(asked):
        half_way = looks.normals(0.5, index[asked])
        good[asked] = angles(half_way, middle[asked]) <= SMOOTH * turn[asked] + HAIR + 0.5 * FACET
    if not good.any():
        return None
    over, too_long = np.zeros((2, n), bool)
    too_long[own[index[good & (turn > LONG)]]] = True
    good &= ~too_long[own[index]]
    over[own[index[good]]] = True
    return Crests(over, too_long, _on_chords(assembly, solution, frames, index[good], middle[good], end[good]))


def _told_by_one(model, pair):
    """(K,) bool: pairs of shapes whose nearest place tells the normal of all: a cylinder on a mesh has one at each end,
    and would be turned aside.
    """
    shapes = np.stack(np.divmod(pair, len(model.shape_body)))
    return (model.shape_rounding[shapes] > 0.0).any(axis=0) | (model.meshes.shape_mesh[shapes] < 0).all(axis=0)


def nearest_of_pairs(pair, found):
    """(K,) contact of a ContactSet with the least gap of each ``pair`` (K,) of shapes, -1 where there is none."""
    order = np.lexsort((found.gap, found.pair))
    first, known = segments(found.pair[order])
    return np.append(order[first], -1)[locate(pair, known)]


class _Looks:
    """What bodies are nearest to on the way of a step."""

    def __init__(self, assembly, solution, collider, frames, fall, free):
        """fall: (B, 3) velocity of scene bodies towards what is looked for [m/s]; free: (B,) bool, those that move."""
        self.assembly, self.solution, self.collider, self.frames = assembly, solution, collider, frames
        self.fall, self.watched, self.free = fall, fall.any(axis=1), free

    def normals(self, share, index):
        """(K, 3) outward normals of what is nearest, of the same shape, to the bodies of contacts ``index`` (K,) at a
        ``share`` of the way; NaN where there is nothing.
        """
        problem, order = self.assembly.problem, self.assembly.numbering.scene[:-1]
        there = on_the_way(problem.bodies, self.solution, problem.step, share)
        place = self.frames.to_body(*scene_poses(order, *there))
        found = self.collider.collide_near(*place, self.fall, problem.step, self.free, self.watched)
        contact = nearest_of_pairs(self.assembly.contacts.pair[index], found)
        sign = np.where(np.append(self.watched[found.body_a], True), 1.0, -1.0)
        normal = np.append(found.normal, np.full((1, 3), np.nan), axis=0)
        return sign[contact, None] * normal[contact]


def _on_chords(assembly, solution, frames, index, chord, end):
    """The Assembly whose contacts ``index`` (K,) have the outward normals ``end`` (K, 3), and the same gaps along those
    of chords, ``chord`` (K, 3).
    """
    contacts, order, bodies = assembly.contacts, assembly.numbering.scene[:-1], assembly.problem.bodies
    columns = {name: getattr(contacts, name).copy() for name in ("point_a", "point_b", "normal", "face")}
    position, orientation = frames.to_body(*scene_poses(order, bodies.position, bodies.orientation))
    touches = assembly.problem.contacts.take(index)
    own, other = riding_first(touches, bodies)
    mine, on_a = contacts.take(index), touches.body_a == own
    end = rotate(bodies.orientation[other], rotate(conjugate(solution.orientation[other]), end))  # of the carrier
    ball, still = np.where(on_a, (mine.body_a, mine.body_b), (mine.body_b, mine.body_a))
    point = np.where(on_a[:, None], mine.point_a, mine.point_b)
    far = (mine.gap + mine.margin_a + mine.margin_b)[:, None] * chord
    there = position[ball] + rotate(orientation[ball], point) - far
    local = rotate(conjugate(orientation[still]), there - position[still])
    columns["point_a"][index[~on_a]], columns["point_b"][index[on_a]] = local[~on_a], local[on_a]
    columns["normal"][index] = np.where(on_a[:, None], end, -end)
    columns["face"][index] = -1
    return replace(assembly, contacts=replace(contacts, **columns))
