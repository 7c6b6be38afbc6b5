# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts are asked for whose overlap cannot leave as fast as it should."""

import numpy as np
import pytest
from axion.solver.eased import COST, SHARES, SPARE, eased
from axion.solver.problem import Bodies, Contacts, JointRows, StepProblem
from axion.solver.reference.rows import start_gaps

STEP, PUSH, FAST, RADIUS, TURNED = 0.01, 3.0, 1e-4, 0.1, (0.0, 0.0, 0.0, 1.0)


def balls(places, dynamic, pairs, depth):
    """StepProblem of balls (B, 3) at rest, of which ``dynamic`` move; ``pairs`` of them are ``depth`` (C,) deep [m]."""
    place, (a, b) = np.array(places, float), np.transpose(pairs)
    count, still, turn = len(place), np.zeros((len(place), 6)), np.tile(TURNED, (len(place), 1))
    mass = np.where(np.arange(count) < dynamic, 1.0, np.inf)
    inertia = np.where(np.arange(count) < dynamic, 0.004, np.inf)[:, None] * np.ones(3)
    bodies = Bodies(dynamic, mass, inertia, place, turn, still, place, turn, still, np.zeros(count))
    apart = place[a] - place[b]
    normal = apart / np.linalg.norm(apart, axis=1)[:, None]
    margin = 0.5 * (np.linalg.norm(apart, axis=1) + depth)
    none, zero, half = np.zeros((len(a), 3)), np.zeros(len(a)), np.full(len(a), 0.5)
    contacts = Contacts(a, b, none, none, margin, margin, normal, half, zero, none)
    return StepProblem(STEP, bodies, contacts, JointRows.empty(), push_out_speed=PUSH)


def gains(problem, share=1.0):
    """(C,) by how much of what is asked for each gap may grow, as it is eased."""
    missed = np.ones(problem.bodies.dynamic_count, bool)
    trial = eased(problem, missed, share, FAST)
    assert trial.push_out_speed == 0.0
    return (start_gaps(trial) - start_gaps(problem)) / (PUSH * STEP)


def test_two_bodies_by_themselves_part_at_nearly_full_speed():
    problem = balls([(0, 0, 0), (0.15, 0, 0)], 2, [(0, 1)], np.array([0.05]))
    lacking = COST / (COST + 2.0)  # |n|^2 is 1 of either body
    assert gains(problem) == pytest.approx(1.0 - (1.0 + SPARE) * lacking)
    assert gains(problem, 0.25) == pytest.approx(0.25 * (1.0 - (1.0 + SPARE) * lacking))
    assert SHARES[-1] == 0.0 and eased(problem, np.ones(2, bool), 0.0, FAST).push_out_speed == 0.0


def test_what_stands_between_two_walls_gives_way_to_either():
    # A ball between two that stand: what one side gains the other one lacks, so that both keep what they have, or less.
    problem = balls([(0, 0, 0), (0.15, 0, 0), (-0.15, 0, 0)], 1, [(0, 1), (0, 2)], np.array([0.05, 0.05]))
    gained = gains(problem)
    assert gained == pytest.approx(np.full(2, -SPARE)), "nothing, and what is spared"
    # A contact that only touches is kept as it is, whatever pushes.
    problem = balls([(0, 0, 0), (0.15, 0, 0), (-0.15, 0, 0)], 1, [(0, 1), (0, 2)], np.array([0.05, 0.0]))
    gained = gains(problem)
    assert gained[1] == 0.0 and gained[0] == pytest.approx(-SPARE, abs=1e-3)


def test_no_friction_between_what_is_parted_and_all_of_it_on_what_stands():
    problem = balls([(0, 0, 0), (0.15, 0, 0), (0, 0, -0.15)], 2, [(0, 1), (0, 2)], np.array([0.05, 0.05]))
    trial = eased(problem, np.ones(2, bool), 1.0, FAST)
    assert trial.contacts.friction.tolist() == [0.0, 0.5]
    others = eased(problem, np.array([False, False]), 1.0, FAST)
    assert others.contacts.friction.tolist() == [0.5, 0.5] and np.array_equal(start_gaps(others), start_gaps(problem))
    assert eased(problem, np.ones(1000, bool), 1.0, FAST) is None, "too many for a dense matrix"
