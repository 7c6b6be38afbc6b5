# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels for fresh contacts of cylinders, cones, capsules and hulls with faces of many corners, which scenes without
such shapes neither launch nor compile: they see round sides from their axes (round_sides.py), and add the ends of lines
(line_contacts.py, face_lines.py) and places of rims (rims.py) and outlines (outlines.py) to manifolds.

One thread a shape pair, at the pair's first contact, as in manifold_kernels.py.
"""

import numpy as np
import warp as wp

from .contact_arrays import (
    FRESH,
    OLD,
    ChosenArrays,
    FreshArrays,
    OldArrays,
    PointArrays,
    PoseArrays,
    ShapeArrays,
    StageArrays,
    straight_parts,
)
from .contact_geometry import lower_bound
from .face_lines import point_on_line
from .line_contacts import LinePoint, places
from .manifold_kernels import begins, copy_point, first_good, keep_place, last_of_pair
from .rims import rim_pair, rim_point
from .round_sides import MODULE, round_contact

fresh_slot, old_slot = wp.constant(FRESH), wp.constant(OLD)
zero = wp.constant(wp.float64(0.0))
kernel = wp.kernel(module=MODULE, enable_backward=False)


def has_round_sides(model):
    """Whether any shape of a CollisionModel is a cylinder, cone or capsule."""
    return bool(np.any(model.shape_side[:, 0] > 0.0) or np.any(straight_parts(model) > 0.0))


@kernel
def see_from_axes(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, fresh: FreshArrays, lanes: int
):  # fmt: skip
    """Put contacts on round sides onto axes; beside one there those on a rim count no more."""
    for k in range(wp.tid(), stage.counts[fresh_slot], lanes):
        if not begins(points, k):
            continue
        aside = bool(False)
        lies = bool(False)
        last = last_of_pair(stage, points, k)
        for m in range(k, last):
            if fresh.good[m]:
                if round_contact(points, m, poses, shapes):
                    aside = True
                else:
                    lies = lies or points.margin_a[m] > zero or points.margin_b[m] > zero
        if not (aside and lies):
            continue
        for m in range(k, last):
            if fresh.good[m]:  # a rim that rolls would come down on it
                fresh.good[m] = not round_contact(points, m, poses, shapes)


@kernel
def count_lines(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, fresh: FreshArrays, lanes: int
):  # fmt: skip
    """How many points of lines, rims and outlines join each fresh manifold."""
    for k in range(wp.tid(), stage.counts[fresh_slot], lanes):
        if fresh.count[k] == 0:
            continue
        last = last_of_pair(stage, points, k)
        first = first_good(fresh, k, last)
        along = int(0)
        for place in range(places):
            if point_on_line(points, first, last, place, poses, shapes).good:
                along += 1
        lying = rim_pair(stage, points, first, poses, shapes)
        if lying.good:
            for place in range(lying.number):
                if rim_point(points, fresh, k, first, last, lying, place, poses, shapes).good:
                    along += 1
        fresh.along[k] = along
        fresh.count[k] = fresh.count[k] + along


@wp.func(module=MODULE)
def put(
    target: PointArrays, chosen: ChosenArrays, slot: int, points: PointArrays, front: int, new: LinePoint,
    poses: PoseArrays,
):  # fmt: skip
    """Write a LinePoint of the pair of contact ``front`` to the manifolds."""
    copy_point(points, front, target, slot)
    target.point_a[slot] = new.point_a
    target.point_b[slot] = new.point_b
    target.margin_a[slot] = new.margin_a
    target.margin_b[slot] = new.margin_b
    target.normal[slot] = new.normal
    keep_place(target, chosen, slot, poses)


@kernel
def write_lines(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, remembered: PointArrays, old: OldArrays,
    points: PointArrays, fresh: FreshArrays, target: PointArrays, chosen: ChosenArrays, lanes: int,
):  # fmt: skip
    """The points of lines, rims and outlines, each behind the others of its manifold."""
    for k in range(wp.tid(), stage.counts[fresh_slot], lanes):
        if fresh.count[k] == 0 or fresh.along[k] == 0:
            continue
        place = fresh.start[k] + old.start[lower_bound(remembered.pair, stage.counts[old_slot], points.pair[k])]
        last = last_of_pair(stage, points, k)
        front = first_good(fresh, k, last)
        slot = place + fresh.count[k] - fresh.along[k]
        if place + fresh.count[k] > target.pair.shape[0]:
            continue
        for at in range(places):
            on_line = point_on_line(points, front, last, at, poses, shapes)
            if on_line.good:
                put(target, chosen, slot, points, front, on_line, poses)
                slot += 1
        lying = rim_pair(stage, points, front, poses, shapes)
        if lying.good:
            for at in range(lying.number):
                on_rim = rim_point(points, fresh, k, front, last, lying, at, poses, shapes)
                if on_rim.good:
                    put(target, chosen, slot, points, front, on_rim, poses)
                    slot += 1
