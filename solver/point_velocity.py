# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities of points that go with bodies."""

import numpy as np

from .rotations import rotate


def at_places(bodies, velocity, body, point):
    """(K, 3) velocity of ``point`` (K, 3) of each ``body`` (K,), where those of all are ``velocity`` (B, 6)."""
    return velocity[body, :3] + np.cross(velocity[body, 3:], rotate(bodies.orientation[body], point))
