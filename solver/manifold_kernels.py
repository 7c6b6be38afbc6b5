# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that renew manifolds (see manifold.py): what stays, what is fresh, and what continues what.

A pair has hardly moved when the farthest way of its points a, seen from b, plus the relative angle times the smaller
shape's radius is below STILL times the pair's smallest half extent.  Then its manifold stays whole, as long as one of
its points is near enough to be reported; and no narrow phase looks at the pair.  All others take what detection finds,
with corners that it leaves out (face_corners.py), and the rest of lines (round_contacts.py).

One thread a shape pair, at the pair's first contact; sums by scans, so that the result is the same in every run.
"""

import warp as wp

from .contact_arrays import (
    ADDED,
    CORNERS,
    FALL,
    FRESH,
    KEPT,
    NEWTONS,
    OLD,
    SLID,
    STEP,
    UNIT,
    UNSORTED,
    ChosenArrays,
    FoundArrays,
    FreshArrays,
    GapArrays,
    OldArrays,
    PairLists,
    PointArrays,
    PoseArrays,
    ShapeArrays,
    StageArrays,
)
from .contact_geometry import (
    MODULE,
    asked_for,
    closing_of,
    comes_round,
    gap_of,
    lower_bound,
    relative_tilt,
    seen_from_b,
    turned_back,
)
from .face_corners import add_corners
from .manifold import GAP_FLOOR, NOISE
from .manifold_match import match
from .plane_feet import own_point

STILL = 2e-3  # a pair that moved less, in units of its smallest half extent, keeps its manifold

old_slot, fresh_slot, kept_slot, added_slot, unsorted_slot, slid_slot, newtons_slot = (
    wp.constant(slot) for slot in (OLD, FRESH, KEPT, ADDED, UNSORTED, SLID, NEWTONS)
)
most_corners = wp.constant(CORNERS)
step_slot, fall_slot, unit_slot = (wp.constant(slot) for slot in (STEP, FALL, UNIT))
zero, half, two = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(0.5)), wp.constant(wp.float64(2.0))
still, far = wp.constant(wp.float64(STILL)), wp.constant(wp.float64(1e300))
floor, noise = wp.constant(wp.float64(GAP_FLOOR)), wp.constant(wp.float64(NOISE))
single = wp.constant(wp.float64(1.0 + 1e-6))  # rounding of newton's margins
kernel = wp.kernel(module=MODULE, enable_backward=False)


@wp.func(module=MODULE)
def begins(points: PointArrays, k: int):
    """Whether contact k is the first of its pair."""
    if k == 0:
        return True
    return points.pair[k - 1] != points.pair[k]


@wp.func(module=MODULE)
def way_together(stage: StageArrays, points: PointArrays, k: int, poses: PoseArrays):
    """How far a contact closes in the time that detection looks ahead."""
    a = points.body_a[k]
    b = points.body_b[k]
    step = stage.settings[step_slot]
    way = two * step * closing_of(points, k, poses)
    fall = step * step * wp.dot(poses.rotation[b] * points.normal[k], stage.vectors[0])
    if poses.movable[a]:
        way += fall
    if poses.movable[b]:
        way -= fall
    return -way


@wp.func(module=MODULE)
def rest_reach(shapes: ShapeArrays, pair: wp.int64):
    """Gap up to which detection reports a pair that rests: the floors of both shapes."""
    out = zero
    for s in range(2):
        shape = int(pair % wp.int64(shapes.count))
        if s == 1:
            shape = int(pair // wp.int64(shapes.count))
        if wp.isfinite(shapes.size[shape]):
            out += floor * shapes.size[shape]
    return out


@kernel
def judge_old(
    stage: StageArrays,
    poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, old: OldArrays, lanes: int,
):  # fmt: skip
    """How many points of each remembered manifold stay.  Near is what newton would report, see CollisionPipeline."""
    for k in range(wp.tid(), stage.counts[old_slot], lanes):
        old.count[k] = 0
        old.used[k] = False
        if not begins(points, k):
            continue
        pair = points.pair[k]
        turn = relative_tilt(points.body_a[k], points.body_b[k], poses) - points.tilt[k]
        swing = wp.sqrt(half * wp.ddot(turn, turn)) * points.lever[k]
        floors = rest_reach(shapes, pair)
        farthest = zero
        near = bool(False)
        end = int(k)
        while end < stage.counts[old_slot] and points.pair[end] == pair:
            way = seen_from_b(points, end, poses) - points.place[end]
            farthest = wp.max(farthest, wp.dot(way, way))
            ahead = way_together(stage, points, end, poses)
            near = near or gap_of(points, end, poses) <= wp.max(floors, ahead)
            end += 1
        if near and wp.sqrt(farthest) + swing <= still * points.size[k]:
            old.count[k] = end - k


@wp.func(module=MODULE)
def stays(stage: StageArrays, points: PointArrays, old: OldArrays, pair: wp.int64):
    """Whether a pair of shapes keeps its manifold."""
    k = lower_bound(points.pair, stage.counts[old_slot], pair)
    if k < stage.counts[old_slot]:
        return points.pair[k] == pair and old.count[k] > 0
    return False


@kernel
def choose_pairs(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, old: OldArrays,
    pairs: PairLists, gaps: GapArrays, lanes: int,
):  # fmt: skip
    """Which shape pairs detection looks at; the others become a shape with itself, which it passes over.

    Newton tells of the places that are nearest, and only if those close: of what turns far another one may.
    """
    size = wp.int64(shapes.count)
    for k in range(wp.tid(), pairs.near.shape[0], lanes):
        first = pairs.near[k][0]
        second = pairs.near[k][1]
        pairs.wanted[k] = wp.vec2i(0, 0)
        if first == second:
            continue
        a = shapes.body[first]
        b = shapes.body[second]
        if not asked_for(poses, shapes, a, b):
            continue
        if stage.counts[old_slot] > 0:
            if stays(stage, points, old, wp.int64(first) * size + wp.int64(second)):
                continue
            if stays(stage, points, old, wp.int64(second) * size + wp.int64(first)):
                continue
        pairs.wanted[k] = pairs.near[k]
        way = comes_round(stage, poses, shapes, first, second)
        if way > zero:
            way += stage.settings[step_slot] * wp.length(poses.linear[a] - poses.linear[b])
            reach = float((way + stage.settings[fall_slot]) / stage.settings[unit_slot])
            wp.atomic_max(gaps.reported, wp.where(poses.movable[a], first, second), reach)


@wp.func(module=MODULE)
def is_ball(shapes: ShapeArrays, shape: int, margin: wp.float64):
    """Whether all of a shape is a margin around one point."""
    half = shapes.half[shape]
    return margin > wp.float64(0.0) and wp.max(half[0], wp.max(half[1], half[2])) <= single * margin


@kernel
def take_fresh(
    stage: StageArrays, found: FoundArrays, unit: wp.float64, poses: PoseArrays, shapes: ShapeArrays,
    points: PointArrays, fresh: FreshArrays, lanes: int,
):  # fmt: skip
    """Contacts of newton in double precision, in metres, normal in b's frame."""
    count = wp.min(found.count[0], wp.min(points.pair.shape[0], found.shape_0.shape[0]))
    if wp.tid() == 0:
        stage.counts[fresh_slot] = count
        stage.counts[newtons_slot] = count
    for k in range(wp.tid(), count, lanes):
        b = found.shape_0[k]
        a = found.shape_1[k]
        body_a = shapes.body[a]
        body_b = shapes.body[b]
        points.pair[k] = wp.int64(b) * wp.int64(shapes.count) + wp.int64(a)
        if k > 0:
            if found.shape_0[k - 1] > b or (found.shape_0[k - 1] == b and found.shape_1[k - 1] > a):
                stage.counts[unsorted_slot] = 1
        points.body_a[k] = body_a
        points.body_b[k] = body_b
        points.point_a[k] = own_point(stage, poses, shapes, a, found.point_1[k])
        points.point_b[k] = own_point(stage, poses, shapes, b, found.point_0[k])
        points.margin_a[k] = unit * wp.float64(found.margin_1[k])
        points.margin_b[k] = unit * wp.float64(found.margin_0[k])
        # What rounding puts beside a ball's middle would be a lever, by which smooth ones get a spin.
        if is_ball(shapes, a, points.margin_a[k]):
            points.point_a[k] = shapes.place[a]
        if is_ball(shapes, b, points.margin_b[k]):
            points.point_b[k] = shapes.place[b]
        points.size[k] = wp.min(shapes.size[a], shapes.size[b])
        points.lever[k] = wp.min(shapes.radius[a], shapes.radius[b])
        normal = wp.vec3d(found.normal[k])
        length = wp.length(normal)
        good = length > half
        if good:
            normal = normal / length
        points.normal[k] = wp.transpose(poses.rotation[body_b]) * normal
        fresh.good[k] = good


