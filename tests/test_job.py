# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake as a state machine, without Blender and without a solver: what it does in which order, and how it ends."""

from types import SimpleNamespace

import pytest
from axion.axion_blender.job import Job, Phase
from axion.solver import SceneError, StepReport


class Stage:
    """Stands for Blender and the solver; notes what was called."""

    def __init__(self, frames=5, fail_in=None, error=None, on_frame=None):
        self.calls, self.fail_in, self.error = [], fail_in, error
        self.job = Job(self.gather, self.solve, self.write, frames, 24.0, "config", on_frame)

    def note(self, name):
        self.calls.append(name)
        if name == self.fail_in:
            raise self.error

    def gather(self):
        self.note("gather")
        return "scene"

    def solve(self, scene, frames, fps, config, on_frame):
        assert (scene, fps, config) == ("scene", 24.0, "config")
        for frame in range(1, frames + 1):
            self.note(f"frame {frame}")
            if on_frame(SimpleNamespace(frame=frame, report=StepReport(frame=frame))) is False:
                break
        return "trajectory"

    def write(self, trajectory):
        assert trajectory == "trajectory"
        self.note("write")
        return ["beware"]


def test_a_bake_goes_from_reading_to_writing():
    stage = Stage()
    assert stage.job.run() is Phase.DONE
    assert stage.calls == ["gather", *(f"frame {n}" for n in range(1, 6)), "write"]
    assert [report.frame for report in stage.job.reports] == [1, 2, 3, 4, 5]
    assert stage.job.progress == 1.0 and stage.job.warnings == ["beware"] and stage.job.done


@pytest.mark.parametrize("where", ("gather", "frame 3", "write"))
@pytest.mark.parametrize("error", (SceneError("Box: mass is -1"), OSError("disk full"), RuntimeError("device lost")))
def test_a_failure_keeps_its_reason_and_ends_the_bake(where, error):
    stage = Stage(fail_in=where, error=error)
    assert stage.job.run() is Phase.FAILED
    assert stage.job.error is error
    assert stage.calls[-1] == where
    assert stage.calls.count("write") == (where == "write")


def test_what_the_solver_refuses_is_a_failure_and_elsewhere_a_bug():
    refused = Stage(fail_in="frame 1", error=ValueError('device is "cuda", but no CUDA device was found'))
    assert refused.job.run() is Phase.FAILED and refused.job.error is refused.error
    for where in ("gather", "write"):
        with pytest.raises(ValueError, match="a bug"):
            Stage(fail_in=where, error=ValueError("a bug")).job.run()


def test_a_bug_is_not_swallowed():
    stage = Stage(fail_in="frame 2", error=TypeError("a bug"))
    with pytest.raises(TypeError):
        stage.job.run()
    assert stage.job.phase is Phase.FAILED


@pytest.mark.parametrize("where", ("gather", "frame 3", "write"))
def test_ctrl_c_is_a_cancel(where):
    stage = Stage(fail_in=where, error=KeyboardInterrupt())
    assert stage.job.run() is Phase.CANCELLED
    assert stage.job.error is None and stage.calls[-1] == where


def test_a_cancel_lets_the_frame_finish_and_writes_nothing():
    stage = Stage(on_frame=lambda result: stage.job.cancel() if result.frame == 2 else None)
    assert stage.job.run() is Phase.CANCELLED
    assert stage.calls == ["gather", "frame 1", "frame 2"]


@pytest.mark.parametrize(("end", "phase"), (("cancel", Phase.FAILED), ("abort", Phase.CANCELLED)))
def test_only_an_abort_excuses_a_failure(end, phase):
    stage = Stage(on_frame=lambda result: getattr(stage.job, end)())

    def solve(*given, **named):
        stage.solve(*given, **named)
        raise RuntimeError("the disk is full")

    stage.job.solve_scene = solve
    stage.job.may_abort_by(lambda: None)
    assert stage.job.run() is phase


def test_a_cancel_while_the_scene_is_read_stops_before_the_solver():
    stage = Stage()
    stage.job.cancel()
    assert stage.job.run() is Phase.CANCELLED
    assert stage.calls == ["gather"]


def test_phases_cannot_be_skipped_or_repeated():
    stage = Stage()
    with pytest.raises(RuntimeError, match="ready"):
        stage.job.do_write()
    stage.job.run()
    with pytest.raises(RuntimeError, match="done"):
        stage.job.do_gather()


