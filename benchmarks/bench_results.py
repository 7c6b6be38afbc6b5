# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark's cells say: which bounds on the time hold, where Axion loses, how times grow."""

from dataclasses import dataclass

from bench_engines import BENCH_ENGINES
from bench_rows import ALL, BENCH_ROWS, GROWTH, TABLE_SIZE, Bound
from bench_table import Cell
from growth import fit, usable
from truth_table import COMPLETE

OURS = ("axion", "axion_preview", "axion_cuda")
OTHERS = tuple(name for name in BENCH_ENGINES if name not in OURS)


def clock(engine):
    """The time that counts: that of the process, or the wall's where another device computes."""
    return "wall_ms" if engine == "axion_cuda" else "cpu_ms"


@dataclass(frozen=True)
class Verdict:
    """A bound on the time, what it is in this run [ms], and Axion's time over it; None where either is missing."""

    row: str
    bound: Bound
    ours: Cell | None
    other: Cell | None
    limit: float | None
    ratio: float | None

    @property
    def met(self):
        """Whether Axion ran to the end, held the row's figures and stayed below."""
        return self.ratio is not None and self.ratio < 1.0 and self.ours.outcome == COMPLETE and not self.ours.missed


@dataclass(frozen=True)
class Loss:
    """A row on which Axion misses a bound, or is slower than engines that hold every bound of the row's figures."""

    row: str
    verdicts: list
    faster: list
    """Cells of the engines, the fastest first."""


@dataclass(frozen=True)
class Growth:
    """A series of one engine.

    ``fit``: the Fit or None.  ``left_out``: what it lacks, in words.  ``met``: whether the bound on the exponent holds,
    which takes all sizes; None where there is no bound.
    """

    series: str
    engine: str
    fit: object
    left_out: list
    met: bool | None


class Results:
    """The Cells of a run, by row, size, engine and phase."""

    def __init__(self, cells):
        self.cells = {(cell.row, cell.size, cell.engine, cell.phase): cell for cell in cells}

    def cell(self, row, engine, phase=ALL, size=TABLE_SIZE):
        """A Cell, or None where it was not measured."""
        return self.cells.get((row, size, engine, phase))

    def verdicts(self):
        """The Verdicts of every bound of every row that Axion was measured on."""
        for name, described in BENCH_ROWS.items():
            for bound in described.bounds:
                ours = self.cell(name, bound.ours, bound.phase)
                if ours is None:
                    continue
                other = self.cell(name, bound.engine, bound.phase)
                limit = None if other is None or other.cpu_ms is None else bound.share * other.cpu_ms
                ratio = ours.cpu_ms / limit if limit and ours.cpu_ms is not None else None
                yield Verdict(name, bound, ours, other, limit, ratio)

    def faster(self, row):
        """The Cells of engines that hold every bound of a row's figures and need less time than Axion."""
        ours = self.cell(row, "axion") or self.cell(row, "axion_preview")
        others = [self.cell(row, name) for name in OTHERS]
        held = [cell for cell in others if cell is not None and usable(cell) and cell.missed == 0]
        if ours is None or ours.cpu_ms is None:
            return []
        return sorted((cell for cell in held if cell.cpu_ms < ours.cpu_ms), key=lambda cell: cell.cpu_ms)

    def losses(self):
        """The Losses, in the order of the page.  A bound that cannot be told, for want of the other engine, is none."""
        verdicts = list(self.verdicts())
        for name in BENCH_ROWS:
            missed = [
                verdict
                for verdict in verdicts
                if verdict.row == name and not verdict.met and (verdict.limit is not None or verdict.ours.missed)
            ]
            faster = self.faster(name)
            if missed or faster:
                yield Loss(name, missed, faster)

    def growths(self):
        """The Growth of every series and engine that was measured."""
        for name, series in GROWTH.items():
            for engine in series.engines:
                cells = [cell for size in series.sizes if (cell := self.cell(name, engine, ALL, size))]
                if not cells:
                    continue
                fitted = fit(cells, series.fitted_from, clock(engine))
                left_out = [f"{cell.size}: {cell.outcome}" for cell in cells if not usable(cell, clock(engine))]
                measured = {cell.size for cell in cells}
                left_out += [f"{size}: not measured" for size in series.sizes if size not in measured]
                judged = engine in OURS and series.exponent is not None and fitted is not None
                met = fitted.exponent <= series.exponent and not left_out if judged else None
                yield Growth(name, engine, fitted, left_out, met)
