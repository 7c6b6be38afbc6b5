# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/performance.md and its plot from the files that run.py leaves; no number there is typed by hand."""

from dataclasses import dataclass, field
from pathlib import Path

import records
from bench_engines import BENCH_ENGINES
from bench_results import OURS, Results, clock
from bench_rows import ALL, BENCH_ROWS, GROWTH, MOVING, REST
from bench_table import CELLS, ROAD, ROOFS, RUNS, SHARES, STARTS, Cell, Figure, Roof, Share, Start
from cell import BLOCK, WARM_UP
from growth import bytes_a_body
from loss_reasons import REASONS
from pages import number, table
from rows import FPS
from truth_table import COMPLETE, Run, read_runs

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
PLOT = PAGE.parent / "images" / "performance.svg"
PARTS = 5
"""Parts of a profile that are shown."""
PHASES = {ALL: "", MOVING: "moving", REST: "at rest"}

INTRODUCTION = f"""\
<!-- SPDX-License-Identifier: GPL-3.0-or-later -->
<!-- Written by benchmarks/performance_page.py; `make bench` measures again and writes it anew. -->
# Speed, beside other engines

Time of a frame at {FPS} frames a second, detection of contacts included: milliseconds of CPU time, the median and, in
brackets, what 95 % of the frames stay below. The first {WARM_UP} frames are not counted. Every engine is a process of
its own, on one thread of one processor; the engines of a row take turns, {BLOCK} frames at a time. The same runs are
judged by the program behind [accuracy.md](accuracy.md), from the poses alone.

**Bold: misses a bound on the accuracy of the row, or did not get to the end.** In words: there is no time, and why.
"Cheapest": the cheapest setting of a sweep that holds every bound of the row, from
[`benchmarks/results/cheapest.csv`](../benchmarks/results/cheapest.csv). `make bench` measures everything again; the
scenes and the bounds are in [`benchmarks/bench_rows.py`](../benchmarks/bench_rows.py).
"""
NOTHING = "Nothing has been measured yet: `make bench` does, and writes this page."


@dataclass(frozen=True)
class Sources:
    """All that the page is made of: lists of the records of each file."""

    cells: list[Cell] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    road: list[Figure] = field(default_factory=list)
    roofs: list[Roof] = field(default_factory=list)


def read_sources():
    """The Sources as they are committed."""
    files = ((STARTS, Start), (SHARES, Share), (ROAD, Figure), (ROOFS, Roof))
    return Sources(records.read(CELLS, Cell), read_runs(RUNS), *(records.read(*file) for file in files))


def label(engine):
    """Name of an engine on the page."""
    return BENCH_ENGINES[engine].label + (", wall time" if clock(engine) == "wall_ms" else "")


def shown(cell):
    """The time of a cell, one entry of a table."""
    if cell is None:
        return ""
    middle, most = (getattr(cell, clock(cell.engine) + end) for end in ("", "_95"))
    if middle is None:
        return f"**{cell.outcome}**" if cell.outcome != COMPLETE else "–"
    text = f"{number(middle)} ({number(most)})"
    if cell.outcome != COMPLETE:
        return f"**{text}; {cell.outcome}**"
    return f"**{text}**" if cell.missed else text


def title(row, phase=ALL):
    """Name of a row on the page."""
    return BENCH_ROWS[row].row.title + (f", {PHASES[phase]}" if PHASES[phase] else "")


def limit_in_words(verdict):
    """What a bound asks for."""
    share = "" if verdict.bound.share == 1.0 else f"{number(verdict.bound.share)} of "
    name = share + label(verdict.bound.engine)
    if verdict.limit is None:
        return f"below {name}: {verdict.other.outcome if verdict.other else 'not measured'}"
    missed = "" if verdict.other.missed == 0 else ", which misses a bound itself"
    return f"< {number(verdict.limit)}, {name}{missed}"


def bounds_section(results):
    """Every bound, Axion's time and the ratio of both."""
    body = []
    for verdict in results.verdicts():
        ratio = "" if verdict.ratio is None else number(verdict.ratio)
        held = "" if verdict.ours.missed is None else "holds" if not verdict.ours.missed else "**misses**"
        where = title(verdict.row, verdict.bound.phase)
        entry = ratio if verdict.met or not ratio else f"**{ratio}**"
        body.append([where, label(verdict.bound.ours), shown(verdict.ours), limit_in_words(verdict), entry, held])
    yield from table(["scene", "engine", "ms a frame", "bound", "time / bound", "accuracy"], body)


