# SPDX-License-Identifier: GPL-3.0-or-later
"""The laws of metrics.py as Warp functions in float64, and the arrays of the kernels that apply them.

Largest values are found on their bit patterns: floats that are not negative sort like integers, NaN above all, so that
it comes out as NaN, and in any order of the threads.  Warp's own min, max and clamp drop NaN; ``least`` and ``most``
keep it.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arcs import arc_laws
from .arrays import DYNAMIC, STEP, BodyArrays, ContactArrays, RowArrays
from .constraints.contact_functions import contact_functions
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .meeting import FACE, OTHER, ROUND, STANDS
from .metrics import WEIGHT_FLOOR
from .problem import Coordinate, Lever

BODIES = 5  # slot of ``counts``, beside those of arrays.py: all bodies, immovable ones too
TOLERANCE = 2  # slot of ``settings``, likewise [m]
# Slots of the largest values, in the order of metrics.StepResiduals.
MOMENTUM, GAP, GAP_FISCHER, PENETRATION, FRICTION, CONE, DISSIPATION, JOINT, JOINT_ANGLE = range(9)
KINEMATIC, KINEMATIC_ANGLE = 9, 10
KINDS, OF_BODY, OF_CONTACT = 11, 3, 6  # in all, of a body, of a contact
TURNED, ROUNDED, STOOD, LANDED = 1, 2, 4, 8  # contacts: lever turned far, a round side touches, touched before, came up
SIX = wp.types.vector(length=6, dtype=wp.float64)


@wp.struct
class Judged:
    """What is judged beside the arrays of a solve, and the results.

    Kernels take arrays in structs alone: Warp compiles those that take one by itself twice for the CPU.
    """

    counts: wp.array(dtype=wp.int32)
    settings: wp.array(dtype=wp.float64)
    principal: wp.array(dtype=wp.vec3d)  # (B,) moments of inertia
    moments: wp.array(dtype=wp.vec3d)  # (B,) those against which constraints change the spin (Bodies.moments)
    moves: wp.array(dtype=wp.int32)  # (B,) 1 where an immovable body has a velocity
    jointed: wp.array(dtype=wp.int32)  # (islands,) 1 where joints hold
    end_velocity: wp.array(dtype=SIX)  # (n,) of free motion, at the step's end
    joint: wp.array(dtype=wp.int32)  # (R,)
    push: wp.array(dtype=SIX)  # (B,) impulses on each body
    late: wp.array(dtype=SIX)  # (B,) what bodies with a spin get beyond that by the levers of mid-step, and from lines
    led: wp.array(dtype=wp.quatd)  # (B,) orientation to which the velocity leads them
    square: wp.array(dtype=wp.float64)  # (2 joints,) of the errors of a joint's rows: lengths, angles
    free_energy: wp.array(dtype=wp.float64)  # (islands,)
    energy: wp.array(dtype=wp.float64)
    mass: wp.array(dtype=wp.float64)
    fastest: wp.array(dtype=wp.int64)  # (islands,) bits of float64: speed of its fastest body
    driven: wp.array(dtype=wp.int32)  # (islands,) 1 where joint rows may give energy, 2 where anything else may
    work: wp.array(dtype=wp.float64)  # (islands,) of joint rows [J]
    work_spare: wp.array(dtype=wp.float64)  # (islands,) how far that may be off [J]
    rate: wp.array(dtype=wp.float64)  # (R,) velocity each row's coordinate should end with; NaN: its force decides
    need: wp.array(dtype=wp.int32)  # (islands,) where contacts ask for a velocity phase 2, 1 where only on what moves
    hung: wp.array(dtype=wp.int32)  # (islands,) 1 where lines draw what hangs on what does not move freely
    rolls: wp.array(dtype=wp.int32)  # (islands,) bits of what its contacts do, from TURNED to LANDED
    worst: wp.array(dtype=wp.int64)  # (KINDS,) bits of float64
    error: wp.array(dtype=wp.int64)  # (B,) bits of float64: worst residual each body has a part in, without penetration
    body: wp.array2d(dtype=wp.float64)  # (OF_BODY, B): momentum, kinematic, its angle
    contact: wp.array2d(dtype=wp.float64)  # (OF_CONTACT, C): from GAP to DISSIPATION
    row: wp.array(dtype=wp.float64)  # (R,)
    coordinate: wp.array(dtype=wp.float64)  # (R,) at the end pose
    gained: wp.array(dtype=wp.int32)  # (n,)
    velocity: wp.array2d(dtype=SIX)  # (2, n) at the end: by impulses where joints hold; by the solution
    contact_end: wp.array2d(dtype=wp.vec3d)  # (4, C) in the velocity phase: impulse, normal, point_a, point_b
    given: wp.array(dtype=SIX)  # (n,) velocity that contacts gave, at the end pose


@cache
def residual_laws():
    """The functions by name."""
    real = real_types(wp.float64)
    scalar, vec2, vec3, quat, vec6 = wp.float64, wp.vec2d, wp.vec3d, wp.quatd, real.vec6
    math, of_contacts = rotation_functions(real), contact_functions()
    core_way = of_contacts.core_way
    tangent, six, linear, angular = math.tangent, math.six, math.linear, math.angular
    point_velocity, components, world = math.point_velocity, of_contacts.components, of_contacts.world
    mean_lever, rolled_on, midway = of_contacts.lever, of_contacts.rolled_on, math.midway
    DOT, TWIST = wp.constant(int(Coordinate.DOT)), wp.constant(int(Coordinate.TWIST))
    RIM = wp.constant(int(Lever.RIM))
    round_side, other_side, standing_side, face_side = (wp.constant(side) for side in (ROUND, OTHER, STANDS, FACE))
    ZERO, ONE = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))
    func, of_arcs = wp.func(module="axion_residuals"), arc_laws()
    lag, stretched, turn_between, turned = of_arcs.lag, of_arcs.stretched, of_arcs.turn_between, of_arcs.turned
    dynamic_slot, step_slot = wp.constant(DYNAMIC), wp.constant(STEP)

    @func
    def least(a: scalar, b: scalar):
        if a < b or a != a:
            return a
        return b

    @func
    def most(a: scalar, b: scalar):
        if a > b or a != a:
            return a
        return b

    @func
    def doubt(value: scalar):
        """0, or NaN where ``value`` is: what wp.normalize, which makes 0 of NaN, would hide."""
        return value - value

    @func
    def note(largest: wp.array(dtype=wp.int64), k: int, value: scalar):
        wp.atomic_max(largest, k, wp.cast(wp.abs(value), wp.int64))

    @func
    def spread(judged: Judged, dynamic: int, a: int, b: int, value: scalar):
        """A residual that bodies a and b have a part in."""
        if a < dynamic:
            note(judged.error, a, value)
        if b < dynamic:
            note(judged.error, b, value)

    @func
    def mark(marks: wp.array(dtype=wp.int32), value: int, bodies: BodyArrays, dynamic: int, a: int, b: int):
        """Mark the islands of bodies a and b with at least ``value``."""
        if a < dynamic:
            wp.atomic_max(marks, bodies.island[a], value)
        if b < dynamic:
            wp.atomic_max(marks, bodies.island[b], value)

    @func
    def inverse_mass(bodies: BodyArrays, i: int, jac: vec6):
        """One body's share of the diagonal of J M^-1 J^T."""
        f = linear(jac)
        t = angular(jac)
        return bodies.inverse_mass[i] * wp.dot(f, f) + wp.dot(t, bodies.inverse_inertia[i] * t)

    @func
    def contact_weight(bodies: BodyArrays, i: int, n: vec3, arm: vec3):
        """The mean of one body's share over the three directions of a contact."""
        t1 = tangent(n)
        t2 = wp.cross(n, t1)
        total = inverse_mass(bodies, i, six(n, wp.cross(arm, n)))
        total += inverse_mass(bodies, i, six(t1, wp.cross(arm, t1)))
        total += inverse_mass(bodies, i, six(t2, wp.cross(arm, t2)))
        return total / scalar(3.0)

    @func
    def lever(n: vec3, q: quat, point: vec3, margin: scalar):
        """From a body's centre to its surface, against the normal."""
        return wp.quat_rotate(q, point) - n * margin

    @func
    def at_end(con: ContactArrays, c: int, bodies: BodyArrays, i: int, point: vec3, margin: scalar, outward: vec3):
        """Where a contact touches body i at the end pose, of which ``outward`` is the normal there."""
        place = bodies.x[i] + wp.quat_rotate(bodies.q[i], point) + margin * outward
        if con.glides[c] == RIM:
            place += rolled_on(con, c, i, bodies.q[i], outward)
        return place

    @func
    def rank(face: wp.int32, body: wp.int32, dynamic: wp.int32, margin: scalar):
        """What meeting.at_one_point takes a body's side of a contact for."""
        if face == body:
            return face_side
        if body >= dynamic:
            return standing_side
        if margin > scalar(0.0):
            return round_side
        return other_side

    @func
    def turned_with(bodies: BodyArrays, face: int, after: vec3, n: vec3, force: vec3):
        """A force with normal ``n`` in mid-step, turned on to the end pose of a ``face`` with the normal ``after``."""
        on = bodies.q[face] * wp.quat_inverse(midway(bodies.q0[face], bodies.q_free[face]))
        before = wp.quat_rotate(on, n)
        axis = wp.cross(before, after)
        rest = wp.normalize(quat(axis[0], axis[1], axis[2], ONE + wp.dot(before, after)))
        return wp.quat_rotate(rest, wp.quat_rotate(on, force))

    @func
    def end_normal(con: ContactArrays, c: int, bodies: BodyArrays):
        """Normal at the end pose: turned with the face that is touched, or between two round cores."""
        a = con.a[c]
        b = con.b[c]
        n = con.n[c]
        if con.core_reach[c] > ZERO:
            way = wp.normalize(core_way(con, c, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b]))
            return wp.where(wp.dot(n, way) < ZERO, -way, way)
        if con.face[c] >= 0:
            n = wp.quat_rotate(bodies.q[con.face[c]], con.face_normal[c])
        return n

    @func
    def push(judged: Judged, i: int, force: vec3, at: vec3):
        wp.atomic_add(judged.push, i, six(force, wp.cross(at, force)))

    @wp.struct
    class Contact:
        slip: vec3
        w: scalar

    @func
    def act(con: ContactArrays, c: int, bodies: BodyArrays, judged: Judged):
        """Add a contact's impulse to its bodies.  Returns the velocities along (normal, t1, t2), and w."""
        a = con.a[c]
        b = con.b[c]
        n = con.n[c]
        arm_a = mean_lever(con, c, bodies, a, con.point_a[c], -n) - n * con.margin_a[c]
        arm_b = mean_lever(con, c, bodies, b, con.point_b[c], n) + n * con.margin_b[c]
        force = world(n, con.p[c])
        push(judged, a, force, arm_a)
        push(judged, b, -force, arm_b)
        running = components(n, con.surface_velocity[c])
        out = Contact()
        out.slip = components(n, point_velocity(bodies.u[a], arm_a) - point_velocity(bodies.u[b], arm_b))
        out.slip += vec3(ZERO, running[1], running[2])
        out.w = contact_weight(bodies, a, n, arm_a) + contact_weight(bodies, b, n, arm_b)
        return out

    @func
    def friction_error(p: vec2, slip: vec2, w: scalar, reach: scalar):
        """|w p_t - P(w p_t - v_t)|, P: projection on the disc of radius ``reach``."""
        wanted = w * p - slip
        length = wp.length(wanted)
        if length > reach:
            wanted = wanted * (reach / length)
        return wp.length(w * p - wanted)

    @func
    def is_angle(rows: RowArrays, r: int):
        kind = rows.coordinate[r]
        return kind == DOT or kind == TWIST

    @func
    def of_joint(rows: RowArrays, judged: Judged, r: int):
        """Where the square of row r's error goes."""
        return 2 * judged.joint[r] + wp.where(is_angle(rows, r), 1, 0)

    @func
    def mean_inverse(bodies: BodyArrays, judged: Judged, i: int, dynamic: int, angle: bool):
        if i >= dynamic:
            return ZERO
        moments = judged.moments[i]
        spin = (ONE / moments[0] + ONE / moments[1] + ONE / moments[2]) / scalar(3.0)
        return wp.where(angle, spin, bodies.inverse_mass[i])

    @func
    def clip_error(
        rows: RowArrays, r: int, bodies: BodyArrays, judged: Judged, dynamic: int, jac_a: vec6, jac_b: vec6, off: scalar
    ):  # fmt: skip
        """W |p - clip(p - off / (w + compliance), lower, upper)|, w: not below a part of the bodies' mean inverses."""
        a = rows.a[r]
        b = rows.b[r]
        p = rows.p[r]
        angle = is_angle(rows, r)
        mean = mean_inverse(bodies, judged, a, dynamic, angle) + mean_inverse(bodies, judged, b, dynamic, angle)
        w = inverse_mass(bodies, a, jac_a) + inverse_mass(bodies, b, jac_b)
        w = most(w, scalar(WEIGHT_FLOOR) * mean)
        total = w + rows.compliance[r]
        if total <= ZERO:
            total = ONE
        return w * wp.abs(p - least(most(p - off / total, rows.lower[r]), rows.upper[r]))

    @func
    def momentum(bodies: BodyArrays, judged: Judged, i: int, seconds: scalar):
        """Notes what a body's momentum lacks.  Returns M^-1 times the impulses on it."""
        push = judged.push[i]
        answer = six(bodies.inverse_mass[i] * linear(push), bodies.inverse_inertia[i] * angular(push))
        off = bodies.u[i] - bodies.u_free[i] - bodies.arc[i] - answer
        square = wp.max(judged.moments[i]) / bodies.mass[i]  # of the radius of gyration
        error = wp.sqrt(wp.length_sq(linear(off)) + square * wp.length_sq(angular(off)))
        judged.body[0, i] = error
        note(judged.worst, MOMENTUM, error)
        note(judged.error, i, seconds * error)
        return answer

    @func
    def gain(bodies: BodyArrays, judged: Judged, i: int):
        """Velocity that what acts from outside gives body i in the step."""
        if i >= judged.counts[dynamic_slot] or bodies.midpoint[i] == ZERO:
            return vec3(ZERO)
        return ((ONE + bodies.midpoint[i]) / bodies.midpoint[i]) * linear(judged.end_velocity[i] - bodies.u_free[i])

    @func
    def mean_arm(bodies: BodyArrays, i: int, anchor: vec3):
        return scalar(0.5) * (wp.quat_rotate(bodies.q0[i], anchor) + wp.quat_rotate(bodies.q[i], anchor))

    @func
    def bends(bodies: BodyArrays, judged: Judged, i: int, lever: vec3):
        """The acceleration of body i times h, and that of its lever against it."""
        move = gain(bodies, judged, i)
        swings = vec3(ZERO)
        if i < judged.counts[dynamic_slot] and judged.hung[bodies.island[i]] == 1:
            change = (ONE + bodies.midpoint[i]) * (bodies.u[i] - bodies.u_free[i] - bodies.arc[i])
            t = turned(bodies.q0[i], bodies.q[i])
            move += linear(change)
            swings = wp.cross(angular(change), lever) + wp.cross(t, wp.cross(t, lever)) / judged.settings[step_slot]
        return move, swings

    @func
    def draw(bodies: BodyArrays, rows: RowArrays, judged: Judged, r: int, along: vec3):
        """Adds to ``late`` what distance r gives beyond its impulse in mid-step: -h^2 / 12 J'' p, see arcs.py.

        Of the moment by going aside, which ``turned_late`` finds of the middle of a body, it leaves that by the lever.
        along: of the line in mid-step.
        """
        p = rows.drawn[r]
        if p == ZERO:
            return
        a = rows.a[r]
        b = rows.b[r]
        first, last = stretched(bodies, rows, r)
        arm_a = mean_arm(bodies, a, rows.anchor_a[r])
        arm_b = mean_arm(bodies, b, rows.anchor_b[r])
        of_a, swings_a = bends(bodies, judged, a, arm_a)
        of_b, swings_b = bends(bodies, judged, b, arm_b)
        apart = of_b + swings_b - of_a - swings_a
        part = judged.settings[step_slot] * p / scalar(12.0)
        force = -scalar(2.0) * part / (wp.length(first) + wp.length(last)) * (apart - wp.dot(apart, along) * along)
        way = bodies.x[a] - bodies.x0[a] + wp.quat_rotate(bodies.q[a], rows.anchor_a[r])
        way += scalar(0.5) * (last - first) - wp.quat_rotate(bodies.q0[a], rows.anchor_a[r])
        aside = wp.cross(way, lag(turn_between(first, last), p * along))
        turn_a = wp.cross(arm_a, force) - part * wp.cross(swings_a, along) - aside
        turn_b = wp.cross(arm_b, force) - part * wp.cross(swings_b, along) - aside
        wp.atomic_add(judged.late, a, -six(force, turn_a))
        wp.atomic_add(judged.late, b, six(force, turn_b))

    @func
    def turned_late(bodies: BodyArrays, judged: Judged, i: int, answer: vec6, h: scalar):
        """What body i spins by, beyond the impulses that it has in mid-step, of jointed islands.

        By their levers at the end; less the angular momentum about a point that it gets by going aside from its mean
        velocity (arcs.py): the forces of joints turn nothing as a whole.  But what acts from outside does so where the
        body is in the mean of its way, h / 12 (v- - v+) beside the middle of its chord.
        answer: what impulses add to free motion.
        """
        share = scalar(1.0) + bodies.midpoint[i]
        aside = bodies.mass[i] * wp.cross(bodies.x[i] - bodies.x0[i], linear(bodies.u_free[i] + answer)) / share
        aside += h / scalar(12.0) * wp.cross(bodies.pulled[i], gain(bodies, judged, i))
        late = judged.late[i]
        turn = bodies.inverse_inertia[i] * (angular(late) - aside)
        return six(bodies.inverse_mass[i] * linear(late), turn)

    @func
    def kinetic(bodies: BodyArrays, judged: Judged, i: int, u: vec6):
        spin = wp.quat_rotate_inv(bodies.q_free[i], angular(u))
        turning = wp.dot(wp.cw_mul(judged.principal[i], spin), spin)
        return scalar(0.5) * (bodies.mass[i] * wp.length_sq(linear(u)) + turning)

    @func
    def carried(bodies: BodyArrays, judged: Judged, i: int, u: vec6):
        """U with the angular velocity at the end pose that has the angular momentum of ``u`` at the free pose."""
        start = bodies.q_free[i]
        end = bodies.q[i]
        principal = judged.principal[i]
        spin = wp.quat_rotate(start, wp.cw_mul(principal, wp.quat_rotate_inv(start, angular(u))))
        return six(linear(u), wp.quat_rotate(end, wp.cw_div(wp.quat_rotate_inv(end, spin), principal)))

    return SimpleNamespace(
        least=least, most=most, doubt=doubt, note=note, spread=spread, mark=mark, lever=lever, rank=rank, push=push,
        turned_with=turned_with, at_end=at_end, end_normal=end_normal,
        act=act, friction_error=friction_error, of_joint=of_joint, clip_error=clip_error, momentum=momentum,
        draw=draw, turned_late=turned_late, kinetic=kinetic, carried=carried,
    )  # fmt: skip
