# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps solved again without contacts from afar, and when they are taken."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver.far_contacts import better
from axion.solver.redetect import EndCheck, unchecked
from axion.solver.solved import Solved

AIM, COUNT = 1e-5, 3


def solved(residual, check):
    """Three bodies, of which the first two are one island."""
    numbering = SimpleNamespace(scene=np.arange(COUNT + 1))
    assembly, statistics = SimpleNamespace(numbering=numbering), SimpleNamespace(residual=np.array(residual))
    return Solved(assembly, None, statistics, 1, np.full(COUNT, AIM), np.zeros(0, np.int64), check=check)


def checked(excess=0.0, slipped=0.0):
    """What was seen at an end where the first body is deeper than it may be, or the last one went through another."""
    first, last = np.array([excess, 0.0, 0.0]), np.array([0.0, 0.0, slipped])
    return EndCheck(0.0, excess, None, first, first, np.ones(COUNT, bool), np.zeros(0, np.int64), (), slipped=last)


MISSED = np.array([True, True, False])


@pytest.mark.parametrize("check", [None, checked()], ids=["nobody looked", "clear"])
def test_what_holds_is_taken(check):
    trial = solved([1e-6, 1e-6, 1.0], check)
    assert better(trial, solved([1e-3, 1e-3, 1.0], None), MISSED) is trial


@pytest.mark.parametrize(
    "trial",
    [
        solved([1e-6, 1e-4, 0.0], checked()),
        solved([np.nan, 1e-6, 0.0], checked()),
        solved([1e-6, 1e-6, 1.0], unchecked(COUNT)),
        solved([1e-6, 1e-6, 0.0], checked(excess=1e-4)),
    ],
    ids=["misses", "no number", "too far off to look", "overlaps"],
)
def test_what_does_not_hold_is_left_but_for_its_work(trial):
    first = solved([1e-3, 1e-3, 0.0], None)
    taken = better(trial, first, MISSED)
    assert taken.statistics is first.statistics and taken.solves == trial.solves


@pytest.mark.parametrize("check", [None, checked()], ids=["nobody looked", "clear"])
def test_what_slipped_through_others_before_is_told(check):
    taken = better(solved([1e-6, 1e-6, 0.0], check), solved([1e-3, 1e-3, 0.0], checked(slipped=0.2)), MISSED)
    assert taken.check.slipped[2] == 0.2 and taken.check.overlap == 0.2
