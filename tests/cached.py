# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes with a cache, without Blender."""

from types import SimpleNamespace

import numpy as np
from axion.axion_blender.cache import Place, cached_solve, solve
from axion.solver import Body, Box, MotionPath, SolverConfig, simulate
from scenes import pile

CPU = SolverConfig(device="cpu")
OWNER = {"blend": "shot.blend", "scene": "Scene"}
ARRAYS = ("times", "position", "orientation", "linear_velocity", "angular_velocity")


def small_files(monkeypatch, frames=3):
    """Files of so many frames, without regard to the clock."""
    monkeypatch.setattr(solve, "FRAMES_LEAST", frames)
    monkeypatch.setattr(solve, "FRAMES_MOST", frames)
    monkeypatch.setattr(solve, "SECONDS_MOST", 1e9)


def table(times, height=lambda t: 0.1 * np.sin(5.0 * t)):
    """Boxes on a table that moves by a path with a sample at each of ``times`` [s]."""
    scene, times = pile(2), np.asarray(times, float)
    place = np.stack([0.0 * times, 0.0 * times, height(times) - 0.2], axis=1)
    path = MotionPath(times, place, np.tile([0.0, 0.0, 0.0, 1.0], (len(times), 1)))
    scene.add(Body("Table", [Box((1.0, 1.0, 0.1))], motion="kinematic", path=path))
    return scene


def bake(folder, scene, frames, stop_at=None, config=CPU, **options):
    """Solve with the cache in ``folder``; stop_at: frame after which on_frame says no.

    Gives trajectory, progress, solved (frames), found (frames) and what was said and warned of.
    """
    out = SimpleNamespace(solved=[], found=[], said=[], warned=[])

    def on_frame(result):
        out.solved.append(result.frame)
        return result.frame != stop_at

    def on_found(results):
        out.found.extend(result.frame for result in results)

    given = {"say": out.said.append, "warn": out.warned.append, "on_found": on_found}
    solver, fps = options.pop("simulate", simulate), options.pop("fps", 24.0)
    place = Place(folder, OWNER)
    out.trajectory, out.progress = cached_solve(place, solver, scene, frames, fps, config, on_frame, **given, **options)
    return out


class Asked(Exception):  # noqa: N818
    """The solver is asked to solve."""


def first_to_solve(folder, scene, frames, **options):
    """The frame at which the solver would begin; frames + 1 where it is not asked.  The cache stays as it is."""

    def ask(*given, resume=None, **named):
        raise Asked(1 if resume is None else resume.frame + 1)

    try:
        bake(folder, scene, frames, simulate=ask, **options)
    except Asked as asked:
        return asked.args[0]
    return frames + 1


def assert_same(found, wanted):
    """Every number of two Trajectories but the times they took."""
    for name in ARRAYS:
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
    for report in (*found.reports, *wanted.reports):
        report.wall_time = 0.0
    assert found.reports == wanted.reports and found.names == wanted.names
    assert list(found.broken_joints.items()) == list(wanted.broken_joints.items())
