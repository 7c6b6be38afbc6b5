# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the benchmark can be simulated and judged, and each engine gets the settings meant for it."""

import json

import bench_engines
import cheapest
import judge
import numpy as np
import pytest
from axion.solver import validate
from bench_engines import BENCH_ENGINES, GRIDS, Cheapest, settings_for
from bench_rows import BENCH_ROWS, GROWTH, QUICK, QUICK_ENGINES, TABLE_SIZE, cells
from rows import FPS
from trial import attempt
from truth_table import COMPLETE, lines_of


def still(scene, frames):
    start = [body.start() for body in scene.bodies]
    return (np.repeat([part], frames + 1, axis=0) for part in (np.array(values) for values in zip(*start, strict=True)))


SMALLEST = {**{(name, TABLE_SIZE): row for name, row in BENCH_ROWS.items()}}
SMALLEST |= {(name, series.sizes[1]): series.row(series.sizes[1]) for name, series in GROWTH.items()}


@pytest.mark.parametrize(("name", "size"), SMALLEST)
def test_scenes_can_be_simulated_and_start_without_fault(name, size):
    row = SMALLEST[name, size].row
    scene = row.build()
    assert validate(scene) == []
    motion = judge.Motion(row.judged(scene), *still(scene, 2), FPS)
    # stones and cards touch exactly; what is left is the rounding of their corners
    assert motion.overlap.max() < 1e-12
    assert not scene.joints or judge.joint_error(motion) < 1e-12


def test_every_cell_is_named_once_and_runs_on_engines_that_exist():
    found = cells()
    assert len(found) == len(BENCH_ROWS) + sum(len(series.sizes) for series in GROWTH.values())
    for described in found.values():
        assert set(described.engines) <= set(BENCH_ENGINES)
        assert "axion" in described.engines or "axion_preview" in described.engines
        for bound in described.bounds:
            assert {bound.ours, bound.engine} <= set(described.engines)
            assert bound.phase in described.phases
    assert set(QUICK) <= set(found)
    assert set(QUICK_ENGINES) <= set(BENCH_ENGINES)


@pytest.mark.parametrize("series", GROWTH.values(), ids=GROWTH)
def test_series_grow_and_count_what_they_say(series):
    assert list(series.sizes) == sorted(set(series.sizes))
    moving = [sum(body.motion == "dynamic" for body in series.build(size).bodies) for size in series.sizes[:3]]
    assert moving == sorted(set(moving))
    assert sum(size >= series.fitted_from for size in series.sizes) >= 3


def test_boxes_at_rest_lie_on_each_other():
    # Each box above the first layer has its middle over a box below: it rests.
    scene = GROWTH["boxes_resting"].build(27)
    place = np.array([body.position for body in scene.bodies[1:]])
    assert np.allclose(np.unique(place[:, 2]), (0.5, 1.5, 2.5))
    for box in place[place[:, 2] > 1.0]:
        below = place[np.isclose(place[:, 2], box[2] - 1.0)]
        assert (np.abs(below[:, :2] - box[:2]).max(axis=1) < 0.5).any()


class Engine:
    """Stands in for a file of engines/: everything stays, for as many frames as asked for or ``frames``."""

    def __init__(self, frames=None, move=0.0):
        self.frames, self.move = frames, move

    def run(self, scene, frames, fps, watch, sink=0.0):
        position, orientation = still(scene, self.frames or frames)
        position[-1, -1, 2] += self.move - sink
        return position, orientation


class Watch:
    cpu_limit = 40.0


def test_judge_sees_the_poses_alone():
    row = BENCH_ROWS["stack_10"].row
    outcome, values, motion = attempt(row, Engine(), {}, Watch())
    assert outcome == COMPLETE
    assert motion.position.shape == (241, 11, 3)
    assert values["penetration"] == 0.0
    lines = lines_of(row, "stack_10", "axion", {"outcome": outcome, "values": values})
    assert [(line.figure, line.value) for line in lines] == [(figure.name, 0.0) for figure in row.figures]
    # the top box sinks 3 mm into the one below
    assert attempt(row, Engine(), {"sink": 0.003}, Watch())[1]["penetration"] == pytest.approx(3.0)


def test_runs_that_end_early_explode_or_cannot_be_translated_say_so():
    row = BENCH_ROWS["stack_10"].row
    assert attempt(row, Engine(frames=7), {}, Watch())[0] == "40 s of CPU time spent after 7 of 240 frames"
    assert attempt(row, Engine(move=1e5), {}, Watch())[0] == "exploded"
    assert attempt(row, Engine(move=np.nan), {}, Watch())[0] == "exploded"
    assert attempt(row, Engine(), {}, Watch(), frames=12)[2].position.shape[0] == 13

    class Refusing(Engine):
        def run(self, scene, frames, fps, watch):
            raise NotImplementedError("no capsules")

    assert attempt(row, Refusing(), {}, Watch()) == ("not translated: no capsules", {}, None)


def test_settings_come_from_the_engine_or_from_the_sweep():
    sweeps = {
        ("chain", "bullet_cheapest"): Cheapest("chain", "bullet_cheapest", '{"substeps": 80}', 9, ""),
        ("cards", "bullet_cheapest"): Cheapest("cards", "bullet_cheapest", "", 24, ""),
    }
    assert settings_for("bullet", "chain", sweeps) == ({"substeps": 10, "iterations": 10}, None)
    assert settings_for("bullet_cheapest", "chain", sweeps) == ({"substeps": 80}, None)
    assert settings_for("bullet_cheapest", "cards", sweeps) == (None, "none of 24 settings holds the bounds")
    settings, why = settings_for("bullet_cheapest", "arch_stands", sweeps)
    assert settings is None and "cheapest.py" in why


def test_sweep_takes_the_first_setting_that_holds():
    def run(setting):
        sunk = 1.0 if setting["substeps"] < 20 else 0.01
        return {"outcome": COMPLETE, "version": "1", "values": {"penetration": sunk, "farthest from the start": 1.0}}

    found = cheapest.sweep("heavy_1000", "mujoco_cheapest", run)
    assert json.loads(found.setting) == {"substeps": 20}
    assert (found.tried, found.version) == (4, "1")


def test_sweep_ends_where_settings_become_too_dear():
    outcome = "8 s of CPU time spent after 7 of 120 frames"
    asked = []

    def run(setting):
        asked.append(setting)
        return {"outcome": outcome if len(asked) == 3 else COMPLETE, "values": {"penetration": 1.0}}

    found = cheapest.sweep("heavy_1000", "bullet_cheapest", run)
    assert (found.setting, found.tried) == ("", 3)
    assert asked == GRIDS["bullet_cheapest"][:3]


def test_sweeps_in_the_results_name_settings_of_the_grid():
    entries = bench_engines.found()
    assert entries
    for (row, engine), entry in entries.items():
        assert engine in BENCH_ROWS[row].engines
        assert not entry.setting or json.loads(entry.setting) in GRIDS[engine]
        assert 1 <= entry.tried <= len(GRIDS[engine])
