# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep bodies are in each other at one instant, from their true shapes: separating axes of all pairs.

A box, a sphere and a capsule are one thing here: a box with a radius around it, whose box shrinks to a point or a line
when there is a radius.  Pairs of those are measured all at once, pairs with a convex hull one by one.
"""

from functools import lru_cache

import numpy as np
from axion.solver import Box, Capsule, ConvexHull, Plane, Sphere, rotations
from axion.solver.convex_hull import convex_hull

CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
PARALLEL = 1e-6
"""Sine of the angle below which two edges span no axis of their own."""
FAR = 1e8
"""Distance beyond which nothing is measured any more [m]."""
NARROWINGS = 80
"""Steps that each leave two thirds of a segment: what is left is rounding."""
AT_ONCE = 20000
"""Pairs in one array."""
HALF_NEIGHBOURHOOD = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) > (0, 0, 0)]


class Overlaps:
    """The solid parts of a scene's bodies.

    Args:
        scene: Scene of boxes, convex hulls, spheres and capsules, any number a body, and planes at z = 0.

    Raises:
        NotImplementedError: for any other shape.
    """

    def __init__(self, scene):
        parts, self.floor = [], False
        for i, body in enumerate(scene.bodies):
            if body.collision_mask:
                self.floor |= any(isinstance(shape, Plane) for shape in body.shapes)
                parts += [(i, shape) for shape in body.shapes if not isinstance(shape, Plane)]
        self.shapes = [shape for _, shape in parts]
        self.body = np.array([i for i, _ in parts], int)
        self.place = np.array([shape.position for shape in self.shapes], float).reshape(-1, 3)
        self.turn = np.array([shape.orientation for shape in self.shapes], float).reshape(-1, 4)
        rounded = [_rounded_box(shape) for shape in self.shapes]
        self.half = np.array([half for half, _ in rounded], float).reshape(-1, 3)
        self.radius = np.array([radius for _, radius in rounded], float)
        self.hull = np.array([isinstance(shape, ConvexHull) for shape in self.shapes], bool)
        self.reach = self.radius + np.linalg.norm(self.half, axis=1)
        for p in np.flatnonzero(self.hull):
            self.reach[p] = np.linalg.norm(_form(self.shapes[p])[0], axis=1).max()
        self.fixed = np.array([scene.bodies[i].motion != "dynamic" for i in self.body], bool)
        self.bodies = len(scene.bodies)
        pairs = [
            sorted((scene.index(joint.body_a), scene.index(joint.body_b)))
            for joint in scene.joints
            if not joint.collide_connected and None not in (joint.body_a, joint.body_b)
        ]
        self.joined = np.unique([a * self.bodies + b for a, b in pairs])

    def deepest(self, position, orientation):
        """Deepest penetration [m] of any two bodies that may collide; 0 where all are apart, infinite if they explode.

        Between convex polyhedra: the shortest way out along a face normal or a cross product of edges.

        Args:
            position: (B, 3) [m].
            orientation: (B, 4).

        Raises:
            NotImplementedError: for a sphere or capsule that meets a convex hull.
        """
        if not (np.isfinite(position).all() and np.isfinite(orientation).all() and np.abs(position).max() < FAR):
            return np.inf
        if not len(self.body):
            return 0.0
        carrier = orientation[self.body]
        centre = position[self.body] + rotations.rotate(carrier, self.place)
        turn = rotations.matrices(rotations.multiply(carrier, self.turn))
        deepest = self._into_floor(centre, turn) if self.floor else 0.0
        i, j = self._pairs(centre)
        polyhedra = self.hull[i] | self.hull[j]
        for a, b in zip(i[polyhedra], j[polyhedra], strict=True):
            if self.radius[a] or self.radius[b]:
                raise NotImplementedError("the overlap of a sphere or capsule with a convex hull is not measured")
            deepest = max(
                deepest, _of_polyhedra(self.shapes[a], centre[a], turn[a], self.shapes[b], centre[b], turn[b])
            )
        i, j = i[~polyhedra], j[~polyhedra]
        for start in range(0, len(i), AT_ONCE):
            a, b = i[start : start + AT_ONCE], j[start : start + AT_ONCE]
            deepest = max(deepest, self._of_boxes(a, b, centre, turn))
        return float(deepest)

    def _into_floor(self, centre, turn):
        """Deepest that a body which moves is below z = 0 [m]."""
        lowest = centre[:, 2] - (np.abs(turn[:, 2]) * self.half).sum(axis=1) - self.radius
        for p in np.flatnonzero(self.hull):
            lowest[p] = centre[p, 2] + (_form(self.shapes[p])[0] @ turn[p, 2]).min()
        return max(0.0, -lowest[~self.fixed].min(initial=0.0))

    def _pairs(self, centre):
        """(i, j) of the parts whose bounding balls meet and which may collide."""
        i, j = near(centre, self.reach)
        a, b = self.body[i], self.body[j]
        joined = np.isin(np.minimum(a, b) * self.bodies + np.maximum(a, b), self.joined)
        may = (a != b) & ~(self.fixed[i] & self.fixed[j]) & ~joined
        return i[may], j[may]

    def _of_boxes(self, i, j, centre, turn):
        """Deepest penetration of pairs of boxes with radii [m]."""
        swap = self.radius[i] == 0.0  # the first of a pair is the rounded one, if any: a point or a line
        i, j = np.where(swap, j, i), np.where(swap, i, j)
        apart = centre[j] - centre[i]
        depth = _along_axes(apart, turn[i], self.half[i], turn[j], self.half[j])
        radius = self.radius[i] + self.radius[j]
        out = (radius > 0.0) & (depth < 0.0)
        depth = depth + radius
        if out.any():
            i, j = i[out], j[out]
            seen = np.einsum("nki,nk->ni", turn[j], -apart[out])  # the line's middle from the box, in the box's axes
            along = np.einsum("nki,nk->ni", turn[j], turn[i][:, :, 2])
            depth[out] = radius[out] - _line_to_box(seen, self.half[i, 2, None] * along, self.half[j])
        return max(0.0, depth.max(initial=0.0))


def near(centre, reach):
    """(i, j) of the balls (N, 3), (N,) that meet, each pair once; a grid finds them."""
    if len(centre) < 2:
        return np.zeros(0, int), np.zeros(0, int)
    cell = np.floor(centre / (2.0 * reach.max())).astype(np.int64)
    factors = np.array([73856093, 19349663, 83492791])  # cells that share a code cost time alone
    code = cell @ factors
    order = np.argsort(code, kind="stable")
    ordered, found = code[order], []
    for offset in ((0, 0, 0), *HALF_NEIGHBOURHOOD):
        wanted = ordered + np.array(offset) @ factors
        first = np.searchsorted(ordered, wanted, "left") if any(offset) else np.arange(len(order)) + 1
        counts = np.searchsorted(ordered, wanted, "right") - first
        own = np.repeat(np.arange(len(order)), counts)
        other = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
        i, j = order[own], order[other]
        met = np.linalg.norm(centre[i] - centre[j], axis=1) < reach[i] + reach[j]
        found.append((i[met], j[met]))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def _rounded_box(shape):
    """(half extents, radius) of a shape; a convex hull has none of both."""
    if isinstance(shape, Box):
        return shape.half_extents, 0.0
    if isinstance(shape, Sphere):
        return np.zeros(3), shape.radius
    if isinstance(shape, Capsule):
        return np.array([0.0, 0.0, shape.half_height]), shape.radius
    if isinstance(shape, ConvexHull):
        return np.zeros(3), 0.0
    raise NotImplementedError(f"the overlap of a {type(shape).__name__} is not measured")


def _along_axes(apart, turn_i, half_i, turn_j, half_j):
    """Penetration of pairs of boxes, negative where an axis separates them: (N,) [m]."""
    faces = np.concatenate([turn_i.transpose(0, 2, 1), turn_j.transpose(0, 2, 1)], axis=1)
    edges = np.cross(faces[:, :3, None], faces[:, None, 3:]).reshape(-1, 9, 3)
    length = np.linalg.norm(edges, axis=2, keepdims=True)
    axes = np.concatenate([faces, edges / np.maximum(length, PARALLEL)], axis=1)
    reach = np.abs(axes @ turn_i) @ half_i[:, :, None] + np.abs(axes @ turn_j) @ half_j[:, :, None]
    overlap = reach[..., 0] - np.abs(axes @ apart[:, :, None])[..., 0]
    overlap[:, 6:][length[..., 0] <= PARALLEL] = np.inf
    return overlap.min(axis=1)


def _line_to_box(middle, reach, half):
    """Distance of the lines from middle - reach to middle + reach (N, 3) to boxes around the origin: (N,) [m].

    The distance of a point to a convex body is convex along a line, so a search by thirds finds the least.
    """

    def distance(t):
        return np.linalg.norm(np.maximum(np.abs(middle + t[:, None] * reach) - half, 0.0), axis=1)

    low, high = -np.ones(len(middle)), np.ones(len(middle))
    for _ in range(NARROWINGS):
        third = (high - low) / 3.0
        left = distance(low + third) < distance(high - third)
        low, high = np.where(left, low, low + third), np.where(left, high - third, high)
    return distance(0.5 * (low + high))


def _of_polyhedra(first, centre_i, turn_i, second, centre_j, turn_j):
    """Penetration of two convex polyhedra [m], 0 where they are apart."""
    corners_i, normals_i, edges_i = _form(first)
    corners_j, normals_j, edges_j = _form(second)
    crossed = np.cross((edges_i @ turn_i.T)[:, None], (edges_j @ turn_j.T)[None]).reshape(-1, 3)
    length = np.linalg.norm(crossed, axis=1)
    crossed = crossed[length > PARALLEL] / length[length > PARALLEL, None]
    axes = np.concatenate([normals_i @ turn_i.T, normals_j @ turn_j.T, crossed])
    a, b = (centre_i + corners_i @ turn_i.T) @ axes.T, (centre_j + corners_j @ turn_j.T) @ axes.T
    return max(0.0, float(np.minimum(a.max(0) - b.min(0), b.max(0) - a.min(0)).min()))


@lru_cache(maxsize=1024)
def _form(shape):
    """(corners, unit face normals, unit edge directions) of a polyhedron in its own axes, each direction once."""
    if isinstance(shape, Box):
        return CORNERS * shape.half_extents, np.eye(3), np.eye(3)
    points = shape.vertices
    triangles = points[convex_hull(points)]
    sides = np.roll(triangles, -1, axis=1) - triangles
    return points, _distinct(np.cross(sides[:, 0], sides[:, 1])), _distinct(sides.reshape(-1, 3))


def _distinct(directions):
    """Unit vectors of the directions without repeats or opposites."""
    kept = []
    for direction in directions / np.linalg.norm(directions, axis=1, keepdims=True):
        if all(abs(direction @ other) < 1.0 - 1e-9 for other in kept):
            kept.append(direction)
    return np.array(kept)
