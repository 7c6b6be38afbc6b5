# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of the rims of round ends (solver/rims.py) and of outlines (solver/outlines.py) in NumPy, pair by pair."""

import numpy as np
from axion.solver.face_corners import FLAT
from axion.solver.face_places import CUT, FEW
from axion.solver.manifold import Manifolds
from axion.solver.ordered import segments
from axion.solver.outlines import BESIDE, BLUNT, NEAR
from axion.solver.problem import tangents
from axion.solver.rims import CROSSINGS, KNOWN, MOST_CORNERS, PART, RIM, TWINS


def with_rims(model, full, found, position, rotation, turn):
    """Manifolds ``full``, of the contacts ``found`` by detection and what joined them, with places of rims they lack.

    position (B, 3), rotation (B, 3, 3): the bodies' poses; turn (B, 3): what they turn by in the step [rad].
    """
    begin, pairs = segments(found.pair)
    added = []
    for start, end, pair in zip(begin, np.append(begin[1:], len(found)), pairs, strict=True):
        shapes = np.array(divmod(int(pair), len(model.shape_body)))[::-1]
        slow = np.linalg.norm(turn[found.body_a[start]] - turn[found.body_b[start]]) <= PART
        if slow and ((model.shape_side[shapes, 0] > 0.0) | model.polygons.many[shapes]).any():
            added += _of_pair(
                model, found.take(np.arange(start, end)), full.point_a[full.pair == pair], shapes, position, rotation
            )
    return Manifolds.join([full, *added])[0] if added else full


class _End:
    """A face of a shape, seen along a normal: ``seen`` turns points of its body's frame to (x, y, height)."""

    def __init__(self, model, shape, outward, rotation, origin, axes):
        table = model.polygons
        faces = np.arange(table.first[shape], table.first[shape + 1])
        cosine = table.normal[faces] @ outward
        self.lies = len(faces) > 0 and cosine.max() > FLAT
        if not self.lies:
            return
        face = faces[cosine.argmax()]
        self.turn, self.origin, self.radius = axes @ rotation, axes @ origin, 0.0
        normal, self.offset = table.normal[face], table.offset[face]
        self.normal, self.corners = self.turn @ normal, table.corner[table.start[face] : table.start[face + 1]]
        self.corners = self.seen(self.corners)[:, :2]
        self.spanning = self.corners[table.span[table.span_start[face] : table.span_start[face + 1]]]
        self.breadth = table.breadth[face]
        if model.shape_side[shape, 0] > 0.0:
            place, frame = model.shape_position[shape], model.shape_rotation[shape]
            middle = place + (self.offset - normal @ place) * normal
            self.radius = model.shape_side[shape] @ [1.0, (middle - place) @ frame[:, 2]]
            angle = 2.0 * np.pi * np.arange(RIM) / RIM
            circle = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
            self.rim = self.seen(middle + self.radius * circle @ frame.T)[:, :2]
            self.middle = self.seen(middle)[:2]

    def seen(self, points):
        return points @ self.turn.T + self.origin

    def own(self, place):
        """The point of the face's plane at a place (2,), in the body's frame."""
        height = (self.offset + self.normal @ self.origin - self.normal[:2] @ place) / self.normal[2]
        return (np.append(place, height) - self.origin) @ self.turn

    def holds(self, place):
        if self.radius > 0.0:
            return np.linalg.norm(place - self.middle) <= (1.0 + 1e-9) * self.radius
        if not len(self.corners):
            return True
        way, arm = np.roll(self.corners, -1, axis=0) - self.corners, place - self.corners
        side, length = way[:, 0] * arm[:, 1] - way[:, 1] * arm[:, 0], np.linalg.norm(way, axis=1)
        near = 1e-9 * length.max() * length
        return bool((side >= -near).all() or (side <= near).all())


def _of_pair(model, found, known, shapes, position, rotation):
    bodies = found.body_a[0], found.body_b[0]
    normal = rotation[bodies[1]] @ found.normal[0]
    axes = np.stack([*(axis[0] for axis in tangents(normal[None])), normal])
    ends = [
        _End(model, shape, sign * normal @ rotation[body], rotation[body], position[body] - position[bodies[1]], axes)
        for shape, body, sign in zip(shapes, bodies, (-1.0, 1.0), strict=True)
    ]
    if not all(end.lies for end in ends):
        return []
    one, other = ends
    if one.radius == other.radius == 0.0:
        if max(len(end.spanning) for end in ends) <= FEW:
            return []
        return _joined(found, known, ends, _outline(one, other), min(end.breadth for end in ends))
    places = [place for place in one.rim if other.holds(place)] if one.radius > 0.0 else []
    least = TWINS * PART * min(one.radius, other.radius)
    twins = places.copy()
    for place in other.rim if other.radius > 0.0 else ():
        if one.holds(place) and all(np.linalg.norm(place - twin) >= least for twin in twins):
            places.append(place)
    places += _both_round(one, other) if one.radius > 0.0 and other.radius > 0.0 else _edges(*ends)
    return _joined(found, known, ends, places, min(end.radius for end in ends if end.radius > 0.0))


