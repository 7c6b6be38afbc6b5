# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact line search of the proximal method against float64 NumPy, from the function that Newton makes small.

    F(u) = (u - u_free) M (u - u_free) / 2 + (u - u^) K (u - u^) / 2 + d (u - u^) M (u - u^) / 2 + sum psi(v(u))
    psi(v) = -v . p - E p . p / 2 - sigma (p - p^) . (p - p^) / 2      at the impulse p of the law, so psi'(v) = -p

v is linear in u here, as it is within a Newton iteration.  M, K, J and the laws have tests of their own.
"""

from functools import cache

import numpy as np
import pytest
import warp as wp
from axion.solver.arrays import BodyArrays, ContactArrays, IslandArrays, RowArrays, download
from axion.solver.constraints.contact import contact_kernels
from axion.solver.constraints.joints import joint_kernels
from axion.solver.motion import motion_kernels
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import contact_jacobians
from step_problems import Stages, across, random_problem
from test_friction import CONE, DISC, LAWS

DAMPING = 0.3


class Merit:
    """F of each island along one direction of a Stages, from what lies on the device before the search."""

    def __init__(self, stages, law):
        self.law, problem, p = law, stages.problem, stages.device
        bodies, n = problem.bodies, problem.bodies.dynamic_count
        self.count, self.of_body = p.topology.island_count, p.topology.body_island
        self.u, self.d, self.centre = (stages.bodies(name) for name in ("u", "d", "u_centre"))
        self.free, self.stiffness = bodies.free_velocity[:n], stages.bodies("stiffness")
        self.M = np.zeros((n, 6, 6))
        self.M[:, range(3), range(3)] = bodies.mass[:n, None]
        self.M[:, 3:, 3:] = world_inertia(bodies.free_orientation[:n], bodies.inertia[:n])
        self.damping = download(p.islands.damping, self.count)[self.of_body]
        eps, eps_joint = (download(getattr(p.islands, name), self.count) for name in ("eps", "eps_joint"))
        self.of_contact, self.of_row = stages.contacts("island"), stages.rows("island")
        self.v, self.p_centre, self.radius = (stages.contacts(name) for name in ("v", "p_centre", "radius"))
        if law == CONE:
            self.v[:, 0] += stages.contacts("shift")
        self.sigma, self.mu = stages.contacts("w") * eps[self.of_contact], problem.contacts.friction
        self.dv = np.zeros_like(self.v)
        j_a, j_b = contact_jacobians(problem.contacts, bodies.position, bodies.orientation)
        self.row_v, self.row_centre = stages.rows("v"), stages.rows("p_centre")
        self.row_sigma, self.rows = stages.rows("w") * eps_joint[self.of_row], problem.joints
        self.row_dv = np.zeros_like(self.row_v)
        self.row_change, self.row_way = np.zeros((2, len(self.rows), 2, 6))
        q, pull, along = download(p.bodies.q, len(bodies.mass)), stages.rows("turning"), stages.rows("jac_b")[:, :3]
        self.turning = [pull[r] * across(self.rows, r, q, along[r]) for r in range(len(pull))]
        wide = np.vstack([self.d, np.zeros((len(bodies.mass) - n, 6))])
        for body, j in ((problem.contacts.body_a, j_a), (problem.contacts.body_b, j_b)):
            self.dv += np.einsum("cki,ci->ck", j, wide[body])
        for body, name in ((problem.joints.body_a, "jac_a"), (problem.joints.body_b, "jac_b")):
            self.row_dv += np.einsum("ri,ri->r", stages.rows(name), wide[body])
        from_centre = np.zeros_like(wide)
        from_centre[:n] = self.u - self.centre
        for side, body in enumerate((problem.joints.body_a, problem.joints.body_b)):
            self.row_change[:, side], self.row_way[:, side] = from_centre[body], wide[body]

    def impulses(self, alpha):
        """(contacts (C, 3), rows (R,)) of the laws at u + alpha d; alpha: (islands,)."""
        v, row_v = self._at(alpha)
        p = LAWS[self.law](self.p_centre - v / self.sigma[:, None], self.mu, self.radius)
        soft = self.row_sigma + self.rows.compliance
        return p, np.clip((self.row_sigma * self.row_centre - row_v) / soft, self.rows.lower, self.rows.upper)

    def _at(self, alpha):
        return self.v + alpha[self.of_contact, None] * self.dv, self.row_v + alpha[self.of_row] * self.row_dv

    def _turned(self, alpha):
        """(R, 12) change of both bodies of each row since the round began, and K of the row times that."""
        change = (self.row_change + alpha[self.of_row, None, None] * self.row_way).reshape(-1, 12)
        return change, np.einsum("rij,rj->ri", np.reshape(self.turning, (-1, 12, 12)), change)

    def value(self, alpha):
        """F (islands,) at u + alpha d."""
        v, row_v = self._at(alpha)
        p, row_p = self.impulses(alpha)
        u = self.u + alpha[self.of_body, None] * self.d
        away, turned = u - self.free, (u - self.centre)[:, 3:]
        of_body = 0.5 * np.einsum("ni,nij,nj->n", away, self.M, away)
        of_body += 0.5 * self.damping * np.einsum("ni,nij,nj->n", u - self.centre, self.M, u - self.centre)
        of_body += 0.5 * np.einsum("ni,nij,nj->n", turned, self.stiffness, turned)
        of_contact = -(v * p).sum(1) - 0.5 * self.sigma * ((p - self.p_centre) ** 2).sum(1)
        of_row = -row_v * row_p - 0.5 * self.rows.compliance * row_p**2
        of_row -= 0.5 * self.row_sigma * (row_p - self.row_centre) ** 2
        of_row += 0.5 * np.einsum("ri,ri->r", *self._turned(alpha))
        parts = ((self.of_body, of_body), (self.of_contact, of_contact), (self.of_row, of_row))
        return sum(np.bincount(where, values, minlength=self.count) for where, values in parts)

    def difference(self, alpha, delta=1e-6):
        """Central difference of ``value``."""
        return (self.value(alpha + delta) - self.value(alpha - delta)) / (2.0 * delta)

    def slope(self, alpha):
        """Its derivative: F'(u) . d."""
        p, row_p = self.impulses(alpha)
        u = self.u + alpha[self.of_body, None] * self.d
        g = np.einsum("nij,nj->ni", self.M, u - self.free + self.damping[:, None] * (u - self.centre))
        g[:, 3:] += np.einsum("nij,nj->ni", self.stiffness, (u - self.centre)[:, 3:])
        parts = (
            (self.of_body, g * self.d),
            (self.of_contact, -p * self.dv),
            (self.of_row, -(row_p * self.row_dv)[:, None]),
            (self.of_row, self._turned(alpha)[1] * self.row_way.reshape(-1, 12)),
        )
        return sum(np.bincount(where, values.sum(1), minlength=self.count) for where, values in parts)


