# SPDX-License-Identifier: GPL-3.0-or-later
"""simulate: what it returns, when it stops, what it refuses, and what its reports tell."""

import numpy as np
import pytest
from axion.solver import Body, Plane, Scene, SceneError, SolverConfig, Sphere, resolve, simulate
from axion.solver.simulate import _worst_names
from scenes import chain, falling, stack

CPU = SolverConfig(device="cpu")


def test_shapes_names_and_times():
    trajectory = simulate(stack(2), 6, 12.0, CPU)
    assert trajectory.names == ["Ground", "Box 1", "Box 2"]
    assert trajectory.times == pytest.approx(np.arange(7) / 12.0)
    assert trajectory.position.shape == (7, 3, 3) and trajectory.orientation.shape == (7, 3, 4)
    assert [report.frame for report in trajectory.reports] == [1, 2, 3, 4, 5, 6]
    assert np.abs(np.linalg.norm(trajectory.orientation, axis=2) - 1.0).max() < 1e-14
    assert all(report.wall_time > 0.0 for report in trajectory.reports)


def test_frame_zero_is_the_start_and_no_frames_are_allowed():
    scene = stack(1)
    trajectory = simulate(scene, 0, config=CPU)
    assert trajectory.position.shape == (1, 2, 3) and trajectory.reports == []
    assert trajectory.position[0, 1] == pytest.approx(scene.bodies[1].position)


def test_every_frame_is_handed_over_and_false_stops():
    seen = []

    def look(result):
        seen.append(result)
        return result.frame < 3

    trajectory = simulate(falling(), 10, config=CPU, on_frame=look)
    assert [result.frame for result in seen] == [1, 2, 3]
    assert len(trajectory.times) == 4 and len(trajectory.reports) == 3
    for result in seen:
        assert result.time == pytest.approx(result.frame / 24.0)
        assert np.array_equal(result.position, trajectory.position[result.frame])
        assert np.array_equal(result.linear_velocity, trajectory.linear_velocity[result.frame])
        assert result.report is trajectory.reports[result.frame - 1]


def test_only_false_stops():
    for answer in (None, 0, "", True):
        assert len(simulate(falling(), 3, config=CPU, on_frame=lambda result, answer=answer: answer).reports) == 3


def test_the_scene_is_left_as_it_was():
    scene = stack(2)
    before = [body.position.copy() for body in scene.bodies]
    simulate(scene, 3, config=CPU)
    assert all(np.array_equal(a, body.position) for a, body in zip(before, scene.bodies, strict=True))


def test_empty_and_idle_scenes():
    assert simulate(Scene(), 2, config=CPU).position.shape == (3, 0, 3)
    assert all(report.converged for report in simulate(stack(0), 2, config=CPU).reports)


@pytest.mark.parametrize(
    ("frames", "fps"), [(-1, 24), (1.5, 24), (True, 24), ("3", 24), (1, 0), (1, -24), (1, np.nan), (1, np.inf)]
)
def test_arguments_out_of_range(frames, fps):
    with pytest.raises(ValueError, match="give a"):
        simulate(falling(), frames, fps, CPU)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"on_frame": 5}, "on_frame is 5: give a function that takes a FrameResult, or None"),
        ({"say": "aloud"}, "say is 'aloud': give a function that takes a sentence, or None"),
        ({"resume": 12}, "resume is 12: give a Checkpoint, or None"),
        ({"config": None}, "config is None: give a SolverConfig"),
        ({"scene": {}}, "Scene: it is {}: give a Scene"),
        ({"scene": None}, "Scene: it is None: give a Scene"),
    ],
)
def test_arguments_of_another_kind(argument, words):
    with pytest.raises(ValueError) as caught:
        simulate(**{"scene": falling(), "frames": 1, "config": CPU, **argument})
    assert str(caught.value) == words


