# SPDX-License-Identifier: GPL-3.0-or-later
"""Hits in flight for which one step is too long: it is done again in parts.

What turns by much in the step and hits something without a rebound has parts until just before the hit, as if nothing
were hit; over the hit, in which nothing moves by much; and the rest.  A solve without the contacts that are hit tells
when that is (of rebounds, turning_strikes.py does).  Where the solve leaves angular momentum, as what lies on each
other turns on and meets with other corners, the parts are halves.  Not if any of the joints may break; see stops.py.
"""

import numpy as np

from .components import joint_groups
from .copies import replace
from .flags import some
from .free_momentum import MUCH
from .reference.rows import gaps, parting_speeds
from .stops import may_break, met_at, solved_otherwise
from .turning_strikes import FAR
from .vectors import length

AROUND = 0.005  # of the smaller one's size, which they may move before and after the hit, within which it is


def collide(attempt, phase):
    """(share of the step at which to split it, (n,) bool: bodies that hit each other in flight); None: none do.

    attempt: a finished Attempt, to which the work is added; phase: the PositionPhase that solved it.
    """
    hits = attempt.end.hits
    if not len(hits):
        return None
    problem, model, dynamic = attempt.assembly.problem, phase.collider.model, attempt.dynamic()
    contacts, start, n, h = problem.contacts, problem.bodies, problem.bodies.dynamic_count, problem.step
    barred = _barred(attempt, phase)
    a, b = contacts.body_a[hits], contacts.body_b[hits]
    turn = h * length(start.velocity[:n, 3:])
    turn[model.balls[dynamic]] = 0.0  # they are the same however they turn
    wrong = (np.maximum(turn[a], turn[b]) > FAR) & ~(barred[a] | barred[b])
    if not some(wrong):
        return None
    hits, a, b = hits[wrong], a[wrong], b[wrong]
    bodies, kept = np.zeros(n, bool), np.ones(len(contacts), bool)
    bodies[a] = bodies[b] = True
    kept[hits] = False
    free, residual = solved_otherwise(attempt, phase, replace(problem, contacts=contacts.take(kept)), bodies)
    share = _met(problem, hits, free)
    told = (share < 1.0) & (np.maximum(residual[a], residual[b]) <= phase.fast)
    if not some(told):
        return None
    first = int(np.argmin(np.where(told, share, np.inf)))
    radius = model.body_radius[dynamic]
    i, j = a[first], b[first]
    pace = h * length(start.velocity[i, :3] - start.velocity[j, :3]) + turn[i] * radius[i] + turn[j] * radius[j]
    around, share = AROUND * min(radius[i], radius[j]) / pace, share[first]
    bodies[:] = False
    bodies[a[told]] = bodies[b[told]] = True
    if share > 2.0 * around:
        return float(share - around), bodies
    return (float(share + around), bodies) if share + around < 1.0 else None


def _met(problem, hits, free):
    """(H,) share of the step after which contacts ``hits`` meet on the way to ``free``, a StepSolution; 1: never."""
    start, contacts = problem.bodies, problem.contacts.take(hits)
    poses = (start.position, start.orientation), (free.position, free.orientation)
    first, last = (gaps(contacts, *pose) for pose in poses)
    return met_at(first, problem.step * parting_speeds(contacts, start.velocity, *poses[0]), last)


def unsteady(attempt, phase):
    """(1/2, (n,) bool: bodies of groups whose angular momentum the solve left); None: none."""
    share = attempt.end.spun
    if share is None or not some(left := share > MUCH):
        return None
    left &= ~_barred(attempt, phase)
    return (0.5, left) if some(left) else None


def _barred(attempt, phase):
    """(n,) bool: bodies that are done again anyway, or hang on joints that may break."""
    problem, n = attempt.assembly.problem, attempt.assembly.problem.bodies.dynamic_count
    label = joint_groups(attempt.assembly.joint_links, n)
    return attempt.failed[attempt.dynamic()] | may_break(problem, label, phase.joints.breakable())[label[:n]]
