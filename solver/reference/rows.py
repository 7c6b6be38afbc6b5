# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint coordinates, contact gaps and their Jacobians in float64 NumPy: what every other evaluation is compared with.

For a joint row with coordinate c and for a contact with gap phi, at any pose of the bodies,

    dc/dt  = J_a u_a + J_b u_b            u = (v, w), linear and angular velocity in world axes
    dphi/dt = (J_a u_a + J_b u_b)[0]      as far as the body points themselves move (levers end on the body points)

Symbols, all in world axes: x centre of mass, r lever from it to the anchor or contact point, d anchor b minus anchor a,
a = R_a axis_a, b = R_b axis_b.  Impulse p of a row acts as +J_a^T p on body a and as +J_b^T p on body b.

    LINEAR    c = a . d      J_a = [-a, -(d + r_a) x a]    J_b = [a, r_b x a]      (a turns with body a)
    DOT       c = a . b      J_a = [0, a x b]              J_b = [0, b x a]
    TWIST     c = 2 atan2(v . k, w), (v, w) = q_a^-1 q_b reference^-1, k = axis_a
              J_b = [0, R_a g],  g = (w (w k + v x k) + (v . k) v) / r^2,  r^2 = w^2 + (v . k)^2,  J_a = -J_b
    DISTANCE  c = |d|        J_a = [-e, -r_a x e]          J_b = [e, r_b x e]      e = d / |d|
    contact   v = e . (point velocity of a - that of b), e = n, t1, t2:  J_a = [e, r_a x e], J_b = [-e, -r_b x e]

In mid-step x, r, d, a and b are the means of what they are at both ends, and e = 2 d / (|d| before + |d| after).  With
s = (x+ - x-, 2 tan(phi / 2) k) of each body, which turns by phi about k,

    J_a s_a + J_b s_b = c(q+) - c(q-)              LINEAR, DOT and DISTANCE, to rounding

because a vector r fixed in a body has r+ - r- = 2 tan(phi / 2) k x (r+ + r-) / 2, and c is quadratic in such vectors
(Gonzalez 1996; Betsch and Steinmann 2002).  Where c stays zero s is in the kernel of J, so that rows are redundant in
the step exactly where they are so in the mechanism: their stress against each other then moves nothing.

