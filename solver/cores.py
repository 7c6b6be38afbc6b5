# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex shapes as hulls of discs about an axis with a radius around them, in tables for ``convex_touch.py``."""

import numpy as np

from .convex_touch import CoreArrays
from .host import HostTable
from .outline import corners_of
from .shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Sphere


def core_table(shapes, position, rotation):
    """HostTable of CoreArrays of scene shapes at ``position`` (S, 3), ``rotation`` (S, 3, 3) in their bodies' frames.

    Meshes have no discs.
    """
    table, own = HostTable(CoreArrays), [_discs(shape) for shape in shapes]
    first = np.concatenate([[0], np.cumsum([len(disc) for _, disc in own])])
    views = table.reserve(max(int(first[-1]), len(first)))
    views.first[: len(first)] = first
    for number, (shape, (middle, disc)) in enumerate(zip(shapes, own, strict=True)):
        run = slice(first[number], first[number + 1])
        views.middle[run] = position[number] + middle @ rotation[number].T
        views.disc[run] = disc
        views.axis[number] = rotation[number][:, 2]
        views.plane[number] = isinstance(shape, Plane)
    return table


def _discs(shape):
    """Middles (N, 3) and radii (N,) of the discs about Z of one shape in its own frame."""
    up = np.array([0.0, 0.0, 1.0])
    if isinstance(shape, (Sphere, Plane)):
        return np.zeros((1, 3)), np.zeros(1)
    if isinstance(shape, Capsule):
        return shape.half_height * np.stack([-up, up]), np.zeros(2)
    if isinstance(shape, (Cylinder, Cone)):
        top = shape.radius if isinstance(shape, Cylinder) else 0.0
        return shape.half_height * np.stack([-up, up]), np.array([shape.radius, top], float)
    corner = corners_of(shape) if isinstance(shape, (Box, ConvexHull)) else np.zeros((0, 3))
    if isinstance(shape, ConvexHull):
        corner = corner[np.unique(shape.triangles)]  # it may be given with all that is inside
    return np.asarray(corner, float), np.zeros(len(corner))
