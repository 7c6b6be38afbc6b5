# SPDX-License-Identifier: GPL-3.0-or-later
"""Rounds of the position phase: what a new round leaves as it was, and which late contacts it takes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from axion.solver import SolverConfig, position_phase, simulate
from axion.solver.handed_eps import EPS_SMALLEST
from axion.solver.kept_solves import unchanged
from axion.solver.position_phase import CALM, PositionPhase
from axion.solver.proximal import ProximalSolver
from axion.solver.redetect import of_others
from scenes import pile, stack
from step_problems import contacts_of
from table_scenes import struck_wall

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]


def contacts(pairs):
    a, b = np.array(pairs).reshape(-1, 2).T
    zero = np.zeros((len(a), 3))
    return contacts_of(a, b, zero, zero, np.tile([0.0, 0.0, 1.0], (len(a), 1)))


def assembly(island, pairs, midpoint=(0, 0, 0, 0, 0), falls=None):
    """As much of an Assembly as a round looks at: four dynamic bodies and one that is not."""
    bodies = SimpleNamespace(midpoint=np.array(midpoint, float))
    problem = SimpleNamespace(bodies=bodies, contacts=contacts(pairs))
    jointed = np.zeros(max(island) + 1, bool)
    return SimpleNamespace(island=np.array(island), island_jointed=jointed, problem=problem, falls=falls)


def test_islands_with_a_late_contact_or_another_integrator_are_solved_again():
    before = assembly([0, 0, 1, 2], [(0, 1), (2, 4)])
    assert unchanged(before, assembly([0, 0, 1, 2], [(0, 1), (2, 4)])).tolist() == [True] * 4
    merged = assembly([0, 0, 0, 1], [(0, 1), (2, 4), (1, 2)])  # the late contact joins two islands
    assert unchanged(before, merged).tolist() == [False, False, False, True]
    floor = assembly([0, 0, 1, 2], [(0, 1), (2, 4), (3, 4)])  # a late contact with what does not move
    assert unchanged(before, floor).tolist() == [True, True, True, False]
    swung = assembly([0, 0, 1, 2], [(0, 1), (2, 4)], midpoint=(0, 1, 0, 0, 0))
    assert unchanged(before, swung).tolist() == [False, False, True, True]
    fallen = assembly([0, 0, 1, 2], [(0, 1), (2, 4)], falls=np.array([0, 0, -1, -1]))
    assert unchanged(before, fallen).tolist() == [False, False, True, True]
    assert unchanged(fallen, fallen).tolist() == [True] * 4
    still, hit = (assembly([0, 0, 1, 2], [(0, 1), (2, 4)]) for _ in range(2))
    still.problem.contacts.rebound_speed, hit.problem.contacts.rebound_speed = np.zeros(2), np.array([0.0, 1.0])
    assert unchanged(still, hit).tolist() == [True, True, False, True]  # now it is known to rebound


def test_islands_that_missed_get_no_late_contacts():
    found, nobody = contacts([(0, 2), (1, 2)]), np.zeros(2, bool)
    assert of_others(None, np.array([True, False])) is None
    assert of_others(found, nobody) is found
    assert of_others(found, np.array([True, False])).body_a.tolist() == [1]
    assert of_others(found, np.ones(2, bool)) is None


def test_gauss_seidel_comes_first_where_the_last_solve_took_it(monkeypatch):
    known, options = [], PositionPhase.options

    def spy(phase, assembly, state, swept=None):
        made = options(phase, assembly, state, swept)
        if len(assembly.problem.contacts):
            last = state.swept[assembly.numbering.scene[: len(made[1])]] if swept is None else swept
            known.append((swept is None, last > 0, made[0].sweeps))
        return made

    monkeypatch.setattr(PositionPhase, "options", spy)
    assert all(report.converged for report in simulate(struck_wall(3, 4), 8, config=CPU).reports)
    for first in (True, False):  # solve of a step: the last step's tells; later ones: the one before
        took, sweeps = (np.concatenate([part[k] for part in known if part[0] == first]) for k in (1, 2))
        assert (sweeps[took] != 1).all() and (sweeps[took] == 2).any()
        assert (sweeps[~took] != 2).all() and (sweeps[~took] == 1).any()


def test_only_contacts_at_rest_go_on_with_a_small_eps(monkeypatch):
    last, options = [], PositionPhase.options

    def spy(phase, assembly, state, swept=None):
        last[:] = phase, assembly, state
        return options(phase, assembly, state, swept)

    monkeypatch.setattr(PositionPhase, "options", spy)
    simulate(stack(3), 12, config=CPU)
    phase, still, state = last
    velocity = still.problem.bodies.velocity.copy()
    velocity[0, 0] = 2.0 * CALM
    moving = replace(still, problem=replace(still.problem, bodies=replace(still.problem.bodies, velocity=velocity)))
    jointed = replace(still, island_jointed=np.ones_like(still.island_jointed))
    locked = replace(state, locked=np.ones(len(state.position), bool))  # what nothing pushes out is no better solved
    assert (options(phase, still, state)[0].eps < 1e-6).all()
    assert (options(phase, still, locked)[0].eps == EPS_SMALLEST).all()
    assert (options(phase, moving, state)[0].eps == EPS_SMALLEST).all()
    assert (options(phase, jointed, state)[0].eps == EPS_SMALLEST).all()


def test_the_last_resort_starts_without_impulses(monkeypatch):
    # As if impulses of before led far off: a box that lies still is solved all the same, once halving has ended.
    solve, cold = ProximalSolver.solve, []

    def spy(solver, problem, options):
        solution, statistics = solve(solver, problem, options)
        if problem.contacts.impulse.any():
            statistics.residual[:] = 1.0
        elif len(problem.contacts):
            cold.append(problem.step)
        return solution, statistics

    monkeypatch.setattr(ProximalSolver, "solve", spy)
    trajectory = simulate(stack(1), 3, config=CPU)
    assert all(report.converged and report.residual <= FAST for report in trajectory.reports)
    assert np.abs(trajectory.position[-1] - trajectory.position[0]).max() < FAST
    assert min(cold) < 0.1 * max(cold)


def test_what_is_kept_is_solved_no_less_well(monkeypatch):
    """A heap whose bodies meet within steps, with and without solving all of it in every round."""
    kept = simulate(pile(12), 24, config=CPU)
    rounds = []

    def none(before, after):
        rounds.append(int(unchanged(before, after).sum()))
        return np.zeros(len(after.island), bool)

    monkeypatch.setattr(position_phase, "unchanged", none)
    whole = simulate(pile(12), 24, config=CPU)
    assert max(rounds) > 0  # there was something to keep
    for trajectory in (kept, whole):
        assert all(report.converged and report.residual <= FAST for report in trajectory.reports)
    first = next(k for k, report in enumerate(kept.reports) if report.substeps > 1)
    np.testing.assert_allclose(kept.position[first + 1], whole.position[first + 1], atol=2 * FAST)
