# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts on the rim of a round end that lies flat on a face: of cylinders and cones that stand.

Detection tells three or four places of such a rim, others from step to step.  Between two of them, 120 degrees apart,
what stands is held at half its radius alone: a tin whose weight pulled it over its rim at 0.8 of what tips it leaned by
half a degree, rocked from place to place, and walked.  So RIM places of the rim, fixed to the body, are contacts, too,
where they are above the other face: 2 % of the radius at most is left out between two of them.  Where the face ends
below the rim, the places where its edges cross the rim join them, and its corners below the round end.

What turns in a step by more than from one of these places to the next gets none: they go with the body, and off the
other face, where only that face's plane holds them.  Wheels flush with the body they hang on lost twice the spin.
"""

import numpy as np
import warp as wp

from .contact_arrays import CORNERS, STEP, FreshArrays, PointArrays, PoseArrays, ShapeArrays, StageArrays
from .contact_geometry import turned_back
from .face_corners import FLAT, Side, across, corner_of, holds, lifted, nearest_face, seen, sides_along, spanned
from .face_places import FEW
from .line_contacts import LinePoint
from .outlines import outline_place, outline_places
from .round_sides import MODULE

RIM = 16  # places of a rim
PART = 2.0 * np.pi / RIM  # [rad] from one to the next
CROSSINGS = 8  # with the edges of a face
MOST_CORNERS = 16  # of a face, below a round end
PLACES = 2 * RIM + CROSSINGS + MOST_CORNERS
TWINS = 0.5  # of the way from one place of a rim to the next: places of two rims nearer than that are one
KNOWN = 0.05  # of the smaller radius: nearer to what detection tells it is that

zero, one, two = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0)), wp.constant(wp.float64(2.0))
up = wp.constant(wp.vec3d(0.0, 0.0, 1.0))
flat, hair = wp.constant(wp.float64(FLAT)), wp.constant(wp.float64(1e-9))
known_near, twins = wp.constant(wp.float64(KNOWN)), wp.constant(wp.float64(TWINS * PART))
rim, crossings, most_corners, rim_places = (wp.constant(number) for number in (RIM, CROSSINGS, MOST_CORNERS, PLACES))
pair_corners, step_slot, few = wp.constant(CORNERS), wp.constant(STEP), wp.constant(FEW)
part = wp.constant(wp.float64(PART))


@wp.struct
class Disc:
    """A round end, seen along a contact's normal as its Side is; of other faces the radius is 0."""

    radius: wp.float64
    place: wp.vec2d  # of its middle
    center: wp.vec3d  # in the body's frame
    frame: wp.mat33d  # of the shape, in the body's


@wp.struct
class RimPair:
    """Two faces that lie on each other, one of them round at least, or both polygons, one of many corners at least."""

    good: bool
    polygons: bool
    breadth: wp.float64  # the smaller radius, or half breadth
    number: int  # of places that may be
    side_a: Side
    side_b: Side
    disc_a: Disc
    disc_b: Disc


@wp.func(module=MODULE)
def disc_of(shapes: ShapeArrays, shape: int, side: Side):
    """The Disc of a shape's face."""
    out = Disc()
    if shapes.side[shape][0] == zero:
        return out
    out.frame = shapes.rotation[shape]
    middle = shapes.place[shape]
    outward = shapes.polygon_normal[side.face]
    out.center = middle + (shapes.polygon_offset[side.face] - wp.dot(outward, middle)) * outward
    out.radius = shapes.side[shape][0] + shapes.side[shape][1] * wp.dot(out.center - middle, out.frame * up)
    out.place = seen(side, out.center)
    return out


