# SPDX-License-Identifier: GPL-3.0-or-later
"""Cylinders, capsules and cones that roll so fast that their spin carries aside what contacts give them.

What contacts hold turns by their impulse after its free rotation, and keeps its angular momentum: an axis that is
turned back by an angle t gets a rate of omega t across that.  Contacts are rid of it a step later, by a turn of
omega h t, and from 1.5 rad a step on that is more each time, to the other side: a tin that rolled straight on at 3 m/s
turned about within a third of a second at 24 frames a second, and lost 99 % of its energy.  So where such a body turns
by much in a step, the velocity it ends with keeps the laws of its contacts, too (velocity_phase.py).
"""

import numpy as np

from .flags import places, some
from .reference.rotation import dot

FAST = 0.5  # [rad] a step


def rolling(assembly, solution):
    """(n,) bool: bodies without joints that turn fast and press on something with a round side; None: no body does."""
    problem = assembly.problem
    n, contacts = problem.bodies.dynamic_count, problem.contacts
    if not len(contacts):
        return None
    spin = solution.velocity[:n, 3:]
    fast = dot(spin, spin) * problem.step**2 > FAST**2
    if not some(fast):
        return None
    pushes = places(solution.contact_impulse[:, 0] > 0.0)
    inertia = problem.bodies.inertia[:n]
    fast &= (np.ptp(inertia, axis=1) > 0.0) & ~assembly.island_jointed[assembly.island]
    out = np.zeros(len(problem.bodies.mass), bool)
    for body, margin in ((contacts.body_a, contacts.margin_a), (contacts.body_b, contacts.margin_b)):
        out[body[pushes[margin[pushes] > 0.0]]] = True
    out = out[:n] & fast
    return out if some(out) else None
