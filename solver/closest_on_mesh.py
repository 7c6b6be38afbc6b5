# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of a mesh that is nearest to the middle of a ball, beside those of boxes and hulls."""

import numpy as np

from .closest_features import Nearest, nearest_feature
from .closest_points import closest_points
from .closest_shares import closest_shares
from .manifold import turn, turn_back


def nearest_place(model, shape, start, way):
    """``nearest_feature``, where ``shape`` (N,) may be meshes as well: of balls alone, ``way`` is 0 there."""
    is_mesh = model.meshes.shape_mesh[shape] >= 0
    if not is_mesh.any():
        return nearest_feature(model, shape, start, way)
    count = len(shape)
    found = Nearest(np.zeros(count), *np.zeros((2, count, 3)), np.zeros(count), np.zeros(count, bool))
    parts = [(is_mesh, _nearest_on_mesh(model, shape[is_mesh], start[is_mesh]))]
    if not is_mesh.all():
        parts.append((~is_mesh, nearest_feature(model, shape[~is_mesh], start[~is_mesh], way[~is_mesh])))
    for mask, part in parts:
        for name, column in vars(part).items():
            getattr(found, name)[mask] = column
    return found


def _nearest_on_mesh(model, shape, point):
    """The Nearest of meshes ``shape`` (N,) to points (N, 3) of their bodies' frames: above 0 on either side.

    The tree tells the triangle in single precision; the place on it is taken in double.
    """
    table, frame, origin = model.meshes, model.shape_rotation[shape], model.shape_position[shape]
    own = turn_back(frame, point - origin)
    face = closest_points(model, shape, own, np.full(len(shape), np.inf))[0]
    triangle = table.first_triangle[table.shape_mesh[shape]] + np.maximum(face, 0)
    corner, normal = table.vertices[table.corner[triangle]], table.normal[triangle, 0]
    height = ((own - corner[:, 0]) * normal).sum(axis=1)
    place = own - height[:, None] * normal
    side = np.roll(corner, -1, axis=1) - corner
    beside = (np.cross(side, place[:, None] - corner) * normal[:, None]).sum(axis=2)
    on_face = (beside >= 0.0).all(axis=1) & normal.any(axis=1)  # none of a triangle without area
    least = np.where(on_face, 0.0, np.inf)
    for k in range(3):
        share = closest_shares(own, np.zeros_like(own), corner[:, k], side[:, k])[1]
        other = corner[:, k] + share[:, None] * side[:, k]
        square = ((own - other) ** 2).sum(axis=1)
        place, least = np.where((square < least)[:, None], other, place), np.minimum(square, least)
    way = own - place
    length = np.sqrt(np.maximum((way * way).sum(axis=1), 1e-300))
    outward = turn(frame, way / length[:, None])
    return Nearest(np.zeros(len(shape)), origin + turn(frame, place), outward, length, on_face)
