# SPDX-License-Identifier: GPL-3.0-or-later
"""Which corners of a flat face of many corners are contacts where it lies flat: as few as span all of it but 2 %."""

import numpy as np

FEW = 7  # corners of a face that newton and face_corners.py find all of: five, and up to three more
CUT = 0.02  # of half a face's breadth: no corner left out is farther from what the others span
MOST = 32  # corners taken
SEEN = 128


def half_breadth(corners):
    """Half of how wide a convex polygon (n, 3), corners in order, is where it is narrowest [m]; of more than SEEN sides
    some are looked at.
    """
    some = np.arange(0, len(corners), max(1, len(corners) // SEEN))
    start = corners[some]
    way = corners[(some + 1) % len(corners)] - start
    length = np.maximum(np.linalg.norm(way, axis=1), 1e-300)
    away = np.cross(way[:, None], corners[None] - start[:, None])
    return 0.5 * (np.linalg.norm(away, axis=2) / length[:, None]).max(axis=1).min()


def spanning(corners, breadth):
    """Numbers of corners, in order, that span a convex polygon (n, 3) of this half ``breadth`` [m] but for CUT of it.

    The two farthest apart, then each time the one farthest out: of an even polygon every second, fourth, ... one.
    """
    count, noise = len(corners), 1e-6 * breadth
    first = _farthest(np.linalg.norm(corners - corners.mean(axis=0), axis=1), noise)
    second = (
        first + _farthest(np.linalg.norm(np.roll(corners, -first, axis=0) - corners[first], axis=1), noise)
    ) % count
    taken, parts = [first, second], [(first, second), (second, first)]
    outermost = [_between(corners, *part, noise) for part in parts]
    while len(taken) < MOST:
        k = max(range(len(parts)), key=lambda i: (round(outermost[i][0] / noise), -i))
        away, corner = outermost[k]
        if away <= CUT * breadth:
            break
        taken.append(corner)
        start, end = parts[k]
        for part, replaced in (((start, corner), True), ((corner, end), False)):
            found = _between(corners, *part, noise)
            if replaced:
                parts[k], outermost[k] = part, found
            else:
                parts.append(part)
                outermost.append(found)
    return np.sort(taken)


def _farthest(far, noise):
    """The first of what is farthest, whatever rounding did."""
    return int(np.argmax(np.round(far / noise)))


def _between(corners, start, end, noise):
    """(How far it is from the line, number) of the corner farthest out between two of them."""
    count = len(corners)
    number = (start + np.arange(1, (end - start) % count)) % count
    if not len(number):
        return 0.0, start
    way = corners[end] - corners[start]
    away = np.linalg.norm(np.cross(way, corners[number] - corners[start]), axis=1) / np.linalg.norm(way)
    k = _farthest(away, noise)
    return float(away[k]), int(number[k])
