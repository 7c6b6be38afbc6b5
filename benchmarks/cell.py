# SPDX-License-Identifier: GPL-3.0-or-later
"""One cell of the benchmark, in a process of its own: an engine on a scene, timed frame by frame, then judged.

    python benchmarks/cell.py ROW SIZE ENGINE --setting JSON [--frames N] [--cpu-limit S] [--turns] [--cpu N]

With --turns it stops after its warm-up and after every block of frames, says so on stdout and waits for a line on
stdin: ``turns.py`` lets many engines take their blocks in turn.  The last line is the answer.
"""

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path

BEGAN = time.perf_counter()
WARM_UP = 5
"""Frames that are not timed: kernels are loaded, graphs recorded and arrays grown in them."""
BLOCK = 12
"""Frames between two turns."""
FEWEST = 3
"""Timed frames below which there is no median."""
SIGN = "@bench "
"""Begins a line that is meant for the other side; engines print what they like."""


def say(message):
    """A line for ``turns.py``."""
    print(f"\n{SIGN}{json.dumps(message)}", flush=True)


def paced(watch_type):
    """A Watch that waits for its turn between blocks of frames; the time of waiting is nobody's."""

    class PacedWatch(watch_type):
        def stop(self):
            more, done = super().stop(), len(self.cpu_ms) - WARM_UP
            if not more or done < 0 or done % BLOCK:
                return more
            say({"pause": len(self.cpu_ms)})
            return bool(sys.stdin.readline())  # empty when the other side is gone

    return PacedWatch


def peak_memory():
    """Most memory that this process had so far [MiB]."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(lines["VmHWM"].split()[0]) / 1024.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def quantiles(times):
    """(median, 95 % of them are less) [ms]; None where there are too few."""
    import numpy as np

    if len(times) < FEWEST:
        return None, None
    return float(np.median(times)), float(np.quantile(times, 0.95))


def timed_frames(phase, count, rest):
    """Indices of the frames of a phase; ``rest``: first frame at rest, or None."""
    first = min(WARM_UP, count)
    border = count if rest is None else max(first, min(rest, count))
    return {"all": range(first, count), "moving": range(first, border), "rest": range(border, count)}[phase]


def measure(row_name, size, engine_name, settings, frames=None, cpu_limit=None, turns=False):
    """Simulate and judge: {"version", "outcome", "values", "bodies", "frames", "wanted", "phases", "peak_mib"}.

    ``phases``: {name: (timed frames, cpu_ms, cpu_ms_95, wall_ms, wall_ms_95)}.
    """
    from bench_engines import BENCH_ENGINES
    from bench_rows import cells
    from engines.common import Watch
    from judge import rest_frame
    from rows import FPS
    from trial import attempt

    described, module = cells()[row_name, size], BENCH_ENGINES[engine_name].load()
    watch = (paced(Watch) if turns else Watch)(cpu_limit or described.cpu_limit)
    noted = {}

    def note_memory():
        noted["peak_mib"] = peak_memory()

    outcome, values, motion = attempt(described.row, module, settings, watch, frames, note_memory)
    rest = rest_frame(motion) if motion is not None and len(described.phases) > 1 else None
    phases = {}
    for phase in described.phases:
        chosen = timed_frames(phase, len(watch.cpu_ms), rest)
        if phase != "all" and motion is None:
            chosen = ()
        cpu, wall = ([series[i] for i in chosen] for series in (watch.cpu_ms, watch.wall_ms))
        phases[phase] = (len(chosen), *quantiles(cpu), *quantiles(wall))
    return {
        "version": module.version(),
        "outcome": outcome,
        "values": values,
        "bodies": sum(body.motion == "dynamic" for body in described.row.build().bodies),
        "frames": len(watch.cpu_ms),
        "wanted": frames or round(described.row.seconds * FPS),
        "phases": phases,
        **noted,
    }


def start(engine_name, settings):
    """{"cpu_s", "wall_s"} from the start of this process to the end of a stack's first frame."""
    from bench_engines import BENCH_ENGINES
    from engines.common import Watch
    from rows import FPS, ROWS

    watch = Watch()
    BENCH_ENGINES[engine_name].load().run(ROWS["stack_10"].build(), 1, FPS, watch, **settings)
    return {"cpu_s": time.process_time(), "wall_s": time.perf_counter() - BEGAN}


def main():
    """Answer on stdout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("row")
    parser.add_argument("size", type=int)
    parser.add_argument("engine")
    parser.add_argument("--setting", type=json.loads, default={})
    parser.add_argument("--frames", type=int)
    parser.add_argument("--cpu-limit", type=float)
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--cpu", type=int, help="the one processor to run on")
    arguments = parser.parse_args()
    if arguments.cpu is not None:
        os.sched_setaffinity(0, {arguments.cpu})
    if arguments.row == "start":
        answer = start(arguments.engine, arguments.setting)
    else:
        answer = measure(
            arguments.row,
            arguments.size,
            arguments.engine,
            arguments.setting,
            arguments.frames,
            arguments.cpu_limit,
            arguments.turns,
        )
    say({"answer": answer})
    os._exit(0)  # some bpy wheels hang or crash when the interpreter ends


if __name__ == "__main__":
    main()
