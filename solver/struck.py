# SPDX-License-Identifier: GPL-3.0-or-later
"""Blows without a rebound that are over within a step: what they strike leaves what struck it.

A crate and a puck, a ball and a wall of bricks, a bat and a doll; alone or with all that they touch and are jointed to.
Their step ends by backward Euler, which closes the gap at its end: what was struck left with the mean speed of its way,
and the rest of the blow came in the next step.  So the velocity phase tells with which speed they leave, by the law of
impact for all of the island, with its joints and contacts.  Heaps that tumble are left out: each of their blows is one
of many.
"""

import numpy as np

from .bounces import moving_first
from .flags import places, some
from .hits_in_flight import FAST
from .left_behind import left_behind
from .ordered import among, distinct
from .plausible import pair_number
from .reference.rows import gaps, parting_speeds, start_gaps
from .vectors import inner, length

FEW = 2  # bodies of an island in which each blow counts; all of it is done again
SHARE, PART = 0.5, 0.05  # of the energy of larger ones; heaps tumble on by blows that do not have it
HELD = 0.8  # of the impulse of a blow: what stands takes as much of it where one lands on others


def blows(assembly, solution, close, thought=None):
    """Numbers (K,) of contacts by which two bodies that move hit each other, and (L,) by which keyed ones hit one.

    assembly: Assembly of the step; solution: its StepSolution; close: gaps below this [m] touch from the start;
    thought: (C,) bool, contacts that count as hit though they carry nothing at its end, or None.
    """
    problem, contacts, n = assembly.problem, assembly.problem.contacts, assembly.problem.bodies.dynamic_count
    hits, known = solution.contact_impulse[:, 0] > 0.0, np.arange(len(contacts)) < len(assembly.contacts)
    if thought is not None:
        hits |= thought
    hits &= contacts.restitution <= 0.0
    none = places(hits[:0])
    if not some(hits):
        return none, none
    other = moving_first(contacts)[1]
    led = np.ones(len(problem.bodies.mass), bool)
    led[n:] = problem.bodies.velocity[n:].any(axis=1)
    hits &= led[other]
    index, meets = _arrives(problem, places(hits), known, close)
    if not len(index):
        return none, none
    index = index[_leads(assembly, solution, index, meets)]
    among = other[index] < n
    return index[among], index[~among]


def struck_within(assembly, solution, state, phase):
    """Numbers (K,) of contacts of ``blows`` in a part of a step, after which the bodies part.

    state: State at its start; phase: the PositionPhase that solved it.
    """
    if phase.assembler.until is None or state.time + assembly.problem.step >= phase.assembler.until:
        return np.zeros(0, int)
    step, left = assembly.problem.step, phase.assembler.until - state.time
    pairs, led = blows(assembly, solution, phase.fast)
    if len(led):
        ahead = left_behind(assembly, phase.assembler, state, led, np.full(len(led), step), left)[0]
        led = led[ahead > phase.fast]
    return np.concatenate([pairs, led])


def strikers(assembly, solution, state, phase, struck, led):
    """Velocities ``led`` (B, 6) at the end of a part, but for keyed bodies of contacts ``struck``: as they strike.

    Paths are straight from one sample to the next; what they strike leaves with the speed of the curve through those.
    """
    which = np.zeros(len(led), bool)
    which[moving_first(assembly.problem.contacts)[1][struck]] = True
    which[: assembly.problem.bodies.dynamic_count] = False
    if not some(which):
        return led
    hand_over, until = phase.assembler.hand_over, state.time + assembly.problem.step
    speed = hand_over.velocity_within
    return hand_over.led(until, state, assembly.numbering, led, solution.orientation, which, speed)


