# SPDX-License-Identifier: GPL-3.0-or-later
"""The automatic number of steps per frame: up at once, down slowly, fixed where the user says so."""

import numpy as np
import pytest
import scenes
import table_scenes
from axion.solver import SolverConfig, simulate
from axion.solver.substeps import MOST, MOST_SPINNING, PATIENCE, Substeps

WHOLE = {
    "swinging chain": lambda: scenes.chain(10, sideways=True),
    "heavy ball on links": lambda: table_scenes.hung_ball(6),
    "pile": lambda: scenes.pile(8),
}


def test_doubles_at_a_miss_up_to_the_most():
    steps = Substeps()
    seen = []
    for _ in range(8):
        steps.learn(10 * MOST, False)
        seen.append(steps.count)
    assert seen[:3] == [2, 4, 8] and seen[-1] == MOST


def test_stays_where_halving_was_in_vain():
    steps = Substeps()
    steps.learn(2, False)
    steps.learn(32, False, given_up=True)
    assert steps.count == 2
    for _ in range(PATIENCE - 1):
        steps.learn(steps.take(1), False)
    assert steps.count == 2, "the frame that missed starts the count of quiet ones anew"
    steps.learn(steps.take(1), False)
    assert steps.count == 1


def test_halves_after_peace_and_never_below_one():
    steps = Substeps()
    steps.learn(2, False)
    steps.learn(4, False)
    assert steps.count == 4
    counts = []
    for _ in range(4 * PATIENCE):
        steps.learn(steps.count, False)
        counts.append(steps.count)
    assert counts[PATIENCE - 2 : PATIENCE] == [4, 2] and counts[2 * PATIENCE - 1] == 1 == counts[-1]


def test_a_fixed_number_stays():
    steps = Substeps(3)
    steps.learn(100, True)
    assert steps.count == 3


def test_more_steps_that_are_no_help_are_taken_back():
    steps = Substeps()
    for solves in (2, 4, 8):
        steps.learn(solves, False)
    assert steps.count == 8
    steps.learn(100, True)
    assert steps.count == 4
    for _ in range(5):
        steps.learn(100, True)
    assert steps.count == 1


def test_spin_asks_for_steps_of_its_frame_alone():
    steps = Substeps()
    assert [steps.take(1), steps.take(9), steps.take(1000), steps.take(1)] == [1, 9, MOST_SPINNING, 1]
    steps.take(6)
    steps.learn(6, False)
    assert steps.count == 1  # six steps were asked for, and none was halved
    steps.take(6)
    steps.learn(7, False)
    assert steps.take(6) == 12
    assert Substeps(3).take(9) == 3


def test_a_multiple_is_kept_whatever_asks_for_steps():
    steps = Substeps(multiple=4)
    assert [steps.take(1), steps.take(9), steps.take(MOST_SPINNING)] == [4, 12, MOST_SPINNING]
    steps.take(1)
    steps.learn(4, False)
    assert steps.count == 1  # four steps were asked for, and none was halved
    steps.take(1)
    steps.learn(5, False)
    assert steps.take(1) == 8
    assert Substeps(5, 4).take(1) == 8


def test_what_only_islands_want_is_no_step_of_the_others():
    steps, wanted = Substeps(), np.array([1, 8, 3])
    steps.take(3)
    assert np.array_equal(steps.longest(wanted, 0.04), [np.inf, 0.005, np.inf])
    steps.take(8)
    assert steps.longest(wanted, 0.04) is None
    fixed = Substeps(2)
    fixed.take(1)
    assert fixed.longest(wanted, 0.04) is None  # the user's number stands


@pytest.mark.parametrize("name", WHOLE)
def test_frames_take_about_as_few_solves_as_keep_the_tolerance(name):
    # The fewest that any fixed number of steps a frame needs, solves of halved steps included, and half as many again.
    solves = {}
    for substeps in ("auto", 1, 2, 4):
        reports = simulate(WHOLE[name](), 24, config=SolverConfig(device="cpu", substeps=substeps)).reports
        if all(report.converged for report in reports):
            solves[substeps] = sum(report.substeps for report in reports)
    print(f"{name}: solves in 24 frames {solves}")
    assert "auto" in solves and len(solves) > 1
    assert solves["auto"] <= 1.5 * min(solves.values())