@wp.func(module=MODULE)
def rim_pair(stage: StageArrays, points: PointArrays, k: int, poses: PoseArrays, shapes: ShapeArrays):
    """The RimPair of the two shapes of contact k; it is not good where no face of them that is round or has many
    corners lies flat on another one, or where they turn too far against each other in the step.
    """
    out = RimPair()
    shape_a = int(points.pair[k] % wp.int64(shapes.count))
    shape_b = int(points.pair[k] // wp.int64(shapes.count))
    round_a = shapes.side[shape_a][0] > zero
    round_b = shapes.side[shape_b][0] > zero
    if not (round_a or round_b or shapes.many[shape_a] or shapes.many[shape_b]):
        return out
    a = points.body_a[k]
    b = points.body_b[k]
    if stage.settings[step_slot] * wp.length(poses.angular[a] - poses.angular[b]) > part:
        return out
    normal = poses.rotation[b] * points.normal[k]
    on_a = -turned_back(poses.rotation[a], normal)
    face_a = int(-1)
    face_b = int(-1)
    if round_a:
        face_a = nearest_face(shapes, shape_a, on_a, flat)
        if face_a >= 0:
            face_b = nearest_face(shapes, shape_b, points.normal[k], flat)
    else:
        face_b = nearest_face(shapes, shape_b, points.normal[k], flat)
        if face_b >= 0:
            face_a = nearest_face(shapes, shape_a, on_a, flat)
    if face_a < 0 or face_b < 0:
        return out
    side_a, side_b = sides_along(shapes, face_a, face_b, poses, a, b, normal)
    out.side_a = side_a
    out.side_b = side_b
    out.disc_a = disc_of(shapes, shape_a, side_a)
    out.disc_b = disc_of(shapes, shape_b, side_b)
    out.polygons = not (round_a or round_b)
    out.good = not out.polygons or wp.max(spanned(shapes, side_a), spanned(shapes, side_b)) > few
    out.number = wp.where(out.polygons, outline_places, rim_places)
    out.breadth = wp.max(out.disc_a.radius, out.disc_b.radius)
    if round_a and round_b:
        out.breadth = wp.min(out.disc_a.radius, out.disc_b.radius)
    if out.polygons:
        out.breadth = wp.min(shapes.breadth[face_a], shapes.breadth[face_b])
    return out


@wp.func(module=MODULE)
def on_rim(disc: Disc, number: int):
    """One of RIM places, in the body's frame."""
    angle = part * wp.float64(number)
    return disc.center + disc.radius * (disc.frame * wp.vec3d(wp.cos(angle), wp.sin(angle), zero))


@wp.func(module=MODULE)
def above(shapes: ShapeArrays, side: Side, disc: Disc, place: wp.vec2d):
    """Whether a place is on the face."""
    if disc.radius > zero:
        return wp.length(place - disc.place) <= (one + hair) * disc.radius
    return holds(shapes, side, place)


@wp.func(module=MODULE)
def is_twin(shapes: ShapeArrays, side: Side, disc: Disc, other: Side, around: Disc, place: wp.vec2d):
    """Whether one of the places of a rim that are above the ``other`` face is the same as a place of the other rim."""
    if disc.radius == zero:
        return False
    for number in range(rim):
        own = seen(side, on_rim(disc, number))
        if wp.length(own - place) < twins * wp.min(disc.radius, around.radius) and above(shapes, other, around, own):
            return True
    return False


@wp.func(module=MODULE)
def rims_cross(one_disc: Disc, other: Disc, number: int):
    """The place where two rims cross, the first or the second; and whether they do."""
    apart = other.place - one_disc.place
    away = wp.length(apart)
    radius = one_disc.radius
    if away <= hair * radius or number > 1:
        return wp.vec2d(), False
    along = (away * away + radius * radius - other.radius * other.radius) / (two * away)
    square = radius * radius - along * along
    if square <= zero:
        return wp.vec2d(), False
    beside = wp.sqrt(square) * wp.where(number == 0, one, -one) / away
    return one_disc.place + (along / away) * apart + beside * wp.vec2d(-apart[1], apart[0]), True


@wp.func(module=MODULE)
def edge_crosses(shapes: ShapeArrays, side: Side, disc: Disc, number: int):
    """The place where an edge of a face crosses a rim, one of CROSSINGS; and whether there is one."""
    found = int(0)
    for k in range(side.end - side.first):
        start = corner_of(shapes, side, k)
        way = corner_of(shapes, side, k + 1) - start
        square = wp.dot(way, way)
        away = across(way, start - disc.place)
        room = disc.radius * disc.radius * square - away * away
        if room > zero:
            for s in range(2):
                share = (wp.where(s == 0, -wp.sqrt(room), wp.sqrt(room)) - wp.dot(way, start - disc.place)) / square
                if share >= zero and share < one:
                    if found == number:
                        return start + share * way, True
                    found += 1
    return wp.vec2d(), False


@wp.func(module=MODULE)
def corner_below(shapes: ShapeArrays, side: Side, disc: Disc, number: int):
    """A corner of a face below a round end, one of MOST_CORNERS; and whether it is there."""
    count = side.end - side.first
    chosen = number
    if count > most_corners:
        chosen = number * count // most_corners
    elif number >= count:
        return wp.vec2d(), False
    place = corner_of(shapes, side, chosen)
    return place, wp.length(place - disc.place) < disc.radius


@wp.func(module=MODULE)
def rim_place(shapes: ShapeArrays, pair: RimPair, place: int):
    """Where one of a pair's places is across the normal, and whether it is there."""
    none = wp.vec2d()
    if pair.polygons:
        at, there = outline_place(shapes, pair.side_a, pair.side_b, pair.breadth, place)
        return at, there
    if place < rim:
        if pair.disc_a.radius == zero:
            return none, False
        at = seen(pair.side_a, on_rim(pair.disc_a, place))
        return at, above(shapes, pair.side_b, pair.disc_b, at)
    if place < 2 * rim:
        if pair.disc_b.radius == zero:
            return none, False
        at = seen(pair.side_b, on_rim(pair.disc_b, place - rim))
        if not above(shapes, pair.side_a, pair.disc_a, at):
            return none, False
        return at, not is_twin(shapes, pair.side_a, pair.disc_a, pair.side_b, pair.disc_b, at)
    number = place - 2 * rim
    if pair.disc_a.radius > zero and pair.disc_b.radius > zero:
        at, there = rims_cross(pair.disc_a, pair.disc_b, number)
        return at, there
    disc = pair.disc_a
    side = pair.side_b
    if pair.disc_a.radius == zero:
        disc = pair.disc_b
        side = pair.side_a
    if number < crossings:
        at, there = edge_crosses(shapes, side, disc, number)
        return at, there
    at, there = corner_below(shapes, side, disc, number - crossings)
    return at, there


@wp.func(module=MODULE)
def rim_point(
    points: PointArrays, fresh: FreshArrays, k: int, first: int, last: int, pair: RimPair, place: int,
    poses: PoseArrays, shapes: ShapeArrays,
):  # fmt: skip
    """The LinePoint at one of the places of the pair of contacts k to ``last``, exclusive, of which ``first`` is good.

    It is not good where there is none, or where one of the contacts or corners of the pair is there already.
    """
    out = LinePoint()
    at, there = rim_place(shapes, pair, place)
    if not there:
        return out
    near = known_near * pair.breadth
    for m in range(first, last):
        if fresh.good[m] and wp.length(seen(pair.side_a, points.point_a[m]) - at) < near:
            return out
    for m in range(fresh.corners[k]):
        if wp.length(seen(pair.side_a, fresh.corner_a[pair_corners * k + m]) - at) < near:
            return out
    a = points.body_a[first]
    b = points.body_b[first]
    out.good = True
    out.point_a = turned_back(poses.rotation[a], lifted(pair.side_a, at) - pair.side_a.origin)
    out.point_b = turned_back(poses.rotation[b], lifted(pair.side_b, at))
    out.normal = points.normal[first]
    return out
