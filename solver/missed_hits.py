# SPDX-License-Identifier: GPL-3.0-or-later
"""Jointed bodies, and what turns, that hit something in the last part of a step, where free motion just misses it.

Rebounds are foreseen from motion without joints (impact.py).  A ball on a rope comes down an arc: where the arc meets
a wall in the last part of a step, the tangent may not, and the hit would count as one without restitution.  A Newton's
cradle so went from one ball to all five in a single frame.  What pushes though nobody foresaw that it hits is put
together once more as what hits at the end of the step.  So does what turns come along an arc, whatever leads it: a bat
that keyframes swing.  What stands or goes straight on is hit in free motion, which turns (bounces.py).
"""

import numpy as np

from .copies import replace
from .flags import some
from .reference.impact import approach
from .reference.knock_on import central, reflections
from .reference.rows import gaps, start_gaps
from .vectors import length

TURNS = 0.01  # [rad] in the step: what turns by less comes along its tangent
HAIR = 1e-9  # of its way: that much before the end of the step free motion is taken to hit


def missed_hits(assembly, solution, close):
    """(C,) bool: contacts of jointed islands and of what turns that hit in the step, those known included; None where
    none is new.

    assembly: Assembly of the step; solution: its StepSolution; close: gaps below this [m] touch from the start.
    """
    problem, contacts, count = assembly.problem, assembly.problem.contacts, len(assembly.contacts)
    if not some(contacts.restitution > 0.0):
        return None
    turns = strikes(problem)
    if not some(turns) and not some(assembly.island_jointed):
        return None
    pushed = (solution.contact_impulse[:, 0] > 0.0) & (contacts.restitution > 0.0) & (start_gaps(problem) > close)
    pushed &= (contacts.rebound_speed == 0.0) & (contacts.rebound_gap == 0.0)
    pushed[count:] = False
    if assembly.struck is not None:
        pushed &= ~assembly.struck
    index = np.flatnonzero(pushed)
    jointed = assembly.island_jointed[assembly.island[np.minimum(contacts.body_a, contacts.body_b)[index]]]
    index = index[jointed | turns[index]]
    if not len(index):
        return None
    way, arrival = _closing(problem, index, assembly.end_velocity)
    index = index[(way > 0.0) & (arrival * problem.step > close)]
    if not len(index):
        return None
    struck = np.zeros(len(contacts), bool) if assembly.struck is None else assembly.struck.copy()
    struck[index] = True
    return struck


def strikes(problem, least=TURNS):
    """(C,) bool: contacts of a StepProblem one side of which turns in the step by ``least`` [rad], and neither stands
    still or goes straight on, which is the same.
    """
    contacts, bodies = problem.contacts, problem.bodies
    turns = problem.step * length(bodies.velocity[:, 3:]) > least
    if not some(turns):
        return np.zeros(len(contacts), bool)
    stands = bodies.evenly(problem.step)
    stands[: bodies.dynamic_count] = False
    turns = turns[contacts.body_a] | turns[contacts.body_b]
    return turns & ~(stands[contacts.body_a] | stands[contacts.body_b])


def foreseen(problem, struck, end_velocity, count):
    """The StepProblem with gaps as rebounds are foreseen from, and numbers of contacts that hit nobody knows when.

    Those from ``count`` on only show at the end of the step, and there they touch.  Balls do so along the line between
    them whenever they meet: their gap at the start is known.

    struck: (C,) bool, contacts that free motion is to take to a hit, or None; end_velocity: (n, 6) free velocity of
    those that move at the step's end.
    """
    if struck is not None:
        problem = _taken_to_hit(problem, struck, end_velocity)
    late = np.arange(count, len(problem.contacts))
    if not len(late):
        return problem, late
    found = problem.contacts.take(late)
    if not some(found.restitution > 0.0):
        return problem, late
    known = central(reflections(replace(problem, contacts=found)))
    gap = start_gaps(problem).copy()
    gap[late[known]] = np.maximum(0.0, gaps(found, problem.bodies.position, problem.bodies.orientation)[known])
    return replace(problem, contacts=replace(problem.contacts, start_gap=gap)), late[~known]


def _taken_to_hit(problem, struck, end_velocity):
    """The StepProblem with the gaps from which free motion takes contacts ``struck`` (C,) bool to a hit at its end."""
    index, gap = np.flatnonzero(struck), start_gaps(problem).copy()
    way = _closing(problem, index, end_velocity)[0]
    gap[index] = np.where(way > 0.0, np.minimum(gap[index], (1.0 - HAIR) * way), gap[index])
    return replace(problem, contacts=replace(problem.contacts, start_gap=gap))


def _closing(problem, index, end_velocity):
    """How far free motion closes the contacts ``index`` in a step [m], and how fast they come at its end [m/s]."""
    speed, gain = approach(problem.bodies, problem.contacts.take(index), end_velocity)
    return -problem.step * (speed + 0.5 * gain), -(speed + gain)
