# SPDX-License-Identifier: GPL-3.0-or-later
"""How a bake ended is told in its cache's progress.json, whatever it was at; nobody else's is touched."""

import json

import pytest
from axion.axion_blender import solving
from axion.axion_blender.cache import Cache, Place
from axion.axion_blender.drivers import Ticker
from axion.axion_blender.job import Job, Phase
from cached import CPU, OWNER, bake
from scenes import pile


@pytest.fixture
def place(tmp_path):
    """A cache whose writer was killed: it says that it is solving."""
    bake(tmp_path / "cache", pile(1), 2).progress.write()
    assert phase(tmp_path / "cache") == "solving"
    return Place(tmp_path / "cache", OWNER)


def phase(folder):
    return json.loads((folder / "progress.json").read_bytes())["phase"]


def job(place, solve=lambda *given, **named: "trajectory"):
    return Job(lambda: "scene", solve, lambda found: [], 2, 24.0, CPU, on_end=lambda job: solving.tell_end(place, job))


def test_a_process_that_was_killed_is_told(place):
    def die(*given, **named):
        raise RuntimeError("The process that solved the bake died")

    assert job(place, die).run() is Phase.FAILED
    told = json.loads((place.folder / "progress.json").read_bytes())
    assert told["phase"] == "failed" and told["error"] == "The process that solved the bake died"


def test_a_cancel_between_solving_and_writing_is_told(place):
    cancelled = job(place)
    cancelled.do_gather()
    cancelled.do_solve()
    cancelled.cancel()
    cancelled.do_write()
    assert cancelled.phase is Phase.CANCELLED and phase(place.folder) == "cancelled"


def test_a_bake_that_is_closed_and_one_that_is_done_are_told(place):
    ticker = Ticker(job(place))
    ticker.close()
    assert phase(place.folder) == "cancelled"
    assert job(place).run() is Phase.DONE and phase(place.folder) == "done"


def test_nothing_is_told_where_another_bake_writes_or_no_cache_is(place, tmp_path):
    with Cache(place.folder):
        assert job(place).run() is Phase.DONE
    assert phase(place.folder) == "solving"
    assert job(Place(tmp_path / "none", OWNER)).run() is Phase.DONE and not (tmp_path / "none").exists()
