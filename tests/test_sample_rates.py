# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast sampled paths are at their samples: of fourth order where they are smooth, either side's at corners."""

import numpy as np
import pytest
from axion.solver.sample_rates import sample_rates

APART = 1.0 / 96.0


def rates_of(way, count=40, uneven=0.0, turns=False):
    """(times (S,), velocities where a step begins and where one ends, (S,) each) of a way along x."""
    times = APART * (np.arange(count) + uneven * np.sin(np.arange(count)))
    place = np.zeros((count, 3))
    place[:, 0] = way(times)
    begins, ends = sample_rates(times, np.diff(place, axis=0) / np.diff(times)[:, None], np.full(count - 1, turns))
    return times, begins[:, 0], ends[:, 0]


@pytest.mark.parametrize("rate", [3.0, 12.0])
def test_a_sine_is_as_fast_as_it_is_at_its_crests_too(rate):
    times, begins, ends = rates_of(lambda t: np.sin(rate * t) / rate, 96)
    inner = slice(4, -4)
    assert begins[inner] == pytest.approx(np.cos(rate * times[inner]), abs=(rate * APART) ** 4 / 10.0)
    assert begins[inner].tolist() == ends[inner].tolist()


def test_what_gets_faster_evenly_is_as_fast_as_it_is():
    times, begins, _ = rates_of(lambda t: 0.5 * 3.0 * t**2 - 0.4 * t)
    assert begins[1:-1] == pytest.approx(3.0 * times[1:-1] - 0.4, abs=1e-12)


def test_corners_are_met_from_either_side():
    at = 20 * APART
    _, begins, ends = rates_of(lambda t: 2.0 * np.minimum(t, at))
    assert (begins[20], ends[20]) == (pytest.approx(0.0, abs=1e-12), pytest.approx(2.0))
    assert begins[1:20] == pytest.approx(2.0) and ends[21:-1] == pytest.approx(0.0, abs=1e-12)
    # It stands before its first sample and after its last one.
    assert (begins[0], ends[0]) == (pytest.approx(2.0), 0.0)


@pytest.mark.parametrize("late", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("first", [0, 1, 2, 20])
def test_what_sets_out_evenly_gets_as_fast_as_it_is(first, late):
    at = (first + late) * APART
    times, begins, ends = rates_of(lambda t: 0.5 * np.maximum(t - at, 0.0) ** 2)
    off = 0.125 * APART if late else 1e-12  # one between two samples is not told from one at the first
    for found in (begins, ends):
        assert found[:-1] == pytest.approx(np.maximum(times - at, 0.0)[:-1], abs=off)


def test_what_stops_evenly_slows_down_to_rest():
    at = 20 * APART
    times, begins, ends = rates_of(lambda t: -0.5 * np.maximum(at - t, 0.0) ** 2)
    for found in (begins, ends):
        assert found[1:-1] == pytest.approx(np.maximum(at - times, 0.0)[1:-1], abs=1e-12)


@pytest.mark.parametrize("steps", [1, 2])
def test_jumps_have_both_velocities(steps):
    """To another velocity at once, and by two jumps of one size."""
    at = 20 * APART
    _, begins, ends = rates_of(lambda t: sum(np.maximum(t - at - k * APART, 0.0) for k in range(steps)))
    for k in range(steps + 1):
        assert (ends[20 + k], begins[20 + k]) == (pytest.approx(k, abs=1e-12), pytest.approx(min(k + 1, steps)))


@pytest.mark.parametrize("other", [{"uneven": 0.2}, {"turns": True}])
def test_uneven_samples_and_what_turns_have_the_mean_of_both_sides(other):
    times, begins, _ = rates_of(lambda t: 1.0 * t + 0.1 * np.sin(5.0 * t), **other)
    place = times + 0.1 * np.sin(5.0 * times)
    means = np.diff(place) / np.diff(times)
    assert begins[1:-1] == pytest.approx(0.5 * (means[1:] + means[:-1]), abs=1e-12)
