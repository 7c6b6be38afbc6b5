# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies would go without some of the contacts of a solved step, if all else pushed them as it does.

Told from the impulses alone: a solve without those contacts costs as much as one with them.
"""

from types import SimpleNamespace

import numpy as np

from .problem import world_impulses
from .reference.rotation import conjugate, cross, rotate


def end_without(problem, solution, out):
    """Position (B + 1, 3) and velocity (B + 1, 6) at the end of a StepProblem without the impulses of the contacts
    ``out`` (K,) of its StepSolution.  Joints do not answer.
    """
    bodies, contacts = problem.bodies, problem.contacts.take(out)
    impulse, turn = world_impulses(contacts.normal, solution.contact_impulse[out]), solution.orientation
    change = np.zeros((len(bodies.mass), 6))
    for body, point, push in (
        (contacts.body_a, contacts.point_a, impulse),
        (contacts.body_b, contacts.point_b, -impulse),
    ):
        spin = rotate(conjugate(turn[body]), cross(rotate(turn[body], point), push)) / bodies.moments[body]
        gained = np.concatenate([push / bodies.mass[body, None], rotate(turn[body], spin)], axis=1)
        np.add.at(change, body, gained)
    velocity = solution.velocity - change
    return SimpleNamespace(position=solution.position - problem.step * change[:, :3], velocity=velocity)
