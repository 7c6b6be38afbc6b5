# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are carried along a curve: a marble in a bowl, a ball in a loop, a box that slides down a chute.

What contacts hold ends a step by backward Euler: of its velocity that part is lost which leads into the surface where
the step ends.  Where the surface turns by an angle a in the step, that is a share sin^2 a of the energy, and a ball in
a bowl lost half of it in a second at 24 frames a second.  In n parts of the step it is an n-th of that, so such steps
are halved; at a kink, where that share is lost by law, they find the same.
"""

import numpy as np

from .bounces import moving_first
from .parts import of_islands

TURN = 0.035  # [rad] by which a surface may turn in a step
DEEPEST = 4  # a step is halved for it at most this often
TUMBLING = 0.5  # of its speed: what has corners and turns faster at its rim lands on one after the other


def carried_along(assembly, solution, fast, radius):
    """(B,) bool: scene bodies, alone with what is not solved, whose step was too long for the curve that carries them.

    fast: [m] way into the surface in the step that does not matter; radius: (B,) around scene bodies' origins [m].
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    contacts, bodies, h = problem.contacts, problem.bodies, problem.step
    out = np.zeros(n, bool)
    alone = (np.bincount(assembly.island, minlength=n)[assembly.island] == 1) & ~assembly.island_jointed[
        assembly.island
    ]
    own, other = moving_first(contacts)
    first = contacts.body_a == own
    normal = np.where(first[:, None], contacts.normal, -contacts.normal)
    ours = (own < n) & (other >= n)
    ours[ours] = alone[own[ours]]
    before = ours & contacts.impulse.any(axis=1) & (contacts.start_gap <= fast)
    after = ours & (solution.contact_impulse[:, 0] > 0.0) & (contacts.rebound_speed == 0.0)
    if not before.any() or not after.any():
        return of_islands(assembly, out)
    velocity = bodies.velocity[:, :3]
    towards = -(normal * (velocity[np.minimum(own, n - 1)] - velocity[other])).sum(axis=1)
    after &= h * towards > fast
    speed = np.sqrt((velocity[:n] * velocity[:n]).sum(axis=1))
    rim = radius[assembly.numbering.scene[:n]] * np.sqrt((bodies.velocity[:n, 3:] ** 2).sum(axis=1))
    round_ = np.where(first, contacts.margin_a, contacts.margin_b) > 0.0
    for k in np.flatnonzero(after & np.isin(own, own[before])).tolist():
        body = own[k]
        if not round_[k] and rim[body] > TUMBLING * speed[body]:
            continue
        known = before & (own == body)
        out[body] |= (normal[known] @ normal[k]).max() < np.cos(TURN) and towards[k] > np.sin(TURN) * speed[body]
    return of_islands(assembly, out)
