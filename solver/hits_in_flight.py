# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that hit each other in flight and do not rebound: the velocity phase pushes them where they hit.

Their step ends by backward Euler: it closes the gap at its end, by a speed that is not nothing, and the next step took
the rest of the approach with other levers.  Two smooth boxes so got 0.57 to 0.88 of the spin of their hit.

Heaps are left out, where the ground takes the momentum.
"""

import numpy as np

from .bounces import moving_first
from .flags import places, some
from .reference.rows import gaps, parting_speeds
from .topology import whole_groups
from .vectors import length

ASIDE = 1e-3  # of its lever, by which a contact may move and turn in the step: the rest of such a hit can wait
FAST = 0.1  # [m/s] at which they meet; slower they come to lie on each other


def unheld(assembly, solution):
    """Numbers of loaded contacts of two bodies that move, in islands that touch nothing which moves otherwise (K,), and
    those of them in islands that no joint holds to it, either (F,).
    """
    contacts, n = assembly.problem.contacts, assembly.problem.bodies.dynamic_count
    loaded = places(solution.contact_impulse[:, 0] > 0.0)
    own, other = (side.take(loaded) for side in moving_first(contacts))
    among = other < n
    if not some(among):
        return loaded[:0], loaded[:0]
    held, (one, far) = np.zeros(n + 1, bool), assembly.joint_links
    held[own[~among]] = True
    loaded, own = loaded[among], own[among]
    touched = ~whole_groups(assembly.island, held[:n])[own]
    if not len(one):
        return loaded[touched], loaded[touched]
    held[np.minimum(np.minimum(one, far), n)[np.maximum(one, far) >= n]] = True
    return loaded[touched], loaded[~whole_groups(assembly.island, held[:n])[own]]


def in_flight(problem, solution, index, close):
    """Those of the contacts ``index`` (K,) of ``unheld`` that hit within the step, do not rebound, and are elsewhere on
    the bodies, or turned, by the next one.

    close: gaps below this [m] touch from the start.
    """
    if not len(index):
        return index
    contacts, start = problem.contacts.take(index), problem.bodies
    gap = gaps(contacts, start.position, start.orientation)
    speed = -parting_speeds(contacts, start.velocity, start.position, start.orientation)
    hits = (gap > close) & (np.maximum(speed, gap / problem.step) > FAST)
    if contacts.rebound_speed is not None:
        hits &= (contacts.rebound_speed == 0.0) & (contacts.rebound_gap == 0.0)
    a, b, aside = contacts.body_a, contacts.body_b, np.zeros(len(index))
    lever = np.maximum(length(contacts.point_a), length(contacts.point_b))
    for velocity in (start.velocity, solution.velocity):
        past = length(np.cross(contacts.normal, velocity[a, :3] - velocity[b, :3]))
        turn = length(velocity[a, 3:]) + length(velocity[b, 3:])
        aside = np.maximum(aside, problem.step * (past + turn * lever))
    return index[hits & (aside > ASIDE * lever)]