No angle exists where b is turned over, half a turn about an axis across k: r = cos(swing / 2) is 0 there, g is 1 / r,
and the angle takes any value, by which side b passes.  Beyond 120 degrees of swing, r < 1 / 2, a TWIST therefore fades
into a coordinate that is smooth there, and is that alone from 160 degrees on.  With m its ``centre``, f a cubic of r,
and the angle y off m,

    TWIST     c - m = f y + (1 - f) 2 r sin(y / 2)        2 r sin(y / 2) = +-2 (v . k cos(m / 2) - w sin(m / 2))
              J_b = [0, R_a (f g + (1 - f) grad 2 r sin(y / 2) + (y - 2 r sin(y / 2)) f' grad r)]

which has a bounded derivative everywhere: a spring has a potential 1/2 stiffness (c - m)^2, what is held at m passes
through r = 0, and limits around m let b do so.  Where f is 0 whole turns of y change no more than the sign of c - m.  A
row that asks for a speed alone, as friction and motors do, has no m: J_b = [0, R_a (f g + (1 - f) k)] measures more and
more the speed about a's own axis.  Hinges have r = 1.
"""

import numpy as np

from ..problem import Coordinate, Lever, tangents
from .rotation import arctan2, conjugate, cross, dot, halfway, multiply, rotate
from .round_cores import core_gaps

SWUNG = 0.5  # r of a TWIST below which it fades, at a swing of 120 degrees,
OVER = float(np.cos(np.radians(80.0)))  # and below which it is gone, at 160


def _anchors(rows, position, orientation):
    """Levers r_a, r_b and separation d of all rows, in world axes (R, 3)."""
    a, b = rows.body_a, rows.body_b
    r_a = rotate(orientation.take(a, 0), rows.anchor_a)
    r_b = rotate(orientation.take(b, 0), rows.anchor_b)
    return r_a, r_b, position.take(b, 0) + r_b - position.take(a, 0) - r_a


def _twist(rows, orientation):
    """Relative rotation (R, 4) in a's frame since the reference, and v . k (R,)."""
    relative = multiply(conjugate(orientation.take(rows.body_a, 0)), orientation.take(rows.body_b, 0))
    turned = multiply(relative, conjugate(rows.reference))
    return turned, dot(turned[:, :3], np.asarray(rows.axis_a, float))


def fade(r):
    """f(r) and its derivative, of r = cos(swing / 2), (R,) each."""
    part = np.clip((r - OVER) / (SWUNG - OVER), 0.0, 1.0)
    return part * part * (3.0 - 2.0 * part), 6.0 * part * (1.0 - part) / (SWUNG - OVER)


def faded(rows, angle, r):
    """(R,) coordinates of TWIST rows, less their offsets, at an ``angle`` (R,) less their offsets and r (R,)."""
    off, part = angle - rows.centre, fade(r)[0]
    near = rows.centre + part * off + (1.0 - part) * 2.0 * r * np.sin(0.5 * off)
    return np.where((r < SWUNG) & ~np.isnan(off), near, angle)


def fades(rows, orientation):
    """(R,) bool: JointRows that are a TWIST and fade at the orientations (B, 4)."""
    turned, sine = _twist(rows, np.asarray(orientation, float))
    return (rows.coordinate == int(Coordinate.TWIST)) & (np.hypot(turned[:, 3], sine) < SWUNG)


def _kinds(rows):
    """Indices of the rows of each kind that occurs."""
    kind = np.asarray(rows.coordinate)
    return {each: np.flatnonzero(kind == each) for each in np.unique(kind).tolist()}


def coordinates(rows, position, orientation, near=None):
    """Value of every joint row's coordinate, minus its offset.

    Args:
        rows: JointRows with R rows.
        position: (B, 3) world positions of the solver frames [m].
        orientation: (B, 4) their unit quaternions, xyzw.
        near: (R,) angle [rad] each TWIST is unwrapped around, before the offset is subtracted; default: the offset.

    Returns:
        c (R,) in metres (LINEAR, DISTANCE) or radians (TWIST; DOT near zero).
    """
    position, orientation = np.asarray(position, float), np.asarray(orientation, float)
    near = np.asarray(rows.offset if near is None else near, float)
    value = np.zeros(len(rows))
    if not len(rows):
        return value
    kinds = _kinds(rows)
    _, _, d = _anchors(rows, position, orientation)
    if (i := kinds.get(Coordinate.LINEAR)) is not None:
        value[i] = dot(rotate(orientation[rows.body_a[i]], rows.axis_a[i]), d[i])
    if (i := kinds.get(Coordinate.DOT)) is not None:
        a = rotate(orientation[rows.body_a[i]], rows.axis_a[i])
        value[i] = dot(a, rotate(orientation[rows.body_b[i]], rows.axis_b[i]))
    if (i := kinds.get(Coordinate.TWIST)) is not None:
        turned, sine = (values[i] for values in _twist(rows, orientation))
        angle = 2.0 * arctan2(sine, turned[:, 3])
        value[i] = angle - 2.0 * np.pi * np.round((angle - near[i]) / (2.0 * np.pi))
        over = np.flatnonzero((r := np.hypot(turned[:, 3], sine)) < SWUNG)
        if len(over):
            i, r = i[over], r[over]
            value[i] = rows.offset[i] + faded(rows.take(i), value[i] - rows.offset[i], r)
    if (i := kinds.get(Coordinate.DISTANCE)) is not None:
        value[i] = np.sqrt(dot(d[i], d[i]))
    return value - rows.offset


def jacobians(rows, position, orientation):
    """Derivative of every joint row's coordinate with respect to the velocities of its two bodies.

    Args:
        rows: JointRows with R rows.
        position: (B, 3) world positions of the solver frames [m].
        orientation: (B, 4) their unit quaternions, xyzw.

    Returns:
        J_a (R, 6), J_b (R, 6), on (linear, angular) velocity in world axes.  Where the derivative does not exist (a
        DISTANCE of zero) the row is zero.
    """
    position, orientation = np.asarray(position, float), np.asarray(orientation, float)
    return _directions(rows, ((position, orientation),), orientation, orientation)


def mean_jacobians(rows, start, end):
    """J_a (R, 6), J_b (R, 6) in mid-step: along them joint rows do no work in a step that keeps their coordinates.

    A TWIST is taken half way between the two orientations, on the way that leads to its angle at the end.

    Args:
        rows: JointRows with R rows.
        start, end: position (B, 3) [m] and orientation (B, 4) of the solver frames at both ends of the step.
    """
    start, end = (tuple(np.asarray(values, float) for values in pose) for pose in (start, end))
    return _directions(rows, (start, end), halfway(start[1], end[1]), end[1])


def with_start_levers(rows, start, end, directions, fast):
    """J_a (R, 6), J_b (R, 6): ``directions`` in mid-step, but with the levers of the start for bodies ``fast`` (B,).

    Each body's own axis of a DOT counts as its lever; a TWIST has none.  start, end: as in ``mean_jacobians``.
    """
    j_a, j_b = (each.copy() for each in directions)
    r_a, r_b, d = _anchors(rows, *start)
    (a, a_end), (b, b_end) = (
        [rotate(orientation[body], axis) for _, orientation in (start, end)]
        for body, axis in ((rows.body_a, rows.axis_a), (rows.body_b, rows.axis_b))
    )
    kinds, force = _kinds(rows), j_b[:, :3]
    turn_a, turn_b = j_a[:, 3:].copy(), j_b[:, 3:].copy()
    for kind, lever in ((Coordinate.LINEAR, r_a + d), (Coordinate.DISTANCE, r_a)):
        if (i := kinds.get(kind)) is not None:
            turn_a[i], turn_b[i] = -cross(lever[i], force[i]), cross(r_b[i], force[i])
    if (i := kinds.get(Coordinate.DOT)) is not None:
        turn_a[i] = -cross(0.5 * (b + b_end)[i], a[i])
        turn_b[i] = cross(b[i], 0.5 * (a + a_end)[i])
    j_a[:, 3:] = np.where(fast[rows.body_a][:, None], turn_a, j_a[:, 3:])
    j_b[:, 3:] = np.where(fast[rows.body_b][:, None], turn_b, j_b[:, 3:])
    return j_a, j_b


def joint_directions(problem, position, orientation):
    """J_a (R, 6), J_b (R, 6) along which joint rows act in a step that ends at these poses: there, or in mid-step."""
    bodies, joints = problem.bodies, problem.joints
    j_a, j_b = jacobians(joints, position, orientation)
    middle = np.where(np.arange(len(bodies.mass)) < bodies.dynamic_count, bodies.midpoint, 0.0) != 0.0
    middle = middle[joints.body_a] | middle[joints.body_b]
    if middle.any():
        mean = mean_jacobians(joints, (bodies.position, bodies.orientation), (position, orientation))
        for end, mid in zip((j_a, j_b), mean, strict=True):
            end[middle] = mid[middle]
    return j_a, j_b


def felt_directions(problem, position, orientation):
    """``joint_directions`` as bodies feel them on their way: those with a spin at the levers of the start."""
    directions, bodies = joint_directions(problem, position, orientation), problem.bodies
    if bodies.spin is None:
        return directions
    start = bodies.position, bodies.orientation
    return with_start_levers(problem.joints, start, (position, orientation), directions, bodies.spin.any(axis=1))


def _directions(rows, poses, turn, end):
    """J_a (R, 6), J_b (R, 6) from the mean over one or two poses; those of a TWIST at the orientations ``turn`` (B, 4),
    on the way to those of the ``end``.
    """
    j_a, j_b = np.zeros((len(rows), 6)), np.zeros((len(rows), 6))
    if not len(rows):
        return j_a, j_b
    levers = [_anchors(rows, *pose) for pose in poses]
    r_a, r_b, d = (np.mean(each, axis=0) for each in zip(*levers, strict=True))
    a, b = (
        np.mean([rotate(orientation[body], axis) for _, orientation in poses], axis=0)
        for body, axis in ((rows.body_a, rows.axis_a), (rows.body_b, rows.axis_b))
    )
    kinds = _kinds(rows)
    if (i := kinds.get(Coordinate.LINEAR)) is not None:
        j_a[i] = np.hstack([-a[i], -cross(d[i] + r_a[i], a[i])])
        j_b[i] = np.hstack([a[i], cross(r_b[i], a[i])])
    if (i := kinds.get(Coordinate.DOT)) is not None:
        j_b[i, 3:] = cross(b[i], a[i])
        j_a[i] = -j_b[i]
    if (i := kinds.get(Coordinate.TWIST)) is not None:
        turned, sine = (values[i] for values in _twist(rows, turn))
        v, w, s, k = turned[:, :3], turned[:, 3:], sine[:, None], rows.axis_a[i]
        scale = w * w + s * s
        local = (w * (w * k + cross(v, k)) + s * v) / np.where(scale > 0.0, scale, np.inf)
        over = np.flatnonzero(scale < SWUNG * SWUNG)
        if len(over):
            ours, there = rows.take(i[over]), (turned[over], sine[over])
            local[over] = _fading(ours, *there, local[over], _angles_before(ours, end, *there))
        j_b[i, 3:] = rotate(turn[rows.body_a[i]], local)
        j_a[i] = -j_b[i]
    if (i := kinds.get(Coordinate.DISTANCE)) is not None:
        length = np.mean([np.sqrt(dot(apart[i], apart[i])) for _, _, apart in levers], axis=0)[:, None]
        e = d[i] / np.where(length > 0.0, length, np.inf)
        j_a[i] = np.hstack([-e, -cross(r_a[i], e)])
        j_b[i] = np.hstack([e, cross(r_b[i], e)])
    return j_a, j_b


def _angles_before(rows, end, turned, sine):
    """(R,) angles of TWIST rows, less their offsets, where ``turned`` and ``sine`` are, by the way to the ``end``."""
    last, s = _twist(rows, end)
    sense, w = np.where(dot(last, turned) < 0.0, -1.0, 1.0), last[:, 3]
    angle = 2.0 * arctan2(s, w) - rows.offset
    back = 2.0 * arctan2(sense * (w * sine - s * turned[:, 3]), sense * (w * turned[:, 3] + s * sine))
    return angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi)) + back


