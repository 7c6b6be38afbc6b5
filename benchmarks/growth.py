# SPDX-License-Identifier: GPL-3.0-or-later
"""How times and memory grow with the number of bodies."""

import math
from dataclasses import dataclass

from truth_table import COMPLETE


@dataclass(frozen=True)
class Fit:
    """time = factor * bodies^exponent through the cells of ``sizes``, least squares of the logarithms."""

    exponent: float
    factor: float
    sizes: tuple[int, ...]


def power_law(points):
    """(exponent, factor) of y = factor * x^exponent through [(x, y)], or None for fewer than three points."""
    points = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(points) < 3:
        return None
    across, up = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - across) ** 2 for x, _ in points)
    if spread == 0.0:
        return None
    exponent = sum((x - across) * (y - up) for x, y in points) / spread
    return exponent, math.exp(up - exponent * across)


def usable(cell, clock="cpu_ms"):
    """Whether a cell ran to its end, so that it was timed over the same frames as the others of its series."""
    return cell.outcome == COMPLETE and getattr(cell, clock) is not None


def fit(cells, smallest, clock="cpu_ms"):
    """The Fit through the Cells of one engine and series that ran to their end, from ``smallest`` on; or None."""
    chosen = [cell for cell in cells if cell.size >= smallest and usable(cell, clock)]
    law = power_law([(cell.bodies, getattr(cell, clock)) for cell in chosen])
    return law and Fit(*law, tuple(cell.size for cell in chosen))


def bytes_a_body(cells):
    """Bytes that one more body costs: slope of the peak memory over the bodies, from 100 bodies on; or None."""
    points = [(cell.bodies, cell.peak_mib * 1024.0**2) for cell in cells if cell.peak_mib and cell.bodies >= 100]
    if len(points) < 2:
        return None
    across, up = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - across) ** 2 for x, _ in points)
    return sum((x - across) * (y - up) for x, y in points) / spread if spread else None
