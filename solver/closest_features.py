# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of a box or hull that is nearest to the axis of a ball or capsule: on a face, an edge or a corner.

The face above which a point is highest is the only one that may hold the place nearest to it; whether that place is on
the face, all other faces tell.  An axis is nearest to a face at one of its ends, and else to an edge.
"""

from dataclasses import dataclass

import numpy as np

from .closest_shares import closest_shares
from .manifold import along_runs

HAIR = 1e-9  # of a shape's radius: a place that much beyond another face is still on the one
AT_ONCE = 1 << 18  # pairs of an axis and an edge; each takes some 100 bytes
PARALLEL = 1e-9  # square of the sine between an axis and an edge below which any place side by side will do
ASKEW = np.array([0.6123, 0.3571, 0.7053])  # no direction that edges like to have: tells the two ways along them


@dataclass
class EdgeTable:
    """The edges of S shapes, one after the other, in their bodies' frames; none of what is neither box nor hull."""

    first: np.ndarray  # (S + 1,) where each shape's edges begin
    start: np.ndarray  # (E, 3)
    way: np.ndarray  # (E, 3) from there to the end
    middle: np.ndarray  # (E, 3)
    half: np.ndarray  # (E,) half the length [m]


def edge_table(polygons, shape_side):
    """The EdgeTable of FacePolygons; shape_side: (S, 2) of a CollisionModel, 0 where no side is round."""
    count = np.diff(polygons.start)
    face, _ = along_runs(count)
    corner = polygons.corner[: len(face)]
    following = np.arange(len(face)) + 1
    following[polygons.start[1:][count > 0] - 1] = polygons.start[:-1][count > 0]
    way = corner[following] - corner
    middle = np.zeros((len(count), 3))
    np.add.at(middle, face, corner)
    middle /= np.maximum(count, 1)[:, None]
    # Around two faces an edge is passed both ways.
    turn = (np.cross(corner - middle[face], way) * polygons.normal[face]).sum(axis=1)
    shape = np.searchsorted(polygons.first, face, side="right") - 1
    kept = np.flatnonzero((np.sign(turn) * (way @ ASKEW) > 0.0) & (shape_side[shape, 0] == 0.0))
    first = np.searchsorted(shape[kept], np.arange(len(polygons.first)))
    corner, way = corner[kept], way[kept]
    return EdgeTable(first, corner, way, corner + 0.5 * way, 0.5 * np.sqrt((way * way).sum(axis=1)))


@dataclass
class Nearest:
    """Where N axes and polyhedra are nearest, in the frame of the polyhedron's body."""

    share: np.ndarray  # (N,) 0 at one end of the axis, 1 at the other
    place: np.ndarray  # (N, 3) on the polyhedron
    normal: np.ndarray  # (N, 3) from there to the axis
    length: np.ndarray  # (N,) [m], below 0 inside
    on_face: np.ndarray  # (N,) bool


def nearest_feature(model, shape, start, way):
    """The Nearest of boxes or hulls ``shape`` (N,) to axes from ``start`` (N, 3) along ``way`` (N, 3); 0 for balls."""
    half = len(shape) // 2
    if half and np.diff(model.edges.first)[shape].sum() > AT_ONCE:
        parts = (nearest_feature(model, shape[k], start[k], way[k]) for k in (slice(half), slice(half, None)))
        return Nearest(*(np.concatenate(pair) for pair in zip(*(vars(part).values() for part in parts), strict=True)))
    place, normal, height = _on_face(model, shape, start)
    found = Nearest(np.zeros(len(shape)), place, normal, height, np.isfinite(height))
    capsule = (way * way).sum(axis=1) > 0.0
    some = np.flatnonzero(capsule)
    if len(some):
        _take_nearer(found, some, 1.0, *_on_face(model, shape[some], start[some] + way[some]), True)
    some = np.flatnonzero(capsule | ~found.on_face)
    if len(some):
        _take_nearer(found, some, *_on_edge(model.edges, shape[some], start[some], way[some]), False)
    return found


def _take_nearer(found, some, share, place, normal, length, on_face):
    """Put places into ``found`` at ``some``, in place, where they are nearer."""
    nearer = length < found.length[some]
    index = some[nearer]
    found.share[index] = np.broadcast_to(share, len(some))[nearer]
    found.place[index], found.normal[index], found.length[index] = place[nearer], normal[nearer], length[nearer]
    found.on_face[index] = on_face


def _on_face(model, shape, point):
    """(place (N, 3), normal (N, 3), height (N,)) of the face nearest to points; inf where an edge is nearer."""
    table = model.polygons
    first = table.first[shape]
    run, offset = along_runs(table.first[shape + 1] - first)
    face, begin = first[run] + offset, np.flatnonzero(offset == 0)
    normal, level = table.normal[face], table.offset[face]
    height = (normal * point[run]).sum(axis=1) - level
    highest = np.maximum.reduceat(height, begin)
    best = np.minimum.reduceat(np.where(height == highest[run], face, len(table.offset)), begin)
    place = point - highest[:, None] * table.normal[best]
    beyond = np.maximum.reduceat((normal * place[run]).sum(axis=1) - level, begin)
    on_face = beyond <= HAIR * model.shape_radius[shape]
    return place, table.normal[best], np.where(on_face, highest, np.inf)


def _on_edge(edges, shape, start, way):
    """(share (N,), place (N, 3), normal (N, 3), length (N,)) of the edge nearest to axes."""
    first = edges.first[shape]
    run, offset = along_runs(edges.first[shape + 1] - first)
    edge = first[run] + offset
    # The two middles are no nearer than the nearest places: most edges are too far from theirs.
    apart = (start + 0.5 * way)[run] - edges.middle[edge]
    far = np.sqrt((apart * apart).sum(axis=1))
    reach = np.minimum.reduceat(far, np.flatnonzero(offset == 0)) + 0.5 * np.sqrt((way * way).sum(axis=1))
    near = far - edges.half[edge] <= reach[run] * (1.0 + HAIR)
    run, edge = run[near], edge[near]
    begin = np.flatnonzero(np.diff(run, prepend=-1))
    own, along = closest_shares(start[run], way[run], edges.start[edge], edges.way[edge], PARALLEL)
    place = edges.start[edge] + along[:, None] * edges.way[edge]
    apart = start[run] + own[:, None] * way[run] - place
    square = (apart * apart).sum(axis=1)
    least = np.minimum.reduceat(square, begin)
    best = np.minimum.reduceat(np.where(square == least[run], np.arange(len(run)), len(run)), begin)
    length = np.sqrt(np.maximum(least, 1e-300))
    return own[best], place[best], apart[best] / length[:, None], length
