# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/accuracy.md from results/truth.csv and results/truth_machine.csv; nothing there is typed by hand."""

from math import inf
from pathlib import Path

from engines import ENGINES
from pages import EQUAL, number, table
from rows import FPS, ROWS
from truth_table import PENDING, read_lines, read_own, read_runs

PAGE = Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"
OURS = "axion"
NEWTON = tuple(name for name in ENGINES if name.startswith("newton_"))
OTHERS = tuple(name for name in ENGINES if name not in (OURS, *NEWTON))

INTRODUCTION = f"""\
<!-- SPDX-License-Identifier: GPL-3.0-or-later -->
<!-- Written by benchmarks/accuracy_page.py; `make bench-truth` measures again and writes it anew. -->
# Accuracy, beside other engines

Every engine gets the same scenes at {FPS} frames a second and is judged by the same program from the poses of its
bodies alone: penetration on the true shapes, distance of a joint's two anchors, energy and momentum from the motion.
What an engine reports about itself plays no part. `make bench-truth` measures everything again; the numbers lie in
[`benchmarks/results/truth.csv`](../benchmarks/results/truth.csv), the scenes in
[`benchmarks/comparison_scenes.py`](../benchmarks/comparison_scenes.py), the bounds in
[`benchmarks/rows.py`](../benchmarks/rows.py). Friction problems published with Siconos are matrices without bodies,
and Andrews' squeezer has bodies without shapes: no other engine takes them, and they stand under "Asked of Axion alone"
with every law of a joint that an engine here lacks.

**Bold: misses the bound.** In words: there is no figure, and why. Empty: not run, because the solver is dense and the
scene large. "Best Newton" is, row by row, that solver of Newton which misses the fewest bounds, then the one whose
figures rank best among Newton's. Its SolverMuJoCo hands the scene to MuJoCo, which has a column of its own; its
SemiImplicit and Featherstone hold contacts by springs whose stiffness a user sets scene by scene, and are left out.
"""

OWN = """\
Problems that other engines cannot be given, or that need finer tools than poses at every frame. The figures are those
that the named tests print and hold to their bounds; `python benchmarks/truth_own.py` measures them again into
[`benchmarks/results/truth_own.csv`](../benchmarks/results/truth_own.csv)."""

REMARKS = {
    ("top", "change of the angular momentum"): "told from the poses, which follow a top to second order in the step; "
    "the momentum of the velocities that the solver hands out keeps the bound (tests/physics/test_spinning.py)",
}
"""(row, figure) -> what a reader must know where Axion misses the bound, without figures."""


class Results:
    """The lines of a table, by row, engine and figure."""

    def __init__(self, lines):
        self.lines = {(line.row, line.engine, line.figure): line for line in lines}

    def line(self, row, engine, figure):
        """A Line, or None where the cell was not run."""
        return self.lines.get((row, engine, figure.name))

    def cell(self, row, engine):
        """The Lines of one engine on one row."""
        found = [self.line(row, engine, figure) for figure in ROWS[row].figures]
        return [line for line in found if line is not None and line.outcome != PENDING]

    def misses(self, row, engine):
        """Number of bounds missed, or None where the cell was not run."""
        cell = self.cell(row, engine)
        return sum(line.bounded and not line.holds for line in cell) if cell else None

    def best_newton(self, row):
        """Name of the best of Newton's solvers on a row, or None."""
        ran = [name for name in NEWTON if self.cell(row, name)]
        ranks = dict.fromkeys(ran, 0)
        for figure in ROWS[row].figures:
            lines = {name: self.line(row, name, figure) for name in ran}
            distances = {name: inf if line is None else line.distance for name, line in lines.items()}
            for name in ran:
                ranks[name] += sum(other < distances[name] for other in distances.values())
        return min(ran, key=lambda name: (self.misses(row, name), ranks[name]), default=None)


def shown(line):
    """One entry of a table."""
    if line is None:
        return ""
    if line.value is None:
        if not line.bounded:
            return "–"
        return line.outcome if line.outcome == PENDING else f"**{line.outcome}**"
    text = number(line.value)
    return f"**{text}**" if line.bounded and not line.holds else text


def bound(line):
    """The bound in words."""
    low, high = line.lower, line.upper
    if low is not None and high is not None:
        return f"{number(low)} to {number(high)}"
    if high is not None:
        return f"≤ {number(high)}"
    return "" if low is None else f"≥ {number(low)}"


def with_unit(figure):
    """Name and unit."""
    return f"{figure.name} [{figure.unit}]" if figure.unit else figure.name


def overview(results):
    """How many rows each engine holds, of those that have a bound."""
    body = []
    bounded = [name for name, row in ROWS.items() if any(each.lower > -inf or each.upper < inf for each in row.figures)]
    for name in ENGINES:
        ran = [row for row in ROWS if results.cell(row, name) and row in bounded]
        held = [row for row in ran if results.misses(row, name) == 0]
        failed = [ROWS[row].title.split(":")[0].split(",")[0] for row in ran if row not in held]
        body.append([ENGINES[name].label, f"{len(held)} of {len(ran)}", "; ".join(failed)])
    return table(["engine", "rows held", "rows in which it misses a bound"], body)


def main_table(results):
    """Every figure: ours, the others, the best of Newton's."""
    header = ["scene", "figure", "bound", *(ENGINES[name].label for name in (OURS, *OTHERS)), "best Newton", "which"]
    body = []
    for row, described in ROWS.items():
        newton = results.best_newton(row)
        title, which = described.title, ENGINES[newton].label.removeprefix("Newton ") if newton else ""
        for figure in described.figures:
            lines = {name: results.line(row, name, figure) for name in (OURS, *OTHERS, newton)}
            demanded = next((bound(line) for line in lines.values() if line is not None), "")
            body.append([title, with_unit(figure), demanded, *map(shown, lines.values()), which])
            title = which = ""
    return table(header, body)


