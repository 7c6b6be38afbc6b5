# SPDX-License-Identifier: GPL-3.0-or-later
"""Warp functions on contact points: where they are, how far apart, how fast they close, whose face they touch."""

import warp as wp

from .contact_arrays import FALL, STEP, ChosenArrays, PointArrays, PoseArrays, ShapeArrays, StageArrays

ALIKE = 1.0 - 1e-6  # cosine above which a contact's normal is a face's: 0.08 degrees
ROUNDED = 1.0 - 1e-11  # cosine above which only newton's single precision tells it from the face's: 4e-6 rad
SWING = 0.4  # of a pair's size: no contact closes from farther off because bodies turn about another one
MODULE = "axion_contacts"

zero, one, two = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0)), wp.constant(wp.float64(2.0))
alike, rounded = wp.constant(wp.float64(ALIKE)), wp.constant(wp.float64(ROUNDED))
swing = wp.constant(wp.float64(SWING))
step_slot, fall_slot = wp.constant(STEP), wp.constant(FALL)


@wp.func(module=MODULE)
def lower_bound(values: wp.array(dtype=wp.int64), count: int, wanted: wp.int64):
    """Index of the first of ``count`` ascending values that is not below ``wanted``."""
    low = int(0)
    high = int(count)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@wp.func(module=MODULE)
def turned_back(rotation: wp.mat33d, v: wp.vec3d):
    """Vector v turned by the inverse of a rotation."""
    return wp.transpose(rotation) * v


@wp.func(module=MODULE)
def seen_from_b(points: PointArrays, k: int, poses: PoseArrays):
    """point_a of a contact in b's frame."""
    a = points.body_a[k]
    b = points.body_b[k]
    offset = poses.position[a] - poses.position[b]
    return turned_back(poses.rotation[b], offset + poses.rotation[a] * points.point_a[k])


@wp.func(module=MODULE)
def relative_tilt(a: int, b: int, poses: PoseArrays):
    """The orientation of a in b's frame."""
    return wp.transpose(poses.rotation[b]) * poses.rotation[a]


@wp.func(module=MODULE)
def gap_of(points: PointArrays, k: int, poses: PoseArrays):
    """Gap of a contact at the poses."""
    a = points.body_a[k]
    b = points.body_b[k]
    normal = poses.rotation[b] * points.normal[k]
    apart = (
        poses.position[a] - poses.position[b]
        + poses.rotation[a] * points.point_a[k] - poses.rotation[b] * points.point_b[k]
    )  # fmt: skip
    return wp.dot(normal, apart) - points.margin_a[k] - points.margin_b[k]


@wp.func(module=MODULE)
def points_inward(points: PointArrays, k: int, poses: PoseArrays, shapes: ShapeArrays, a: int, b: int):
    """Whether the normal of a contact of two convex shapes may point into both: a place inside of what is convex is
    above its lowest one, though not above all of those of a manifold.
    """
    above_b = wp.dot(points.normal[k], points.point_b[k] - shapes.center[b])
    normal = turned_back(poses.rotation[points.body_a[k]], poses.rotation[points.body_b[k]] * points.normal[k])
    return above_b < zero and wp.dot(normal, shapes.center[a] - points.point_a[k]) < zero


@wp.func(module=MODULE)
def closing_of(points: PointArrays, k: int, poses: PoseArrays):
    """Rate of the gap: n . (v + w x (arm - center)) of a less that of b."""
    a = points.body_a[k]
    b = points.body_b[k]
    normal = poses.rotation[b] * points.normal[k]
    speed = wp.dot(normal, poses.origin_velocity[a] - poses.origin_velocity[b])
    speed += wp.dot(wp.cross(poses.angular[a], poses.rotation[a] * points.point_a[k]), normal)
    return speed - wp.dot(wp.cross(poses.angular[b], poses.rotation[b] * points.point_b[k]), normal)


