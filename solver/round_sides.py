# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts on the round side of a cylinder or cone: seen from its axis, so that it rolls.

A point of the surface turns away from the contact within a step: at 24 frames a second that of a rolling wheel ends
centimetres ahead of it, and its force slows the wheel.  As for balls and capsules, the contact is a point inside with a
rounding radius around it: that where the line of the normal meets the axis, which rolling leaves where it is.

    c = p - rho o    rho = r / s    r: radius of the side there    s: length of o square to the axis

with p on the side, o the outward normal there and c on the axis.  That holds for turns about the axis alone: a body
that tips over its rim turns about p, so contacts on a rim stay what they are unless it rolls more than it tips.
"""

import numpy as np
import warp as wp

from .contact_arrays import PointArrays, PoseArrays, ShapeArrays
from .flags import some

MODULE = "axion_round_contacts"
wp.get_module(MODULE).options["max_unroll"] = 1  # unrolled, NVRTC takes ten times as long for it
LINE = 0.02  # sine of the angle between normal and side below which they touch along a line
STEEPEST = 0.3  # s, where a body that rolls on a rim leans so much that it rather tips
BESIDE = 0.2  # of r: how far newton's point may be from where the normal points

zero, up = wp.constant(wp.float64(0.0)), wp.constant(wp.vec3d(0.0, 0.0, 1.0))
line, steepest = wp.constant(wp.float64(LINE)), wp.constant(wp.float64(STEEPEST))
beside = wp.constant(wp.float64(BESIDE))


@wp.func(module=MODULE)
def seen_from_axis(shapes: ShapeArrays, shape: int, point: wp.vec3d, outward: wp.vec3d, spin: wp.vec3d):
    """(point on the axis, rounding radius) of a contact, or (point, 0) where it is not on a round side; and whether it
    is aside, though the body lies on that side: no lower than the line it lies on, and there before it by a turn.

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
        return point, zero, False
    arm = point - shapes.place[shape]
    height = wp.dot(arm, axis)
    radius = side[0] + side[1] * height
    if radius <= zero:
        return point, zero, False
    if wp.length(arm - height * axis - (radius / s) * across) > beside * radius:
        return point, zero, lies
    rho = radius / s
    return shapes.place[shape] + (height - rho * along) * axis, rho, False


@wp.func(module=MODULE)
def on_core(shapes: ShapeArrays, shape: int, point: wp.vec3d):
    """The place on the straight part of a capsule that is nearest to a point; of other shapes the point itself.

    newton tells it in single precision: off the axis by a thousandth of the radius it goes up and down as the capsule
    rolls.
    """
    straight = shapes.straight[shape]
    if straight == zero or shapes.side[shape][0] > zero:
        return point
    axis = shapes.rotation[shape] * up
    place = shapes.place[shape]
    return place + wp.clamp(wp.dot(point - place, axis), -straight, straight) * axis


@wp.func(module=MODULE)
def round_contact(points: PointArrays, k: int, poses: PoseArrays, shapes: ShapeArrays):
    """Put both points of a fresh contact onto the axes of round sides.  Whether one of them is aside of one."""
    a = points.body_a[k]
    b = points.body_b[k]
    count = wp.int64(shapes.count)
    normal = poses.rotation[b] * points.normal[k]
    spin = poses.angular[a] - poses.angular[b]
    aside = bool(False)
    if points.margin_a[k] == zero:
        back = wp.transpose(poses.rotation[a])
        point, margin, aside_a = seen_from_axis(
            shapes, int(points.pair[k] % count), points.point_a[k], -(back * normal), back * spin
        )
        points.point_a[k] = point
        points.margin_a[k] = margin
        aside = aside or aside_a
    else:
        points.point_a[k] = on_core(shapes, int(points.pair[k] % count), points.point_a[k])
    if points.margin_b[k] == zero:
        back = wp.transpose(poses.rotation[b])
        point, margin, aside_b = seen_from_axis(
            shapes, int(points.pair[k] // count), points.point_b[k], points.normal[k], back * spin
        )
        points.point_b[k] = point
        points.margin_b[k] = margin
        aside = aside or aside_b
    else:
        points.point_b[k] = on_core(shapes, int(points.pair[k] // count), points.point_b[k])
    return aside


def axis_points(model, shape, point, outward, spin):
    """``seen_from_axis`` of K contacts in NumPy: (points (K, 3), radii (K,))."""
    if not some(model.shape_side[shape, 0]):
        return point, np.zeros(len(shape))
    foot, radius, across, is_round = _side(model, shape, point, outward, spin)
    rho = np.where(is_round, radius / np.where(is_round, np.linalg.norm(across, axis=1), 1.0), 0.0)
    is_round &= np.linalg.norm(point - foot - rho[:, None] * across, axis=1) <= BESIDE * radius
    inner = foot + rho[:, None] * (across - outward)
    return np.where(is_round[:, None], inner, point), np.where(is_round, rho, 0.0)


def side_points(model, shape, point, outward, spin):
    """Points (K, 3) of round sides at the height of ``point`` that face ``outward``; elsewhere ``point`` itself."""
    foot, radius, across, is_round = _side(model, shape, point, outward, spin)
    length = np.where(is_round, np.linalg.norm(across, axis=1), 1.0)
    return np.where(is_round[:, None], foot + (radius / length)[:, None] * across, point)


def _side(model, shape, point, outward, spin):
    """Where the height of a point lies on the axis, radius of the side there, the part of ``outward`` square to the
    axis, and whether a contact with that normal is on a round side, wherever on it.
    """
    side, place = model.shape_side[shape], model.shape_position[shape]
    axis = model.shape_rotation[shape][:, :, 2]
    along, rolling, height = (np.einsum("ki,ki->k", axis, each) for each in (outward, spin, point - place))
    across = outward - along[:, None] * axis
    s, radius = np.linalg.norm(across, axis=1), side[:, 0] + side[:, 1] * height
    rolls = np.abs(rolling) > np.linalg.norm(spin - rolling[:, None] * axis, axis=1)
    lies = np.abs(along + side[:, 1] * s) < LINE
    is_round = (side[:, 0] > 0.0) & (s >= STEEPEST) & (lies | rolls) & (radius > 0.0)
    return place + height[:, None] * axis, radius, across, is_round
