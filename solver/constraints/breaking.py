# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that break: the force of a joint over a converged step, against its limits.

    force   |sum of its LINEAR and DISTANCE rows|     torque   |sum of its DOT and TWIST rows|

Rows of one kind on different axes stand at right angles, so the norm is that of their forces; rows that share an axis
(two limits, a drive and its friction) act along one line and add up.

What breaks relieves others: of the links of a hanging chain, all but one carry nothing once the first has gone.  So of
each island only the joints that carry most of what they can go, and the step is solved again.  Where many are
overloaded, as in a wall of glued bricks that is struck, an eighth of them go at once.
"""

import numpy as np

from ..problem import Coordinate

EQUAL = 1e-3  # part by which two loads may differ and go together
AT_ONCE = 8  # of so many overloaded joints of an island one goes at least


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


def overloaded(assembly, solution, strength, alive, sound):
    """(K,) numbers of the joints that go before the others are judged again.

    strength: (J, 2) the most that each joint carries [N], [N m]; alive: (J,) bool; sound: (n,) bool, dynamic bodies
    within the tolerance: joints of the others are not judged.
    """
    rows, others = assembly.problem.joints, len(assembly.problem.bodies.mass) - len(sound)
    force, torque = joint_loads(rows, row_forces(assembly, solution), len(alive))
    load = np.maximum(force / strength[:, 0], torque / strength[:, 1])
    known, judged = np.append(sound, np.ones(others, bool)), np.ones(len(alive), bool)
    np.logical_and.at(judged, rows.joint, known[rows.body_a] & known[rows.body_b])
    over = np.flatnonzero(alive & judged & (load > 1.0))
    of_body, island = np.append(assembly.island, np.full(others, -1)), np.empty(len(alive), np.intp)
    island[rows.joint] = np.maximum(of_body[rows.body_a], of_body[rows.body_b])
    return over[_first(load[over], island[over])]


def _first(load, island):
    """(K,) bool: which of K overloaded joints go first.

    load: (K,) what each carries, in parts of what it can; island: (K,) that of each.
    """
    order = np.lexsort((-load, island))
    start = np.flatnonzero(np.diff(island[order], prepend=-2))
    count = np.diff(np.append(start, len(order)))
    rank, many = np.arange(len(order)) - np.repeat(start, count), np.repeat(count, count)
    out = np.empty(len(order), bool)
    out[order] = (AT_ONCE * rank < many) | (load[order] >= (1.0 - EQUAL) * np.repeat(load[order][start], count))
    return out