def losses_section(results, shares):
    """Where Axion loses, with the profile and the reason."""
    found = list(results.losses())
    if not found:
        yield "None: every bound holds, and no engine that is as accurate is faster."
    for loss in found:
        yield f"- **{title(loss.row)}.**"
        for verdict in loss.verdicts:
            phase = PHASES[verdict.bound.phase] and f"{PHASES[verdict.bound.phase]}: "
            ratio = "" if verdict.ratio is None else f", {number(verdict.ratio)} times the bound"
            yield f"  - {phase}{shown(verdict.ours)} ms, bound {limit_in_words(verdict)}{ratio}."
        if loss.faster:
            names = ", ".join(f"{label(cell.engine)} {number(cell.cpu_ms)} ms" for cell in loss.faster)
            yield f"  - As accurate and faster: {names}."
        yield f"  - {REASONS.get(loss.row, 'No reason is known yet.')}"
        profile = [share for share in shares if share.row == loss.row][:PARTS]
        if profile:
            parts = ", ".join(f"{share.part} {number(share.percent)} %" for share in profile)
            yield f"  - Where the time goes: {parts}."


def rows_section(results):
    """Every row on every engine."""
    measured = {key[2] for key in results.cells if key[0] in BENCH_ROWS}
    engines = [name for name in BENCH_ENGINES if name in measured]
    body = []
    for name, described in BENCH_ROWS.items():
        for phase in described.phases:
            cells = [results.cell(name, engine, phase) for engine in engines]
            if any(cells):
                body.append([title(name, phase), *map(shown, cells)])
    yield from table(["scene", *map(label, engines)], body)


def growth_section(results):
    """The series, their exponents and Axion's memory."""
    growths = list(results.growths())
    for name, series in GROWTH.items():
        ours = [growth for growth in growths if growth.series == name]
        if not ours:
            continue
        engines = [growth.engine for growth in ours]
        yield f"\n### {series.title}\n"
        sizes = [size for size in series.sizes if any(results.cell(name, engine, ALL, size) for engine in engines)]
        lines = [[str(size), *(shown(results.cell(name, engine, ALL, size)) for engine in engines)] for size in sizes]
        fits = ["**exponent**", *(number(growth.fit.exponent) if growth.fit else "" for growth in ours)]
        yield from table([series.unit, *map(label, engines)], [*lines, fits])
        yield ""
        yield from (sentence(series, growth) for growth in ours if growth.engine in OURS)


def sentence(series, growth):
    """What a fit says of Axion, and whether that is what was asked for."""
    missing = f" Without {'; '.join(growth.left_out)}." if growth.left_out else ""
    if growth.fit is None:
        return f"{label(growth.engine)}: too few sizes got to the end for a fit.{missing}"
    sizes = growth.fit.sizes
    text = f"{label(growth.engine)}: the time of a frame grows with the number of bodies to the power "
    text += f"{number(growth.fit.exponent)}, from {sizes[0]} to {sizes[-1]} {series.unit}."
    if growth.met is None:
        return text + missing
    verdict = "it is" if growth.met else "**it is not**"
    why = "" if growth.met else f" {REASONS.get(growth.series, 'No reason is known yet.')}"
    return f"{text} At most {number(series.exponent)} was asked for, over all sizes: {verdict}.{missing}{why}"


def memory_section(results):
    """Peak memory of the resting heaps, and what one more body costs; nothing where it was not measured."""
    series = GROWTH["boxes_resting"]
    found = {
        engine: {size: cell for size in series.sizes if (cell := results.cell("boxes_resting", engine, ALL, size))}
        for engine in series.engines
    }
    found = {engine: cells for engine, cells in found.items() if any(cell.peak_mib for cell in cells.values())}
    if not found:
        return
    yield "\n## Memory as it grows\n"
    yield "MiB at the peak of the engine's process, all in.\n"
    body = []
    for size in series.sizes:
        memory = [cells[size].peak_mib if size in cells else None for cells in found.values()]
        body.append([str(size), *("" if most is None else number(most) for most in memory)])
    slopes = [bytes_a_body(cells.values()) for cells in found.values()]
    body.append(["**bytes a body**", *("" if slope is None else number(slope) for slope in slopes)])
    yield from table([f"{series.unit}, resting", *(BENCH_ENGINES[engine].label for engine in found)], body)


