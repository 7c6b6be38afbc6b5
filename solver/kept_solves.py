# SPDX-License-Identifier: GPL-3.0-or-later
"""What islands keep of a solve where a step is solved again for others."""

import numpy as np

from .falling import in_groups
from .flags import places
from .topology import whole_groups
from .velocity_phase import moves


def unchanged(before, after):
    """(n,) bool: bodies of islands that are the same in Assembly ``after`` as in the one ``before`` it."""
    n, known, contacts = len(after.island), len(before.problem.contacts), after.problem.contacts
    changed = before.problem.bodies.midpoint[:n] != after.problem.bodies.midpoint[:n]
    changed |= in_groups(before.falls, n) != in_groups(after.falls, n)
    other = np.ones(len(contacts), bool)
    other[:known] = False
    if contacts.rebound_speed is not None:
        other[:known] = contacts.rebound_speed[:known] != before.problem.contacts.rebound_speed
    for side in (contacts.body_a[other], contacts.body_b[other]):
        changed[side[side < n]] = True
    return ~whole_groups(after.island, changed)


def keep(done, problem, before, earlier, solution, statistics):
    """Take over, in place, what the bodies ``done`` (n,) had in StepSolution ``before`` and SolveStatistics ``earlier``
    of ``problem``, whose contacts and rows come first in the new solution.
    """
    solution.newton_iterations += before.newton_iterations
    solution.linear_iterations += before.linear_iterations
    bodies = places(done)
    for name in ("velocity", "position", "orientation", *(("arc", "pulled") if before.arc is not None else ())):
        getattr(solution, name)[bodies] = getattr(before, name)[bodies]
    for name in ("newton", "swept", "residual", "eps", "constrained", "held"):
        getattr(statistics, name)[bodies] = getattr(earlier, name)[bodies]
    of_rows = ("joint_impulse", *(("drawn",) if before.drawn is not None else ()))
    for table, names in ((problem.contacts, ("contact_impulse",)), (problem.joints, of_rows)):
        kept = places(moves(table, done, len(before.velocity)))
        for name in names:
            getattr(solution, name)[kept] = getattr(before, name)[kept]
