# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep bodies are in each other at one instant, from their true shapes: separating axes of all pairs."""

from functools import lru_cache

import numpy as np
from axion.solver import Box, ConvexHull, Plane, Sphere, rotations
from axion.solver.convex_hull import convex_hull

CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
PARALLEL = 1e-6
"""Sine of the angle below which two edges span no axis of their own."""


def deepest_overlap(scene, position, orientation):
    """Deepest penetration [m] of any two bodies that may collide; 0 where all are apart.

    Between convex polyhedra: the shortest way out along a face normal or a cross product of edges.

    Args:
        scene: Scene of boxes, convex hulls, spheres and planes at z = 0, one centred shape a body.
        position: (B, 3) [m].
        orientation: (B, 4).

    Raises:
        NotImplementedError: for a sphere that can meet anything but a plane.
    """
    if not np.isfinite(position).all() or not np.isfinite(orientation).all():
        return np.inf
    touching = [i for i, body in enumerate(scene.bodies) if body.collision_mask]
    floor = [i for i in touching if isinstance(scene.bodies[i].shapes[0], Plane)]
    solid = [i for i in touching if i not in floor]
    turn = rotations.matrices(orientation)
    lowest, reach = {}, {}
    corners = {}
    for i in solid:
        shape = scene.bodies[i].shapes[0]
        if isinstance(shape, Sphere):
            lowest[i], reach[i] = position[i, 2] - shape.radius, shape.radius
        else:
            local = _form(shape)[0]
            corners[i] = position[i] + local @ turn[i].T
            lowest[i], reach[i] = corners[i][:, 2].min(), np.linalg.norm(local, axis=1).max()
    deepest = max(0.0, -min(lowest.values())) if floor and lowest else 0.0
    for i, j in _near(solid, position, reach):
        if i not in corners or j not in corners:
            raise NotImplementedError("the overlap of a sphere with anything but a plane is not measured")
        deepest = max(deepest, _overlap(scene, i, j, corners, turn))
    return deepest


def _near(solid, position, reach):
    """Pairs whose bounding balls meet."""
    if len(solid) < 2:
        return []
    place, radius = position[solid], np.array([reach[i] for i in solid])
    apart = np.linalg.norm(place[:, None] - place[None], axis=2)
    first, second = np.nonzero(np.triu(apart < radius[:, None] + radius[None], 1))
    return [(solid[a], solid[b]) for a, b in zip(first, second, strict=True)]


def _overlap(scene, i, j, corners, turn):
    """Penetration of two convex polyhedra [m], 0 where they are apart."""
    _, normals_i, edges_i = _form(scene.bodies[i].shapes[0])
    _, normals_j, edges_j = _form(scene.bodies[j].shapes[0])
    crossed = np.cross((edges_i @ turn[i].T)[:, None], (edges_j @ turn[j].T)[None]).reshape(-1, 3)
    length = np.linalg.norm(crossed, axis=1)
    crossed = crossed[length > PARALLEL] / length[length > PARALLEL, None]
    axes = np.concatenate([normals_i @ turn[i].T, normals_j @ turn[j].T, crossed])
    a, b = corners[i] @ axes.T, corners[j] @ axes.T
    return max(0.0, float(np.minimum(a.max(0) - b.min(0), b.max(0) - a.min(0)).min()))


@lru_cache(maxsize=1024)
def _form(shape):
    """(corners, unit face normals, unit edge directions) of a polyhedron in the body's axes, each direction once."""
    if isinstance(shape, Box):
        return CORNERS * shape.half_extents, np.eye(3), np.eye(3)
    if not isinstance(shape, ConvexHull):
        raise NotImplementedError(f"the overlap of a {type(shape).__name__} is not measured")
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
