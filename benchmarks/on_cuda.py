# SPDX-License-Identifier: GPL-3.0-or-later
"""All that there is to know about Axion on a CUDA device, in ten minutes and one command: results/cuda.csv.

    make cuda                                       on cuda:0, within 9 minutes
    make cuda ARGS="--device cpu --minutes 1 --output build/cuda.csv"    the same elsewhere, to try the program

Of each scene in each precision: the accuracy that its tests ask for, whether a second run repeats the bits, how far it
ends from the CPU, the time a frame takes, and without ``deterministic``.  Then the roofline.  Every part is a process
of its own, so that one that crashes or hangs costs itself only; each part's lines are written as soon as it is over,
with the name of the device, and what there was no time for says so.  Needs no network, no bpy and nothing to build;
parts come in the order of what would be missed most.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import records
import warp as wp
from bench_rows import BENCH_ROWS
from engines.axion import SolverConfig, simulate

OUTPUT = records.RESULTS / "cuda.csv"
LONGEST = 240.0  # [s] of one part: the first ones compile kernels
WARM_UP = 3  # frames whose time does not count
SETTLED = 0.99  # of the frames must keep the tolerance
JOINTS = 1e-4  # [m] bound on joints
SCENES = {  # row of bench_rows.py: frames, whether the same run is made on the CPU, too
    "stack_10": (48, True), "free_spin": (48, True), "heavy_10000": (48, True), "chain": (48, True),
    "four_bar": (48, True), "ragdolls_10": (24, False), "pile_125": (48, False), "pile_1000": (36, False),
}  # fmt: skip
PRECISIONS = "float32", "float64"
ROOFLINE = ("roofline", "", "chain pile_125 pile_1000")


@dataclass(frozen=True)
class Line:
    """One figure of a part, or in ``quantity`` why there is none."""

    device: str
    part: str
    precision: str
    quantity: str
    value: float | None
    unit: str
    bound: str

    @property
    def holds(self):
        """Whether the value keeps its bound, if it has one."""
        if not self.bound:
            return True
        sign, bound = self.bound.split()
        return self.value is not None and (self.value >= float(bound) if sign == ">=" else self.value <= float(bound))


def parts():
    """(name, precision, rows) of all parts, in order."""
    first = [(name, precision, "") for name in ("stack_10", "chain") for precision in PRECISIONS]
    rest = [(name, precision, "") for precision in PRECISIONS for name in SCENES if name not in ("stack_10", "chain")]
    return [*first, *rest[:-1], ROOFLINE, rest[-1]]


def run(scene, frames, **settings):
    """(Trajectory, wall time of each frame [s], the first from the start of everything)."""
    times = [time.perf_counter()]

    def note(result):
        times.append(time.perf_counter())

    trajectory = simulate(scene, frames, config=SolverConfig(**settings), on_frame=note)
    return trajectory, np.diff(times)


def measured(name, precision, device):
    """(quantity, value, unit, bound) of a scene."""
    frames, compared = SCENES[name]
    scene, here = BENCH_ROWS[name].row.build(), {"device": device, "precision": precision}
    first, times = run(scene, frames, **here)
    yield "first frame, kernels compiled", times[0], "s", ""
    reports = first.reports
    yield "frames within tolerance", np.mean([report.converged for report in reports]), "", f">= {SETTLED}"
    yield "worst joint", max(report.joint_error for report in reports), "m", f"<= {JOINTS}" if scene.joints else ""
    yield "worst penetration of the last frame", reports[-1].penetration, "m", ""
    second, times = run(scene, frames, **here)
    same = all(np.array_equal(getattr(first, key), getattr(second, key)) for key in ("position", "linear_velocity"))
    yield "a second run has the same bits", float(same), "", ">= 1"
    yield "a frame", 1e3 * np.mean(times[WARM_UP:]), "ms", ""
    yield "a frame, 95 %", 1e3 * np.quantile(times[WARM_UP:], 0.95), "ms", ""
    run(scene, WARM_UP, **here, deterministic=False)  # compiles
    _, times = run(scene, frames, **here, deterministic=False)
    yield "a frame, sums in any order", 1e3 * np.mean(times[WARM_UP:]), "ms", ""
    yield "Newton iterations a frame", np.mean([report.newton_iterations for report in reports]), "", ""
    if compared:
        cpu, times = run(scene, frames, device="cpu")
        yield "a frame on the CPU", 1e3 * np.mean(times[WARM_UP:]), "ms", ""
        yield "apart from the CPU at the end", np.abs(first.position[-1] - cpu.position[-1]).max(), "m", ""


def one(name, precision, device):
    """Print the lines of a part as JSON; runs in a process of its own."""
    for quantity, value, unit, bound in measured(name, precision, device):
        print("LINE " + json.dumps([quantity, float(value), unit, bound]), flush=True)


def lines_of(part, device, where, seconds):
    """The Lines of a part, which may take so many seconds."""
    name, precision, rows = part
    program = [sys.executable, str(Path(__file__)), "--part", name, precision, "--device", device]
    if name == ROOFLINE[0]:
        program = [sys.executable, str(Path(__file__).with_name("roofline.py")), "--device", device]
        program += ["--rows", *rows.split(), *(["--save"] if device != "cpu" else [])]
    try:
        done = subprocess.run(program, capture_output=True, text=True, timeout=seconds, check=False)
        output, why = done.stdout, "" if done.returncode == 0 else f"failed: {_last(done.stderr)}"
    except subprocess.TimeoutExpired as slow:
        output = (slow.stdout or b"").decode() if isinstance(slow.stdout, bytes) else slow.stdout or ""
        why = f"stopped after {seconds:.0f} s"
    made = [json.loads(line.removeprefix("LINE ")) for line in output.splitlines() if line.startswith("LINE ")]
    lines = [Line(where, name, precision, *values) for values in made]
    lines += [Line(where, name, "", line, None, "", "") for line in output.splitlines() if line.startswith("Roof(")]
    return lines + ([Line(where, name, precision, why, None, "", ">= 1")] if why else [])


def _last(text):
    said = [line for line in text.splitlines() if line.strip()]
    return said[-1][:300] if said else "no word of why"


def main():
    """Measure; returns the exit status: 1 where a bound is missed or a part failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--parts", nargs="+", help="these scenes alone")
    parser.add_argument("--part", nargs=2, metavar=("SCENE", "PRECISION"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    wp.config.quiet = True
    if chosen.part:
        one(*chosen.part, chosen.device)
        return 0
    if chosen.device != "cpu" and not wp.is_cuda_available():
        print(f"no CUDA device here: {chosen.device} cannot be measured", file=sys.stderr)
        return 2
    where, lines, until = records.machine(chosen.device), [], time.monotonic() + 60.0 * chosen.minutes
    for part in parts():
        if chosen.parts and part[0] not in chosen.parts:
            continue
        left = until - time.monotonic()
        late = Line(where, *part[:2], "no time was left", None, "", "")
        fresh = lines_of(part, chosen.device, where, min(left, LONGEST)) if left > 0.0 else [late]
        for line in fresh:
            value = "" if line.value is None else f"{line.value:.5g} {line.unit}"
            kept = "" if line.holds else f"   MISSED: {line.bound}"
            print(f"{line.part:<12} {line.precision:<8} {line.quantity} {value}{kept}", flush=True)
        lines += fresh
        chosen.output.parent.mkdir(parents=True, exist_ok=True)
        records.write(chosen.output, Line, lines)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
