# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds, row by row, the cheapest setting with which Bullet and MuJoCo hold every bound: results/cheapest.csv.

    python benchmarks/cheapest.py [--rows ROW ...] [--engines ENGINE ...] [--cpu-limit S]

Settings are tried from the cheapest upwards, and the first that holds is taken; a run that has used up its CPU time
does not hold, and ends the sweep, because all that follow are dearer.  Only whether a setting holds is kept: its time
is measured by run.py beside the others.
"""

import argparse
import json

import records
import turns
from bench_engines import BENCH_ENGINES, CHEAPEST, GRIDS, Cheapest, found
from bench_rows import BENCH_ROWS, TABLE_SIZE
from truth_table import COMPLETE, lines_of

PATIENCE = 600.0


def sweep(row, engine, run):
    """The Cheapest of one engine on one row; ``run`` (setting) -> answer of cell.py."""
    version = ""
    for tried, setting in enumerate(GRIDS[engine], 1):
        answer = run(setting)
        version = answer.get("version", version)
        lines = list(lines_of(BENCH_ROWS[row].row, row, engine, answer))
        if answer["outcome"] == COMPLETE and all(line.holds for line in lines if line.bounded):
            return Cheapest(row, engine, json.dumps(setting), tried, version)
        if "CPU time spent" in answer["outcome"]:
            break
    return Cheapest(row, engine, "", tried, version)


def main():
    """Sweep, and bring the file up to date after every cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", choices=BENCH_ROWS, default=list(BENCH_ROWS), metavar="ROW")
    parser.add_argument("--engines", nargs="+", choices=GRIDS, default=list(GRIDS), metavar="ENGINE")
    parser.add_argument("--cpu-limit", type=float, default=30.0, help="CPU time of one setting's frames [s]")
    arguments = parser.parse_args()
    for row in arguments.rows:
        for engine in arguments.engines:
            if engine not in BENCH_ROWS[row].engines:
                continue

            def run(setting, row=row, engine=engine):
                options = ("--setting", json.dumps(setting), "--cpu-limit", arguments.cpu_limit)
                return turns.take_turns({engine: turns.command(row, TABLE_SIZE, engine, *options)}, PATIENCE)[engine]

            entry = sweep(row, engine, run)
            entries = found() | {(row, engine): entry}
            order = [(name, other) for name in BENCH_ROWS for other in BENCH_ENGINES]
            records.write(CHEAPEST, Cheapest, [entries[key] for key in order if key in entries])
            print(f"{row}  {engine}  {entry.setting or 'none'}, {entry.tried} tried", flush=True)


if __name__ == "__main__":
    main()
