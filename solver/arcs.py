# SPDX-License-Identifier: GPL-3.0-or-later
"""How far joints bend ways aside: what the mean of the velocities at both ends lacks where forces turn within a step.

Mid-step carries a body by the mean of its velocities.  On an arc of the angle t the chord is longer than that, by
(t / 2) / tan(t / 2): what joints lead round turned by 2 atan(t / 2) in a step, 5 % too slowly at 20 rad/s and 24 frames
a second, and pendulums swung too slowly, though all velocities were right.  With the acceleration a of each end

    x+ - x- = h (v- + v+) / 2 + h^2 / 12 (a- - a+)          (Hermite; of fourth order)

and joints' part of a is known: their impulses act along directions that turn.  So the velocity that carries the pose is

    M (u - u_free - s) = J^T p        m s = sum -g(t) t x 2 f,        g(t) = (1 - x / tan x) / (4 x^2), x = |t| / 2

with f the force that p has in mid-step, and t the turn of it in the step; g is 1 / 12 for small ones, and makes what
spins at one rate spin at that rate, however far it turns.  The end velocity is that of the impulses, without s.

A moment turns with its force and its lever.  It acts on what spins, which changes the spin it gives: with w the change
of that, L = I t and J = I^-1,

    s = J sum -g (t x 2 moment) + (J (L x w) - t x w + J (t x I w)) / 6

the second part to the order h^3 as in x.  Rounds solve for s, each leaves some tenths of what it lacks; a body that
turns so far that they would not has no second part.

Joints that pull swing a body across the pull as gravity swings a pendulum, with some omega, and s changes its way by
(omega h)^2 / 12 of itself; from 1 on it would drive the swing.  So what they pull harder than a step follows takes less
of s, and soon none: light links under a load.  Joints that let nothing turn are left aside in that; loops of others,
whose impulses have no bound where they could branch, have no s.  Nor has what is near anything else: contacts that
press make forces of joints that end with them, and ragdolls on stairs took a third more solves.

What keyframes lead, by whatever is joined to it, has no s at all: they do work on the way that s adds, and the whole
island is pushed in mid-step anyway (midway.py).
Of what holds a body in the world that counts for what it is joined to as well: pulls at its two ends must turn alike.

The work of forces from outside on the way that s adds must go into speed.  The mean place of a way is not the middle of
its chord but h / 12 (v- - v+) beside it, and their moment about there is what gives it: see turned_late in
residual_laws.py.  Of v+ - v- counts what joints give of which s is, BodyArrays.pulled.

How the force of an anchor turns only has to be known in the mean of the two bodies, as long as it is one turn for both:
a part of s along the rows themselves changes p, and not the way.  It is that of the body at whose centre the anchor has
the longer lever, across the turn of one against the other, in radii of gyration: that of the door, not of the wall; of
the cart, not of its wheel.  Axes along which a body slides turn with body a; a distance turns as its line does.  A rope
that only comes taut in the step pulls as a blow, and bends nothing.

A line has no lever by which weight would give that speed.  For rows of any kind, with directions J,

    integral of J^T f = Jm^T p + h^3 / 12 (J'^T f' + r' x e' f - J''^T f)

Jm being that of mid-step, with a force e at a lever r.  The first part is what the velocity phase finds along J+, the
second goes with s, and the third, -h^2 / 12 J''^T p, makes the end velocity one of fourth order; the moment above is
it for levers.  For a line J'' is how unevenly its ends turn it, by accelerations of bodies and of their levers: see
draw in residual_laws.py.  Of what flies only those from outside count, as momenta must stay to rounding.  Without it a
bob on a line lost 2 % of its energy in five seconds; without s it swung 3.5 % too slowly on 5 cm.
"""

from functools import cache, lru_cache
from types import SimpleNamespace

import numpy as np
import warp as wp

from .arrays import DYNAMIC, STEP, BodyArrays, IslandArrays, RowArrays, vec6
from .lanes import begin, end, island_at, item, turns
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .problem import Coordinate, frozen
from .reference.arcs import CAUGHT, FAST, FOLLOWS, LEAST, SHORT, SMALL, STILL
from .topology import KEPT


@lru_cache(maxsize=KEPT)
def no_arcs(count):
    """Read-only zeros (count, 6) and (count, 3): what device arrays hold where StepSolution.arc is None."""
    return frozen(np.zeros((count, 6))), frozen(np.zeros((count, 3)))


