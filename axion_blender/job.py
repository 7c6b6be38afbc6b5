# SPDX-License-Identifier: GPL-3.0-or-later
"""One bake as a state machine.  No bpy: reading the scene and writing the keys are handed in, so any driver can run it.

    READY --gather--> GATHERED --solve--> SOLVED --write--> DONE
    every phase --error--> FAILED,  --cancel--> CANCELLED

``gather`` and ``write`` touch Blender and belong on its main thread; ``solve`` does not and may run on any.  ``run``
does all three in turn.  After a failure or a cancel the job calls ``undo``, so that nothing is left half done.
"""

import threading
import time
from dataclasses import dataclass, field
from enum import Enum

from ..solver import SceneError


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
        gather: () -> solver.Scene.
        solve_scene: solver.simulate or its like: (scene, frames, fps=, config=, on_frame=) -> Trajectory.
        write: (Trajectory) -> warnings, a list of sentences.
        undo: () -> None, puts back whatever gather changed.
        frames: number of frames after the first.
        fps: frames per second, not necessarily whole.
        config: solver.SolverConfig.
        on_frame: called with each FrameResult.
        on_found: called once with the FrameResults that come from the cache, if any do.
        first_frame: Blender's number of the frame that the motion begins at.
        phase, error, trajectory, reports, warnings, wall_time: the outcome; ``error`` is the exception of a FAILED job.
    """

    gather: object
    solve_scene: object
    write: object
    undo: object
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
    _stop: threading.Event = field(default_factory=threading.Event)

    def cancel(self):
        """Ask the job to stop after the frame it is at; may be called from any thread."""
        self._stop.set()

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
    def progress(self):
        """Solved part of the frames, 0 to 1."""
        return len(self.reports) / self.frames if self.frames else 1.0

    def run(self):
        """Do all phases here and now.  Returns the last phase; KeyboardInterrupt counts as a cancel."""
        for step in (self.do_gather, self.do_solve, self.do_write):
            if not self.ended:
                step()
        return self.phase

    def do_gather(self):
        """READY -> GATHERED: read the scene."""
        with self._step(Phase.READY, Phase.GATHERED):
            self.scene = self.gather()

    def do_solve(self):
        """GATHERED -> SOLVED: compute the motion."""
        with self._step(Phase.GATHERED, Phase.SOLVED):
            self.trajectory = self.solve_scene(
                self.scene, self.frames, fps=self.fps, config=self.config, on_frame=self._one_frame
            )

    def do_write(self):
        """SOLVED -> DONE: hand the motion to Blender."""
        with self._step(Phase.SOLVED, Phase.DONE):
            self.warnings += self.write(self.trajectory) or []

    def take_found(self, results):
        """Count FrameResults that need not be solved, because they were kept from an earlier bake, as done."""
        self.reports += [result.report for result in results]
        if self.on_found is not None:
            self.on_found(results)

    def _one_frame(self, result):
        self.reports.append(result.report)
        if self.on_frame is not None:
            self.on_frame(result)
        return not self._stop.is_set()

    def _step(self, before, after):
        if self.phase is not before:
            raise RuntimeError(f"the bake is {self.phase.value}, so it cannot go on to be {after.value}")
        return _Step(self, after)

    def _end(self, phase, error=None):
        self.phase, self.error = phase, error
        self.undo()


class _Step:
    """One phase: times it, turns what an artist can mend into FAILED, a stop into CANCELLED; a bug goes through."""

    # What the world can do to a bake: a scene that is wrong, a device, a disk or memory that gives out.
    FAILURES = (SceneError, OSError, RuntimeError, MemoryError, FloatingPointError, ImportError)

    def __init__(self, job, after):
        self.job, self.after = job, after

    def __enter__(self):
        self.began = time.perf_counter()

    def __exit__(self, kind, error, traceback):
        job = self.job
        job.wall_time += time.perf_counter() - self.began
        if error is None and not (job._stop.is_set() and self.after is not Phase.DONE):
            job.phase = self.after
            return True
        if error is None or isinstance(error, KeyboardInterrupt):
            job._end(Phase.CANCELLED)
            return True
        job._end(Phase.FAILED, error)
        return isinstance(error, self.FAILURES)
