# SPDX-License-Identifier: GPL-3.0-or-later
"""The deepest corner of two flat faces that lie on each other, where detection leaves it out.

Two rectangles meet in up to eight corners.  newton keeps the four that span the largest area, and the deepest of all
only where the faces lean by more than 0.1 degrees: below, a box of 1 m may sink 0.5 mm deep at a corner that no contact
holds.  Over the region where both faces are, the gap is a linear function of the place, so it is least at a corner of
one face above the other, or where two edges cross.
"""

from dataclasses import dataclass

import numpy as np

from .manifold import NOISE, Manifolds, along_runs, segments, turn, turn_back
from .problem import tangents
from .shapes import Box, ConvexHull, Plane

FLAT = np.cos(np.radians(0.5))  # a face counts where its normal is that near to the contact's
REDUCED = 4  # points of a manifold that may have left some out


@dataclass
class FacePolygons:
    """Flat faces of S shapes, in their bodies' frames, corners in order; a plane's face has no corners."""

    first: np.ndarray  # (S + 1,) where each shape's faces begin
    normal: np.ndarray  # (F, 3) outward
    offset: np.ndarray  # (F,) normal . x on the face
    start: np.ndarray  # (F + 1,) where each face's corners begin
    corner: np.ndarray  # (V, 3)

    def nearest(self, shape, direction):
        """The face of each shape (K,) whose normal is nearest to a direction (K, 3), and its cosine; -1 for none."""
        run, offset = along_runs(self.first[shape + 1] - self.first[shape])
        face = self.first[shape][run] + offset
        cosine = np.einsum("ki,ki->k", self.normal[face], direction[run])
        order = np.lexsort((-cosine, run))
        begins, owner = segments(run[order])
        best, found = np.full(len(shape), -1), np.full(len(shape), -1.0)
        best[owner], found[owner] = face[order][begins], cosine[order][begins]
        return best, found

    def corners(self, face):
        """(K, m, 3) of each face (K,), the last one repeated, and how many there are (K,)."""
        count = self.start[face + 1] - self.start[face]
        index = np.minimum(np.arange(count.max(initial=1)), np.maximum(count[:, None] - 1, 0))
        return self.corner[np.minimum(self.start[face][:, None] + index, max(0, len(self.corner) - 1))], count


def face_polygons(shapes, position, rotation):
    """The FacePolygons of scene shapes; position (S, 3), rotation (S, 3, 3): theirs in their bodies' frames."""
    first, normals, offsets, start, corners = [0], [], [], [0], [np.zeros((0, 3))]
    for shape, place, frame in zip(shapes, position, rotation, strict=True):
        for normal, polygon in _polygons(shape):
            normals.append(frame @ normal)
            polygon = place + polygon @ frame.T
            offsets.append(normals[-1] @ (polygon[0] if len(polygon) else place))
            corners.append(polygon)
            start.append(start[-1] + len(polygon))
        first.append(len(normals))
    corner = np.concatenate(corners)
    return FacePolygons(
        np.array(first, np.intp),
        np.array(normals).reshape(-1, 3),
        np.array(offsets),
        np.array(start, np.intp),
        corner if len(corner) else np.zeros((1, 3)),
    )


def _polygons(shape):
    """(normal (3,), corners (n, 3) in order) of each face in the shape's own frame."""
    if isinstance(shape, Plane):
        return [(np.array([0.0, 0.0, 1.0]), np.zeros((0, 3)))]
    if isinstance(shape, Box):
        signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]], float)
        out = []
        for axis in range(3):
            for side in (1.0, -1.0):
                corner = np.insert(signs, axis, side, axis=1)
                out.append((side * np.eye(3)[axis], corner * np.asarray(shape.half_extents, float)))
        return out
    if not isinstance(shape, ConvexHull):
        return []
    vertices, triangles = np.asarray(shape.vertices, float), shape.triangles
    corner = vertices[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    kept, group = np.unique(np.round(normal, 5), axis=0, return_index=True, return_inverse=True)[1:]
    return [
        (normal[kept[k]], _in_order(vertices[np.unique(triangles[group.ravel() == k])], normal[kept[k]]))
        for k in range(len(kept))
    ]


def _in_order(points, normal):
    """The corners (n, 3) of a convex polygon in order around it."""
    t1, t2 = (axis[0] for axis in tangents(normal[None]))
    arm = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(arm @ t2, arm @ t1))]


def with_deepest(model, found, position, rotation):
    """Manifolds ``found`` at the poses position (B, 3), rotation (B, 3, 3), with the corners that they lack."""
    begin, pair = segments(found.pair)
    full = np.diff(np.append(begin, len(found))) >= REDUCED
    first = begin[full]
    if not len(first):
        return found
    table, (shape_b, shape_a) = model.polygons, np.divmod(pair[full], len(model.shape_body))
    a, b = found.body_a[first], found.body_b[first]
    normal = turn(rotation[b], found.normal[first])
    face_a, cos_a = table.nearest(shape_a, -turn_back(rotation[a], normal))
    face_b, cos_b = table.nearest(shape_b, found.normal[first])
    flat = np.flatnonzero((cos_a > FLAT) & (cos_b > FLAT))
    if not len(flat):
        return found
    first, a, b, normal = first[flat], a[flat], b[flat], normal[flat]
    from_b = position[a] - position[b]
    side_a = _Side(table, face_a[flat], rotation[a], from_b, normal)
    side_b = _Side(table, face_b[flat], rotation[b], np.zeros_like(from_b), normal)
    point_a, point_b = turn(rotation[found.body_a], found.point_a), turn(rotation[found.body_b], found.point_b)
    apart = position[found.body_a] - position[found.body_b] + point_a - point_b
    gap = np.einsum("ki,ki->k", turn(rotation[found.body_b], found.normal), apart) - found.margin_a - found.margin_b
    least = np.minimum.reduceat(gap, begin)[full][flat]
    noise = NOISE * found.size[first]
    doubtful = np.flatnonzero(_bound(side_a, side_b) < least - noise)
    if not len(doubtful):
        return found
    place, deepest = _deepest(side_a.take(doubtful), side_b.take(doubtful))
    new = deepest < (least - noise)[doubtful]
    if not new.any():
        return found
    doubtful, place = doubtful[new], place[new]
    added = found.take(first[doubtful])
    on_a, on_b = (side.take(doubtful).lift(place) for side in (side_a, side_b))
    added.point_a = turn_back(rotation[a[doubtful]], on_a - from_b[doubtful])
    added.point_b = turn_back(rotation[b[doubtful]], on_b)
    added.margin_a, added.margin_b = np.zeros(len(added)), np.zeros(len(added))
    return Manifolds.join([found, added])[0]