@cache
def arc_laws():
    """The functions that the judge has as well."""
    func = wp.func(module="axion_arcs")
    ZERO, HALF, ONE, TWO, SLIGHT = (wp.constant(wp.float64(value)) for value in (0.0, 0.5, 1.0, 2.0, SMALL))

    @func
    def lag(t: wp.vec3d, v: wp.vec3d):
        """What h / 12 (v- - v+) stands for, of a vector that is v in the middle and turns by t."""
        x = HALF * wp.length(t)
        part = ONE / wp.float64(12.0) + x * x / wp.float64(180.0)
        if x > SLIGHT:
            part = (ONE - x * wp.cos(x) / wp.sin(x)) / (wp.float64(4.0) * x * x)
        return -part * wp.cross(t, v)

    @func
    def stretched(bodies: BodyArrays, rows: RowArrays, r: int):
        """From the anchor on a to that on b, at both ends of the step."""
        a = rows.a[r]
        b = rows.b[r]
        first = bodies.x0[b] + wp.quat_rotate(bodies.q0[b], rows.anchor_b[r])
        first -= bodies.x0[a] + wp.quat_rotate(bodies.q0[a], rows.anchor_a[r])
        last = bodies.x[b] + wp.quat_rotate(bodies.q[b], rows.anchor_b[r])
        last -= bodies.x[a] + wp.quat_rotate(bodies.q[a], rows.anchor_a[r])
        return first, last

    @func
    def turn_between(first: wp.vec3d, last: wp.vec3d):
        """Rotation vector from one direction to another."""
        normal = wp.cross(first, last)
        s = wp.length(normal)
        if s == ZERO:
            return normal
        return (wp.atan2(s, wp.dot(first, last)) / s) * normal

    @func
    def turned(first: wp.quatd, last: wp.quatd):
        """Rotation vector from one orientation to another."""
        d = last * wp.quat_inverse(first)
        if d[3] < ZERO:
            d = -d
        v = wp.vec3d(d[0], d[1], d[2])
        s = wp.length(v)
        if s < SLIGHT:
            return TWO * v
        return (TWO * wp.atan2(s, d[3]) / s) * v

    return SimpleNamespace(lag=lag, stretched=stretched, turn_between=turn_between, turned=turned)


