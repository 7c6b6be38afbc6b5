# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the scenes of rows.py on every engine and judges the poses: results/truth.csv, then docs/accuracy.md.

make bench-truth                                      every row and engine, and what truth_own.py asks Axion alone
make bench-truth ARGS="--engines axion"               Axion alone; the lines of the other engines stay as they are
make bench-truth ARGS="--engines axion --rows chain"  one cell
make bench-truth ARGS="--take FOLDER --rows chain"    rows that a second checkout has measured at the same time

Every cell is a process of its own: it ends when its frames have used up their CPU time, and is killed when it hangs
within a frame, so that an engine that hangs or crashes costs its own cell only; the table says so in words.  (A limit
set by the operating system would make the clock of CPU time coarse on Linux.)  Engines take turns on each row.
"""

import argparse
import datetime
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import accuracy_page
import truth_own
from engines import ENGINES
from engines.common import Watch
from records import machine
from rows import ROWS
from trial import attempt
from truth_table import TABLE, Run, lines_of, read_lines, read_runs, write_lines, write_runs

COMPILING = 300
"""CPU time that a cell may spend on top of its frames, for compiling kernels and judging [s]."""
PATIENCE = 4
"""Wall time after which a cell is killed, in units of the CPU time it may spend: the machine may have other work."""
LOOK = 0.5
"""Time between two looks at a cell's clock [s]."""


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


def cpu_time(process):
    """CPU time that a running process has spent [s], or None where the system does not say."""
    record = Path(f"/proc/{process.pid}/stat")
    try:
        fields = record.read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def answer_of(command, cpu_limit, patience):
    """The last line that a process prints, as JSON, and None; or None and in words why there is none.

    It is killed when it has spent ``cpu_limit`` [s] of CPU time, or ``patience`` [s] after its start.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began, process = time.perf_counter(), subprocess.Popen(command, stdout=out, stderr=err, env=environment)
        while process.poll() is None:
            spent, why = cpu_time(process), None
            if spent is not None and spent > cpu_limit:
                why = f"hangs: stopped after {cpu_limit:g} s of CPU time"
            elif time.perf_counter() - began > patience:
                why = f"hangs: stopped after {patience:g} s"
            if why is not None:
                process.kill()
                process.wait()
                return None, why
            time.sleep(min(LOOK, patience))
        out.seek(0)
        err.seek(0)
        answer, complaints = out.read().strip().splitlines()[-1:], err.read().strip().splitlines()
    if answer and answer[0].startswith('{"version"'):  # bpy may crash when the interpreter ends, the answer is out then
        return json.loads(answer[0]), None
    print("\n".join(complaints[-20:]), file=sys.stderr)
    if process.returncode < 0:
        return None, f"crashed ({signal.Signals(-process.returncode).name})"
    last = complaints[-1].replace("|", "/") if complaints else f"exit status {process.returncode}"
    return None, f"crashed: {last[:100]}"


def spawn_cell(row_name, engine_name, cpu_limit):
    """``run_cell`` in a process of its own; a crash is an outcome."""
    command = [sys.executable, __file__, "--cell", row_name, engine_name, "--cpu-limit", str(cpu_limit)]
    most = cpu_limit + COMPILING
    answer, why = answer_of(command, most, PATIENCE * most)
    return answer or {"values": {}, "frames": 0, "cpu_ms_per_frame": None, "version": None, "outcome": why}


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


def commit_of(folder):
    """The commit that a checkout is at, in short; None where nobody can tell."""
    asked = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def this_run():
    """When this run begins and which commit it measures, in words."""
    begins, commit = (
        datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        commit_of(Path(__file__).parent),
    )
    return begins if commit is None else f"{begins}, commit {commit}"


def take(folder, row_names):
    """Take the lines of the rows that another checkout of the same commit has measured beside this run.

    Raises:
        SystemExit: the other checkout is at another commit, or has no line of a row.
    """
    runs, commit = read_runs(), commit_of(folder)
    if commit is None or not all(run.run.endswith(f"commit {commit}") for run in runs):
        raise SystemExit(f"{folder} is at commit {commit}, and the results here are not of one run at that commit")
    theirs = [
        line for line in read_lines(Path(folder) / "benchmarks" / "results" / TABLE.name) if line.row in row_names
    ]
    if missing := set(row_names) - {line.row for line in theirs}:
        raise SystemExit(f"{folder} has no line of {', '.join(sorted(missing))}")
    write_lines(in_order([*(line for line in read_lines() if line.row not in row_names), *theirs]))
    write_runs([replace(run, machine=run.machine.replace("one process", "two processes")) for run in runs])


def measure(row_names, engine_names, cpu_limit):
    """Run the cells and bring the files up to date after each row."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    run = this_run() if list(row_names) == list(ROWS) else ""
    for row_name in row_names:
        fresh, runs = [], {run.engine: run for run in read_runs()}
        for engine_name in engine_names:
            engine, began = ENGINES[engine_name], time.perf_counter()
            if sum(body.motion == "dynamic" for body in ROWS[row_name].build().bodies) > engine.largest:
                continue
            cell = spawn_cell(row_name, engine_name, cpu_limit)
            fresh += lines_of(ROWS[row_name], row_name, engine_name, cell)
            if cell["version"]:
                runs[engine_name] = Run(engine_name, cell["version"], engine.described, machine(), today, run)
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
    parser.add_argument("--take", metavar="FOLDER", help="take the --rows that a checkout measured beside this run")
    parser.add_argument("--cell", nargs=2, metavar=("ROW", "ENGINE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        answer = json.dumps(run_cell(*arguments.cell, arguments.cpu_limit))
        print(f"\n{answer}", flush=True)
        os._exit(0)  # some bpy wheels hang or crash when the interpreter ends
    if arguments.take:
        take(arguments.take, arguments.rows)
        return accuracy_page.main()
    measure(arguments.rows, arguments.engines, arguments.cpu_limit)
    accuracy_page.main()
    if arguments.rows == list(ROWS) and "axion" in arguments.engines:
        truth_own.measure_all(truth_own.FILES)


if __name__ == "__main__":
    main()