@wp.func(module=MODULE)
def last_of_pair(stage: StageArrays, points: PointArrays, k: int):
    """The first fresh contact after k that is of another pair."""
    last = int(k)
    while last < stage.counts[fresh_slot] and points.pair[last] == points.pair[k]:
        last += 1
    return last


@wp.func(module=MODULE)
def first_good(fresh: FreshArrays, k: int, last: int):
    """The first good contact from k on, or ``last``."""
    while k < last and not fresh.good[k]:
        k += 1
    return k


@kernel
def judge_fresh(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, remembered: PointArrays, old: OldArrays,
    points: PointArrays, fresh: FreshArrays, lanes: int,
):  # fmt: skip
    """How many points each fresh manifold has, with those that join it."""
    for k in range(wp.tid(), stage.counts[fresh_slot], lanes):
        fresh.count[k] = 0
        if not begins(points, k):
            continue
        pair = points.pair[k]
        if stays(stage, remembered, old, pair):
            continue
        first = int(-1)
        count = int(0)
        least = far
        end = int(k)
        while end < stage.counts[fresh_slot] and points.pair[end] == pair:
            if fresh.good[end]:
                if first < 0:
                    first = end
                count += 1
                least = wp.min(least, gap_of(points, end, poses))
            end += 1
        corners = int(0)
        if count > 0:
            reach = rest_reach(shapes, pair)
            corners = add_corners(stage, points, first, end, count, least, reach, poses, shapes, fresh, k)
        fresh.corners[k] = corners
        fresh.along[k] = 0  # count_lines in round_contacts.py knows better
        fresh.count[k] = count + corners


