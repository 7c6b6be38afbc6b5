# SPDX-License-Identifier: GPL-3.0-or-later
"""The flat faces of boxes, convex hulls, planes and round ends as polygons."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .contact_faces import UP
from .face_places import FEW, half_breadth, spanning
from .problem import tangents
from .shape_extents import round_ends
from .shapes import Box, Cone, ConvexHull, Cylinder, Plane

RIM = 32  # corners of a round end: 0.5 % of its radius at most is left out, times the sine of its lean
COPLANAR = 3e-6  # of a hull's extent: what single precision leaves of a plane
ROOM = 10.0  # times that: how near corners are to the plane of a part of their face
SOME = 5  # corners of a part of a face, by which its plane is known


@dataclass
class FacePolygons:
    """Flat faces of S shapes, in their bodies' frames, corners in order; a plane's face has no corners."""

    first: np.ndarray  # (S + 1,) where each shape's faces begin
    normal: np.ndarray  # (F, 3) outward
    offset: np.ndarray  # (F,) normal . x on the face
    start: np.ndarray  # (F + 1,) where each face's corners begin
    corner: np.ndarray  # (V, 3)
    span_start: np.ndarray  # (F + 1,) where those of each face begin that span it, see face_places.py
    span: np.ndarray  # (P + 1,) numbers among its corners; of round ends none
    breadth: np.ndarray  # (F,) half of it where a face has many corners [m], else inf

    @cached_property
    def wide(self):
        """(F,) bool: which faces take more corners to span than detection finds."""
        return np.diff(self.span_start) > FEW

    @cached_property
    def many(self):
        """(S,) bool: which shapes have such a face."""
        return np.diff(np.append(0, np.cumsum(self.wide))[self.first]) > 0


def face_polygons(shapes, position, rotation):
    """The FacePolygons of scene shapes; position (S, 3), rotation (S, 3, 3): theirs in their bodies' frames."""
    first, normals, offsets, start, corners = [0], [], [], [0], [np.zeros((0, 3))]
    span, breadths = [], []
    for shape, place, frame in zip(shapes, position, rotation, strict=True):
        for normal, polygon, own, breadth in _faces(shape):
            span.append(own)
            breadths.append(breadth)
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
        np.cumsum([0, *map(len, span)]),
        np.concatenate([*span, np.zeros(1, np.intp)]),
        np.array(breadths, float),
    )


def _span(shape, polygon):
    """Numbers of the corners that span a face of a shape, and its ``FacePolygons.breadth``."""
    if isinstance(shape, (Cylinder, Cone)):
        return np.zeros(0, np.intp), np.inf
    if len(polygon) <= FEW:
        return np.arange(len(polygon)), np.inf
    breadth = half_breadth(polygon)
    return spanning(polygon, breadth), breadth


def many_sided(shape):
    """Whether a shape has a face that takes more corners to span than detection finds."""
    return isinstance(shape, ConvexHull) and any(len(own) > FEW for _, _, own, _ in _faces(shape))


def _faces(shape):
    """(normal, corners, what ``_span`` tells) of each face, as in ``_polygons``; each hull is asked once."""
    if "faces" not in shape.__dict__:
        found = [(normal, polygon, *_span(shape, polygon)) for normal, polygon in _polygons(shape)]
        if not isinstance(shape, ConvexHull):
            return found
        shape.__dict__["faces"] = found
    return shape.__dict__["faces"]


def _polygons(shape):
    """(normal (3,), corners (n, 3) in order) of each face in the shape's own frame."""
    if isinstance(shape, Plane):
        return [(UP, np.zeros((0, 3)))]
    if isinstance(shape, Box):
        signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]], float)
        out = []
        for axis in range(3):
            for side in (1.0, -1.0):
                corner = np.insert(signs, axis, side, axis=1)
                out.append((side * np.eye(3)[axis], corner * np.asarray(shape.half_extents, float)))
        return out
    if isinstance(shape, (Cylinder, Cone)):
        angle = 2.0 * np.pi * np.arange(RIM) / RIM
        rim = shape.radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(RIM)], axis=1)
        return [(end * UP, rim + shape.half_height * end * UP) for end in round_ends(shape)]
    return _of_hull(shape) if isinstance(shape, ConvexHull) else []


def _of_hull(shape):
    """``_polygons`` of a convex hull."""
    vertices, triangles = np.asarray(shape.vertices, float), shape.triangles
    corner = vertices[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = normal.copy()
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    kept, group = np.unique(np.round(normal, 5), axis=0, return_index=True, return_inverse=True)[1:]
    order, count = np.argsort(group.ravel(), kind="stable"), np.bincount(group.ravel())
    own, single = np.split(order, np.cumsum(count)[:-1]), np.flatnonzero(count == 1)
    polygons = dict(zip(single.tolist(), _in_order(corner[kept[single]], normal[kept[single]]), strict=True))
    for k in np.flatnonzero(count > 1).tolist():
        polygons[k] = _in_order(vertices[np.unique(triangles[own[k]])][None], normal[kept[k]][None])[0]
    area = np.stack([np.bincount(group.ravel(), column) for column in area.T], axis=1)
    return _joined([(normal[kept[k]], polygons[k]) for k in range(len(kept))], area, vertices[np.unique(triangles)])


def _joined(polygons, area, corner):
    """Polygons of a hull with these corners (V, 3), of which those of many corners that lie in one plane are one.

    Corners come in single precision: the narrow triangles of a turned prism's ends seem to lean each another way.
    area (P, 3): the polygons' vector areas.
    """
    noise, out = COPLANAR * np.ptp(corner, axis=0).max(), polygons
    large = [k for k, (_, own) in enumerate(polygons) if len(own) >= SOME]
    if len(corner) <= FEW or not large:
        return out
    normal = area[large] / np.linalg.norm(area[large], axis=1)[:, None]
    level = normal @ corner.T - np.einsum("ki,ki->k", normal, [polygons[k][1].mean(axis=0) for k in large])[:, None]
    near = (np.abs(level) <= ROOM * noise).sum(axis=1)
    large = [k for k, count in zip(large, near, strict=True) if count > max(FEW, len(polygons[k][1]))]
    for normal, own in sorted((polygons[k] for k in large), key=lambda polygon: -len(polygon[1])):
        whole = own
        for _ in range(2):  # the larger it is, the better its plane is known
            normal = _area(whole, normal)
            normal, level = normal / np.linalg.norm(normal), normal @ whole.mean(axis=0) / np.linalg.norm(normal)
            whole = corner[np.abs(corner @ normal - level) <= noise]
            whole = _in_order(whole[None], normal[None])[0]
        if len(whole) <= max(FEW, len(own)):
            continue
        apart = [np.abs(other @ normal - level).max() > noise for _, other in out]
        if sum(apart) < len(out) - 1:
            out = [(normal, whole)] + [polygon for polygon, keep in zip(out, apart, strict=True) if keep]
    return out


def _area(corners, normal):
    """Vector area of a polygon (n, 3), corners in order around ``normal``."""
    arm = corners - corners[0]
    area = np.cross(arm[1:-1], arm[2:]).sum(axis=0)
    return area if area @ normal > 0.0 else -area


def _in_order(points, normal):
    """The corners (N, n, 3) of N convex polygons of one number of corners in order around them; normal (N, 3)."""
    t1, t2 = tangents(normal)
    arm = points - points.mean(axis=1, keepdims=True)
    angle = np.arctan2(np.einsum("fki,fi->fk", arm, t2), np.einsum("fki,fi->fk", arm, t1))
    return np.take_along_axis(points, np.argsort(angle, axis=1)[:, :, None], axis=1)
