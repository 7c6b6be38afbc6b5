# SPDX-License-Identifier: GPL-3.0-or-later
"""Coordinates of joint rows where a step starts, how fast they change and how easily: a kernel on the host."""

import warp as wp

from .. import rotations
from ..arrays import RowArrays, vec6
from ..host import HostKernel, HostTable
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions
from .row_functions import row_functions
from .springs import module

_MEASURED = (
    *("coordinate", "anchor_a", "anchor_b", "axis_a", "axis_b", "reference", "offset", "centre"),
    *(("a", "body_a"), ("b", "body_b")),
)
_math, measure = rotation_functions(real_types(wp.float64)), row_functions().measure
linear, angular, join = _math.linear, _math.angular, _math.six


@wp.struct
class StepStart:
    """Bodies where a step starts, the world last, and what is found of the rows."""

    count: wp.array(dtype=wp.int32)  # rows
    x: wp.array(dtype=wp.vec3d)
    q: wp.array(dtype=wp.quatd)
    u: wp.array(dtype=vec6)
    inverse_mass: wp.array(dtype=wp.float64)
    inverse_inertia: wp.array(dtype=wp.vec3d)  # principal
    coordinate: wp.array(dtype=wp.float64)  # out, (rows,)
    speed: wp.array(dtype=wp.float64)
    mobility: wp.array(dtype=wp.float64)
    jac_a: wp.array(dtype=vec6)
    jac_b: wp.array(dtype=vec6)
    weighed_a: wp.array(dtype=vec6)  # M^-1/2 J^T of each body, in its own axes
    weighed_b: wp.array(dtype=vec6)


@wp.func(module=module)
def weighed(jac: vec6, start: StepStart, body: int):
    """M^-1/2 J^T of a body, in its own axes."""
    ease = start.inverse_inertia[body]
    root = wp.vec3d(wp.sqrt(ease[0]), wp.sqrt(ease[1]), wp.sqrt(ease[2]))
    push = wp.sqrt(start.inverse_mass[body]) * linear(jac)
    return join(push, wp.cw_mul(root, wp.quat_rotate_inv(start.q[body], angular(jac))))


@wp.func(module=module)
def at_start(rows: RowArrays, start: StepStart, r: int):
    """Row r where the step starts."""
    a = rows.a[r]
    b = rows.b[r]
    return measure(rows, r, start.x[a], start.q[a], start.x[b], start.q[b])


@wp.kernel(module=module, enable_backward=False)
def observe(rows: RowArrays, start: StepStart):
    """c, J u, J, J M^-1/2 and J M^-1 J^T of each row."""
    r = wp.tid()
    if r >= start.count[0]:
        return
    a = rows.a[r]
    b = rows.b[r]
    row = at_start(rows, start, r)
    start.coordinate[r] = row.c
    start.speed[r] = wp.dot(row.jac_a, start.u[a]) + wp.dot(row.jac_b, start.u[b])
    start.jac_a[r] = row.jac_a
    start.jac_b[r] = row.jac_b
    of_a = weighed(row.jac_a, start, a)
    of_b = weighed(row.jac_b, start, b)
    start.weighed_a[r] = of_a
    start.weighed_b[r] = of_b
    start.mobility[r] = wp.dot(of_a, of_a) + wp.dot(of_b, of_b)


@wp.kernel(module=module, enable_backward=False)
def locate(rows: RowArrays, start: StepStart):
    """Coordinate of each row."""
    r = wp.tid()
    if r >= start.count[0]:
        return
    start.coordinate[r] = at_start(rows, start, r).c


class Observer:
    """Of JointRows of one scene, whose bodies are numbered as there; the world is number B."""

    def __init__(self, rows, frames):
        """rows: JointRows; frames: BodyFrames."""
        names = [name if isinstance(name, tuple) else (name, name) for name in _MEASURED]
        self._count, bodies = len(rows), len(frames.mass)
        unused = set(RowArrays.vars) - {name for name, _ in names}
        columns, start = HostTable(RowArrays, **dict.fromkeys(unused, 1)), HostTable(StepStart, count=1)
        v = self._columns = columns.reserve(self._count)
        for name, source in names:
            getattr(v, name)[: self._count] = getattr(rows, source)
        v = self._start = start.reserve(max(bodies + 1, self._count))
        v.count[0] = self._count
        v.x[bodies], v.q[bodies], v.u[bodies] = 0.0, rotations.IDENTITY, 0.0
        v.inverse_mass[:bodies], v.inverse_mass[bodies] = 1.0 / frames.mass, 0.0
        v.inverse_inertia[:bodies], v.inverse_inertia[bodies] = 1.0 / frames.inertia, 0.0
        self._kernel, self._places = HostKernel(observe, columns, start), HostKernel(locate, columns, start)

    def lay(self, axis_a, axis_b):
        """Lay the axes (R, 3) of all rows anew, in the bodies' frames."""
        self._columns.axis_a[: self._count], self._columns.axis_b[: self._count] = axis_a, axis_b

    def near(self, rows, angle, centre):
        """Measure TWISTs, numbers (K,), from ``angle`` (K,), near which they are, and fade them to ``centre`` (K,)."""
        self._columns.offset[rows], self._columns.centre[rows] = angle, centre - angle

    def look(self, position, orientation, velocity):
        """c, J u and J M^-1 J^T, (R,) each, at poses (B, 3), (B, 4) and velocities (B, 6)."""
        v, bodies = self._start, len(position)
        v.x[:bodies], v.q[:bodies], v.u[:bodies] = position, orientation, velocity
        self._kernel.run()
        return v.coordinate[: self._count], v.speed[: self._count], v.mobility[: self._count]

    def places(self, position, orientation):
        """c, (R,), at poses (B, 3), (B, 4)."""
        v, bodies = self._start, len(position)
        v.x[:bodies], v.q[:bodies] = position, orientation
        self._places.run()
        return v.coordinate[: self._count]

    def jacobians(self):
        """J of each body, ((R, 6), (R, 6)), where ``look`` looked last."""
        return self._start.jac_a[: self._count], self._start.jac_b[: self._count]

    def weighed(self):
        """J M^-1/2, (R, 6) of each body in its own axes, where ``look`` looked last: ((R, 6), (R, 6))."""
        return self._start.weighed_a[: self._count], self._start.weighed_b[: self._count]
