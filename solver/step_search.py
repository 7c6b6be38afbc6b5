# SPDX-License-Identifier: GPL-3.0-or-later
"""Step length of Newton's method in constraint space: a row of trial lengths, all evaluated in the same launches.

    merit(alpha) = sum of phi^2 over all rows + sum of |M^-1 g|^2 over all bodies [m^2/s^2],   alpha = 1, 1/2, 1/4, ...

at u + alpha du and p + alpha dp, poses, gaps and joint directions included.  Every island takes the length with the
smallest merit, but no long row of short ones: du and dp leave out some derivatives, and a chain with a heavy end crawls
where the merit falls, and arrives by full steps.  Sums run in a fixed order, so the choice is the same in every run.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from .arrays import CONTACTS, DYNAMIC, ISLANDS, ROWS, STEP, BodyArrays, ContactArrays, IslandArrays, RowArrays, allocate
from .constraints.complementarity import equation_functions
from .constraints.contact_functions import contact_functions
from .constraints.row_functions import row_functions
from .linear.schur import schur_struct
from .mathx.real import real_types
from .mathx.rotation import rotation_functions

TRIALS = 10
_vec6 = real_types(wp.float64).vec6
SHORT, PATIENCE = 0.2, 1  # after this many steps shorter than that, one full step is taken whatever its merit


@wp.struct
class TrialArrays:
    """What each trial (first index) makes of each body, contact and joint row."""

    x: wp.array2d(dtype=wp.vec3d)
    q: wp.array2d(dtype=wp.quatd)
    u: wp.array2d(dtype=_vec6)
    jac_a: wp.array2d(dtype=_vec6)
    jac_b: wp.array2d(dtype=_vec6)
    of_body: wp.array2d(dtype=wp.float64)  # |M^-1 g|^2
    of_contact: wp.array2d(dtype=wp.float64)  # phi^2
    of_row: wp.array2d(dtype=wp.float64)
    of_island: wp.array2d(dtype=wp.float64)


@cache
def search_kernels(real):
    """Kernels of the search for one real type; those with two indices run over (trial, item)."""
    exact = real_types(wp.float64)
    scalar, vec3 = exact.scalar, exact.vec3
    SchurArrays = schur_struct(real)
    math, equations = rotation_functions(exact), equation_functions()
    exponential, linear, angular, point_velocity = math.exponential, math.linear, math.angular, math.point_velocity
    contact_equations, row_equation = equations.contact_equations, equations.row_equation
    contact, of_rows = contact_functions(), row_functions()
    components, world, gap, stepped, demand = (
        contact.components, contact.world, contact.gap, of_rows.stepped, of_rows.demand,
    )  # fmt: skip
    name = f"axion_step_search_{real.name}"
    kernel = wp.kernel(module=name, enable_backward=False)
    contacts_slot, dynamic_slot, rows_slot, islands_slot, step_slot = (
        wp.constant(slot) for slot in (CONTACTS, DYNAMIC, ROWS, ISLANDS, STEP)
    )
    most = wp.constant(TRIALS)

    @wp.func(module=name)
    def length(trial: int):
        return wp.pow(scalar(0.5), scalar(trial))

    @kernel
    def try_bodies(
        counts: wp.array(dtype=wp.int32), settings: wp.array(dtype=scalar), position: int, bodies: BodyArrays,
        trial: TrialArrays,
    ):  # fmt: skip
        """Velocity and end pose of each body; immovable ones keep theirs."""
        t, i = wp.tid()
        if i >= bodies.x.shape[0]:
            return
        trial.u[t, i] = bodies.u[i]
        trial.x[t, i] = bodies.x[i]
        trial.q[t, i] = bodies.q[i]
        if i >= counts[dynamic_slot]:
            return
        u = bodies.u[i] + length(t) * bodies.d[i]
        trial.u[t, i] = u
        if position == 1:
            h = settings[step_slot]
            du = u - bodies.u_free[i]
            trial.x[t, i] = bodies.x_free[i] + h * linear(du)
            trial.q[t, i] = wp.normalize(exponential(h * angular(du)) * bodies.q_free[i])

    @kernel
    def try_contacts(
        counts: wp.array(dtype=wp.int32), settings: wp.array(dtype=scalar), position: int, con: ContactArrays,
        sys: SchurArrays, isl: IslandArrays, trial: TrialArrays,
    ):  # fmt: skip
        """Square of phi of each contact."""
        t, c = wp.tid()
        if c >= counts[contacts_slot]:
            return
        a = con.a[c]
        b = con.b[c]
        ju = components(
            con.n[c], point_velocity(trial.u[t, a], con.arm_a[c]) - point_velocity(trial.u[t, b], con.arm_b[c])
        )
        normal = ju[0] + con.bias[c][0]
        if position == 1:
            phi = gap(con, c, trial.x[t, a], trial.q[t, a], trial.x[t, b], trial.q[t, b])
            normal = (phi - con.allowed[c]) / settings[step_slot]
        dp = length(t) * vec3(sys.contact_step[c])
        v = vec3(normal, ju[1] + con.bias[c][1], ju[2] + con.bias[c][2])
        v += isl.eps[con.island[c]] * con.w[c] * dp
        p = con.p[c]
        out = contact_equations(con, c, v, p + dp, con.mu[c] * wp.max(p[0], scalar(0.0)))
        trial.of_contact[t, c] = (
            out.normal[0] * out.normal[0] + out.along[0] * out.along[0] + out.across[0] * out.across[0]
        )

    @kernel
    def try_rows(
        counts: wp.array(dtype=wp.int32), settings: wp.array(dtype=scalar), position: int, bodies: BodyArrays,
        rows: RowArrays, sys: SchurArrays, isl: IslandArrays, trial: TrialArrays,
    ):  # fmt: skip
        """Square of phi, and directions of each joint row."""
        t, r = wp.tid()
        if r >= counts[rows_slot]:
            return
        a = rows.a[r]
        b = rows.b[r]
        jac_a = rows.jac_a[r]
        jac_b = rows.jac_b[r]
        v = scalar(0.0)
        if position == 1:
            row = stepped(
                rows, r, bodies, counts[dynamic_slot], trial.x[t, a], trial.q[t, a], trial.x[t, b], trial.q[t, b]
            )
            jac_a = row.jac_a
            jac_b = row.jac_b
            ju = wp.dot(jac_a, trial.u[t, a]) + wp.dot(jac_b, trial.u[t, b])
            v = demand(rows, r, row.c, ju, settings[step_slot])
        else:
            v = wp.dot(jac_a, trial.u[t, a]) + wp.dot(jac_b, trial.u[t, b]) + rows.bias[r]
        trial.jac_a[t, r] = jac_a
        trial.jac_b[t, r] = jac_b
        dp = length(t) * scalar(sys.row_step[r])
        out = row_equation(rows, r, v + isl.eps_joint[rows.island[r]] * rows.w[r] * dp, rows.p[r] + dp)
        trial.of_row[t, r] = out[0] * out[0]

    @kernel
    def try_momentum(
        counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, rows: RowArrays, sys: SchurArrays,
        trial: TrialArrays,
    ):  # fmt: skip
        """|M^-1 g|^2 of each body, after ``try_rows``: rotations count at the radius of gyration."""
        t, i = wp.tid()
        if i >= counts[dynamic_slot]:
            return
        du = trial.u[t, i] - bodies.u_free[i] - bodies.arc[i]
        gl = bodies.mass[i] * linear(du)
        ga = bodies.inertia[i] * angular(du)
        for m in range(bodies.contact_start[i], bodies.contact_start[i + 1]):
            c = bodies.contact_index[m]
            f = world(con.n[c], con.p[c] + length(t) * vec3(sys.contact_step[c]))
            arm = con.arm_a[c]
            if con.a[c] != i:
                f = -f
                arm = con.arm_b[c]
            gl -= f
            ga -= wp.cross(arm, f)
        for m in range(bodies.row_start[i], bodies.row_start[i + 1]):
            r = bodies.row_index[m]
            jac = trial.jac_b[t, r]
            if rows.a[r] == i:
                jac = trial.jac_a[t, r]
            p = rows.p[r] + length(t) * scalar(sys.row_step[r])
            gl -= p * linear(jac)
            ga -= p * angular(jac)
        push = gl * bodies.inverse_mass[i]
        turn = (bodies.inverse_inertia[i] * ga) * bodies.extent[i]
        trial.of_body[t, i] = wp.dot(push, push) + wp.dot(turn, turn)

    @kernel
    def add_up(counts: wp.array(dtype=wp.int32), isl: IslandArrays, trial: TrialArrays):
        """The merit of each island."""
        t, k = wp.tid()
        if k >= counts[islands_slot] or isl.outer_active[k] == 0:
            return
        total = wp.float64(0.0)
        for m in range(isl.body_start[k], isl.body_start[k + 1]):
            total += trial.of_body[t, isl.body_index[m]]
        for c in range(isl.contact_start[k], isl.contact_start[k + 1]):
            total += trial.of_contact[t, c]
        for m in range(isl.row_start[k], isl.row_start[k + 1]):
            total += trial.of_row[t, isl.row_index[m]]
        trial.of_island[t, k] = total

    @kernel
    def choose(counts: wp.array(dtype=wp.int32), isl: IslandArrays, trial: TrialArrays):
        """Alpha of each island: the best trial, or after short steps the full one; 0 where none is finite."""
        k = wp.tid()
        if k >= counts[islands_slot] or isl.outer_active[k] == 0:
            return
        best = wp.float64(1.0e300)
        isl.alpha[k] = wp.float64(0.0)
        for t in range(most):
            if trial.of_island[t, k] < best:
                best = trial.of_island[t, k]
                isl.alpha[k] = length(t)
        isl.search_round[k] = wp.where(isl.alpha[k] < wp.float64(SHORT), isl.search_round[k] + 1, 0)
        if isl.search_round[k] > PATIENCE and trial.of_island[0, k] < wp.float64(1.0e300):
            isl.alpha[k] = wp.float64(1.0)
            isl.search_round[k] = 0

    @kernel
    def take_step(
        counts: wp.array(dtype=wp.int32), bodies: BodyArrays, con: ContactArrays, rows: RowArrays, sys: SchurArrays,
        isl: IslandArrays,
    ):  # fmt: skip
        """Move velocities and impulses by alpha; one index over bodies, contacts and joint rows."""
        k = wp.tid()
        if k < counts[dynamic_slot] and isl.outer_active[bodies.island[k]] == 1:
            bodies.u[k] = bodies.u[k] + isl.alpha[bodies.island[k]] * bodies.d[k]
        if k < counts[contacts_slot] and isl.outer_active[con.island[k]] == 1:
            con.p[k] = con.p[k] + isl.alpha[con.island[k]] * vec3(sys.contact_step[k])
        if k < counts[rows_slot] and isl.outer_active[rows.island[k]] == 1:
            rows.p[k] = rows.p[k] + isl.alpha[rows.island[k]] * scalar(sys.row_step[k])

    return SimpleNamespace(
        try_bodies=try_bodies, try_contacts=try_contacts, try_rows=try_rows, try_momentum=try_momentum, add_up=add_up,
        choose=choose, take_step=take_step,
    )  # fmt: skip


class StepSearch:
    """The search of one DeviceProblem.  Arrays grow with the problem's capacity and are kept from step to step."""

    def __init__(self, device, real):
        self.device = device
        self.kernels = search_kernels(real)
        self._generation = None

    def set_problem(self, problem):
        """Take over the structure of an uploaded DeviceProblem."""
        self.problem = problem
        size = problem.capacity
        if self._generation != problem.generation:
            of = {"jac_a": "rows", "jac_b": "rows", "of_contact": "contacts", "of_row": "rows", "of_island": "islands"}
            shapes = {field: (TRIALS, size[what]) for field, what in of.items()}
            self.trial = allocate(TrialArrays, shapes, (TRIALS, size["bodies"]), self.device)
            self._generation = problem.generation

    def step(self, system, position):
        """Move the iterate along du and dp of ``system`` (SchurSystem arrays).  position: poses follow velocities."""
        p, trial, size = self.problem, self.trial, self.problem.capacity
        flag = int(position)

        def over(kernel, dim, *arguments):
            wp.launch(getattr(self.kernels, kernel), dim=dim, inputs=[p.counts, *arguments], device=self.device)

        over("try_bodies", (TRIALS, size["bodies"]), p.settings, flag, p.bodies, trial)
        over("try_contacts", (TRIALS, size["contacts"]), p.settings, flag, p.contacts, system, p.islands, trial)
        over("try_rows", (TRIALS, size["rows"]), p.settings, flag, p.bodies, p.rows, system, p.islands, trial)
        over("try_momentum", (TRIALS, size["bodies"]), p.bodies, p.contacts, p.rows, system, trial)
        over("add_up", (TRIALS, size["islands"]), p.islands, trial)
        over("choose", size["islands"], p.islands, trial)
        most = max(size["bodies"], size["contacts"], size["rows"])
        over("take_step", most, p.bodies, p.contacts, p.rows, system, p.islands)
