# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose middle goes through the surface of a mesh in a step, though contacts hold them elsewhere on it.

Of each triangle a detector tells the place that is nearest now.  A ball that rolls on a floor towards a wall of the
same mesh is nearest to the wall where the two meet, in a valley, which no convex body ever touches; and once its middle
is behind the wall, nothing there tells that it came from before.  Where a way leads through a triangle, that one is in
the way.
"""

import numpy as np

from .closest_points import closest_points, first_hits
from .contact_set import ContactSet, no_contacts, still_surface
from .manifold import gaps_of, turn
from .mesh_sides import center, within
from .pierced import planes
from .shape_pairs import ShapePairs

STILL = 0.25  # of its smallest half extent: what goes less far crosses nothing that contacts do not tell of


def crossings(model, pairs, start, end):
    """Contacts of solids with the triangles of larger meshes that their middles meet on straight ways: a ContactSet.

    Each is that of a ball around the middle, as large as fits into the solid, with the plane of the triangle.

    pairs (P, 2) int: shapes, one of them at least a mesh; start, end: position (B, 3), rotation (B, 3, 3) of bodies.
    """
    # Seen from what is smaller and turns, the way of what is larger is an arc.
    larger = np.argmax(model.shape_radius[pairs], axis=1)[:, None]
    first, second = np.take_along_axis(pairs, np.c_[1 - larger, larger], axis=1).T
    mesh = model.meshes.shape_mesh
    some = (mesh[second] >= 0) & ((mesh[first] < 0) | ~model.meshes.sheet[mesh[first]])
    if model.deforming is not None:
        some &= model.deforming.of_shape[second] < 0
    first, second = first[some], second[some]
    begin, there = (within(model, second, center(model, first, *pose), *pose) for pose in (start, end))
    way = there - begin
    some = np.flatnonzero((way * way).sum(axis=1) > (STILL * model.shape_size[first]) ** 2)
    if not len(some):
        return no_contacts()
    first, second, begin, way = (each[some] for each in (first, second, begin, way))
    share, normal = first_hits(model, second, begin, way)
    facing = (normal * way).sum(axis=1)
    closed = model.meshes.closed[mesh[second]]
    met = np.flatnonzero((share <= 1.0) & ((facing < 0.0) | ~closed & (facing > 0.0)))
    if not len(met):
        return no_contacts()
    normal = -np.sign(facing[met])[:, None] * normal[met]
    place, first = begin[met] + share[met, None] * way[met], first[met]
    between = ShapePairs(model, first, second[met], np.zeros(len(met)), *start)
    own = between.own_centers(slice(None))
    radius = np.array([_inner_radius(model, shape, middle) for shape, middle in zip(first, own, strict=True)])
    return _contact_set(between.manifolds(np.arange(len(met)), own, place, normal, radius), *start)


def _inner_radius(model, shape, middle):
    """Radius of the largest ball around a place (3,) of a solid, in its frame, that fits into it [m]."""
    if model.shape_rounding[shape] > 0.0:
        return model.shape_rounding[shape]
    if model.meshes.shape_mesh[shape] >= 0:
        place = closest_points(model, np.array([shape]), middle[None], np.array([np.inf]))[2][0]
        return float(np.sqrt(((place - middle) ** 2).sum()))
    normal, offset = planes(model, shape)
    return max(0.0, float((offset - normal @ middle).min())) if len(normal) else 0.0


def _contact_set(points, position, rotation):
    """The ContactSet of Manifolds at poses (B, 3), (B, 3, 3)."""
    normal = turn(rotation[points.body_b], points.normal)
    gap = gaps_of(points, position, rotation)
    count = len(points)
    return ContactSet(
        points.body_a, points.body_b, points.point_a, points.point_b, points.margin_a, points.margin_b, normal, gap,
        points.pair, np.full(count, -1), np.full(count, -1), np.zeros((count, 3)), *still_surface(count),
        np.zeros(count, np.int32), points, np.arange(count),
    )  # fmt: skip