def _fading(rows, turned, sine, whole, near):
    """(R, 3) derivatives of TWIST rows that fade, in a's frame; whole: (R, 3) those of the angles; near: (R,) angles
    less their offsets, within half a turn of which they are.
    """
    v, w, s, k = turned[:, :3], turned[:, 3:], sine[:, None], np.asarray(rows.axis_a, float)
    r = np.hypot(turned[:, 3], sine)
    part, slope = (each[:, None] for each in fade(r))
    angle = 2.0 * arctan2(sine, turned[:, 3]) - rows.offset
    turns = np.round((angle - near) / (2.0 * np.pi))
    off = (angle - 2.0 * np.pi * turns - rows.centre)[:, None]
    of_sine, of_cosine = w * k + cross(v, k), -v  # twice the derivatives of s and w
    outward = 0.5 * (s * of_sine + w * of_cosine) / np.where(r > 0.0, r, np.inf)[:, None]
    half = 0.5 * (rows.offset + rows.centre + 2.0 * np.pi * turns)[:, None]
    smooth = 2.0 * (s * np.cos(half) - w * np.sin(half)), of_sine * np.cos(half) - of_cosine * np.sin(half)
    near = part * whole + (1.0 - part) * smooth[1] + (off - smooth[0]) * slope * outward
    return np.where(np.isnan(off), part * whole + (1.0 - part) * k, near)


