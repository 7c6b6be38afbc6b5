# SPDX-License-Identifier: GPL-3.0-or-later
"""Corners of two flat faces that lie on each other, where detection leaves them out.

Two rectangles meet in up to eight corners.  newton keeps the four that span the largest area, and the deepest of all
only where the faces lean by more than 0.1 degrees: below, a box of 1 m may sink 0.5 mm deep at a corner that no contact
holds.  So the deepest one joins them.  Over the region where both faces are, the gap is a linear function of the place,
so it is least at a corner of one face above the other, or where two edges cross.  The flat ends of cylinders and cones
count as polygons, too.

Of convex hulls newton looks for corners in five directions, which may give one of them twice or one of another face,
and leave others out.  A stone that stood on an edge so had one contact: its other end sank through the ground in each
step, was found at the end, and the step was solved again, for ever; on a face of six corners stones rocked between two
poses.  So hulls get up to three more corners that touch at rest and lie beyond the contacts known, deepest first, in
steps that begin with little turn: what rolls comes down elsewhere.  An edge belongs to two faces, a tip to several; the
one that leans least tells of it.

Of faces that lean by more than two degrees newton reports the edge or the tip that is foremost.  A box that comes down
on it turns about it within the step: the other corners of its face were found 200 mm deep at the end, and the step was
solved again, and once more for what that threw up.  So in a step these corners join, too, as far up as it may turn.
"""

import numpy as np
import warp as wp

from .contact_arrays import CORNERS, STEP, FreshArrays, PointArrays, PoseArrays, ShapeArrays, StageArrays
from .contact_geometry import MODULE, swing_room, turned_back
from .face_places import FEW
from .manifold import NOISE
from .mathx.real import real_types
from .mathx.rotation import rotation_functions

FLAT = np.cos(np.radians(0.5))  # a face counts where its normal is that near to the contact's,
LEANING = np.cos(np.radians(60.0))  # and of hulls where it is that near
SWINGS = np.cos(np.radians(12.0))  # faces that come down on each other within a step lean less at its start
REDUCED = 4  # points of a manifold that may have left some out
APART = 0.05  # of a pair's size: a corner of a hull that is no farther from what contacts span tells nothing new
CALM = 0.05  # [rad] by which two hulls may turn against each other in a step
MOST = 5  # contacts that newton finds for two hulls

flat, leaning, swings = (wp.constant(wp.float64(value)) for value in (FLAT, LEANING, SWINGS))
noise, apart, calm = (wp.constant(wp.float64(value)) for value in (NOISE, APART, CALM))
step_slot = wp.constant(STEP)
few = wp.constant(FEW)
reduced, most_found, most_corners = wp.constant(REDUCED), wp.constant(MOST), wp.constant(CORNERS)
hair, far = wp.constant(wp.float64(1e-9)), wp.constant(wp.float64(1e300))
tangent = rotation_functions(real_types(wp.float64)).tangent
Places = wp.types.matrix(shape=(MOST + CORNERS, 2), dtype=wp.float64)  # across a contact's normal


@wp.struct
class Side:
    """One face, seen along the contact normal: places across it, heights along it."""

    face: int
    first: int  # its corners in the table
    end: int
    rotation: wp.mat33d  # of its body
    origin: wp.vec3d  # the body's, from that of body b
    axes: wp.mat33d  # rows: two tangents and the normal
    slope: wp.vec2d
    level: wp.float64


@wp.func(module=MODULE)
def nearest_face(shapes: ShapeArrays, shape: int, direction: wp.vec3d, least: wp.float64):
    """The face whose normal is nearest to a direction in the shape's body's frame; -1 where no cosine is ``least``."""
    best = int(-1)
    most = least
    for f in range(shapes.polygon_first[shape], shapes.polygon_first[shape + 1]):
        cosine = wp.dot(shapes.polygon_normal[f], direction)
        if cosine > most:
            most = cosine
            best = f
    return best


@wp.func(module=MODULE)
def side_of(shapes: ShapeArrays, face: int, rotation: wp.mat33d, origin: wp.vec3d, axes: wp.mat33d):
    """A face of a body with this rotation and origin."""
    side = Side()
    side.face = face
    side.first = shapes.polygon_start[face]
    side.end = shapes.polygon_start[face + 1]
    side.rotation = rotation
    side.origin = origin
    side.axes = axes
    outward = rotation * shapes.polygon_normal[face]
    lean = axes * outward
    side.slope = wp.vec2d(-lean[0] / lean[2], -lean[1] / lean[2])
    side.level = (shapes.polygon_offset[face] + wp.dot(outward, origin)) / lean[2]
    return side


