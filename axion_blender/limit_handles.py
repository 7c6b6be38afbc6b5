# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the handles of joint limits stand, and what limit a mouse ray means.  Pure NumPy, no Blender.

Angles [rad] about a local axis begin on the axis after it, as the overlay's arcs do.
"""

import numpy as np

from . import conventions, strokes

FLAT = 0.05  # sine between a ray and the plane of an arc below which the ray says nothing
SNAP_ANGLE, SNAP_LENGTH = np.radians(5.0), 0.1


def axis_of(limit):
    """(axis 0, 1 or 2, is linear) of a limit's property, such as "limit_ang_z_upper"."""
    _, kind, letter, _ = limit.split("_")
    return "xyz".index(letter), kind == "lin"


def other_end(limit):
    """The property of the other end of a limit's range."""
    return limit.replace("upper", "lower") if limit.endswith("upper") else limit.replace("lower", "upper")


def place(limit, value, position, orientation, radius):
    """(point (3,), direction (3,)) of the handle of a limit: where it stands and the way along which it moves up."""
    axis, linear = axis_of(limit)
    rotation = conventions.rotation_matrix(np.asarray(orientation, float))
    if linear:
        return np.asarray(position, float) + value * rotation[:, axis], rotation[:, axis]
    frame = [position], [orientation], np.array([axis])
    point, ahead = (strokes.arc_points(*frame, np.array([[a]]), radius)[0, 0] for a in (value, value + 0.5 * np.pi))
    return point, (ahead - np.asarray(position, float)) / radius


def value_at(limit, ray, position, orientation, near):
    """The value of a limit that a mouse ray (origin (3,), direction (3,)) points at, or None where it tells none.

    An angle is the one nearest to ``near``, so turns beyond half a turn can be reached.
    """
    axis, linear = axis_of(limit)
    rotation = conventions.rotation_matrix(np.asarray(orientation, float))
    origin, direction = (np.asarray(part, float) for part in ray)
    direction = direction / np.linalg.norm(direction)
    offset, along = origin - position, rotation[:, axis]
    slope = direction @ along
    if linear:  # the point of the axis nearest to the ray
        if 1.0 - slope**2 < FLAT**2:
            return None
        return float((offset @ along - slope * (offset @ direction)) / (1.0 - slope**2))
    if abs(slope) < FLAT:
        return None
    hit = offset - direction * (offset @ along) / slope
    x, y = rotation[:, (axis + 1) % 3], rotation[:, (axis + 2) % 3]
    angle = float(np.arctan2(hit @ y, hit @ x))
    return angle + 2.0 * np.pi * round((near - angle) / (2.0 * np.pi))


def allowed(limit, value, other):
    """``value`` kept on its side of the other end and, an angle, within a full turn."""
    linear = axis_of(limit)[1]
    value = max(value, other) if limit.endswith("upper") else min(value, other)
    return value if linear else min(max(value, -2.0 * np.pi), 2.0 * np.pi)


def snapped(limit, value):
    """``value`` on the nearest whole step: 5 degrees, or a tenth of a unit."""
    step = SNAP_LENGTH if axis_of(limit)[1] else SNAP_ANGLE
    return step * round(value / step)
