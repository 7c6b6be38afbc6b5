# SPDX-License-Identifier: GPL-3.0-or-later
"""Free motion of rigid bodies over a step: gravity, damping, and the torque-free rotation.

The kernel does for each body what ``reference/free_motion.py`` says, where the method is told, in the order of the
solver's bodies.
"""

import operator

import warp as wp

from . import rotations
from .host import HostKernel, HostTable
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .reference.free_motion import FIRST_SHARES, LARGEST_TURN, MOST_ROUNDS, OTHER_SHARES

_MATH = rotation_functions(real_types(wp.float64))
exponential, linear, angular, six = _MATH.exponential, _MATH.linear, _MATH.angular, _MATH.six
vec6 = real_types(wp.float64).vec6
FIRST_COUNT, OTHER_COUNT = wp.constant(len(FIRST_SHARES)), wp.constant(len(OTHER_SHARES))
FIRST = wp.constant(wp.types.vector(length=len(FIRST_SHARES), dtype=wp.float64)(*FIRST_SHARES))
OTHER = wp.constant(wp.types.vector(length=len(OTHER_SHARES), dtype=wp.float64)(*OTHER_SHARES))
LARGEST, ROUNDS = wp.constant(wp.float64(LARGEST_TURN)), wp.constant(wp.float64(MOST_ROUNDS))
TOTAL, DYNAMIC = wp.constant(0), wp.constant(1)


@wp.struct
class MotionTable:
    """Bodies before and after free motion.  In: those of the scene; out: those of the solver, which ``order`` names."""

    count: wp.array(dtype=wp.int32)  # bodies, dynamic ones
    step: wp.array(dtype=wp.float64)
    order: wp.array(dtype=wp.int32)
    x_scene: wp.array(dtype=wp.vec3d)
    q_scene: wp.array(dtype=wp.quatd)
    u_scene: wp.array(dtype=vec6)
    inertia: wp.array(dtype=wp.vec3d)  # from here on in the order of the solver
    acceleration: wp.array(dtype=wp.vec3d)
    reach: wp.array(dtype=wp.float64)  # [s] for which the acceleration acts
    decay: wp.array(dtype=wp.float64)  # what damping leaves of the linear velocity
    turn_decay: wp.array(dtype=wp.float64)  # and of the angular one
    x: wp.array(dtype=wp.vec3d)
    q: wp.array(dtype=wp.quatd)
    u: wp.array(dtype=vec6)
    x_end: wp.array(dtype=wp.vec3d)
    q_end: wp.array(dtype=wp.quatd)
    u_end: wp.array(dtype=vec6)


module = "axion_free_motion"
wp.get_module(module).options["max_unroll"] = 1  # unrolled, NVRTC takes six times as long for it
kernel = wp.kernel(module=module, enable_backward=False)


@wp.func(module=module)
def turned(q: wp.quatd, v: wp.vec3d):
    """A vector turned by a unit quaternion."""
    axis = wp.vec3d(q[0], q[1], q[2])
    t = wp.float64(2.0) * wp.cross(axis, v)
    return v + q[3] * t + wp.cross(axis, t)


@wp.func(module=module)
def rounds_of(m: wp.vec3d, inertia: wp.vec3d, first: wp.float64, last: wp.float64, h: wp.float64):
    """Sub-steps a body needs; see ``_rounds`` of the reference."""
    zero = wp.float64(0.0)
    square = m[0] * m[0] + m[1] * m[1] + m[2] * m[2]
    energy = m[0] * m[0] / inertia[0] + m[1] * m[1] / inertia[1] + m[2] * m[2] / inertia[2]
    spread = wp.max(first - last, wp.float64(1.0e-300))
    most_first = wp.clamp((energy - square / inertia[2]) / spread, zero, square)
    most_last = wp.clamp((square / inertia[0] - energy) / spread, zero, square)
    rate = wp.sqrt(first * first * most_first + last * last * most_last - first * last * square)
    return wp.clamp(wp.ceil(h * rate / LARGEST), wp.float64(1.0), ROUNDS)


@wp.func(module=module)
def turn_about(axis: int, factor: wp.float64, m: wp.vec3d, turn: wp.vec4d):
    """M and the turn so far, after a turn by factor m[axis] about a body axis: (vec3d, vec4d)."""
    j = (axis + 1) % 3
    k = (axis + 2) % 3
    half = wp.float64(0.5) * factor * m[axis]
    if half == wp.float64(0.0):
        return m, turn
    s = wp.sin(half)
    c = wp.cos(half)
    new = wp.vec4d()
    new[axis] = turn[axis] * c + turn[3] * s
    new[3] = turn[3] * c - turn[axis] * s
    new[j] = turn[j] * c + turn[k] * s
    new[k] = turn[k] * c - turn[j] * s
    sine = wp.float64(2.0) * s * c
    cosine = wp.float64(1.0) - wp.float64(2.0) * s * s
    moved = wp.vec3d()
    moved[axis] = m[axis]
    moved[j] = m[j] * cosine + m[k] * sine
    moved[k] = m[k] * cosine - m[j] * sine
    return moved, new


