# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes whose faces meet at sharp edges, on which nothing turns as it slides on, and where what touches is round."""

import numpy as np

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


def is_round_there(touches, index, own):
    """(K,) bool: whether bodies ``own`` (K,) are round where contacts ``index`` (K,) touch them."""
    on_a = touches.body_a.take(index) == own
    return np.where(on_a, touches.margin_a.take(index), touches.margin_b.take(index)) > 0.0


def lies_on_round(touches, index, own, flat):
    """(K,) bool: whether bodies ``own`` (K,), of which ``flat`` (B + 1,) bool have no curve, lie there on what is round
    with a face.
    """
    on_a = touches.body_a.take(index) == own
    margin = np.where(on_a, touches.margin_b.take(index), touches.margin_a.take(index))
    return (margin > 0.0) & (touches.face.take(index) == own) & flat.take(own)
