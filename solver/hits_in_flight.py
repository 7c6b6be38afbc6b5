# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that hit each other in flight and do not rebound: the velocity phase pushes them where they hit.

Their step ends by backward Euler, with the levers of the end of it. By then they have moved on, by up to a frame, so
that they got another spin than the impulse of the hit gives them, and lost angular momentum. How far they go is right
to first order: what stops them at the end is as much less as the rest of the step is shorter than the whole.  Heaps
are left out, where the ground takes the momentum: a phase more in each of their steps took twice their time.
"""

import numpy as np

from .bounces import moving_first
from .flags import places, some
from .reference.impact import approach, time_to_zero
from .topology import whole_groups

FAST = 0.1  # [m/s] at which they meet; slower they come to lie on each other


def hits_in_flight(assembly, solution):
    """(C,) bool: loaded contacts of two bodies that move, apart at the step's start, that hit each other within it and
    whose island nothing bears that stands; or None: there are none.
    """
    problem, loaded = assembly.problem, solution.contact_impulse[:, 0] > 0.0
    contacts, n, h = problem.contacts, problem.bodies.dynamic_count, problem.step
    own, other = moving_first(contacts)
    if contacts.start_gap is None or not some(loaded & (other < n)):
        return None
    borne = np.zeros(len(problem.bodies.mass), bool)
    borne[own[loaded & (other >= n)]] = True
    free = np.append(~whole_groups(assembly.island, borne[:n]), False)
    near = loaded & (other < n) & free[np.minimum(own, n)]
    near &= contacts.start_gap > (0.0 if contacts.gap_noise is None else contacts.gap_noise)
    index = places(near)
    if not len(index):
        return None
    speed, gain = approach(problem.bodies, contacts.take(index), assembly.end_velocity)
    time = time_to_zero(contacts.start_gap[index], speed, gain / h)
    near[index] = (time <= h) & (speed + gain * np.minimum(time / h, 1.0) < -FAST)
    return near if some(near) else None


def in_flight(assembly, solution):
    """(n,) bool: bodies that hit each other so, or None: none do."""
    hits = hits_in_flight(assembly, solution)
    if hits is None:
        return None
    contacts, out = assembly.problem.contacts, np.zeros(assembly.problem.bodies.dynamic_count, bool)
    out[contacts.body_a[hits]] = out[contacts.body_b[hits]] = True
    return out
