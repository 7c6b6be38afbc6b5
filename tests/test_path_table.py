# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths asked all at once say what each of them says by itself, to the last bit."""

import numpy as np
from axion.solver import Body, Box, MotionPath
from axion.solver.path_table import PathTable


def path(times, seed):
    random = np.random.default_rng(seed)
    turn = random.normal(size=(len(times), 4))
    return MotionPath(times, random.normal(size=(len(times), 3)), turn / np.linalg.norm(turn, axis=1)[:, None])


def test_all_paths_at_once_are_each_by_itself():
    common, own = np.linspace(0.0, 1.0, 9), np.array([0.3, 0.35, 2.0])
    paths = {1: path(common, 1), 2: path(own, 2), 4: path(common.copy(), 3), 5: path(np.zeros(1), 4)}
    bodies = [Body(f"B{i}", [Box((1, 1, 1))], motion="kinematic", path=paths.get(i)) for i in range(6)]
    bodies.append(Body("Free", [Box((1, 1, 1))], path=path(common, 5)))  # it is let go at the end of its path
    table = PathTable(bodies)
    assert [i for i in range(7) if table.row[i] >= 0] == [1, 2, 4, 5]
    assert sorted(table.row[[1, 2, 4, 5]]) == [0, 1, 2, 3]
    for time in (-1.0, 0.0, 0.125, 0.32, 0.35, 0.9, 1.0, 1.5, 2.0, 3.0):
        poses = table.poses(time)
        for i, alone in paths.items():
            for found, wanted in zip(poses, alone.pose(time), strict=True):
                assert np.array_equal(found[table.row[i]], wanted), (i, time)
