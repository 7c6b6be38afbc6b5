# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts at both ends of the line on which a cylinder or capsule lies on a flat face.

Detection tells one place of that line, as all are as near: a tin on a crate was held in its middle alone, one of its
ends sank through the lid in each step, was found at the end, and the tin tipped from end to end and turned aside as it
rolled.  So the ends of the part of its axis that is above the face are contacts, too.
"""

import warp as wp

from .contact_arrays import PointArrays, PoseArrays, ShapeArrays
from .contact_geometry import turned_back
from .face_corners import FLAT, nearest_face
from .line_contacts import LEAST, LYING, PLACES, LinePoint, line_point
from .round_sides import LINE, MODULE

zero, one, up = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0)), wp.constant(wp.vec3d(0.0, 0.0, 1.0))
flat, least, lying, line = (wp.constant(wp.float64(value)) for value in (FLAT, LEAST, LYING, LINE))
last_place = wp.constant(PLACES - 1)


@wp.func(module=MODULE)
def part_above(shapes: ShapeArrays, face: int, middle: wp.vec3d, axis: wp.vec3d, half: wp.float64):
    """First and last place [m] along an axis, no farther than ``half`` from its middle, that are above a face."""
    first = -half
    last = half
    begin = shapes.polygon_start[face]
    end = shapes.polygon_start[face + 1]
    inside = wp.vec3d()
    for k in range(begin, end):
        inside += shapes.corner[k] / wp.float64(end - begin)
    for k in range(begin, end):
        corner = shapes.corner[k]
        following = shapes.corner[wp.where(k + 1 == end, begin, k + 1)]
        inward = wp.cross(shapes.polygon_normal[face], following - corner)
        if wp.dot(inward, inside - corner) < zero:
            inward = -inward
        height = wp.dot(inward, middle - corner)
        rise = wp.dot(inward, axis)
        if rise > zero:
            first = wp.max(first, -height / rise)
        elif rise < zero:
            last = wp.min(last, -height / rise)
        elif height < zero:
            last = first
    return first, last


@wp.func(module=MODULE)
def face_line_point(points: PointArrays, k: int, last: int, place: int, poses: PoseArrays, shapes: ShapeArrays):
    """The LinePoint at one of PLACES, of which the first and the last count, of the pair of contacts k to ``last``,
    exclusive, the first of which is between an axis and a surface.

    It is not good where they do not lie on each other along a line, or where one of the contacts is there already.
    """
    out = LinePoint()
    if place > 0 and place < last_place:
        return out
    a = points.body_a[k]
    b = points.body_b[k]
    shape = int(points.pair[k] % wp.int64(shapes.count))
    ground = int(points.pair[k] // wp.int64(shapes.count))
    body = a
    below = b
    margin = points.margin_a[k]
    upward = poses.rotation[b] * points.normal[k]
    a_lies = margin > zero
    if not a_lies:
        shape, ground = ground, shape
        body, below = b, a
        margin = points.margin_b[k]
        upward = -upward
    if shapes.straight[shape] == zero:
        return out
    face = nearest_face(shapes, ground, turned_back(poses.rotation[below], upward), flat)
    if face < 0:
        return out
    outward = shapes.polygon_normal[face]
    own_axis = shapes.rotation[shape] * up
    turn = wp.transpose(poses.rotation[below]) * poses.rotation[body]
    axis = turn * own_axis
    middle = turned_back(poses.rotation[below], poses.position[body] - poses.position[below])
    middle += turn * shapes.place[shape]
    lean = wp.dot(axis, outward)
    height = wp.dot(middle, outward) - shapes.polygon_offset[face]
    capsule = shapes.side[shape][0] == zero
    # Contacts of capsules in flight are found for pairs of one contact (round_impacts.py).
    if wp.abs(lean) > line or (capsule and height > (one + lying) * margin + wp.abs(lean) * shapes.straight[shape]):
        return out
    begin, end = part_above(shapes, face, middle, axis, shapes.straight[shape])
    if end - begin < least * points.size[k]:
        return out
    at = wp.where(place == 0, begin, end)
    if not capsule:
        at += margin * lean  # the lowest place of the rim, seen from the axis
    for m in range(k, last):
        known = points.point_a[m]
        on_axis = points.margin_a[m] > zero
        if not a_lies:
            known = points.point_b[m]
            on_axis = points.margin_b[m] > zero
        if on_axis and wp.abs(wp.dot(known - shapes.place[shape], own_axis) - at) < least * points.size[k]:
            return out
    there = middle + at * axis
    own = shapes.place[shape] + at * own_axis
    foot = there - (wp.dot(there, outward) - shapes.polygon_offset[face]) * outward
    out.good = True
    out.normal = points.normal[k]
    if a_lies:
        out.point_a = own
        out.margin_a = margin
        out.point_b = foot
    else:
        out.point_b = own
        out.margin_b = margin
        out.point_a = foot
    return out


@wp.func(module=MODULE)
def point_on_line(points: PointArrays, k: int, last: int, place: int, poses: PoseArrays, shapes: ShapeArrays):
    """The LinePoint at one of PLACES of the pair of contacts k to ``last``, exclusive, of which the first is good."""
    if points.margin_a[k] > zero and points.margin_b[k] > zero:
        return line_point(points, k, last, place, poses, shapes)
    if points.margin_a[k] > zero or points.margin_b[k] > zero:
        return face_line_point(points, k, last, place, poses, shapes)
    return LinePoint()
