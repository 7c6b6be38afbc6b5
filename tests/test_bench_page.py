# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/performance.md is what its generator makes of the committed results, and the generator hides no loss."""

import re
from dataclasses import replace

import pytest
import records
from bench_results import Results
from bench_rows import BENCH_ROWS, GROWTH
from bench_table import CELLS, Cell, Figure, Roof, Share, Start
from loss_reasons import REASONS
from performance_page import PAGE, Sources, read_sources, shown, text
from truth_table import COMPLETE, Run

REMEDY = 'make bench ARGS="--page"'


def cell(row, engine, cpu_ms, **changes):
    times = (cpu_ms, cpu_ms and 1.2 * cpu_ms, cpu_ms and 2.0 * cpu_ms, cpu_ms and 3.0 * cpu_ms)
    return replace(Cell(row, 0, engine, "all", 2, 120, 120, 115, *times, 250.0, 0, COMPLETE, ""), **changes)


def growing(series, times, engine="axion", **changes):
    return [
        cell(series, engine, time, size=size, bodies=size, **changes)
        for size, time in zip(GROWTH[series].sizes, times, strict=False)
    ]


def section(page, title):
    return page.split(f"## {title}\n")[1].split("\n## ")[0]


def test_page_is_what_the_results_make():
    assert PAGE.read_text(encoding="utf-8") == text(read_sources()), REMEDY


def test_every_loss_in_the_results_has_a_reason():
    results = Results(records.read(CELLS, Cell))
    lost = {loss.row for loss in results.losses()}
    lost |= {growth.series for growth in results.growths() if growth.met is False}
    assert lost <= set(REASONS), "benchmarks/loss_reasons.py"


def test_reasons_hold_words_and_no_figures():
    assert set(REASONS) <= {*BENCH_ROWS, *GROWTH}
    for row, reason in REASONS.items():
        assert not re.search(r"\d", reason), f"{row}: numbers come from the results"
        assert reason.endswith(".")


def test_page_without_results_says_so():
    page = text(Sources())
    assert "Nothing has been measured yet" in page
    assert "|" not in page


def test_files_come_back_as_they_were_written(tmp_path):
    cells = [cell("chain", "axion", 1.25), cell("chain", "bullet", None, missed=None, outcome="crashed", peak_mib=None)]
    records.write(tmp_path / "cells.csv", Cell, cells)
    assert records.read(tmp_path / "cells.csv", Cell) == cells


@pytest.mark.parametrize(
    ("ours", "changes", "met"),
    [
        (1.3, {}, True),
        (1.5, {}, False),
        (1.3, {"missed": 1}, False),  # fast, but not accurate
        (1.3, {"outcome": "40 s of CPU time spent after 7 of 120 frames"}, False),
        (None, {"outcome": "crashed"}, False),
    ],
)
def test_a_bound_is_met_by_accurate_runs_alone(ours, changes, met):
    (verdict,) = Results([cell("cards", "axion", ours, **changes), cell("cards", "mujoco", 1.4)]).verdicts()
    assert verdict.met is met
    assert verdict.ratio is None if ours is None else verdict.ratio == pytest.approx(ours / 1.4)


def test_bound_of_another_engine_is_its_time_in_the_same_run():
    results = Results([cell("cards", "axion", 6.0), cell("cards", "mujoco", 12.0)])
    (verdict,) = results.verdicts()
    assert (verdict.limit, verdict.ratio, verdict.met) == (12.0, 0.5, True)
    lines = section(text(Sources(cells=list(results.cells.values()))), "The bounds")
    assert "| 6 (7.2) | < 12, MuJoCo, hard | 0.5 | holds |" in lines


def test_bound_may_be_a_share_of_another_engines_time():
    cells = [cell("chain_1mm", "axion", 1.5), cell("chain_1mm", "mujoco_cheapest", 10.0)]
    cells.append(cell("chain_1mm", "bullet_cheapest", None, missed=None, outcome="not swept"))
    first, second = Results(cells).verdicts()
    assert (first.limit, first.ratio, first.met) == (pytest.approx(1.0), pytest.approx(1.5), False)
    assert (second.limit, second.ratio, second.met) == (None, None, False)
    lines = section(text(Sources(cells=cells)), "The bounds")
    assert "| 1.5 (1.8) | < 1, 0.1 of MuJoCo, cheapest | **1.5** | holds |" in lines
    assert "below 0.05 of Bullet, cheapest: not swept" in lines


