# SPDX-License-Identifier: GPL-3.0-or-later
"""Catches: a rope with compliance that comes taut in mid-step throws back what it catches, however stiff it is.

    c = v / omega sin(omega t),   0 <= t <= pi / omega        omega^2 = 1 / (m compliance), v: the speed it is met with

A rope holds from the instant on at which it is taut, and a step has one force for it.  By the mean of both ends it came
taut a step late, strained by all that its load went on, up to 2.4 times the energy there was; and where pi / omega was
less than a step and a half it stopped the load dead.  So the step is done again in two parts that meet where the rope
comes taut, and what is left of it in slices that follow the half swing until it is slack again.  A solve without the
rope tells when it comes taut.

A catch is over, too, where the rope turns back before it is slack: its load hangs on it, and what is left of the swing
is less than that strains it.  So it is where something else holds the load.
"""

import numpy as np

from .caught import NEAR, TINY, matters, motion, ropes_of
from .flags import some
from .reference.rows import coordinates
from .stops import Stops, met_at, unstopped

SLICES = 6  # of half a swing: the mean coordinate has its time to 2.4 %
EARLY = 0.5 * NEAR  # of the step, before a rope comes taut: it ends slack
MOST = 40  # times that a step is done in parts for ropes: those that bounce to and fro in it are left to it


def catch(attempt, phase):
    """(share of the step, (n,) bool: bodies, number of slices that the share is done in) of a rope that comes taut in
    it, or that is in a catch; None: none is, or the step is short enough for it.

    attempt: a finished Attempt, to which the work is added; phase: the PositionPhase that solved it.
    """
    assembly, table = attempt.assembly, phase.joints
    number = ropes_of(assembly, table)
    if not len(number) or table.catches >= MOST:
        return None
    problem, n, h = assembly.problem, assembly.problem.bodies.dynamic_count, assembly.problem.step
    rows, own = problem.joints.take(number), assembly.row_number[number]
    sides = np.minimum(rows.body_a, n), np.minimum(rows.body_b, n)
    failed = np.append(attempt.failed[attempt.dynamic()], False)  # those are done again anyway
    open_ = ~(failed[sides[0]] | failed[sides[1]])
    place, speed, swing = motion(table, own)
    near = np.maximum(NEAR * h * speed, 0.0)
    slack, starts = place < -near, (np.abs(place) <= near) & matters(assembly, rows, table, own, speed)
    going = ((table.caught[own] > 0.0) | starts) & ~slack & open_
    after = coordinates(rows, attempt.solution.position, attempt.solution.orientation) - rows.target
    comes = slack & open_ & ((attempt.solution.joint_impulse[number] != 0.0) | (after > 0.0))
    if some(comes):
        free = coordinates(rows, problem.bodies.free_position, problem.bodies.free_orientation) - rows.target
        fastest = np.maximum(speed, 2.0 * (free - place) / h - speed)
        comes &= matters(assembly, rows, table, own, fastest)
    if some(going):
        early = np.where(going, np.minimum(place, 0.0), 0.0) / np.maximum(speed, TINY)  # [s] it is slack yet
        turned = np.arctan2(swing * np.maximum(place, 0.0), speed) + swing * early
        share, slices = _slices(np.pi - turned, swing, h)
        going &= ((share > NEAR) & (share < 1.0)) | (slices > 1)
    if some(going):
        table.catches += 1
        ours = int(np.argmax(np.where(going, swing, 0.0)))  # the others wait for what is left of the step
        return float(share[ours]), _bodies(sides, going | comes, n), int(slices[ours])
    if not some(comes):
        return None
    none, bodies = np.zeros(0, int), _bodies(sides, comes, n)
    found, residual, _ = unstopped(attempt, phase, Stops(number[comes], none, none, none), bodies)
    last = coordinates(rows, found.position, found.orientation) - rows.target
    share, wide = met_at(-place, -h * speed, -last), np.append(residual, 0.0)
    meets = speed + 2.0 * np.where(comes, share, 0.0) * ((last - place) / h - speed)
    comes &= (share > NEAR) & (share < 1.0) & matters(assembly, rows, table, own, meets)
    comes &= np.maximum(wide[sides[0]], wide[sides[1]]) <= phase.fast
    if not some(comes):
        return None
    table.catches += 1
    return float(share[comes].min()) - EARLY, _bodies(sides, comes, n), 1


def _slices(angle, swing, h):
    """((K,) share of a step of ``h`` [s] until ropes are slack, at most 1, (K,) slices of that) of half a swing.

    angle: (K,) what is left of it [rad]; swing: (K,) omega [1/s].  By the mean coordinate, too, it ends there.
    """
    count = np.maximum(np.ceil(SLICES * angle / np.pi - NEAR), 1.0)
    share = 2.0 * count * np.tan(0.5 * angle / count) / (swing * h)
    whole = share >= 1.0 - NEAR
    all_of_it = np.maximum(np.ceil(SLICES * swing * h / np.pi - NEAR), 1.0)
    return np.where(whole, 1.0, share), np.where(whole, all_of_it, count)


def _bodies(sides, which, n):
    """(n,) bool: those of the ``which`` (K,) bool rows."""
    out = np.zeros(n + 1, bool)
    for side in sides:
        out[side[which]] = True
    return out[:-1]
