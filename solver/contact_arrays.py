# SPDX-License-Identifier: GPL-3.0-or-later
"""Device-side layout of detection: manifolds, bodies and shapes as Warp structs of arrays, float64 on every device.

Contacts are kept in double precision also on the GPU: they are as many as the host reads back, and a manifold that
rounds is a manifold that creeps.  Kernels launch over the capacity and return early beyond the counts.
"""

from dataclasses import fields

import numpy as np
import warp as wp

from .arrays import allocate, download_all, of_arrays, upload
from .manifold import Manifolds, columns_of
from .shapes import Box, ConvexHull, Plane

# Slots of the ``counts`` array; NEWTONS: those of the fresh ones that newton found, which come first.
OLD, FRESH, KEPT, ADDED, UNSORTED, SLID, NEWTONS = range(7)
# Slots of the ``settings`` array.
STEP, FALL, UNIT = range(3)  # [s], way gravity makes in the step [m], [m] one newton length

CORNERS = 3  # that a pair may get, see face_corners.py

NUMPY = {wp.int32: np.int32, wp.int64: np.int64, wp.bool: bool}


@wp.struct
class StageArrays:
    """What all kernels of a detection share.

    In a struct, as all arrays of theirs: Warp compiles a kernel that is given plain arrays twice for the CPU.
    """

    counts: wp.array(dtype=wp.int32)
    settings: wp.array(dtype=wp.float64)
    vectors: wp.array(dtype=wp.vec3d)  # gravity, origin


@wp.struct
class StateArrays:
    """Poses and velocities of a newton.State, and where its Model has shapes: of the world those that are planes."""

    body_q: wp.array(dtype=wp.transform)
    body_qd: wp.array(dtype=wp.spatial_vector)
    shape_transform: wp.array(dtype=wp.transform)


@wp.struct
class FoundArrays:
    """Rigid contacts of a newton.Contacts."""

    count: wp.array(dtype=wp.int32)
    shape_0: wp.array(dtype=wp.int32)
    shape_1: wp.array(dtype=wp.int32)
    point_0: wp.array(dtype=wp.vec3)
    point_1: wp.array(dtype=wp.vec3)
    margin_0: wp.array(dtype=wp.float32)
    margin_1: wp.array(dtype=wp.float32)
    normal: wp.array(dtype=wp.vec3)


@wp.struct
class PairLists:
    """Shape pairs: those that are near, and those of them that newton looks at."""

    near: wp.array(dtype=wp.vec2i)
    wanted: wp.array(dtype=wp.vec2i)


@wp.struct
class GapArrays:
    """Up to which gap newton reports each shape's contacts whether they close or not, in its lengths."""

    reported: wp.array(dtype=wp.float32)


@wp.struct
class PointArrays:
    """``manifold.Manifolds``, field by field."""

    pair: wp.array(dtype=wp.int64)
    body_a: wp.array(dtype=wp.int32)
    body_b: wp.array(dtype=wp.int32)
    point_a: wp.array(dtype=wp.vec3d)
    point_b: wp.array(dtype=wp.vec3d)
    margin_a: wp.array(dtype=wp.float64)
    margin_b: wp.array(dtype=wp.float64)
    normal: wp.array(dtype=wp.vec3d)
    size: wp.array(dtype=wp.float64)
    lever: wp.array(dtype=wp.float64)
    place: wp.array(dtype=wp.vec3d)
    tilt: wp.array(dtype=wp.mat33d)


@wp.struct
class PoseArrays:
    """B bodies: what a detection is told, and what follows from it."""

    position: wp.array(dtype=wp.vec3d)
    orientation: wp.array(dtype=wp.vec4d)  # xyzw
    linear: wp.array(dtype=wp.vec3d)  # of the centre of mass
    angular: wp.array(dtype=wp.vec3d)
    surface_way: wp.array(dtype=wp.vec3d)  # of the fastest vertex of a mesh that deforms, in the step, twice
    free: wp.array(dtype=wp.bool)
    watched: wp.array(dtype=wp.bool)  # of each pair one body must be
    piece: wp.array(dtype=wp.int32)  # bodies with the same, but for -1, are one as long as it is so (glued.py)
    turning: wp.array(dtype=wp.bool)  # Collider.turning
    movable: wp.array(dtype=wp.bool)
    center: wp.array(dtype=wp.vec3d)  # of mass, in the body's frame
    rotation: wp.array(dtype=wp.mat33d)
    origin_velocity: wp.array(dtype=wp.vec3d)
    group: wp.array(dtype=wp.int32)
    held_apart: wp.array(dtype=wp.bool)  # (K,) of CollisionModel.breakable: which joints still keep apart