@wp.func(module=MODULE)
def sides_along(
    shapes: ShapeArrays, face_a: int, face_b: int, poses: PoseArrays, a: int, b: int, normal: wp.vec3d
):  # fmt: skip
    """A face of body a and one of body b, seen along a world normal."""
    t = tangent(normal)
    s = wp.cross(normal, t)
    axes = wp.mat33d(t[0], t[1], t[2], s[0], s[1], s[2], normal[0], normal[1], normal[2])
    side_a = side_of(shapes, face_a, poses.rotation[a], poses.position[a] - poses.position[b], axes)
    side_b = side_of(shapes, face_b, poses.rotation[b], wp.vec3d(), axes)
    return side_a, side_b


@wp.func(module=MODULE)
def height(side: Side, place: wp.vec2d):
    """Of the face's plane at a place."""
    return wp.dot(side.slope, place) + side.level


@wp.func(module=MODULE)
def seen(side: Side, point: wp.vec3d):
    """Where a point of the body's frame is across the normal."""
    there = side.axes * (side.rotation * point + side.origin)
    return wp.vec2d(there[0], there[1])


@wp.func(module=MODULE)
def corner_of(shapes: ShapeArrays, side: Side, k: int):
    """Place of corner k of the face; the last leads back to the first."""
    number = side.first + k
    if number == side.end:
        number = side.first
    return seen(side, shapes.corner[number])


@wp.func(module=MODULE)
def across(d: wp.vec2d, e: wp.vec2d):
    """Cross product in the plane."""
    return d[0] * e[1] - d[1] * e[0]


@wp.func(module=MODULE)
def holds(shapes: ShapeArrays, side: Side, place: wp.vec2d):
    """Whether a place is on the face; a face without corners is everywhere."""
    longest = wp.float64(0.0)
    for k in range(side.end - side.first):
        longest = wp.max(longest, wp.length(corner_of(shapes, side, k + 1) - corner_of(shapes, side, k)))
    left = bool(True)
    right = bool(True)
    for k in range(side.end - side.first):
        here = corner_of(shapes, side, k)
        edge = corner_of(shapes, side, k + 1) - here
        turn = across(edge, place - here)
        near = hair * longest * wp.length(edge)
        if turn < -near:
            left = False
        if turn > near:
            right = False
    return left or right


@wp.func(module=MODULE)
def bound_of(shapes: ShapeArrays, side: Side, side_a: Side, side_b: Side):
    """What the gap of two faces cannot be below on one of them: a linear function is least at a corner."""
    least = far
    for k in range(side.end - side.first):
        place = corner_of(shapes, side, k)
        least = wp.min(least, height(side_a, place) - height(side_b, place))
    if least == far:
        return -far
    return least


@wp.func(module=MODULE)
def gap_below(shapes: ShapeArrays, side_a: Side, side_b: Side, place: wp.vec2d, limit: wp.float64):
    """Gap of two faces at a place; beyond all where they do not overlap there, or where it is not below ``limit``."""
    gap = height(side_a, place) - height(side_b, place)
    if gap < limit and holds(shapes, side_a, place) and holds(shapes, side_b, place):
        return gap
    return far


@wp.func(module=MODULE)
def place_of(known: Places, i: int):
    """One of the places."""
    return wp.vec2d(known[i, 0], known[i, 1])


@wp.func(module=MODULE)
def beyond(place: wp.vec2d, known: Places, count: int, away: wp.float64):
    """Whether a place is farther than ``away`` from all that the first ``count`` places span."""
    for i in range(count):
        start = place_of(known, i)
        if wp.length(place - start) <= away:
            return False
        for j in range(i):
            edge = place_of(known, j) - start
            along = wp.dot(place - start, edge)
            if along > wp.float64(0.0) and along < wp.dot(edge, edge):
                if wp.abs(across(edge, place - start)) <= away * wp.length(edge):
                    return False
            for k in range(j):
                side = across(edge, place - start)
                third = place_of(known, k)
                next_side = across(third - place_of(known, j), place - place_of(known, j))
                last_side = across(start - third, place - third)
                if side * next_side > wp.float64(0.0) and side * last_side > wp.float64(0.0):
                    return False
    return True


@wp.func(module=MODULE)
def deepest_place(
    shapes: ShapeArrays, side_a: Side, side_b: Side, enough: wp.float64, known: Places, count: int, away: wp.float64
):  # fmt: skip
    """Place where the gap of two faces is least, and the gap there, if it is below ``enough``; else beyond all.

    It lies beyond what the first ``count`` places ``known`` span, by ``away``.
    """
    place = wp.vec2d()
    least = enough
    both = int(2)  # not a constant: unrolled, NVRTC takes three times as long for the module
    for s in range(both):
        side = side_a
        if s == 1:
            side = side_b
        for k in range(side.end - side.first):
            candidate = corner_of(shapes, side, k)
            gap = gap_below(shapes, side_a, side_b, candidate, least)
            if gap < least and beyond(candidate, known, count, away):
                least = gap
                place = candidate
    for i in range(side_a.end - side_a.first):
        start = corner_of(shapes, side_a, i)
        d = corner_of(shapes, side_a, i + 1) - start
        for j in range(side_b.end - side_b.first):
            other = corner_of(shapes, side_b, j)
            e = corner_of(shapes, side_b, j + 1) - other
            turn = across(d, e)
            if wp.abs(turn) > hair * wp.length(d) * wp.length(e):
                candidate = start + (across(other - start, e) / turn) * d
                gap = gap_below(shapes, side_a, side_b, candidate, least)
                if gap < least and beyond(candidate, known, count, away):
                    least = gap
                    place = candidate
    return place, wp.where(least < enough, least, far)


