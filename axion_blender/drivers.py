# SPDX-License-Identifier: GPL-3.0-or-later
"""Who runs a ``Job``.  No bpy.

``Job.run`` blocks and is the driver of scripts and of Blender without a window.  ``Ticker`` is that of the window: a
timer calls it, and the frames are solved on a thread of their own.  Either can solve in another process instead of in
this one: see ``child.py``.
"""

import sys
import threading
import time

from .job import Phase, leaving, wait_for_leaving

SLICE = 0.025
"""Seconds that a tick may take of the main thread."""
LONGEST = 0.25
"""Seconds that a slice may grow to where the window redraws slowly."""
SWITCH = 5e-4
"""Seconds after which the solving thread hands the interpreter to the interface; Python's own 5 ms make it jerk."""

PATIENCE = 1.0
"""Seconds that a process which solves has for its last frame, before it is ended."""


class Ticker:
    """Runs a job by ticks of the main thread: reads and writes in slices, solves on a thread of its own.

    Attributes:
        job: Job.
    """

    def __init__(self, job, slice_time=SLICE):
        self.job, self.slice_time = job, slice_time
        self._slices, self._thread, self._bug, self._left = None, None, None, None
        self._between = 0.0

    @property
    def writing(self):
        """Whether keys are being written, or about to be handed to their objects."""
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

        Reading and writing are taken back.  A frame that is being solved is waited for ``patience`` seconds, or
        as long as it takes; a process that solves is ended then.
        """
        self.job.cancel()
        if self._slices is not None:
            self._slices.close()
        if self._thread is not None:
            self._thread.join(PATIENCE if patience is None else patience)
            if self._thread.is_alive() and (self.job.abort() or patience is None):
                self._thread.join()
            if self._thread.is_alive():
                leaving.append(self._thread)
            else:
                self._gather_up()
        if not self.job.ended:
            self.job.end(Phase.CANCELLED)

    def _advance(self):
        if self._slices is None:
            self._slices = self.job.gather_slices() if self.job.phase is Phase.READY else self.job.write_slices()
        now = time.perf_counter()
        # A window that takes long to redraw gets longer slices, or all the time would go into redrawing; not one that
        # did so once, such as a viewport that draws all objects anew after the first slice.
        before, self._between = self._between, now - self._left if self._left is not None else 0.0
        between = min(before, self._between, LONGEST)
        until = now + max(self.slice_time, between if self.slice_time else 0.0)
        for _ in self._slices:
            if time.perf_counter() >= until:
                self._left = time.perf_counter()
                return
        self._slices = self._left = None

    def _solve(self):
        wait_for_leaving()  # before the interval is read, which they set back
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
