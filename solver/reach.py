# SPDX-License-Identifier: GPL-3.0-or-later
"""How far shapes, and faces of them, reach along directions: by the corners of boxes and hulls, else by their boxes, or
by the vertices of meshes.
"""

import numpy as np

from .manifold import along_runs, turn_back


def reach(model, shape, direction, poses):
    """(K,) how far each shape reaches along world directions (K, 3): exactly for boxes and hulls, else its box.

    model: CollisionModel; poses: position (B, 3) and rotation (B, 3, 3) of the bodies' frames.
    """
    position, rotation = poses
    body, out = model.shape_body[shape], np.empty(len(shape))
    known = has_corners(model)[shape]
    out[known] = reach_of_corners(model, shape[known], direction[known], poses)
    shape, direction, body = shape[~known], direction[~known], body[~known]
    local = turn_back(rotation[body], direction)
    far = _dot(np.abs(turn_back(model.shape_rotation[shape], local)), model.shape_half[shape])
    out[~known] = _dot(local, model.shape_middle[shape]) + far + _dot(direction, position[body])
    return out


def has_corners(model):
    """(S,) bool: boxes and hulls, which are no more than what their corners are the corners of."""
    return (np.diff(model.polygons.start[model.polygons.first]) > 0) & (model.shape_side[:, 0] == 0.0)


def reach_of_vertices(model, shape, direction, poses):
    """(K,) how far the vertices of meshes reach along world directions (K, 3)."""
    position, rotation = poses
    table, body = model.meshes, model.shape_body[shape]
    local = turn_back(rotation[body], direction)
    out = _dot(direction, position[body]) + _dot(local, model.shape_position[shape])
    local = turn_back(model.shape_rotation[shape], local)
    for one in np.unique(shape).tolist():
        mine, mesh = shape == one, table.shape_mesh[one]
        vertices = table.vertices[table.first_vertex[mesh] : table.first_vertex[mesh + 1]]
        out[mine] += (vertices @ local[mine].T).max(axis=0)
    return out


def reach_of_corners(model, shape, direction, poses, along=None, level=None):
    """(K,) how far the corners of each shape reach along world directions (K, 3); -inf where it has none.

    along (K, 3), level (K,): of the corners only those with  along . x >= level.
    """
    first, last = (model.polygons.start[model.polygons.first[shape + k]] for k in (0, 1))
    return _of_corners(model, model.shape_body[shape], first, last, direction, poses, along, level)


def reach_of_faces(model, face, shape, direction, poses):
    """(K,) how far each face, of its shape, reaches along world directions (K, 3)."""
    first, last = (model.polygons.start[face + k] for k in (0, 1))
    return _of_corners(model, model.shape_body[shape], first, last, direction, poses)


def _of_corners(model, body, first, last, direction, poses, along=None, level=None):
    position, rotation = poses
    most = np.full(len(body), -np.inf)
    some = np.flatnonzero(last > first)
    if not len(some):
        return most
    run, offset = along_runs((last - first)[some])
    corner = model.polygons.corner[first[some][run] + offset]
    body = body[some]
    height = _dot(turn_back(rotation[body], direction[some])[run], corner)
    if along is not None:
        limit = level[some] - _dot(along[some], position[body])
        height[_dot(turn_back(rotation[body], along[some])[run], corner) < limit[run]] = -np.inf
    most[some] = np.maximum.reduceat(height, np.flatnonzero(offset == 0)) + _dot(direction[some], position[body])
    return most


def _dot(a, b):
    return np.einsum("ki,ki->k", a, b)
