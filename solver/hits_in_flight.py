# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that hit each other in flight and do not rebound: the velocity phase pushes them where they hit.

Their step ends by backward Euler, with the levers of the end of it. By then they have moved on, by up to a frame, so
that they got another spin than the impulse of the hit gives them, and lost angular momentum. How far they go is right
to first order: what stops them at the end is as much less as the rest of the step is shorter than the whole.
"""

import numpy as np

from .flags import places, some
from .reference.impact import approach, time_to_zero

FAST = 0.1  # [m/s] at which they meet; slower they come to lie on each other


def meet_in_flight(assembly):
    """(C,) bool: contacts of two bodies that move, apart at the step's start, that hit each other within it."""
    problem = assembly.problem
    contacts, n, h = problem.contacts, problem.bodies.dynamic_count, problem.step
    if contacts.start_gap is None:
        return np.zeros(len(contacts), bool)
    out = np.maximum(contacts.body_a, contacts.body_b) < n
    out &= contacts.start_gap > 0.0 if contacts.gap_noise is None else contacts.start_gap > contacts.gap_noise
    index = places(out)
    if len(index):
        near = contacts.take(index)
        speed, gain = approach(problem.bodies, near, assembly.end_velocity)
        time = time_to_zero(near.start_gap, speed, gain / h)
        out[index] = (time <= h) & (speed + gain * np.minimum(time / h, 1.0) < -FAST)
    return out


def in_flight(assembly, solution):
    """(n,) bool: bodies that hit each other so, or None: none do."""
    loaded = solution.contact_impulse[:, 0] > 0.0
    if not some(loaded):
        return None
    hits = places(meet_in_flight(assembly) & loaded)
    if not len(hits):
        return None
    contacts = assembly.problem.contacts
    out = np.zeros(assembly.problem.bodies.dynamic_count, bool)
    out[contacts.body_a[hits]] = out[contacts.body_b[hits]] = True
    return out
