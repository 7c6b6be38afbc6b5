# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how long a frame takes, on every scene and engine, and judges the same runs: bench.csv, docs/performance.md.

make bench                                    everything, about 40 minutes; writes the files and the page
make bench ARGS="--engines axion"             Axion alone; the other engines' lines stay as they are
make bench ARGS="--rows chain boxes_resting"  these rows and series alone
make bench ARGS="--page"                      the page and the plot alone, from the files as they are
make bench-quick                              a few scenes for a few frames, printed only

The engines of a row take turns, block of frames by block of frames, each in a process of its own on one thread of one
processor.  A run that has used up its CPU time ends there, and its line says so.
"""

import argparse
import datetime
import json
import resource
import sys
import time

import records
import turns
from bench_engines import BENCH_ENGINES, found, present, settings_for
from bench_results import Results
from bench_rows import BENCH_ROWS, GROWTH, QUICK, QUICK_ENGINES, TABLE_SIZE, cells
from bench_table import CELLS, FIGURES, RUNS, SHARES, STARTS, Cell, Share, Start
from truth_table import COMPLETE, Run, lines_of, read_lines, read_runs, write_lines, write_runs

COMPILING = 600.0
"""Time for compiling kernels and judging, on top of a cell's frames [s]."""


def bodies_of(described):
    """Number of bodies that move."""
    return sum(body.motion == "dynamic" for body in described.row.build().bodies)


def run_row(name, size, described, engines, frames=None):
    """(Cells, figures' Lines, {engine: version}) of the engines on one row, which take turns."""
    jobs, settings, refused, sweeps = {}, {}, {}, found()
    bodies = bodies_of(described)
    for engine in engines:
        if bodies > BENCH_ENGINES[engine].largest:
            refused[engine] = f"not run above {BENCH_ENGINES[engine].largest} bodies"
            continue
        settings[engine], why = settings_for(engine, name, sweeps)
        if why:
            refused[engine] = why
            continue
        options = ["--turns", "--setting", json.dumps(settings[engine])]
        jobs[engine] = turns.command(name, size, engine, *options, *(("--frames", frames) if frames else ()))
    answers = turns.take_turns(jobs, turns.PATIENCE * described.cpu_limit + COMPILING)
    lines, figures, versions = [], [], {}
    for engine in engines:
        answer = answers.get(engine, {"outcome": refused.get(engine)})
        setting = json.dumps(settings.get(engine)) if settings.get(engine) else ""
        judged = list(lines_of(described.row, name, engine, answer))
        missed = sum(line.bounded and not line.holds for line in judged) if answer["outcome"] == COMPLETE else None
        lines += cells_of(name, size, engine, described, bodies, answer, missed, setting)
        figures += judged if size == TABLE_SIZE else []
        if answer.get("version"):
            versions[engine] = answer["version"]
    return lines, figures, versions


def cells_of(name, size, engine, described, bodies, answer, missed, setting):
    """The Cells of an answer of cell.py, one a phase."""
    for phase in described.phases:
        timed, *times = answer.get("phases", {}).get(phase, (0, None, None, None, None))
        yield Cell(
            name,
            size,
            engine,
            phase,
            bodies,
            answer.get("frames", 0),
            answer.get("wanted", 0),
            timed,
            *times,
            answer.get("peak_mib"),
            missed,
            answer["outcome"],
            setting,
        )


def shown(cell):
    """A line for the terminal."""
    cost = (
        "" if cell.cpu_ms is None else f"{cell.cpu_ms:.3g} ms CPU (95 %: {cell.cpu_ms_95:.3g}), {cell.wall_ms:.3g} wall"
    )
    missed = "" if cell.missed is None else f"bounds missed: {cell.missed}" if cell.missed else "holds"
    where = cell.row if cell.size == TABLE_SIZE else f"{cell.row} {cell.size}"
    return f"{where:<22} {cell.engine:<16} {cell.phase:<7} {cost}  {missed}  {cell.outcome}"


def in_order(lines):
    """The Cells of rows and engines that still exist, in the order of the page."""
    order = {key: number for number, key in enumerate(cells())}
    engines = list(BENCH_ENGINES)
    kept = [line for line in lines if (line.row, line.size) in order and line.engine in engines]
    return sorted(kept, key=lambda line: (order[line.row, line.size], engines.index(line.engine)))


def save(lines, figures, versions, today):
    """Bring the files up to date with the fresh lines of one row."""
    fresh = {(line.row, line.size, line.engine) for line in lines}
    kept = [line for line in records.read(CELLS, Cell) if (line.row, line.size, line.engine) not in fresh]
    records.write(CELLS, Cell, in_order([*kept, *lines]))
    if figures:
        judged = {(line.row, line.engine) for line in figures}
        kept = [line for line in read_lines(FIGURES) if (line.row, line.engine) not in judged]
        engines, rows = list(BENCH_ENGINES), list(BENCH_ROWS)
        order = sorted([*kept, *figures], key=lambda line: (rows.index(line.row), engines.index(line.engine)))
        write_lines(order, FIGURES)
    runs = {run.engine: run for run in read_runs(RUNS)}
    for engine, version in versions.items():
        machine = records.machine(BENCH_ENGINES[engine].settings.get("device", "cpu"))
        runs[engine] = Run(engine, version, BENCH_ENGINES[engine].described, machine, today)
    write_runs([runs[name] for name in BENCH_ENGINES if name in runs], RUNS)


def quick(engines):
    """A few scenes for a few frames, printed."""
    described = cells()
    for (name, size), frames in QUICK.items():
        chosen = [engine for engine in described[name, size].engines if engine in engines]
        for line in run_row(name, size, described[name, size], chosen, frames)[0]:
            print(shown(line), flush=True)


def full(rows, engines):
    """Everything, saved row by row."""
    import extras

    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for (name, size), described in cells().items():
        chosen = [engine for engine in described.engines if engine in engines]
        if name not in rows or not chosen:
            continue
        lines, figures, versions = run_row(name, size, described, chosen)
        save(lines, figures, versions, today)
        for line in lines:
            print(shown(line), flush=True)
    if "start" in rows:
        kept = {line.engine: line for line in records.read(STARTS, Start)}
        kept |= {line.engine: line for line in extras.starts(engines)}
        records.write(STARTS, Start, [kept[name] for name in BENCH_ENGINES if name in kept])
    if "profile" in rows and "axion" in engines:
        lost = [loss.row for loss in Results(records.read(CELLS, Cell)).losses()]
        records.write(SHARES, Share, list(extras.shares(lost)))
    if "roofline" in rows and "axion_cuda" in engines:
        extras.roofline()


def main():
    """Measure, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = [*BENCH_ROWS, *GROWTH, "start", "profile", "roofline"]
    parser.add_argument("--quick", action="store_true", help="a few scenes for a few frames, printed only")
    parser.add_argument("--page", action="store_true", help="write the page and the plot alone")
    parser.add_argument("--engines", nargs="+", choices=BENCH_ENGINES, metavar="ENGINE")
    parser.add_argument("--rows", nargs="+", choices=parts, default=parts, metavar="ROW")
    arguments = parser.parse_args()
    began = time.perf_counter()
    engines = arguments.engines or (QUICK_ENGINES if arguments.quick else BENCH_ENGINES)
    engines = [] if arguments.page else [engine for engine in engines if present(engine)]
    if arguments.quick:
        quick(engines)
    else:
        import performance_page

        if engines:
            full(arguments.rows, engines)
        performance_page.main()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(f"{time.perf_counter() - began:.0f} s; the engines used {cpu:.0f} s of CPU time", file=sys.stderr)


if __name__ == "__main__":
    main()
