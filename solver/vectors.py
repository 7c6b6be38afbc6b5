# SPDX-License-Identifier: GPL-3.0-or-later
"""Products and lengths of many vectors, added up as ``numpy.sum`` does, in a fifth of the time that takes for three."""

import numpy as np


def inner(a, b):
    """(...) scalar products of vectors (..., 3)."""
    product = a * b
    return 0.0 + product[..., 0] + product[..., 1] + product[..., 2]  # 0.0: that of three -0.0 is none


def moved(a):
    """(...) bool: vectors (..., 3) that are not 0; ``any`` along an axis takes five times as long."""
    return (a[..., 0] != 0.0) | (a[..., 1] != 0.0) | (a[..., 2] != 0.0)


def length(a):
    """(...) lengths of vectors (..., 3)."""
    if not a.flags.c_contiguous:  # row by row NumPy takes twice the time
        x, y, z = a[..., 0], a[..., 1], a[..., 2]
        return np.sqrt(x * x + y * y + z * z)
    square = a * a
    return np.sqrt(square[..., 0] + square[..., 1] + square[..., 2])