@wp.func(module=MODULE)
def lifted(side: Side, place: wp.vec2d):
    """World point of the face's plane at a place, from b's origin."""
    return turned_back(side.axes, wp.vec3d(place[0], place[1], height(side, place)))


@wp.func(module=MODULE)
def write_corner(
    fresh: FreshArrays, slot: int, poses: PoseArrays, a: int, b: int, side_a: Side, side_b: Side, place: wp.vec2d
):  # fmt: skip
    """Write a corner of bodies a and b, in their frames, to ``slot``."""
    fresh.corner_a[slot] = turned_back(poses.rotation[a], lifted(side_a, place) - side_a.origin)
    fresh.corner_b[slot] = turned_back(poses.rotation[b], lifted(side_b, place))


@wp.func(module=MODULE)
def spanned(shapes: ShapeArrays, side: Side):
    """How many corners span a face."""
    return shapes.span_start[side.face + 1] - shapes.span_start[side.face]


@wp.func(module=MODULE)
def add_corners(
    stage: StageArrays, points: PointArrays, first: int, last: int, count: int, least: wp.float64, reach: wp.float64,
    poses: PoseArrays, shapes: ShapeArrays, fresh: FreshArrays, k: int,
):  # fmt: skip
    """How many corners join a pair, whose points in the bodies' frames go to ``fresh``, from place CORNERS k on.

    first, last: the pair's contacts, ``count`` of them good, the first one, too; least: the smallest gap of them all;
    reach: gap below which corners of hulls join; those of other shapes join as far as a step may swing them.
    """
    a = points.body_a[first]
    b = points.body_b[first]
    shape_a = int(points.pair[first] % wp.int64(shapes.count))
    shape_b = int(points.pair[first] // wp.int64(shapes.count))
    step = stage.settings[step_slot]
    of_hulls = shapes.hull[shape_a] or shapes.hull[shape_b]
    hulls = of_hulls and step > wp.float64(0.0) and step * wp.length(poses.angular[a] - poses.angular[b]) <= calm
    room = reach
    if not of_hulls:
        room = swing_room(stage, points, first, poses)
    swinging = room > wp.float64(0.0) and not of_hulls
    if count < reduced and not hulls and not swinging:
        return 0
    normal = poses.rotation[b] * points.normal[first]
    on_a = -turned_back(poses.rotation[a], normal)
    on_b = points.normal[first]
    cosine = wp.where(hulls, leaning, wp.where(swinging, swings, flat))
    face_a = nearest_face(shapes, shape_a, on_a, cosine)
    face_b = nearest_face(shapes, shape_b, on_b, cosine)
    if face_a < 0 or face_b < 0:
        return 0
    side_a, side_b = sides_along(shapes, face_a, face_b, poses, a, b, normal)
    bound = wp.max(bound_of(shapes, side_a, side_a, side_b), bound_of(shapes, side_b, side_a, side_b))
    lean = wp.min(wp.dot(shapes.polygon_normal[face_a], on_a), wp.dot(shapes.polygon_normal[face_b], on_b))
    # Of faces of many corners outlines.py tells as much.
    if hulls and lean > flat and wp.max(spanned(shapes, side_a), spanned(shapes, side_b)) > few:
        return 0
    enough = least - noise * points.size[first]
    known = Places()
    places = int(0)
    added = int(0)
    if count >= reduced and lean > flat and bound < enough:  # the deepest of all joins wherever it lies
        place, gap = deepest_place(shapes, side_a, side_b, enough, known, 0, wp.float64(0.0))
        if gap < far:
            write_corner(fresh, most_corners * k, poses, a, b, side_a, side_b, place)
            known[0, 0] = place[0]
            known[0, 1] = place[1]
            places = 1
            added = 1
    swinging = swinging and lean <= flat
    if not ((hulls or swinging) and bound < room):
        return added
    for m in range(first, last):
        if fresh.good[m] and places < added + most_found:
            at = seen(side_a, points.point_a[m])
            known[places, 0] = at[0]
            known[places, 1] = at[1]
            places += 1
    while added < most_corners:
        place, gap = deepest_place(shapes, side_a, side_b, room, known, places, apart * points.size[first])
        if not gap < far:
            break
        write_corner(fresh, most_corners * k + added, poses, a, b, side_a, side_b, place)
        known[places, 0] = place[0]
        known[places, 1] = place[1]
        places += 1
        added += 1
    return added
