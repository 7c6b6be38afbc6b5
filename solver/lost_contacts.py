# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex shapes that touch or overlap, and of which newton tells nothing.

Its search in single precision ends on the surface of a large wall that something just touches, and says so without a
normal: of coins at a floor of 100 m that was one in seven.  Of what is far from the middle of a thin wall, and deep in
it, it finds nothing at all: one capsule in forty whose axis went through.  So pairs without a contact whose boxes meet
are held against each other in double precision, and those that are as near as newton reports what rests get one: along
the normal, of all faces and of the line between the nearest places, along which they are farthest apart, or are the
least deep in each other.  Corners of faces that lie on each other come with it (face_corners.py).
"""

import numpy as np
import warp as wp

from .arrays import of_arrays
from .contact_arrays import (
    FRESH,
    NEWTONS,
    UNSORTED,
    FoundArrays,
    FreshArrays,
    PairLists,
    PointArrays,
    PoseArrays,
    ShapeArrays,
    StageArrays,
)
from .contact_geometry import lower_bound, points_inward, turned_back
from .convex_touch import LEAST, CoreArrays, farthest, nearest
from .manifold_kernels import rest_reach
from .shapes import Plane, Sphere, TriangleMesh

CLEAR = 1e-6  # of the smaller shape's radius: by so much another normal must be better than that of a face
LESS = 0.99  # of a depth: a way out that is no shorter than that is not worth another normal than a face's
EVEN, AROUND = 64, 8  # ways out of each kind, and around the best of them
WIDEST, NARROWEST = 0.2, 1e-3  # [rad] from it, at first and at last
ROUNDS = 64

MODULE = "axion_lost_contacts"
wp.get_module(MODULE).options["max_unroll"] = 1  # unrolled, NVRTC takes three times as long for it
fresh_slot, newtons_slot, unsorted_slot = (wp.constant(slot) for slot in (FRESH, NEWTONS, UNSORTED))
zero, half, one, two, far = (wp.constant(wp.float64(value)) for value in (0.0, 0.5, 1.0, 2.0, 1e300))
clear, less = wp.constant(wp.float64(CLEAR)), wp.constant(wp.float64(LESS))
even, around, most_rounds = wp.constant(EVEN), wp.constant(AROUND), wp.constant(ROUNDS)
widest, narrowest = wp.constant(wp.float64(WIDEST)), wp.constant(wp.float64(NARROWEST))
square, golden = wp.constant(wp.float64(0.5 * np.pi)), wp.constant(wp.float64(np.pi * (3.0 - np.sqrt(5.0))))


@wp.struct
class ConvexArrays:
    """Of S shapes what newton and their cores are about."""

    kind: wp.array(dtype=wp.int32)  # newton's number; of a contact the shape with the lesser one comes first
    rounding: wp.array(dtype=wp.float64)  # radius around the core
    convex: wp.array(dtype=wp.bool)  # and no plane


@wp.struct
class Pose:
    """Of two shapes a and b: where a is, seen from b's body in the world, and how the two bodies are turned."""

    offset: wp.vec3d
    q_a: wp.quatd
    q_b: wp.quatd


@wp.func(module=MODULE)
def first_of(stage: StageArrays, points: PointArrays, pair: wp.int64):
    """The first of newton's contacts that may be of this pair."""
    if stage.counts[unsorted_slot] == 0:
        return lower_bound(points.pair, stage.counts[newtons_slot], pair)
    return int(0)


@wp.func(module=MODULE)
def goes_on(stage: StageArrays, points: PointArrays, k: int, pair: wp.int64):
    """Whether contact k or one behind it may be of this pair."""
    return k < stage.counts[newtons_slot] and (stage.counts[unsorted_slot] != 0 or points.pair[k] == pair)


@wp.func(module=MODULE)
def is_found(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, fresh: FreshArrays, a: int, b: int
):  # fmt: skip
    """Whether newton has a contact of shapes a and b, in this order, that does not point into both."""
    pair = wp.int64(b) * wp.int64(shapes.count) + wp.int64(a)
    k = first_of(stage, points, pair)
    while goes_on(stage, points, k, pair):
        if points.pair[k] == pair and fresh.good[k]:
            if not points_inward(points, k, poses, shapes, a, b):
                return True
        k += 1
    return False


