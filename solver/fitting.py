# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bodies start a step with a velocity that fits their joints, where no velocity phase before it says so.

None does at the start of a bake, nor of what slept, was let go by its animation, or was slowed at contacts.
"""

import numpy as np

from .flags import places
from .reference.rows import coordinate_rates
from .topology import groups_with


def misfits(assembly, asked, most):
    """(islands,) bool: those of ``asked`` (islands,) bool whose velocity changes what a joint holds.

    most: [m/s, rad/s] that is no change.
    """
    rows, bodies = assembly.problem.joints, assembly.problem.bodies
    holds = (rows.beta == 1.0) & (rows.compliance == 0.0) & np.isinf(rows.lower) & np.isinf(rows.upper)
    of_row = assembly.island[np.minimum(rows.body_a, rows.body_b)]
    which = places(holds & asked[of_row])
    rate = coordinate_rates(rows.take(which), bodies.velocity, bodies.position, bodies.orientation)
    off = np.abs(rate - assembly.row_rate[which]) > most
    return groups_with(assembly.island, np.minimum(rows.body_a, rows.body_b)[which[off]], len(asked))
