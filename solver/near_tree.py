# SPDX-License-Identifier: GPL-3.0-or-later
"""The near pairs of a scene with too many pairs to look at each: found with Warp's tree of boxes.

The tree is of single precision, so its boxes are rounded outwards, and what it finds is looked at again in double.
"""

import numpy as np
import warp as wp

from .contact_arrays import BoxArrays, PoseArrays, ShapeArrays
from .contact_geometry import may_touch, within

OUTWARDS = 2e-7  # times a coordinate: more than single precision rounds it by

outwards = wp.constant(wp.float64(OUTWARDS))
kernel = wp.kernel(module="axion_near_tree", enable_backward=False)


@kernel
def round_boxes(
    finite: wp.array(dtype=wp.int32), boxes: BoxArrays, lower: wp.array(dtype=wp.vec3), upper: wp.array(dtype=wp.vec3)
):
    """Rooms around the boxes of the ``finite`` shapes, as the tree takes them; an empty one where a pose is NaN."""
    k = wp.tid()
    low = boxes.room_lower[finite[k]]
    high = boxes.room_upper[finite[k]]
    if not (wp.isfinite(low) and wp.isfinite(high)):
        low = wp.vec3d()
        high = wp.vec3d()
    for i in range(3):
        low[i] = low[i] - outwards * wp.abs(low[i])
        high[i] = high[i] + outwards * wp.abs(high[i])
    lower[k] = wp.vec3(low)
    upper[k] = wp.vec3(high)


@wp.func
def add(
    poses: PoseArrays, shapes: ShapeArrays, i: int, j: int, near: wp.array(dtype=wp.vec2i),
    count: wp.array(dtype=wp.int32),
):  # fmt: skip
    """Put a pair on the list, if it may touch; where the list is full, it is counted only."""
    if may_touch(poses, shapes, shapes.body[i], shapes.body[j]):
        place = wp.atomic_add(count, 0, 1)
        if place < near.shape[0]:
            near[place] = wp.vec2i(wp.min(i, j), wp.max(i, j))


@kernel
def list_near(
    tree: wp.uint64, finite: wp.array(dtype=wp.int32), planes: wp.array(dtype=wp.int32), poses: PoseArrays,
    shapes: ShapeArrays, boxes: BoxArrays, lower: wp.array(dtype=wp.vec3), upper: wp.array(dtype=wp.vec3),
    near: wp.array(dtype=wp.vec2i), count: wp.array(dtype=wp.int32), everyone: wp.bool,
):  # fmt: skip
    """The pairs whose rooms overlap, of all shapes or of those that left theirs; planes are near everything.

    Each by its lower shape, or by the only one of the two that left its room.
    """
    k = wp.tid()
    i = finite[k]
    if not everyone and boxes.out[i] == 0:
        return
    query = wp.bvh_query_aabb(tree, lower[k], upper[k])
    found = int(0)
    while wp.bvh_query_next(query, found):
        j = finite[found]
        if j > i or (not everyone and boxes.out[j] == 0):
            if within(boxes.room_lower[i], boxes.room_upper[j]) and within(boxes.room_lower[j], boxes.room_upper[i]):
                add(poses, shapes, i, j, near, count)
    for plane in range(planes.shape[0]):
        add(poses, shapes, i, planes[plane], near, count)


@kernel
def drop(boxes: BoxArrays, near: wp.array(dtype=wp.vec2i)):
    """Leaves empty the places of pairs with a shape that left its room."""
    k = wp.tid()
    if boxes.out[near[k][0]] + boxes.out[near[k][1]] > 0:
        near[k] = wp.vec2i(0, 0)


class NearTree:
    """Lists the near pairs of the shapes of one Collider."""

    def __init__(self, poses, shapes, boxes, device):
        """poses: PoseArrays, shapes: ShapeArrays, boxes: BoxArrays."""
        self.device, self.poses, self.shapes, self.boxes = device, poses, shapes, boxes
        bounded = np.isfinite(shapes.radius.numpy())
        self.finite, self.planes = (
            wp.array(np.flatnonzero(chosen), dtype=wp.int32, device=device) for chosen in (bounded, ~bounded)
        )
        self.lower, self.upper = (wp.zeros(len(self.finite), dtype=wp.vec3, device=device) for _ in range(2))
        self._tree = None

    def list(self, near, count):
        """Put the pairs into ``near``, as far as they fit, and their number into ``count``; both are zero before."""
        self._round_boxes()
        if self._tree is None:
            self._tree = wp.Bvh(self.lower, self.upper)
        else:
            self._tree.rebuild()
        self._add(near, count, everyone=True)

    def renew(self, near, count):
        """Put the pairs of shapes that left their room behind the others, in the place of those they had.

        count: of places taken, the empty ones included; more than there are where they do not fit.
        """
        self._round_boxes()
        self._tree.refit()
        wp.launch(drop, len(near), [self.boxes, near], device=self.device)
        self._add(near, count, everyone=False)

    def _round_boxes(self):
        inputs = [self.finite, self.boxes, self.lower, self.upper]
        wp.launch(round_boxes, len(self.finite), inputs, device=self.device)

    def _add(self, near, count, everyone):
        inputs = [self._tree.id, self.finite, self.planes, self.poses, self.shapes, self.boxes, self.lower, self.upper]
        wp.launch(list_near, len(self.finite), [*inputs, near, count, everyone], device=self.device)
