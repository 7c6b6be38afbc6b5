# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as graphs: a list of rectangles, lines and texts that the viewport and the PNG writer both draw.

Pure NumPy, no Blender.  Pixels, origin at the lower left.  Colours are (red, green, blue, alpha), 0 to 1.
"""

from dataclasses import dataclass, field

import numpy as np

BACK, GRID = (0.08, 0.08, 0.09, 0.85), (1.0, 1.0, 1.0, 0.12)
TEXT, BAD, TOLERANCE, CURSOR = (0.9, 0.9, 0.9, 1.0), (0.9, 0.1, 0.1, 0.35), (0.9, 0.3, 0.3, 0.8), (0.3, 0.6, 1.0, 1.0)
COLORS = ((1.0, 0.7, 0.2, 1.0), (0.3, 0.8, 1.0, 1.0), (0.6, 0.9, 0.3, 1.0))
MARGIN, GAP, TITLE = 8.0, 6.0, 18.0  # pixels at scale 1
DECADES = 6.0  # of a logarithmic graph, below its largest value


@dataclass(frozen=True)
class Kind:
    """One graph: its title, unit, the report's fields with their factor to that unit, and its scale."""

    title: str
    unit: str
    fields: tuple
    factor: float = 1.0
    logarithmic: bool = False


KINDS = {
    "penetration": Kind("Penetration", "mm", ("penetration",), 1e3, True),
    "joint_error": Kind("Joint Error", "mm", ("joint_error",), 1e3, True),
    "residual": Kind("Residual", "mm", ("residual",), 1e3, True),
    "energy": Kind("Energy: kinetic, potential, sum", "J", ("kinetic_energy", "potential_energy", "total_energy")),
    "iterations": Kind("Newton iterations, substeps", "", ("newton_iterations", "substeps")),
}


@dataclass
class Drawing:
    """What there is to draw: rectangles (x, y, width, height, color), lines ((N, 2) points, color), texts (x, y, text).

    plots: (x, y, width, height) of each graph's field of curves, from the first frame to the last.
    """

    rectangles: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    plots: list = field(default_factory=list)


@dataclass(frozen=True)
class Table:
    """A report's F frames as arrays: {field: (F,)} with NaN where JSON had nothing, Blender's frame numbers, bad ones.

    tolerance: in metres, or None.
    """

    values: dict
    frames: np.ndarray
    bad: np.ndarray
    tolerance: float | None


def table(document):
    """The Table of a report's document."""
    frames, found = document["frames"], {}
    for kind in KINDS.values():
        for name in kind.fields:
            if name != "total_energy":
                values = [frame.get(name) for frame in frames]
                found[name] = np.array([np.nan if value is None else value for value in values], float)
    found["total_energy"] = found["kinetic_energy"] + found["potential_energy"]
    number = np.array([frame["blender_frame"] for frame in frames], int)
    bad = np.array([not frame["converged"] for frame in frames], bool)
    return Table(found, number, bad, document.get("tolerance"))


def chosen(which):
    """Kinds that the name of a graph stands for: one of KINDS, or "ALL"."""
    return list(KINDS) if which == "ALL" else [which]


def drawing(table, which, x, y, width, height, scale=1.0, frame=None):
    """The Drawing of graphs one above the other in a rectangle, each with its title.

    which: name of a graph or "ALL"; frame: Blender's current frame, for a cursor.
    """
    made, names = Drawing(), chosen(which)
    gap = GAP * scale
    each = (height - gap * (len(names) - 1)) / len(names)
    for k, name in enumerate(names):
        bottom = y + (len(names) - 1 - k) * (each + gap)
        made.rectangles.append((x, bottom, width, each, BACK))
        margin = MARGIN * scale
        plot = (x + margin, bottom + margin, width - 2.0 * margin, each - margin - TITLE * scale)
        made.plots.append(plot)
        _plot(made, KINDS[name], table, plot, frame, scale)
    return made


def frame_at(position, plot, frames):
    """The frame (one of ``frames``) that a place on the x axis of a plot stands for, the nearest one."""
    part = (position - plot[0]) / max(plot[2], 1.0)
    return int(frames[int(np.clip(round(part * (len(frames) - 1)), 0, len(frames) - 1))])


def _plot(made, kind, table, plot, frame, scale):
    (x, y, width, height), frames = plot, table.frames
    series = [kind.factor * table.values[name] for name in kind.fields]
    low, high = _range(series, kind.logarithmic)
    at = _places(len(frames), x, width)
    step = width / max(len(frames) - 1, 1)
    for place in at[table.bad]:
        left, right = max(x, place - 0.5 * step), min(x + width, place + 0.5 * step)
        made.rectangles.append((left, y, max(right - left, 1.0), height, BAD))
    for part in (0.0, 0.5, 1.0):
        made.lines.append((np.array([(x, y + part * height), (x + width, y + part * height)]), GRID))
    if table.tolerance is not None and kind.unit == "mm":
        level = _heights(np.array([kind.factor * table.tolerance]), low, high, kind.logarithmic)[0]
        if 0.0 <= level <= 1.0:
            made.lines.append((np.array([(x, y + level * height), (x + width, y + level * height)]), TOLERANCE))
    for one, color in zip(series, COLORS, strict=False):
        level = _heights(one, low, high, kind.logarithmic)
        points = np.stack([at, y + np.clip(level, 0.0, 1.0) * height], axis=1)
        made.lines += [(part, color) for part in _unbroken(points, np.isfinite(level))]
    if frame is not None and len(frames) and frames[0] <= frame <= frames[-1]:
        place = x + width * (frame - frames[0]) / max(frames[-1] - frames[0], 1)
        made.lines.append((np.array([(place, y), (place, y + height)]), CURSOR))
    made.texts.append((x, y + height + 5.0 * scale, _title(kind, series, frames, frame)))


def _title(kind, series, frames, frame):
    """The name of a graph, its largest value, and that of the current frame."""
    most = [np.nanmax(one) if np.isfinite(one).any() else np.nan for one in series]
    unit = f" {kind.unit}" if kind.unit else ""
    text = f"{kind.title}   max {', '.join(_number(m) for m in most)}{unit}"
    if frame is not None and frame in frames:
        row = int(np.nonzero(frames == frame)[0][0])
        text += f"   frame {frame}: {', '.join(_number(one[row]) for one in series)}{unit}"
    return text


def _number(value):
    return "unknown" if not np.isfinite(value) else f"{value:.4g}"


def _places(count, x, width):
    return x + width * (np.arange(count) / max(count - 1, 1))


def _range(series, logarithmic):
    every = np.concatenate(series)
    every = every[np.isfinite(every)]
    high = float(every.max()) if len(every) else 1.0
    if logarithmic:
        high = high if high > 0.0 else 1e-6
        return high * 10.0**-DECADES, high
    low = min(0.0, float(every.min()) if len(every) else 0.0)
    return low, high if high > low else low + 1.0


def _heights(values, low, high, logarithmic):
    """Place of values between low and high, 0 to 1; below a logarithmic graph's foot lies on it."""
    if not logarithmic:
        return (values - low) / (high - low)
    safe = np.where(np.isfinite(values), np.maximum(values, low), np.nan)
    return np.log10(safe / low) / np.log10(high / low)


def _unbroken(points, good):
    """Pieces of a polyline between values that are missing; a lone value becomes a dash."""
    pieces, edges = [], np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    for first, end in edges.reshape(-1, 2):
        piece = points[first:end]
        pieces.append(piece if len(piece) > 1 else np.concatenate([piece, piece + (1.0, 0.0)]))
    return pieces
