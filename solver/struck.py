# SPDX-License-Identifier: GPL-3.0-or-later
"""Blows without a rebound that are over within a step: what they strike leaves what struck it.

Two lone bodies one of which hits the other, a crate and a puck; and what moves by keyframes and hits a lone body.
Their step ends by backward Euler, which closes the gap at its end: what was struck left with the mean speed of its way,
and the rest of the blow came in the next step.  So the velocity phase tells with which speed they leave, by the law of
impact.  Heaps are left out, where bodies stay where they land.
"""

import numpy as np

from .bounces import moving_first
from .energy_limit import LONGEST_STEP
from .flags import places, some
from .hits_in_flight import FAST
from .plausible import pair_number
from .reference.rows import gaps, parting_speeds, start_gaps
from .vectors import length

FEW = 4  # bodies that one island of the step may have: all of it is done again


def blows(assembly, solution, close):
    """Numbers (K,) of contacts by which two lone bodies hit each other, and (L,) by which keyed ones hit a lone body.

    assembly: Assembly of the step; solution: its StepSolution; close: gaps below this [m] touch from the start.
    """
    problem, contacts, n = assembly.problem, assembly.problem.contacts, assembly.problem.bodies.dynamic_count
    hits, known = solution.contact_impulse[:, 0] > 0.0, np.arange(len(contacts)) < len(assembly.contacts)
    hits &= (start_gaps(problem) > close) | ~known  # what only showed at the end of the step is said to touch there
    hits &= contacts.restitution <= 0.0
    none = places(hits[:0])
    if not some(hits):
        return none, none
    own, other = moving_first(contacts)
    led = problem.bodies.velocity.any(axis=1)
    hits &= (other < n) | led[other]
    index = places(hits)
    if not len(index):
        return none, none
    lone = _lone(assembly, solution)
    index = index[lone[own[index]] & lone[other[index]]]
    index = index[_from_afar(problem, index, known, close)]
    among = other[index] < n
    return index[among], index[~among]


def struck_within(assembly, solution, state, phase):
    """Numbers (K,) of contacts of ``blows`` in a part of a step, after which the bodies part.

    state: State at its start; phase: the PositionPhase that solved it.
    """
    if phase.assembler.until is None or state.time + assembly.problem.step >= phase.assembler.until:
        return np.zeros(0, int)
    pairs, led = blows(assembly, solution, phase.fast)
    return np.concatenate([pairs, _goes_otherwise(assembly, phase.assembler, state, led, phase.fast / LONGEST_STEP)])


def _goes_otherwise(assembly, assembler, state, hits, noise):
    """Those of the contacts ``hits`` (L,) with keyed bodies that are another way fast in the rest of the frame's step.

    assembler: Assembler; state: State at the step's start; noise: speed [m/s] that is none.
    """
    if not len(hits):
        return hits
    contacts, rest = assembly.problem.contacts.take(hits), assembler.until - state.time
    body = moving_first(contacts)[1]
    change = assembler.prescribed_velocity(state, rest)[assembly.numbering.scene[body]]
    change = change - assembly.problem.bodies.velocity[body]
    lever = np.where((contacts.body_a == body)[:, None], contacts.point_a, contacts.point_b)
    return hits[length(change[:, :3]) + length(lever) * length(change[:, 3:]) > noise]


def _lone(assembly, solution):
    """(B,) bool: bodies without joints in islands of at most FEW that push one other moving one at most, and what does
    not move freely.
    """
    problem, contacts = assembly.problem, assembly.problem.contacts
    n, count = problem.bodies.dynamic_count, len(problem.bodies.mass)
    own, other = moving_first(contacts)
    pushes = places((solution.contact_impulse[:, 0] > 0.0) & (other < n))
    first, last = np.full(count, count), np.full(count, -1)
    for one, far in ((own[pushes], other[pushes]), (other[pushes], own[pushes])):
        np.minimum.at(first, one, far)
        np.maximum.at(last, one, far)
    lone = first >= last
    lone[:n] &= (np.bincount(assembly.island) <= FEW)[assembly.island]
    for side in assembly.joint_links:
        lone[side] = False
    lone[n:] = True
    return lone


def _from_afar(problem, index, known, close):
    """(K,) bool: contacts ``index`` that meet fast in the step, and whose bodies touch nowhere yet.

    known: (C,) bool, contacts of the start.
    """
    contacts, start, count = problem.contacts, problem.bodies, len(problem.bodies.mass)
    hits = contacts.take(index)
    gap = gaps(hits, start.position, start.orientation)
    speed = -parting_speeds(hits, start.velocity, start.position, start.orientation)
    pair = pair_number(contacts.body_a, contacts.body_b, count)
    touch = np.isin(pair[index], pair[places(known & (start_gaps(problem) <= close))])
    return ~touch & (gap > close) & (np.maximum(speed, gap / problem.step) > FAST)
