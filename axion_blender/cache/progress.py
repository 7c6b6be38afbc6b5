# SPDX-License-Identifier: GPL-3.0-or-later
"""``progress.json``: how far a bake is, for other programs: a farm's manager, a shell, a second window."""

import contextlib
import json
import math
import os
import time

from ..pace import Pace
from .errors import CacheError
from .files import write_whole

FORMAT = 1
NAME = "progress.json"
EVERY = 0.2  # [s]
RECENT = 20  # frames whose time tells how long the others will take


class Progress:
    """Keeps the file up to date.

    Its keys: phase ("solving", "done", "cancelled", "failed"), frame (the last one solved, Blender's number),
    frame_start, frame_end, frames (to solve), frames_done, time_left [s] or null, worst_residual [m] or null, process,
    updated (seconds since 1970), error (a sentence, or null), scene, format.
    """

    def __init__(self, folder, first, frames, scene=""):
        self._path, self._due, self._pace = folder / NAME, 0.0, Pace(RECENT)
        self.values = {
            "format": FORMAT,
            "phase": "solving",
            "frame": first,
            "frame_start": first,
            "frame_end": first + frames,
            "frames": frames,
            "frames_done": 0,
            "time_left": None,
            "worst_residual": None,
            "process": os.getpid(),
            "updated": 0.0,
            "error": None,
            "scene": scene,
        }

    def frame(self, report, write=True, found=False):
        """A frame is solved, or was found in the cache.  report: StepReport.  write: to the file, if it is due."""
        values, residual = self.values, report.residual
        values["frames_done"] = report.frame
        values["frame"] = values["frame_start"] + report.frame
        if math.isfinite(residual):
            values["worst_residual"] = max(values["worst_residual"] or 0.0, float(residual))
        (self._pace.find if found else self._pace.solve)(float(report.wall_time))
        values["time_left"] = self._pace.left(values["frames"] - report.frame)
        if write and time.monotonic() >= self._due:
            self.write()

    def end(self, phase, error=None):
        """The bake is over: "done", "cancelled" or "failed".  Says so only where there is a cache to say it in."""
        self.values.update(phase=phase, error=None if error is None else str(error), time_left=None)
        if not os.path.isdir(self._path.parent):
            return
        with contextlib.suppress(CacheError):  # whoever asks has heard of the full disk
            self.write()

    def write(self):
        """Write the file now."""
        self._due = time.monotonic() + EVERY
        self.values["updated"] = time.time()
        try:
            write_whole(self._path, json.dumps(self.values, indent=1).encode(), lasting=False)
        except CacheError as error:
            # On Windows nobody can replace a file that a reader has open; the next frame comes soon.
            if not isinstance(error.__cause__, PermissionError):
                raise
