# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that break: the mean force of a joint over a converged step, against its limits.

    force   |sum of its LINEAR and DISTANCE rows|     torque   |sum of its DOT and TWIST rows|

It is the force that is recorded: that of both phases together.  What stops at once has lost twice its momentum after
the position phase, which solves for the mean velocity, and gets one back in the velocity phase.

What breaks relieves others: of the links of a hanging chain, all but one carry nothing once the first has gone.  So of
each island only the joints that carry most of what they can go, and the step is solved again.  Where many are
overloaded, as in a wall of glued bricks that is struck, an eighth of them go at once, but never one of two that carry
the same: of a plank that two joints hold side by side both would have gone, or neither.  Where that goes on and on in
a step, twice as many go after each few rounds: a ball of 450 glued shards that fell took fifty, one joint at a time.
"""

import numpy as np

from ..problem import Coordinate
from ..reference.rows import jacobians, joint_directions, mean_jacobians

EQUAL = 1e-3  # part by which two loads may differ and go together
AT_ONCE = 8  # of so many overloaded joints of an island one goes, where it is no equal of one that stays;
ROUNDS = 4  # of half as many after each so many rounds of a step


def impulse_share(problem):
    """(R,) how many times each row's impulse of the position phase counts over the whole step: 1 + midpoint."""
    midpoint, rows = problem.bodies.midpoint, problem.joints
    return 1.0 + np.maximum(midpoint[rows.body_a], midpoint[rows.body_b])


def row_forces(assembly, solution):
    """(R,) force of each row over the step [N or N m]."""
    return impulse_share(assembly.problem) * solution.joint_impulse / assembly.problem.step


def joint_impulses(problem, solution, phase, count, wide=None):
    """(count, 6) what each joint gave its body b in a step: impulse [N s], and moment about the anchor [N m s].

    phase: StepProblem, StepSolution and contacts of the velocity phase, which adds to it, or None; wide: (B,) bool,
    solver bodies whose rows count, or None for all.
    """
    along = joint_directions(problem, solution.position, solution.orientation)[1]
    parts = [(problem.joints, along, impulse_share(problem) * solution.joint_impulse)]
    if phase is not None:
        at_end, result, _ = phase
        bodies, rows = at_end.bodies, at_end.joints
        end = bodies.position, bodies.orientation
        along = jacobians(rows, *end)[1]
        if result.midway is not None:
            start = problem.bodies.position, problem.bodies.orientation
            along = np.where(result.midway[:, None], mean_jacobians(rows, start, end)[1], along)
        parts.append((rows, along, result.joint_impulse))
    out = np.zeros((count, 6))
    for rows, along, impulse in parts:
        counted = impulse if wide is None else impulse * (wide[rows.body_a] | wide[rows.body_b])
        out += pushes(rows, along, counted, count)
    return out


def pushes(rows, along, impulse, count):
    """(count, 6) sums over joints of their rows' impulses (R,) along (R, 6); about the anchor lengths have no lever."""
    push = along * impulse[:, None]
    turning = np.isin(rows.coordinate, (Coordinate.DOT, Coordinate.TWIST))
    push[~turning, 3:] = 0.0
    out = np.zeros((count, 6))
    np.add.at(out, rows.joint, push)
    return out


def overloaded(assembly, solution, phase, strength, alive, sound, rounds):
    """(K,) numbers of the joints that go before the others are judged again.

    phase: see ``joint_impulses``; strength: (J, 2) the most that each joint carries [N], [N m]; alive: (J,) bool;
    sound: (n,) bool, dynamic bodies within the tolerance: joints of the others are not judged; rounds: that broke some
    in this step before.
    """
    rows, others = assembly.problem.joints, len(assembly.problem.bodies.mass) - len(sound)
    mean = joint_impulses(assembly.problem, solution, phase, len(alive)) / assembly.problem.step
    force, torque = np.linalg.norm(mean.reshape(-1, 2, 3), axis=2).T
    load = np.maximum(force / strength[:, 0], torque / strength[:, 1])
    known, judged = np.append(sound, np.ones(others, bool)), np.ones(len(alive), bool)
    np.logical_and.at(judged, rows.joint, known[rows.body_a] & known[rows.body_b])
    over = np.flatnonzero(alive & judged & (load > 1.0))
    of_body, island = np.append(assembly.island, np.full(others, -1)), np.empty(len(alive), np.intp)
    island[rows.joint] = np.maximum(of_body[rows.body_a], of_body[rows.body_b])
    return over[_first(load[over], island[over], max(1, AT_ONCE >> (rounds // ROUNDS)))]


def _first(load, island, at_once):
    """(K,) bool: which of K overloaded joints go first: an ``at_once``-th of each island's, but of equal ones all or
    none; at least those with the largest load.

    load: (K,) what each carries, in parts of what it can; island: (K,) that of each.
    """
    order = np.lexsort((-load, island))
    load, start = load[order], np.flatnonzero(np.diff(island[order], prepend=-2))
    count = np.diff(np.append(start, len(order)))
    stays = np.minimum(-(-count // at_once), count - 1)  # rank of the first that may stay
    least = np.where(count > 1, (1.0 + EQUAL) * load[start + stays], 0.0)
    out = np.empty(len(order), bool)
    out[order] = (load > np.repeat(least, count)) | (load >= (1.0 - EQUAL) * np.repeat(load[start], count))
    return out
