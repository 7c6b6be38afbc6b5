# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that judge a solved step in float64: the residuals of metrics.py, and how the impulses end the step.

They start from the step's data and its result alone, never from what the solver kept on its way.  In this order:

    begin       clear what is summed up
    masses      inverse masses of all bodies at ``q_free``; zero for those that do not move
    motion      kinematics, and kinetic energy of each island in free motion and in the solution
    contacts    laws, impulses on bodies; which islands are driven, which need a velocity phase
    rows        laws, impulses on bodies; ``norms``: over the rows of a joint
    bodies      momentum; velocity at the step's end; islands that gained energy

begin, turn and given before a velocity phase, which solves contacts anew at the end pose, and
begin, masses, contacts_at_end, rows_at_end, norms, bodies_at_end after it.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import CONTACTS, DYNAMIC, PUSH_OUT, ROWS, STEP, BodyArrays, ContactArrays, RowArrays
from .constraints.contact_functions import contact_functions
from .constraints.row_functions import row_functions
from .energy_limit import LONGEST_STEP, SPARE
from .mathx.complementarity import complementarity_functions
from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .residual_laws import (
    BODIES,
    FRICTION,
    GAP,
    JOINT,
    KINEMATIC,
    KINEMATIC_ANGLE,
    LANDED,
    OF_CONTACT,
    ROUNDED,
    STOOD,
    TOLERANCE,
    TURNED,
    Judged,
    residual_laws,
)

GAIN = 0.25  # of its kinetic energy in free motion: more than that no step gives an island that nothing drives
JOINT_MODULE = "axion_residuals_joints"  # of what scenes without joints never launch
NO_SPEED = 10.0  # times the tolerance in a step: that is no speed yet


