# SPDX-License-Identifier: GPL-3.0-or-later
"""A report as the bytes of a file: a table, everything, or graphs.  Knows no Blender."""

from . import graph, raster, report

PICTURE = (1200, 900)  # pixels of the graphs
SUFFIXES = (".csv", ".json", ".png")


def contents(document, suffix):
    """Bytes of a report's document in the format of one of SUFFIXES.  Raises ValueError for any other."""
    if suffix == ".csv":
        return report.to_csv(document).encode()
    if suffix == ".json":
        return report.to_json(document, indent=1).encode()
    if suffix == ".png":
        width, height = PICTURE
        drawn = graph.drawing(graph.table(document), "ALL", 0.0, 0.0, width, height)
        return raster.png(raster.picture(drawn, width, height))
    raise ValueError(f"the suffix is {suffix!r}: give it .csv, .json or .png")
