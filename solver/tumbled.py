# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that hit each other within a step, were turned by radians, and end apart.

The impulses of such a step have the levers of its end, which are not those of the hit; and as nothing closes there any
more, the velocity phase gave all of them back.  What was struck at 30 m/s kept its speed, and one step later the other
was on its far side.  Such a step is too long; of the shortest there is, the velocity has the levers of the hit
(impact_levers.py).
"""

from dataclasses import replace

import numpy as np

from .flags import some
from .ghosts import pushed_from_afar
from .ordered import among
from .passing import TURN
from .plausible import pair_number
from .vectors import length


def tumbled_off(solved, pairs, model, tolerance, last):
    """The Solved step with the contacts of what hit and tumbled off, whose step is too long unless it is the ``last``.

    Balls are the same however they turn.

    pairs: (P,) numbers of pairs of scene bodies that were pushed and meet on their way; model: CollisionModel;
    tolerance: [m] by which gaps may be off.
    """
    if not len(pairs) or not solved.seen:
        return solved
    assembly, solution, order = solved.assembly, solved.solution, solved.assembly.numbering.scene
    contacts, n = assembly.problem.contacts, assembly.problem.bodies.dynamic_count
    tumbles, touched = np.zeros((2, len(order)), bool)
    tumbles[:n] = assembly.problem.step * length(solution.velocity[:n, 3:]) > TURN
    tumbles[:n] &= ~model.balls[order[:n]]
    a, b = contacts.body_a, contacts.body_b
    off = (solution.contact_impulse[:, 0] > 0.0) & (tumbles[a] | tumbles[b])
    if not some(off):
        return solved
    apart = pushed_from_afar(assembly, solution, solved.check.found, model, tolerance, least=tolerance)[0]
    off &= among(pair_number(order[a], order[b], len(order) - 1), apart[among(apart, pairs)])
    if not some(off):
        return solved
    touched[a[off]] = touched[b[off]] = True
    return replace(solved if last else solved.too_long_for(touched[:n]), off=off)
