# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes whose faces meet at sharp edges, on which nothing turns as it slides on, and where what touches is round."""

import numpy as np

from .flags import some
from .mesh_features import has_large_faces
from .shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Sphere, TriangleMesh

SHARP = 0.5  # [rad] at which faces meet that are no curve of facets
HELD, FREE = 1, 2  # of ``flat_bodies``


def flat_bodies(bodies, asked):
    """(B + 1,) int: HELD for scene bodies that hold and have no curve, FREE for such that move where others are round,
    on which they may lie, and 0 for others; meshes, which take time to look at, where somebody has ``asked`` or others
    that move are round.
    """
    holds = np.array([bool(body.held_times()) for body in bodies], bool)
    is_round = np.array([_has_round(body) for body in bodies], bool)
    meshed = [any(isinstance(part, TriangleMesh) for shape in body.shapes for part in shape.parts()) for body in bodies]
    asked = ~np.array(meshed, bool) | asked | some(is_round & ~holds)
    wanted = np.where(holds, asked, some(is_round))
    kinds = np.where(holds, HELD, FREE)
    return np.array([k if ask and is_flat(b) else 0 for b, ask, k in zip(bodies, wanted, kinds, strict=True)] + [0])


def _has_round(body):
    """Whether a scene Body has a shape that is round where flat ones may lie on it."""
    return any(isinstance(part, (Sphere, Capsule, Cylinder, Cone)) for shape in body.shapes for part in shape.parts())


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
    """(K,) bool: whether bodies ``own`` (K,), if they are ``flat`` (B + 1,) as ``flat_bodies`` has it, lie there with a
    face on what is round.
    """
    on_a = touches.body_a.take(index) == own
    margin = np.where(on_a, touches.margin_b.take(index), touches.margin_a.take(index))
    return (margin > 0.0) & (touches.face.take(index) == own) & (flat.take(own) > 0)
