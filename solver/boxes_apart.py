# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bodies are surely apart: separating axes of boxes with rounded edges around them, of many pairs at once.

Of what fills its box (boxes, balls, capsules) most is told, of boxes everything.  That answers most questions about
poses on the way of a step, for a fraction of what detection takes.
Source: Gottschalk, Lin and Manocha, OBBTree, SIGGRAPH 1996; the radius and the axis between the middles are added.
"""

from dataclasses import dataclass

import numpy as np

from .rotations import matrices

PARALLEL = 1e-9  # added to cosines: edges that are parallel span no axis


@dataclass
class BodyBoxes:
    """A box around each of B bodies, in the body's frame: all points within ``radius`` of the box of ``half``.

    Infinite around planes and where a body has no shape.
    """

    middle: np.ndarray  # (B, 3) [m]
    axes: np.ndarray  # (B, 3, 3) as columns: its shape's where a body has one, the body's where it has more
    half: np.ndarray  # (B, 3) [m]
    radius: np.ndarray  # (B,) [m]

    def placed(self, bodies, position, orientation):
        """The BodyBoxes (L, N) in the world of ``bodies`` (N,) at poses of their frames (L, N, 3), (L, N, 4)."""
        turn = matrices(orientation)
        middle = position + np.einsum("lnij,nj->lni", turn, self.middle[bodies])
        return BodyBoxes(middle, turn @ self.axes[bodies], self.half[bodies], self.radius[bodies])

    def take(self, index):
        """Those of placed boxes at ``index`` (P,)."""
        return BodyBoxes(self.middle[:, index], self.axes[:, index], self.half[index], self.radius[index])


def body_boxes(model):
    """The BodyBoxes of a CollisionModel."""
    count = len(model.names)
    boxes = BodyBoxes(
        np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), np.full((count, 3), np.inf), np.zeros(count)
    )
    for body in np.unique(model.shape_body):
        shapes = np.flatnonzero(model.shape_body == body)
        if len(shapes) == 1:
            s, radius = shapes[0], model.shape_rounding[shapes[0]]
            boxes.middle[body], boxes.axes[body] = model.shape_middle[s], model.shape_rotation[s]
            boxes.half[body], boxes.radius[body] = model.shape_half[s] - radius, radius
        elif np.isfinite(model.shape_half[shapes]).all():
            reach = np.einsum("sij,sj->si", np.abs(model.shape_rotation[shapes]), model.shape_half[shapes])
            low = (model.shape_middle[shapes] - reach).min(axis=0)
            high = (model.shape_middle[shapes] + reach).max(axis=0)
            boxes.middle[body], boxes.half[body] = 0.5 * (low + high), 0.5 * (high - low)
    return boxes


def apart(one, other):
    """(L, P) bool: which of ``one`` and ``other``, placed BodyBoxes of P pairs, are surely apart."""
    known = np.isfinite(one.half).all(axis=-1) & np.isfinite(other.half).all(axis=-1)
    half_a, half_b = (np.where(known[:, None], boxes.half, 0.0) for boxes in (one, other))
    radius = (one.radius + other.radius)[:, None]
    way = np.einsum("...ji,...j->...i", one.axes, other.middle - one.middle)  # seen from one
    turn = np.swapaxes(one.axes, -1, -2) @ other.axes
    back = np.einsum("...ij,...i->...j", turn, way)
    size = np.abs(turn) + PARALLEL
    found = (np.abs(way) > half_a + np.einsum("...ij,...j->...i", size, half_b) + radius).any(axis=-1)
    found |= (np.abs(back) > half_b + np.einsum("...ij,...i->...j", size, half_a) + radius).any(axis=-1)
    far = (way * way).sum(axis=-1)
    reach = (np.abs(way) * half_a).sum(axis=-1) + (np.abs(back) * half_b).sum(axis=-1)
    found |= far > reach + radius[:, 0] * np.sqrt(far)
    for i in range(3):  # along the cross products of edge i of one and each edge of the other
        j, k = (i + 1) % 3, (i + 2) % 3
        between = np.abs(way[..., k, None] * turn[..., j, :] - way[..., j, None] * turn[..., k, :])
        reach = half_a[:, j, None] * size[..., k, :] + half_a[:, k, None] * size[..., j, :]
        side = size[..., i, :]
        reach += np.roll(half_b, -1, -1) * np.roll(side, -2, -1) + np.roll(half_b, -2, -1) * np.roll(side, -1, -1)
        reach += radius * np.sqrt(np.maximum(1.0 - turn[..., i, :] ** 2, 0.0))
        found |= (between > reach).any(axis=-1)
    return found & known
