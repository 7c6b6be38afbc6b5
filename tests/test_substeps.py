# SPDX-License-Identifier: GPL-3.0-or-later
"""The automatic number of steps per frame: up at once, down slowly, fixed where the user says so."""

from axion.solver.substeps import MOST, PATIENCE, Substeps


def test_doubles_at_a_miss_up_to_the_most():
    steps = Substeps()
    seen = []
    for _ in range(8):
        steps.learn(solves=10 * MOST)
        seen.append(steps.count)
    assert seen[:3] == [2, 4, 8] and seen[-1] == MOST


def test_halves_after_peace_and_never_below_one():
    steps = Substeps()
    steps.learn(2)
    steps.learn(4)
    assert steps.count == 4
    counts = []
    for _ in range(4 * PATIENCE):
        steps.learn(steps.count)
        counts.append(steps.count)
    assert counts[PATIENCE - 2 : PATIENCE] == [4, 2] and counts[2 * PATIENCE - 1] == 1 == counts[-1]


def test_a_fixed_number_stays():
    steps = Substeps(3)
    steps.learn(100)
    assert steps.count == 3
