# SPDX-License-Identifier: GPL-3.0-or-later
"""The road of a CUDA device, on one whose memory the host cannot reach (far_device.py)."""

import numpy as np
import pytest
import warp as wp
from axion.solver import Body, Box, MotionPath, Plane, Scene, SolverConfig, Sphere, TriangleMesh, simulate
from axion.solver.arrays import host_view
from far_device import FarDeviceError, far_device
from scenes import pendulum, pile, stack


def on_mesh():
    """A box and a ball on a table that is a mesh and moves."""
    corners = np.array([[x, y, 0.0] for x in (-2.0, 2.0) for y in (-2.0, 2.0)])
    table = TriangleMesh(corners, np.array([[0, 2, 3], [0, 3, 1]]))
    times = np.array([0.0, 1.0])
    path = MotionPath(times, np.array([[0.0, 0, 0], [0.0, 0, 0.2]]), np.tile([0.0, 0, 0, 1], (2, 1)))
    scene = Scene(bodies=[Body("Table", [table], motion="kinematic", path=path)])
    scene.add(Body("Box", [Box((0.2, 0.2, 0.2))], position=(0.5, 0, 0.21)))
    scene.add(Body("Ball", [Sphere(0.2)], position=(-0.5, 0, 0.21)))
    return scene


def many():
    """More pairs of shapes than are looked at one by one, and a ball that bounces among them."""
    scene = Scene(bodies=[Body("Floor", [Plane()], motion="static", restitution=0.8)])
    for k in range(46):
        scene.add(Body(f"Box {k}", [Box((0.1, 0.1, 0.1))], position=(0.5 * (k % 7), 0.5 * (k // 7), 0.1)))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0.25, 0.25, 0.15), restitution=0.8, linear_velocity=(0, 0, -3)))
    return scene


SCENES = {"stack": stack(3), "pendulum": pendulum(), "mesh": on_mesh(), "many": many()}


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_without_reach_into_its_memory_the_motion_is_the_same(monkeypatch, scene):
    """Islands without joints iterate there instead of the direct solve, so the motions differ by what solves leave."""
    wanted = simulate(scene, 5, config=SolverConfig(device="cpu", precision="float64"))
    with far_device(monkeypatch) as (_, count):
        found = simulate(scene, 5, config=SolverConfig(device="cuda:0", precision="float64"))
    assert count["replay"] > 10 and count["to host"] > 10 and count["to device"] > 10
    tolerance = max(SolverConfig().tolerances())
    assert np.abs(found.position - wanted.position).max() < tolerance
    assert all(report.converged for report in found.reports)


@pytest.mark.parametrize("method", ["proximal", "schur"])
def test_it_works_in_single_precision_by_default(monkeypatch, method):
    with far_device(monkeypatch):
        found = simulate(pile(4), 3, config=SolverConfig(device="cuda:0", method=method))
    assert all(report.converged for report in found.reports)
    assert np.isfinite(found.position).all() and found.position[-1, 1:, 2].max() < found.position[0, 1:, 2].max()


@pytest.mark.parametrize(("scene", "waits", "copies"), [("stack", 5, 65), ("pendulum", 4, 62)])
def test_a_step_waits_for_the_device_a_few_times(monkeypatch, scene, waits, copies):
    """For the number of contacts, of points, the contacts, the solution and the judgement; the last two, and those of
    the velocity phase.  docs/solver.md tells these numbers.  All else that is copied holds nobody up.
    """
    done = []
    for frames in (4, 8):
        with far_device(monkeypatch) as (_, count):
            simulate(SCENES[scene], frames, config=SolverConfig(device="cuda:0", precision="float64", substeps=2))
        done.append(count)
    a_step = {what: (done[1][what] - done[0][what]) / 8 for what in done[1]}
    assert a_step["wait"] <= waits and a_step["to device"] <= copies, a_step
    assert a_step["launch"] == a_step["record"] == 0, a_step


def test_the_far_device_forbids_what_cuda_does(monkeypatch):
    with far_device(monkeypatch) as (far, count):
        there, here = wp.zeros(3, dtype=float, device=far), wp.zeros(3, dtype=float, device="cpu")
        with pytest.raises(FarDeviceError, match="view"):
            host_view(there)
        assert host_view(here) is host_view(here) and not count["to host"]