def _joined(found, known, ends, places, radius):
    """[Manifolds] of those places that are not ``known`` yet, or []."""
    one, other = ends
    known = one.seen(known)[:, :2]
    places = [place for place in places if np.linalg.norm(known - place, axis=1).min() >= KNOWN * radius]
    new = found.take(np.zeros(len(places), int))
    new.margin_a, new.margin_b = np.zeros((2, len(places)))
    for k, place in enumerate(places):
        new.point_a[k], new.point_b[k] = one.own(place), other.own(place)
    return [new] if places else []


def _both_round(one, other):
    """Where two rims cross: at an angle either way from the line between their middles."""
    way = other.middle - one.middle
    away = np.hypot(*way)
    if away <= 1e-9 * one.radius:
        return []
    cosine = (away**2 + one.radius**2 - other.radius**2) / (2.0 * away * one.radius)
    if abs(cosine) >= 1.0:
        return []
    angle = np.arctan2(way[1], way[0]) + np.array([1.0, -1.0]) * np.arccos(cosine)
    return [one.middle + one.radius * np.array([np.cos(each), np.sin(each)]) for each in angle]


def _edges(one, other):
    """Where a face's edges cross a rim, and its corners below the round end."""
    disc, face = (one, other) if one.radius > 0.0 else (other, one)
    crossings = []
    for start, following in zip(face.corners, np.roll(face.corners, -1, axis=0), strict=True):
        way, arm = following - start, start - disc.middle
        roots = np.roots([way @ way, 2.0 * way @ arm, arm @ arm - disc.radius**2])
        crossings += [start + r * way for r in np.sort(roots[np.isreal(roots)].real) if 0.0 <= r < 1.0]
    corners = face.corners
    if len(corners) > MOST_CORNERS:
        corners = corners[np.arange(MOST_CORNERS) * len(corners) // MOST_CORNERS]
    inside = [place for place in corners if np.linalg.norm(place - disc.middle) < disc.radius]
    return crossings[:CROSSINGS] + inside


def _onto(own, other, place, room):
    """A corner of one's ``own`` face above both faces, moved by no more than ``room``, or None."""
    if not len(other.corners):
        return place
    moved = place.copy()
    middle = other.corners.mean(axis=0)
    for start, following in zip(other.corners, np.roll(other.corners, -1, axis=0), strict=True):
        way = (following - start) / np.linalg.norm(following - start)
        outward = np.array([way[1], -way[0]])
        outward *= np.sign(outward @ (start - middle))
        away = outward @ (moved - start)
        if away > room:
            return None
        moved -= max(away, 0.0) * outward
    still = np.linalg.norm(moved - place) <= 1e-9 * room
    return moved if still or own.holds(moved) else None


def _straight(way, other):
    return way @ other > BLUNT * np.linalg.norm(way) * np.linalg.norm(other)


def _near(places, place, limit):
    return any(each is not None and np.linalg.norm(each - place) < limit for each in places)


def _outline(one, other):
    """What spans either of two polygons and is above the other, and where what spans one crosses the other."""
    breadth = min(one.breadth, other.breadth)
    room = CUT * breadth
    own = [_onto(one, other, place, room) for place in one.spanning]
    others = [_onto(other, one, place, room) for place in other.spanning]
    places = [place for place in own if place is not None]
    for before, here, after, place in zip(
        np.roll(other.spanning, 1, axis=0), other.spanning, np.roll(other.spanning, -1, axis=0), others, strict=True
    ):
        limit = (BESIDE if _straight(here - before, after - here) else NEAR) * breadth
        if place is not None and not _near(own, place, limit):
            places.append(place)
    if not len(other.corners):
        return places
    for start, end in zip(one.spanning, np.roll(one.spanning, -1, axis=0), strict=True):
        shares = [share for share in _shares(start, end, other.corners) if 0.0 < share[0] < 1.0]
        for share, edge in shares:
            place = start + share * (end - start)
            along = _straight(edge, end - start) or _straight(-edge, end - start)
            limit = (BESIDE if along else NEAR) * breadth
            if not _near(own, place, limit) and not _near(others, place, limit):
                places.append(place)
    return places


def _shares(start, end, corners):
    """Shares of a way at which it crosses the sides of a convex polygon, ascending, and these sides."""
    found, way = [], end - start
    for corner, following in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        side = following - corner
        square = side[0] * way[1] - side[1] * way[0]
        if abs(square) > 1e-12 * np.linalg.norm(side) * np.linalg.norm(way):
            arm = corner - start
            share = (side[0] * arm[1] - side[1] * arm[0]) / square
            at = (way[0] * arm[1] - way[1] * arm[0]) / square
            if 0.0 <= at < 1.0:
                found.append((share, side))
    return sorted(found, key=lambda each: each[0])
