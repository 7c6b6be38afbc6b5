# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints alone hold may whip: where that is so, a step may be halved more often than others.

As a heavy ball comes to the end of the reach of light links, all of its speed along them goes into the links, which
turn by sqrt(M / m) times as much, and back: two links of 0.2 m that hold a thousand times their mass turn at 100 to 700
rad/s for a fifth of a millisecond.  In a step longer than that it is a dead stop, or has no solution nearby.  Shorter
steps always help there: the motion is smooth, whatever turns it takes.  What contacts press on is another matter, and
so is what hardly turns in the step, starts it with joints apart, or is held by limits or led: there joints may have no
pose that meets them all, and shorter steps would be in vain.
"""

import numpy as np

from .assembled import pressed_islands
from .flags import places
from .reference.rows import coordinates
from .topology import groups_with
from .vectors import length

DEEPEST = 14  # a step is halved at most this often
TURNS = 3e-3  # [rad] in a step: what turns by less has another cause


def whips(attempt, tolerance):
    """(n,) bool: bodies of the islands of an Attempt that joints alone hold, none of which is apart as it starts.

    tolerance: [m or rad] that joints may be apart.
    """
    assembly, solution = attempt.assembly, attempt.solution
    bodies, rows, island = assembly.problem.bodies, assembly.problem.joints, assembly.island
    ours = assembly.island_jointed & ~pressed_islands(assembly, solution)
    own, other = np.minimum(rows.body_a, rows.body_b), np.maximum(rows.body_a, rows.body_b)
    led = (other >= bodies.dynamic_count) & bodies.free_velocity[other].any(axis=1)
    rigid = (rows.beta == 1.0) & (rows.compliance == 0.0) & np.isinf(rows.lower) & np.isinf(rows.upper)
    others = led | (rows.target_velocity != 0.0) | (~rigid & (solution.joint_impulse != 0.0))
    ours[island[own[others]]] = False
    spin = length(bodies.velocity[: bodies.dynamic_count, 3:])
    ours &= groups_with(island, spin * assembly.problem.step > TURNS, len(ours))
    holds = places(rigid)
    held = rows.take(holds)
    off = np.abs(coordinates(held, bodies.position, bodies.orientation) - held.target) > tolerance
    ours[island[own[holds[off]]]] = False
    return ours[island]