def test_progress_tells_frames_time_left_and_the_worst():
    stage, seen = Stage(frames=4), []
    costs, residuals = (1.0, 2.0, 3.0, 2.0), (1e-6, 4e-6, 2e-6, float("nan"))

    def solve(scene, frames, fps, config, on_frame):
        assert stage.job.time_left is None
        for frame, cost, residual in zip(range(1, 5), costs, residuals, strict=True):
            on_frame(SimpleNamespace(frame=frame, report=StepReport(frame, wall_time=cost, residual=residual)))
            seen.append((stage.job.progress, stage.job.time_left, stage.job.worst_residual))
        return "trajectory"

    stage.job.solve_scene = solve
    stage.job.run()
    assert seen == [(0.25, 3.0, 1e-6), (0.5, 3.0, 4e-6), (0.75, 3.0, 4e-6), (1.0, 0.0, float("inf"))]


def test_it_says_that_the_solver_starts_and_that_the_motion_is_collected():
    stage, said = Stage(frames=3), []
    solve = stage.solve

    def listening(scene, frames, fps, config, on_frame):
        said.append(stage.job.said)
        return solve(scene, frames, fps, config, lambda result: (on_frame(result), said.append(stage.job.said))[0])

    stage.job.solve_scene = listening
    stage.job.run()
    assert said == ["Starting the solver", "", "", "Collecting the motion"] and stage.job.said == ""


@pytest.mark.parametrize("when", ("while it starts", "before it can be ended", "after a frame"))
def test_a_cancel_ends_a_solver_that_is_still_starting_at_once(when):
    """One that solves frames ends after the one at hand, so that the cache has it."""
    stage, ended = Stage(frames=3), []
    job = stage.job

    def end():
        ended.append(job.pace.solved)
        raise RuntimeError("the process died")  # as its listener says where it is killed

    def solve(scene, frames, fps, config, on_frame):
        if when == "before it can be ended":
            job.cancel()
            job.may_abort_by(end)
        job.may_abort_by(end)
        if when == "while it starts":
            job.cancel()
        on_frame(SimpleNamespace(frame=1, report=StepReport(1)))
        job.cancel()
        assert on_frame(SimpleNamespace(frame=2, report=StepReport(2))) is False
        return "trajectory"

    job.solve_scene = solve
    assert job.run() is Phase.CANCELLED
    assert ended == ([] if when == "after a frame" else [0])


def sliced(stage, name, answer):
    """A gather or write in three slices, which notes how it ends."""

    def work(*_):
        try:
            for number in range(3):
                stage.note(f"{name} {number}")
                yield number / 3
        except GeneratorExit:
            stage.calls.append(f"{name} taken back")
            raise
        return answer

    return work


def test_reading_and_writing_in_slices():
    stage = Stage(frames=1)
    stage.job.gather, stage.job.write = sliced(stage, "gather", "scene"), sliced(stage, "write", ["beware"])
    parts = [stage.job.progress for _ in stage.job.gather_slices()]
    assert parts == [0.0, 1 / 3, 2 / 3] and stage.job.phase is Phase.GATHERED and stage.job.scene == "scene"
    stage.job.do_solve()
    assert [stage.job.progress for _ in stage.job.write_slices()] == parts
    assert stage.job.done and stage.job.warnings == ["beware"]


def test_a_cancel_between_slices_takes_back_what_is_read_or_written():
    stage = Stage(frames=1)
    stage.job.gather = sliced(stage, "gather", "scene")
    for _ in stage.job.gather_slices():
        stage.job.cancel()
    assert stage.calls == ["gather 0", "gather taken back"] and stage.job.phase is Phase.CANCELLED
    stage = Stage(frames=1)
    stage.job.write = sliced(stage, "write", [])
    stage.job.do_gather()
    stage.job.do_solve()
    for _ in stage.job.write_slices():
        stage.job.cancel()
    assert stage.calls[-2:] == ["write 0", "write taken back"] and stage.job.phase is Phase.CANCELLED


def test_a_cancel_before_the_writing_writes_nothing():
    stage = Stage(frames=1)
    stage.job.do_gather()
    stage.job.do_solve()
    stage.job.cancel()
    stage.job.do_write()
    assert stage.job.phase is Phase.CANCELLED and "write" not in stage.calls