@wp.func(module=MODULE)
def drop_opposed(
    stage: StageArrays, poses: PoseArrays, points: PointArrays, fresh: FreshArrays, pair: wp.int64, normal: wp.vec3d
):  # fmt: skip
    """Drop contacts of the pair whose normal is opposed to this one.  Whether any is left."""
    left = bool(False)
    k = first_of(stage, points, pair)
    while goes_on(stage, points, k, pair):
        if points.pair[k] == pair and fresh.good[k]:
            fresh.good[k] = wp.dot(poses.rotation[points.body_b[k]] * points.normal[k], normal) >= zero
            left = left or fresh.good[k]
        k += 1
    return left


@wp.func(module=MODULE)
def boxes_meet(poses: PoseArrays, shapes: ShapeArrays, a: int, b: int, reach: wp.float64):
    """Whether no face of the boxes around two shapes has them apart by more than ``reach``."""
    body_a = shapes.body[a]
    body_b = shapes.body[b]
    way = poses.position[body_a] - poses.position[body_b]
    way = way + poses.rotation[body_a] * shapes.middle[a] - poses.rotation[body_b] * shapes.middle[b]
    if wp.length(way) > shapes.radius[a] + shapes.radius[b] + reach:
        return False
    turn_a = poses.rotation[body_a] * shapes.rotation[a]
    turn_b = poses.rotation[body_b] * shapes.rotation[b]
    turn = wp.transpose(turn_a) * turn_b
    on_a = turned_back(turn_a, way)
    on_b = turned_back(turn_b, way)
    half_a = shapes.half[a]
    half_b = shapes.half[b]
    for i in range(3):
        wide = half_a[i] + reach
        high = half_b[i] + reach
        for k in range(3):
            wide += wp.abs(turn[i, k]) * half_b[k]
            high += wp.abs(turn[k, i]) * half_a[k]
        if wp.abs(on_a[i]) > wide or wp.abs(on_b[i]) > high:
            return False
    return True


@wp.func(module=MODULE)
def supports(cores: CoreArrays, a: int, b: int, pose: Pose, normal: wp.vec3d):
    """(lowest place of core a along a world normal, highest one of core b, in their bodies' frames; way between)."""
    on_a = farthest(cores, a, wp.quat_rotate_inv(pose.q_a, -normal))
    on_b = farthest(cores, b, wp.quat_rotate_inv(pose.q_b, normal))
    return on_a, on_b, pose.offset + wp.quat_rotate(pose.q_a, on_a) - wp.quat_rotate(pose.q_b, on_b)


@wp.func(module=MODULE)
def along(cores: CoreArrays, a: int, b: int, pose: Pose, normal: wp.vec3d):
    """Gap of cores along a world normal."""
    _a, _b, way = supports(cores, a, b, pose, normal)
    return wp.dot(normal, way)


@wp.func(module=MODULE)
def square_to(v: wp.vec3d):
    """A unit vector square to one."""
    least = wp.vec3d(one, zero, zero)
    if wp.abs(v[1]) < wp.abs(v[0]):
        least = wp.vec3d(zero, one, zero)
    if wp.abs(v[2]) < wp.min(wp.abs(v[0]), wp.abs(v[1])):
        least = wp.vec3d(zero, zero, one)
    return wp.normalize(wp.cross(v, least))


@wp.func(module=MODULE)
def best_face(
    cores: CoreArrays, shapes: ShapeArrays, a: int, b: int, pose: Pose, of_a: bool, normal: wp.vec3d, gap: wp.float64,
    better: wp.float64,
):  # fmt: skip
    """(normal, gap) of cores: those given, or of the face of one of the shapes along which they are farther apart."""
    shape = wp.where(of_a, a, b)
    for f in range(shapes.polygon_first[shape], shapes.polygon_first[shape + 1]):
        outward = shapes.polygon_normal[f]
        if of_a:
            outward = -wp.quat_rotate(pose.q_a, outward)
        else:
            outward = wp.quat_rotate(pose.q_b, outward)
        apart = along(cores, a, b, pose, outward)
        if apart > gap + better:
            gap = apart
            normal = outward
    return normal, gap


