# SPDX-License-Identifier: GPL-3.0-or-later
"""Free motion of bodies that bounce off what stands still or goes straight on: ``reference/bounce.py``, one by one."""

import warp as wp

from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .predict import free_rotation, turned
from .reference.bounce import EARLY, LOOK, LOOKS, REFINE, SETTLED, SHARES, SWEEPS
from .reference.impact import MOST_HITS

_MATH = rotation_functions(real_types(wp.float64))
point_velocity, linear, angular, six = _MATH.point_velocity, _MATH.linear, _MATH.angular, _MATH.six
vec6 = real_types(wp.float64).vec6
HITS, MOST_SWEEPS, MOST_SHARES = wp.constant(MOST_HITS), wp.constant(SWEEPS), wp.constant(SHARES)
MOST_REFINE, FEWEST_LOOKS = wp.constant(REFINE), wp.constant(wp.float64(LOOKS))
TURN_OF_LOOK, TOUCHES, LAST = (wp.constant(wp.float64(value)) for value in (LOOK, EARLY, SETTLED))
ZERO, HALF, ONE = (wp.constant(wp.float64(value)) for value in (0.0, 0.5, 1.0))
ROUNDING = wp.constant(wp.float64(1.0 + 1e-12))
NEVER = wp.constant(wp.float64(-1.0))
STEP, CLOSE = wp.constant(0), wp.constant(1)


@wp.struct
class FlyingBodies:
    """Bodies at the step's start, as Flyer has them, and where they end."""

    count: wp.array(dtype=wp.int32)
    setting: wp.array(dtype=wp.float64)  # step [s], gap of what touches [m]
    first: wp.array(dtype=wp.int32)  # of the contacts of each; one more
    mass: wp.array(dtype=wp.float64)
    inertia: wp.array(dtype=wp.vec3d)
    acceleration: wp.array(dtype=wp.vec3d)
    damping: wp.array(dtype=wp.float64)
    turn_damping: wp.array(dtype=wp.float64)
    x: wp.array(dtype=wp.vec3d)
    q: wp.array(dtype=wp.quatd)
    u: wp.array(dtype=vec6)
    change: wp.array(dtype=vec6)  # out
    flown: wp.array(dtype=wp.int32)


@wp.struct
class FlyingContacts:
    """Contacts as Planes has them, body after body."""

    point: wp.array(dtype=wp.vec3d)
    margin: wp.array(dtype=wp.float64)
    normal: wp.array(dtype=wp.vec3d)
    height: wp.array(dtype=wp.float64)
    friction: wp.array(dtype=wp.float64)
    restitution: wp.array(dtype=wp.float64)
    velocity: wp.array(dtype=wp.vec3d)
    gain: wp.array(dtype=wp.vec3d)
    slowest: wp.array(dtype=wp.float64)
    overlap: wp.array(dtype=wp.float64)
    under: wp.array(dtype=wp.int32)
    touching: wp.array(dtype=wp.int32)
    fast: wp.array(dtype=wp.int32)
    lever: wp.array(dtype=wp.vec3d)
    surface: wp.array(dtype=wp.vec3d)
    speed: wp.array(dtype=wp.float64)
    weight: wp.array(dtype=wp.float64)
    slip_weight: wp.array(dtype=wp.float64)
    push: wp.array(dtype=wp.vec3d)
    impulse: wp.array(dtype=wp.vec3d)  # out


module = "axion_bounces"
wp.get_module(module).options["max_unroll"] = 1  # unrolled, NVRTC takes ten times as long for it
kernel = wp.kernel(module=module, enable_backward=False)


@wp.func(module=module)
def reached(damping: wp.float64, time: wp.float64):
    """See ``reach`` of reference/free_motion.py."""
    if damping > ZERO:
        return (ONE - wp.exp(-damping * time)) / damping
    return time


@wp.func(module=module)
def flight(b: FlyingBodies, i: int, x: wp.vec3d, q: wp.quatd, u: vec6, time: wp.float64):
    """Position, orientation and velocity after ``time`` of free flight."""
    v = linear(u)
    end = v * wp.exp(-b.damping[i] * time) + b.acceleration[i] * reached(b.damping[i], time)
    new, spin = free_rotation(q, angular(u), b.inertia[i], time)
    return x + HALF * time * (v + end), new, six(end, spin * wp.exp(-b.turn_damping[i] * time))


@wp.func(module=module)
def surface_of(con: FlyingContacts, c: int, time: wp.float64):
    """Velocity of what is touched, ``time`` after the step's start [m/s]."""
    return con.velocity[c] + time * con.gain[c]


@wp.func(module=module)
def gap_of(con: FlyingContacts, c: int, x: wp.vec3d, q: wp.quatd, time: wp.float64):
    """[m], less the overlap of the step's start, ``time`` after that."""
    on_body = x + turned(q, con.point[c]) - time * (con.velocity[c] + HALF * time * con.gain[c])
    return wp.dot(con.normal[c], on_body) - con.height[c] - con.margin[c] - con.overlap[c]


