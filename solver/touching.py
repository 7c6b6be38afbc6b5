# SPDX-License-Identifier: GPL-3.0-or-later
"""Places where convex shapes touch in the coming step, and the contacts that stand for them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .contact_faces import face_towards, whose_face
from .rotations import conjugate, rotate
from .round_sides import axis_points
from .touch_time import EDGE_RADIUS
from .vectors import inner, length

OUTWARD = -1.0, 1.0  # of the first and the second shape, along the normal that points to the first


@dataclass
class Touching:
    """Where both sides of N pairs touch.  What follows from that is found once, and taken along by ``take``."""

    model: object  # CollisionModel
    sides: list  # Side, Side: at the step's start
    time: np.ndarray  # (N,) [s] after which they do
    points: list  # (N, 3), (N, 3) of their cores, in the bodies' frames
    normal: np.ndarray  # (N, 3) world at that time, from the second to the first

    def take(self, index):
        """Those at ``index``."""
        points, known = [each[index] for each in self.points], vars(self)
        moved = [each.take(index) for each in self.moved] if "moved" in known else None
        sides = [side.take(index) for side in self.sides] if moved is None else [each.side for each in moved]
        taken = Touching(self.model, sides, self.time[index], points, self.normal[index])
        if moved is not None:
            taken.moved = moved
        if "faces" in known:
            taken.outward = [each[index] for each in self.outward]
            taken.faces = self.faces[0][index], [each[index] for each in self.faces[1]]
        return taken

    @cached_property
    def moved(self):
        """[Moved, Moved] of both sides at that time."""
        return [side.after(self.time) for side in self.sides]

    @cached_property
    def outward(self):
        """[(N, 3), (N, 3)] out of both sides at that time, in the bodies' frames."""
        return [rotate(conjugate(each.turn), out * self.normal) for each, out in zip(self.moved, OUTWARD, strict=True)]

    @cached_property
    def faces(self):
        """(0 or 1 (N,): the side whose face is touched, or -1; normals [(N, 3), (N, 3)] of faces of both, or 0)."""
        model, pairs = self.model, zip(self.sides, self.outward, strict=True)
        faces = [face_towards(model.faces, side.shape, out) for side, out in pairs]
        stands = [~model.movable[model.shape_body[side.shape]] for side in self.sides]
        return whose_face(faces, stands, [side.angular for side in self.sides]), faces

    def of_contacts(self, contacts, of, sign):
        """Gaps (K,), how far their points are past each other (K,), and normals (K, 3) from the second to the first, of
        ``contacts`` at the time of the touches ``of`` (K,); sign: (K,) 1 where the first side is on side a, else -1.
        """
        on_a = sign[:, None] > 0.0
        ends = np.where(on_a, contacts.point_a, contacts.point_b), np.where(on_a, contacts.point_b, contacts.point_a)
        normal, places = contacts.normal, []
        for each, end in zip(self.moved, ends, strict=True):
            moved = each.take(of)
            turns = contacts.face == self.model.shape_body[moved.side.shape]
            normal = np.where(turns[:, None], rotate(moved.turn, contacts.face_normal), normal)
            places.append(moved.place(end))
        normal = sign[:, None] * normal
        way = places[0] - places[1]
        gap = inner(normal, way)
        aside = length(way - gap[:, None] * normal)
        return gap - contacts.margin_a - contacts.margin_b, aside, normal

    def columns(self, sign, size):
        """{name: (N, ...)} of a ContactSet; sign: (N,) as in ``of_contacts``; size: (N,) [m] of the pairs."""
        model, (whose, faces) = self.model, self.faces
        moves = [model.movable[model.shape_body[side.shape]] for side in self.sides]
        edge = np.where((whose < 0) | (moves[0] & moves[1]), EDGE_RADIUS * size, 0.0)
        points, margins = [], []
        for k, (side, out) in enumerate(zip(self.sides, self.outward, strict=True)):
            spin = rotate(conjugate(self.moved[k].turn), side.angular - self.sides[1 - k].angular)
            point, rim = axis_points(model, side.shape, self.points[k], out, spin)
            points.append(point)
            margins.append(np.maximum(side.radius + rim, edge))
        normal, body, face_normal = self.normal.copy(), np.full(len(sign), -1), np.zeros_like(self.normal)
        for k, (side, out) in enumerate(zip(self.sides, OUTWARD, strict=True)):
            own, on = model.shape_body[side.shape], whose == k
            normal[on] = out * rotate(side.turn, faces[k])[on]
            turns = on & (model.movable[own] | side.angular.any(axis=1))
            body[turns] = own[turns]
            face_normal[turns] = (sign * out)[turns, None] * faces[k][turns]
        now = [side.after(np.zeros(len(sign))).place(point) for side, point in zip(self.sides, points, strict=True)]
        on_a = sign > 0.0
        return {
            "point_a": np.where(on_a[:, None], *points),
            "point_b": np.where(on_a[:, None], *points[::-1]),
            "margin_a": np.where(on_a, *margins),
            "margin_b": np.where(on_a, *margins[::-1]),
            "normal": sign[:, None] * normal,
            "gap": inner(normal, now[0] - now[1]) - margins[0] - margins[1],
            "face": body,
            "face_normal": face_normal,
            "first": np.ones(len(sign), np.int32),
        }