def gaps(contacts, position, orientation):
    """Distance [m] (C,) between the two surfaces along each normal; negative where they overlap.

    phi = n . (x_a - x_b) - margin_a - margin_b with x the world positions of the two local points and n the normal, at
    the given poses (position (B, 3), orientation (B, 4) xyzw); between round cores as in round_cores.py.
    """
    position, orientation = np.asarray(position, float), np.asarray(orientation, float)
    a, b = contacts.body_a, contacts.body_b
    n = normals(contacts, orientation)
    x_a = position.take(a, 0) + contact_places(contacts, a, contacts.point_a, orientation.take(a, 0), -n)
    x_b = position.take(b, 0) + contact_places(contacts, b, contacts.point_b, orientation.take(b, 0), n)
    gap = dot(n, x_a - x_b) - contacts.margin_a - contacts.margin_b
    return gap if contacts.core_reach is None else core_gaps(contacts, gap, position, orientation)


def contact_places(contacts, body, point, turn, outward):
    """(C, 3) points of the bodies ``body`` (C,) from their centres, in world axes, at their orientations (C, 4) [m].

    Where a rim rolls it is its outermost place along ``outward`` (C, 3), wherever the body's ``point`` (C, 3) has got.
    """
    place = rotate(turn, point)
    if contacts.rim_arm is None:
        return place
    mine = contacts.rim_arm.any(axis=1) & (body == np.minimum(contacts.body_a, contacts.body_b))
    turn, arm, outward = turn[mine], contacts.rim_arm[mine], outward[mine]
    axis = rotate(turn, contacts.rim_axis[mine])
    across = outward - dot(outward, axis)[:, None] * axis
    across *= np.sqrt(dot(arm, arm) / dot(across, across))[:, None]
    place[mine] += across - rotate(turn, arm)
    return place


def normals(contacts, orientation, index=None):
    """World normals (C, 3) at the given orientations (B, 4): those of faces turn with their bodies.

    index: (K,) numbers of the contacts whose normals they are; default: all.
    """
    columns = contacts.normal, contacts.face, contacts.face_normal
    if index is not None:
        columns = (None if column is None else column.take(index, 0) for column in columns)
    normal, face, face_normal = columns
    if face is None:
        return np.asarray(normal, float)
    turned = rotate(np.asarray(orientation, float).take(face, 0, mode="wrap"), face_normal)
    return np.where((face >= 0)[:, None], turned, normal)


