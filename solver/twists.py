# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists of joints over whole turns: which of them the present velocity leads to."""

import numpy as np

from . import rotations
from .problem import Coordinate


def expect_turns(rows, bodies, step):
    """Unwrap twists around the angle that the present velocity leads to, so that fast wheels are not miscounted."""
    twist = np.flatnonzero(rows.coordinate == int(Coordinate.TWIST))  # NumPy is slow with an enum
    if not len(twist):
        return
    a, b = rows.body_a[twist], rows.body_b[twist]
    axis = rotations.rotate(bodies.orientation[a], rows.axis_a[twist])
    turn = step * np.einsum("ri,ri->r", axis, bodies.velocity[b, 3:] - bodies.velocity[a, 3:])
    rows.offset[twist] += turn
    rows.target[twist] -= turn * (rows.beta[twist] != 0.0)
