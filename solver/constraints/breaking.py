# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that break: the force of a joint over a converged step, against its limits.

    force   |sum of its LINEAR and DISTANCE rows|     torque   |sum of its DOT and TWIST rows|

Rows of one kind on different axes stand at right angles, so the norm is that of their forces; rows that share an axis
(two limits, a drive and its friction) act along one line and add up.
"""

import numpy as np

from ..problem import Coordinate


def impulse_share(problem):
    """(R,) how many times each row's impulse of the position phase counts over the whole step: 1 + midpoint."""
    midpoint, rows = problem.bodies.midpoint, problem.joints
    return 1.0 + np.maximum(midpoint[rows.body_a], midpoint[rows.body_b])


def row_forces(assembly, solution):
    """(R,) force of each row over the step [N or N m]."""
    return impulse_share(assembly.problem) * solution.joint_impulse / assembly.problem.step


def joint_loads(rows, force, count):
    """(force [N], torque [N m]) of each of ``count`` joints, (count,) each."""
    angular = np.isin(rows.coordinate, (Coordinate.DOT, Coordinate.TWIST))
    # one line of action per joint and axis: rows on the same axis are neighbours with the same axis_a
    same = np.zeros(len(rows), bool)
    if len(rows) > 1:
        same[1:] = (
            (rows.joint[1:] == rows.joint[:-1])
            & (rows.coordinate[1:] == rows.coordinate[:-1])
            & (rows.axis_a[1:] == rows.axis_a[:-1]).all(axis=1)
        )
    line = np.cumsum(~same) - 1
    total = np.bincount(line, force) if len(rows) else np.zeros(0)
    first = np.nonzero(~same)[0]
    loads = []
    for kind in (~angular, angular):
        chosen = kind[first]
        loads.append(np.sqrt(np.bincount(rows.joint[first][chosen], total[chosen] ** 2, count)))
    return loads[0], loads[1]
