# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that impulses turned right over: a pose is the same with a turn more or less, and so are its gaps and joints.

Where contacts hold each other up, as in a tower of bricks of which a keyframed one is pulled, a solve may end with
bodies that turn once or twice in the step and are where they belong: all equations of the step hold, and they leave at
hundreds of turns a second.  What thin rods turn by in a step is told from it by the energy there is for it.
"""

import numpy as np

from .bounces import moving_first
from .energy import kinetic_energies
from .flags import some
from .given_up import MOST
from .led import led_speed

TWICE = 2.0  # the speed of a surface that is led, which rebounds give


def turned_over(assembly, solution):
    """(n,) bool: dynamic bodies that impulses turned by more than half a turn, in islands without the energy for it.

    There is what free motion has, and what gives all bodies of the island twice the speed of the fastest surface that
    is led, by keyframes or as a belt, at its contacts.
    """
    bodies, n = assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    spin = solution.velocity[:n, 3:] - bodies.free_velocity[:n, 3:]
    turned = np.einsum("bi,bi->b", spin, spin) > (np.pi / assembly.problem.step) ** 2
    if not some(turned):
        return turned
    change = solution.velocity[:n] - bodies.free_velocity[:n]
    orientation, island = solution.orientation[:n], assembly.island
    given = np.bincount(island, np.where(turned, kinetic_energies(bodies, orientation, change), 0.0))
    free = np.bincount(island, kinetic_energies(bodies, bodies.free_orientation[:n], bodies.free_velocity[:n]))
    led, contacts = np.zeros(len(free)), assembly.problem.contacts
    np.maximum.at(led, island[moving_first(contacts)[0]], TWICE * led_speed(assembly.problem))
    enough = MOST * (free + 0.5 * np.bincount(island, bodies.mass[:n]) * led**2)
    return turned & ~(given <= enough)[island]
