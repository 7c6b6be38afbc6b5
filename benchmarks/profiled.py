# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Axion's time goes on one row: python benchmarks/profiled.py ROW ENGINE FRAMES prints [[part, percent], ...].

A part is a file of the solver with all that it calls outside the solver, and what recorded graphs compute.  Python's
profiler makes calls of Python dearer than they are, so that the share of graphs is a lower bound.
"""

import cProfile
import json
import os
import pstats
import sys
from pathlib import Path

from bench_engines import BENCH_ENGINES
from bench_rows import BENCH_ROWS
from cell import WARM_UP
from engines.common import Watch
from rows import FPS

SOLVER = Path(__file__).resolve().parent.parent / "solver"
GRAPHS = "recorded graphs"
LOADING = "everything else"
DEPTH = 30
"""Calls that are followed outwards from a function that is not the solver's."""


class ProfilingWatch(Watch):
    """Starts the profiler after the warm-up."""

    def __init__(self, profile):
        super().__init__()
        self.profile = profile

    def stop(self):
        """See Watch."""
        more = super().stop()
        if len(self.cpu_ms) == WARM_UP:
            self.profile.enable()
        return more


def parts(stats):
    """{part: seconds} of the table of a pstats.Stats: {function: (calls, calls, own time, time, callers)}."""
    found = {}
    for function, (_, _, own, _, _) in stats.items():
        for part, seconds in _owners(stats, function, own, DEPTH).items():
            found[part] = found.get(part, 0.0) + seconds
    return found


def _owners(stats, function, seconds, depth):
    """Shares the time of a function that is not the solver's among those that called it, as they used it."""
    path, _, name = function
    if name in ("capture_launch", "wp_cuda_graph_launch"):
        return {GRAPHS: seconds}
    if Path(path).is_relative_to(SOLVER):
        return {Path(path).relative_to(SOLVER).as_posix(): seconds}
    callers = stats.get(function, (0, 0, 0, 0, {}))[4]
    total = sum(times[2] for times in callers.values())
    if not depth or total <= 0.0 or seconds <= 1e-7:
        return {LOADING: seconds}
    owners = {}
    for caller, times in callers.items():
        for part, share in _owners(stats, caller, seconds * times[2] / total, depth - 1).items():
            owners[part] = owners.get(part, 0.0) + share
    return owners


def main(row_name, engine_name, frames):
    """Print the shares as JSON, the largest first."""
    row, engine = BENCH_ROWS[row_name].row, BENCH_ENGINES[engine_name]
    profile = cProfile.Profile()
    wanted = min(WARM_UP + int(frames), round(row.seconds * FPS))
    engine.load().run(row.build(), wanted, FPS, ProfilingWatch(profile), **engine.settings)
    profile.disable()
    seconds = parts(pstats.Stats(profile).stats)
    total = sum(seconds.values())
    ordered = sorted(seconds.items(), key=lambda item: -item[1])
    print("\n" + json.dumps([(part, round(100.0 * value / total, 1)) for part, value in ordered]), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
