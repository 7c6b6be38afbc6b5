# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces that turned in a step and pushed a body from where they are not.

In the gap at a step's end the normal has turned with the body whose face is touched.  The plane of that face is without
end: where a cam, a flipper or a tooth turns by much in a step, it reaches far beyond the face, and holds or throws what
the body itself no longer touches.  A follower hung half a metre above its cam, with a gap of zero.  Where detection at
the end finds more of a gap than the contact says, the step was too long for that.
"""

import numpy as np

from .plausible import PairOverlap, speeds
from .reference.rows import gaps

TURNS = 0.02, 0.05  # [rad] in a step: faces of what is keyed, and of jointed bodies, that turn by less are left alone
BEYOND = 2.0  # of the tolerance, by which a contact may be farther off than it says,
SHARE = 0.01  # and of the smaller half extent


def overreached(assembly, solution, found, model, tolerance):
    """(n,) bool: bodies that faces which turned in a solved step pushed from where they are not; None: there are none.

    found: ContactSet at the end pose; model: CollisionModel; tolerance: [m] by which gaps may be off.
    """
    problem, order = assembly.problem, assembly.numbering.scene
    contacts, n, h = problem.contacts, problem.bodies.dynamic_count, problem.step
    if contacts.face is None or not len(contacts):
        return None
    turned = h * speeds(solution.velocity)[1]
    turns = turned > TURNS[0]
    turns[:n] = (turned[:n] > TURNS[1]) & assembly.island_jointed[assembly.island]
    index = np.flatnonzero((solution.contact_impulse[:, 0] > 0.0) & (contacts.face >= 0) & turns[contacts.face])
    if not len(index):
        return None
    near = contacts.take(index)
    a, b = order[near.body_a], order[near.body_b]
    told = gaps(near, solution.position, solution.orientation)
    seen = PairOverlap(found.body_a, found.body_b, found.gap, len(order) - 1, most=np.inf).of(a, b)
    room = np.maximum(BEYOND * tolerance, SHARE * np.minimum(model.body_size[a], model.body_size[b]))
    far = seen > told + room
    if not far.any():
        return None
    out = np.zeros(n + 1, bool)
    for side in (near.body_a, near.body_b):
        out[np.minimum(side[far], n)] = True
    return out[:n]
