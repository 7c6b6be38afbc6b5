# SPDX-License-Identifier: GPL-3.0-or-later
"""Gauss-Seidel sweeps: they end at the solution of the contact problem, and keep momentum and velocity consistent."""

import numpy as np
import pytest
import warp as wp
from axion.solver.arrays import download
from axion.solver.gauss_seidel import LAST, sweep_kernels
from axion.solver.problem import StepProblem, tangents
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import contact_jacobians
from axion.solver.rotations import exponential, rotate
from step_problems import Stages, bodies_of, contacts_of, options, random_problem, solver, unit


def swept(problem, rounds, coloured=False):
    """Stages after ``rounds`` sweeps from the start impulses, velocities made consistent with them before.

    coloured: sweep colour by colour, as on CUDA.
    """
    stages = Stages(problem).linearise().newton()
    p, s = stages.device, stages.solver
    count = stages.device.topology.island_count
    p.islands.sweep_active.numpy()[:count] = 1
    s._over_contacts(s._contact.contact_forces, p.islands.sweep_active, p.contacts, p.islands)
    s._rebuild(p.islands.sweep_active)
    kernels = sweep_kernels()
    sweep = kernels.coloured if coloured else kernels.in_order
    s._by_teams(sweep, wp.int32(rounds), p.bodies, p.contacts, p.runs, p.islands)
    return stages


def one_body_on_a_plane(seed, speed=1.0):
    """A tilted body that hits the ground plane with three of its points at once, spinning and sliding."""
    rng = np.random.default_rng(seed)
    turn = unit(rng, 1, 4)[0]
    inertia = rng.uniform(0.05, 0.2, 3)
    velocity = np.append(speed * rng.normal(size=3) - (0, 0, 5.0), 2.0 * rng.normal(size=3))
    bodies = bodies_of(
        [2.0, np.inf], [inertia, [np.inf] * 3], [[0, 0, 0.3], [0, 0, 0]], [turn, (0, 0, 0, 1)],
        [velocity, np.zeros(6)], step=0.01, gravity=(0, 0, 0),
    )  # fmt: skip
    arms = np.array([[0.3, 0.1, -0.3], [-0.2, 0.3, -0.3], [-0.1, -0.3, -0.3]])
    local = rotate(turn * (-1, -1, -1, 1), arms)
    contacts = contacts_of([0] * 3, [1] * 3, local, arms + (0, 0, 0.3), np.tile([0.0, 0, 1], (3, 1)), friction=0.4)
    return StepProblem(0.01, bodies, contacts)


def delassus(problem):
    """W (3C, 3C) = J M^-1 J^T and J u_free (3C,)."""
    bodies, contacts = problem.bodies, problem.contacts
    j_a, j_b = contact_jacobians(contacts, bodies.position, bodies.orientation)
    J = np.zeros((3 * len(contacts), bodies.dynamic_count, 6))
    for body, j in ((contacts.body_a, j_a), (contacts.body_b, j_b)):
        for c in range(len(contacts)):
            if body[c] < bodies.dynamic_count:
                J[3 * c : 3 * c + 3, body[c]] += j[c]
    J = J.reshape(len(J), -1)
    inverse = np.zeros((bodies.dynamic_count, 6, bodies.dynamic_count, 6))
    for i in range(bodies.dynamic_count):
        inverse[i, :3, i, :3] = np.eye(3) / bodies.mass[i]
        inverse[i, 3:, i, 3:] = world_inertia(bodies.free_orientation[i], 1.0 / bodies.inertia[i])
    inverse = inverse.reshape(J.shape[1], -1)
    return J @ inverse @ J.T, J @ bodies.free_velocity[: bodies.dynamic_count].reshape(-1)


