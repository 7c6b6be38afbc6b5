# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies without room go along with what crushes them.

Keyframed jaws that shut on a body press on it with any force: no motion meets all contacts (crushed.py), and what
keeps overlap from growing needs no force to speak of, so that friction let the body lie where it was while the jaws
rose through it.  A press as strong as that holds what is in it: that goes as the bodies that press on it go, each
counted once, and so do bodies that are crushed side by side.
"""

import numpy as np

from .components import connected_components
from .reference.rotation import cross
from .reference.rows import start_gaps
from .rotations import exponential, multiply


def go_along(attempt, tolerance):
    """Let the ``crushed`` bodies of an Attempt that is given up, but for those with joints, go along, in place.

    tolerance: overlap that is none [m].
    """
    assembly, solution, end = attempt.assembly, attempt.solution, attempt.end
    problem, scene, h = assembly.problem, assembly.numbering.scene, assembly.problem.step
    bodies, contacts, n = problem.bodies, problem.contacts, problem.bodies.dynamic_count
    held = np.zeros(len(bodies.mass), bool)
    held[:n] = attempt.crushed.bodies[scene[:n]] & ~assembly.island_jointed[assembly.island[:n]]
    presses = np.append(attempt.crushed.pressing, False)[scene]
    deep = start_gaps(problem) < -tolerance
    one, other = contacts.body_a[deep], contacts.body_b[deep]
    among = held[one] & held[other]
    group = connected_components(len(held), one[among], other[among])
    one, other = np.append(one, other), np.append(other, one)
    pressed = held[one] & presses[other]
    found = np.unique(np.stack([group[one[pressed]], other[pressed]], axis=1), axis=0)
    for number in np.unique(found[:, 0]):
        press, mine = found[found[:, 0] == number, 1], np.flatnonzero(held & (group == number))
        if len(press) < 2:
            continue
        moves, turns = bodies.velocity[press, :3], bodies.velocity[press, 3:]
        arms = bodies.position[mine, None] - bodies.position[press]
        velocity = np.empty((len(mine), 6))
        velocity[:, :3], velocity[:, 3:] = (moves + cross(turns, arms)).mean(axis=1), turns.mean(axis=0)
        solution.velocity[mine] = end.velocity[mine] = velocity
        solution.position[mine] = bodies.position[mine] + h * velocity[:, :3]
        solution.orientation[mine] = multiply(exponential(h * velocity[:, 3:]), bodies.orientation[mine])
