# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint rows on the device: every joint is a list of scalar rows (problem.JointRows); kernels know rows, not joints.

    law       sigma (p - p^) + v + E p = 0, clipped to lower <= p <= upper        E: compliance [1/kg]
    row       v = beta (c(q+) - target) / h + (1 - beta) J u - target_velocity    c: its coordinate
    J         at the end pose, or in mid-step where a body asks for it (``midpoint``): it keeps energy
    impulse   p acts along +J_b^T on body b and +J_a^T on body a; LINEAR: +axis on b at the anchor, -axis on a

Coordinates and Jacobians: row_functions.py.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from ..arrays import DYNAMIC, ROWS, STEP, BodyArrays, IslandArrays, RowArrays
from ..lanes import begin, end, end_of_all, island_at, item, turns
from ..mathx.real import real_types
from ..mathx.rotation import rotation_functions
from ..problem import Coordinate
from .row_functions import row_functions


@cache
def joint_kernels():
    """All kernels that loop over joint rows."""
    real = real_types(wp.float64)
    scalar, vec3, vec6 = real.scalar, real.vec3, real.vec6
    math = rotation_functions(real)
    measured, linear, six = math.measured, math.linear, math.six
    of_rows = row_functions()
    measure, midstep, spins, stepped, vectors, demand, sideways = (
        of_rows.measure, of_rows.midstep, of_rows.spins, of_rows.stepped, of_rows.vectors, of_rows.demand,
        of_rows.sideways,
    )  # fmt: skip
    name = "axion_joints"
    kernel = wp.kernel(module=name, enable_backward=False)
    rows_slot, dynamic_slot, step_slot = wp.constant(ROWS), wp.constant(DYNAMIC), wp.constant(STEP)
    LINEAR, DISTANCE = wp.constant(int(Coordinate.LINEAR)), wp.constant(int(Coordinate.DISTANCE))

    @wp.func(module=name)
    def body_mass(jac: vec6, bodies: BodyArrays, i: int):
        t = vec3(jac[3], jac[4], jac[5])
        f = vec3(jac[0], jac[1], jac[2])
        return bodies.inverse_mass[i] * wp.dot(f, f) + wp.dot(t, bodies.inverse_inertia[i] * t)

    @wp.func(module=name)
    def clipped(p: scalar, rows: RowArrays, r: int):
        return wp.clamp(p, rows.lower[r], rows.upper[r])

    @wp.func(module=name)
    def inside(p: scalar, rows: RowArrays, r: int):
        return p > rows.lower[r] and p < rows.upper[r]

    @kernel
    def prepare_rows(counts: wp.array(dtype=wp.int32), bodies: BodyArrays, rows: RowArrays):
        """Effective inverse mass and start impulse, at the start pose.

        The proximal centre starts at zero all the same: what redundant joints do against each other cancels out of
        every equation, so a centre handed on from step to step would pile it up.  The start impulse serves K.
        """
        at = wp.tid()
        for r in range(begin(at, 0), end_of_all(at, counts[rows_slot])):
            a = rows.a[r]
            b = rows.b[r]
            row = measure(rows, r, bodies.x0[a], bodies.q0[a], bodies.x0[b], bodies.q0[b])
            w = scalar(0.0)
            if a < counts[dynamic_slot]:
                w += body_mass(row.jac_a, bodies, a)
            if b < counts[dynamic_slot]:
                w += body_mass(row.jac_b, bodies, b)
            rows.w[r] = wp.max(w, scalar(1.0e-30))
            p = clipped(rows.start_impulse[r], rows, r)
            rows.p[r] = p
            rows.p_centre[r] = scalar(0.0)
            rows.p_best[r] = p
            rows.drawn[r] = scalar(0.0)
            rows.turning[r] = scalar(0.0)

    @kernel
    def linearise_rows(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=scalar),
        bodies: BodyArrays,
        rows: RowArrays,
        isl: IslandArrays,
    ):
        """Row velocities at the end pose of the present iterate, Jacobians, and the bias with v = J u + bias there."""
        at = wp.tid()
        for turn in range(turns(counts, rows_slot, at)):
            k = island_at(isl, rows.island, turn, at)
            if islands[k] == 0:
                continue
            for n in range(begin(at, isl.row_start[k]), end(at, isl.row_start[k + 1])):
                r = item(isl.row_index, n)
                a = rows.a[r]
                b = rows.b[r]
                row = stepped(rows, r, bodies, counts[dynamic_slot], bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
                ju = wp.dot(row.jac_a, bodies.u[a]) + wp.dot(row.jac_b, bodies.u[b])
                v = demand(rows, r, row.c, ju, settings[step_slot])
                rows.jac_a[r] = row.jac_a
                rows.jac_b[r] = row.jac_b
                rows.v[r] = v
                rows.bias[r] = v - ju

    @kernel
    def turn_rows(
        counts: wp.array(dtype=wp.int32),
        islands: wp.array(dtype=wp.int32),
        settings: wp.array(dtype=scalar),
        bodies: BodyArrays,
        rows: RowArrays,
        isl: IslandArrays,
    ):
        """How stiff the pull of a DISTANCE makes it across its direction, which turns with its anchors: h T / L."""
        at = wp.tid()
        for turn in range(turns(counts, rows_slot, at)):
            k = island_at(isl, rows.island, turn, at)
            if islands[k] == 0:
                continue
            for n in range(begin(at, isl.row_start[k]), end(at, isl.row_start[k + 1])):
                r = item(isl.row_index, n)
                if rows.coordinate[r] == DISTANCE:
                    a = rows.a[r]
                    b = rows.b[r]
                    length = vectors(rows, r, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b]).length
                    share = scalar(1.0) - scalar(0.5) * wp.max(bodies.midpoint[a], bodies.midpoint[b])
                    rows.turning[r] = scalar(0.0)
                    if rows.p[r] < scalar(0.0) and length > scalar(0.0):
                        rows.turning[r] = -settings[step_slot] * share * rows.p[r] / length

    @wp.func(module=name)
    def locks(rows: RowArrays, r: int):
        """Whether all rows of the joint that begins at row r lock the way of an anchor."""
        for m in range(r, r + rows.group[r]):
            free = rows.lower[m] > -scalar(1.0e30) or rows.upper[m] < scalar(1.0e30)
            if rows.coordinate[m] != LINEAR or rows.compliance[m] > scalar(0.0) or free:
                return False
        return True

    @kernel
    def carry_impulses(
        counts: wp.array(dtype=wp.int32), islands: wp.array(dtype=wp.int32), rows: RowArrays, isl: IslandArrays
    ):
        """After the directions of anchors have turned: the impulses that push as those of the last directions did.

        Rows that lock two or three directions of a joint push the same whichever way their axes lie, but one by one
        each impulse would turn with its axis, and light bodies between heavy loads never come to balance.
        """
        at = wp.tid()
        for turn in range(turns(counts, rows_slot, at)):
            k = island_at(isl, rows.island, turn, at)
            if islands[k] == 0:
                continue
            for n in range(begin(at, isl.row_start[k]), end(at, isl.row_start[k + 1])):
                r = item(isl.row_index, n)
                size = rows.group[r]
                carries = False
                if size == 2 or size == 3:
                    carries = locks(rows, r)
                if carries:
                    push = rows.p[r] * rows.along[r] + rows.p[r + 1] * rows.along[r + 1]
                    x = linear(rows.jac_b[r])
                    y = linear(rows.jac_b[r + 1])
                    z = wp.cross(x, y)
                    if size == 3:
                        push += rows.p[r + 2] * rows.along[r + 2]
                        z = linear(rows.jac_b[r + 2])
                    p = wp.inverse(wp.matrix_from_cols(x, y, z)) * push
                    for m in range(size):
                        rows.p[r + m] = p[m]

    @kernel
    def meet_anchors(
        counts: wp.array(dtype=wp.int32), islands: wp.array(dtype=wp.int32), settings: wp.array(dtype=scalar),
        bodies: BodyArrays, rows: RowArrays, isl: IslandArrays,
    ):  # fmt: skip
        """In mid-step: levers on body a of anchors that are locked together, as they are once their rows are met.

        They reach to b's anchor, which a drive of any force leads away from a's.  What a round closes of the way
        between the two, times a large force, is a moment that light bodies would not have reckoned with.  Contacts
        hold other bodies: there it gains nothing.
        """
        at = wp.tid()
        for turn in range(turns(counts, rows_slot, at)):
            k = island_at(isl, rows.island, turn, at)
            if islands[k] == 0:
                continue
            for n in range(begin(at, isl.row_start[k]), end(at, isl.row_start[k + 1])):
                r = item(isl.row_index, n)
                a = rows.a[r]
                b = rows.b[r]
                meets = False
                if rows.group[r] == 3:
                    halfway = midstep(rows, r, bodies, counts[dynamic_slot]) != scalar(0.0)
                    meets = halfway and locks(rows, r) and not spins(bodies, a, counts[dynamic_slot])
                if meets:
                    start = bodies.x0[b] + wp.quat_rotate(bodies.q0[b], rows.anchor_b[r]) - bodies.x0[a]
                    last = vectors(rows, r, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
                    reach = last.arm_a
                    for m in range(r, r + 3):
                        axis = wp.quat_rotate(bodies.q[a], rows.axis_a[m])
                        reach += (wp.dot(axis, last.d) - settings[step_slot] * rows.v[m]) * axis
                    arm = scalar(0.5) * (reach + start)
                    for m in range(r, r + 3):
                        axis = linear(rows.jac_b[m])
                        rows.jac_a[m] = six(-axis, -wp.cross(arm, axis))

    @kernel
    def linearise_rows_velocity(
        counts: wp.array(dtype=wp.int32), islands: wp.array(dtype=wp.int32), bodies: BodyArrays, rows: RowArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """Velocity phase: the directions of the end pose, v = J u - target_velocity."""
        at = wp.tid()
        for turn in range(turns(counts, rows_slot, at)):
            k = island_at(isl, rows.island, turn, at)
            if islands[k] == 0:
                continue
            for n in range(begin(at, isl.row_start[k]), end(at, isl.row_start[k + 1])):
                r = item(isl.row_index, n)
                a = rows.a[r]
                b = rows.b[r]
                row = measure(rows, r, bodies.x[a], bodies.q[a], bodies.x[b], bodies.q[b])
                rows.jac_a[r] = row.jac_a
                rows.jac_b[r] = row.jac_b
                rows.bias[r] = -rows.target_velocity[r]
                rows.v[r] = wp.dot(row.jac_a, bodies.u[a]) + wp.dot(row.jac_b, bodies.u[b]) - rows.target_velocity[r]

    @wp.func(module=name)
    def apply_row_law(rows: RowArrays, isl: IslandArrays, r: int, k: int):
        """Impulse and curvature of a row for the present velocities; what it bears in the centre goes on if assumed."""
        sigma = rows.w[r] * isl.eps_joint[k]
        stiff = scalar(1.0) / (sigma + rows.compliance[r])
        free = (sigma * rows.p_centre[r] - rows.v[r]) * stiff
        rows.along[r] = linear(rows.jac_b[r])
        centre = rows.p_centre[r]  # 0: nothing is known of it, as after rounds that were unloaded
        goes_on = isl.assumed[k] == 1 and centre != scalar(0.0) and inside(centre, rows, r)
        rows.p[r] = free
        rows.curvature[r] = stiff
        if not goes_on and not inside(free, rows, r):
            rows.p[r] = clipped(free, rows, r)
            rows.curvature[r] = scalar(0.0)

    @wp.func(module=name)
    def row_direction(bodies: BodyArrays, rows: RowArrays, r: int, dynamic: int):
        """Dv = J d is kept; p dv of the line search's slope."""
        a = rows.a[r]
        b = rows.b[r]
        dv = scalar(0.0)
        if a < dynamic:
            dv += wp.dot(rows.jac_a[r], bodies.d[a])
        if b < dynamic:
            dv += wp.dot(rows.jac_b[r], bodies.d[b])
        rows.dv[r] = dv
        return dv * rows.p[r]

    @wp.func(module=name)
    def turn_direction(bodies: BodyArrays, rows: RowArrays, r: int, t: int, dynamic: int):
        """The part of what ``turn_rows`` found, to one of two sides, in the bend along the direction."""
        a = rows.a[r]
        b = rows.b[r]
        way = scalar(0.0)
        if a < dynamic:
            way += wp.dot(sideways(rows, r, bodies, a, t), bodies.d[a])
        if b < dynamic:
            way += wp.dot(sideways(rows, r, bodies, b, t), bodies.d[b])
        return rows.turning[r] * way * way

    @wp.func(module=name)
    def row_search(rows: RowArrays, isl: IslandArrays, r: int, k: int, alpha: wp.float64):
        """(slope, bend) of the merit function along the Newton direction, at step length alpha."""
        sigma = rows.w[r] * isl.eps_joint[k]
        stiff = scalar(1.0) / (sigma + rows.compliance[r])
        dv = rows.dv[r]
        free = (sigma * rows.p_centre[r] - rows.v[r] - alpha * dv) * stiff
        bend = scalar(0.0)
        if inside(free, rows, r):
            bend = dv * dv * stiff
        return wp.vec2d(-clipped(free, rows, r) * dv, bend)

    @wp.func(module=name)
    def row_update(rows: RowArrays, isl: IslandArrays, r: int, k: int, alpha: scalar):
        """Velocity and impulse after a step of that length."""
        sigma = rows.w[r] * isl.eps_joint[k]
        v = rows.v[r] + alpha * rows.dv[r]
        rows.v[r] = v
        free = (sigma * rows.p_centre[r] - v) / (sigma + rows.compliance[r])
        rows.p[r] = clipped(free, rows, r)

    @kernel
    def row_residual(counts: wp.array(dtype=wp.int32), rows: RowArrays, isl: IslandArrays):
        """Natural map of the clipped law [m/s]: |v + E p| between the bounds; at a bound only the wrong sign counts."""
        at = wp.tid()
        for turn in range(turns(counts, rows_slot, at)):
            k = island_at(isl, rows.island, turn, at)
            if isl.outer_active[k] == 0:
                continue
            for n in range(begin(at, isl.row_start[k]), end(at, isl.row_start[k + 1])):
                r = item(isl.row_index, n)
                p = rows.p[r]
                w = rows.w[r] + rows.compliance[r]
                slip = rows.v[r] + rows.compliance[r] * p
                error = (p - clipped(p - slip / w, rows, r)) * w
                wp.atomic_max(isl.residual_joint, k, measured(wp.abs(error) * rows.share[r]))

    @kernel
    def keep_rows(counts: wp.array(dtype=wp.int32), rows: RowArrays, isl: IslandArrays):
        at = wp.tid()
        for turn in range(turns(counts, rows_slot, at)):
            k = island_at(isl, rows.island, turn, at)
            if isl.keep[k] + isl.restore[k] + isl.outer_active[k] == 0:
                continue
            for n in range(begin(at, isl.row_start[k]), end(at, isl.row_start[k + 1])):
                r = item(isl.row_index, n)
                if isl.keep[k] == 1:
                    rows.p_best[r] = rows.p[r]
                if isl.restore[k] == 1:
                    rows.p[r] = rows.p_best[r]
                if isl.outer_active[k] == 1:
                    rows.p_centre[r] = rows.p[r]
                    if isl.unload[k] == 1:  # or they go on to hold against squeezes that are gone
                        rows.p_centre[r] = scalar(0.0)

    return SimpleNamespace(
        prepare_rows=prepare_rows,
        linearise_rows=linearise_rows,
        turn_rows=turn_rows,
        carry_impulses=carry_impulses,
        meet_anchors=meet_anchors,
        turn_direction=turn_direction,
        linearise_rows_velocity=linearise_rows_velocity,
        apply_row_law=apply_row_law,
        row_direction=row_direction,
        row_search=row_search,
        row_update=row_update,
        row_residual=row_residual,
        keep_rows=keep_rows,
    )
