# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bodies are surely apart: separating axes of boxes with rounded edges around them, of many pairs at once.

Of what fills its box (boxes, balls, capsules) most is told, of boxes everything.  That answers most questions about
poses on the way of a step, for a fraction of what detection takes.
Source: Gottschalk, Lin and Manocha, OBBTree, SIGGRAPH 1996; the radius and the axis between the middles are added.
"""

from dataclasses import dataclass

import numpy as np

from .rotations import matrices
from .shapes import Box
from .vectors import inner

AT_ONCE = 1 << 17  # pairs and looks that are compared together: each takes some hundred numbers
NEXT, AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])  # axes after each
PARALLEL = 1e-9  # added to cosines: edges that are parallel span no axis


@dataclass
class BodyBoxes:
    """A box around each of B bodies, in the body's frame: all points within ``radius`` of the box of ``half``.

    Infinite where a body has a plane or no shape.
    """

    middle: np.ndarray  # (B, 3) [m]
    axes: np.ndarray  # (B, 3, 3) as columns: its shape's where a body has one, the body's where it has more
    half: np.ndarray  # (B, 3) [m]
    radius: np.ndarray  # (B,) [m]
    plane: np.ndarray  # (B,) bool: all below ``middle``, along its third axis
    exact: np.ndarray | None = None  # (B,) bool: the body is that box; None of those that are placed

    def placed(self, bodies, position, orientation, wider=0.0):
        """The BodyBoxes (L, N) in the world of ``bodies`` (N,) at poses of their frames (L, N, 3), (L, N, 4).

        wider: (N,) by how much they are wider all around [m].
        """
        turn = matrices(orientation)
        middle = position + np.einsum("lnij,nj->lni", turn, self.middle[bodies])
        return BodyBoxes(
            middle, turn @ self.axes[bodies], self.half[bodies], self.radius[bodies] + wider, self.plane[bodies]
        )

    def take(self, index):
        """Those of placed boxes at ``index`` (P,)."""
        return BodyBoxes(
            self.middle[:, index], self.axes[:, index], self.half[index], self.radius[index], self.plane[index]
        )


def body_boxes(model):
    """The BodyBoxes of a CollisionModel."""
    count = len(model.names)
    boxes = BodyBoxes(
        np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), np.full((count, 3), np.inf), np.zeros(count),
        np.zeros(count, bool), np.zeros(count, bool),
    )  # fmt: skip
    shapes = np.bincount(model.shape_body, minlength=count)
    s = np.flatnonzero(shapes[model.shape_body] == 1)
    body, endless, radius = model.shape_body[s], np.isinf(model.shape_half[s]).all(axis=1), model.shape_rounding[s]
    boxes.axes[body], boxes.plane[body] = model.shape_rotation[s], endless
    boxes.middle[body] = np.where(endless[:, None], model.shape_position[s], model.shape_middle[s])
    boxes.exact[body] = [isinstance(model.shapes[k], Box) for k in s]
    boxes.half[body], boxes.radius[body] = model.shape_half[s] - radius[:, None], np.where(endless, 0.0, radius)
    for body in np.flatnonzero(shapes > 1):
        shapes = np.flatnonzero(model.shape_body == body)
        if np.isfinite(model.shape_half[shapes]).all():
            reach = np.einsum("sij,sj->si", np.abs(model.shape_rotation[shapes]), model.shape_half[shapes])
            low = (model.shape_middle[shapes] - reach).min(axis=0)
            high = (model.shape_middle[shapes] + reach).max(axis=0)
            boxes.middle[body], boxes.half[body] = 0.5 * (low + high), 0.5 * (high - low)
    return boxes


def apart(one, other):
    """(L, P) bool: which of ``one`` and ``other``, placed BodyBoxes of P pairs, are surely apart."""
    bounded_a, bounded_b = (np.isfinite(boxes.half).all(axis=-1) for boxes in (one, other))
    known = bounded_a & bounded_b
    half_a, half_b = (np.where(np.isfinite(boxes.half), boxes.half, 0.0) for boxes in (one, other))
    radius = (one.radius + other.radius)[:, None]
    way = np.einsum("...ji,...j->...i", one.axes, other.middle - one.middle)  # seen from one
    turn = np.swapaxes(one.axes, -1, -2) @ other.axes
    back = np.einsum("...ij,...i->...j", turn, way)
    size = np.abs(turn) + PARALLEL
    found = (np.abs(way) > half_a + np.einsum("...ij,...j->...i", size, half_b) + radius).any(axis=-1)
    found |= (np.abs(back) > half_b + np.einsum("...ij,...i->...j", size, half_a) + radius).any(axis=-1)
    far = inner(way, way)
    reach = inner(np.abs(way), half_a) + inner(np.abs(back), half_b)
    found |= far > reach + radius[:, 0] * np.sqrt(far)
    # along the cross products of each edge of one and each edge of the other
    (next_way, after_way), (next_a, after_a) = ((x.take(NEXT, -1), x.take(AFTER, -1)) for x in (way, half_a))
    next_b, after_b = half_b.take(NEXT, -1), half_b.take(AFTER, -1)
    between = np.abs(after_way[..., None] * turn.take(NEXT, -2) - next_way[..., None] * turn.take(AFTER, -2))
    reach = next_a[..., None] * size.take(AFTER, -2) + after_a[..., None] * size.take(NEXT, -2)
    reach += next_b[:, None] * size.take(AFTER, -1) + after_b[:, None] * size.take(NEXT, -1)
    reach += radius[:, None] * np.sqrt(np.maximum(1.0 - turn**2, 0.0))
    found |= (between > reach).any(axis=(-2, -1))
    above = way[..., 2] > np.einsum("...j,...j->...", size[..., 2, :], half_b) + radius[:, 0]
    below = -back[..., 2] > np.einsum("...i,...i->...", size[..., :, 2], half_a) + radius[:, 0]
    off_plane = one.plane & bounded_b & above | other.plane & bounded_a & below
    return found & known | off_plane


def near_on_the_way(model, frames, order, way, first, second, wider=None):
    """(L, P) bool: whether the boxes around scene bodies ``first`` and ``second`` (P,) overlap, or may.

    order: (B,) scene number of each solver body; way: of N solver bodies the positions (L, N, 3) and orientations
    (L, N, 4) at L looks; wider: (B,) by how much the boxes of the solver's bodies are wider [m].
    """
    body, count = np.concatenate([first, second]), len(first)
    solver = order.argsort().take(body)
    poses = frames.to_body(*way(which=solver), body)
    boxes = model.body_boxes.placed(body, *poses, 0.0 if wider is None else wider[solver])
    looks = len(poses[0])
    near = np.empty((looks, count), bool)
    size = max(1, AT_ONCE // max(1, looks))
    for begin in range(0, count, size):
        end = min(begin + size, count)
        near[:, begin:end] = ~apart(boxes.take(slice(begin, end)), boxes.take(slice(count + begin, count + end)))
    return near
