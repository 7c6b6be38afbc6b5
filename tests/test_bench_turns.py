# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines take their blocks in turn, and one that dies or hangs costs its own cell only."""

import sys
import time

import run
import turns
from bench_rows import BENCH_ROWS
from cell import SIGN, WARM_UP, paced
from engines.common import Watch
from truth_table import COMPLETE

SPEAK = f"""
import json, sys
def say(message):
    print("noise", flush=True)
    print({SIGN!r} + json.dumps(message), flush=True)
"""


def program(body):
    return [sys.executable, "-c", SPEAK + body]


def blocks(name, count, path):
    """A program that writes its name once a block, and answers with the number of blocks."""
    return program(f"""
for block in range({count}):
    with open({str(path)!r}, "a") as file:
        file.write({name!r})
    if block < {count} - 1:
        say({{"pause": block}})
        sys.stdin.readline()
say({{"answer": {{"outcome": "complete", "frames": {count}}}}})
""")


def test_blocks_are_taken_in_turn(tmp_path):
    path = tmp_path / "order"
    jobs = {"A": blocks("A", 3, path), "B": blocks("B", 1, path), "C": blocks("C", 4, path)}
    answers = turns.take_turns(jobs, 60.0)
    assert path.read_text() == "ABCACACC"
    assert {name: answer["frames"] for name, answer in answers.items()} == {"A": 3, "B": 1, "C": 4}


def test_an_engine_that_dies_or_hangs_costs_its_own_cell(tmp_path):
    dying = program('say({"pause": 1})\nsys.stdin.readline()\nraise SystemExit(3)')
    hanging = program("import time\ntime.sleep(600)")
    began = time.perf_counter()
    answers = turns.take_turns({"dies": dying, "hangs": hanging, "works": blocks("W", 2, tmp_path / "order")}, 5.0)
    assert time.perf_counter() - began < 120.0
    assert answers["dies"]["outcome"] == "crashed"
    assert answers["hangs"]["outcome"] == "not done after 5 s"
    assert answers["works"]["frames"] == 2


def test_waiting_for_a_turn_is_not_timed(monkeypatch, capsys):
    lines = iter(["\n", ""])

    def wait():
        time.sleep(0.2)
        return next(lines)

    monkeypatch.setattr(sys.stdin, "readline", wait, raising=False)
    watch = paced(Watch)()
    for frame in range(1, WARM_UP + 1):
        watch.start()
        assert watch.stop(), f"frame {frame}"
    assert f'{SIGN}{{"pause": {WARM_UP}}}' in capsys.readouterr().out
    assert max(watch.wall_ms) < 100.0
    watch.cpu_ms += [0.0] * 11
    watch.start()
    assert not watch.stop(), "the other side is gone"


def test_answers_become_cells():
    described = BENCH_ROWS["pile_125"]
    times = {
        "all": (55, 5.0, 6.0, 7.0, 8.0),
        "moving": (9, 50.0, 60.0, 70.0, 80.0),
        "rest": (0, None, None, None, None),
    }
    answer = {"outcome": COMPLETE, "frames": 60, "wanted": 60, "phases": times, "peak_mib": 300.0}
    cells = list(run.cells_of("pile_125", 0, "axion", described, 125, answer, 1, ""))
    assert [(cell.phase, cell.timed, cell.cpu_ms, cell.wall_ms_95) for cell in cells] == [
        *(("all", 55, 5.0, 8.0), ("moving", 9, 50.0, 80.0), ("rest", 0, None, None)),
    ]
    assert {cell.missed for cell in cells} == {1}
    (none, *_) = run.cells_of("pile_125", 0, "bullet", described, 125, {"outcome": "crashed"}, None, "")
    assert (none.outcome, none.cpu_ms, none.frames, none.peak_mib) == ("crashed", None, 0, None)


def test_an_engine_that_cannot_run_a_row_has_a_cell_that_says_why():
    # None of them starts a process: no setting was found, or the scene is too large.
    lines, figures, versions = run.run_row("dominoes", 0, BENCH_ROWS["dominoes"], ["newton_kamino"])
    assert [(cell.engine, cell.outcome) for cell in lines] == [("newton_kamino", "not run above 30 bodies")]
    assert all(line.value is None and line.outcome == lines[0].outcome for line in figures)
    assert versions == {}
