# SPDX-License-Identifier: GPL-3.0-or-later
"""What the proximal method returns where it does not end well: the iterate with the least residual, bit for bit.

Its loops run without a recorded graph here, so that every iterate can be looked at on its way.
"""

import numpy as np
import pytest
from axion.solver.arrays import download
from axion.solver.problem import Coordinate
from axion.solver.proximal import ProximalSolver
from axion.solver.reference.rows import gaps
from step_problems import options, random_problem
from test_proximal import hung

TOLERANCE = 1e-18  # out of reach: every solve below ends for another reason


class Watched(ProximalSolver):
    """Keeps the iterate of each round with its residual; ``spoil(round, velocities)`` may change what it has found."""

    def __init__(self, rounds, spoil=None):
        super().__init__("cpu", "float64")
        self._limits.outer = rounds
        self.spoil, self.seen, self.rounds = spoil, [], 0

    def _replay(self, phase):
        self._launch(phase)

    def _settle(self):
        super()._settle()
        if self.spoil is not None:
            self.spoil(self.rounds, self.problem.bodies.u.numpy())
        self.rounds += 1

    def _residual(self):
        super()._residual()
        p = self.problem
        count = p.topology.island_count
        parts = "gradient", "residual_joint", "residual_normal", "residual_tangent"
        residual = np.max([download(getattr(p.islands, name), count) for name in parts], axis=0)
        active = download(p.islands.outer_active, count) == 1
        arrays = {"u": p.bodies.u, "x": p.bodies.x, "q": p.bodies.q, "contact": p.contacts.p, "row": p.rows.p}
        self.seen.append((np.where(active, residual, np.inf), {name: a.numpy().copy() for name, a in arrays.items()}))


def without_answer():
    """Two rods of different length between the same points: at least one is off by 5 cm."""
    problem = hung(Coordinate.DISTANCE)
    problem.joints = problem.joints.take([0, 0])
    problem.joints.joint[:], problem.joints.offset[:] = (0, 1), (2.0, 1.9)
    return problem


def touching(contacts, rows):
    """Bodies that fly about with contacts that all touch."""
    problem = random_problem(3, dynamic=6, immovable=1, contacts=contacts, rows=rows, loaded=False)
    bodies, found = problem.bodies, problem.contacts
    found.margin_b = found.margin_b + gaps(found, bodies.position, bodies.orientation)
    return problem


PROBLEMS = {
    "two rods": without_answer,
    "joints and contacts": lambda: touching(10, 8),
    "contacts": lambda: touching(16, 0),
}


def returns_its_best(solver, problem, solution, statistics):
    """Number of islands whose answer is not their last iterate, after all assertions."""
    p = solver.problem
    topology, n = p.topology, problem.bodies.dynamic_count
    residual = np.array([values for values, _ in solver.seen])
    finite = np.where(np.isfinite(residual), residual, np.inf)
    best = np.argmin(finite, axis=0)
    order = np.argsort(topology.contact_order)
    earlier = 0
    for k in np.flatnonzero(topology.constrained):
        kept = solver.seen[best[k]][1]
        members = np.flatnonzero(topology.body_island == k)
        contacts, rows = np.flatnonzero(topology.contact_island[order] == k), np.flatnonzero(topology.row_island == k)
        assert np.isfinite(finite[best[k], k])
        assert np.array_equal(solution.velocity[members], kept["u"][members])
        assert np.array_equal(solution.position[members], kept["x"][members])
        assert np.array_equal(solution.orientation[members], kept["q"][members])
        assert np.array_equal(solution.contact_impulse[contacts], kept["contact"][: len(order)][order][contacts])
        assert np.array_equal(solution.joint_impulse[rows], kept["row"][rows])
        assert statistics.residual[members] == pytest.approx(finite[best[k], k] * problem.step, rel=1e-12)
        last = np.flatnonzero(np.isfinite(residual[:, k]) | np.isnan(residual[:, k]))[-1]
        earlier += best[k] != last
    assert np.isfinite(solution.velocity[:n]).all()
    return earlier


@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_solve_that_ends_at_its_last_round_returns_its_best_iterate(name, rounds):
    solver, problem = Watched(rounds), PROBLEMS[name]()
    solution, statistics = solver.solve(problem, options(problem, TOLERANCE))
    assert 1 <= len(solver.seen) <= rounds
    returns_its_best(solver, problem, solution, statistics)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_best_is_not_always_the_last(name):
    # Else the tests above would pass for a solver that returns its last iterate.
    earlier = 0
    for rounds in range(2, 30, 3):
        solver, problem = Watched(rounds), PROBLEMS[name]()
        earlier += returns_its_best(solver, problem, *solver.solve(problem, options(problem, TOLERANCE)))
    assert earlier > 0


@pytest.mark.parametrize("factor", [1e3, 1e40, np.nan])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_solve_that_diverges_returns_the_best_iterate_before(name, factor):
    # From the third round on every iterate is thrown away from the last good one, in the end beyond all numbers.
    def spoil(round, velocity):
        if round >= 2:
            velocity *= factor

    solver, problem = Watched(12, spoil), PROBLEMS[name]()
    n = problem.bodies.dynamic_count
    solution, statistics = solver.solve(problem, options(problem, TOLERANCE))
    assert len(solver.seen) > 2
    assert returns_its_best(solver, problem, solution, statistics) > 0
    honest = Watched(2)
    expected, _ = honest.solve(problem, options(problem, TOLERANCE))
    assert np.array_equal(solution.velocity[:n], expected.velocity[:n])
    assert np.array_equal(solution.contact_impulse, expected.contact_impulse)
    assert np.array_equal(solution.joint_impulse, expected.joint_impulse)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_recorded_graph_returns_the_same(name):
    solver, problem = ProximalSolver("cpu", "float64"), PROBLEMS[name]()
    solver._limits.outer = 7
    first, again, third = (solver.solve(problem, options(problem, TOLERANCE))[0] for _ in range(3))
    watched = Watched(7).solve(problem, options(problem, TOLERANCE))[0]
    for other in (again, third, watched):
        assert np.array_equal(first.velocity, other.velocity)
        assert np.array_equal(first.contact_impulse, other.contact_impulse)
        assert np.array_equal(first.joint_impulse, other.joint_impulse)