class _Side:
    """One face of each of K pairs, seen along the contact normal: places (.., 2) across it, heights along it."""

    def __init__(self, table, face, rotation, origin, normal):
        corner, self.count = table.corners(face)
        self.axes = np.stack([*tangents(normal), normal], axis=1)  # (K, 3, 3)
        world = np.einsum("kij,kmj->kmi", rotation, corner) + origin[:, None]
        self.corner = np.einsum("kij,kmj->kmi", self.axes, world)  # (K, m, 3) place, height
        lean = np.einsum("kij,kj->ki", self.axes, turn(rotation, table.normal[face]))
        offset = table.offset[face] + np.einsum("ki,ki->k", turn(rotation, table.normal[face]), origin)
        self.slope, self.level = -lean[:, :2] / lean[:, 2:], offset / lean[:, 2]

    def take(self, index):
        """The pairs at ``index``."""
        out = object.__new__(_Side)
        for name, value in vars(self).items():
            setattr(out, name, value[index])
        return out

    def height(self, place):
        """(K, m) of the face's plane at places (K, m, 2)."""
        return np.einsum("kmi,ki->km", place, self.slope) + self.level[:, None]

    def lift(self, place):
        """World points (K, 3) of the face's plane at places (K, 2), from b's origin."""
        seen = np.concatenate([place[:, None], self.height(place[:, None])[:, :, None]], axis=2)[:, 0]
        return np.einsum("kji,kj->ki", self.axes, seen)

    def holds(self, place):
        """Whether places (K, m, 2) are on the face, (K, m); a face without corners is everywhere."""
        here, there = self.corner[..., :2], self._next()
        edge, arm = there - here, place[:, :, None] - here[:, None]
        side = edge[:, None, :, 0] * arm[..., 1] - edge[:, None, :, 1] * arm[..., 0]
        length = np.linalg.norm(edge, axis=-1)
        near = 1e-9 * length.max(axis=1)[:, None, None] * length[:, None]
        inside = (side >= -near).all(axis=2) | (side <= near).all(axis=2)
        return inside | (self.count == 0)[:, None]

    def _next(self):
        """(K, m, 2) the corner after each one; the last leads back to the first."""
        index = np.arange(1, self.corner.shape[1] + 1)
        index = np.where(index < self.count[:, None], index, 0)
        return np.take_along_axis(self.corner[..., :2], index[..., None], axis=1)

    def edges(self):
        """Starts and ends (K, m, 2) of the edges, the last one repeated."""
        return self.corner[..., :2], self._next()


def _bound(side_a, side_b):
    """(K,) what the gap of two faces cannot be below: a linear function is least at a corner of either face."""
    out = np.full(len(side_a.count), -np.inf)
    for side in (side_a, side_b):
        place = side.corner[..., :2]
        gap = (side_a.height(place) - side_b.height(place)).min(axis=1)
        out = np.maximum(out, np.where(side.count > 0, gap, -np.inf))
    return out


def _deepest(side_a, side_b):
    """Place (K, 2) across the normal and gap (K,) where two faces overlap deepest; inf where they do not."""
    (a0, a1), (b0, b1) = side_a.edges(), side_b.edges()
    d, e = (a1 - a0)[:, :, None], (b1 - b0)[:, None]
    across = d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0]
    between = b0[:, None] - a0[:, :, None]
    size = np.linalg.norm(d, axis=-1) * np.linalg.norm(e, axis=-1)
    crossing = np.abs(across) > 1e-9 * size
    along = (between[..., 0] * e[..., 1] - between[..., 1] * e[..., 0]) / np.where(crossing, across, 1.0)
    cross = (a0[:, :, None] + np.where(crossing, along, 0.0)[..., None] * d).reshape(len(a0), -1, 2)
    place = np.concatenate([a0, b0, cross], axis=1)
    sound = np.concatenate(
        [
            np.broadcast_to((side_a.count > 0)[:, None], a0.shape[:2]),
            np.broadcast_to((side_b.count > 0)[:, None], b0.shape[:2]),
            crossing.reshape(len(a0), -1) & ((side_a.count > 0) & (side_b.count > 0))[:, None],
        ],
        axis=1,
    )
    gap = side_a.height(place) - side_b.height(place)
    gap = np.where(sound & side_a.holds(place) & side_b.holds(place), gap, np.inf)
    best = gap.argmin(axis=1)
    rows = np.arange(len(best))
    return place[rows, best], gap[rows, best]