def prepared(seed, law, precision="float64", eps=1e-2, assumed=0):
    """Stages whose iterate is off every centre, with the laws in force and a proximal shift where law is CONE.

    assumed: 1 where what pushes in the proximal centre is taken to go on pushing.
    """
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, dynamic=9, contacts=14, rows=8)
    stages = Stages(problem, precision, eps=eps).linearise()
    p, n = stages.device, problem.bodies.dynamic_count
    count = p.topology.island_count
    p.islands.law.fill_(law)
    p.islands.damping.fill_(DAMPING)
    stages.newton().laws()
    p.contacts.shift.numpy()[: len(problem.contacts)] = rng.uniform(0.0, 1.0, len(problem.contacts))
    assert download(p.islands.inner_active, count).any()
    point(stages, rng.normal(size=(n, 6)))
    inputs = [p.bodies, p.contacts, p.rows, p.islands]
    wp.launch(whole_step(), count, inputs=inputs, device="cpu")
    p.islands.inner_count.fill_(1 - assumed)
    p.islands.assumes.fill_(assumed)
    return stages.laws().assemble()


@cache
def whole_step():
    """Velocities and impulses of each active island after a step of length 1."""
    body_update = motion_kernels().body_update
    contact_update, row_update = contact_kernels().contact_update, joint_kernels().row_update

    @wp.kernel(module="unique", enable_backward=False)
    def step(bodies: BodyArrays, con: ContactArrays, rows: RowArrays, isl: IslandArrays):
        k = wp.tid()
        if isl.inner_active[k] == 0:
            return
        for m in range(isl.body_start[k], isl.body_start[k + 1]):
            body_update(bodies, isl.body_index[m], wp.float64(1.0))
        for c in range(isl.contact_start[k], isl.contact_start[k + 1]):
            contact_update(con, isl, c, k, wp.float64(1.0))
        for m in range(isl.row_start[k], isl.row_start[k + 1]):
            row_update(rows, isl, isl.row_index[m], k, wp.float64(1.0))

    return step