@wp.func(module=MODULE)
def speed_at(points: PointArrays, k: int, poses: PoseArrays):
    """Speed of a's point relative to b's, in any direction."""
    a = points.body_a[k]
    b = points.body_b[k]
    way = poses.origin_velocity[a] - poses.origin_velocity[b]
    way += wp.cross(poses.angular[a], poses.rotation[a] * points.point_a[k])
    return wp.length(way - wp.cross(poses.angular[b], poses.rotation[b] * points.point_b[k]))


@wp.func(module=MODULE)
def reach_of(stage: StageArrays, closing: wp.float64):
    """Gap up to which a contact that closes that fast matters in the step."""
    return two * stage.settings[step_slot] * wp.abs(closing) + stage.settings[fall_slot]


@wp.func(module=MODULE)
def turning_way(stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, shape: int):
    """How much nearer to anything a shape gets by turning, within the step; 0 but for ``Collider.turning``."""
    body = shapes.body[shape]
    if not poses.turning[body]:
        return zero
    turn = stage.settings[step_slot] * wp.length(poses.angular[body])
    if turn == zero or not wp.isfinite(shapes.radius[shape]):
        return zero
    aside = wp.length(shapes.middle[shape] - poses.center[body])
    farthest = aside + shapes.radius[shape]
    return wp.min(turn * farthest, farthest - wp.max(wp.min(shapes.half[shape]) - aside, zero))


@wp.func(module=MODULE)
def comes_round(stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, first: int, second: int):
    """How much nearer to each other two shapes get by turning where that may take a place through the other one, or 0.

    Then it does not matter how fast the places close that are nearest now: they may recede.
    """
    way = turning_way(stage, poses, shapes, first) + turning_way(stage, poses, shapes, second)
    return wp.where(way > wp.min(shapes.half[first]) + wp.min(shapes.half[second]), way, zero)


