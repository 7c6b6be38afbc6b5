# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the scenes of rows.py on every engine and judges the poses: results/truth.csv, then docs/accuracy.md.

make bench-truth                                      every row and engine
make bench-truth ARGS="--engines axion"               Axion alone; the lines of the other engines stay as they are
make bench-truth ARGS="--engines axion --rows chain"  one cell

Every cell is a process of its own: it ends when its frames have used up their CPU time, and is killed when it does not
answer, so that an engine that hangs or crashes costs its own cell only.  (A limit set by the operating system would
make the clock of CPU time coarse on Linux.)  Engines take turns on each row.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time

import accuracy_page
from engines import ENGINES
from engines.common import Watch
from records import machine
from rows import ROWS
from trial import attempt
from truth_table import Run, lines_of, read_lines, read_runs, write_lines, write_runs

COMPILING = 300
"""Time that a cell may spend on top of its frames, for compiling kernels and judging [s]."""
PATIENCE = 6
"""Wall time after which a cell is killed, in units of the time it should need: the machine may have other work."""


def run_cell(row_name, engine_name, cpu_limit):
    """Simulate and judge one cell: {"outcome", "values", "frames", "cpu_ms_per_frame", "version"}."""
    row, engine = ROWS[row_name], ENGINES[engine_name]
    module, watch = engine.load(), Watch(cpu_limit)
    outcome, values, _ = attempt(row, module, engine.settings, watch)
    return {
        "version": module.version(),
        "outcome": outcome,
        "values": values,
        "frames": len(watch.cpu_ms),
        "cpu_ms_per_frame": statistics.median(watch.cpu_ms[1:]) if len(watch.cpu_ms) > 1 else None,
    }


def spawn_cell(row_name, engine_name, cpu_limit):
    """``run_cell`` in a process of its own; a crash is an outcome."""
    command = [sys.executable, __file__, "--cell", row_name, engine_name, "--cpu-limit", str(cpu_limit)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    patience = PATIENCE * (cpu_limit + COMPILING)
    failed = {"values": {}, "frames": 0, "cpu_ms_per_frame": None, "version": None}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return {**failed, "outcome": f"not done after {patience:g} s"}
    answer = done.stdout.strip().splitlines()[-1:]
    if answer and answer[0].startswith('{"version"'):  # bpy may crash when the interpreter ends, the answer is out then
        return json.loads(answer[0])
    print(done.stderr[-2000:], file=sys.stderr)
    return {**failed, "outcome": "crashed"}


def in_order(lines):
    """The Lines of rows, engines and figures that still exist, in the order of the page."""
    order = {
        (row, engine, figure.name): (i, j, k)
        for i, row in enumerate(ROWS)
        for j, engine in enumerate(ENGINES)
        for k, figure in enumerate(ROWS[row].figures)
    }
    keyed = {(line.row, line.engine, line.figure): line for line in lines}
    return [keyed[key] for key in sorted(keyed.keys() & order.keys(), key=order.get)]


def measure(row_names, engine_names, cpu_limit):
    """Run the cells and bring the files up to date after each row."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for row_name in row_names:
        fresh, runs = [], {run.engine: run for run in read_runs()}
        for engine_name in engine_names:
            engine, began = ENGINES[engine_name], time.perf_counter()
            if sum(body.motion == "dynamic" for body in ROWS[row_name].build().bodies) > engine.largest:
                continue
            cell = spawn_cell(row_name, engine_name, cpu_limit)
            fresh += lines_of(ROWS[row_name], row_name, engine_name, cell)
            if cell["version"]:
                runs[engine_name] = Run(engine_name, cell["version"], engine.described, machine(), today)
            values = "  ".join(f"{name} {value:g}" for name, value in cell["values"].items())
            print(
                f"{row_name}  {engine_name}  {time.perf_counter() - began:.0f} s  {cell['outcome']}  {values}",
                flush=True,
            )
        kept = [line for line in read_lines() if line.row != row_name or line.engine not in engine_names]
        write_lines(in_order([*kept, *fresh]))
        write_runs([runs[name] for name in ENGINES if name in runs])


def main():
    """Measure, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES), metavar="ENGINE")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS), metavar="ROW")
    parser.add_argument("--cpu-limit", type=float, default=120.0, help="CPU time of a cell's frames [s]")
    parser.add_argument("--cell", nargs=2, metavar=("ROW", "ENGINE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        answer = json.dumps(run_cell(*arguments.cell, arguments.cpu_limit))
        print(f"\n{answer}", flush=True)
        os._exit(0)  # some bpy wheels hang or crash when the interpreter ends
    measure(arguments.rows, arguments.engines, arguments.cpu_limit)
    accuracy_page.main()


if __name__ == "__main__":
    main()