def test_an_invalid_scene_is_refused_before_anything_runs():
    scene = falling()
    scene.add(Body("Body", [Sphere(0.1)]))
    with pytest.raises(SceneError, match="Body"):
        simulate(scene, 1, config=CPU, on_frame=lambda result: pytest.fail("a frame was simulated"))


def test_substeps_fixed_by_the_user_are_kept():
    trajectory = simulate(falling(), 4, config=SolverConfig(device="cpu", substeps=5))
    assert [report.substeps for report in trajectory.reports] == [5] * 4


def test_the_report_tells_the_worst_residual_at_the_length_of_its_step():
    # One step a frame, joints alone: all residuals of the position phase are lengths of that step, or velocities in it.
    step = 1.0 / 24.0
    reports = simulate(chain(4, sideways=True), 6, config=CPU).reports
    assert all(report.substeps == 1 for report in reports)
    for report in reports:
        lengths = report.joint_error, report.joint_error_angle
        velocities = report.momentum_residual, report.velocity_residual
        assert report.residual >= max(*lengths, step * report.velocity_residual)
        assert report.residual <= max(*lengths, *(step * v for v in velocities)) * (1.0 + 1e-9)
        assert report.converged and report.residual <= CPU.tolerances()[1]
        assert report.velocity_residual > 0.0
        assert set(report.worst_joints) <= {f"Joint {i + 1}" for i in range(4)} and report.worst_joints
        assert report.contradictory_joints == []


def test_the_worst_bodies_do_not_hang_on_the_order_of_the_scene():
    found = []
    for names in (("Floor", "Left", "Right", "Far"), ("Far", "Right", "Left", "Floor")):
        scene = Scene()
        for name in names:
            if name == "Floor":
                scene.add(Body(name, [Plane()], motion="static"))
            else:  # two alike, in the floor by as much, and one that touches nothing
                place = {"Left": (-2.0, 0.0, 0.4), "Right": (2.0, 0.0, 0.4), "Far": (0.0, 9.0, 50.0)}[name]
                scene.add(Body(name, [Sphere(0.5)], position=place))
        config = SolverConfig(device="cpu", tolerance=1e-12)  # out of reach, so that everybody keeps a residual
        found.append(simulate(scene, 1, 24.0, config).reports[0].worst_bodies)
    assert found[0] == found[1] and found[0][0] in ("Left", "Right")


@pytest.mark.parametrize(
    ("residual", "moves", "worst"),
    (
        ((1.0, 1.0, 1.0, 1.0), (0, 1, 1, 1), ["a", "b", "c"]),
        ((2.0, 1.0, 1.0, 0.0), (0, 1, 0, 1), ["d", "c", "b"]),
        ((1.0, np.nan, 3.0, np.inf), (1, 1, 1, 1), ["a", "c", "b"]),
        ((0.0, 0.0, 0.0, 0.0), (1, 1, 1, 1), []),
    ),
)
def test_of_equals_those_that_move_are_named_first(residual, moves, worst):
    assert _worst_names(["d", "c", "b", "a"], np.array(residual), np.array(moves, bool)) == worst
    order = [2, 0, 3, 1]
    names, residual, moves = (np.array(column)[order] for column in (["d", "c", "b", "a"], residual, moves))
    assert _worst_names(list(names), residual, moves) == worst


def test_a_cuda_driver_that_is_too_old_is_not_taken(monkeypatch):
    monkeypatch.setattr("warp.is_cuda_available", lambda: True)
    monkeypatch.setattr("warp.is_conditional_graph_supported", lambda: False)
    monkeypatch.setattr("warp.get_cuda_driver_version", lambda: (12, 2))
    with pytest.raises(ValueError, match=r'"cuda:0", but the NVIDIA driver knows CUDA 12\.2 only, and 12\.4 is needed'):
        simulate(falling(), 1, config=SolverConfig(device="cuda:0"))
    assert resolve(SolverConfig(device="auto")) == ("cpu", "float64")