@wp.func(module=MODULE)
def closes_by_turning(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, k: int, gap: wp.float64
):  # fmt: skip
    """Whether other places of two bodies than those of a contact may close within the step."""
    count = wp.int64(shapes.count)
    pair = points.pair[k]
    way = comes_round(stage, poses, shapes, int(pair // count), int(pair % count))
    if way == zero:
        return False
    apart = poses.linear[points.body_b[k]] - poses.linear[points.body_a[k]]
    closing = wp.dot(poses.rotation[points.body_b[k]] * points.normal[k], apart)
    return gap <= way + stage.settings[step_slot] * closing + stage.settings[fall_slot]


@wp.func(module=MODULE)
def swing_room(stage: StageArrays, points: PointArrays, k: int, poses: PoseArrays):
    """Gap up to which a contact may close in the step because its bodies turn about another one of theirs."""
    if stage.settings[step_slot] == zero:
        return zero
    fastest = wp.max(wp.length(poses.linear[points.body_a[k]]), wp.length(poses.linear[points.body_b[k]]))
    return wp.min(swing * points.size[k], reach_of(stage, fastest))


@wp.func(module=MODULE)
def distance_of(new: PointArrays, i: int, old: PointArrays, j: int):
    """How far a contact point wandered: on the body on which it wandered less (a rolling ball keeps its centre)."""
    on_a = new.point_a[i] - old.point_a[j]
    on_b = new.point_b[i] - old.point_b[j]
    return wp.sqrt(wp.min(wp.dot(on_a, on_a), wp.dot(on_b, on_b)))


@wp.func(module=MODULE)
def has_mesh(shapes: ShapeArrays, pair: wp.int64):
    """Whether one of a pair of shapes is a mesh."""
    count = wp.int64(shapes.count)
    return shapes.mesh[int(pair % count)] or shapes.mesh[int(pair // count)]


@wp.func(module=MODULE)
def swings_down(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, k: int, count: int,
    chosen: ChosenArrays,
):  # fmt: skip
    """Whether the bodies may turn about another contact of the pair until this one closes, see face_corners.py."""
    pair = points.pair[k]
    if chosen.gap[k] >= swing_room(stage, points, k, poses) or has_mesh(shapes, pair):
        return False
    m = int(k)
    while m > 0 and points.pair[m - 1] == pair:
        m -= 1
    while m < count and points.pair[m] == pair:
        if chosen.closes[m]:
            return True
        m += 1
    return False


@wp.func(module=MODULE)
def has_face(shapes: ShapeArrays, shape: int, direction: wp.vec3d):
    """Whether a shape has a face with this outward normal, in its body's frame; a mesh is taken to be all faces."""
    if shapes.mesh[shape]:
        return True
    for f in range(shapes.face_first[shape], shapes.face_first[shape + 1]):
        if wp.dot(shapes.face_normal[f], direction) > alike:
            return True
    return False


@wp.func(module=MODULE)
def face_along(shapes: ShapeArrays, shape: int, direction: wp.vec3d):
    """The normal of the shape's face that has this direction but for rounding, or the direction itself."""
    for f in range(shapes.face_first[shape], shapes.face_first[shape + 1]):
        if wp.dot(shapes.face_normal[f], direction) > rounded:
            return shapes.face_normal[f]
    return direction


@wp.func(module=MODULE)
def speed_of_turn(poses: PoseArrays, body: int):
    """Angular speed [rad/s]."""
    return wp.length(poses.angular[body])


@wp.func(module=MODULE)
def touched_body(points: PointArrays, k: int, poses: PoseArrays, shapes: ShapeArrays, on_a: wp.vec3d, on_b: wp.vec3d):
    """See ``contact_faces``: the body whose face a contact touches, or -1.  on_a, on_b: its normal in their frames."""
    a = points.body_a[k]
    b = points.body_b[k]
    count = wp.int64(shapes.count)
    has_a = has_face(shapes, int(points.pair[k] % count), -on_a)
    has_b = has_face(shapes, int(points.pair[k] // count), on_b)
    first = not poses.movable[a]
    if poses.movable[a] == poses.movable[b]:
        first = speed_of_turn(poses, a) < speed_of_turn(poses, b)
    body = int(-1)
    if has_a and (first or not has_b):
        body = a
    elif has_b:
        body = b
    if body >= 0:
        if not poses.movable[body] and speed_of_turn(poses, body) == zero:
            body = -1
    return body, has_a and (first or not has_b)


@wp.func(module=MODULE)
def within(inner: wp.vec3d, outer: wp.vec3d):
    """Whether no component of ``inner`` is above that of ``outer``."""
    return inner[0] <= outer[0] and inner[1] <= outer[1] and inner[2] <= outer[2]


@wp.func(module=MODULE)
def pair_of(poses: PoseArrays, a: int, b: int):
    """Number of the pair of bodies a and b, see plausible.pair_number."""
    return wp.int64(wp.min(a, b)) * wp.int64(poses.position.shape[0]) + wp.int64(wp.max(a, b))


@wp.func(module=MODULE)
def asked_for(poses: PoseArrays, shapes: ShapeArrays, a: int, b: int):
    """Whether a detection has to look at bodies a and b, which may touch some time."""
    if poses.piece[a] >= 0 and poses.piece[a] == poses.piece[b]:
        return False
    if shapes.breakable.shape[0] > 0:
        pair = pair_of(poses, a, b)
        found = lower_bound(shapes.breakable, shapes.breakable.shape[0], pair)
        if found < shapes.breakable.shape[0] and shapes.breakable[found] == pair and poses.held_apart[found]:
            return False
    return (poses.free[a] or poses.free[b]) and (poses.watched[a] or poses.watched[b])


@wp.func(module=MODULE)
def may_touch(poses: PoseArrays, shapes: ShapeArrays, a: int, b: int):
    """CollisionModel.allowed."""
    if a == b or not (poses.movable[a] or poses.movable[b]):
        return False
    if not shapes.collides[poses.group[a] * shapes.classes + poses.group[b]]:
        return False
    pair = pair_of(poses, a, b)
    found = lower_bound(shapes.joined, shapes.joined.shape[0], pair)
    if found < shapes.joined.shape[0]:
        return shapes.joined[found] != pair
    return True
