# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the friction-contact problems in tests/data/siconos (format: README.md there)."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data" / "siconos"


def load(name):
    """W (3n, 3n), q (3n,) and mu (n,) of the file ``name``."""
    numbers = iter((FOLDER / name).read_text(encoding="ascii").split())

    def integers(count):
        return [int(next(numbers)) for _ in range(count)]

    def reals(*shape):
        return np.array([float(next(numbers)) for _ in range(int(np.prod(shape)))]).reshape(shape)

    _, contacts, storage, rows, columns = integers(5)
    W = np.zeros((rows, columns))
    if storage == 0:
        integers(2)
        W[:] = reals(columns, rows).T
    else:
        _, block_rows, block_columns = integers(3)
        row_end, column_end = [0, *integers(block_rows)], [0, *integers(block_columns)]
        lengths = integers(2)
        first, column = integers(lengths[0]), integers(lengths[1])
        for i in range(block_rows):
            for j in column[first[i] : first[i + 1]]:
                integers(1)
                height, width = row_end[i + 1] - row_end[i], column_end[j + 1] - column_end[j]
                W[row_end[i] : row_end[i + 1], column_end[j] : column_end[j + 1]] = reals(width, height).T
    return W, reals(rows), reals(contacts)
