# SPDX-License-Identifier: GPL-3.0-or-later
"""The corners of bodies, and how many strokes there are on the way from one of them to another."""

from itertools import product

import numpy as np

from .rotations import rotate
from .shapes import Box, ConvexHull, TriangleMesh

LEVEL = 1e-4  # of the way from a corner to another, by which those between are below it to be stood on
SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


class Outlines:
    """The corners of a scene's bodies; round shapes have none."""

    def __init__(self, bodies, frames):
        """bodies: of the scene, or none of them; frames: BodyFrames."""
        self._bodies, self._frames = bodies, frames
        self._known = {}

    def corners(self, body):
        """(N, 3) corners of scene body number ``body`` in its solver frame [m]."""
        if body not in self._known:
            self._known[body] = self._corners(body)
        return self._known[body]

    def _corners(self, body):
        found = [np.zeros((0, 3))]
        for shape in self._bodies[body].shapes if body < len(self._bodies) else ():
            found.append(shape.position + rotate(shape.orientation, corners_of(shape)))
        corner = np.concatenate(found)
        return self._frames.local(np.full(len(corner), body), corner)


def corners_of(shape):
    """(N, 3) corners of a scene shape in its own frame [m]; none of round ones."""
    if isinstance(shape, Box):
        return SIGNS * shape.half_extents
    return shape.vertices if isinstance(shape, (ConvexHull, TriangleMesh)) else np.zeros((0, 3))


def strokes_between(corners, first, last, down):
    """Part of the loss of one stroke from point ``first`` to ``last`` that is left with the corners between them.

    A stroke takes the square of the angle between two facets, and so the square of the side between: this is the sum of
    the squares of the sides over the square of their sum.

    Args:
        corners: (N, 3) [m].
        first, last: (3,) points of the body on which it stands before and after.
        down: (3,) direction to what it rolls on when it stands on both.

    Returns:
        a number above 0; 1 without corners below the line from first to last, or where none is below another.
    """
    along = last - first
    length = np.linalg.norm(along)
    across = np.cross(np.cross(along, down), along)
    if not across.any():
        return 1.0  # both are one point, or the way leads straight down
    along, down = along / length, across / np.linalg.norm(across)
    x, depth = (corners - first) @ along, (corners - first) @ down
    between = (x > 0.0) & (x < length) & (depth > LEVEL * length)
    chain = [(0.0, 0.0)]
    for point in (*sorted(zip(x[between].tolist(), depth[between].tolist(), strict=True)), (float(length), 0.0)):
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) >= 0.0:
            chain.pop()
        chain.append(point)
    sides = np.linalg.norm(np.diff(chain, axis=0), axis=1)
    return float(sides @ sides / sides.sum() ** 2)


def _turn(a, b, c):
    """Above zero where the way a, b, c turns towards greater depth."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