def contact_jacobians(contacts, position, orientation, free=None, end=None):
    """Velocity of body a's surface relative to b's along (normal, t1, t2), as a function of the body velocities.

    Args:
        contacts: Contacts with C entries.
        position: (B, 3) world positions of the solver frames [m].
        orientation: (B, 4) their unit quaternions, xyzw.
        free: (B, 4) likewise, after free motion: contacts that glide have their levers half way, or the means of them
            (Simpson's).  None: nothing glides.  end: (B, 4) at the end, to which some of those are (roly_polies.py).

    Returns:
        J_a (C, 3, 6), J_b (C, 3, 6).  The levers end on the surfaces: the rotated point minus n margin_a on a, plus
        n margin_b on b.  Tangents are those of ``problem.tangents``.
    """
    if not len(contacts):
        return np.zeros((0, 3, 6)), np.zeros((0, 3, 6))
    n = np.asarray(contacts.normal, float).reshape(-1, 3)
    axes = np.stack([n, *tangents(n)], axis=1)
    r_a, r_b = levers(contacts, n, orientation, free, end)
    j_a = np.concatenate([axes, cross(r_a[:, None, :], axes)], axis=2)
    j_b = -np.concatenate([axes, cross(r_b[:, None, :], axes)], axis=2)
    return j_a, j_b


def normal_jacobians(contacts, orientation, free=None):
    """J_a (C, 6), J_b (C, 6): those of ``contact_jacobians`` along the normals alone."""
    n = np.asarray(contacts.normal, float).reshape(-1, 3)
    r_a, r_b = levers(contacts, n, orientation, free)
    return np.concatenate([n, cross(r_a, n)], axis=1), -np.concatenate([n, cross(r_b, n)], axis=1)


def levers(contacts, n, orientation, free=None, end=None):
    """r_a (C, 3), r_b (C, 3) of ``contact_jacobians`` [m], which end on the surfaces; n: (C, 3) normals."""
    orientation = np.asarray(orientation, float)
    sides = (contacts.body_a, contacts.point_a, -n), (contacts.body_b, contacts.point_b, n)
    r_a, r_b = (contact_places(contacts, body, point, orientation.take(body, 0), out) for body, point, out in sides)
    if free is not None and contacts.glides is not None:
        kind, glided = contacts.lever_kind[:, None], []
        for r, (body, point, out) in zip((r_a, r_b), sides, strict=True):
            last = np.asarray(free, float)[body] if end is None else np.where(kind == Lever.MADE, end[body], free[body])
            half = contact_places(contacts, body, point, halfway(orientation[body], last), out)
            mean = (r + 4.0 * half + rotate(last, point)) / 6.0
            glided.append(
                np.where(kind == Lever.START, r, np.where(np.isin(kind, (Lever.MEAN, Lever.MADE)), mean, half))
            )
        r_a, r_b = glided
    r_a = r_a - n * np.reshape(contacts.margin_a, (-1, 1))
    return r_a, r_b + n * np.reshape(contacts.margin_b, (-1, 1))


def coordinate_rates(rows, velocity, *pose):
    """(R,) speed at which the coordinates of JointRows change [m/s, rad/s], with velocities (B, 6); pose: position
    (B, 3) and orientation (B, 4).
    """
    j_a, j_b = jacobians(rows, *pose)
    return dot(j_a, velocity[rows.body_a]) + dot(j_b, velocity[rows.body_b])


def parting_speeds(contacts, velocity, *pose):
    """(C,) speed at which the bodies of contacts part along the normals [m/s], with velocities (B, 6).

    pose: position (B, 3), orientation (B, 4) and, as in ``contact_jacobians``, ``free``.
    """
    j_a, j_b = normal_jacobians(contacts, *pose[1:])
    return dot(j_a, velocity.take(contacts.body_a, 0)) + dot(j_b, velocity.take(contacts.body_b, 0))


def surface_slip(contacts):
    """(C, 2) what running surfaces add to the slip of a relative to b, along (t1, t2) [m/s]."""
    if contacts.surface_velocity is None:
        return np.zeros((len(contacts), 2))
    t1, t2 = tangents(contacts.normal)
    return np.stack([dot(t1, contacts.surface_velocity), dot(t2, contacts.surface_velocity)], axis=1)


def start_gaps(problem):
    """(C,) gap by which each contact's allowed overlap is judged: the one given, or that at the start pose [m]."""
    contacts, bodies = problem.contacts, problem.bodies
    if contacts.start_gap is not None:
        return contacts.start_gap
    return gaps(contacts, bodies.position, bodies.orientation)
