# SPDX-License-Identifier: GPL-3.0-or-later
"""Places where convex shapes touch in the coming step, and the contacts that stand for them."""

from dataclasses import dataclass

import numpy as np

from .contact_geometry import ALIKE
from .manifold import along_runs
from .rotations import conjugate, rotate
from .round_sides import axis_points

OUTWARD = -1.0, 1.0  # of the first and the second shape, along the normal that points to the first
EDGE = 1e-9  # of the smaller half extent: radius of what is hit along one normal only, edges and what flies as well


@dataclass
class Touching:
    """Where both sides of N pairs touch."""

    sides: list  # Side, Side: at the step's start
    time: np.ndarray  # (N,) [s] after which they do
    points: list  # (N, 3), (N, 3) of their cores, in the bodies' frames
    normal: np.ndarray  # (N, 3) world at that time, from the second to the first

    def take(self, index):
        """Those at ``index``."""
        sides, points = [side.take(index) for side in self.sides], [each[index] for each in self.points]
        return Touching(sides, self.time[index], points, self.normal[index])

    def moved(self):
        """[Moved, Moved] of both sides at that time."""
        return [side.after(self.time) for side in self.sides]

    def outward(self):
        """[(N, 3), (N, 3)] out of both sides at that time, in the bodies' frames."""
        return [
            rotate(conjugate(each.turn), out * self.normal) for each, out in zip(self.moved(), OUTWARD, strict=True)
        ]

    def faces(self, model):
        """(0 or 1 (N,): the side whose face is touched, or -1; normals [(N, 3), (N, 3)] of faces of both, or 0).

        Of two faces it is that of the side that is held, or else of the one that turns less, as in contact_faces.py.
        """
        faces = [_face(model.faces, side.shape, out) for side, out in zip(self.sides, self.outward(), strict=True)]
        rank = []
        for side, face in zip(self.sides, faces, strict=True):
            held = ~model.movable[model.shape_body[side.shape]]
            spin = (side.angular * side.angular).sum(axis=1)
            rank.append(np.where(face.any(axis=1), np.where(held, 1.0, -spin), -np.inf))
        return np.where(np.isinf(rank[0]) & np.isinf(rank[1]), -1, np.where(rank[0] > rank[1], 0, 1)), faces

    def of_contacts(self, contacts, model, of, sign):
        """Gaps (K,), how far their points are past each other (K,), and normals (K, 3) from the second to the first, of
        ``contacts`` at the time of the touches ``of`` (K,); sign: (K,) 1 where the first side is on side a, else -1.
        """
        on_a = sign[:, None] > 0.0
        ends = np.where(on_a, contacts.point_a, contacts.point_b), np.where(on_a, contacts.point_b, contacts.point_a)
        normal, places = contacts.normal, []
        for side, end in zip(self.sides, ends, strict=True):
            moved = side.take(of).after(self.time[of])
            turns = contacts.face == model.shape_body[side.shape[of]]
            normal = np.where(turns[:, None], rotate(moved.turn, contacts.face_normal), normal)
            places.append(moved.place(end))
        normal = sign[:, None] * normal
        way = places[0] - places[1]
        gap = (normal * way).sum(axis=1)
        aside = np.sqrt(((way - gap[:, None] * normal) ** 2).sum(axis=1))
        return gap - contacts.margin_a - contacts.margin_b, aside, normal

    def columns(self, model, sign, size):
        """{name: (N, ...)} of a ContactSet; sign: (N,) as in ``of_contacts``; size: (N,) [m] of the pairs."""
        whose, faces = self.faces(model)
        moves = [model.movable[model.shape_body[side.shape]] for side in self.sides]
        edge = np.where((whose < 0) | (moves[0] & moves[1]), EDGE * size, 0.0)
        points, margins = [], []
        for k, (side, out) in enumerate(zip(self.sides, self.outward(), strict=True)):
            spin = rotate(conjugate(side.after(self.time).turn), side.angular - self.sides[1 - k].angular)
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
            "gap": (normal * (now[0] - now[1])).sum(axis=1) - margins[0] - margins[1],
            "face": body,
            "face_normal": face_normal,
            "first": np.ones(len(sign), np.int32),
        }


def _face(table, shape, outward):
    """(N, 3) normals of flat faces of shapes (N,) that point ``outward`` (N, 3), in their bodies' frames, or 0."""
    run, offset = along_runs(table.first[shape + 1] - table.first[shape])
    out, normal = np.zeros_like(outward), table.normal[table.first[shape][run] + offset]
    alike = (normal * outward[run]).sum(axis=1) > ALIKE
    out[run[alike]] = normal[alike]
    return out
