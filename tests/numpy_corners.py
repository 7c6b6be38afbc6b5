# SPDX-License-Identifier: GPL-3.0-or-later
"""Corners of faces that detection leaves out, in NumPy, a pair at a time: one face clipped by the other."""

from itertools import combinations

import numpy as np
from axion.solver.contact_arrays import CORNERS
from axion.solver.face_corners import APART, CALM, FLAT, LEANING, SWINGS
from axion.solver.manifold import GAP_FLOOR, Manifolds
from axion.solver.ordered import segments
from axion.solver.problem import tangents
from axion.solver.shapes import ConvexHull
from numpy_manifolds import with_deepest


def with_corners(model, found, position, rotation, turn, room):
    """Manifolds ``found`` at the poses position (B, 3), rotation (B, 3, 3), with the corners that they lack.

    turn: (B, 3) that the bodies make in the step [rad]; None where none begins; room: function of Manifolds (K,) that
    says how far off contacts may come down by a swing, (K,) [m].
    """
    if not len(found):
        return found
    full, before = with_deepest(model, found, position, rotation), np.unique(found.pair, return_counts=True)[1]
    if turn is None:
        return full
    pairs = np.split(np.arange(len(full)), segments(full.pair)[0][1:])
    added, swing, keep = [], room(full), np.ones(len(full), bool)
    for pair, count in zip(pairs, before, strict=True):
        shapes, more = np.divmod(int(full.pair[pair[0]]), len(model.shape_body))[::-1], CORNERS - (len(pair) - count)
        if any(isinstance(model.shapes[shape], ConvexHull) for shape in shapes):
            size = model.shape_size[list(shapes)]
            reach, least, flattest = GAP_FLOOR * size[np.isfinite(size)].sum(), LEANING, 1.0
            calm = np.linalg.norm(turn[full.body_a[pair[0]]] - turn[full.body_b[pair[0]]]) <= CALM
            if calm and _outlined(model, full.take(pair[:1]), shapes, rotation):
                keep[pair[count:]] = calm = False
        else:
            reach, least, flattest = swing[pair[0]], SWINGS, FLAT
            calm = reach > 0.0
        if calm:
            added += _of_faces(model, full.take(pair), more, reach, (least, flattest), position, rotation)
    return Manifolds.join([full.take(keep), *added])[0]


def _outlined(model, contact, shapes, rotation):
    """Whether two shapes touch flat with a face of many corners: see solver/outlines.py."""
    table, normal = model.polygons, rotation[contact.body_b[0]] @ contact.normal[0]
    outward = -normal @ rotation[contact.body_a[0]], normal @ rotation[contact.body_b[0]]
    wide = []
    for shape, own in zip(shapes, outward, strict=True):
        numbers = np.arange(table.first[shape], table.first[shape + 1])
        cosine = table.normal[numbers] @ own
        if not len(numbers) or cosine.max() <= FLAT:
            return False
        wide.append(table.wide[numbers[cosine.argmax()]])
    return any(wide)


def _of_faces(model, pair, room, reach, lean, position, rotation):
    """[] or [Manifolds]: up to ``room`` corners that join ``pair``, contacts of two shapes; nearer than ``reach`` [m].

    lean: between which cosines the normal of the face that leans more is to the contact's.
    """
    shapes = np.divmod(int(pair.pair[0]), len(model.shape_body))[::-1]
    bodies = pair.body_a[0], pair.body_b[0]
    normal = rotation[bodies[1]] @ pair.normal[0]
    axes = np.stack([*(axis[0] for axis in tangents(normal[None])), normal])
    outward = -normal @ rotation[bodies[0]], normal @ rotation[bodies[1]]
    faces = [_face(model.polygons, *each) for each in zip(shapes, outward, strict=True)]
    if any(face is None for face in faces):
        return []
    cosine = min(face[0] @ each for face, each in zip(faces, outward, strict=True))
    if not lean[0] < cosine <= lean[1] + 1e-12:
        return []
    away = axes @ (position[bodies[0]] - position[bodies[1]])
    planes = []
    for body, (outward, offset, corners), origin in zip(bodies, faces, (away, np.zeros(3)), strict=True):
        turn = axes @ rotation[body]
        planes.append((turn @ outward, offset + turn @ outward @ origin, corners @ turn.T + origin))

    def heights(places):
        return [(offset - places @ outward[:2]) / outward[2] for outward, offset, _ in planes]

    region = _clipped(*(corners[:, :2] for _, _, corners in planes))
    on_a, on_b = heights(region)
    known = list((pair.point_a @ (axes @ rotation[bodies[0]]).T + away)[:, :2])
    out = []
    for k in np.argsort(on_a - on_b, kind="stable"):
        new = len(out) < room and on_a[k] - on_b[k] < reach
        if new and _distance(region[k], known) > APART * pair.size[0]:
            known.append(region[k])
            out.append(k)
    if not out:
        return []
    new = pair.take(np.zeros(len(out), int))
    new.margin_a, new.margin_b = np.zeros((2, len(out)))
    new.point_a = (np.c_[region[out], on_a[out]] - away) @ (axes @ rotation[bodies[0]])
    new.point_b = np.c_[region[out], on_b[out]] @ (axes @ rotation[bodies[1]])
    return [new]


def _face(table, shape, direction):
    """(normal, offset, corners (n, 3)) of the face of a shape whose normal is nearest to a direction, or None."""
    numbers = np.arange(table.first[shape], table.first[shape + 1])
    cosine = table.normal[numbers] @ direction
    if not len(numbers):
        return None
    face = numbers[cosine.argmax()]
    return table.normal[face], table.offset[face], table.corner[table.start[face] : table.start[face + 1]]


def _clipped(polygon, other):
    """Corners (n, 2) of what two convex polygons share (Sutherland and Hodgman); one without corners is everywhere."""
    if not len(polygon) or not len(other):
        return polygon if len(polygon) else other
    middle = other.mean(axis=0)
    for start, end in zip(other, np.roll(other, -1, axis=0), strict=True):
        across = np.array([start[1] - end[1], end[0] - start[0]])
        across *= np.sign(across @ (middle - start))
        inside, out = (polygon - start) @ across, []
        for k in range(len(polygon)):
            if inside[k] >= 0.0:
                out.append(polygon[k])
            if inside[k] * inside[k - len(polygon) + 1] < 0.0:
                share = inside[k] / (inside[k] - inside[k - len(polygon) + 1])
                out.append(polygon[k] + share * (polygon[k - len(polygon) + 1] - polygon[k]))
        polygon = np.array(out).reshape(-1, 2)
    return polygon


def _distance(place, points):
    """Of a place (2,) from what points span; 0 within."""
    least = min(np.linalg.norm(place - point) for point in points)
    for start, end in combinations(points, 2):
        share = (place - start) @ (end - start) / max((end - start) @ (end - start), 1e-300)
        least = min(least, np.linalg.norm(place - start - np.clip(share, 0.0, 1.0) * (end - start)))
    for corners in combinations(points, 3):
        sides = [np.cross(corners[k - 2] - corners[k], place - corners[k]) for k in range(3)]
        if min(sides) > 0.0 or max(sides) < 0.0:
            return 0.0
    return least
