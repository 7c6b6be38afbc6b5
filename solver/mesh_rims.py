# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of the rims of round ends, and of corners of hulls' faces of many corners, that lie flat on flat parts of
meshes, fixed to the body: rims.py and outlines.py, for meshes.

newton looks at the round end and one triangle at a time, and the crowd of their contacts is thinned out, each time to
others: a tin on a floor of triangles was held at places of its rim far apart, and tipped between two of them.
"""

import numpy as np

from .closest_points import closest_points
from .contact_faces import UP
from .contact_set import no_manifolds
from .face_corners import FLAT
from .manifold import gaps_of, turn, turn_back
from .mesh_features import features
from .mesh_sides import faces_middle
from .rims import PART, RIM
from .shape_pairs import ShapePairs

AROUND = np.linspace(0.0, 2.0 * np.pi, RIM, endpoint=False)
CIRCLE = np.stack([np.cos(AROUND), np.sin(AROUND), np.zeros(RIM)], axis=1)


def rims(model, found, position, rotation, turned, sides):
    """Places of rims and outlines over flat parts of meshes, as Manifolds without place and tilt.

    found: Manifolds, sorted by pair, with those meshes, which tell which faces lie flat, and how far off; position
    (B, 3), rotation (B, 3, 3): the bodies' poses; turned (B, 3): what they turn by in the step [rad]; sides: see
    ``faces_middle``.
    """
    slow = np.linalg.norm(turned[found.body_a] - turned[found.body_b], axis=1) <= PART
    slow = found.take(slow)
    first, second, end, reach = _lying(model, slow, position, rotation)
    height = end * model.shape_half[first, 2]
    radius = model.shape_side[first, 0] + model.shape_side[first, 1] * height
    own = radius[:, None, None] * CIRCLE
    own[:, :, 2] = height[:, None]
    run, own, outward = np.repeat(np.arange(len(first)), RIM), own.reshape(-1, 3), end[:, None] * UP
    if model.polygons.many.any():
        *pairs, face = _flat(model, slow, position, rotation)
        run, own, outward = _with_corners(model, run, own, outward, pairs[0], face)
        first, second, reach = (np.append(each, more) for each, more in zip((first, second, reach), pairs, strict=True))
    if not len(first):
        return no_manifolds()
    table, between = model.meshes, ShapePairs(model, first, second, reach, position, rotation)
    point = turn(between.relative[run], own) + between.offset[run]
    face, weight, surface, _ = closest_points(model, second[run], point, reach[run])
    feature = features(table, table.shape_mesh[second[run]], face, weight)
    normal = table.normal[feature]
    normal[~faces_middle(model, second, first, position, rotation, sides)[run]] *= -1.0
    facing = -np.einsum("ki,ki->k", turn(between.relative, outward)[run], normal)
    good = np.flatnonzero((face >= 0) & table.flat[feature] & (facing > FLAT) & table.is_level(feature[0]))
    run = run[good]
    return between.manifolds(run, own[good], surface[good], normal[good], np.zeros(len(good)))


def _lying(model, found, position, rotation):
    """(shape, mesh shape, which end: -1 or 1, how far from the mesh its rim may be [m]), each (P,), of round ends that
    lie flat on a mesh.
    """
    ends = [(np.zeros(0, np.int64), np.zeros(0))]
    shapes, side = np.array(np.divmod(found.pair, len(model.shape_body))), model.shape_side
    for own, other, bodies, sign in ((0, 1, found.body_b, 1.0), (1, 0, found.body_a, -1.0)):
        index = np.flatnonzero((side[shapes[own], 0] > 0.0) & (model.meshes.shape_mesh[shapes[other]] >= 0))
        if not len(index):
            continue
        shape, body = shapes[own, index], bodies[index]
        normal = sign * turn(rotation[found.body_b[index]], found.normal[index])  # away from the round shape
        along = np.einsum("ki,ki->k", turn_back(rotation[body], normal), model.shape_rotation[shape][:, :, 2])
        flat = (np.abs(along) > FLAT) & ((along < 0.0) | (side[shape, 1] == 0.0))
        index, shape = index[flat], shape[flat]
        key = 2 * (shape * len(side) + shapes[other, index]) + (along[flat] > 0.0)
        ends.append((key, np.abs(gaps_of(found.take(index), position, rotation))))
    key, gap = (np.concatenate(each) for each in zip(*ends, strict=True))
    key, which = np.unique(key, return_inverse=True)
    reach = np.zeros(len(key))
    np.maximum.at(reach, which.reshape(-1), gap)
    first, second = np.divmod(key // 2, len(side))
    lean = 2.0 * np.sqrt(1.0 - FLAT**2) * model.shape_radius[first]
    return first, second, 2.0 * (key % 2) - 1.0, reach + lean


def _flat(model, found, position, rotation):
    """(shape, mesh shape, how far from the mesh its corners may be [m], face), each (P,), of hulls' faces of many
    corners that lie flat on a mesh.
    """
    table, shapes = model.polygons, np.array(np.divmod(found.pair, len(model.shape_body)))
    lying = {}
    for own, other, bodies, sign in ((0, 1, found.body_b, 1.0), (1, 0, found.body_a, -1.0)):
        index = np.flatnonzero(table.many[shapes[own]] & (model.meshes.shape_mesh[shapes[other]] >= 0))
        away = sign * turn(rotation[found.body_b[index]], found.normal[index])
        away = turn_back(rotation[bodies[index]], away)
        gaps = np.abs(gaps_of(found.take(index), position, rotation))
        for shape in np.unique(shapes[own, index]):
            faces = table.first[shape] + np.flatnonzero(table.wide[table.first[shape] : table.first[shape + 1]])
            some = np.flatnonzero(shapes[own, index] == shape)
            cosine = away[some] @ table.normal[faces].T
            for k, face, near in zip(some, faces[cosine.argmax(axis=1)], cosine.max(axis=1) > FLAT, strict=True):
                if near:
                    pair = int(shape), int(shapes[other, index[k]]), int(face)
                    lying[pair] = max(lying.get(pair, 0.0), gaps[k])
    first, second, face = np.array(sorted(lying), np.intp).reshape(-1, 3).T
    lean = 2.0 * np.sqrt(1.0 - FLAT**2) * model.shape_radius[first]
    return first, second, np.array([lying[pair] for pair in sorted(lying)]) + lean, face


def _with_corners(model, run, own, outward, shape, face):
    """Pairs, points and their normals (see ``rims``), joined by those of ``face`` (P,) of each ``shape`` (P,)."""
    table, pairs = model.polygons, len(outward)
    count = np.diff(table.span_start)[face]
    of_face = np.repeat(np.arange(len(face)), count)
    place = np.repeat(table.span_start[face] - np.cumsum(count) + count, count) + np.arange(count.sum())
    corner = table.corner[table.start[face][of_face] + table.span[place]]
    frame, origin = model.shape_rotation[shape], model.shape_position[shape]
    corner = turn_back(frame[of_face], corner - origin[of_face])
    return (
        np.append(run, pairs + of_face),
        np.concatenate([own, corner]),
        np.concatenate([outward, turn_back(frame, table.normal[face])]),
    )
