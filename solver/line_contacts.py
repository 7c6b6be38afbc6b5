# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts along the line on which two cylinders or capsules lie on each other that are nearly parallel.

Detection tells the one place where they are nearest.  Where two logs of 1 m are a hundredth of a radian off being
parallel, that place runs from one end to the other as one rolls a little: held there alone, the other end comes
millimetres deep within a step, unseen, and the logs never rest.  So both ends of the part where they lie beside each
other are contacts, too, and up to three places between: each has the direction in which the axes are apart there.

Between two places d apart, of axes an angle t off, they come d^2 t^2 / (16 r) deep at most, r being the smaller radius.
"""

import warp as wp

from .contact_arrays import PointArrays, PoseArrays, ShapeArrays
from .round_sides import MODULE

PARALLEL = 0.3  # sine of the angle between the axes: beyond it, the ends are far from each other
LEAST = 0.05  # of a pair's size: what is nearer to a contact there is, or to another end, tells nothing new
LYING = 0.05  # of the radius: capsules farther from each other meet at one place, which is found on their way
HAIR = 1e-4  # of the radius: deeper than that they are not to be between two places
PLACES = 5
TURNS = 3  # looks for the ends that face each other; each is nearer by the sine of the angle between the axes

zero, one, up = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0)), wp.constant(wp.vec3d(0.0, 0.0, 1.0))
half, parallel, least, lying, hair, sixteen = (
    wp.constant(wp.float64(value)) for value in (0.5, PARALLEL, LEAST, LYING, HAIR, 16.0)
)
places = wp.constant(PLACES)


@wp.struct
class Axis:
    """The straight part of a round shape, in world axes."""

    middle: wp.vec3d
    along: wp.vec3d
    half: wp.float64  # its length [m]


@wp.struct
class LinePoint:
    """One contact of a line: points on the axes and radii, in the bodies' frames, and the normal in body b's."""

    good: bool
    point_a: wp.vec3d
    point_b: wp.vec3d
    margin_a: wp.float64
    margin_b: wp.float64
    normal: wp.vec3d


@wp.func(module=MODULE)
def axis_of(poses: PoseArrays, shapes: ShapeArrays, body: int, shape: int):
    """The Axis of a shape."""
    out = Axis()
    rotation = poses.rotation[body]
    out.middle = poses.position[body] + rotation * shapes.place[shape]
    out.along = rotation * (shapes.rotation[shape] * up)
    out.half = shapes.straight[shape]
    return out


@wp.func(module=MODULE)
def wanted(place: int, width: wp.float64):
    """Whether one of PLACES is, where lines are so many times apart of what two ends may leave between them."""
    if place % 4 == 0:
        return True
    return width > wp.where(place == 2, one, wp.float64(2.0))


@wp.func(module=MODULE)
def beside_each_other(a: Axis, b: Axis, at: wp.float64, half_a: wp.float64, half_b: wp.float64):
    """The place ``at`` [m] on axis a, and that of b which is nearest; each no farther from its middle than a half."""
    on_a = a.middle + wp.clamp(at, -half_a, half_a) * a.along
    on_b = b.middle + wp.clamp(wp.dot(on_a - b.middle, b.along), -half_b, half_b) * b.along
    return on_a, on_b


@wp.func(module=MODULE)
def line_point(points: PointArrays, k: int, last: int, place: int, poses: PoseArrays, shapes: ShapeArrays):
    """The LinePoint at one of PLACES of the pair of contacts k to ``last``, exclusive, which are between two axes, as
    round_sides.py has them, or points with a radius around them.

    It is not good where the pair has none, or where one of them is already.
    """
    out = LinePoint()
    shape_a = int(points.pair[k] % wp.int64(shapes.count))
    shape_b = int(points.pair[k] // wp.int64(shapes.count))
    if shapes.straight[shape_a] == zero or shapes.straight[shape_b] == zero:
        return out
    body_a = points.body_a[k]
    body_b = points.body_b[k]
    a = axis_of(poses, shapes, body_a, shape_a)
    b = axis_of(poses, shapes, body_b, shape_b)
    sine = wp.length(wp.cross(a.along, b.along))
    if sine > parallel:
        return out
    beside = wp.dot(b.middle - a.middle, a.along)
    reach = wp.abs(wp.dot(a.along, b.along)) * b.half
    first = wp.max(-a.half, beside - reach)
    length = wp.min(a.half, beside + reach) - first
    # That of a contact on a rim is larger, as round_sides.py has it: barrels seemed to be 0.6 m in each other.
    margin_a = wp.where(shapes.side[shape_a][0] > zero, shapes.side[shape_a][0], points.margin_a[k])
    margin_b = wp.where(shapes.side[shape_b][0] > zero, shapes.side[shape_b][0], points.margin_b[k])
    radius = wp.min(margin_a, margin_b)
    if length < least * points.size[k] or not wanted(place, length * sine / (wp.sqrt(sixteen * hair) * radius)):
        return out
    at = first + length * wp.float64(place) / wp.float64(places - 1)
    on_a, on_b = beside_each_other(a, b, at, a.half, b.half)
    for _ in range(TURNS):
        # What faces the other one is to be of the side, and not of the ball around the end of its axis.
        away = wp.normalize(on_a - on_b)
        half_a = a.half - wp.where(shapes.side[shape_a][0] > zero, margin_a * wp.abs(wp.dot(away, a.along)), zero)
        half_b = b.half - wp.where(shapes.side[shape_b][0] > zero, margin_b * wp.abs(wp.dot(away, b.along)), zero)
        if half_a < zero or half_b < zero:
            return out
        on_a, on_b = beside_each_other(a, b, at, half_a, half_b)
    apart = wp.length(on_a - on_b)
    radii = margin_a + margin_b
    if apart < half * radii:
        return out
    # Where a capsule is about, contacts in flight are found for pairs of one contact (round_impacts.py).
    capsule = shapes.side[shape_a][0] == zero or shapes.side[shape_b][0] == zero
    if capsule and apart > radii + lying * radius:
        return out
    for m in range(k, last):
        there = poses.position[body_a] + poses.rotation[body_a] * points.point_a[m]
        if wp.abs(wp.dot(there - on_a, a.along)) < least * points.size[k]:
            return out
    away = (on_a - on_b) / apart
    if wp.dot(away, poses.rotation[body_b] * points.normal[k]) < half:
        return out
    out.good = True
    out.point_a = wp.transpose(poses.rotation[body_a]) * (on_a - poses.position[body_a])
    out.point_b = wp.transpose(poses.rotation[body_b]) * (on_b - poses.position[body_b])
    out.margin_a = margin_a
    out.margin_b = margin_b
    out.normal = wp.transpose(poses.rotation[body_b]) * away
    return out
