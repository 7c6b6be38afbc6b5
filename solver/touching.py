# SPDX-License-Identifier: GPL-3.0-or-later
"""Places where convex shapes touch in the coming step, and the contacts that stand for them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .contact_faces import face_towards, whose_face
from .flags import numbers
from .rotations import conjugate, rotate
from .round_sides import axis_points
from .touch_time import EDGE_RADIUS, Side
from .vectors import inner, length

OUTWARD = -1.0, 1.0  # of the first and the second shape, along the normal that points to the first


def twice(index, count):
    """Numbers (2 K,) of both sides of the pairs ``index`` (K,) of ``count``: of the first sides, then the second."""
    return np.concatenate([index, index + count])


def halves(values):
    """Values (2 N, ...) of both sides as (2, N, ...)."""
    return values.reshape(2, -1, *values.shape[1:])


@dataclass
class Touching:
    """Where both sides of N pairs touch.  What follows from that is found once, and taken along by ``take``.

    Arrays of 2 N are of the first sides, and then of the second ones: few calls, for with a handful of pairs they take
    the time.
    """

    model: object  # CollisionModel
    sides: Side  # of 2 N, at the step's start
    time: np.ndarray  # (N,) [s] after which they do
    points: np.ndarray  # (2 N, 3) of their cores, in the bodies' frames
    normal: np.ndarray  # (N, 3) world at that time, from the second to the first

    def take(self, index):
        """Those at ``index``."""
        index, known = numbers(index), vars(self)
        both = twice(index, len(self.time))
        moved = self.moved.take(both) if "moved" in known else None
        sides = self.sides.take(both) if moved is None else moved.side
        taken = Touching(self.model, sides, self.time[index], self.points[both], self.normal[index])
        if moved is not None:
            taken.moved = moved
        if "faces" in known:
            taken.outward, taken.faces = self.outward[both], (self.faces[0][index], self.faces[1][both])
        return taken

    @cached_property
    def moved(self):
        """The Moved of the sides at that time."""
        return self.sides.after(np.concatenate([self.time, self.time]))

    @cached_property
    def outward(self):
        """(2 N, 3) out of the sides at that time, in the bodies' frames."""
        return rotate(conjugate(self.moved.turn), np.concatenate([-self.normal, self.normal]))

    @cached_property
    def faces(self):
        """(0 or 1 (N,): the side whose face is touched, or -1; normals (2 N, 3) of faces of both, or 0)."""
        model, sides = self.model, self.sides
        faces = face_towards(model.faces, sides.shape, self.outward)
        stands = ~model.movable[model.shape_body[sides.shape]]
        return whose_face(*(halves(each) for each in (faces, stands, sides.angular))), faces

    def of_contacts(self, contacts, of, sign):
        """Gaps (K,), how far their points are past each other (K,), and normals (K, 3) from the second to the first, of
        ``contacts`` at the time of the touches ``of`` (K,); sign: (K,) 1 where the first side is on side a, else -1.
        """
        on_a = sign[:, None] > 0.0
        ends = np.where(on_a, contacts.point_a, contacts.point_b), np.where(on_a, contacts.point_b, contacts.point_a)
        moved = self.moved.take(twice(of, len(self.time)))
        turns = halves(self.model.shape_body[moved.side.shape]) == contacts.face
        turned = halves(rotate(moved.turn, np.concatenate([contacts.face_normal, contacts.face_normal])))
        normal = np.where(turns[0][:, None], turned[0], contacts.normal)
        normal = sign[:, None] * np.where(turns[1][:, None], turned[1], normal)
        places = halves(moved.place(np.concatenate(ends)))
        way = places[0] - places[1]
        gap = inner(normal, way)
        aside = length(way - gap[:, None] * normal)
        return gap - contacts.margin_a - contacts.margin_b, aside, normal

    def columns(self, sign, size):
        """{name: (N, ...)} of a ContactSet; sign: (N,) as in ``of_contacts``; size: (N,) [m] of the pairs."""
        model, sides, (whose, faces) = self.model, self.sides, self.faces
        bodies, spins = halves(model.shape_body[sides.shape]), halves(sides.angular)
        moves, relative = model.movable[bodies], (spins - spins[::-1]).reshape(-1, 3)
        edge = np.where((whose < 0) | (moves[0] & moves[1]), EDGE_RADIUS * size, 0.0)
        spin = rotate(conjugate(self.moved.turn), relative)
        point, rim = axis_points(model, sides.shape, self.points, self.outward, spin)
        margins = np.maximum(halves(sides.radius + rim), edge)
        normal, body, face_normal = self.normal.copy(), np.full(len(sign), -1), np.zeros_like(self.normal)
        world, faces = halves(rotate(sides.turn, faces)), halves(faces)
        for k, (own, out) in enumerate(zip(bodies, OUTWARD, strict=True)):
            on = whose == k
            normal[on] = out * world[k][on]
            turns = on & (moves[k] | spins[k].any(axis=1))
            body[turns] = own[turns]
            face_normal[turns] = (sign * out)[turns, None] * faces[k][turns]
        points, now, on_a = halves(point), halves(sides.now().place(point)), sign > 0.0
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
