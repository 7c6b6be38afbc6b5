# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts on the round side of a cylinder or cone: seen from its axis, so that it rolls.

A point of the surface turns away from the contact within a step: at 24 frames a second that of a rolling wheel ends
centimetres ahead of it, and its force slows the wheel.  As for balls and capsules, the contact is a point inside with a
rounding radius around it: that where the line of the normal meets the axis, which rolling leaves where it is.

    c = p - rho o    rho = r / s    r: radius of the side there    s: length of o square to the axis

with p on the side, o the outward normal there and c on the axis.  That holds for turns about the axis alone: a body
that tips over its rim turns about p, so contacts on a rim stay what they are unless it rolls more than it tips.
"""

import warp as wp

from .contact_arrays import PointArrays, PoseArrays, ShapeArrays
from .contact_geometry import MODULE

LINE = 0.02  # sine of the angle between normal and side below which they touch along a line
STEEPEST = 0.3  # s, where a body that rolls on a rim leans so much that it rather tips
BESIDE = 0.2  # of r: how far newton's point may be from where the normal points

zero, up = wp.constant(wp.float64(0.0)), wp.constant(wp.vec3d(0.0, 0.0, 1.0))
line, steepest = wp.constant(wp.float64(LINE)), wp.constant(wp.float64(STEEPEST))
beside = wp.constant(wp.float64(BESIDE))


@wp.func(module=MODULE)
def seen_from_axis(shapes: ShapeArrays, shape: int, point: wp.vec3d, outward: wp.vec3d, spin: wp.vec3d):
    """(point on the axis, rounding radius) of a contact, or (point, 0) where it is not on a round side.

    point: of the surface; outward: normal; spin: relative to what is touched; all in the body's frame.
    """
    side = shapes.side[shape]
    axis = shapes.rotation[shape] * up
    along = wp.dot(outward, axis)
    across = outward - along * axis
    s = wp.length(across)
    rolling = wp.dot(spin, axis)
    lies = wp.abs(along + side[1] * s) < line
    if side[0] == zero or s < steepest or not (lies or wp.abs(rolling) > wp.length(spin - rolling * axis)):
        return point, zero
    arm = point - shapes.place[shape]
    height = wp.dot(arm, axis)
    radius = side[0] + side[1] * height
    if radius <= zero or wp.length(arm - height * axis - (radius / s) * across) > beside * radius:
        return point, zero
    rho = radius / s
    return shapes.place[shape] + (height - rho * along) * axis, rho


@wp.func(module=MODULE)
def round_contact(points: PointArrays, k: int, poses: PoseArrays, shapes: ShapeArrays):
    """Put both points of a fresh contact onto the axes of round sides."""
    a = points.body_a[k]
    b = points.body_b[k]
    count = wp.int64(shapes.count)
    normal = poses.rotation[b] * points.normal[k]
    spin = poses.angular[a] - poses.angular[b]
    if points.margin_a[k] == zero:
        back = wp.transpose(poses.rotation[a])
        point, margin = seen_from_axis(
            shapes, int(points.pair[k] % count), points.point_a[k], -(back * normal), back * spin
        )
        points.point_a[k] = point
        points.margin_a[k] = margin
    if points.margin_b[k] == zero:
        back = wp.transpose(poses.rotation[b])
        point, margin = seen_from_axis(
            shapes, int(points.pair[k] // count), points.point_b[k], points.normal[k], back * spin
        )
        points.point_b[k] = point
        points.margin_b[k] = margin