def point(stages, direction):
    """Take the direction (n, 6), up to the start of the search."""
    p, s = stages.device, stages.solver
    d = p.bodies.d.numpy()
    d[: len(direction)] = direction
    s._by_teams(s._search.directions, p.bodies, p.contacts, p.rows, p.islands)


@cache
def trial_kernel():
    """What the contacts and rows of each island add to slope and bend at its ``alpha``."""
    contact_search, row_search = contact_kernels().contact_search, joint_kernels().row_search

    @wp.kernel(module="unique", enable_backward=False)
    def trial(con: ContactArrays, rows: RowArrays, isl: IslandArrays, found: wp.array(dtype=wp.vec2d)):
        k = wp.tid()
        for c in range(isl.contact_start[k], isl.contact_start[k + 1]):
            found[k] += contact_search(con, isl, c, k, isl.alpha[k])
        for m in range(isl.row_start[k], isl.row_start[k + 1]):
            found[k] += row_search(rows, isl, isl.row_index[m], k, isl.alpha[k])

    return trial


def measured(stages, alpha):
    """(slope, bend) (islands,) that the kernels find at step lengths ``alpha`` (islands,)."""
    p, count = stages.device, stages.device.topology.island_count
    p.islands.alpha.numpy()[:count] = alpha
    found = wp.zeros(count, dtype=wp.vec2d, device="cpu")
    wp.launch(trial_kernel(), count, inputs=[p.contacts, p.rows, p.islands, found], device="cpu")
    slope_base, bend_base = (download(getattr(p.islands, name), count) for name in ("slope_base", "bend_base"))
    slope, bend = found.numpy().T
    return slope + slope_base + alpha * bend_base, bend + bend_base


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("law", [DISC, CONE])
@pytest.mark.parametrize("seed", range(4))
def test_slope_is_that_of_the_function_newton_makes_small(seed, law, precision):
    stages = prepared(seed, law, precision)
    rng, n = np.random.default_rng(100 + seed), stages.problem.bodies.dynamic_count
    point(stages, rng.normal(size=(n, 6)))
    merit = Merit(stages, law)
    active = download(stages.device.islands.inner_active, merit.count) == 1
    assert active.any()
    rounding = 1e-5 if precision == "float32" else 0.0
    pressed = []
    for length in (0.0, 0.05, 0.4, 1.0, 3.0):
        alpha = np.full(merit.count, length)
        slope, bend = measured(stages, alpha)
        want = merit.difference(alpha)
        size = np.abs(want).max() + np.abs(merit.slope(np.zeros(merit.count))).max()
        assert merit.slope(alpha) == pytest.approx(want, rel=1e-5, abs=1e-7 * size)
        assert slope[active] == pytest.approx(want[active], rel=1e-5, abs=(1e-7 + rounding) * size)
        second = (merit.slope(alpha + 1e-4) - merit.slope(alpha - 1e-4)) / 2e-4
        assert bend[active] == pytest.approx(second[active], rel=1e-2, abs=(1e-3 + rounding) * np.abs(second).max())
        pressed.append(merit.impulses(alpha)[0][:, 0] > 0.0)
    slope0 = download(stages.device.islands.slope0, merit.count)
    assert slope0[active] == pytest.approx(merit.slope(np.zeros(merit.count))[active], rel=1e-5, abs=1e-6 * size)
    assert (pressed[0] != pressed[-1]).any()  # contacts open and close on the way


