# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's noise and random numbers, for the fields that use them: its gradient noise's permutation, measured.

Blender's improved Perlin noise (mathutils.noise, PERLIN_NEW) takes the gradient at lattice point (X, Y, Z) from the low
four bits of p[p[p[X] + Y] + Z], with a permutation p of its own.  Near a lattice point the noise is that gradient times
the way from it, so every such code can be measured.  Along Z the codes of (0, Y) are one cyclic sequence, shifted by
p[p[0] + Y]; from these shifts p follows up to two numbers, and only one choice of them gives the codes measured.
"""

from functools import cache

import numpy as np
from mathutils import noise

STEP = 1e-3
_SIGN_PAIRS = ((1, 1), (-1, 1), (1, -1), (-1, -1))


def _gradients():
    """(16, 3) the gradient of each code, as the noise is defined."""
    rows = []
    for code in range(16):
        row = np.zeros(3)
        first, second = _SIGN_PAIRS[code & 3]
        row[0 if code < 8 else 1] += first
        row[1 if code < 4 else 0 if code in (12, 14) else 2] += second
        rows.append(row)
    return np.array(rows)


def _code_rows(rows):
    """(rows, 256) of the number of the gradient at (0, Y, Z), where equal gradients share the lowest code."""
    kinds = _gradients()
    first = np.array([int(np.argmax((kinds == kind).all(axis=1))) for kind in kinds])
    found = np.empty((rows, 256, 3))
    for y in range(rows):
        for z in range(256):
            for axis in range(3):
                place = [0.0, float(y), float(z)]
                place[axis] += STEP
                found[y, z, axis] = noise.noise(place, noise_basis="PERLIN_NEW")
    codes = np.argmin(np.abs(found[:, :, None] / STEP - kinds).sum(axis=-1), axis=-1)
    return first[codes], first


@cache
def permutation():
    """(256,) the permutation p of Blender's noise.  Raises RuntimeError where its noise is not of that kind."""
    rows, first = _code_rows(256)
    # Row Y is row 0 shifted by p[p[0] + Y] - p[p[0]].
    spectrum = np.fft.rfft(np.eye(16)[rows], axis=1)
    likeness = np.fft.irfft(np.einsum("yfk,fk->yf", np.conj(spectrum), spectrum[0]), n=256, axis=1)
    shift = np.argmax(likeness, axis=1)
    for start in range(256):  # p[p[0]]
        table = (shift + start) % 256
        for origin in range(256):  # p[0]
            guess = np.roll(table, origin)
            if guess[0] != origin or guess[origin] != start:
                continue
            if np.array_equal(first[guess[(start + np.arange(256)) % 256] & 15], rows[0]):
                return guess
    raise RuntimeError("Blender's noise is not the gradient noise that turbulence fields are made of")


class Random:
    """Blender's random number generator: linear congruential, of 48 bits (the drand48 of Unix)."""

    def __init__(self, seed):
        self._state = ((int(seed) & 0xFFFFFFFF) << 16) | 0x330E

    def _next(self):
        self._state = (0x5DEECE66D * self._state + 0xB) & 0xFFFFFFFFFFFF
        return self._state >> 17

    def integer(self):
        """0 to 2^31 - 1."""
        return self._next()

    def number(self):
        """0 to 1."""
        return self._next() / 2.0**31


def gust(generator, strength):
    """What the noise of a field adds to its strength: at its first question in a frame, as Blender answers it."""
    share = (generator.integer() + 1) % 128
    slower = generator.number() + 1.0
    return (1.0 if share > 64 else -1.0) * share / slower * strength / 128.0