@wp.func(module=MODULE)
def copy_point(source: PointArrays, i: int, target: PointArrays, k: int):
    """All but place and tilt."""
    target.pair[k] = source.pair[i]
    target.body_a[k] = source.body_a[i]
    target.body_b[k] = source.body_b[i]
    target.point_a[k] = source.point_a[i]
    target.point_b[k] = source.point_b[i]
    target.margin_a[k] = source.margin_a[i]
    target.margin_b[k] = source.margin_b[i]
    target.normal[k] = source.normal[i]
    target.size[k] = source.size[i]
    target.lever[k] = source.lever[i]


@wp.func(module=MODULE)
def face_each_other(points: PointArrays, k: int, poses: PoseArrays):
    """Move one of a contact's two points along the surface to where it lies opposite the other one.

    Else their impulses, equal and opposite, turn both bodies by what the points slid apart.  Not the point of what is
    round, and rather that of what stands.  Whether there was anything to move.
    """
    a = points.body_a[k]
    b = points.body_b[k]
    apart = seen_from_b(points, k, poses) - points.point_b[k]
    slid = apart - wp.dot(points.normal[k], apart) * points.normal[k]
    if wp.length(slid) <= noise * points.size[k]:
        return False
    on_a = points.margin_a[k] == zero and (points.margin_b[k] > zero or not poses.movable[a])
    if on_a:
        points.point_a[k] = points.point_a[k] - turned_back(poses.rotation[a], poses.rotation[b] * slid)
        points.place[k] = points.place[k] - slid
    elif points.margin_b[k] == zero:
        points.point_b[k] = points.point_b[k] + slid  # no +=, which is atomic
    return on_a or points.margin_b[k] == zero