@wp.func(module=module)
def speed_of(con: FlyingContacts, c: int, q: wp.quatd, u: vec6, time: wp.float64):
    """Gap velocity [m/s]."""
    arm = turned(q, con.point[c]) - con.margin[c] * con.normal[c]
    return wp.dot(con.normal[c], point_velocity(u, arm) - surface_of(con, c, time))


@wp.func(module=module)
def lowest(con: FlyingContacts, first: int, end: int, x: wp.vec3d, q: wp.quatd, time: wp.float64):
    """The smallest gap of those marked ``under``."""
    low = wp.float64(wp.inf)
    for c in range(first, end):
        if con.under[c] == 1:
            low = wp.min(low, gap_of(con, c, x, q, time))
    return low


@wp.func(module=module)
def next_hit(
    b: FlyingBodies, con: FlyingContacts, i: int, x: wp.vec3d, q: wp.quatd, u: vec6, now: wp.float64, left: wp.float64
):
    """Time until the first contact's gap falls through zero; negative where none does within ``left``; now: since the
    step's start.
    """
    first = b.first[i]
    end = b.first[i + 1]
    for c in range(first, end):
        if gap_of(con, c, x, q, now) <= TOUCHES and speed_of(con, c, q, u, now) < ZERO:
            return ZERO
    looks = wp.max(FEWEST_LOOKS, wp.ceil(wp.length(angular(u)) * left / TURN_OF_LOOK))
    low = wp.float64(0.0)
    high = wp.float64(0.0)
    g_high = wp.float64(0.0)
    found = bool(False)
    k = wp.float64(0.0)
    while k < looks and not found:
        k += ONE
        low = high
        high = left * k / looks
        x1, q1, u1 = flight(b, i, x, q, u, high)
        g_high = ZERO
        for c in range(first, end):
            con.under[c] = 0
            gap = gap_of(con, c, x1, q1, now + high)
            if gap < ZERO and speed_of(con, c, q1, u1, now + high) < ZERO:
                con.under[c] = 1
                found = True
                g_high = wp.min(g_high, gap)
    if not found:
        return NEVER
    x2, q2, _u2 = flight(b, i, x, q, u, low)
    g_low = lowest(con, first, end, x2, q2, now + low)
    rounds = int(0)
    while g_low > TOUCHES and rounds < MOST_REFINE:
        share = HALF
        if rounds % 3 != 0:
            share = g_low / (g_low - g_high)
        time = low + (high - low) * share
        x3, q3, _u3 = flight(b, i, x, q, u, time)
        gap = lowest(con, first, end, x3, q3, now + time)
        if gap < ZERO:
            high = time
            g_high = gap
        else:
            low = time
            g_low = gap
        rounds += 1
    return low


@wp.func(module=module)
def energy(b: FlyingBodies, i: int, q: wp.quatd, u: vec6):
    """Kinetic energy [J]."""
    w = turned(wp.quat_inverse(q), angular(u))
    v = linear(u)
    return HALF * (b.mass[i] * wp.dot(v, v) + wp.dot(w, wp.cw_mul(b.inertia[i], w)))


@wp.func(module=module)
def answer(b: FlyingBodies, i: int, q: wp.quatd, arm: wp.vec3d, impulse: wp.vec3d):
    """Velocity that an impulse at ``arm`` gives."""
    local = turned(wp.quat_inverse(q), wp.cross(arm, impulse))
    return six(impulse / b.mass[i], turned(q, wp.cw_div(local, b.inertia[i])))


@wp.func(module=module)
def weight_along(b: FlyingBodies, i: int, q: wp.quatd, arm: wp.vec3d, axis: wp.vec3d):
    """Velocity of the point at ``arm`` along ``axis`` by a unit impulse along it."""
    return wp.dot(axis, point_velocity(answer(b, i, q, arm, axis), arm))


@wp.func(module=module)
def solved(b: FlyingBodies, con: FlyingContacts, i: int, q: wp.quatd, u: vec6, share: wp.float64):
    """The velocity with which contacts rebound with a ``share`` of what Newton's law asks for; fills in ``push``."""
    scale = wp.float64(0.0)
    for c in range(b.first[i], b.first[i + 1]):
        con.push[c] = wp.vec3d()
        if con.touching[c] == 1:
            scale = wp.max(scale, wp.abs(con.speed[c]))
    after = u
    sweep = int(0)
    going = bool(True)
    while going and sweep < MOST_SWEEPS:
        sweep += 1
        most = wp.float64(0.0)
        for c in range(b.first[i], b.first[i + 1]):
            if con.touching[c] == 1:
                n = con.normal[c]
                arm = con.lever[c]
                wanted = ZERO
                if con.fast[c] == 1:
                    wanted = -share * con.restitution[c] * con.speed[c]
                pressing = wp.dot(con.push[c], n)
                lack = wanted - wp.dot(n, point_velocity(after, arm) - con.surface[c])
                new = wp.max(ZERO, pressing + lack / con.weight[c])
                after = after + answer(b, i, q, arm, (new - pressing) * n)
                held = con.push[c] - pressing * n
                v = point_velocity(after, arm) - con.surface[c]
                slip = held - (v - wp.dot(n, v) * n) / con.slip_weight[c]
                size = wp.length(slip)
                if size > con.friction[c] * new:
                    slip = slip * (con.friction[c] * new / size)
                after = after + answer(b, i, q, arm, slip - held)
                con.push[c] = new * n + slip
                most = wp.max(most, wp.abs(new - pressing) * con.weight[c])
                most = wp.max(most, wp.length(slip - held) * con.slip_weight[c])
        going = most > LAST * scale
    return after