def test_bounds_of_phases_are_told_apart():
    phases = {"rest": 4.0, "moving": 50.0, "all": 9.0}
    cells = [cell("pile_125", "axion", time, phase=phase) for phase, time in phases.items()]
    results = Results([*cells, *(cell("pile_125", "bullet", 5.0, phase=phase) for phase in phases)])
    assert [(verdict.bound.phase, verdict.met) for verdict in results.verdicts()] == [("rest", True), ("moving", False)]
    (loss,) = results.losses()
    assert [verdict.bound.phase for verdict in loss.verdicts] == ["moving"]


def test_losses_are_listed_with_ratio_profile_and_reason():
    cells = [cell("cards", "axion", 7.0), cell("cards", "bullet", 0.7, missed=3), cell("cards", "mujoco", 6.0)]
    shares = [
        Share("cards", "recorded graphs", 41.0),
        Share("cards", "collision.py", 7.5),
        Share("chain", "step.py", 9.0),
    ]
    losses = section(text(Sources(cells=cells, shares=shares)), "Where Axion loses")
    assert "7 (8.4) ms, bound < 6, MuJoCo, hard, 1.17 times the bound." in losses
    assert "As accurate and faster: MuJoCo, hard 6 ms." in losses
    assert "Bullet 0.7" not in losses  # it misses bounds of the row
    assert REASONS["cards"] in losses
    assert "recorded graphs 41 %, collision.py 7.5 %." in losses
    assert "step.py" not in losses


def test_no_loss_is_said_in_words():
    assert "None: every bound holds" in section(text(Sources(cells=[cell("chain", "axion", 1.0)])), "Where Axion loses")


def test_cells_that_fail_or_are_stopped_say_so():
    assert shown(cell("chain", "bullet", 1.0)) == "1 (1.2)"
    assert shown(cell("chain", "bullet", 1.0, missed=2)) == "**1 (1.2)**"
    stopped = "40 s of CPU time spent after 7 of 120 frames"
    assert shown(cell("chain", "bullet", 9.0, missed=None, outcome=stopped)) == f"**9 (10.8); {stopped}**"
    assert shown(cell("chain", "bullet", None, missed=None, outcome="crashed")) == "**crashed**"
    assert shown(cell("chain", "axion_cuda", 1.0)) == "2 (3)"  # the wall's time
    assert shown(None) == ""


def test_growth_within_the_bound_and_beyond_it():
    sizes = GROWTH["boxes_resting"].sizes
    page = section(text(Sources(cells=growing("boxes_resting", [0.1 * n for n in sizes]))), "How it grows")
    assert "to the power 1, from 100 to 10000 boxes. At most 1.1 was asked for, over all sizes: it is." in page
    page = section(text(Sources(cells=growing("boxes_resting", [0.01 * n**1.3 for n in sizes]))), "How it grows")
    assert (
        "to the power 1.3, from 100 to 10000 boxes. At most 1.1 was asked for, over all sizes: **it is not**." in page
    )


def test_growth_without_the_largest_sizes_is_no_success():
    cells = growing("boxes_falling", [0.1 * n for n in GROWTH["boxes_falling"].sizes])
    cells[-1] = replace(cells[-1], outcome="60 s of CPU time spent after 9 of 30 frames")
    page = section(text(Sources(cells=cells)), "How it grows")
    assert (
        "from 100 to 3000 boxes. At most 1.1 was asked for, over all sizes: **it is not**. Without 10000: 60 s" in page
    )


def test_memory_a_body_is_the_slope():
    sizes = GROWTH["boxes_resting"].sizes
    cells = [
        replace(entry, peak_mib=200 + entry.bodies / 512) for entry in growing("boxes_resting", [1.0] * len(sizes))
    ]
    assert "| **bytes a body** | 2048 |" in section(text(Sources(cells=cells)), "Memory as it grows")


def test_smaller_files_have_their_sections():
    page = text(
        Sources(
            cells=[cell("chain", "axion", 1.0)],
            runs=[Run("axion", "1.2.3", "defaults", "here", "2000-01-01")],
            starts=[Start("axion", 40.0, 38.0, 2.0, 1.9, 7.5)],
            road=[Figure("keyframes of 1000 bodies", "ms", 120.0, 100.0, "here", "2000-01-01")],
            roofs=[Roof("pile_1000", "a card", 40.0, 12.0, 3.0, 2.0, 3000.0, 50000.0, 0.2, 0.003)],
        )
    )
    assert "| Axion | 40 | 38 | 2 | 1.9 | 7.5 |" in section(page, "From the start to the first frame")
    assert "| keyframes of 1000 bodies | ms | 120 | 100 | **1.2** | here | 2000-01-01 |" in page
    assert "a card 3000 GB/s and 50000 Gflop/s." in section(page, "Against the limits of the device")
    assert "| Axion | 1.2.3 | defaults | here | 2000-01-01 |" in section(page, "What ran")
