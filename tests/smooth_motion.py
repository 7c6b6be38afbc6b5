# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact motion of systems with one freedom, in float64, for tests to compare with."""

from itertools import pairwise

import numpy as np


def runge_kutta(derivative, start, times, most=1e-3):
    """Classical Runge-Kutta of y' = derivative(y) at the given times.

    start: (k,) at times[0].  Steps are at most ``most`` [s] long: with 1e-3 s a pendulum is known to 1e-11.

    Returns:
        (T, k).
    """
    y = np.array(start, float)
    out = [y]
    for begin, end in pairwise(times):
        count = int(np.ceil((end - begin) / most))
        h = (end - begin) / count
        for _ in range(count):
            k1 = derivative(y)
            k2 = derivative(y + 0.5 * h * k1)
            k3 = derivative(y + 0.5 * h * k2)
            k4 = derivative(y + h * k3)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        out.append(y)
    return np.array(out)


def swing(start, speed, pull, times):
    """(T, 2) angle from the horizontal and rate of phi'' = -pull cos phi: a pendulum, or N four-bars."""
    return runge_kutta(lambda y: np.array([y[1], -pull * np.cos(y[0])]), (start, speed), times)


def complete_elliptic(m):
    """K(m), by the arithmetic-geometric mean: a pendulum let go at A takes 4 sqrt(L / g) K(sin^2(A / 2))."""
    a, b = 1.0, np.sqrt(1.0 - m)
    while abs(a - b) > 1e-15 * a:
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return 0.5 * np.pi / a
