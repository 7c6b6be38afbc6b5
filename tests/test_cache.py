# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of a bake: what is in it is not solved again, and what comes out has the bits of an uninterrupted bake."""

import json

import numpy as np
import pytest
from axion.axion_blender.cache import Cache, CacheError, cache_size, free_cache
from axion.solver import SolverConfig, simulate
from cached import CPU, assert_same, bake, small_files, table
from scenes import pile
from test_determinism import crowd


@pytest.fixture(autouse=True)
def three_frames_a_file(monkeypatch):
    small_files(monkeypatch)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_bake_is_found_again_without_the_solver(tmp_path):
    folder = tmp_path / "caches" / "one"
    first = bake(folder, crowd(), 13)
    assert names(folder) == [
        *(f"{a:06d}-{b:06d}.frames" for a, b in ((1, 3), (4, 6), (7, 9), (10, 12), (13, 13))),
        *("head", "lock", "progress.json"),
    ]
    again = bake(folder, crowd(), 13, simulate=lambda *given, **named: pytest.fail("the solver ran"))
    assert first.solved == list(range(1, 14)) and again.solved == [] and again.found == first.solved
    assert again.said == ["all 13 frames are in the cache"] and again.warned == []
    assert first.trajectory.broken_joints
    assert_same(again.trajectory, first.trajectory)
    assert_same(again.trajectory, simulate(crowd(), 13, config=CPU))


@pytest.mark.parametrize("stop_at", [1, 3, 7])
def test_a_stopped_bake_goes_on_where_it_was(tmp_path, stop_at):
    stopped = bake(tmp_path, pile(3), 10, stop_at=stop_at)
    assert len(stopped.trajectory.reports) == stop_at
    resumed = bake(tmp_path, pile(3), 10, first=5)
    assert resumed.solved == list(range(stop_at + 1, 11)) and resumed.found == list(range(1, stop_at + 1))
    assert resumed.said == [f"resuming at frame {5 + stop_at + 1}"]
    assert_same(resumed.trajectory, simulate(pile(3), 10, config=CPU))


def test_more_frames_go_on_and_fewer_are_there(tmp_path):
    bake(tmp_path, pile(2), 6)
    assert bake(tmp_path, pile(2), 9).solved == [7, 8, 9]
    fewer = bake(tmp_path, pile(2), 5)
    assert fewer.solved == [] and len(fewer.trajectory.reports) == 5
    assert_same(fewer.trajectory, simulate(pile(2), 5, config=CPU))
    assert bake(tmp_path, pile(2), 9).solved == [], "the bake of fewer frames has taken none away"


def test_no_resume_begins_at_the_first_frame(tmp_path):
    bake(tmp_path, pile(2), 6)
    anew = bake(tmp_path, pile(2), 6, resume=False)
    assert anew.solved == [1, 2, 3, 4, 5, 6] and anew.found == []
    assert bake(tmp_path, pile(2), 6).solved == []
