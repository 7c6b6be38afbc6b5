# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/accuracy.md is what its generator makes of the committed results, and the generator tells the truth."""

from dataclasses import replace
from math import inf

import accuracy_page
import pytest
from engines import ENGINES
from rows import ROWS
from truth_own import FILES, ROOT
from truth_table import (
    COMPLETE,
    PENDING,
    Line,
    Own,
    Run,
    read_lines,
    read_own,
    read_runs,
    write_lines,
    write_own,
    write_runs,
)

REMEDY = "run benchmarks/accuracy_page.py"


def line(engine, value, figure="joint error", row="chain", **changes):
    made = Line(row, engine, figure, "mm", value, None, 0.1, 0.0, COMPLETE, 120, 10.0)
    return replace(made, **changes)


def test_page_is_what_the_results_make():
    assert accuracy_page.PAGE.read_text(encoding="utf-8") == accuracy_page.text(
        read_lines(), read_runs(), read_own()
    ), REMEDY


def test_every_cell_was_measured():
    measured = {(line.row, line.engine, line.figure) for line in read_lines()}
    for row, described in ROWS.items():
        dynamic = sum(body.motion == "dynamic" for body in described.build().bodies)
        for name, engine in ENGINES.items():
            if dynamic <= engine.largest:
                missing = {(row, name, figure.name) for figure in described.figures} - measured
                assert not missing, f"make bench-truth ARGS='--rows {row} --engines {name}'"
    assert {run.engine for run in read_runs()} == set(ENGINES)


def test_bounds_in_the_results_are_those_of_the_rows():
    for entry in read_lines():
        (figure,) = (figure for figure in ROWS[entry.row].figures if figure.name == entry.figure)
        lower, upper = (-inf if entry.lower is None else entry.lower), (inf if entry.upper is None else entry.upper)
        assert (lower, upper) == pytest.approx((figure.lower, figure.upper), rel=1e-4), f"{entry.row}: {entry.figure}"


def test_files_come_back_as_they_were_written(tmp_path):
    lines = [line("axion", 0.25), line("bullet", None, outcome="crashed", cpu_ms_per_frame=None)]
    runs = [Run("axion", "1, 2", "a; b", "here", "2000-01-01")]
    write_lines(lines, tmp_path / "lines.csv")
    write_runs(runs, tmp_path / "runs.csv")
    assert read_lines(tmp_path / "lines.csv") == lines
    assert read_runs(tmp_path / "runs.csv") == runs
    assert read_lines(tmp_path / "none.csv") == []


def test_figures_of_our_own_come_from_tests_that_exist(tmp_path):
    owns = read_own()
    assert {own.file for own in owns} <= set(FILES)
    assert all((ROOT / file).is_file() for file in FILES)
    write_own(owns, tmp_path / "own.csv")
    assert read_own(tmp_path / "own.csv") == owns


def test_figures_of_our_own_stand_under_their_heading():
    file = next(iter(FILES))
    text = accuracy_page.text([], [], [Own(file, "scene", "error", "0.00012", "1e-4", "m")])
    assert f"### {FILES[file]}" in section(text, "Asked of Axion alone")
    assert "| scene | error [m] | 0.00012 | 1e-4 |" in text


@pytest.mark.parametrize(
    ("told", "shown"), [("1e-4", "1e-4"), ("0.00030000000000000003", "0.0003"), ("0.9 to 1.1", "0.9 to 1.1")]
)
def test_bounds_are_shown_without_digits_that_rounding_leaves(told, shown):
    assert accuracy_page.as_told(told) == shown


def page(*lines):
    return accuracy_page.text(list(lines), [])


def section(text, title):
    return text.split(f"## {title}\n")[1].split("\n## ")[0]


