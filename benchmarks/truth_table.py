# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the comparison leaves: one line a figure in truth.csv, one line an engine in truth_machine.csv."""

from dataclasses import dataclass
from math import inf, isfinite

import records
from records import RESULTS

TABLE = RESULTS / "truth.csv"
MACHINE = RESULTS / "truth_machine.csv"
OWN = RESULTS / "truth_own.csv"
COMPLETE = "complete"
PENDING = "not measured yet"
"""Outcome of cells of a new row that were left for the next run: nothing is held against the engine."""


@dataclass(frozen=True)
class Line:
    """One figure of one engine.  ``value``, the bound and the ideal are in ``unit``, or None.

    ``outcome``: COMPLETE, or in words why there is no value; ``frames`` were simulated, at ``cpu_ms_per_frame`` of CPU
    time (the median, without the first frame).
    """

    row: str
    engine: str
    figure: str
    unit: str
    value: float | None
    lower: float | None
    upper: float | None
    ideal: float | None
    outcome: str
    frames: int
    cpu_ms_per_frame: float | None

    @property
    def bounded(self):
        """Whether the row demands something of this figure."""
        return self.lower is not None or self.upper is not None

    @property
    def holds(self):
        """Whether the bound holds; False where there is no value to say so."""
        return self.value is not None and self.excess == 0.0

    @property
    def excess(self):
        """How far the value is outside its bound."""
        lower = -inf if self.lower is None else self.lower
        upper = inf if self.upper is None else self.upper
        return max(0.0, lower - self.value, self.value - upper)

    @property
    def distance(self):
        """How far the value is from the best there is; infinite without a value."""
        if self.value is None:
            return inf
        return self.excess if self.ideal is None else abs(self.value - self.ideal)


@dataclass(frozen=True)
class Run:
    """What ran one engine's lines, and where.  ``run``: the run that measured all of them; empty where several did."""

    engine: str
    version: str
    settings: str
    machine: str
    date: str
    run: str = ""


@dataclass(frozen=True)
class Own:
    """A figure of a test that only Axion can be asked, as tests/figures.py prints it; ``bound``: a number or words."""

    file: str
    scene: str
    quantity: str
    value: str
    bound: str
    unit: str


def read_own(path=OWN):
    """The Owns of a file; none where it does not exist."""
    return records.read(path, Own)


def write_own(owns, path=OWN):
    """Replace the file."""
    records.write(path, Own, owns)


def read_lines(path=TABLE):
    """The Lines of a file; none where it does not exist."""
    return records.read(path, Line)


def write_lines(lines, path=TABLE):
    """Replace the file."""
    records.write(path, Line, lines)


def read_runs(path=MACHINE):
    """The Runs of a file; none where it does not exist."""
    return records.read(path, Run)


def write_runs(runs, path=MACHINE):
    """Replace the file."""
    records.write(path, Run, runs)


def lines_of(row, row_name, engine_name, cell):
    """The Lines of one cell: ``row`` a rows.Row, ``cell`` {"outcome", and "values", "frames", "cpu_ms_per_frame"}."""
    cost, values = cell.get("cpu_ms_per_frame"), cell.get("values", {})
    for figure in row.figures:
        yield Line(
            row=row_name,
            engine=engine_name,
            figure=figure.name,
            unit=figure.unit,
            value=values.get(figure.name),
            lower=figure.lower if isfinite(figure.lower) else None,
            upper=figure.upper if isfinite(figure.upper) else None,
            ideal=figure.ideal,
            outcome=cell["outcome"],
            frames=cell.get("frames", 0),
            cpu_ms_per_frame=None if cost is None else float(f"{cost:.3g}"),
        )
