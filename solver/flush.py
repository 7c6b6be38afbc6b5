# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that stand out of nothing: where two shapes that stand still lie flush, as tiles, belts or planks do, or two of
one body that moves, as the parts of a compound or of a mesh that was cut into convex ones.

What slides on one of them is some micrometres deep in it, and meets the side of the next: it would stop dead there.  A
ball, or what falls a little short of the edge, meets the edge askew and is slowed.  But a plane with all of a shape
behind it, and what moves before it, keeps both apart by itself.  So where a contact with one shape is such a plane for
another shape, contacts with the latter along other normals are left out:

    n . x <= n . p + FLUSH size    for all x of the other shape; p: the contact's point, n: its normal

What is convex is before the plane of its deepest contact.  A mesh need not be: a ring over a peg is below the plane on
top of that, as what stands beside the peg is.  Such planes keep nothing apart.

Where the other stands out of that plane, at a valley, ``hidden_edges.py`` has the contacts that are left.
"""

from dataclasses import dataclass

import numpy as np

from .flags import places
from .hidden_edges import with_faces
from .manifold import along_runs, turn
from .ordered import among, run_lengths, segments
from .reach import reach, reach_of_vertices
from .rotations import matrices

FLUSH = 1e-3  # of the smallest half extent of what moves: what stands out by less is no obstacle
ALIKE = 1.0 - 1e-6  # cosine above which two normals are one
FACING = -0.1  # cosine below which a contact is on the other side of the plane


@dataclass
class Touches:
    """K contacts of a shape that moves with one that stands still, or that is part of a body that moves."""

    index: np.ndarray  # (K,) in the ContactSet
    on_a: np.ndarray  # (K,) bool: what moves is on side a
    mover: np.ndarray  # (K,) shape, ascending
    still: np.ndarray  # (K,) shape
    normal: np.ndarray  # (K, 3) world, unit, out of ``still``
    place: np.ndarray  # (K, 3) world, on ``still``
    level: np.ndarray  # (K,) normal . place


def without_flush_edges(contacts, model, position, orientation):
    """The ContactSet without contacts on edges that lie flush with another shape.

    model: CollisionModel; position (B, 3) and orientation (B, 4): the bodies' poses at which contacts were found.
    """
    if not model.side_by_side:
        return contacts
    shapes, movable = len(model.shape_body), model.movable
    index, on_a = _each_side(contacts, model)
    if len(index) < 2:
        return contacts
    shape_b, shape_a = np.divmod(contacts.pair.take(index), shapes)
    mover, still = np.where(on_a, shape_a, shape_b), np.where(on_a, shape_b, shape_a)
    # what stands belongs together; what moves is one with its own parts alone
    body = model.shape_body.take(still)
    owner = np.where(movable.take(body), body, -1)
    group = mover.astype(np.int64) * (len(movable) + 1) + owner + 1
    several = places(_touch_several(group, still))
    if not len(several):
        return contacts
    index, on_a, mover, still, group = (each.take(several) for each in (index, on_a, mover, still, group))
    order = group.argsort(kind="stable")
    index, on_a, mover, still = columns = [each.take(order) for each in (index, on_a, mover, still)]
    normal = np.where(on_a, 1.0, -1.0)[:, None] * contacts.normal.take(index, 0)
    # every contact (edge) with every other of the same shape that moves (plane)
    start = segments(group.take(order))[0]
    count = run_lengths(start, len(mover))
    run, offset = along_runs(count * count)
    start, count = start.take(run), count.take(run)
    edge, plane = start + offset // count, start + offset % count
    other = places(still.take(edge) != still.take(plane))
    edge, plane = edge.take(other), plane.take(other)
    cosine = np.einsum("ki,ki->k", normal.take(edge, 0), normal.take(plane, 0))
    other = places(cosine < ALIKE)
    if not len(other):
        return contacts
    edge, plane, cosine = edge.take(other), plane.take(other), cosine.take(other)
    rotation = matrices(orientation)
    touch = _touches(contacts, model, columns, normal, (position, rotation))
    room = FLUSH * model.shape_size[mover]
    keeps = _before(contacts, model, touch, np.unique(plane), room, (position, rotation))[plane]
    if not keeps.all():
        edge, plane, cosine = edge[keeps], plane[keeps], cosine[keeps]
    highest = reach(model, still[edge], touch.normal[plane], (position, rotation))
    behind = highest <= touch.level[plane] + room[edge]
    gone = np.zeros(len(mover), bool)
    gone[edge[behind & (cosine > FACING)]] = True
    stay = ~(behind | gone[edge] | gone[plane])
    contacts = with_faces(contacts, touch, (edge[stay], plane[stay]), room, model, (position, rotation))
    if not gone.any():
        return contacts
    keep = np.ones(len(contacts), bool)
    keep[touch.index[gone]] = False
    return contacts.take(keep)


def _before(contacts, model, touch, planes, room, poses):
    """(K,) bool: of each of the Touches ``planes`` (P,), whether all of what moves is before it; False for others.

    room: (K,) what is behind it by less is not [m]; poses: position (B, 3) and rotation (B, 3, 3).
    """
    before = np.zeros(len(room), bool)
    before[planes] = True
    asked = planes[model.meshes.shape_mesh[touch.mover[planes]] >= 0]
    if len(asked):
        deepest = reach_of_vertices(model, touch.mover[asked], -touch.normal[asked], poses)
        overlap = np.maximum(-contacts.gap[touch.index[asked]], 0.0)
        before[asked] = deepest <= room[asked] + overlap - touch.level[asked]
    return before


def _touches(contacts, model, columns, normal, poses):
    """Touches of contacts; columns: its first four; normal: the fifth; poses: position (B, 3), rotation (B, 3, 3)."""
    index, on_a, _, still = columns
    position, rotation = poses
    point = np.where(on_a[:, None], contacts.point_b[index], contacts.point_a[index])
    margin = np.where(on_a, contacts.margin_b[index], contacts.margin_a[index])
    body = model.shape_body[still]
    place = position[body] + turn(rotation[body], point) + margin[:, None] * normal
    return Touches(*columns, normal, place, np.einsum("ki,ki->k", normal, place))


def _each_side(contacts, model):
    """Contacts (K,), and whether side a is what moves over the other (K,) bool: of two bodies that move both do,
    each over the other where that has several shapes.
    """
    moves_a, moves_b = model.movable.take(contacts.body_a), model.movable.take(contacts.body_b)
    over_b, over_a = moves_a > moves_b, moves_b > moves_a
    if len(several := model.compounds):
        both = moves_a & moves_b
        over_b, over_a = (
            over | (both & among(body, several))
            for over, body in ((over_b, contacts.body_b), (over_a, contacts.body_a))
        )
    index = np.concatenate([over_b.nonzero()[0], over_a.nonzero()[0]])
    return index, np.arange(len(index)) < np.count_nonzero(over_b)


def _touch_several(group, still):
    """(K,) bool: contacts of groups (K,) int64 in which more than one shape is touched."""
    order = group.argsort(kind="stable")
    start, touched, several = segments(group.take(order))[0], still.take(order), np.empty(len(group), bool)
    differ = np.minimum.reduceat(touched, start) != np.maximum.reduceat(touched, start)
    several[order] = np.repeat(differ, run_lengths(start, len(group)))
    return several
