# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of a box or hull that is nearest to the axis of a ball or capsule: on a face, an edge or a corner.

The place nearest to a point outside is its foot on one of the triangles of the surface, or else on a side of one.  That
asks nothing of faces of several triangles, which lie in a plane but for the rounding of their corners.  An axis is
nearest to a face at one of its ends, and else to an edge.
"""

from dataclasses import dataclass

import numpy as np

from .closest_shares import closest_shares
from .flags import places
from .manifold import along_runs
from .ordered import segments
from .shapes import Box, ConvexHull
from .vectors import inner
from .vectors import length as length_of

SLACK = 1e-5  # of a shape's radius: a place that much beside a triangle is still on it
COPLANAR = 1e-12  # less than 1 by that is the cosine between faces which no edge parts
LEVEL = 1e-8  # the same between a face and the way to the edge beside it, from the face itself
AT_ONCE = 1 << 17  # pairs of an axis and a triangle; each takes some 300 bytes
HAIR = 1e-9  # times a length, more than rounding takes away
PARALLEL = 1e-9  # square of the sine between an axis and an edge below which any place side by side will do
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
QUADS = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])  # outward


@dataclass
class SolidTable:
    """Triangles and edges of the boxes and hulls among S shapes, in their bodies' frames; none of other shapes."""

    first_triangle: np.ndarray  # (S + 1,) where each shape's triangles begin
    tip: np.ndarray  # (T, 3, 3)
    normal: np.ndarray  # (T, 3) outward
    inward: np.ndarray  # (T, 3, 3) in its plane, square to each side
    first: np.ndarray  # (S + 1,) where each shape's edges begin
    start: np.ndarray  # (E, 3)
    way: np.ndarray  # (E, 3) from there to the end
    middle: np.ndarray  # (E, 3)
    half: np.ndarray  # (E,) half the length [m]
    beside: np.ndarray  # (E, 2, 3) normals of the two triangles there


def solid_table(shapes, place, turn):
    """The SolidTable of scene shapes at ``place`` (S, 3), ``turn`` (S, 3, 3) in their bodies' frames."""
    parts, faces, edges = [], [0], [0]
    for shape, position, frame in zip(shapes, place, turn, strict=True):
        corner, triangle = _surface(shape)
        parts.append(_parts(position + corner @ frame.T, triangle))
        faces.append(faces[-1] + len(parts[-1][0]))
        edges.append(edges[-1] + len(parts[-1][3]))
    tip, normal, inward, start, way, beside = (np.concatenate(column) for column in zip(_NOTHING, *parts, strict=True))
    half = 0.5 * np.sqrt((way * way).sum(axis=1))
    return SolidTable(
        np.array(faces), tip, normal, inward, np.array(edges), start, way, start + 0.5 * way, half, beside
    )


_NOTHING = tuple(np.zeros((0, *size)) for size in ((3, 3), (3,), (3, 3), (3,), (3,), (2, 3)))


def _surface(shape):
    """Corners (V, 3) and triangles (T, 3) of a box or hull in its own frame; T is 0 for other shapes."""
    if isinstance(shape, Box):
        return CUBE * np.asarray(shape.half_extents, float), QUADS[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    if isinstance(shape, ConvexHull):
        return np.asarray(shape.vertices, float), np.asarray(shape.triangles)
    return np.zeros((1, 3)), np.zeros((0, 3), int)


def _parts(corner, triangle):
    """The columns of a SolidTable of one shape's triangles (T, 3) between corners (V, 3), but for what follows."""
    if not len(triangle):
        return _NOTHING
    tip = corner[triangle]
    side = np.roll(tip, -1, axis=1) - tip
    normal = _unit(np.cross(side[:, 0], side[:, 1]))
    ends = np.stack([triangle, np.roll(triangle, -1, axis=1)], axis=-1).reshape(-1, 2)
    key = ends.min(axis=1) * len(corner) + ends.max(axis=1)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    last = np.append(first[1:], len(key)) - 1  # the same where a triangle has no other beside it
    beside = normal[np.stack([order[first], order[last]], axis=1) // 3]
    parted = np.flatnonzero((beside[:, 0] * beside[:, 1]).sum(axis=1) < 1.0 - COPLANAR)
    start, end = corner[ends[order[first[parted]]]].swapaxes(0, 1)
    return tip, normal, _unit(np.cross(normal[:, None], side)), start, end - start, beside[parted]


def _unit(vectors):
    return vectors / np.maximum(np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True)), 1e-300)


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
    if half and np.diff(model.solids.first_triangle)[shape].sum() > AT_ONCE:
        parts = (nearest_feature(model, shape[k], start[k], way[k]) for k in (slice(half), slice(half, None)))
        return Nearest(*(np.concatenate(pair) for pair in zip(*(vars(part).values() for part in parts), strict=True)))
    place, normal, height = _on_face(model, shape, start)
    found = Nearest(np.zeros(len(shape)), place, normal, height, np.isfinite(height))
    capsule = inner(way, way) > 0.0
    some = np.flatnonzero(capsule)
    if len(some):
        _take_nearer(found, some, np.ones(len(some)), *_on_face(model, shape[some], start[some] + way[some]), True)
    some = np.flatnonzero(capsule | ~found.on_face)
    if len(some):
        _take_nearer(found, some, *_on_edge(model.solids, shape[some], start[some], way[some]))
    return found


