# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of shapes seen from the second one's frame, and contacts found there as Manifolds."""

from copy import copy

import numpy as np

from .manifold import Manifolds, turn, turn_back

COMPARED = 1 << 17  # boxes at a time: what comes of that fits the processor's cache
SLACK = 1e-9  # times what is added up, more than rounding takes away


def meeting(start, group, low, high, box_low, box_high):
    """(box (K,), item (K,)), sorted: which items have boxes that meet one of B others; a box meets its group's only.

    Group g's items are start[g] to start[g + 1]; low, high (N, 3): their boxes.  group (B,); box_low, box_high (B, 3).
    """
    found = [np.zeros((2, 0), np.intp)]
    for number in np.unique(group):
        some, own = np.flatnonzero(group == number), slice(start[number], start[number + 1])
        least, most = np.ascontiguousarray(low[own].T), np.ascontiguousarray(high[own].T)
        rows = max(1, COMPARED // max(least.shape[1], 1))
        for part in np.split(some, range(rows, len(some), rows)):
            meet = most[0] >= box_low[part, :1]
            for axis in range(3):
                meet &= most[axis] >= box_low[part, axis, None]
                meet &= least[axis] <= box_high[part, axis, None]
            row, item = np.nonzero(meet)
            found.append(np.stack([part[row], own.start + item]))
    found = np.concatenate(found, axis=1)
    return found[:, np.argsort(found[0], kind="stable")]


class ShapePairs:
    """P pairs of a first and a second shape: what touches, and the surface that it touches."""

    def __init__(self, model, first, second, reach, position, rotation):
        """first, second (P,) int; reach (P,) [m]; position (B, 3), rotation (B, 3, 3): the bodies' poses."""
        self.model, self.first, self.second, self.reach = model, first, second, reach
        one, other = self._pose(first, position, rotation), self._pose(second, position, rotation)
        self._turn, self._rotation = other[0], rotation
        self.relative = np.swapaxes(other[0], 1, 2) @ one[0]  # (P, 3, 3) from the first shape's frame to the second's
        self.offset = turn_back(other[0], one[1] - other[1])  # (P, 3) of the first shape, in that frame
        self.size = np.minimum(model.shape_size[first], model.shape_size[second])  # (P,) smallest half extent
        self.lever = np.minimum(model.shape_radius[first], model.shape_radius[second])  # (P,)

    def _pose(self, shape, position, rotation):
        """World rotations (P, 3, 3) and places (P, 3)."""
        model, body = self.model, self.model.shape_body[shape]
        place = position[body] + turn(rotation[body], model.shape_position[shape])
        return rotation[body] @ model.shape_rotation[shape], place

    def take(self, run):
        """Pairs ``run`` (K,) of these, of which each may come more than once."""
        some = copy(self)
        for name in "first", "second", "reach", "_turn", "relative", "offset", "size", "lever":
            setattr(some, name, getattr(self, name)[run])
        return some

    def from_world(self, run, vector):
        """World vectors (K, 3) in the frames of the second shapes of pairs ``run`` (K,)."""
        return turn_back(self._turn[run], vector)

    def to_world(self, run, vector):
        """Vectors (K, 3) in the frames of the second shapes of pairs ``run`` (K,) as world vectors."""
        return turn(self._turn[run], vector)

    def own_centers(self, run):
        """(K, 3) centres of the first shapes of pairs ``run`` (K,), in their own frames."""
        model, first = self.model, self.first[run]
        return turn_back(model.shape_rotation[first], model.shape_center[first] - model.shape_position[first])

    def seen_from_first(self, low, high):
        """Boxes (P, 3), (P, 3) in the second shapes' frames -> boxes in the first ones' frames in which they lie."""
        middle, half = turn_back(self.relative, 0.5 * (low + high) - self.offset), 0.5 * (high - low)
        half = turn_back(np.abs(self.relative), half)
        half += SLACK * (half + np.abs(middle) + np.linalg.norm(self.offset, axis=1)[:, None])
        return middle - half, middle + half

    def manifolds(self, run, one, other, normal, margin):
        """Contacts of pairs ``run`` (N,), as Manifolds without place and tilt.

        one (N, 3): points of the first shapes, with ``margin`` (N,) around them; other (N, 3): of the second ones,
        both in their shapes' frames; normal (N, 3): in the second shapes' frames, towards the first.
        """
        model = self.model
        low, high = np.minimum(self.first, self.second)[run], np.maximum(self.first, self.second)[run]
        pair = low.astype(np.int64) * len(model.shape_body) + high
        order = np.argsort(pair, kind="stable")
        pair, run, low, high, margin = (each[order] for each in (pair, run, low, high, margin))
        ahead = (self.first > self.second)[run]  # the first shape is body a's
        outward = np.where(ahead, 1.0, -1.0)[:, None] * turn(self._turn[run], normal[order])
        one = self._on_body(self.first[run], one[order])
        other = self._on_body(self.second[run], other[order])
        body_a, body_b = model.shape_body[high], model.shape_body[low]
        return Manifolds(
            pair,
            body_a,
            body_b,
            np.where(ahead[:, None], one, other),
            np.where(ahead[:, None], other, one),
            np.where(ahead, margin, 0.0),
            np.where(ahead, 0.0, margin),
            turn_back(self._rotation[body_b], outward),
            self.size[run],
            self.lever[run],
            np.zeros((len(run), 3)),
            np.zeros((len(run), 3, 3)),
        )

    def _on_body(self, shape, point):
        """Points (N, 3) of shapes, in their bodies' frames."""
        return self.model.shape_position[shape] + turn(self.model.shape_rotation[shape], point)
