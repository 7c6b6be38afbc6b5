# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a step before which no velocity phase says how bodies move, nor how much energy they had of late.

So it is at the start of a bake, of what slept, was let go by its animation, or was slowed at contacts.
"""

import numpy as np

from .flags import places
from .reference.rows import coordinate_rates
from .topology import groups_with
from .vectors import length


def misfits(assembly, asked, most, firm=True):
    """(islands,) bool: those of ``asked`` (islands,) bool whose velocity changes what a joint holds.

    most: [m/s, rad/s] that is no change; firm: whether rows that give way hold, or may move as those of nets do.
    """
    rows, bodies = assembly.problem.joints, assembly.problem.bodies
    holds = (rows.beta == 1.0) & ~np.isnan(assembly.row_rate) & np.isinf(rows.lower) & np.isinf(rows.upper)
    if not firm:
        holds &= rows.compliance == 0.0
    of_row = assembly.island[np.minimum(rows.body_a, rows.body_b)]
    which = places(holds & asked[of_row])
    rate = coordinate_rates(rows.take(which), bodies.velocity, bodies.position, bodies.orientation)
    off = np.abs(rate - assembly.row_rate[which]) > most
    return groups_with(assembly.island, np.minimum(rows.body_a, rows.body_b)[which[off]], len(asked))


def work_in_noise(assembly, judged):
    """(islands,) work [J] of the forces of free motion on ways as long as what the solve left of the step's laws.

    What hangs still and is driven from there has less energy in its first step than its weight does on those.
    judged: the JudgedStep.
    """
    bodies, n = assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    gain = length(assembly.end_velocity[:, :3] - bodies.velocity[:n, :3])
    work = bodies.mass[:n] * gain * judged.body[:n] / assembly.problem.step
    return np.bincount(assembly.island, work, len(assembly.island_jointed))