@cache
def residual_kernels():
    """The kernels by name."""
    real = real_types(wp.float64)
    scalar, vec2, vec3, vec6 = wp.float64, wp.vec2d, wp.vec3d, real.vec6
    math, laws, of_rows = rotation_functions(real), residual_laws(), row_functions()
    exponential, six, linear, angular = math.exponential, math.six, math.linear, math.angular
    least, most, note, spread, mark, doubt = laws.least, laws.most, laws.note, laws.spread, laws.mark, laws.doubt
    act, friction_error, clip_error, of_joint = laws.act, laws.friction_error, laws.clip_error, laws.of_joint
    momentum, kinetic, carried, at_end = laws.momentum, laws.kinetic, laws.carried, laws.at_end
    lever, rank, push, turned_with, turned_late = laws.lever, laws.rank, laws.push, laws.turned_with, laws.turned_late
    gap, world = contact_functions().gap, contact_functions().world
    measure, stepped, demand = of_rows.measure, of_rows.stepped, of_rows.demand
    spins, halfway, draw, end_normal = of_rows.spins, of_rows.halfway, laws.draw, laws.end_normal
    fischer_burmeister = complementarity_functions().fischer_burmeister
    kernel, func = wp.kernel(module="axion_residuals", enable_backward=False), wp.func(module="axion_residuals")
    joint_kernel = wp.kernel(module=JOINT_MODULE, enable_backward=False)
    bodies_slot, dynamic_slot, push_out_slot = wp.constant(BODIES), wp.constant(DYNAMIC), wp.constant(PUSH_OUT)
    contacts_slot, rows_slot, step_slot, tolerance_slot = map(wp.constant, (CONTACTS, ROWS, STEP, TOLERANCE))
    turned_bit, rounded_bit, stood_bit, landed_bit = (wp.constant(bit) for bit in (TURNED, ROUNDED, STOOD, LANDED))
    ZERO, ONE, FAINT, FRAME = (wp.constant(wp.float64(value)) for value in (0.0, 1.0, 0.01, LONGEST_STEP))

    @kernel
    def begin(judged: Judged):
        i = wp.tid()
        if i < judged.worst.shape[0]:
            judged.worst[i] = wp.int64(0)
        if i < judged.square.shape[0]:
            judged.square[i] = ZERO
        if i < judged.push.shape[0]:
            judged.push[i] = vec6(ZERO)
            judged.late[i] = vec6()
            judged.error[i] = wp.int64(0)
            judged.free_energy[i] = ZERO
            judged.energy[i] = ZERO
            judged.mass[i] = ZERO
            judged.fastest[i] = wp.int64(0)
            judged.driven[i] = 0
            judged.work[i] = ZERO
            judged.work_spare[i] = ZERO
            judged.need[i] = 0
            judged.rolls[i] = 0

    @kernel
    def masses(bodies: BodyArrays, judged: Judged):
        i = wp.tid()
        if i >= judged.counts[bodies_slot]:
            return
        bodies.inverse_mass[i] = ZERO
        bodies.inverse_inertia[i] = real.mat33(ZERO)
        judged.body[0, i] = ZERO
        judged.moves[i] = 0
        if i >= judged.counts[dynamic_slot]:
            for m in range(6):
                if bodies.u_free[i][m] != ZERO:
                    judged.moves[i] = 1
        else:
            bodies.inverse_mass[i] = ONE / bodies.mass[i]
            axes = wp.quat_to_matrix(bodies.q_free[i])
            inverse = wp.diag(wp.cw_div(vec3(ONE, ONE, ONE), judged.moments[i]))
            bodies.inverse_inertia[i] = axes * inverse * wp.transpose(axes)

    @kernel
    def motion(bodies: BodyArrays, judged: Judged):
        i = wp.tid()
        if i >= judged.counts[bodies_slot]:
            return
        h = judged.settings[step_slot]
        change = bodies.u[i] - bodies.u_free[i]
        error = wp.length(bodies.x[i] - (bodies.x_free[i] + h * linear(change)))
        led = exponential(h * angular(change)) * bodies.q_free[i]
        if spins(bodies, i, judged.counts[dynamic_slot]):
            led = judged.led[i]
        d = wp.quat_inverse(led) * bodies.q[i]
        angle = scalar(2.0) * wp.atan2(wp.length(vec3(d[0], d[1], d[2])), wp.abs(d[3]))
        angle += doubt(wp.length_sq(angular(change)))
        judged.body[1, i] = error
        judged.body[2, i] = angle
        note(judged.worst, KINEMATIC, error)
        note(judged.worst, KINEMATIC_ANGLE, angle)
        if i >= judged.counts[dynamic_slot]:
            return
        note(judged.error, i, error)
        k = bodies.island[i]
        wp.atomic_add(judged.free_energy, k, kinetic(bodies, judged, i, bodies.u_free[i]))
        energy = kinetic(bodies, judged, i, bodies.u[i])
        if bodies.midpoint[i] == ZERO:
            # A thin body that contacts turn far from its free pose would end with its momentum along its own axis.
            spin = wp.quat_rotate_inv(bodies.q[i], angular(carried(bodies, judged, i, bodies.u[i])))
            turning = wp.dot(wp.cw_mul(judged.principal[i], spin), spin)
            energy = most(energy, scalar(0.5) * (bodies.mass[i] * wp.length_sq(linear(bodies.u[i])) + turning))
        wp.atomic_add(judged.energy, k, energy)
        wp.atomic_add(judged.mass, k, bodies.mass[i])
        principal = judged.principal[i]
        gyration = wp.sqrt(wp.max(principal[0], wp.max(principal[1], principal[2])) / bodies.mass[i])
        note(judged.fastest, k, most(wp.length(linear(bodies.u[i])), gyration * wp.length(angular(bodies.u[i]))))

    @func
    def misturned(bodies: BodyArrays, judged: Judged, i: int, point: vec3, force: vec3, start: scalar, dynamic: int):
        """Speed, at the radius of gyration, that an impulse gives a body wrongly as its lever turned in the step.

        Only where the turn may have closed the gap at the ``start``: what flies against a wall does not roll.
        """
        if i >= dynamic:
            return ZERO
        moved = wp.quat_rotate(bodies.q[i], point) - wp.quat_rotate(bodies.q0[i], point)
        if start > wp.length(moved):
            return ZERO
        gyration = wp.sqrt(wp.max(judged.principal[i]) / bodies.mass[i])
        return gyration * wp.length(bodies.inverse_inertia[i] * wp.cross(moved, force))

    @kernel
    def contacts(bodies: BodyArrays, con: ContactArrays, judged: Judged):
        c = wp.tid()
        if c >= judged.counts[contacts_slot]:
            return
        a = con.a[c]
        b = con.b[c]
        h = judged.settings[step_slot]
        p = con.p[c]
        here = act(con, c, bodies, judged)
        after = gap(con, c, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
        allowed = con.rebound_gap[c]
        if con.start_gap[c] < ZERO:
            allowed += least(con.start_gap[c] + judged.settings[push_out_slot], ZERO)
        clear = after - allowed
        pressed = h * here.w * p[0]
        radius = con.mu[c] * most(p[0], ZERO)
        slip = vec2(here.slip[1], here.slip[2])
        pt = vec2(p[1], p[2])
        judged.contact[0, c] = wp.abs(least(clear, pressed))
        judged.contact[1, c] = wp.abs(fischer_burmeister(clear, pressed)[0])
        judged.contact[2, c] = most(-after, ZERO)
        judged.contact[3, c] = friction_error(pt, slip, here.w, here.w * radius)
        judged.contact[4, c] = most(wp.length(pt) - radius, ZERO)
        judged.contact[5, c] = wp.abs(wp.dot(slip, pt) + radius * wp.length(slip))
        for kind in range(OF_CONTACT):
            note(judged.worst, GAP + kind, judged.contact[kind, c])
        dynamic = judged.counts[dynamic_slot]
        spread(judged, dynamic, a, b, judged.contact[0, c])
        spread(judged, dynamic, a, b, h * judged.contact[3, c])
        gives = con.start_gap[c] < -judged.settings[tolerance_slot] or wp.length_sq(con.surface_velocity[c]) > ZERO
        pushed = judged.moves[a] == 1 or judged.moves[b] == 1
        if p[0] > ZERO and (gives or pushed):
            mark(judged.driven, 2, bodies, dynamic, a, b)
        does = int(0)
        rebounds = con.rebound_speed[c] != ZERO or con.rebound_gap[c] > ZERO
        if p[0] > ZERO:
            # What is round on both sides has another normal in the next step; what strikes may have stopped by then.
            lands = con.start_gap[c] > judged.settings[tolerance_slot]
            turns = (lands and con.margin_a[c] > ZERO and con.margin_b[c] > ZERO) or con.glides[c] > 0
            if rebounds or turns or con.start_gap[c] < -judged.settings[tolerance_slot]:
                mark(judged.need, 2, bodies, dynamic, a, b)
            elif lands and pushed:
                mark(judged.need, 1, bodies, dynamic, a, b)
            force = world(con.n[c], p)
            start = con.start_gap[c]
            off = misturned(bodies, judged, a, con.point_a[c], force, start, dynamic)
            off = most(off, misturned(bodies, judged, b, con.point_b[c], force, start, dynamic))
            if FRAME * FRAME * off > FAINT * h * judged.settings[tolerance_slot]:  # it adds up from step to step
                does = turned_bit
            if con.margin_a[c] > ZERO or con.margin_b[c] > ZERO:
                does |= rounded_bit
        before = gap(con, c, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b])
        if before <= judged.settings[tolerance_slot]:
            does |= stood_bit
        elif p[0] > ZERO:
            does |= landed_bit
        if a < dynamic:
            wp.atomic_or(judged.rolls, bodies.island[a], does)
        if b < dynamic:
            wp.atomic_or(judged.rolls, bodies.island[b], does)

    @kernel
    def turn(bodies: BodyArrays, con: ContactArrays, judged: Judged):
        """Contacts at the end pose: world impulse on body a, normal, points as meeting.at_one_point puts them.

        The impulses go to the bodies with the levers of the start pose, which the position phase took.  Those that
        glide go on having acted in mid-step: they go to them as those that are solved anew at the end pose will.
        """
        c = wp.tid()
        if c >= judged.counts[contacts_slot]:
            return
        a = con.a[c]
        b = con.b[c]
        n = con.n[c]
        force = world(n, con.p[c])
        share_a = ONE + bodies.midpoint[a]
        share_b = ONE + bodies.midpoint[b]
        face = con.face[c]
        if con.glides[c] > 0:
            force = turned_with(bodies, face, end_normal(con, c, bodies), n, wp.max(share_a, share_b) * force)
        else:
            push(judged, a, share_a * force, lever(n, bodies.q0[a], con.point_a[c], con.margin_a[c]))
            push(judged, b, -share_b * force, lever(n, bodies.q0[b], con.point_b[c], -con.margin_b[c]))
        n = end_normal(con, c, bodies)
        on_a = at_end(con, c, bodies, a, con.point_a[c], con.margin_a[c], -n)
        on_b = at_end(con, c, bodies, b, con.point_b[c], con.margin_b[c], n)
        apart = wp.dot(n, on_a - on_b) * n
        dynamic = judged.counts[dynamic_slot]
        rank_a = rank(face, a, dynamic, con.margin_a[c])
        rank_b = rank(face, b, dynamic, con.margin_b[c])
        if rank_a > rank_b:
            on_a = on_b + apart
        elif rank_b > rank_a:
            on_b = on_a - apart
        middle = scalar(0.5) * (on_a + on_b)
        if con.glides[c] > 0:
            push(judged, a, force, middle - bodies.x[a])
            push(judged, b, -force, middle - bodies.x[b])
        judged.contact_end[0, c] = force
        judged.contact_end[1, c] = n
        judged.contact_end[2, c] = wp.quat_rotate_inv(bodies.q[a], middle - bodies.x[a])
        judged.contact_end[3, c] = wp.quat_rotate_inv(bodies.q[b], middle - bodies.x[b])

    @kernel
    def given(bodies: BodyArrays, judged: Judged):
        i = wp.tid()
        if i < judged.counts[dynamic_slot]:
            q = bodies.q[i]
            spin = wp.cw_div(wp.quat_rotate_inv(q, angular(judged.push[i])), judged.moments[i])
            judged.given[i] = six(linear(judged.push[i]) / bodies.mass[i], wp.quat_rotate(q, spin))

    @kernel
    def contacts_at_end(bodies: BodyArrays, con: ContactArrays, judged: Judged):
        """``loaded`` contacts leave with the speed of their rebound or rest, the others must not push."""
        c = wp.tid()
        if c >= judged.counts[contacts_slot]:
            return
        p = con.p[c]
        here = act(con, c, bodies, judged)
        pressed = here.w * p[0]
        normal = wp.abs(pressed)
        if con.loaded[c] == 1:
            normal = wp.abs(least(here.slip[0] - con.rebound_speed[c], pressed))
        reach = here.w * con.mu[c] * most(p[0], ZERO)
        friction = friction_error(vec2(p[1], p[2]), vec2(here.slip[1], here.slip[2]), here.w, reach)
        judged.contact[0, c] = normal
        judged.contact[3, c] = friction
        note(judged.worst, GAP, normal)
        note(judged.worst, FRICTION, friction)
        spread(judged, judged.counts[dynamic_slot], con.a[c], con.b[c], normal)
        spread(judged, judged.counts[dynamic_slot], con.a[c], con.b[c], friction)

    @joint_kernel
    def rows(bodies: BodyArrays, rows: RowArrays, judged: Judged):
        r = wp.tid()
        if r >= judged.counts[rows_slot]:
            return
        a = rows.a[r]
        b = rows.b[r]
        h = judged.settings[step_slot]
        dynamic = judged.counts[dynamic_slot]
        row = stepped(rows, r, bodies, dynamic, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
        p = rows.p[r] + doubt(wp.dot(bodies.q[a], bodies.q[a]) + wp.dot(bodies.q[b], bodies.q[b]))
        wp.atomic_add(judged.push, a, row.jac_a * p)
        wp.atomic_add(judged.push, b, row.jac_b * p)
        if spins(bodies, a, dynamic) or spins(bodies, b, dynamic):
            whole_way = halfway(rows, r, bodies, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
            wp.atomic_add(judged.late, a, six(vec3(), angular(whole_way.jac_a - row.jac_a) * p))
            wp.atomic_add(judged.late, b, six(vec3(), angular(whole_way.jac_b - row.jac_b) * p))
        draw(bodies, rows, judged, r, linear(row.jac_b))
        ju = wp.dot(row.jac_a, bodies.u[a]) + wp.dot(row.jac_b, bodies.u[b])
        off = demand(rows, r, row.c, ju, h) + rows.compliance[r] * p
        error = wp.abs(off)
        if rows.beta[r] != ONE or wp.isfinite(rows.lower[r]) or wp.isfinite(rows.upper[r]):
            error = clip_error(rows, r, bodies, judged, dynamic, row.jac_a, row.jac_b, off)
        error *= h
        wp.atomic_add(judged.square, of_joint(rows, judged, r), error * error)
        judged.coordinate[r] = row.c
        one = wp.where(a < dynamic, a, b)
        middle = wp.max(bodies.midpoint[one], bodies.midpoint[wp.where(b < dynamic, b, a)])
        whole = (ONE + middle) * p
        if judged.moves[a] == 1 or judged.moves[b] == 1:
            mark(judged.driven, 2, bodies, dynamic, a, b)
        pulls = rows.beta[r] != ONE or rows.compliance[r] != ZERO or judged.rate[r] != ZERO
        if not (pulls or wp.isfinite(rows.lower[r]) or wp.isfinite(rows.upper[r])):  # a drive that stops did work
            way = row.c - measure(rows, r, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b]).c
            pulls = wp.abs(way) > judged.settings[tolerance_slot]
        if pulls:
            mark(judged.driven, 1, bodies, dynamic, a, b)
            spare = scalar(SPARE) * wp.abs(ju) + judged.settings[tolerance_slot] / h
            wp.atomic_add(judged.work_spare, bodies.island[one], wp.abs(whole) * spare)
        if pulls or middle > ZERO:  # at the end pose J u of what holds is how ways bend, and its impulse is found anew
            wp.atomic_add(judged.work, bodies.island[one], whole * ju)

    @joint_kernel
    def rows_at_end(bodies: BodyArrays, rows: RowArrays, judged: Judged):
        """At the pose that bodies start from in the velocity phase: the end of the step."""
        r = wp.tid()
        if r >= judged.counts[rows_slot]:
            return
        a = rows.a[r]
        b = rows.b[r]
        p = rows.p[r]
        row = measure(rows, r, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b])
        wp.atomic_add(judged.push, a, row.jac_a * p)
        wp.atomic_add(judged.push, b, row.jac_b * p)
        off = wp.dot(row.jac_a, bodies.u[a]) + wp.dot(row.jac_b, bodies.u[b])
        off += rows.compliance[r] * p - rows.target_velocity[r]
        error = clip_error(rows, r, bodies, judged, judged.counts[dynamic_slot], row.jac_a, row.jac_b, off)
        wp.atomic_add(judged.square, of_joint(rows, judged, r), error * error)

    @joint_kernel
    def norms(rows: RowArrays, judged: Judged):
        """The error of each row's joint: the norm over its rows of lengths, or over those of angles."""
        r = wp.tid()
        if r >= judged.counts[rows_slot]:
            return
        slot = of_joint(rows, judged, r)
        error = wp.sqrt(judged.square[slot])
        judged.row[r] = error
        note(judged.worst, JOINT + slot % 2, error)
        spread(judged, judged.counts[dynamic_slot], rows.a[r], rows.b[r], error)

    @kernel
    def bodies(bodies: BodyArrays, judged: Judged):
        """Momentum; velocity with all impulses of the step; whether the body's island gained energy from nowhere."""
        i = wp.tid()
        if i >= judged.counts[dynamic_slot]:
            return
        h = judged.settings[step_slot]
        answer = momentum(bodies, judged, i, h)
        share = ONE + bodies.midpoint[i]
        end = judged.end_velocity[i]
        change = bodies.u[i] - bodies.u_free[i] - bodies.arc[i]
        judged.velocity[1, i] = carried(bodies, judged, i, end + share * change)
        judged.velocity[0, i] = judged.velocity[1, i]
        if judged.jointed[bodies.island[i]] == 1 and bodies.midpoint[i] > ZERO:
            answer += turned_late(bodies, judged, i, answer, h)
            judged.velocity[0, i] = carried(bodies, judged, i, end + share * answer)
        k = bodies.island[i]
        speed = scalar(NO_SPEED) * judged.settings[tolerance_slot] / h
        most_energy = (ONE + scalar(GAIN)) * judged.free_energy[k] + scalar(0.5) * judged.mass[k] * speed * speed
        judged.gained[i] = 0
        if judged.counts[contacts_slot] > 0 and judged.driven[k] == 0 and judged.energy[k] > most_energy:
            judged.gained[i] = 1

    @kernel
    def bodies_at_end(bodies: BodyArrays, judged: Judged):
        i = wp.tid()
        if i < judged.counts[dynamic_slot]:
            momentum(bodies, judged, i, ONE)

    return SimpleNamespace(
        begin=begin, masses=masses, motion=motion, contacts=contacts, turn=turn, given=given,
        contacts_at_end=contacts_at_end, rows=rows, rows_at_end=rows_at_end, norms=norms, bodies=bodies,
        bodies_at_end=bodies_at_end,
    )  # fmt: skip
