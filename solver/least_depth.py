# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hulls that detection says are deeper in each other than one of their faces says.

newton refines a portal about the ray between two middles.  Where that ray runs along faces the two have in common, as
it does between the pieces of a broken wall, it may end at those: a piece that touched its neighbour was 200 mm, the
thickness of the wall, deep in it.  Two hulls overlap no deeper than either has to move to be outside one face of the
other.  So what is deep is held against all faces, and where one of them is left sooner its way out is taken.
"""

import warp as wp

from .contact_arrays import FRESH, FreshArrays, PointArrays, PoseArrays, ShapeArrays, StageArrays
from .contact_geometry import gap_of, turned_back
from .face_corners import LEANING, Places, deepest_place, lifted, nearest_face, sides_along
from .manifold_kernels import begins
from .plausible import SLACK

MODULE = "axion_hull_contacts"  # which scenes without hulls neither launch nor compile
wp.get_module(MODULE).options["max_unroll"] = 1  # unrolled, NVRTC takes three times as long for it
fresh_slot = wp.constant(FRESH)
slack, leaning = wp.constant(wp.float64(SLACK)), wp.constant(wp.float64(LEANING))
zero, far = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1e300))


@wp.func(module=MODULE)
def lowest_corner(shapes: ShapeArrays, shape: int, direction: wp.vec3d, enough: wp.float64):
    """(number of the corner that is least along a direction in the body's frame, how far it is along it); the search
    ends below ``enough``.
    """
    lowest = int(-1)
    least = far
    first = shapes.polygon_start[shapes.polygon_first[shape]]
    end = shapes.polygon_start[shapes.polygon_first[shape + 1]]
    for k in range(first, end):
        along = wp.dot(shapes.corner[k], direction)
        if along < least:
            least = along
            lowest = k
            if along < enough:
                break
    return lowest, least


@wp.func(module=MODULE)
def nearest_way_out(
    shapes: ShapeArrays, one: int, other: int, rotation: wp.mat33d, offset: wp.vec3d, least: wp.float64
):  # fmt: skip
    """(Face of ``one`` that ``other`` is least deep in, its gap there), if that is above ``least``; else -1.

    rotation, offset: of the other's body, seen from that of ``one``.
    """
    best = int(-1)
    gap = least
    for f in range(shapes.polygon_first[one], shapes.polygon_first[one + 1]):
        normal = shapes.polygon_normal[f]
        level = wp.dot(normal, offset) - shapes.polygon_offset[f]
        _corner, along = lowest_corner(shapes, other, turned_back(rotation, normal), gap - level)
        if along + level > gap:
            gap = along + level
            best = f
    return best, gap


@wp.func(module=MODULE)
def put_on_face(
    points: PointArrays, k: int, poses: PoseArrays, shapes: ShapeArrays, face_a: int, face_b: int, normal: wp.vec3d
):  # fmt: skip
    """Move contact k to where two faces are deepest in each other along a world normal.  False where they miss."""
    a = points.body_a[k]
    b = points.body_b[k]
    side_a, side_b = sides_along(shapes, face_a, face_b, poses, a, b, normal)
    place, gap = deepest_place(shapes, side_a, side_b, far, Places(), 0, zero)
    if not gap < far:
        return False
    points.point_a[k] = turned_back(poses.rotation[a], lifted(side_a, place) - side_a.origin)
    points.point_b[k] = turned_back(poses.rotation[b], lifted(side_b, place))
    return True


@wp.func(module=MODULE)
def put_on_corner(
    points: PointArrays, k: int, poses: PoseArrays, shapes: ShapeArrays, shape: int, of_a: bool, normal: wp.vec3d,
    gap: wp.float64,
):  # fmt: skip
    """Move contact k to the corner of ``shape`` that is deepest along a world normal, ``gap`` from the other's face."""
    a = points.body_a[k]
    b = points.body_b[k]
    from_b = poses.position[a] - poses.position[b]
    if of_a:
        corner, _along = lowest_corner(shapes, shape, turned_back(poses.rotation[a], normal), -far)
        at = from_b + poses.rotation[a] * shapes.corner[corner]
        points.point_a[k] = shapes.corner[corner]
        points.point_b[k] = turned_back(poses.rotation[b], at - gap * normal)
    else:
        corner, _along = lowest_corner(shapes, shape, turned_back(poses.rotation[b], -normal), -far)
        at = poses.rotation[b] * shapes.corner[corner] + gap * normal
        points.point_b[k] = shapes.corner[corner]
        points.point_a[k] = turned_back(poses.rotation[a], at - from_b)


@wp.kernel(module=MODULE, enable_backward=False)
def take_least_depth(
    stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, points: PointArrays, fresh: FreshArrays, lanes: int
):  # fmt: skip
    """Of each pair of a hull and another polyhedron that is deeper than a face says: one contact, on that face."""
    for k in range(wp.tid(), stage.counts[fresh_slot], lanes):
        if not begins(points, k):
            continue
        a = points.body_a[k]
        b = points.body_b[k]
        shape_a = int(points.pair[k] % wp.int64(shapes.count))
        shape_b = int(points.pair[k] // wp.int64(shapes.count))
        if not (shapes.polyhedron[shape_a] and shapes.polyhedron[shape_b]):
            continue
        if not (shapes.hull[shape_a] or shapes.hull[shape_b]):
            continue
        first = int(-1)
        least = zero
        end = int(k)
        while end < stage.counts[fresh_slot] and points.pair[end] == points.pair[k]:
            if fresh.good[end]:
                if first < 0:
                    first = end
                least = wp.min(least, gap_of(points, end, poses))
            end += 1
        room = slack * points.size[k]
        if least > -room:
            continue
        turn = wp.transpose(poses.rotation[a]) * poses.rotation[b]
        b_from_a = turned_back(poses.rotation[a], poses.position[b] - poses.position[a])
        a_from_b = turned_back(poses.rotation[b], poses.position[a] - poses.position[b])
        face_a, gap_a = nearest_way_out(shapes, shape_a, shape_b, turn, b_from_a, least + room)
        face_b, gap = nearest_way_out(shapes, shape_b, shape_a, wp.transpose(turn), a_from_b, gap_a)
        if face_a < 0 and face_b < 0:
            continue
        on_b = bool(face_b >= 0)
        if on_b:
            normal = poses.rotation[b] * shapes.polygon_normal[face_b]
            face_a = nearest_face(shapes, shape_a, -turned_back(poses.rotation[a], normal), leaning)
        else:
            normal = -(poses.rotation[a] * shapes.polygon_normal[face_a])
            face_b = nearest_face(shapes, shape_b, turned_back(poses.rotation[b], normal), leaning)
        for m in range(k, end):
            fresh.good[m] = m == first
        points.normal[first] = turned_back(poses.rotation[b], normal)
        done = bool(False)
        if face_a >= 0 and face_b >= 0:
            done = put_on_face(points, first, poses, shapes, face_a, face_b, normal)
        if not done:
            put_on_corner(points, first, poses, shapes, wp.where(on_b, shape_a, shape_b), on_b, normal, gap)