@wp.struct
class ShapeArrays:
    """S shapes: see CollisionModel, FaceTable and FacePolygons."""

    count: int
    classes: int
    body: wp.array(dtype=wp.int32)
    size: wp.array(dtype=wp.float64)
    radius: wp.array(dtype=wp.float64)
    mesh: wp.array(dtype=wp.bool)
    hull: wp.array(dtype=wp.bool)
    plane: wp.array(dtype=wp.bool)
    planes: wp.array(dtype=wp.int32)  # which shapes are
    polyhedron: wp.array(dtype=wp.bool)  # a box or a hull: all its faces are polygons
    place: wp.array(dtype=wp.vec3d)  # of the shape's own frame, in the body's
    rotation: wp.array(dtype=wp.mat33d)
    middle: wp.array(dtype=wp.vec3d)  # of the shape's box, in the body's frame
    center: wp.array(dtype=wp.vec3d)  # CollisionModel.shape_center
    half: wp.array(dtype=wp.vec3d)  # half extents of that box, along the axes of the shape's own frame
    side: wp.array(dtype=wp.vec2d)  # CollisionModel.shape_side
    straight: wp.array(dtype=wp.float64)  # half the length of a cylinder's or capsule's straight part, along Z, or 0
    face_first: wp.array(dtype=wp.int32)
    face_normal: wp.array(dtype=wp.vec3d)
    polygon_first: wp.array(dtype=wp.int32)
    polygon_normal: wp.array(dtype=wp.vec3d)
    polygon_offset: wp.array(dtype=wp.float64)
    polygon_start: wp.array(dtype=wp.int32)
    corner: wp.array(dtype=wp.vec3d)
    span_start: wp.array(dtype=wp.int32)  # of each face's numbers in ``span``
    span: wp.array(dtype=wp.int32)
    breadth: wp.array(dtype=wp.float64)
    many: wp.array(dtype=wp.bool)
    collides: wp.array(dtype=wp.bool)  # of two classes of groups and masks, (K K,)
    joined: wp.array(dtype=wp.int64)
    breakable: wp.array(dtype=wp.int64)  # CollisionModel.breakable


@wp.struct
class BoxArrays:
    """S shapes, world axes, around which the list of near pairs was made."""

    lower: wp.array(dtype=wp.vec3d)  # the boxes now, grown by what detection looks ahead
    upper: wp.array(dtype=wp.vec3d)
    room_lower: wp.array(dtype=wp.vec3d)  # what they may move in
    room_upper: wp.array(dtype=wp.vec3d)
    margin: wp.array(dtype=wp.float64)
    out: wp.array(dtype=wp.int32)  # 1 where it left that
    left: wp.array(dtype=wp.int32)  # (1,) how many did


@wp.struct
class ListArrays:
    """The making of the list of near pairs."""

    pairs: wp.array(dtype=wp.vec2i)  # that may touch
    near: wp.array(dtype=wp.vec2i)
    count: wp.array(dtype=wp.int32)  # (1,) of those near, even where there is no room for them


@wp.struct
class FreshArrays:
    """What is found out about each fresh contact; of a pair as a whole, at its first one."""

    good: wp.array(dtype=wp.bool)
    count: wp.array(dtype=wp.int32)  # points the pair adds to the manifolds; one more at the end, for the sum
    start: wp.array(dtype=wp.int32)  # and where they begin among those added
    along: wp.array(dtype=wp.int32)  # how many of them come last and are of a line, see line_contacts.py
    corners: wp.array(dtype=wp.int32)  # how many of them come before these and are corners, see face_corners.py
    corner_a: wp.array(dtype=wp.vec3d)  # CORNERS of each
    corner_b: wp.array(dtype=wp.vec3d)


