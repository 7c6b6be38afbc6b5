# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes that something stands in at the start: rooms, jars, drums of a lottery.

What is closed is solid, whichever way its faces look: those of a mirrored object look inwards, and many a model's do.
But what stands wholly inside a mesh, and touches it from inside at most, is not meant to be pushed out of it: such a
mesh counts as a surface with two sides, as open ones do (mesh_sides.py).
"""

import numpy as np

from .closest_points import closest_points, first_hits
from .manifold import turn
from .mesh_sides import center, within
from .outline import corners_of
from .plausible import pair_number

AT_ONCE = 1 << 20  # pairs that are compared together
INSIDE = 0.9  # of what reaches from the middle of a shape to its outline: so much of it must be inside
MOST = 512  # places of an outline that are looked at
FARTHER = 1e-4  # of a mesh's size, from one of its surfaces on to the next
LAYERS = 64  # surfaces that are counted on the way out of a mesh
ASKEW = np.array([[0.21, 0.14, 0.97], [-0.96, 0.23, 0.13], [0.17, -0.95, -0.24]])  # along no face of what is modelled


def hollow_meshes(model, position, rotation):
    """(S,) bool: closed mesh shapes of a CollisionModel that wholly hold a body which they may touch.

    position (B, 3), rotation (B, 3, 3): poses of the bodies at the start [m].
    """
    hollow, bodies = np.zeros(len(model.shape_body), bool), len(model.names)
    if not len(model.meshes.closed) or not model.may_touch:
        return hollow
    outer, inner = _pairs(model, position, rotation)
    inside = _wholly_inside(model, outer, inner, position, rotation)
    held = outer[inside] * np.int64(bodies) + model.shape_body[inner[inside]]
    held, count = np.unique(held, return_counts=True)
    outer, body = np.divmod(held, bodies)
    hollow[outer[count == np.bincount(model.shape_body, minlength=bodies)[body]]] = True  # all shapes of that body
    return hollow


def _pairs(model, position, rotation):
    """((P,), (P,)): closed mesh shapes, and shapes that are smaller, have their middle near, and may touch them."""
    table, place = model.meshes, center(model, np.arange(len(model.shape_body)), position, rotation)
    one = np.flatnonzero(table.shape_mesh >= 0)
    one, some = one[table.closed[table.shape_mesh[one]]], np.flatnonzero(np.isfinite(model.shape_radius))
    radius, least, outer, inner = model.shape_radius, model.shape_half.min(axis=1), [one[:0]], [one[:0]]
    rows = max(1, AT_ONCE // max(1, len(some)))
    for begin in range(0, len(one), rows):
        part = one[begin : begin + rows, None]
        way = [place[part, axis] - place[None, some, axis] for axis in range(3)]
        fits = way[0] ** 2 + way[1] ** 2 + way[2] ** 2 < (2.0 * radius[part]) ** 2
        row, column = np.nonzero(fits & (radius[some] < radius[part]) & (least[some] < least[part]))
        outer.append(part[row, 0])
        inner.append(some[column])
    outer, inner = np.concatenate(outer), np.concatenate(inner)
    bodies = model.shape_body[outer], model.shape_body[inner]
    touch = model.allowed(*bodies) & ~np.isin(pair_number(*bodies, len(model.names)), model.breakable)
    return outer[touch], inner[touch]


def _wholly_inside(model, outer, inner, position, rotation):
    """(P,) bool: whether shapes ``inner`` (P,) are inside the surfaces of mesh shapes ``outer`` (P,)."""
    place = within(model, outer, center(model, inner, position, rotation), position, rotation)
    low, high = np.moveaxis(model.meshes.bounds[model.meshes.shape_mesh[outer]], 1, 0)
    index = np.flatnonzero(((place > low) & (place < high)).all(axis=1))
    index = index[_encloses(model, outer[index], place[index], np.linalg.norm(high - low, axis=1)[index])]
    surface = closest_points(model, outer[index], place[index], np.full(len(index), np.inf))[2]
    far = np.sqrt(((place[index] - surface) ** 2).sum(axis=1))
    index = index[far >= INSIDE * model.shape_rounding[inner[index]]]
    inside, ends = np.zeros(len(outer), bool), [_outline(model, shape) for shape in inner[index].tolist()]
    run = np.repeat(index, [len(each) for each in ends])
    ends, body = np.concatenate([np.zeros((0, 3)), *ends]), model.shape_body[inner[run]]
    way = within(model, outer[run], position[body] + turn(rotation[body], ends), position, rotation) - place[run]
    some = np.flatnonzero((way != 0.0).any(axis=1))
    run, way = run[some], INSIDE * way[some]
    inside[index] = True
    inside[run[first_hits(model, outer[run], place[run], way)[0] <= 1.0]] = False
    return inside


def _encloses(model, shape, place, size):
    """(N,) bool: whether mesh shapes (N,) of a ``size`` (N,) [m] go around places (N, 3) in their frames.

    Ways out of there go through an odd number of surfaces, whichever way these look.  Two that lie on each other count
    as one: most ways tell.
    """
    odd = np.zeros((len(ASKEW), len(shape)), bool)
    for askew, out in zip(ASKEW, odd, strict=True):
        begin, active = place.copy(), np.arange(len(shape))
        for _ in range(LAYERS):
            way = 2.0 * size[active, None] * askew
            share, _ = first_hits(model, shape[active], begin[active], way)
            met = share <= 1.0
            active, way, share = active[met], way[met], share[met]
            if not len(active):
                break
            out[active] = ~out[active]
            begin[active] += share[:, None] * way + FARTHER * size[active, None] * askew
    return 2 * odd.sum(axis=0) > len(odd)


def _outline(model, shape):
    """(N, 3) places around a shape, in its body's frame [m]; of round ones without their rounding."""
    table, number = model.meshes, model.meshes.shape_outline[shape]
    if number >= 0:
        points = table.vertices[table.first_vertex[number] : table.first_vertex[number + 1]]
    else:
        points = corners_of(model.shapes[shape])
    points = points[:: 1 + len(points) // MOST]
    return model.shape_position[shape] + points @ model.shape_rotation[shape].T