@wp.func(module=module)
def free_rotation(q: wp.quatd, w: wp.vec3d, inertia: wp.vec3d, h: wp.float64):
    """Orientation and angular velocity after a torque-free turn: (quatd, vec3d)."""
    one = wp.float64(1.0)
    i0 = int(0)
    i1 = int(1)
    i2 = int(2)
    if inertia[i0] > inertia[i1]:
        i0, i1 = i1, i0
    if inertia[i1] > inertia[i2]:
        i1, i2 = i2, i1
    if inertia[i0] > inertia[i1]:
        i0, i1 = i1, i0
    # An odd order of the axes is left-handed: m, which counts turns, changes its sign in it.
    hand = wp.where(i1 - i0 == 1 or i1 - i0 == -2, one, -one)
    sorted = wp.vec3d(inertia[i0], inertia[i1], inertia[i2])
    local = wp.cw_mul(turned(wp.quatd(-q[0], -q[1], -q[2], q[3]), w), inertia)
    about = exponential(h / sorted[1] * turned(q, local))
    first = one / sorted[0] - one / sorted[1]
    last = one / sorted[2] - one / sorted[1]
    own = wp.quatd(wp.float64(0.0), wp.float64(0.0), wp.float64(0.0), one)
    if first != wp.float64(0.0) or last != wp.float64(0.0):
        m = hand * wp.vec3d(local[i0], local[i1], local[i2])
        turn = wp.vec4d(wp.float64(0.0), wp.float64(0.0), wp.float64(0.0), one)
        rounds = int(rounds_of(m, sorted, first, last, h))
        if first == wp.float64(0.0):  # a symmetric top: one turn is all
            m, turn = turn_about(2, h * last, m, turn)
            rounds = 0
        elif last == wp.float64(0.0):
            m, turn = turn_about(0, h * first, m, turn)
            rounds = 0
        part = h / wp.float64(wp.max(rounds, 1))
        for _ in range(rounds):
            for number in range(FIRST_COUNT):
                m, turn = turn_about(0, FIRST[number] * part * first, m, turn)
                if number < OTHER_COUNT:
                    m, turn = turn_about(2, OTHER[number] * part * last, m, turn)
        own[i0] = hand * turn[0]
        own[i1] = hand * turn[1]
        own[i2] = hand * turn[2]
        own[3] = turn[3]
        local[i0] = hand * m[0]
        local[i1] = hand * m[1]
        local[i2] = hand * m[2]
    new = wp.normalize(about * q * own)
    return new, turned(new, wp.cw_div(local, inertia))


@kernel
def free_motion(table: MotionTable):
    """The table's bodies after a step of free motion."""
    i = wp.tid()
    if i >= table.count[TOTAL]:
        return
    body = table.order[i]
    x = table.x_scene[body]
    q = table.q_scene[body]
    u = table.u_scene[body]
    table.x[i] = x
    table.q[i] = q
    table.u[i] = u
    if i >= table.count[DYNAMIC]:
        table.x_end[i] = x
        table.q_end[i] = q
        table.u_end[i] = u
        return
    h = table.step[0]
    v = linear(u) * table.decay[i] + table.acceleration[i] * table.reach[i]
    new, w = free_rotation(q, angular(u) * table.turn_decay[i], table.inertia[i], h)
    table.x_end[i] = x + h * v
    table.q_end[i] = new
    table.u_end[i] = six(v, w)


class FreeMotion:
    """Free motion of B bodies of a scene, and of the world, which is number B and stands still."""

    def __init__(self):
        self._table = HostTable(MotionTable, count=2, step=1)
        self._kernel = HostKernel(free_motion, self._table)
        self._lies = None  # what the table holds that steps seldom change

    def run(self, pose, velocity, order, inertia, acceleration, reach, decay, turn_decay, step):
        """Poses and velocities at the start and at the end of a step, in the order of the solver.

        Args:
            pose: positions (B, 3) and orientations (B, 4) of the scene's bodies at the start.
            velocity: (B, 6) at the start.
            order: (B + 1,) the scene's body for each of the solver's; those that move come first.
            inertia: (n, 3) principal moments of those that move [kg m^2].
            acceleration: (3,) or (n, 3) of theirs [m/s^2]; reach: (n,) for how long it acts [s], see ``reach``.
            decay, turn_decay: (n,) what damping leaves of their linear and angular velocity.
            step: [s].

        Returns:
            position (B + 1, 3), orientation (B + 1, 4), velocity (B + 1, 6) at the start and the same at the end.
            Bodies that do not move freely are at the end as they are at the start.
        """
        count, n = len(velocity), len(inertia)
        v = self._table.reserve(count + 1)
        v.count[:], v.step[0] = (count + 1, n), step
        lies, known = (order, inertia, reach, decay, turn_decay, v.x), self._lies
        if known is None or not all(map(operator.is_, known, lies)):
            v.order[: count + 1] = order
            v.x_scene[count], v.q_scene[count], v.u_scene[count] = 0.0, rotations.IDENTITY, 0.0
            v.inertia[:n], v.reach[:n], v.decay[:n], v.turn_decay[:n] = inertia, reach, decay, turn_decay
            self._lies = None if any(values.flags.writeable for values in lies[:-1]) else lies
        v.x_scene[:count], v.q_scene[:count] = pose
        v.u_scene[:count], v.acceleration[:n] = velocity, acceleration
        self._kernel.run()
        return tuple([out[: count + 1].copy() for out in (v.x, v.q, v.u, v.x_end, v.q_end, v.u_end)])


def angular_acceleration(orientation, torque, inertia):
    """I^-1 torque in world axes.  orientation (n, 4), torque (n, 3) world [N m], inertia (n, 3) -> (n, 3) [rad/s^2]."""
    return rotations.rotate(orientation, rotations.rotate(rotations.conjugate(orientation), torque) / inertia)
