# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull of points in space, as triangles, in NumPy alone.

Quickhull (Barber, Dobkin, Huhdanpaa 1996), taking the point farthest outside first.  A point counts as outside a face
when it lies more than FLATNESS times the extent of the points above it, so the hull may lie that much inside.
Many points are taken in many at a time, see ``convex_hull_rounds``.
"""

import heapq

import numpy as np

from .convex_hull_rounds import Rounds
from .errors import SceneError

MANY = 2000
"""Points from which taking in many at a time pays."""
FLATNESS = 3e-7
"""Height above a face, relative to the extent, below which a point belongs to the face: above the noise of float32
coordinates, which would otherwise turn every flat face into slivers with wild normals."""
COPLANAR = 1e-6
"""Thickness, relative to the extent, below which points have no volume."""


def convex_hull(points):
    """Triangles of the convex hull.

    Args:
        points: (N, 3) finite coordinates; duplicates and interior points are welcome.

    Returns:
        triangles: (T, 3) int32 indices into ``points``, counter-clockwise seen from outside; a closed surface.

    Raises:
        SceneError: fewer than four points, or all in one plane (within COPLANAR of the extent), one line or one place.
    """
    slices = hull_slices(points)
    while True:
        try:
            next(slices)
        except StopIteration as end:
            return end.value


def hull_slices(points):
    """``convex_hull`` as a generator that returns the triangles; of many points it yields now and then."""
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1:] != (3,) or len(points) < 4:
        raise SceneError(f"a convex hull needs at least 4 points in space, but got an array of shape {points.shape}")
    lower, upper = points.min(axis=0), points.max(axis=0)
    extent = float((upper - lower).max())
    if not np.isfinite(extent):
        raise SceneError("a convex hull needs finite coordinates, but some are NaN or infinite")
    if extent == 0.0:
        raise SceneError(f"all {len(points)} points of the convex hull lie in one place: give it a volume")
    # Points of extent one around zero: nothing below depends on the unit of length or the distance from the origin.
    local = (points - 0.5 * (lower + upper)) / extent
    noise = 8.0 * np.finfo(float).eps * max(abs(lower).max(), abs(upper).max()) / extent
    first, flatness = _first_tetrahedron(local, max(COPLANAR, noise), extent), max(FLATNESS, noise)
    if len(points) < MANY:
        return _Hull(local, first, flatness).grow()
    return (yield from Rounds(local, first, flatness).grow())


def _first_tetrahedron(points, thickness, extent):
    """Indices of four points that span a volume, wound so that the fourth lies below the first three."""
    axis = int(np.argmax(np.ptp(points, axis=0)))
    a, b = int(np.argmin(points[:, axis])), int(np.argmax(points[:, axis]))
    along = (points[b] - points[a]) / np.linalg.norm(points[b] - points[a])
    from_line = points - points[a] - np.outer((points - points[a]) @ along, along)
    distances = np.linalg.norm(from_line, axis=1)
    c = int(np.argmax(distances))
    if distances[c] <= thickness:
        raise SceneError(
            f"the points of the convex hull lie on one line within {thickness * extent:.3g} m: give it a volume"
        )
    normal = np.cross(points[b] - points[a], points[c] - points[a])
    heights = (points - points[a]) @ (normal / np.linalg.norm(normal))
    d = int(np.argmax(np.abs(heights)))
    if np.ptp(heights) <= thickness:
        raise SceneError(
            f"the points of the convex hull lie in one plane within {thickness * extent:.3g} m (they are coplanar): "
            "give the shape some thickness, or use a thin Box"
        )
    return (a, b, c, d) if heights[d] < 0 else (a, c, b, d)


class _Hull:
    """The growing hull.  Faces live in arrays with room to spare; dead ones keep their place."""

    def __init__(self, points, tetrahedron, flatness):
        self.points, self.flatness = points, flatness
        self.faces = np.zeros((64, 3), np.int64)
        self.neighbours = np.zeros((64, 3), np.int64)  # across the edge (corner k, corner k + 1)
        self.normals = np.zeros((64, 3))
        self.offsets = np.zeros(64)
        self.alive = np.zeros(64, bool)
        self.count = 0
        self.above = {}  # face -> numbers of the points that lie above it and belong to it, ascending
        self.farthest = []  # heap of (-height, point, face): the farthest point of each face, dead ones too
        a, b, c, d = tetrahedron
        first = self._append(np.array([[a, b, c], [b, a, d], [c, b, d], [a, c, d]]))
        self._connect(first)
        self._assign(np.arange(len(points)), first)

    def grow(self):
        """Takes in the farthest outside point until none is left; returns the triangles."""
        while self.farthest:
            _height, eye, face = heapq.heappop(self.farthest)
            if self.alive[face]:
                self._add(eye, face)
        return self.faces[: self.count][self.alive[: self.count]].astype(np.int32)

    def _add(self, eye, face):
        visible = self._visible(eye, face)
        seen = set(visible)
        rim = []  # (from, to, face beyond), in the winding of the visible side
        for face in visible:
            for k in range(3):
                beyond = int(self.neighbours[face, k])
                if beyond not in seen:
                    rim.append((int(self.faces[face, k]), int(self.faces[face, (k + 1) % 3]), beyond))
        self.alive[visible] = False
        corners = np.array([(start, end, eye) for start, end, _ in rim])
        new = self._append(corners)
        for face, (start, end, beyond) in zip(new, rim, strict=True):
            self.neighbours[face, 0] = beyond
            k = next(k for k in range(3) if self.faces[beyond, k] == end and self.faces[beyond, (k + 1) % 3] == start)
            self.neighbours[beyond, k] = face
        leaving = {}
        for face, (start, _, _) in zip(new, rim, strict=True):
            leaving.setdefault(start, []).append(face)
        for face, (_, end, _) in zip(new, rim, strict=True):
            other = leaving[end].pop()
            self.neighbours[face, 1] = other
            self.neighbours[other, 2] = face
        orphans = np.sort(np.concatenate([self.above.pop(face) for face in visible if face in self.above]))
        self._assign(orphans[orphans != eye], new)

    def _visible(self, eye, owner):
        """Living faces that see the point, reached from the one that owns it: a connected patch."""
        frontier = [owner]
        found, tested = set(frontier), set(frontier)
        while frontier:
            candidates = sorted({*self.neighbours[frontier].ravel().tolist()} - tested)
            tested.update(candidates)
            heights = self.normals[candidates] @ self.points[eye] - self.offsets[candidates]
            frontier = [face for face, height in zip(candidates, heights, strict=True) if height > self.flatness]
            found.update(frontier)
        return sorted(found)

    def _append(self, corners):
        """Adds faces (n, 3) and returns their numbers.  A face without area sees nothing and stays."""
        start, end = self.count, self.count + len(corners)
        while end > len(self.faces):
            for name in ("faces", "neighbours", "normals", "offsets", "alive"):
                values = getattr(self, name)
                setattr(self, name, np.concatenate([values, np.zeros_like(values)]))
        p = self.points[corners]
        normals = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = np.where(lengths > 1e-18, normals / np.maximum(lengths, 1e-18), 0.0)
        self.faces[start:end], self.normals[start:end], self.alive[start:end] = corners, normals, True
        self.offsets[start:end] = np.einsum("ti,ti->t", normals, p.mean(axis=1))
        self.count = end
        return list(range(start, end))

    def _connect(self, faces):
        """Neighbours of a few faces that are closed among themselves."""
        edges = {(self.faces[f, k], self.faces[f, (k + 1) % 3]): f for f in faces for k in range(3)}
        for (start, end), face in edges.items():
            k = next(k for k in range(3) if self.faces[face, k] == start)
            self.neighbours[face, k] = edges[end, start]

    def _assign(self, candidates, faces):
        """Gives each point, of ascending numbers, to the face that it lies farthest above."""
        if not len(candidates):
            return
        heights = self.points[candidates] @ self.normals[faces].T - self.offsets[faces]
        best = np.argmax(heights, axis=1)
        height = heights[np.arange(len(candidates)), best]
        outside = np.flatnonzero(height > self.flatness)
        order = outside[np.argsort(best[outside], kind="stable")]
        start = np.flatnonzero(np.diff(best[order], prepend=-1))
        for own in np.split(order, start[1:]) if len(order) else ():
            face, top = faces[best[own[0]]], own[np.argmax(height[own])]
            self.above[face] = candidates[own]
            heapq.heappush(self.farthest, (-height[top], int(candidates[top]), face))