@kernel
def write_kept(
    stage: StageArrays, poses: PoseArrays, remembered: PointArrays, old: OldArrays, points: PointArrays,
    fresh: FreshArrays, target: PointArrays, chosen: ChosenArrays, lanes: int,
):  # fmt: skip
    """The manifolds that stay, each behind the fresh ones of pairs before it."""
    if wp.tid() == 0:
        stage.counts[kept_slot] = old.start[stage.counts[old_slot]]
        stage.counts[added_slot] = fresh.start[stage.counts[fresh_slot]]
    for k in range(wp.tid(), stage.counts[old_slot], lanes):
        pair = remembered.pair[k]
        first = lower_bound(remembered.pair, stage.counts[old_slot], pair)
        if old.count[first] == 0:
            continue
        before = fresh.start[lower_bound(points.pair, stage.counts[fresh_slot], pair)]
        place = old.start[first] + k - first + before
        if place >= target.pair.shape[0]:
            continue
        copy_point(remembered, k, target, place)
        target.place[place] = remembered.place[k]
        target.tilt[place] = remembered.tilt[k]
        if face_each_other(target, place, poses):
            stage.counts[slid_slot] = 1
        chosen.link[place] = k


@wp.func(module=MODULE)
def keep_place(target: PointArrays, chosen: ChosenArrays, k: int, poses: PoseArrays):
    """Note where a new point is, to tell later whether its pair has moved.  It continues none yet."""
    target.place[k] = seen_from_b(target, k, poses)
    target.tilt[k] = relative_tilt(target.body_a[k], target.body_b[k], poses)
    chosen.link[k] = -1


@kernel
def write_fresh(
    stage: StageArrays, poses: PoseArrays, remembered: PointArrays, old: OldArrays,
    points: PointArrays, fresh: FreshArrays, target: PointArrays, chosen: ChosenArrays, lanes: int,
):  # fmt: skip
    """The fresh manifolds, each behind those that stay of pairs before it, and what their points continue.

    Those that come last of them, on lines, are there already.
    """
    for k in range(wp.tid(), stage.counts[fresh_slot], lanes):
        if fresh.count[k] == 0:
            continue
        pair = points.pair[k]
        first = lower_bound(remembered.pair, stage.counts[old_slot], pair)
        place = fresh.start[k] + old.start[first]
        count = fresh.count[k]
        if place + count > target.pair.shape[0]:
            continue
        last = last_of_pair(stage, points, k)
        found = count - fresh.along[k]
        source = int(k)
        for i in range(found):
            source = first_good(fresh, source, last)
            if i >= found - fresh.corners[k]:
                slot = most_corners * k + i - found + fresh.corners[k]
                copy_point(target, place, target, place + i)
                target.point_a[place + i] = fresh.corner_a[slot]
                target.point_b[place + i] = fresh.corner_b[slot]
                target.margin_a[place + i] = zero
                target.margin_b[place + i] = zero
            else:
                copy_point(points, source, target, place + i)
            source += 1
            keep_place(target, chosen, place + i, poses)
        behind = int(first)
        while behind < stage.counts[old_slot] and remembered.pair[behind] == pair:
            behind += 1
        if behind > first:
            match(target, chosen, place, count, remembered, old, first, behind)
