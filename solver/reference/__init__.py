# SPDX-License-Identifier: GPL-3.0-or-later
"""The equations as they are written, dense and in float64 NumPy: slow, plain, and the judge of everything fast.

dense         rigid bodies and distance constraints assembled into one linear system
gauss         Gauss's principle of least constraint, in maximal and in reduced coordinates
multipliers   constraint forces with feedback against drift
ncp           contacts with Coulomb friction, solved to high accuracy
rows          joint coordinates, contact gaps and their Jacobians
rotation      quaternions (xyzw) and rotations
"""

from . import dense, gauss, multipliers, ncp, rotation, rows

__all__ = ["dense", "gauss", "multipliers", "ncp", "rotation", "rows"]