def test_missed_bounds_are_bold_and_listed():
    text = page(line("axion", 0.3), line("bullet", 0.05))
    assert "| **0.3** | 0.05 |" in section(text, "Every row")
    losses = section(text, "Where Axion loses")
    assert "- Chain of 50 links" in losses and "joint error [mm] **0.3**, bound ≤ 0.1" in losses


def test_remarks_belong_to_figures_and_hold_no_numbers():
    for (row, figure), remark in accuracy_page.REMARKS.items():
        assert figure in [each.name for each in ROWS[row].figures]
        assert not any(letter.isdigit() for letter in remark)


def test_page_says_whether_all_was_measured_in_one_run():
    runs = [Run(name, "1", "defaults", "here", "2000-01-01", "2000-01-01 10:00 UTC") for name in ("axion", "bullet")]
    assert "All of one run, begun 2000-01-01 10:00 UTC." in accuracy_page.text([], runs)
    told = accuracy_page.text([], [runs[0], replace(runs[1], run="")])
    assert "Not all of one run: Axion: 2000-01-01 10:00 UTC; Bullet: 2000-01-01, some rows again later." in told


def test_a_better_engine_is_listed_whether_or_not_the_bound_holds():
    losses = section(page(line("axion", 0.03), line("bullet", 0.02), line("mujoco", 0.04)), "Where Axion loses")
    assert "Axion misses no bound." in losses
    assert "| 0.03 | Bullet 0.02 |" in losses
    assert "MuJoCo" not in losses


def test_a_better_figure_of_an_engine_that_fails_the_row_is_marked():
    rise = {"figure": "energy above the start", "unit": "%"}
    lines = [line("axion", 0.03), line("bullet", 0.02), line("axion", 0.0, **rise), line("bullet", 7.0, **rise)]
    assert "| 0.03 | Bullet 0.02 † |" in section(page(*lines), "Where Axion loses")


def test_what_only_rounding_tells_apart_is_no_loss():
    losses = section(page(line("axion", 4e-9), line("bullet", 1e-9)), "Where Axion loses")
    assert "Bullet" not in losses


def test_a_faster_engine_is_listed_only_where_it_holds_the_row():
    lines = [line("axion", 0.03), line("bullet", 0.2, cpu_ms_per_frame=1.0), line("mujoco", 0.04, cpu_ms_per_frame=2.0)]
    assert "| 10 | MuJoCo 2 |" in section(page(*lines), "Where Axion loses")


def test_a_run_without_result_says_why_and_holds_nothing():
    stopped = line("bullet", None, outcome="crashed")
    assert not stopped.holds
    assert "**crashed**" in section(page(line("axion", 0.03), stopped), "Every row")


def test_what_was_not_measured_yet_is_held_against_nobody():
    text = page(line("axion", 0.03), line("bullet", None, outcome=PENDING, cpu_ms_per_frame=None))
    assert "| 0.03 | not measured yet |" in section(text, "Every row")
    assert "| Bullet | 0 of 0 |  |" in text


def test_best_newton_misses_least_then_ranks_best():
    results = accuracy_page.Results([line("newton_xpbd", 0.2), line("newton_vbd", 0.09), line("newton_steel", 0.05)])
    assert results.best_newton("chain") == "newton_steel"
    assert results.best_newton("cards") is None


@pytest.mark.parametrize(
    ("lower", "upper", "ideal", "value", "holds", "distance"),
    [
        (None, 0.1, 0.0, 0.1, True, 0.1),
        (None, 0.1, 0.0, 0.11, False, 0.11),
        (10.0, None, None, 95.0, True, 0.0),
        (10.0, None, None, 4.0, False, 6.0),
        (3.0, 3.3, 3.17, 3.2, True, 0.03),
        (None, 0.1, 0.0, None, False, inf),
    ],
)
def test_bounds_and_distances(lower, upper, ideal, value, holds, distance):
    made = line("axion", value, lower=lower, upper=upper, ideal=ideal)
    assert made.holds is holds
    assert made.distance == pytest.approx(distance)
