# SPDX-License-Identifier: GPL-3.0-or-later
"""Where newton is told that planes are: beneath the origin that stays near the moving bodies, not at their own.

newton takes a plane's place in single precision, and looks for contacts no farther than a million of its lengths from
it.  A plane is the same wherever along itself it is placed.  So newton has planes as shapes of the world, each at the
foot of the perpendicular from the moving origin, found in double precision; contact points on them come back in the
world and are turned into the body's frame in double precision, too.
"""

import warp as wp

from .contact_arrays import UNIT, PoseArrays, ShapeArrays, StageArrays, StateArrays
from .contact_geometry import MODULE, turned_back

unit_slot = wp.constant(UNIT)


@wp.kernel(module=MODULE, enable_backward=False)
def place_planes(stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, state: StateArrays):
    """Place each plane for newton, whose lengths are those of ``unit`` and relative to the origin; one a thread."""
    s = shapes.planes[wp.tid()]
    body = shapes.body[s]
    unit = stage.settings[unit_slot]
    frame = poses.rotation[body] * shapes.rotation[s]
    upward = wp.vec3d(frame[0, 2], frame[1, 2], frame[2, 2])
    away = poses.position[body] - unit * stage.vectors[1] + poses.rotation[body] * shapes.place[s]
    foot = wp.dot(upward, away) / unit * upward
    q = wp.quat_from_matrix(frame)
    turn = wp.quat(float(q[0]), float(q[1]), float(q[2]), float(q[3]))
    state.shape_transform[s] = wp.transform(wp.vec3(foot), turn)


@wp.func(module=MODULE)
def own_point(stage: StageArrays, poses: PoseArrays, shapes: ShapeArrays, shape: int, point: wp.vec3):
    """Of newton's point on a shape, which is in the body's frame or, on planes, in the world: where it is in the body's
    frame, in metres.
    """
    unit = stage.settings[unit_slot]
    if not shapes.plane[shape]:
        return unit * wp.vec3d(point)
    body = shapes.body[shape]
    return turned_back(poses.rotation[body], unit * (wp.vec3d(point) + stage.vectors[1]) - poses.position[body])