@wp.func(module=MODULE)
def beside(axis: wp.vec3d, angle: wp.float64, k: int, count: int):
    """The one numbered k of ``count`` unit vectors at an angle to an axis."""
    across = square_to(axis)
    turn = two * wp.float64(wp.PI) * wp.float64(k) / wp.float64(count)
    aside = wp.cos(turn) * across + wp.sin(turn) * wp.cross(axis, across)
    return wp.cos(angle) * axis + wp.sin(angle) * aside


@wp.func(module=MODULE)
def way_out(cores: CoreArrays, a: int, b: int, pose: Pose, fan: int, k: int):
    """The way out numbered k: of fan 0 and 1 square to the axis of a and b, of 2 spread evenly (Fibonacci's lattice).

    What is long and thin has no short way out but square to its axis.
    """
    if fan == 0:
        return beside(wp.quat_rotate(pose.q_a, cores.axis[a]), square, k, even)
    if fan == 1:
        return beside(wp.quat_rotate(pose.q_b, cores.axis[b]), square, k, even)
    height = one - (two * wp.float64(k) + one) / wp.float64(even)
    out = wp.sqrt(one - height * height)
    turn = golden * wp.float64(k)
    return wp.vec3d(out * wp.cos(turn), out * wp.sin(turn), height)


@wp.func(module=MODULE)
def least_deep(cores: CoreArrays, a: int, b: int, pose: Pose, normal: wp.vec3d, gap: wp.float64):
    """(normal, gap) of cores that overlap, where they are least deep in each other, that given or a better one: from
    the best way out of each fan on to the best of some around it, nearer and nearer.
    """
    for fan in range(3):
        here = -far
        best = wp.vec3d()
        for k in range(even):
            tried = way_out(cores, a, b, pose, fan, k)
            apart = along(cores, a, b, pose, tried)
            if apart > here:
                here = apart
                best = tried
        angle = widest
        rounds = int(0)
        while angle > narrowest and rounds < most_rounds:
            rounds += 1
            middle = best
            before = here
            for k in range(around):
                tried = beside(middle, angle, k, around)
                apart = along(cores, a, b, pose, tried)
                if apart > here:
                    here = apart
                    best = tried
            if here == before:
                angle = half * angle
        if here > gap:
            gap = here
            normal = best
    return normal, gap


