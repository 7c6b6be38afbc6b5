# SPDX-License-Identifier: GPL-3.0-or-later
"""The plot of docs/performance.md: time of a frame against the number of bodies, one field a series."""

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
from bench_engines import BENCH_ENGINES
from bench_results import clock
from bench_rows import ALL, GROWTH
from growth import usable

COLUMNS = 3
COLOURS = {"axion": "#d1495b", "axion_cuda": "#66a182", "bullet": "#2e4057", "mujoco_soft": "#edae49"}


def draw(results, path):
    """Write the plot; hollow marks are runs that did not get to the end."""
    # The same results give the same file, and text stays text.
    matplotlib.rcParams |= {"svg.hashsalt": "axion", "svg.fonttype": "none", "font.size": 9}
    rows = -(-len(GROWTH) // COLUMNS)
    figure, fields = plt.subplots(rows, COLUMNS, figsize=(11, 3.2 * rows), layout="constrained", squeeze=False)
    for field, (name, series) in zip(fields.flat, GROWTH.items(), strict=False):
        for engine in series.engines:
            cells = [cell for size in series.sizes if (cell := results.cell(name, engine, ALL, size))]
            points = [
                (cell, getattr(cell, clock(engine))) for cell in cells if getattr(cell, clock(engine)) is not None
            ]
            if not points:
                continue
            across, up = [cell.bodies for cell, _ in points], [time for _, time in points]
            field.plot(across, up, color=COLOURS[engine], label=BENCH_ENGINES[engine].label, linewidth=1.2)
            for cell, time in points:
                inside = COLOURS[engine] if usable(cell, clock(engine)) else "white"
                field.plot(cell.bodies, time, "o", color=COLOURS[engine], markerfacecolor=inside, markersize=4)
        field.set(xscale="log", yscale="log", title=series.title, xlabel="bodies", ylabel="ms a frame")
        field.grid(True, which="major", linewidth=0.4, alpha=0.5)
        if field.get_legend_handles_labels()[0]:
            field.legend(fontsize=7)
    for field in fields.flat[len(GROWTH) :]:
        field.set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
