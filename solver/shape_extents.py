# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes, middles and centres of shapes, as a CollisionModel has them."""

import numpy as np

from .rotations import matrices
from .shapes import Box, Capsule, Cone, Cylinder, Plane, Sphere


def box_of(shape):
    """Middle and half extents (3,), (3,) of a shape's box, in the shape's own frame [m]; infinite for planes."""
    if isinstance(shape, Box):
        return np.zeros(3), shape.half_extents
    if isinstance(shape, Sphere):
        return np.zeros(3), np.full(3, float(shape.radius))
    if isinstance(shape, Capsule):
        return np.zeros(3), np.array([shape.radius, shape.radius, shape.half_height + shape.radius], float)
    if isinstance(shape, (Cylinder, Cone)):
        return np.zeros(3), np.array([shape.radius, shape.radius, shape.half_height], float)
    if isinstance(shape, Plane):
        return np.zeros(3), np.full(3, np.inf)
    vertices = all_vertices(shape)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return 0.5 * (low + high), 0.5 * (high - low)


def middles_of(shapes, boxes):
    """(S, 3) middles of the boxes that ``box_of`` gives, in the bodies' frames [m]."""
    places = [
        shape.position + matrices(shape.orientation[None])[0] @ middle
        for shape, (middle, _) in zip(shapes, boxes, strict=True)
    ]
    return np.array(places, float).reshape(-1, 3)


def centers_of(shapes, middles):
    """(S, 3) centres of the shapes' volumes, in the bodies' frames [m]; of what has none, or deforms, its middle."""
    places = [
        shape.solid().center if shape.encloses_volume() and not deforms(shape) else middle
        for shape, middle in zip(shapes, middles, strict=True)
    ]
    return np.array(places, float).reshape(-1, 3)


def rounding_of(shape):
    """Radius [m] of a ball or capsule; 0 for others."""
    return float(shape.radius) if isinstance(shape, (Sphere, Capsule)) else 0.0


def side_of(shape):
    """Radius [m] in the middle of the round side of a cylinder or cone, and its slope along Z; 0, 0 for others."""
    if isinstance(shape, Cylinder):
        return shape.radius, 0.0
    if isinstance(shape, Cone):
        return 0.5 * shape.radius, -0.5 * shape.radius / shape.half_height
    return 0.0, 0.0


def round_ends(shape):
    """1 for the round end of a cylinder or cone that faces along its own Z, -1 for that which faces the other way."""
    return {Cylinder: (1.0, -1.0), Cone: (-1.0,)}.get(type(shape), ())


def deforms(shape):
    """Whether a shape is a mesh with vertices that move."""
    return getattr(shape, "times", None) is not None


def all_vertices(shape):
    """(N, 3) vertices of a mesh or hull, of all times where it deforms."""
    every = shape.moving_vertices if deforms(shape) else shape.vertices
    return np.asarray(every, float).reshape(-1, 3)
