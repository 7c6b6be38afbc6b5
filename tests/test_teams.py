# SPDX-License-Identifier: GPL-3.0-or-later
"""Teams share out what their islands have: each thing to one thread, and all threads of a team are reckoned with."""

import numpy as np
import pytest
import warp as wp
from axion.solver import teams
from axion.solver.arrays import allocate, upload


@wp.kernel(module="axion_test_teams", enable_backward=False)
def visit(
    team: teams.TeamArrays, width: wp.int32, start: wp.array(dtype=wp.int32), found: wp.array(dtype=wp.int32),
    added: wp.array(dtype=wp.float64),
):  # fmt: skip
    part = wp.tid() // width
    island = team.island[part]
    own = wp.float64(0.0)
    first = teams.begin(team, part, wp.tid() - part * width, width, start[island])
    for m in range(first, start[island + 1], teams.stride(team, part, width)):
        wp.atomic_add(found, m, 1)
        own += wp.float64(m)
    if width == 1:  # the CPU does not wait
        added[island] = teams.sums(wp.vec2d(own, wp.float64(0.0)), team, part)[0]


def islands(seed, count, most):
    return np.random.default_rng(seed).integers(1, most + 1, count)


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize(("count", "most"), [(1, 1), (1, 20000), (300, 3), (40, 700), (2, 129)])
def test_parts_lie_side_by_side_and_there_is_room_for_them(count, most, near):
    bodies, numbers = islands(count + most, count, most), 2 * np.arange(count) + 1
    island, first, size = teams.parts_of(numbers, bodies, near)
    assert np.array_equal(np.unique(island), numbers)
    island = island // 2
    assert np.array_equal(np.unique(island), np.arange(count)) and (np.diff(island) >= 0).all()
    parts = np.bincount(island)
    assert np.array_equal(parts[island], size)
    assert np.array_equal(np.flatnonzero(np.append(True, np.diff(island) > 0))[island], first)
    want = np.ones(count) if near else np.clip(np.ceil(bodies / teams.PER_BLOCK), 1, teams.MOST_BLOCKS)
    assert np.array_equal(parts, want)
    assert len(island) <= teams.most_parts(count, bodies.sum())


@pytest.mark.parametrize("width", [1, 4, 256])
@pytest.mark.parametrize("most", [5, 900])
def test_each_thing_goes_to_one_thread(width, most):
    things = islands(most, 30, most)
    columns = teams.parts_of(np.arange(len(things)), things, near=width == 1)
    team = allocate(teams.TeamArrays, {}, len(columns[0]), "cpu")
    for name, values in zip(("island", "first", "size"), columns, strict=True):
        upload(getattr(team, name), values)
    start = wp.array(np.append(0, np.cumsum(things)), dtype=wp.int32, device="cpu")
    found = wp.zeros(int(things.sum()), dtype=wp.int32, device="cpu")
    added = wp.zeros(len(things), dtype=wp.float64, device="cpu")
    wp.launch(visit, len(columns[0]) * width, inputs=[team, width, start, found, added], device="cpu")
    assert (found.numpy() == 1).all()
    if width == 1:
        numbers = np.split(np.arange(things.sum()), np.cumsum(things)[:-1])
        assert added.numpy().tolist() == [values.sum() for values in numbers]
