# SPDX-License-Identifier: GPL-3.0-or-later
"""Single bodies that turn over a corner or an edge that slides on what stands: ladders on smooth walls, sticks on ice.

A corner is a round of no radius far off the centre of mass, so what turns over it goes by mid-step as roly-polies do,
with levers that go along with the solve (roly_polies.py).  By backward Euler a ladder of 2 m that slid down a smooth
wall lost 4 % of its energy on the way at 24 frames a second.
"""

import numpy as np

from .flags import places
from .flat_shapes import is_round_there
from .reference.rotation import cross
from .sliding import across, arms
from .vectors import length

TURNS_OVER = 2e-3  # [rad] in a step: what turns by less loses less than the square of that in a step of backward Euler
SLIDES = 0.1  # of what turning gives it: a place no faster stands, and strokes.py knows what turns over it


def tips(problem, index, own, other):
    """(K,) bool: those of the contacts ``index`` (K,) of a StepProblem on whose corners bodies turn over that slide on
    what stands.

    own, other: (K,) int, the body that moves freely and the other body of each.
    """
    touches, bodies = problem.contacts, problem.bodies
    found = (other >= bodies.dynamic_count) & ~is_round_there(touches, index, own)
    at = places(found)
    if not len(at):
        return found
    index, own, other = index[at], own[at], other[at]
    normal, (speed, spin) = touches.normal[index], np.split(bodies.velocity_at_start()[own], 2, axis=1)
    turns, arm = length(across(spin, normal)), arms(touches, bodies, own, index)
    slip = across(speed + cross(spin, arm) - bodies.velocity[other, :3], normal)
    found[at] = (problem.step * turns > TURNS_OVER) & (length(slip) > SLIDES * turns * length(arm))
    return found
