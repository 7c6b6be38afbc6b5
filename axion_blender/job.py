# SPDX-License-Identifier: GPL-3.0-or-later
"""One bake as a state machine.  No bpy: reading the scene and writing the keys are handed in, so any driver can run it.

    READY --gather--> GATHERED --solve--> SOLVED --write--> DONE
    every phase --error--> FAILED,  --cancel--> CANCELLED

``gather`` and ``write`` touch Blender and belong on its main thread; both may be generators, which a driver runs in
slices, and both leave the scene as it was if they fail or are closed.  ``solve`` may run on any thread.  ``run`` does
all three in turn; ``drivers.py`` has the other ways.
"""

import contextlib
import math
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from enum import Enum

from ..solver import SceneError
from .pace import Pace

RECENT = 8
"""Frames whose cost foretells that of the frames to come."""
STARTING, COLLECTING = "Starting the solver", "Collecting the motion"
"""What a job says between reading the scene and its first frame, and after its last one."""

leaving = []
"""Threads that nobody waited for, at the last frame of a job.  The next solve begins when they are gone."""


def wait_for_leaving():
    """Wait until the threads that are ``leaving`` are gone: Warp is one thread's at a time."""
    for thread in list(leaving):
        thread.join()
        with contextlib.suppress(ValueError):  # another that waited was faster
            leaving.remove(thread)


class Phase(Enum):
    """Where a job stands."""

    READY = "ready"
    GATHERED = "scene read"
    SOLVED = "solved"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass
