# SPDX-License-Identifier: GPL-3.0-or-later
"""The parallel step search: trials tell what a step of their length leads to, and the best of them is taken."""

import numpy as np
import pytest
from axion.solver.arrays import download
from axion.solver.linear.schur_system import unknown_slots
from axion.solver.step_search import TRIALS
from step_problems import options, random_problem
from test_schur import solver


def merit(problem):
    """Sum of phi^2 and |M^-1 g|^2 of the shared solver's present iterate, per island."""
    s = solver()
    p, bodies, n = s.problem, problem.bodies, problem.bodies.dynamic_count
    s.assemble_rows()
    s.system.solve()
    topology = p.topology
    count = 3 * len(problem.contacts) + len(problem.joints)
    offsets = unknown_slots(topology, topology.island_count)[2]
    total = np.add.reduceat(np.append(download(s.system.arrays.value, count) ** 2, 0.0), offsets[:-1])
    g = -download(p.bodies.r, n)
    turn = np.linalg.solve(download(p.bodies.inertia, n), g[:, 3:, None])[..., 0] * bodies.gyration()[:, None]
    square = (g[:, :3] ** 2).sum(axis=1) / bodies.mass[:n] ** 2 + (turn**2).sum(axis=1)
    return total + np.bincount(topology.body_island, square, minlength=topology.island_count)


@pytest.mark.parametrize("position", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_trial_tells_what_its_step_leads_to(seed, position):
    # Without friction, whose reach lags, and without the shift, which belongs to one iteration: the same equations.
    problem = random_problem(seed)
    problem.contacts.friction[:] = 0.0
    if not position:
        problem.joints.beta[:] = 0.0
    s = solver()
    p = s.begin(problem, options(problem, eps=0.0), position, None if position else np.ones(7, bool))
    p.islands.eps_joint.fill_(0.0)
    s.assemble_rows()
    s.system.solve()
    s.search.step(s.system.arrays, position)
    count = p.topology.island_count
    tried = s.search.trial.of_island.numpy()[:, :count]
    length = download(p.islands.alpha, count)
    best = np.argmin(tried, axis=0)
    assert length == pytest.approx(0.5**best)
    assert tried.shape[0] == TRIALS
    s._linearise(position)
    assert merit(problem) == pytest.approx(tried[best, np.arange(count)], rel=1e-9)


def test_islands_take_their_own_lengths():
    problem = random_problem(5, dynamic=12, contacts=6, rows=4)
    s = solver()
    p = s.begin(problem, options(problem), True, None)
    count = p.topology.island_count
    before = download(p.bodies.u, 12)
    s.assemble_rows()
    s.system.solve()
    s.search.step(s.system.arrays, True)
    length = download(p.islands.alpha, count)[p.topology.body_island]
    constrained = p.topology.constrained[p.topology.body_island]
    moved = np.where(constrained, length, 0.0)[:, None] * download(p.bodies.d, 12)
    assert download(p.bodies.u, 12) == pytest.approx(before + moved, abs=1e-12)
    assert len(set(length[constrained])) > 1