def newton_table(results):
    """Every figure of every solver of Newton's."""
    body = []
    for row, described in ROWS.items():
        title = described.title
        for figure in described.figures:
            body.append([title, with_unit(figure), *(shown(results.line(row, name, figure)) for name in NEWTON)])
            title = ""
    return table(["scene", "figure", *(ENGINES[name].label for name in NEWTON)], body)


def cost_of(results, row, engine):
    """CPU time per frame of a cell [ms], or None."""
    cell = results.cell(row, engine)
    return cell[0].cpu_ms_per_frame if cell else None


def cost_table(results):
    """CPU time of every cell."""
    body = []
    for row in ROWS:
        costs = [cost_of(results, row, name) for name in ENGINES]
        body.append([ROWS[row].title, *("" if cost is None else number(cost) for cost in costs)])
    return table(["scene", *(engine.label for engine in ENGINES.values())], body)


def as_told(text):
    """A bound that tests told in words as it is, a number without the digits that rounding leaves."""
    try:
        short = f"{float(text):.6g}"
    except ValueError:
        return text
    return text if float(text) == float(short) else short


def missed_bounds(results):
    """Every bound that Axion misses."""
    for row, described in ROWS.items():
        for figure in described.figures:
            line = results.line(row, OURS, figure)
            if line is not None and line.bounded and not line.holds:
                remark = REMARKS.get((row, figure.name))
                told = f" ({remark})" if remark else ""
                yield f"- {described.title}: {with_unit(figure)} {shown(line)}, bound {bound(line)}{told}"


def losses(results):
    """Entries of every figure in which another engine comes closer to the ideal than Axion."""
    for row, described in ROWS.items():
        for figure in described.figures:
            ours = results.line(row, OURS, figure)
            if ours is None:
                continue
            better = []
            for name in (*OTHERS, *NEWTON):
                line = results.line(row, name, figure)
                if line is not None and ours.distance - line.distance > EQUAL:
                    mark = " †" if results.misses(row, name) else ""
                    better.append((line.distance, f"{ENGINES[name].label} {number(line.value)}{mark}"))
            if better:
                yield [described.title, with_unit(figure), shown(ours), ", ".join(text for _, text in sorted(better))]


def slower(results):
    """Entries of every row that another engine computes in less CPU time while it holds all bounds of the row."""
    for row, described in ROWS.items():
        ours = cost_of(results, row, OURS)
        faster = []
        for name in (*OTHERS, *NEWTON):
            cost = cost_of(results, row, name)
            if ours and cost and cost < ours and results.misses(row, name) == 0:
                faster.append((cost, f"{ENGINES[name].label} {number(cost)}"))
        if faster:
            yield [described.title, number(ours), ", ".join(text for _, text in sorted(faster))]


def engines_section(runs):
    """What ran, with which settings, where."""
    body = [[ENGINES[run.engine].label, run.version, run.settings, run.date] for run in runs]
    yield from table(["engine", "version", "settings", "measured"], body)
    yield ""
    made = dict.fromkeys(run.run for run in runs)
    if len(made) == 1 and all(made):
        yield f"All of one run, begun {runs[0].run}."
    else:
        told = (f"{ENGINES[run.engine].label}: {run.run or run.date + ', some rows again later'}" for run in runs)
        yield f"Not all of one run: {'; '.join(told)}."
    yield ""
    places = dict.fromkeys(run.machine for run in runs)
    for place in places:
        names = ", ".join(run.engine for run in runs if run.machine == place)
        yield f"Machine: {place}." if len(places) == 1 else f"Machine of {names}: {place}."


def own_section(owns):
    """Every figure that only Axion was asked for, under the heading of its test file."""
    from truth_own import FILES

    for file, heading in FILES.items():
        body = [
            [
                own.scene,
                f"{own.quantity} [{own.unit}]" if own.unit else own.quantity,
                number(float(own.value), 0.0),
                as_told(own.bound),
            ]
            for own in owns
            if own.file == file
        ]
        if body:
            yield f"\n### {heading}\n"
            yield from table(["scene", "figure", "Axion", "bound"], body)


def text(lines, runs, owns=()):
    """The whole page."""
    results = Results(lines)
    missed, better, slow = (list(find(results)) for find in (missed_bounds, losses, slower))
    parts = [
        INTRODUCTION,
        *overview(results),
        "\n## Every row\n",
        *main_table(results),
        "\n## CPU time\n",
        "CPU milliseconds a frame, the median of the run without its first frame. One run, no repeats: differences "
        "below a third mean nothing.\n",
        *cost_table(results),
        "\n## All of Newton's solvers\n",
        *newton_table(results),
        *(["\n## Asked of Axion alone\n", OWN, *own_section(owns)] if owns else []),
        "\n## What ran\n",
        *engines_section(runs),
        "\n## Where Axion loses\n",
        "Bounds that Axion misses:\n" if missed else "Axion misses no bound.",
        *missed,
        "",
        f"Figures in which another engine comes closer to the ideal, by more than {EQUAL:g} of the unit. †: that "
        "engine misses a bound of the row.\n",
        *(table(["scene", "figure", "Axion", "better"], better) if better else ["None."]),
        "\nRows that another engine computes in less CPU time while it holds every bound of the row, ms a frame:\n",
        *(table(["scene", "Axion", "faster"], slow) if slow else ["None."]),
    ]
    return "\n".join(parts) + "\n"


def main():
    """Write the page from the committed results."""
    PAGE.write_text(text(read_lines(), read_runs(), read_own()), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(PAGE.parent.parent)}")


if __name__ == "__main__":
    main()
