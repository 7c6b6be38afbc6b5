# SPDX-License-Identifier: GPL-3.0-or-later
"""Improved gradient noise in space (Perlin, "Improving Noise", 2002) and its sum over octaves, in NumPy.

The permutation of 256 numbers that tells the gradients at the lattice points is a parameter: whoever wants the noise of
another program gives that program's.
"""

import numpy as np

OCTAVES = 3


def default_permutation():
    """(256,) a fixed permutation."""
    return np.random.default_rng(0).permutation(256)


def noise(point, permutation):
    """Noise about 0 at points (n, 3), within -1 to 1.  permutation (256,) int -> (n,)."""
    point = np.asarray(point, float)
    table = np.tile(np.asarray(permutation, int), 2)
    cell = np.floor(point)
    x, y, z = (point - cell).T
    i, j, k = (cell.astype(np.int64) & 255).T
    u, v, w = (t * t * t * (t * (t * 6.0 - 15.0) + 10.0) for t in (x, y, z))
    total = np.zeros(len(point))
    for dx in (0, 1):
        for dy in (0, 1):
            for dz in (0, 1):
                code = table[table[table[i + dx] + j + dy] + k + dz] & 15
                share = (u if dx else 1.0 - u) * (v if dy else 1.0 - v) * (w if dz else 1.0 - w)
                total += share * _slope(code, x - dx, y - dy, z - dz)
    return total


def _slope(code, x, y, z):
    """The way (x, y, z) along the one of 12 cube edges that the low four bits of a code name."""
    first = np.where(code < 8, x, y)
    second = np.where(code < 4, y, np.where((code == 12) | (code == 14), x, z))
    return np.where(code & 1, -first, first) + np.where(code & 2, -second, second)


def turbulence(point, size, permutation):
    """(n,) noise of OCTAVES octaves at points (n, 3): the first of ``size``, each half as high as the last."""
    scaled = np.asarray(point, float) / (size if size != 0.0 else 1.0)
    heights = [0.5**octave for octave in range(OCTAVES)]
    total = sum(h * noise(scaled / h, permutation) for h in heights)
    return total / sum(heights)
