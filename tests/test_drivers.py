# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver of the window by simulated ticks, without Blender and without a solver."""

import threading
import time
from types import SimpleNamespace

import pytest
from axion.axion_blender.drivers import Ticker
from axion.axion_blender.job import Job, Phase, leaving
from axion.solver import SceneError, StepReport

PATIENCE = 20.0
"""Seconds after which a test gives up; none should need one."""


class Stage:
    """Notes which thread each phase ran on; a frame waits until ``let`` allows one more."""

    def __init__(self, frames=3, free=True, error=None):
        self.threads, self.error, self.taken_back, self.written = {}, error, False, 0
        self.gate = threading.Semaphore(frames if free else 0)
        self.job = Job(self.gather, self.solve, self.write, frames, 24.0, "config")
        self.ticker = Ticker(self.job, slice_time=0.0)  # a slice a tick

    def gather(self):
        self.threads["gather"] = threading.current_thread()
        try:
            yield from (0.0, 0.5)
        except GeneratorExit:
            self.taken_back = True
            raise
        return "scene"

    def solve(self, scene, frames, fps, config, on_frame):
        self.threads["solve"] = threading.current_thread()
        for frame in range(1, frames + 1):
            assert self.gate.acquire(timeout=PATIENCE)
            if self.error is not None:
                raise self.error
            if on_frame(SimpleNamespace(frame=frame, report=StepReport(frame))) is False:
                break
        return "trajectory"

    def write(self, trajectory):
        self.threads["write"] = threading.current_thread()
        try:
            for self.written in (1, 2, 3):
                yield self.written / 3
        except GeneratorExit:
            self.taken_back = True
            raise
        return ["beware"]

    def tick_until(self, reached):
        """Tick until ``reached()``; returns how many ticks it took."""
        until = time.monotonic() + PATIENCE
        for count in range(1, 1_000_000):
            self.ticker.tick()
            if reached():
                return count
            assert time.monotonic() < until, f"the job stays {self.job.phase.value}"
            time.sleep(0.001)
        return None


def test_reads_and_writes_here_and_solves_elsewhere():
    stage = Stage()
    assert stage.tick_until(lambda: stage.job.ended) > 6, "reading and writing take a tick a slice"
    here = threading.current_thread()
    assert stage.job.done and stage.job.warnings == ["beware"]
    assert stage.threads["gather"] is here and stage.threads["write"] is here and stage.threads["solve"] is not here
    assert not stage.threads["solve"].is_alive()


def test_a_tick_does_not_wait_for_a_frame():
    stage = Stage(free=False)
    stage.tick_until(lambda: stage.job.phase is Phase.GATHERED)
    began = time.monotonic()
    assert [stage.ticker.tick() for _ in range(5)] == [False] * 5
    assert time.monotonic() - began < 1.0
    stage.gate.release(3)
    stage.tick_until(lambda: stage.job.done)


def test_cancel_ends_after_the_frame_at_hand():
    stage = Stage(frames=10, free=False)
    stage.gate.release(2)
    stage.tick_until(lambda: stage.job.solved == 2)
    stage.job.cancel()
    stage.gate.release()
    stage.tick_until(lambda: stage.job.ended)
    assert stage.job.phase is Phase.CANCELLED and stage.job.solved == 3 and not stage.written


@pytest.mark.parametrize("error", (SceneError("Box: too heavy"), RuntimeError("device lost")))
def test_a_failure_on_the_thread_is_the_jobs(error):
    stage = Stage(error=error)
    stage.tick_until(lambda: stage.job.ended)
    assert stage.job.phase is Phase.FAILED and stage.job.error is error


def test_a_bug_on_the_thread_is_raised_by_a_tick():
    stage = Stage(error=TypeError("a bug"))
    with pytest.raises(TypeError, match="a bug"):
        stage.tick_until(lambda: False)
    assert stage.job.phase is Phase.FAILED


def test_closing_takes_back_what_is_read():
    stage = Stage()
    stage.ticker.tick()
    stage.ticker.close()
    assert stage.taken_back and stage.job.phase is Phase.CANCELLED and stage.ticker.tick() is True


def test_closing_waits_for_the_frame_at_hand():
    stage = Stage(frames=5, free=False)
    stage.tick_until(lambda: stage.job.phase is Phase.GATHERED and "solve" in stage.threads)
    threading.Timer(0.05, stage.gate.release).start()
    stage.ticker.close()
    assert stage.job.phase is Phase.CANCELLED and stage.job.solved == 1 and not stage.threads["solve"].is_alive()


def test_closing_takes_back_what_is_being_written():
    stage = Stage()
    stage.tick_until(lambda: stage.written == 1)
    stage.ticker.close()
    assert stage.taken_back and stage.written == 1 and stage.job.phase is Phase.CANCELLED


def test_a_thread_that_was_left_is_waited_for_by_the_next():
    first, second = Stage(frames=5, free=False), Stage()
    first.tick_until(lambda: "solve" in first.threads)
    first.ticker.close(patience=0.0)
    assert first.job.phase is Phase.CANCELLED and leaving == [first.threads["solve"]]
    second.tick_until(lambda: second.job.phase is Phase.GATHERED)
    for _ in range(5):
        second.ticker.tick()
    assert "solve" not in second.threads
    first.gate.release()
    second.tick_until(lambda: second.job.ended)
    assert second.job.done and not first.threads["solve"].is_alive() and not leaving


def test_a_thread_that_was_left_is_waited_for_by_a_bake_that_blocks():
    first, second = Stage(frames=5, free=False), Stage()
    first.tick_until(lambda: "solve" in first.threads)
    first.ticker.close(patience=0.0)
    alive = []
    solve = second.job.solve_scene
    second.job.solve_scene = lambda *given, **named: (
        alive.append(first.threads["solve"].is_alive()) or solve(*given, **named)
    )
    threading.Timer(0.2, first.gate.release).start()
    assert second.job.run() is Phase.DONE and alive == [False] and not leaving