@cache
def arc_kernels():
    """The kernel that sets BodyArrays.arc in the islands flagged; see reference/arcs.py."""
    math = rotation_functions(real_types(wp.float64))
    linear, angular, six = math.linear, math.angular, math.six
    laws, name = arc_laws(), "axion_arcs"
    lag, stretched, turn_between, turned = laws.lag, laws.stretched, laws.turn_between, laws.turned
    kernel, func = wp.kernel(module=name, enable_backward=False), wp.func(module=name)
    dynamic_slot, step_slot = wp.constant(DYNAMIC), wp.constant(STEP)
    FOLLOWED, NONE = wp.constant(wp.float64(FOLLOWS)), wp.constant(wp.float64(LEAST))
    LINEAR, DISTANCE, TWIST = (wp.constant(int(Coordinate[each])) for each in ("LINEAR", "DISTANCE", "TWIST"))
    ZERO, HALF, ONE = (wp.constant(wp.float64(value)) for value in (0.0, 0.5, 1.0))
    STANDS, FAR, LATE, NEAREST = (wp.constant(wp.float64(value)) for value in (STILL, FAST, CAUGHT, SHORT))

    @func
    def turn_of(bodies: BodyArrays, i: int):
        """Rotation vector from the start of the step to the present pose."""
        return turned(bodies.q0[i], bodies.q[i])

    @func
    def side_of(rows: RowArrays, r: int, i: int):
        """What row r ties body i to, and its anchor and directions on that body."""
        if rows.a[r] == i:
            return rows.b[r], rows.anchor_a[r], rows.jac_a[r]
        return rows.a[r], rows.anchor_b[r], rows.jac_b[r]

    @func
    def lever(bodies: BodyArrays, i: int, anchor: wp.vec3d):
        return HALF * (wp.quat_rotate(bodies.q0[i], anchor) + wp.quat_rotate(bodies.q[i], anchor))

    @func
    def leads(bodies: BodyArrays, i: int, anchor: wp.vec3d, relative: wp.vec3d, dynamic: int):
        """How much the turn of body i counts for that of a force at the anchor."""
        if i >= dynamic:
            return STANDS * wp.length_sq(relative)
        return wp.length_sq(wp.cross(lever(bodies, i, anchor), relative)) / (bodies.extent[i] * bodies.extent[i])

    @func
    def swept(bodies: BodyArrays, rows: RowArrays, r: int):
        """How the line of a DISTANCE turns, and 1, or 0 where it was not of its length at the start."""
        first, last = stretched(bodies, rows, r)
        off = wp.abs(wp.length(last) - wp.length(first))
        taut = wp.where(off < LATE * wp.length(last - first), ONE, ZERO)
        return turn_between(first, last), taut

    @func
    def turn_of_row(bodies: BodyArrays, rows: RowArrays, r: int, dynamic: int):
        """How the force or moment of row r turns in the step."""
        coordinate = rows.coordinate[r]
        a = rows.a[r]
        b = rows.b[r]
        turn = turn_of(bodies, a)
        relative = turn_of(bodies, b) - turn
        count = rows.share[r] * rows.share[r]
        if (coordinate == LINEAR and count < wp.float64(2.5)) or (coordinate == TWIST and count < wp.float64(1.5)):
            return turn
        if coordinate != LINEAR and count < wp.float64(1.5):
            return turn + HALF * relative
        of_a = leads(bodies, a, rows.anchor_a[r], relative, dynamic)
        of_b = leads(bodies, b, rows.anchor_b[r], relative, dynamic)
        both = of_a * of_a + of_b * of_b
        if both == ZERO:
            return turn
        return turn + (of_b * of_b / both) * relative

    @kernel
    def steady(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=wp.float64),
        bodies: BodyArrays,
        rows: RowArrays,
        isl: IslandArrays,
    ):
        """BodyArrays.steady, by how fast the pull of joints swings a body."""
        at = wp.tid()
        dynamic = counts[dynamic_slot]
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if islands[k] == 0 or isl.jointed[k] == 0 or isl.contact_start[k] < isl.contact_start[k + 1]:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                pull = ZERO
                lines = ZERO
                held = ZERO
                loose = wp.float64(1.0)
                if isl.led[k] == 1 or wp.length_sq(bodies.spin[i]) > ZERO:
                    loose = ZERO
                for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
                    r = bodies.row_index[m]
                    rows.drawn[r] = ZERO
                    draws = rows.coordinate[r] == DISTANCE
                    if rows.welded[r] == 1 or (rows.coordinate[r] != LINEAR and not draws):
                        continue
                    other, anchor, _jac = side_of(rows, r, i)
                    if isl.looped[k] == 1:
                        loose = ZERO
                    arm = wp.length(anchor)
                    pull += wp.abs(rows.p[r]) * arm
                    if draws:
                        lines += wp.abs(rows.p[r]) / wp.max(rows.offset[r], NEAREST)
                    elif other >= dynamic:
                        held = wp.max(held, bodies.mass[i] * arm * arm)
                swing = pull / (wp.min(bodies.principal[i]) + held) + lines * bodies.inverse_mass[i]
                part = settings[step_slot] * swing / (wp.float64(6.0) * FOLLOWED)
                part *= part
                taken = loose / (ONE + part * part)
                bodies.steady[i] = wp.where(taken < NONE, ZERO, taken)

    @kernel
    def arcs(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        bodies: BodyArrays,
        rows: RowArrays,
        isl: IslandArrays,
    ):
        at = wp.tid()
        dynamic = counts[dynamic_slot]
        for turn in range(turns(counts, dynamic_slot, at)):
            k = island_at(isl, bodies.island, turn, at)
            if islands[k] == 0 or isl.jointed[k] == 0 or isl.contact_start[k] < isl.contact_start[k + 1]:
                continue
            for n in range(begin(at, isl.body_start[k]), end(at, isl.body_start[k + 1])):
                i = item(isl.body_index, n)
                if bodies.midpoint[i] == ZERO or wp.length_sq(bodies.spin[i]) > ZERO:
                    continue
                if bodies.steady[i] == ZERO:
                    bodies.arc[i] = vec6()
                    bodies.pulled[i] = wp.vec3d()
                    continue
                own = turn_of(bodies, i)
                push = wp.vec3d()
                pulled = wp.vec3d()
                moment = wp.vec3d()
                whole = wp.vec3d()
                least = bodies.steady[i]
                for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
                    other, _anchor, _jac = side_of(rows, bodies.row_index[m], i)
                    if other < dynamic:
                        least = wp.min(least, bodies.steady[other])
                for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
                    r = bodies.row_index[m]
                    p = rows.p[r]
                    if p == ZERO or rows.beta[r] != ONE or rows.compliance[r] > ZERO:
                        continue
                    other, anchor, jac = side_of(rows, r, i)
                    whole += p * angular(jac)
                    t = turn_of_row(bodies, rows, r, dynamic)
                    part = least
                    if other < dynamic:
                        part = wp.min(bodies.steady[i], bodies.steady[other])
                    if rows.coordinate[r] == DISTANCE:
                        sweep, taut = swept(bodies, rows, r)
                        t = sweep
                        part *= taut
                        rows.drawn[r] = part * p
                    if rows.coordinate[r] == LINEAR or rows.coordinate[r] == DISTANCE:
                        f = p * linear(jac)
                        aside = part * lag(t, f)
                        arm = lever(bodies, i, anchor)
                        push += aside
                        moment += wp.cross(arm, aside) + part * wp.cross(lag(own, arm), f)
                        if rows.coordinate[r] == LINEAR:
                            pulled += part * f
                    else:
                        moment += part * lag(t, p * angular(jac))
                inverse = bodies.inverse_inertia[i]
                spin = inverse * moment
                principal = bodies.principal[i]
                if wp.length(own) * wp.max(principal) < FAR * wp.min(principal):
                    inertia = bodies.inertia[i]
                    w = inverse * whole
                    coupled = wp.cross(inertia * own, w) + wp.cross(own, inertia * w)
                    spin += bodies.steady[i] * (inverse * coupled - wp.cross(own, w)) / wp.float64(6.0)
                bodies.pulled[i] = pulled
                bodies.arc[i] = (ONE + bodies.midpoint[i]) * six(push * bodies.inverse_mass[i], spin)

    return steady, arcs