@wp.kernel(module=MODULE, enable_backward=False)
def find_lost(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, cores: CoreArrays, convex: ConvexArrays,
    pairs: PairLists, found: FoundArrays, points: PointArrays, fresh: FreshArrays, lanes: int,
):  # fmt: skip
    """Add a contact to each of the pairs newton was to look at that has none, and is as near as what rests."""
    for p in range(wp.tid(), pairs.wanted.shape[0], lanes):
        b = pairs.wanted[p][0]
        a = pairs.wanted[p][1]
        if a == b or not (convex.convex[a] and convex.convex[b]):
            continue
        if convex.kind[b] > convex.kind[a]:
            a = pairs.wanted[p][0]
            b = pairs.wanted[p][1]
        count = wp.int64(shapes.count)
        pair = wp.int64(b) * count + wp.int64(a)
        reach = rest_reach(shapes, pair)
        if not boxes_meet(poses, shapes, a, b, reach):
            continue
        if is_found(stage, poses, shapes, points, fresh, a, b) or is_found(stage, poses, shapes, points, fresh, b, a):
            continue
        body_a = shapes.body[a]
        body_b = shapes.body[b]
        pose = Pose()
        pose.offset = poses.position[body_a] - poses.position[body_b]
        turn_a = poses.orientation[body_a]
        turn_b = poses.orientation[body_b]
        pose.q_a = wp.quatd(turn_a[0], turn_a[1], turn_a[2], turn_a[3])
        pose.q_b = wp.quatd(turn_b[0], turn_b[1], turn_b[2], turn_b[3])
        rounding = convex.rounding[a] + convex.rounding[b]
        size = wp.min(shapes.radius[a], shapes.radius[b])
        on_a, on_b, way = nearest(cores, a, b, pose.offset, pose.q_a, wp.vec3d(), pose.q_b, size)
        distance = wp.length(way)
        if distance > rounding + reach:
            continue
        of_a = shapes.radius[a] >= shapes.radius[b]  # what is large has the face, and what is small touches it
        normal = wp.vec3d()
        gap = -far
        normal, gap = best_face(cores, shapes, a, b, pose, of_a, normal, gap, clear * size)
        normal, gap = best_face(cores, shapes, a, b, pose, not of_a, normal, gap, clear * size)
        if distance > LEAST * size:
            if distance > gap + clear * size:
                gap = distance
                normal = way / distance
            else:
                distance = zero  # a face tells where
        else:
            out, depth = least_deep(cores, a, b, pose, normal, gap)
            if depth > less * gap:
                gap = depth
                normal = out
        if distance <= LEAST * size:
            on_a, on_b, _way = supports(cores, a, b, pose, normal)
            if of_a:
                on_a = wp.quat_rotate(pose.q_b, on_b) + gap * normal - pose.offset
                on_a = wp.quat_rotate_inv(pose.q_a, on_a)
            else:
                on_b = pose.offset + wp.quat_rotate(pose.q_a, on_a) - gap * normal
                on_b = wp.quat_rotate_inv(pose.q_b, on_b)
        left = drop_opposed(stage, poses, points, fresh, pair, normal)
        if drop_opposed(stage, poses, points, fresh, wp.int64(a) * count + wp.int64(b), -normal) or left:
            continue
        wp.atomic_add(found.count, 0, 1)  # so the host makes room for it
        k = wp.atomic_add(stage.counts, fresh_slot, 1)
        if k >= points.pair.shape[0]:
            wp.atomic_add(stage.counts, fresh_slot, -1)
            continue
        stage.counts[unsorted_slot] = 1
        points.pair[k] = pair
        points.body_a[k] = body_a
        points.body_b[k] = body_b
        points.point_a[k] = on_a
        points.point_b[k] = on_b
        points.margin_a[k] = convex.rounding[a]
        points.margin_b[k] = convex.rounding[b]
        points.size[k] = wp.min(shapes.size[a], shapes.size[b])
        points.lever[k] = size
        points.normal[k] = wp.quat_rotate_inv(pose.q_b, normal)
        fresh.good[k] = True


def may_lose(shapes):
    """Whether newton may lose contacts between any of these shapes: of balls and planes it tells without a search."""
    convex = [shape for shape in shapes if not isinstance(shape, (Plane, TriangleMesh))]
    return len(convex) > 1 and not all(isinstance(shape, Sphere) for shape in convex)


class LostContacts:
    """The search for them among the shapes of one CollisionModel."""

    def __init__(self, model, cores):
        """cores: HostTable of CoreArrays of the model's shapes."""
        device, views, self._wanted = model.newton_model.device, cores.views, may_lose(model.shapes)
        if not self._wanted:
            return
        columns = {name: getattr(cores.arrays, name).to(device) for name in CoreArrays.vars}
        self._cores = of_arrays(CoreArrays, **columns)
        count = len(model.shapes)
        convex = (np.diff(views.first[: count + 1]) > 0) & (views.plane[:count] == 0)
        self._shapes = of_arrays(
            ConvexArrays,
            kind=model.newton_model.shape_type,
            rounding=wp.array(model.shape_rounding, dtype=wp.float64, device=device),
            convex=wp.array(convex, dtype=wp.bool, device=device),
        )

    def find(self, loop, stage, poses, shapes, pairs, *taken):
        """Launch the search with ``loop`` (kernel, capacity, ...); taken: FoundArrays, PointArrays, FreshArrays."""
        if self._wanted:
            loop(find_lost, pairs.wanted.shape[0], stage, poses, shapes, self._cores, self._shapes, pairs, *taken)
