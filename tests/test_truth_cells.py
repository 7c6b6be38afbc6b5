# SPDX-License-Identifier: GPL-3.0-or-later
"""Cells of the comparison that hang or crash: stopped by a limit, and told in words."""

import json
import sys

import pytest
import truth
from rows import ROWS
from truth_table import COMPLETE, Line, Run

ANSWER = {"version": "1", "outcome": "complete", "values": {}, "frames": 3, "cpu_ms_per_frame": 1.0}


def line(row, value):
    figure = ROWS[row].figures[0]
    return Line(row, "axion", figure.name, figure.unit, value, None, None, 0.0, COMPLETE, 1, 1.0)


def run(program, cpu_limit=60.0, patience=120.0):
    return truth.answer_of([sys.executable, "-c", program], cpu_limit, patience)


def test_an_answer_counts_whatever_happens_after_it():
    program = f"import os; print('noise'); print('''{json.dumps(ANSWER)}''', flush=True); os.abort()"
    assert run(program) == (ANSWER, None)


@pytest.mark.parametrize(
    ("program", "limits", "words"),
    [
        ("import time; time.sleep(100)", {"patience": 0.3}, "hangs: stopped after 0.3 s"),
        ("import os; os.abort()", {}, "crashed (SIGABRT)"),
        ("raise ValueError('a | b')", {}, "crashed: ValueError: a / b"),
        ("print('no answer')", {}, "crashed: exit status 0"),
    ],
)
def test_what_gives_no_answer_says_why(program, limits, words):
    assert run(program, **limits) == (None, words)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="CPU time of other processes is read from /proc")
def test_a_cell_that_computes_for_ever_is_stopped_by_its_cpu_time():
    assert run("while True: pass", cpu_limit=0.5) == (None, "hangs: stopped after 0.5 s of CPU time")


def test_a_cell_without_answer_is_a_line_without_value(monkeypatch):
    monkeypatch.setattr(truth, "answer_of", lambda *_: (None, "crashed (SIGSEGV)"))
    cell = truth.spawn_cell("chain", "bullet", 1.0)
    lines = list(truth.lines_of(truth.ROWS["chain"], "chain", "bullet", cell))
    assert lines and all(line.value is None and line.outcome == "crashed (SIGSEGV)" for line in lines)


def test_rows_that_a_second_checkout_measured_are_taken_at_the_same_commit_alone(monkeypatch):
    here = [line("chain", 1.0), line("cards", 1.0)]
    there = [line("chain", 2.0), line("cards", 2.0)]
    runs = [Run("axion", "1", "defaults", "x; one process at a time", "2000-01-01", "2000-01-01 10:00 UTC, commit abc")]
    written = []
    monkeypatch.setattr(truth, "read_lines", lambda path=None: here if path is None else there)
    monkeypatch.setattr(truth, "read_runs", lambda: runs)
    monkeypatch.setattr(truth, "write_lines", written.extend)
    monkeypatch.setattr(truth, "write_runs", written.extend)
    monkeypatch.setattr(truth, "commit_of", lambda folder: "def")
    with pytest.raises(SystemExit, match="at commit def"):
        truth.take("there", ["chain"])
    monkeypatch.setattr(truth, "commit_of", lambda folder: "abc")
    with pytest.raises(SystemExit, match="has no line of stack_10"):
        truth.take("there", ["chain", "stack_10"])
    truth.take("there", ["chain"])
    chain, cards, run = written
    assert (chain.row, chain.value, cards.row, cards.value) == ("chain", 2.0, "cards", 1.0)
    assert run.machine == "x; two processes at a time" and run.run == runs[0].run