@wp.func(module=module)
def energy_past(b: FlyingBodies, con: FlyingContacts, i: int, q: wp.quatd, u: vec6, carried: vec6):
    """Kinetic energy past what goes at ``carried``, less the work that ``push`` has of what goes on otherwise [J]."""
    out = energy(b, i, q, u - carried)
    for c in range(b.first[i], b.first[i + 1]):
        if con.touching[c] == 1:
            out -= wp.dot(con.push[c], con.surface[c] - linear(carried))
    return out


@wp.func(module=module)
def struck(b: FlyingBodies, con: FlyingContacts, i: int, q: wp.quatd, u: vec6):
    """(velocity after an impact, whether impulses were found that add no energy); they are in ``push``."""
    carried = vec6()
    none = bool(True)
    for c in range(b.first[i], b.first[i + 1]):
        if con.touching[c] == 1 and none:
            carried = six(con.surface[c], wp.vec3d())
            none = False
    start = energy(b, i, q, u - carried)
    after = solved(b, con, i, q, u, ONE)
    if energy_past(b, con, i, q, after, carried) <= start * ROUNDING:
        return after, True
    low = wp.float64(0.0)
    high = wp.float64(1.0)
    after = solved(b, con, i, q, u, low)
    if energy_past(b, con, i, q, after, carried) > start * ROUNDING:
        return u, False
    for _ in range(MOST_SHARES):
        share = HALF * (low + high)
        after = solved(b, con, i, q, u, share)
        if energy_past(b, con, i, q, after, carried) > start:
            high = share
        else:
            low = share
    after = solved(b, con, i, q, u, low)
    return after, True


@kernel
def bounce_bodies(b: FlyingBodies, con: FlyingContacts):
    """Where bodies end, the change of their velocity by impacts, and the impulses; flown 0: nothing rebounds."""
    i = wp.tid()
    if i >= b.count[0]:
        return
    first = b.first[i]
    end = b.first[i + 1]
    x = b.x[i]
    q = b.q[i]
    u = b.u[i]
    left = b.setting[STEP]
    b.change[i] = vec6()
    b.flown[i] = 0
    for c in range(first, end):
        con.impulse[c] = wp.vec3d()
        con.overlap[c] = ZERO
        con.overlap[c] = wp.min(gap_of(con, c, x, q, ZERO), ZERO)
    hits = int(0)
    going = bool(True)
    while going and hits < HITS:
        hits += 1
        time = next_hit(b, con, i, x, q, u, b.setting[STEP] - left, left)
        if time < ZERO:
            going = False
        else:
            x, q, u = flight(b, i, x, q, u, time)
            left = left - time
            now = b.setting[STEP] - left
            any_fast = int(0)
            for c in range(first, end):
                con.lever[c] = turned(q, con.point[c]) - con.margin[c] * con.normal[c]
                con.surface[c] = surface_of(con, c, now)
                con.speed[c] = wp.dot(con.normal[c], point_velocity(u, con.lever[c]) - con.surface[c])
                con.touching[c] = 0
                con.fast[c] = 0
                if gap_of(con, c, x, q, now) <= b.setting[CLOSE]:
                    con.touching[c] = 1
                    if con.speed[c] < -con.slowest[c] and con.restitution[c] > ZERO:
                        con.fast[c] = 1
                        any_fast = 1
                    con.weight[c] = weight_along(b, i, q, con.lever[c], con.normal[c])
                    con.slip_weight[c] = -con.weight[c]
                    for k in range(3):
                        axis = wp.vec3d()
                        axis[k] = ONE
                        con.slip_weight[c] = con.slip_weight[c] + weight_along(b, i, q, con.lever[c], axis)
            if any_fast == 0:
                going = False
            else:
                after, good = struck(b, con, i, q, u)
                if not good:
                    b.flown[i] = 0
                    return
                b.flown[i] = 1
                b.change[i] = b.change[i] + (after - u)
                u = after
                for c in range(first, end):
                    con.impulse[c] = con.impulse[c] + con.push[c]
                    if con.fast[c] == 0 and wp.length(con.push[c]) > ZERO:
                        going = False
    if b.flown[i] == 1:
        x, q, u = flight(b, i, x, q, u, left)
        b.x[i] = x
        b.q[i] = q
        b.u[i] = u
