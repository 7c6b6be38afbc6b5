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
        self.job = Job(self.gather, self.solve, self.write, self.undo, frames, 24.0, "config", on_frame)

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

    def undo(self):
        self.note("undo")


def test_a_bake_goes_from_reading_to_writing():
    stage = Stage()
    assert stage.job.run() is Phase.DONE
    assert stage.calls == ["gather", *(f"frame {n}" for n in range(1, 6)), "write"]
    assert [report.frame for report in stage.job.reports] == [1, 2, 3, 4, 5]
    assert stage.job.progress == 1.0 and stage.job.warnings == ["beware"] and stage.job.done


@pytest.mark.parametrize("where", ("gather", "frame 3", "write"))
@pytest.mark.parametrize("error", (SceneError("Box: mass is -1"), OSError("disk full"), RuntimeError("device lost")))
def test_a_failure_keeps_its_reason_and_puts_the_scene_back(where, error):
    stage = Stage(fail_in=where, error=error)
    assert stage.job.run() is Phase.FAILED
    assert stage.job.error is error
    assert stage.calls[-2:] == [where, "undo"]
    assert stage.calls.count("write") == (where == "write")


def test_a_bug_is_not_swallowed_but_the_scene_is_put_back():
    stage = Stage(fail_in="frame 2", error=TypeError("a bug"))
    with pytest.raises(TypeError):
        stage.job.run()
    assert stage.job.phase is Phase.FAILED and stage.calls[-1] == "undo"


@pytest.mark.parametrize("where", ("gather", "frame 3", "write"))
def test_ctrl_c_is_a_cancel(where):
    stage = Stage(fail_in=where, error=KeyboardInterrupt())
    assert stage.job.run() is Phase.CANCELLED
    assert stage.job.error is None and stage.calls[-1] == "undo"


def test_a_cancel_lets_the_frame_finish_and_writes_nothing():
    stage = Stage(on_frame=lambda result: stage.job.cancel() if result.frame == 2 else None)
    assert stage.job.run() is Phase.CANCELLED
    assert stage.calls == ["gather", "frame 1", "frame 2", "undo"]


def test_a_cancel_while_the_scene_is_read_stops_before_the_solver():
    stage = Stage()
    stage.job.cancel()
    assert stage.job.run() is Phase.CANCELLED
    assert stage.calls == ["gather", "undo"]


def test_phases_cannot_be_skipped_or_repeated():
    stage = Stage()
    with pytest.raises(RuntimeError, match="ready"):
        stage.job.do_write()
    stage.job.run()
    with pytest.raises(RuntimeError, match="done"):
        stage.job.do_gather()