def _leads(assembly, solution, index, meets):
    """(K,) bool: contacts ``index`` of few bodies, or by which their island is struck: what comes has a SHARE of the
    energy that is in the island, if not keyed, what stands does not take it up, and the blow has at least a
    PART of what the bodies have beside their common motion.  Its energy is 1/2 m v^2, with m of both together.

    meets: (K,) speed at which the bodies part at the start [m/s].
    """
    problem, island = assembly.problem, assembly.island
    contacts, bodies, n = problem.contacts.take(index), problem.bodies, problem.bodies.dynamic_count
    mass, speed = bodies.mass[:n], bodies.velocity[:n, :3]
    whole, each = np.bincount(island, mass), 0.5 * mass * inner(speed, speed)
    energy, momentum = np.bincount(island, each), [np.bincount(island, mass * along) for along in speed.T]
    beside = energy - 0.5 * np.square(momentum).sum(axis=0) / whole
    own, other = moving_first(contacts)
    led, other = other >= n, np.minimum(other, n)
    lightness, each, group = np.append(1.0 / mass, 0.0), np.append(each, 0.0), island[own]
    blow = 0.5 / (lightness[own] + lightness[other]) * meets**2
    comes = led | (np.maximum(each[own], each[other]) > SHARE * energy[group])
    leads, few = comes & (blow > PART * beside[group]), np.bincount(island)[group] <= FEW
    asked = places(leads & ~(led | few))
    if len(asked):
        leads[asked] = ~_taken_up(island, _pushed(bodies, solution), group[asked], contacts.normal[asked])
    return few | leads


def _pushed(bodies, solution):
    """(n, 3) impulses that contacts and joints give the bodies in the whole step [N s]: the velocity that a step of
    mid-step is solved for is the mean, which changes by half as much.
    """
    n = bodies.dynamic_count
    whole = (1.0 + bodies.midpoint[:n]) * bodies.mass[:n]
    return whole[:, None] * (solution.velocity - bodies.free_velocity)[:n, :3]


def _taken_up(island, change, group, normal):
    """(K,) bool: whether most of what contacts of the islands ``group`` (K,) push along ``normal`` (K, 3) leaves these:
    then bodies are pushed one way, and few the other.

    change: (n, 3) answer of ``_pushed``.
    """
    order, count = np.argsort(island, kind="stable"), np.bincount(island)
    first, many = (np.cumsum(count) - count)[group], count[group]
    each = np.repeat(np.arange(len(group)), many)
    bodies = order[np.arange(len(each)) + np.repeat(first - (np.cumsum(many) - many), many)]
    along = inner(change[bodies], normal[each])
    ways = [np.bincount(each, np.maximum(sign * along, 0.0), len(group)) for sign in (1.0, -1.0)]
    return np.abs(ways[0] - ways[1]) >= HELD * np.maximum(*ways)


def _arrives(problem, index, known, close):
    """Those of the contacts ``index`` (K,) that meet fast in the step, and whose bodies lie on each other nowhere yet;
    and how fast these part at the start [m/s].

    What touches at the start, and comes on, is struck there and then.  known: (C,) bool, contacts of the start.
    """
    contacts, start, gap = problem.contacts, problem.bodies, start_gaps(problem)
    apart = (gap[index] > close) | ~known[index]
    may = places(apart | (_fastest(contacts, start, index) > FAST))  # none in heaps at rest, which are asked each step
    index, apart = index[may], apart[may]
    if not len(index):
        return index, np.zeros(0)
    hits, pose = contacts.take(index), (start.position, start.orientation)
    comes, parts = np.where(apart, gaps(hits, *pose) / problem.step, 0.0), parting_speeds(hits, start.velocity, *pose)
    fast = np.maximum(-parts, comes) > FAST
    index, parts = index[fast], parts[fast]
    if not len(index):
        return index, parts
    pair = pair_number(contacts.body_a, contacts.body_b, len(start.mass))
    touch = places(known & (gap <= close) & among(pair, distinct(pair[index])))
    lies = touch[-parting_speeds(contacts.take(touch), start.velocity, *pose) <= FAST]
    free = ~among(pair[index], distinct(pair[lies]))
    return index[free], parts[free]


def _fastest(contacts, bodies, index):
    """(K,) speed that bodies of the contacts ``index`` (K,) do not exceed there, whichever way they turn [m/s]."""
    speed, spin, most = length(bodies.velocity[:, :3]), length(bodies.velocity[:, 3:]), 0.0
    sides = (
        (contacts.body_a, contacts.point_a, contacts.margin_a),
        (contacts.body_b, contacts.point_b, contacts.margin_b),
    )
    for body, point, margin in sides:
        body = body.take(index)
        most = most + speed.take(body) + spin.take(body) * (length(point.take(index, 0)) + margin.take(index))
    return most
