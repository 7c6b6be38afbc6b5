# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits of how times grow, and which frames and cells they rest on."""

import judge
import numpy as np
import pytest
from bench_scenes import falling_boxes
from bench_table import Cell
from cell import WARM_UP, quantiles, timed_frames
from growth import bytes_a_body, fit, power_law
from profiled import GRAPHS, LOADING, SOLVER, parts
from truth_table import COMPLETE


def cell(size, cpu_ms, outcome=COMPLETE, peak_mib=None, engine="axion"):
    times = (cpu_ms, cpu_ms, cpu_ms, cpu_ms)
    return Cell("boxes_falling", size, engine, "all", size, 30, 30, 25, *times, peak_mib, 0, outcome, "")


def test_power_law_is_found_again():
    exponent, factor = power_law([(n, 0.7 * n**1.3) for n in (10, 30, 100, 1000)])
    assert (exponent, factor) == pytest.approx((1.3, 0.7))


def test_power_law_is_a_least_squares_fit_of_the_logarithms():
    random = np.random.default_rng(0)
    sizes = np.array([10.0, 30.0, 100.0, 300.0, 1000.0])
    times = 2.0 * sizes**1.1 * np.exp(0.3 * random.standard_normal(5))
    slope, offset = np.polyfit(np.log(sizes), np.log(times), 1)
    assert power_law(zip(sizes, times, strict=True)) == pytest.approx((slope, np.exp(offset)))


@pytest.mark.parametrize(
    "points", [[], [(10, 1.0), (100, 10.0)], [(10, 1.0)] * 3, [(10, 1.0), (100, 2.0), (1000, 0.0)]]
)
def test_too_few_points_give_no_law(points):
    assert power_law(points) is None


def test_fit_leaves_out_small_sizes_and_runs_that_were_stopped():
    cells = [cell(10, 50.0), *(cell(n, 0.1 * n) for n in (100, 300, 1000)), cell(3000, 9e3, "60 s of CPU time spent")]
    found = fit(cells, 100)
    assert found.exponent == pytest.approx(1.0)
    assert found.factor == pytest.approx(0.1)
    assert found.sizes == (100, 300, 1000)
    assert fit(cells[:3], 100) is None


def test_bytes_a_body_is_the_slope_of_the_memory():
    cells = [cell(n, 1.0, peak_mib=200.0 + 3.0 * n / 1024.0) for n in (100, 1000, 10000)]
    assert bytes_a_body([cell(10, 1.0, peak_mib=900.0), *cells]) == pytest.approx(3.0 * 1024.0)
    assert bytes_a_body(cells[:1]) is None


def test_frames_are_told_apart_where_bodies_come_to_rest():
    assert list(timed_frames("all", 9, None)) == list(range(WARM_UP, 9))
    assert list(timed_frames("moving", 30, 12)) == list(range(WARM_UP, 12))
    assert list(timed_frames("rest", 30, 12)) == list(range(12, 30))
    assert list(timed_frames("rest", 30, None)) == []  # it never came to rest
    assert list(timed_frames("moving", 30, 2)) == []  # it was at rest before the warm-up ended
    assert list(timed_frames("rest", 30, 2)) == list(range(WARM_UP, 30))
    assert list(timed_frames("all", 2, None)) == []


def test_quantiles_need_some_frames():
    assert quantiles([1.0, 2.0]) == (None, None)
    assert quantiles(list(range(101))) == (50.0, 95.0)


def test_rest_begins_after_the_last_fast_frame():
    scene = falling_boxes(8)
    position = np.repeat([[body.position for body in scene.bodies]], 25, axis=0)
    turn = np.zeros((25, 9, 4))
    turn[..., 3] = 1.0
    motion = judge.Motion(scene, position, turn, 24)
    assert judge.rest_frame(motion) == 0
    # one of eight boxes at v: the root mean square is v / sqrt 8, and frame k is the step from pose k to k + 1
    slow, fast = (factor * judge.RESTING * np.sqrt(8.0) / 24.0 for factor in (0.99, 1.01))
    position[8:, 3, 0] += slow
    assert judge.rest_frame(motion) == 0
    position[8:, 3, 0] += fast - slow
    assert judge.rest_frame(motion) == 8
    position[24:, 3, 0] += fast
    assert judge.rest_frame(motion) is None


def test_profile_counts_what_a_file_calls_as_its_own():
    step, sums = (str(SOLVER / "step.py"), 1, "step"), (str(SOLVER / "metrics.py"), 1, "sums")
    helper, replay = ("/lib/numpy/core.py", 5, "moveaxis"), ("/lib/warp/context.py", 9, "capture_launch")
    start = ("/lib/other.py", 1, "main")
    # function -> (calls, calls, own time, time, callers); a caller's third number is the time spent for it
    stats = {
        start: (1, 1, 0.5, 9.5, {}),
        step: (1, 1, 1.0, 9.0, {start: (1, 1, 1.0, 9.0)}),
        sums: (1, 1, 2.0, 3.0, {step: (1, 1, 2.0, 3.0)}),
        helper: (4, 4, 2.0, 2.0, {sums: (3, 3, 1.5, 1.5), step: (1, 1, 0.5, 0.5)}),
        replay: (1, 1, 4.0, 4.0, {step: (1, 1, 4.0, 4.0)}),
    }
    wanted = {"step.py": 1.5, "metrics.py": 3.5, GRAPHS: 4.0, LOADING: 0.5}
    assert parts(stats) == pytest.approx(wanted)
