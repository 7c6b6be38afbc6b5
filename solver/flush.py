# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that stand out of nothing: where two shapes that stand still lie flush, as tiles, belts or planks do, or two of
one body that moves, as the parts of a compound or of a mesh that was cut into convex ones.

What slides on one of them is some micrometres deep in it, and meets the side of the next: it would stop dead there.  A
ball, or what falls a little short of the edge, meets the edge askew and is slowed.  But a plane with all of a shape
behind it, and what moves before it, keeps both apart by itself.  So where a contact with one shape is such a plane for
another shape, contacts with the latter along other normals are left out:

    n . x <= n . p + FLUSH size    for all x of the other shape; p: the contact's point, n: its normal
"""

import numpy as np

from .manifold import along_runs, segments, turn
from .rotations import matrices

FLUSH = 1e-3  # of the smallest half extent of what moves: what stands out by less is no obstacle
ALIKE = 1.0 - 1e-6  # cosine above which two normals are one
FACING = -0.1  # cosine below which a contact is on the other side of the plane


def without_flush_edges(contacts, model, position, orientation):
    """The ContactSet without contacts on edges that lie flush with another shape.

    model: CollisionModel; position (B, 3) and orientation (B, 4): the bodies' poses at which contacts were found.
    """
    shapes, movable = len(model.shape_body), model.movable
    index, on_a = _each_side(contacts, model)
    if len(index) < 2:
        return contacts
    shape_b, shape_a = np.divmod(contacts.pair[index], shapes)
    mover, still = np.where(on_a, shape_a, shape_b), np.where(on_a, shape_b, shape_a)
    several = _touch_several(mover, still, shapes)
    if not several.any():
        return contacts
    index, on_a, mover, still = index[several], on_a[several], mover[several], still[several]
    rotation = matrices(orientation)
    order = np.argsort(mover, kind="stable")
    index, on_a, mover, still = index[order], on_a[order], mover[order], still[order]
    normal = np.where(on_a, 1.0, -1.0)[:, None] * contacts.normal[index]
    point = np.where(on_a[:, None], contacts.point_b[index], contacts.point_a[index])
    margin = np.where(on_a, contacts.margin_b[index], contacts.margin_a[index])
    body = model.shape_body[still]
    level = np.einsum("ki,ki->k", normal, position[body] + turn(rotation[body], point)) + margin
    # every contact (edge) with every other of the same shape that moves (plane)
    start = segments(mover)[0]
    count = np.diff(np.r_[start, len(mover)])
    run, offset = along_runs(count * count)
    edge, plane = start[run] + offset // count[run], start[run] + offset % count[run]
    cosine = np.einsum("ki,ki->k", normal[edge], normal[plane])
    other = (still[edge] != still[plane]) & (cosine < ALIKE) & (cosine > FACING)
    other &= (body[edge] == body[plane]) | ~(movable[body[edge]] | movable[body[plane]])
    edge, plane = edge[other], plane[other]
    if not len(edge):
        return contacts
    highest = _support(model, still[edge], normal[plane], position, rotation)
    behind = highest <= level[plane] + FLUSH * model.shape_size[mover[edge]]
    keep = np.ones(len(contacts), bool)
    keep[index[edge[behind]]] = False
    return contacts if keep.all() else contacts.take(keep)


def _each_side(contacts, model):
    """Contacts (K,), and whether side a is what moves over the other (K,) bool: of two bodies that move both do,
    each over the other where that has several shapes.
    """
    moves_a, moves_b = model.movable[contacts.body_a], model.movable[contacts.body_b]
    over_b, over_a = moves_a & ~moves_b, moves_b & ~moves_a
    if len(several := model.compounds):
        both = moves_a & moves_b
        over_b, over_a = (
            over | (both & np.isin(body, several))
            for over, body in ((over_b, contacts.body_b), (over_a, contacts.body_a))
        )
    index = np.concatenate([np.flatnonzero(over_b), np.flatnonzero(over_a)])
    return index, np.arange(len(index)) < over_b.sum()


def _touch_several(mover, still, shapes):
    """(K,) bool: contacts whose shape that moves touches more than one that stands."""
    pairs = np.unique(mover * shapes + still) // shapes
    return np.bincount(pairs, minlength=shapes)[mover] > 1


def _support(model, shape, direction, position, rotation):
    """(K,) how far each shape reaches along world directions (K, 3): exactly for boxes and hulls, else its box."""
    body = model.shape_body[shape]
    local = np.einsum("kji,kj->ki", rotation[body], direction)
    own = np.einsum("kji,kj->ki", model.shape_rotation[shape], local)
    far = np.einsum("ki,ki->k", np.abs(own), model.shape_half[shape])
    reach = np.einsum("ki,ki->k", local, model.shape_middle[shape]) + far
    first, last = (model.polygons.start[model.polygons.first[shape + k]] for k in (0, 1))
    known = np.flatnonzero((last > first) & (model.shape_side[shape, 0] == 0.0))
    if len(known):
        run, offset = along_runs((last - first)[known])
        height = np.einsum("ki,ki->k", model.polygons.corner[first[known][run] + offset], local[known][run])
        reach[known] = np.maximum.reduceat(height, np.flatnonzero(offset == 0))
    return reach + np.einsum("ki,ki->k", direction, position[body])