def natural_map(W, q, mu, r, rho):
    """r - P_K(r - rho (u + mu |u_t| n)), u = W r + q: zero exactly at solutions of the contact problem (De Saxce)."""
    u = (W @ r + q).reshape(-1, 3)
    u[:, 0] += mu * np.hypot(u[:, 1], u[:, 2])
    z = r.reshape(-1, 3) - rho * u
    t = np.hypot(z[:, 1], z[:, 2])
    e = z[:, 1:] / np.maximum(t, 1e-300)[:, None]
    ray = np.column_stack([np.ones_like(t), mu * e]) / np.sqrt(1.0 + mu**2)
    p = np.maximum(0.0, np.sum(ray * z, axis=1))[:, None] * ray
    p[t <= mu * z[:, 0]] = z[t <= mu * z[:, 0]]
    return r - p.reshape(-1)


@pytest.mark.parametrize("coloured", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_fixed_point_solves_the_contact_problem(seed, coloured):
    # u_n = J u here: the gaps start at zero and nothing pushes out, so bias only keeps the end pose's curvature.
    problem = one_body_on_a_plane(seed)
    stages = swept(problem, 3000, coloured)
    r = stages.contacts("p").reshape(-1)
    W, q = delassus(problem)
    q.reshape(-1, 3)[:] += stages.contacts("bias")
    assert r.max() > 0.0
    assert np.abs(natural_map(W, q, 0.4, r, 1.0 / np.trace(W))).max() < 1e-9 * np.abs(r).max()


@pytest.mark.parametrize("coloured", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_velocity_is_always_that_of_the_impulses(seed, coloured):
    # u = u_free + M^-1 J^T p after any number of sweeps, so total momentum changes by outside impulses only.
    problem = random_problem(seed, contacts=8, rows=0)
    bodies, contacts = problem.bodies, problem.contacts
    stages = swept(problem, 7, coloured)
    n, total = bodies.dynamic_count, len(bodies.mass)
    push = np.zeros((total, 6))
    c_a, c_b = contact_jacobians(contacts, bodies.position, bodies.orientation)
    p = stages.contacts("p")
    for body, j in ((contacts.body_a, c_a), (contacts.body_b, c_b)):
        np.add.at(push, body, np.einsum("cki,ck->ci", j, p))
    change = push[:n, :3] / bodies.mass[:n, None]
    spin = [world_inertia(bodies.free_orientation[i], 1.0 / bodies.inertia[i]) @ push[i, 3:] for i in range(n)]
    want = bodies.free_velocity[:n] + np.hstack([change, spin])
    assert stages.bodies("u") == pytest.approx(want, abs=1e-11)
    # and inside the laws: p_n >= 0, |p_t| <= mu p_n
    assert np.all(p[:, 0] >= 0.0)
    assert np.all(np.hypot(p[:, 1], p[:, 2]) <= contacts.friction * p[:, 0] + 1e-12)


def heap(dynamic, contacts, hub):
    """Contacts between bodies at random, or all of them with body 0 where it is a ``hub``."""
    problem = random_problem(3, dynamic=dynamic, contacts=contacts, rows=0)
    if hub:
        side = problem.contacts
        side.body_a[:], side.body_b[:] = 0, 1 + np.arange(contacts) % (dynamic + 1)
    return problem


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize(("dynamic", "contacts"), [(2, 1), (40, 30), (90, 400)])
def test_runs_of_one_colour_share_no_moving_body(dynamic, contacts, hub):
    problem = heap(dynamic, contacts, hub)
    stages = swept(problem, 1, coloured=True)
    p, topology = stages.device, stages.device.topology
    start = topology.run_start
    colour = download(p.runs.colour, len(start) - 1)
    pairs = np.sort(np.column_stack([problem.contacts.body_a, problem.contacts.body_b])[topology.contact_order], axis=1)
    assert start[0] == 0 and start[-1] == contacts and colour.min() >= 0
    for r in range(len(colour)):
        assert (pairs[start[r] : start[r + 1]] == pairs[start[r]]).all()
    assert len(np.unique(pairs, axis=0)) == len(colour)
    counts = download(p.islands.colours, topology.island_count)
    assert counts.max() == colour.max() + 1
    for one in range(LAST):
        bodies = pairs[start[:-1][colour == one]].ravel()
        moving = bodies[bodies < dynamic]
        assert len(np.unique(moving)) == len(moving)
    most = np.bincount(pairs[start[:-1]].ravel(), minlength=dynamic)[:dynamic].max()
    assert ((colour == LAST).sum() > 0) == (hub and most > LAST)
    assert colour[colour < LAST].max() < 2 * most


def test_the_order_of_colours_leads_where_the_other_leads():
    problem = heap(12, 14, hub=False)
    problem.contacts.friction[:] = 0.0  # then the impulses are those of a convex problem
    ends = [swept(problem, 20000, coloured).bodies("u") for coloured in (False, True)]
    assert np.abs(ends[0]).max() > 1.0 and ends[0] == pytest.approx(ends[1], abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_sweeps_that_come_first_leave_newton_what_they_do_not_solve(seed):
    problem = one_body_on_a_plane(seed)
    asked = (options(problem, tolerance=1e-5, sweeps=sweeps) for sweeps in (0, 2))
    by_newton, sweeps_first = (solver().solve(problem, each) for each in asked)
    assert by_newton[1].newton[0] > 0 and by_newton[1].swept[0] == 0
    assert sweeps_first[1].swept[0] == 20 and sweeps_first[1].newton[0] < by_newton[1].newton[0]
    assert (sweeps_first[1].newton[0] == 0) == (seed < 4)  # they end it, or it is left to Newton
    for _, statistics in (by_newton, sweeps_first):
        assert statistics.residual[0] <= 1e-5
    middle = [solution.position[0] for solution, _ in (by_newton, sweeps_first)]
    assert middle[0] == pytest.approx(middle[1], abs=1e-4)
    # To rounding they do not get: Newton follows, from where they came to.
    exact = solver().solve(problem, options(problem, tolerance=1e-15, sweeps=2))[1]
    assert exact.newton[0] > 0 and exact.swept[0] >= 20


@pytest.mark.parametrize("seed", range(4))
def test_sweeps_do_not_come_first_in_islands_with_joints(seed):
    problem = random_problem(seed)
    plain, asked = (solver().solve(problem, options(problem, sweeps=sweeps)) for sweeps in (1, 2))
    jointed = np.isin(np.arange(problem.bodies.dynamic_count), [problem.joints.body_a, problem.joints.body_b])
    assert jointed.any()
    assert np.array_equal(plain[0].velocity[:-2][jointed], asked[0].velocity[:-2][jointed])
    assert np.array_equal(plain[1].newton[jointed], asked[1].newton[jointed])


def test_two_free_bodies_keep_their_momentum():
    # Internal impulses: sum m v and sum (x x m v + I w) about the contact point stay, whatever the sweep does.
    half = 0.5
    velocity = np.array([[-1.0, 0.2, 0.1, 0.5, -1.0, 2.0], [1.0, -0.3, 0.4, 0.0, 1.0, -0.5]])
    turns = exponential(np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]))
    bodies = bodies_of(
        [2.0, 3.0], [[0.3] * 3, [0.4] * 3], [[half, 0, 0], [-half, 0, 0]], turns, velocity, 0.01, gravity=(0, 0, 0)
    )
    points = rotate(turns * (-1, -1, -1, 1), np.array([[-half, 0.05, 0.02], [half, 0.05, 0.02]]))
    contacts = contacts_of([0], [1], points[:1], points[1:], [[1.0, 0, 0]], friction=0.6)
    stages = swept(StepProblem(0.01, bodies, contacts), 50)
    u = stages.bodies("u")

    def momenta(v):
        linear = bodies.mass[:, None] * v[:, :3]
        return np.append(linear.sum(0), (np.cross(bodies.position, linear) + bodies.inertia * v[:, 3:]).sum(0))

    assert stages.contacts("p")[0, 0] > 0.0
    assert momenta(u) == pytest.approx(momenta(velocity), abs=1e-13)
    normal = contacts.normal[0]
    assert abs(tangents(normal[None])[0][0] @ normal) < 1e-15
