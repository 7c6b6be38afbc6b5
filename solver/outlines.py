# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts on the outline of two polygons that lie on each other, one of them of many corners: rims.py, for hulls.

Of hulls five places are found and three more at most (face_corners.py), others from step to step.  A prism of 64 sides,
held at eight of its corners, fell at 0.95 of what tips it.  So what spans a face (face_places.py) is a contact where it
is above the other face, and so are the places where the two outlines cross.

Corners that are out by no more than what spans the face leaves out are moved to the other outline: two coins of one
size would cross at each of their sides.
"""

import numpy as np
import warp as wp

from .contact_arrays import ShapeArrays
from .face_corners import Side, across, corner_of, holds, spanned
from .face_places import CUT, FEW, MOST
from .round_sides import MODULE

BLUNT = np.cos(1.5 * np.pi / 8.0)  # of the angle between two sides: beside such a corner another one tells as much
BESIDE = np.pi / 16.0  # of the smaller half breadth: how near that is
NEAR = 0.05  # of it: places nearer than that are one
PLACES = 4 * MOST  # corners of both, and twice on each side of one

zero, one, hair = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0)), wp.constant(wp.float64(1e-9))
cut, blunt, beside, near = (wp.constant(wp.float64(value)) for value in (CUT, BLUNT, BESIDE, NEAR))
most, few, outline_places = wp.constant(MOST), wp.constant(FEW), wp.constant(PLACES)


@wp.func(module=MODULE)
def spanning_corner(shapes: ShapeArrays, side: Side, number: int):
    """One of them, counted round and round."""
    count = spanned(shapes, side)
    return corner_of(shapes, side, shapes.span[shapes.span_start[side.face] + (number + count) % count])


@wp.func(module=MODULE)
def onto(shapes: ShapeArrays, own: Side, other: Side, sense: wp.float64, place: wp.vec2d, room: wp.float64):
    """A corner of one's ``own`` face, moved onto the other one where it is out by no more than ``room``; and whether it
    is above both.  sense: 1 where the other's corners are counter-clockwise, else -1.
    """
    out = place
    moved = bool(False)
    start = wp.vec2d()
    if other.end > other.first:
        start = corner_of(shapes, other, 0)
    for k in range(other.end - other.first):
        following = corner_of(shapes, other, k + 1)
        edge = following - start
        length = wp.length(edge)
        away = -sense * across(edge, out - start) / length
        if away > room:
            return place, False
        if away > zero:
            out = out + (sense * away / length) * wp.vec2d(-edge[1], edge[0])
            moved = moved or away > hair * room
        start = following
    if moved:
        return out, holds(shapes, own, out)
    return out, True


@wp.func(module=MODULE)
def is_blunt(shapes: ShapeArrays, side: Side, number: int):
    """Whether the sides beside a spanning corner are nearly in one line."""
    here = spanning_corner(shapes, side, number)
    before = here - spanning_corner(shapes, side, number - 1)
    after = spanning_corner(shapes, side, number + 1) - here
    return wp.dot(before, after) > blunt * wp.length(before) * wp.length(after)


@wp.func(module=MODULE)
def is_taken(
    shapes: ShapeArrays, side: Side, other: Side, sense: wp.float64, room: wp.float64, place: wp.vec2d,
    limit: wp.float64,
):  # fmt: skip
    """Whether a spanning corner of a face that is above the other one is nearer to a place than ``limit``."""
    for k in range(spanned(shapes, side)):
        corner = spanning_corner(shapes, side, k)
        if wp.length(corner - place) < limit + room:
            at, there = onto(shapes, side, other, sense, corner, room)
            if there and wp.length(at - place) < limit:
                return True
    return False


@wp.func(module=MODULE)
def crossing(
    shapes: ShapeArrays, side_a: Side, side_b: Side, number: int, second: bool, room: wp.float64, breadth: wp.float64
):  # fmt: skip
    """Where the way from one spanning corner of a to the next comes onto face b, or leaves it; and whether it does,
    far from the corners that are there.
    """
    start = spanning_corner(shapes, side_a, number)
    way = spanning_corner(shapes, side_a, number + 1) - start
    first = zero
    last = one
    along = wp.vec2d()
    from_b = corner_of(shapes, side_b, 0)
    for k in range(side_b.end - side_b.first):
        following = corner_of(shapes, side_b, k + 1)
        edge = following - from_b
        inside = across(edge, start - from_b)
        gain = across(edge, way)
        if inside < zero and inside + gain < zero:
            return start, False
        share = -inside / gain
        if inside < zero and share > first:
            first = share
            if not second:
                along = edge
        if inside >= zero and inside + gain < zero and share < last:
            last = share
            if second:
                along = edge
        from_b = following
    share = wp.where(second, last, first)
    place = start + share * way
    if first >= last or wp.length(along) == zero:
        return place, False
    # Where two outlines are nearly along each other, a corner beside tells as much.
    limit = near * breadth
    if wp.abs(wp.dot(along, way)) > blunt * wp.length(along) * wp.length(way):
        limit = beside * breadth
    if is_taken(shapes, side_a, side_b, one, room, place, limit):
        return place, False
    return place, not is_taken(shapes, side_b, side_a, -one, room, place, limit)


@wp.func(module=MODULE)
def outline_place(shapes: ShapeArrays, side_a: Side, side_b: Side, breadth: wp.float64, place: int):
    """Where one of PLACES of two faces is across the normal, and whether it is there; breadth: the smaller half one.

    Seen from the normal, from b to a, corners of b are counter-clockwise, those of a are not.
    """
    none = wp.vec2d()
    room = cut * breadth
    count_a = spanned(shapes, side_a)
    count_b = spanned(shapes, side_b)
    if place < most:
        if place >= count_a:
            return none, False
        at, there = onto(shapes, side_a, side_b, one, spanning_corner(shapes, side_a, place), room)
        return at, there
    if place < 2 * most:
        number = place - most
        if number >= count_b:
            return none, False
        at, there = onto(shapes, side_b, side_a, -one, spanning_corner(shapes, side_b, number), room)
        if not there:
            return none, False
        limit = near * breadth
        if is_blunt(shapes, side_b, number):
            limit = beside * breadth
        return at, not is_taken(shapes, side_a, side_b, one, room, at, limit)
    number = (place - 2 * most) // 2
    if number >= count_a or count_b == 0:
        return none, False
    at, there = crossing(shapes, side_a, side_b, number, place % 2 == 1, room, breadth)
    return at, there
