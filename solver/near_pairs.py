# SPDX-License-Identifier: GPL-3.0-or-later
"""Which shape pairs are near enough to be looked at: a list with room to move, made anew when a shape leaves its room.

newton compares the boxes of every pair that may ever touch, half a million of them among a thousand bodies.  Here each
shape's box, grown by what detection looks ahead, must lie in a box with some room; pairs whose boxes with room are
apart cannot touch while that holds.  So the list leaves out nothing, and what it holds too much changes no result.
It is made by looking at every pair that may touch, or, where those are too many to list, by near_tree.py: there only
the pairs of shapes that left their room are looked for anew, unless those are many.
"""

import warp as wp

from .arrays import first_number, of_arrays, zeros
from .contact_arrays import FALL, STEP, BoxArrays, ListArrays, PoseArrays, ShapeArrays, StageArrays, columns
from .contact_geometry import MODULE, within
from .manifold import GAP_FLOOR
from .near_tree import NearTree
from .recording import recorded

FEW = 1024  # pairs that are not worth a list
MANY = 4  # that share of the shapes is many
ROOM, AHEAD = 0.25, 2.0  # room to move: times the smallest half extent; where that does not count, times the way ahead

room, ahead = wp.constant(wp.float64(ROOM)), wp.constant(wp.float64(AHEAD))
floor, two = wp.constant(wp.float64(1.1 * GAP_FLOOR)), wp.constant(wp.float64(2.0))
step_slot, fall_slot = wp.constant(STEP), wp.constant(FALL)
kernel = wp.kernel(module=MODULE, enable_backward=False)


@kernel
def place_boxes(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, boxes: BoxArrays
):  # fmt: skip
    """The box of each shape, and which left their room."""
    s = wp.tid()
    body = shapes.body[s]
    step = stage.settings[step_slot]
    frame = poses.rotation[body] * shapes.rotation[s]
    half = shapes.half[s]
    extent = wp.vec3d()
    for i in range(3):
        extent[i] = wp.abs(frame[i, 0]) * half[0] + wp.abs(frame[i, 1]) * half[1] + wp.abs(frame[i, 2]) * half[2]
    arm = wp.length(shapes.place[s] - poses.center[body]) + wp.length(shapes.middle[s] - shapes.place[s])
    way = wp.length(poses.linear[body]) + wp.length(poses.angular[body]) * (arm + two * wp.length(half))
    way = two * step * way + wp.length(poses.surface_way[body])
    if poses.movable[body]:
        way += stage.settings[fall_slot]
    margin = ahead * way
    if wp.isfinite(shapes.size[s]):  # it moves freely: more room would cost more than making the list anew
        way += floor * shapes.size[s]
        margin = room * shapes.size[s]
    middle = poses.position[body] + poses.rotation[body] * shapes.middle[s]
    grown = extent + wp.vec3d(way, way, way)
    boxes.lower[s] = middle - grown
    boxes.upper[s] = middle + grown
    boxes.margin[s] = margin
    boxes.out[s] = 0
    if wp.isfinite(shapes.radius[s]):
        if not (within(boxes.room_lower[s], boxes.lower[s]) and within(boxes.upper[s], boxes.room_upper[s])):
            boxes.out[s] = 1
            wp.atomic_add(boxes.left, 0, 1)


@kernel
def make_room(boxes: BoxArrays, everyone: wp.bool):
    """Room around the boxes of all shapes, or of those that left it."""
    s = wp.tid()
    if not everyone and boxes.out[s] == 0:
        return
    margin = wp.vec3d(boxes.margin[s], boxes.margin[s], boxes.margin[s])
    boxes.room_lower[s] = boxes.lower[s] - margin
    boxes.room_upper[s] = boxes.upper[s] + margin


@kernel
def list_pairs(
    lists: ListArrays, shapes: ShapeArrays, boxes: BoxArrays, lanes: int
):  # fmt: skip
    """The pairs whose rooms overlap; planes are near everything.  In strides, see ``ContactStage._loop``."""
    for k in range(wp.tid(), lists.pairs.shape[0], lanes):
        i = lists.pairs[k][0]
        j = lists.pairs[k][1]
        meet = within(boxes.room_lower[i], boxes.room_upper[j]) and within(boxes.room_lower[j], boxes.room_upper[i])
        if meet or not (wp.isfinite(shapes.radius[i]) and wp.isfinite(shapes.radius[j])):
            place = wp.atomic_add(lists.count, 0, 1)
            if place < lists.near.shape[0]:
                lists.near[place] = lists.pairs[k]


class NearPairs:
    """The list of one Collider; ``near`` holds it, padded with a shape and itself.  All pairs where they are few."""

    def __init__(self, pairs, poses, shapes, device):
        """pairs: Warp array of those that may touch, None where too many; poses: PoseArrays; shapes: ShapeArrays."""
        self.device, self.pairs, self.poses, self.shapes = device, pairs, poses, shapes
        self.all = pairs is not None and len(pairs) <= FEW
        self.near = pairs
        if self.all:
            return
        self.boxes = columns(BoxArrays, shapes.count, device, left=1)
        self.boxes.room_lower.fill_(wp.vec3d(1.0, 1.0, 1.0))  # no room at all: whatever comes first has left it
        self._count = zeros(1, wp.int32, device)
        self._graph = None  # of ``_list_all`` into the present ``near``; there is none with a tree
        self._tree = None if pairs is not None else NearTree(poses, shapes, self.boxes, device)
        room = max(FEW, 8 * shapes.count)
        self.make_room(2 * room if pairs is None else min(len(pairs), room))  # with a tree, growing takes a second

    def make_room(self, room):
        """Allocate for ``room`` pairs; the list is made anew when it is asked for."""
        self._put_into(zeros(room, wp.vec2i, self.device))
        self.boxes.room_lower.fill_(wp.vec3d(1.0, 1.0, 1.0))

    def check(self, stage):
        """Launch the look at who left its room.  stage: StageArrays."""
        if not self.all:
            self.boxes.left.zero_()
            inputs = [stage, self.poses, self.shapes, self.boxes]
            wp.launch(place_boxes, self.shapes.count, inputs, device=self.device)

    def renew(self):
        """After ``check``: make the list anew if it is needed.  True where it outgrew its array: record anew."""
        left = 0 if self.all else first_number(self.boxes.left)
        if not left:
            return False
        if self._tree is not None and MANY * left <= self.shapes.count:
            self._make_room(everyone=False)
            self._tree.renew(self.near, self._count)
            if first_number(self._count) <= len(self.near):
                return False
        self._list()
        found = first_number(self._count)
        if found <= len(self.near):
            return False
        self._put_into(zeros(found + found // 2, wp.vec2i, self.device))
        self._list()
        return True

    def _put_into(self, near):
        self.near, self._graph = near, None

    def _make_room(self, everyone):
        wp.launch(make_room, self.shapes.count, [self.boxes, everyone], device=self.device)

    def _list(self):
        if self._graph is not None:
            wp.capture_launch(self._graph)
            return
        self._list_all()
        if self._tree is None:
            self._graph = recorded(self.device, self._list_all)

    def _list_all(self):
        self._make_room(everyone=True)
        self.near.zero_()
        self._count.zero_()
        if self._tree is not None:
            self._tree.list(self.near, self._count)
            return
        lists = of_arrays(ListArrays, pairs=self.pairs, near=self.near, count=self._count)
        lanes = 1 if self.device.is_cpu else len(self.pairs)
        wp.launch(list_pairs, lanes, [lists, self.shapes, self.boxes, lanes], device=self.device)
