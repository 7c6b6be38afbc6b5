# SPDX-License-Identifier: GPL-3.0-or-later
"""Who runs a ``Job``.  No bpy.

``Job.run`` blocks and is the driver of scripts and of Blender without a window.  ``Ticker`` is that of the window: a
timer calls it, and the frames are solved on a thread of their own.  Either can solve in another process instead of in
this one: see ``child.py``.
"""

import sys
import threading
import time

from .job import Phase

SLICE = 0.025
"""Seconds that a tick may take of the main thread."""
SWITCH = 5e-4
"""Seconds after which the solving thread hands the interpreter to the interface; Python's own 5 ms make it jerk."""

_leaving = []
"""Threads that nobody waited for, at their last frame.  The next solve begins when they are gone."""


class Ticker:
    """Runs a job by ticks of the main thread: reads and writes in slices, solves on a thread of its own.

    Attributes:
        job: Job.
    """

    def __init__(self, job, slice_time=SLICE):
        self.job, self.slice_time = job, slice_time
        self._slices, self._thread, self._bug = None, None, None

    @property
    def writing(self):
        """Whether keys are being written, which must not be left half done."""
        return self.job.phase is Phase.SOLVED and self._slices is not None

    def tick(self):
        """Do what is due, for about ``slice_time`` at most.  Returns whether the job has ended.

        Raises what a bug raised in any of the phases.
        """
        if self._thread is not None:
            if self._thread.is_alive():
                return False
            self._gather_up()
        if self.job.phase is Phase.GATHERED:
            self._thread = threading.Thread(target=self._solve, name="axion bake")
            self._thread.start()
        elif not self.job.ended:
            self._advance()
        return self.job.ended

    def close(self, patience=None):
        """End the job at once, whatever it is at, on the main thread; Blender or its file is about to go.

        Reading is taken back, writing is finished, a frame that is being solved is waited for, ``patience`` seconds at
        most, or as long as it takes.
        """
        self.job.cancel()
        if self._slices is not None:
            if self.job.phase is Phase.READY:
                self._slices.close()
            else:
                for _ in self._slices:
                    pass
        if self._thread is not None:
            self._thread.join(patience)
            if self._thread.is_alive():
                _leaving.append(self._thread)
            else:
                self._gather_up()
        if not self.job.ended:
            self.job.phase = Phase.CANCELLED

    def _advance(self):
        if self._slices is None:
            self._slices = self.job.gather_slices() if self.job.phase is Phase.READY else self.job.write_slices()
        until = time.perf_counter() + self.slice_time
        for _ in self._slices:
            if time.perf_counter() >= until:
                return
        self._slices = None

    def _solve(self):
        while _leaving:
            _leaving.pop().join()
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            self.job.do_solve()
        except BaseException as bug:  # noqa: BLE001  a thread has nobody to tell; the next tick raises it
            self._bug = bug
        finally:
            sys.setswitchinterval(before)

    def _gather_up(self):
        self._thread.join()
        self._thread = None
        if self._bug is not None:
            bug, self._bug = self._bug, None
            raise bug
