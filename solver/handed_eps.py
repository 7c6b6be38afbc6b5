# SPDX-License-Identifier: GPL-3.0-or-later
"""With which proximal strength eps a position phase starts: what the last step handed on, within bounds.

Contacts at rest that one iteration a step solves, from the impulses of the last one, are springs as soft as eps:
columns of thirty boxes swing on 1e-4, and sixty buckle (test_stacks_aside.py).

Where what is led slides by in a fit without clearance, any squeeze and the friction on it keep each other up.  The
smaller eps is, the less of a gap takes either of them away, and Newton ran from a thousandth of a newton to tonnes.
"""

import numpy as np

from .bounces import moving_first
from .flags import every, some
from .led import led_slip
from .topology import whole_groups

EPS_OF_CONTACTS = 3e-3  # at most, in islands without joints: larger ones take more rounds
EPS_SMALLEST = 1e-4  # at least, but for contacts at rest


def start_eps(state, assembly, moves, at_rest, tolerance):
    """(n,) eps of each body's island.

    moves: (n,) bool, bodies of islands too fast to be at rest, and (n, 3) how fast what carries each is, as in
    ``carried_at``, or None: nothing does; at_rest: ProximalSolver.eps_at_rest, the least where
    neither joints nor overlap that friction locks are about; tolerance: what slips farther in the step slides [m].
    """
    (moving, carried), island, scene = moves, assembly.island, assembly.numbering.scene[: len(assembly.island)]
    eps, jointed = state.eps[scene], assembly.island_jointed[island]
    if every(jointed):
        return np.maximum(eps, EPS_SMALLEST)
    np.minimum(eps, EPS_OF_CONTACTS, out=eps, where=~jointed)
    soft = jointed | moving
    if state.locked is not None:
        soft |= whole_groups(island, state.locked[scene])
    least, slid = np.where(soft, EPS_SMALLEST, at_rest), _slid_on(assembly, tolerance, carried)
    if slid is not None:
        least[slid & ~jointed] = EPS_OF_CONTACTS
    return np.maximum(eps, least)


def _slid_on(assembly, tolerance, carried):
    """(n,) bool: bodies of islands along which what is led slides by more than ``tolerance`` [m], or None.

    Not what carries all of an island straight on, as ``carried`` (n, 3) tells: things slide on that as on what stands.
    """
    problem, n = assembly.problem, len(assembly.island)
    slip = led_slip(problem)
    if slip is None:
        return None
    slides, contacts = problem.step * slip > tolerance, problem.contacts
    if carried is not None and some(slides):
        own = moving_first(contacts)[0]
        alike = carried.any(axis=1)[own]
        if contacts.surface_velocity is not None:
            alike &= ~contacts.surface_velocity.any(axis=1)
        slides &= ~alike
    if not some(slides):
        return None
    touched = np.zeros(len(problem.bodies.mass), bool)
    touched[contacts.body_a[slides]] = touched[contacts.body_b[slides]] = True
    return whole_groups(assembly.island, touched[:n])
