# SPDX-License-Identifier: GPL-3.0-or-later
"""With which proximal strength eps a position phase starts: what the last step handed on, within bounds.

Contacts at rest that one iteration a step solves, from the impulses of the last one, are springs as soft as eps:
columns of thirty boxes swing on 1e-4, and sixty buckle (test_stacks_aside.py).
"""

import numpy as np

from .flags import every
from .topology import whole_groups

EPS_OF_CONTACTS = 3e-3  # at most, in islands without joints: larger ones take more rounds
EPS_SMALLEST = 1e-4  # at least, but for contacts at rest


def start_eps(state, assembly, moving, at_rest):
    """(n,) eps of each body's island.

    moving: (n,) bool, bodies of islands too fast to be at rest; at_rest: ProximalSolver.eps_at_rest, the least where
    neither joints nor overlap that friction locks are about.
    """
    island, scene = assembly.island, assembly.numbering.scene[: len(assembly.island)]
    eps, jointed = state.eps[scene], assembly.island_jointed[island]
    if every(jointed):
        return np.maximum(eps, EPS_SMALLEST)
    np.minimum(eps, EPS_OF_CONTACTS, out=eps, where=~jointed)
    soft = jointed | moving
    if state.locked is not None:
        soft |= whole_groups(island, state.locked[scene])
    return np.maximum(eps, np.where(soft, EPS_SMALLEST, at_rest))