def test_a_step_that_assumes_is_searched_on_the_true_function():
    taken = 0
    for seed in range(4):
        stages = prepared(seed, DISC, assumed=1)
        rng, n = np.random.default_rng(100 + seed), stages.problem.bodies.dynamic_count
        point(stages, rng.normal(size=(n, 6)))
        merit = Merit(stages, DISC)
        active = download(stages.device.islands.inner_active, merit.count) == 1
        size = np.abs(merit.slope(np.zeros(merit.count))).max()
        for length in (0.0, 0.4, 1.0):
            alpha = np.full(merit.count, length)
            slope = measured(stages, alpha)[0]
            assert slope[active] == pytest.approx(merit.slope(alpha)[active], rel=1e-5, abs=1e-7 * size)
        slope0 = download(stages.device.islands.slope0, merit.count)[active]
        taken += (np.abs(slope0 - merit.slope(np.zeros(merit.count))[active]) > 1e-3 * size).any()
    assert taken  # on the assumption another function is made small


@pytest.mark.parametrize("law", [DISC, CONE])
@pytest.mark.parametrize("eps", [1e-1, 1e-3, 1e-5])
def test_search_ends_within_a_tenth_of_the_first_slope(law, eps, monkeypatch):
    # Directions of Newton itself, in the solver's own loops; the smaller eps, the harder contacts open and close.
    found = []
    for seed in range(20):
        stages = prepared(seed, law, eps=eps)
        p, s = stages.device, stages.solver
        original = s._by_teams

        def spy(kernel, *arguments, s=s, p=p, stages=stages, original=original):
            if kernel is not s._search.search:
                original(kernel, *arguments)
                return
            count = p.topology.island_count
            merit, active = Merit(stages, law), download(p.islands.inner_active, count)
            original(kernel, *arguments)
            names = ("alpha", "slope0", "search_round")
            found.append((merit, *(download(getattr(p.islands, name), count) for name in names), active))

        with monkeypatch.context() as patch:
            patch.setattr(s, "_by_teams", spy)
            s._newton_step()
    assert len(found) == 20
    shortened = switched = searched = 0
    for merit, alpha, slope0, rounds, active in found:
        first, last = merit.slope(np.zeros(merit.count)), merit.slope(alpha)
        for k in np.flatnonzero(active):
            assert slope0[k] == pytest.approx(first[k], rel=1e-9)
            assert first[k] < 0.0
            assert abs(last[k]) <= 0.1 * abs(first[k]) * (1.0 + 1e-9)
            assert rounds[k] < s._limits.search
            searched, shortened = searched + 1, shortened + (alpha[k] != 1.0)
            before, after = (merit.impulses(a)[0][merit.of_contact == k, 0] > 0.0 for a in (0.0 * alpha, alpha))
            switched += (before != after).any()
    assert searched >= 20
    assert switched > 0.2 * searched
    assert eps > 1e-2 or shortened > 0.2 * searched


@pytest.mark.parametrize(("contacts", "bound"), [(0, np.inf), (0, 0.3), (6, np.inf)])
def test_a_step_that_ends_at_the_root_needs_no_check(contacts, bound):
    # The law of a row is linear between its bounds: with all steps inside them and no contacts g is linear in u.
    reached, left = [], []
    for seed in range(6):
        problem = random_problem(seed, dynamic=9, contacts=contacts, rows=8)
        problem.joints.lower[:], problem.joints.upper[:] = -bound, bound
        problem.joints.impulse[:] = 0.0
        stages = Stages(problem).linearise()
        stages.newton().laws().assemble()
        p, s = stages.device, stages.solver
        count, active = p.topology.island_count, download(p.islands.inner_active, p.topology.island_count) == 1
        before = np.abs(stages.bodies("r")).max()
        s._newton_step()
        reached.append(download(p.islands.reached, count)[active] == 1)
        p.islands.inner_active.numpy()[:count] = active
        stages.laws().assemble()
        rest = np.abs(stages.bodies("r")).max(axis=1) / before
        left.append([rest[p.topology.body_island == k].max() for k in np.flatnonzero(active)])
    reached, left = np.concatenate(reached), np.concatenate(left)
    assert len(reached) >= 6
    assert left[reached].max(initial=0.0) < 1e-6
    if bound == np.inf and not contacts:
        assert reached.all()
    else:
        assert not reached.all()
        assert left[~reached].max() > 1e-6
