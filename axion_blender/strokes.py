# SPDX-License-Identifier: GPL-3.0-or-later
"""Line segments that show the physics in the viewport: frames, limits, contacts, forces.  Pure NumPy, no Blender.

Everything here is in one world frame and one unit of length; quaternions are xyzw.
"""

import numpy as np

from . import conventions

RED, GREEN, BLUE = (0.95, 0.25, 0.25, 1.0), (0.45, 0.8, 0.2, 1.0), (0.25, 0.5, 1.0, 1.0)
AXIS_COLORS = (RED, GREEN, BLUE)
BAD = (1.0, 0.05, 0.05, 1.0)
CONTACT = (1.0, 0.85, 0.2, 1.0)
CONTACT_FORCE = (1.0, 0.55, 0.1, 1.0)
JOINT_FORCE = (0.3, 0.85, 1.0, 1.0)
LIMIT = (0.9, 0.9, 0.9, 0.9)
HEAD, HEAD_WIDTH = 0.2, 0.08  # of an arrow's length
ARC_STEPS = 24  # segments of an arc


class Strokes:
    """Collects segments: ``arrays`` gives them to the graphics card."""

    def __init__(self):
        self._ends, self._colors = [], []

    def add(self, start, end, color):
        """Segments from start (N, 3) to end (N, 3); color: (4,) or (N, 4)."""
        start, end = np.reshape(start, (-1, 3)), np.reshape(end, (-1, 3))
        self._ends.append(np.stack([start, end], axis=1).reshape(-1, 3))
        self._colors.append(np.repeat(np.broadcast_to(color, (len(start), 4)), 2, axis=0))

    def arrays(self):
        """(ends (2N, 3), colors (2N, 4)), float32; segments with an end that is not finite are left out."""
        if not self._ends:
            return np.zeros((0, 3), np.float32), np.zeros((0, 4), np.float32)
        ends, colors = np.concatenate(self._ends), np.concatenate(self._colors)
        good = np.repeat(np.isfinite(ends).reshape(-1, 6).all(axis=1), 2)
        return ends[good].astype(np.float32), colors[good].astype(np.float32)


def frames(strokes, position, orientation, size, bad=None):
    """Axes of N frames, red, green and blue, of length ``size``; all red where ``bad`` (N,) is set."""
    position, axes = _frames(position, orientation)
    for k, color in enumerate(AXIS_COLORS):
        colors = np.tile(color, (len(position), 1))
        if bad is not None:
            colors[np.asarray(bad, bool)] = BAD
        strokes.add(position, position + size * axes[:, k], colors)


def crosses(strokes, position, size, color):
    """Three short lines through each of N points."""
    position = np.reshape(position, (-1, 3))
    half = 0.5 * np.reshape(size, (-1, 1)) * np.ones((len(position), 1))
    for axis in np.eye(3):
        strokes.add(position - half * axis, position + half * axis, color)


def arrows(strokes, base, vector, color):
    """Arrows from base (N, 3) along vector (N, 3), with heads of four lines; none where the vector is 0."""
    base, vector = np.reshape(base, (-1, 3)), np.reshape(vector, (-1, 3))
    length = np.linalg.norm(vector, axis=1)
    kept = length > 0.0
    base, vector, length = base[kept], vector[kept], length[kept][:, None]
    tip, along = base + vector, vector / length
    aside = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=1)])
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    across = np.cross(along, aside)
    color = np.broadcast_to(color, (len(kept), 4))[kept]
    strokes.add(base, tip, color)
    for side in (aside, -aside, across, -across):
        strokes.add(tip, tip - length * (HEAD * along - HEAD_WIDTH * side), color)


def arc_points(position, orientation, axis, angles, radius):
    """Points (N, S, 3) at angles (N, S) [rad] about a local axis of N frames; angle 0 lies on the axis after it.

    position (N, 3), orientation (N, 4), axis (N,) 0, 1 or 2, radius a number.
    """
    position, columns = _frames(position, orientation)
    rows, x, y = np.arange(len(position)), (axis + 1) % 3, (axis + 2) % 3
    angles = angles[..., None]
    around = np.cos(angles) * columns[rows, x][:, None] + np.sin(angles) * columns[rows, y][:, None]
    return position[:, None] + radius * around


def arcs(strokes, position, orientation, axis, lower, upper, radius, color=LIMIT):
    """The angles that N limits allow about local axes: an arc with two spokes each.  lower, upper: (N,) [rad]."""
    lower, upper, axis = (np.reshape(values, -1) for values in (lower, upper, axis))
    part = np.linspace(0.0, 1.0, ARC_STEPS + 1)
    points = arc_points(position, orientation, axis, lower[:, None] + np.outer(upper - lower, part), radius)
    strokes.add(points[:, :-1], points[:, 1:], color)
    center = np.repeat(np.reshape(position, (-1, 1, 3)), 2, axis=1)
    strokes.add(center, points[:, [0, -1]], color)


def hands(strokes, position, orientation, axis, angle, radius, color=JOINT_FORCE):
    """Where in their arcs N joints stand now: a line at angle (N,) [rad]."""
    points = arc_points(position, orientation, np.reshape(axis, -1), np.reshape(angle, (-1, 1)), 1.1 * radius)
    strokes.add(position, points[:, 0], color)


def ranges(strokes, position, orientation, axis, lower, upper, tick, color=LIMIT):
    """The way that N limits allow along local axes: a line with a tick across each end."""
    position, columns = _frames(position, orientation)
    rows, axis = np.arange(len(position)), np.reshape(axis, -1)
    along, aside = columns[rows, axis], columns[rows, (axis + 1) % 3]
    ends = [position + np.reshape(end, (-1, 1)) * along for end in (lower, upper)]
    strokes.add(*ends, color)
    for end in ends:
        strokes.add(end - 0.5 * tick * aside, end + 0.5 * tick * aside, color)


def relative_angles(frame_a, frame_b, axis):
    """Angles (N,) [rad] of frames b (N, 4) in frames a (N, 4) about local axes (N,)."""
    a, b = (conventions.rotation_matrix(np.reshape(frame, (-1, 4))) for frame in (frame_a, frame_b))
    rotation = np.swapaxes(a, 1, 2) @ b
    rows, axis = np.arange(len(rotation)), np.reshape(axis, -1)
    x, y = (axis + 1) % 3, (axis + 2) % 3
    return np.arctan2(rotation[rows, y, x] - rotation[rows, x, y], rotation[rows, x, x] + rotation[rows, y, y])


def _frames(position, orientation):
    """(position (N, 3), local axes (N, 3, 3) as rows)."""
    rotation = conventions.rotation_matrix(np.reshape(orientation, (-1, 4)))
    return np.reshape(position, (-1, 3)).astype(float), np.swapaxes(rotation, 1, 2)
