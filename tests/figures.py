# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that truth tests measure: printed in one line each, and collected in a CSV file on request.

AXION_FIGURES=figures.csv pytest ... appends one line a figure: scene, quantity, value, bound, unit.
"""

import csv
import os


def figure(scene, quantity, value, bound, unit=""):
    """Prints a figure, appends it to the CSV file that AXION_FIGURES names, and returns ``value``.

    bound: what the test demands of it, a number or words.
    """
    print(f"FIGURE {scene}: {quantity} {value:.6g} {unit} (bound {bound})".replace("  ", " "))
    path = os.environ.get("AXION_FIGURES")
    if path:
        with open(path, "a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([scene, quantity, f"{value:.6g}", bound, unit])
    return value