class Job:
    """A bake of ``frames`` frames.

    Attributes:
        gather: () -> solver.Scene, or a generator that yields the part done, 0 to 1, and returns the Scene.
        solve_scene: solver.simulate or its like: (scene, frames, fps=, config=, on_frame=) -> Trajectory.
        write: (Trajectory) -> warnings, a list of sentences; or a generator that yields the part done.
        frames: number of frames after the first.
        fps: frames per second, not necessarily whole.
        config: solver.SolverConfig.
        on_frame: called with each FrameResult.
        on_found: called once with the FrameResults that come from the cache, if any do.
        on_end: called with the job whenever it has ended, from the thread it ended on; twice where a thread was left
            behind, the second time when that is gone.
        first_frame: Blender's number of the frame that the motion begins at.
        phase, error, trajectory, reports, warnings, wall_time: the outcome; ``error`` is the exception of a FAILED job.
        inputs, forces: whatever ``gather`` and ``solve_scene`` leave there for who keeps the report.
        latest: the newest FrameResult.
        said: what takes long besides frames, such as the compiling of kernels; empty most of the time.
        pace: Pace of the frames.
        part: done part of gather or write, 0 to 1.
        worst_residual: of the frames so far [m]; infinite where one was no number.
        missed: number of frames so far that missed the tolerance.
    """

    gather: object
    solve_scene: object
    write: object
    frames: int
    fps: float
    config: object
    on_frame: object = None
    first_frame: int = 1
    phase: Phase = Phase.READY
    error: BaseException | None = None
    scene: object = None
    trajectory: object = None
    reports: list = field(default_factory=list)
    warnings: list = field(default_factory=list)
    wall_time: float = 0.0
    on_found: object = None
    on_end: object = None
    inputs: object = None
    forces: object = None
    latest: object = None
    said: str = ""
    part: float = 0.0
    worst_residual: float = 0.0
    missed: int = 0
    pace: Pace = field(default_factory=lambda: Pace(RECENT))
    _stop: threading.Event = field(default_factory=threading.Event)
    _abort: object = None
    _aborted: bool = False

    def cancel(self):
        """Ask the job to stop after the frame it is at; may be called from any thread.

        A solver that has yet to solve its first one is ended at once where that is possible.
        """
        self._stop.set()
        if self.phase is Phase.GATHERED and not self.pace.solved and self._abort is not None:
            self.abort()

    def may_abort_by(self, end):
        """Tell how to end the solving without waiting for a frame: ``end`` is a function."""
        self._abort = end
        if self.cancelling:
            self.abort()

    def abort(self):
        """End the solving at once where that is possible; returns whether it is."""
        self._stop.set()
        if self._abort is not None:
            self._aborted = True
            self._abort()
        return self._abort is not None

    @property
    def cancelling(self):
        """Whether somebody has asked the job to stop."""
        return self._stop.is_set()

    @property
    def done(self):
        """Whether the keys are written."""
        return self.phase is Phase.DONE

    @property
    def ended(self):
        """Whether nothing will happen any more."""
        return self.phase in (Phase.DONE, Phase.FAILED, Phase.CANCELLED)

    @property
    def solved(self):
        """Number of the newest frame, counted from 1; 0 before the first."""
        return self.latest.frame if self.latest is not None else 0

    @property
    def progress(self):
        """Done part of the phase at hand, 0 to 1: of the frames, or of reading and writing."""
        if self.phase is not Phase.GATHERED:
            return self.part
        return self.solved / self.frames if self.frames else 1.0

    @property
    def time_left(self):
        """Seconds that the frames left will take if they cost what the last ones did; None before the first."""
        return self.pace.left(self.frames - self.solved)

    def run(self):
        """Do all phases here and now.  Returns the last phase; KeyboardInterrupt counts as a cancel."""
        for step in (self.do_gather, self.do_solve, self.do_write):
            if not self.ended:
                step()
        return self.phase

    def do_gather(self):
        """READY -> GATHERED: read the scene."""
        for _ in self.gather_slices():
            pass

    def gather_slices(self):
        """READY -> GATHERED, a slice at a time: an iterator; what it yields is nothing to anybody."""
        with self._step(Phase.READY, Phase.GATHERED):
            self.scene = yield from self._sliced(self.gather())

    def do_solve(self):
        """GATHERED -> SOLVED: compute the motion."""
        with self._step(Phase.GATHERED, Phase.SOLVED):
            self.said = STARTING
            wait_for_leaving()
            self.trajectory = self.solve_scene(
                self.scene, self.frames, fps=self.fps, config=self.config, on_frame=self._one_frame
            )

    def do_write(self):
        """SOLVED -> DONE: hand the motion to Blender."""
        for _ in self.write_slices():
            pass

    def write_slices(self):
        """SOLVED -> DONE, a slice at a time: an iterator."""
        with self._step(Phase.SOLVED, Phase.DONE):
            if self._stop.is_set():
                raise _CancelledError
            self.warnings += (yield from self._sliced(self.write(self.trajectory))) or []

    def _sliced(self, work):
        self.part = 0.0
        if not isinstance(work, Generator):
            self.part = 1.0
            return work
        try:
            while True:
                self.part = next(work)
                yield
                if self._stop.is_set():
                    raise _CancelledError
        except StopIteration as end:
            self.part = 1.0
            return end.value
        finally:
            work.close()

    def end(self, phase, error=None):
        """Nothing will happen any more: phase DONE, FAILED or CANCELLED; error: the exception of a FAILED job."""
        self.phase, self.error = phase, error
        if self.on_end is not None:
            self.on_end(self)

    def take_found(self, results):
        """Count FrameResults that need not be solved, because they were kept from an earlier bake, as done."""
        for result in results:
            self._count(result)
            self.pace.find(result.report.wall_time)
        if self.on_found is not None:
            self.on_found(results)

    def _one_frame(self, result):
        self.said = "" if result.frame < self.frames else COLLECTING
        self._count(result)
        self.pace.solve(result.report.wall_time)
        if self.on_frame is not None:
            self.on_frame(result)
        return not self._stop.is_set()

    def _count(self, result):
        self.reports.append(result.report)
        self.missed += not result.report.converged
        residual = result.report.residual
        self.worst_residual = math.inf if math.isnan(residual) else max(self.worst_residual, residual)
        self.latest = result

    def _step(self, before, after):
        if self.phase is not before:
            raise RuntimeError(f"the bake is {self.phase.value}, so it cannot go on to be {after.value}")
        return _Step(self, after)


class _CancelledError(Exception):
    """Somebody asked the job to stop, between two slices."""


class _Step:
    """One phase: times it, turns what an artist can mend into FAILED, a stop into CANCELLED; a bug goes through."""

    # What the world can do to a bake: a scene that is wrong, a device, a disk or memory that gives out.
    # The solver's ValueErrors are such, too: a device that does not exist; elsewhere a ValueError is a bug.
    FAILURES = (SceneError, OSError, RuntimeError, MemoryError, FloatingPointError, ImportError)

    def __init__(self, job, after):
        self.job, self.after = job, after

    def __enter__(self):
        self.began = time.perf_counter()

    def __exit__(self, kind, error, traceback):
        job = self.job
        job.wall_time += time.perf_counter() - self.began
        job.said = ""
        if error is None and not (job.cancelling and self.after is not Phase.DONE):
            if self.after is Phase.DONE:
                job.end(Phase.DONE)
            else:
                job.phase = self.after
            return True
        aborted = job._aborted and isinstance(error, RuntimeError)
        if error is None or aborted or isinstance(error, (KeyboardInterrupt, _CancelledError, GeneratorExit)):
            job.end(Phase.CANCELLED)
            return not isinstance(error, GeneratorExit)
        job.end(Phase.FAILED, error)
        return isinstance(error, self.FAILURES) or (self.after is Phase.SOLVED and isinstance(error, ValueError))