@wp.struct
class OldArrays:
    """What is found out about each remembered contact point."""

    count: wp.array(dtype=wp.int32)  # points of its pair that stay, at the pair's first one; one more at the end
    start: wp.array(dtype=wp.int32)
    used: wp.array(dtype=wp.bool)  # a new point continues it
    contact: wp.array(dtype=wp.int32)  # its place in the ContactSet last accepted, or -1


@wp.struct
class ChosenArrays:
    """What the step is told of each point of the manifolds."""

    link: wp.array(dtype=wp.int32)  # remembered point that it continues, or -1
    nearest: wp.array(dtype=wp.int32)  # the one that it would, while others are still to be told
    apart: wp.array(dtype=wp.float64)  # how far away that is
    drift: wp.array(dtype=wp.vec3d)  # velocity of a surface that deforms; sign and all, a against b
    normal: wp.array(dtype=wp.vec3d)  # world
    gap: wp.array(dtype=wp.float64)
    closes: wp.array(dtype=wp.bool)  # near enough to matter for how fast it closes
    near: wp.array(dtype=wp.bool)  # or because another one of its pair does
    previous: wp.array(dtype=wp.int32)
    face: wp.array(dtype=wp.int32)
    face_normal: wp.array(dtype=wp.vec3d)


def columns(struct, size, device, **more):
    """An instance of ``struct`` with ``size`` elements in each array, ``more`` in those named."""
    return allocate(struct, more, size, device)


def write_points(arrays, manifolds):
    """Copy Manifolds to the front of PointArrays."""
    for item in fields(Manifolds):
        upload(getattr(arrays, item.name), getattr(manifolds, item.name))


def read_points(arrays, count):
    """The first ``count`` points as Manifolds."""
    return Manifolds(*download_all(*((array, count) for array in columns_of(arrays))))


def pose_arrays(model, device):
    """PoseArrays of a CollisionModel."""
    poses = columns(PoseArrays, len(model.names), device, held_apart=len(model.breakable))
    poses.held_apart.fill_(True)
    upload(poses.movable, model.movable)
    upload(poses.center, model.center_of_mass)
    upload(poses.group, model.group_class.astype(np.int32))
    poses.piece.fill_(-1)
    return poses


def straight_parts(model):
    """(S,) half the length of the straight parts of cylinders and capsules, along their own Z; 0 of others [m]."""
    is_round = (model.shape_rounding > 0.0) | ((model.shape_side[:, 0] > 0.0) & (model.shape_side[:, 1] == 0.0))
    return np.where(is_round, model.shape_half[:, 2] - model.shape_rounding, 0.0)


def shape_arrays(model, device):
    """ShapeArrays of a CollisionModel."""
    plane = np.array([isinstance(shape, Plane) for shape in model.shapes], bool)
    values = {
        "body": model.shape_body,
        "size": model.shape_size,
        "radius": model.shape_radius,
        "mesh": model.faces.mesh,
        "hull": [isinstance(shape, ConvexHull) for shape in model.shapes],
        "plane": plane,
        "planes": np.flatnonzero(plane),
        "polyhedron": [isinstance(shape, (Box, ConvexHull)) for shape in model.shapes],
        "place": model.shape_position,
        "rotation": model.shape_rotation,
        "middle": model.shape_middle,
        "center": model.shape_center,
        "half": model.shape_half,
        "side": model.shape_side,
        "straight": straight_parts(model),
        "face_first": model.faces.first,
        "face_normal": model.faces.normal,
        "polygon_first": model.polygons.first,
        "polygon_normal": model.polygons.normal,
        "polygon_offset": model.polygons.offset,
        "polygon_start": model.polygons.start,
        "corner": model.polygons.corner,
        "span_start": model.polygons.span_start,
        "span": model.polygons.span,
        "breadth": model.polygons.breadth,
        "many": model.polygons.many,
        "collides": model.class_collides.reshape(-1),
        "joined": model.joined,
        "breakable": model.breakable,
    }
    arrays = {}
    for name, numbers in values.items():
        dtype = ShapeArrays.vars[name].type.dtype
        arrays[name] = wp.array(np.asarray(numbers, NUMPY.get(dtype, float)), dtype=dtype, device=device)
    return of_arrays(ShapeArrays, count=len(model.shape_body), classes=len(model.class_collides), **arrays)
