# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes that start inside each other while their corners tell nothing of it.

Two that stand on one floor, or one left where it was copied, have their corners on each other's faces, not inside, and
their edges along them: no contact told, and they stood in each other for ever.  But edges are inside in between, and
so is the heart of the one in the other.  Such pairs are looked for at the start.  As long as they are in each other
they have one contact, of the deepest edge or, as that turns them least, of a heart.  Those of their faces, which look
every way, would hold them.
"""

import numpy as np

from .closest_points import closest_points
from .manifold import gaps_of, turn, turn_back
from .mesh_features import features
from .piercing import edges_inside
from .plausible import SLACK, PairOverlap

HEART = 2.0  # times its depth, what a heart counts beside edges


def sunk_pairs(model, pairs, contacts, position, rotation, sides):
    """Numbers (Q,) of those of ``pairs`` (P, 2) of shapes that are deeper in each other than their contacts tell.

    contacts: Manifolds; position (B, 3), rotation (B, 3, 3): poses of the bodies; sides: see ``faces_middle``.
    """
    mesh = model.meshes.shape_mesh[pairs]
    closed = (mesh >= 0).all(axis=1) & model.meshes.closed[mesh].all(axis=1)
    found = sunk_contacts(model, pairs[closed], position, rotation, sides)
    shapes = len(model.shape_body)
    told = PairOverlap(*np.divmod(contacts.pair, shapes), gaps_of(contacts, position, rotation), shapes)
    deep = gaps_of(found, position, rotation) < told.of(*np.divmod(found.pair, shapes)) - SLACK * found.size
    return found.pair[deep]


def sunk_contacts(model, pairs, position, rotation, sides):
    """Manifolds without place and tilt of ``pairs`` (P, 2) of closed mesh shapes, one for each that is in the other."""
    between, run, point, _depth = edges_inside(model, pairs, position, rotation, sides)
    every = np.arange(len(between.first))
    heart = turn(between.relative, between.own_centers(every)) + between.offset
    is_heart = np.arange(len(run) + len(every)) >= len(run)
    run, point = np.concatenate([run, every]), np.concatenate([point, heart])
    place, depth = _below(model, between.second[run], point)
    inside = np.flatnonzero(depth > 0.0)
    pair = run[inside] % max(len(pairs), 1)  # of which there are both ways round
    inside = inside[np.lexsort((-np.where(is_heart, HEART, 1.0)[inside] * depth[inside], pair))]
    inside = inside[np.diff(run[inside] % max(len(pairs), 1), prepend=-1) > 0]
    run, point, place = run[inside], point[inside], place[inside]
    own = turn_back(between.relative[run], point - between.offset[run])
    normal = (place - point) / depth[inside, None]
    return between.manifolds(run, own, place, normal, np.zeros(len(run)))


def _below(model, shape, point):
    """Nearest places (N, 3) of closed mesh shapes (N,) to points (N, 3), and how far these are inside (N,) [m].

    By the normal of the one place: half way between two faces the tree's sign, which adds up both, tells nothing.
    """
    table = model.meshes
    face, weight, place, _sign = closest_points(model, shape, point, np.full(len(shape), np.inf))
    apart = point - place
    outward = table.normal[features(table, table.shape_mesh[shape], face, weight)]
    return place, -np.sign(np.einsum("ki,ki->k", outward, apart)) * np.linalg.norm(apart, axis=1)