def _take_nearer(found, some, share, place, normal, length, on_face):
    """Put places into ``found`` at ``some``, in place, where they are nearer."""
    nearer = length < found.length[some]
    index = some[nearer]
    found.share[index], found.on_face[index] = share[nearer], np.broadcast_to(on_face, len(some))[nearer]
    found.place[index], found.normal[index], found.length[index] = place[nearer], normal[nearer], length[nearer]


def _on_face(model, shape, point):
    """(place (N, 3), normal (N, 3), height (N,)) of the triangle nearest to points; inf where an edge is nearer.

    Inside, that is the one it is the least below.
    """
    table = model.solids
    first = table.first_triangle.take(shape)
    run, offset = along_runs(table.first_triangle.take(shape + 1) - first)
    face, begin = first.take(run) + offset, places(offset == 0)
    arm = point.take(run, 0)[:, None] - table.tip.take(face, 0)
    height = inner(table.normal.take(face, 0), arm[:, 0])
    beside = inner(table.inward.take(face, 0), arm)
    beside = np.minimum(np.minimum(beside[:, 0], beside[:, 1]), beside[:, 2])
    over = beside >= -SLACK * model.shape_radius.take(shape).take(run)
    inside = np.maximum.reduceat(height, begin) < 0.0
    far = np.where(inside.take(run), -height, np.where(over & (height >= 0.0), height, np.inf))
    least = np.minimum.reduceat(far, begin)
    best = np.minimum.reduceat(np.where(far == least.take(run), face, len(table.tip)), begin)
    length = np.where(inside, -least, least)
    normal = table.normal.take(best, 0)
    return point - np.where(np.isfinite(length), length, 0.0)[:, None] * normal, normal, length


def _on_edge(edges, shape, start, way):
    """(share (N,), place (N, 3), normal (N, 3), length (N,), as of a face (N,)) of the edge nearest to axes."""
    first = edges.first.take(shape)
    run, offset = along_runs(edges.first.take(shape + 1) - first)
    edge = first.take(run) + offset
    # The two middles are no nearer than the nearest places: most edges are too far from theirs.
    far = length_of((start + 0.5 * way).take(run, 0) - edges.middle.take(edge, 0))
    reach = np.minimum.reduceat(far, places(offset == 0)) + 0.5 * length_of(way)
    near = places(far - edges.half.take(edge) <= reach.take(run) * (1.0 + HAIR))
    run, edge = run.take(near), edge.take(near)
    begin = segments(run)[0]
    axis, side = (start.take(run, 0), way.take(run, 0)), (edges.start.take(edge, 0), edges.way.take(edge, 0))
    own, along = closest_shares(*axis, *side, PARALLEL)
    place = side[0] + along[:, None] * side[1]
    apart = axis[0] + own[:, None] * axis[1] - place
    square = inner(apart, apart)
    least = np.minimum.reduceat(square, begin)
    best = np.minimum.reduceat(np.where(square == least.take(run), np.arange(len(run)), len(run)), begin)
    length = np.sqrt(np.maximum(least, 1e-300))
    normal = apart[best] / length[:, None]
    level = inner(edges.beside[edge[best]], normal[:, None]).max(axis=1) > 1.0 - LEVEL
    return own[best], place[best], normal, length, level
