# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes whose faces meet at sharp edges, on which nothing turns as it slides on."""

from .mesh_features import has_large_faces
from .shapes import Box, ConvexHull, Plane, TriangleMesh

SHARP = 0.5  # [rad] at which faces meet that are no curve of facets


def is_flat(body):
    """Whether the surface of a scene Body is of faces that meet at sharp edges, if at all, and no curve."""
    return all(_is_flat(part) for shape in body.shapes for part in shape.parts())


def _is_flat(shape):
    if isinstance(shape, (ConvexHull, TriangleMesh)):
        still = getattr(shape, "times", None) is None
        return still and has_large_faces(shape.vertices, shape.triangles, SHARP)
    return isinstance(shape, (Plane, Box))