def clocks_section(results):
    """Both clocks and the memory of Axion."""
    body = []
    for (_, _, engine, phase), cell in results.cells.items():
        if engine in OURS and cell.cpu_ms is not None and cell.row in BENCH_ROWS:
            times = map(number, (cell.cpu_ms, cell.cpu_ms_95, cell.wall_ms, cell.wall_ms_95))
            memory = "" if cell.peak_mib is None else number(cell.peak_mib)
            body.append([title(cell.row, phase), BENCH_ENGINES[engine].label, str(cell.timed), *times, memory])
    header = [
        "scene",
        "engine",
        "frames",
        "CPU, median",
        "CPU, 95 %",
        "wall, median",
        "wall, 95 %",
        "peak memory [MiB]",
    ]
    yield from table(header, body)


def starts_section(starts):
    """How long the first frame takes to come."""

    def seconds(value):
        return "–" if value is None else number(value)

    body = [
        [
            BENCH_ENGINES[s.engine].label,
            *map(seconds, (s.cold_wall_s, s.cold_cpu_s, s.warm_wall_s, s.warm_cpu_s, s.cache_mib)),
        ]
        for s in starts
    ]
    header = [
        "engine",
        "empty cache, wall",
        "empty cache, CPU",
        "filled cache, wall",
        "filled cache, CPU",
        "cache [MiB]",
    ]
    yield from table(header, body)


def road_section(road):
    """The rest of the road."""
    body = []
    for line in road:
        ratio = "" if not line.bound else number(line.value / line.bound)
        entry = f"**{ratio}**" if line.bound and line.value > line.bound else ratio
        bound = "" if line.bound is None else number(line.bound)
        body.append([line.figure, line.unit, number(line.value), bound, entry, line.machine, line.date])
    yield from table(["", "unit", "value", "bound", "value / bound", "machine", "measured"], body)


def roofs_section(roofs):
    """How near a frame comes to the limits of the device."""
    body = [
        [
            BENCH_ROWS[roof.row].row.title,
            roof.device,
            *map(number, (roof.launches, roof.megabytes, roof.megaflop, roof.ms, roof.memory, roof.compute)),
        ]
        for roof in roofs
    ]
    yield "Of a frame. Arrays count whole, loops inside a kernel once: memory is an upper bound, flops are a lower one."
    yield "The limits are what the same device reaches when it copies and multiplies and does nothing else:"
    limits = dict.fromkeys((roof.device, roof.gb_s, roof.gflop_s) for roof in roofs)
    yield "; ".join(f"{device} {number(gb)} GB/s and {number(gflop)} Gflop/s" for device, gb, gflop in limits) + ".\n"
    header = ["scene", "device", "launches", "MB, at most", "Mflop, at least", "ms", "memory [% of the limit]"]
    yield from table([*header, "arithmetic [% of the limit]"], body)


def engines_section(runs):
    """What ran, with which settings, where."""
    body = [[label(run.engine), run.version, run.settings, run.machine, run.date] for run in runs]
    yield from table(["engine", "version", "settings", "machine", "measured"], body)


def text(sources):
    """The whole page."""
    results = Results(sources.cells)
    parts = [INTRODUCTION]
    if not sources.cells:
        parts.append(NOTHING)
    else:
        parts += ["## The bounds\n", *bounds_section(results)]
        parts += ["\n## Where Axion loses\n", *losses_section(results, sources.shares)]
        parts += ["\n## Every scene\n", *rows_section(results)]
        parts += ["\n## Both clocks, and memory\n", *clocks_section(results)]
        parts += ["\n## How it grows\n", f"![Time of a frame against the number of bodies](images/{PLOT.name})"]
        parts += [*growth_section(results), *memory_section(results)]
    if sources.starts:
        parts += [
            "\n## From the start to the first frame\n",
            "Seconds, a stack of 10 boxes.\n",
            *starts_section(sources.starts),
        ]
    if sources.roofs:
        parts += ["\n## Against the limits of the device\n", *roofs_section(sources.roofs)]
    if sources.road:
        parts += ["\n## The rest of the road\n", *road_section(sources.road)]
    if sources.runs:
        parts += ["\n## What ran\n", *engines_section(sources.runs)]
    return "\n".join(parts) + "\n"


def main():
    """Write page and plot from the committed results."""
    sources = read_sources()
    if sources.cells:
        import performance_plot

        performance_plot.draw(Results(sources.cells), PLOT)
    PAGE.write_text(text(sources), encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
