# SPDX-License-Identifier: GPL-3.0-or-later
"""The equations as they are written, dense and in float64 NumPy: slow, plain, and the judge of everything fast.

rows          joint coordinates, contact gaps and their Jacobians
rotation      quaternions (xyzw) and rotations
"""

from . import rotation, rows

__all__ = ["rotation", "rows"]
