# SPDX-License-Identifier: GPL-3.0-or-later
"""Launches: what lies loose on a pusher that meets its stop in mid-step is pushed until then, and flies on.

A pad on a slider, the arm of a catapult, a plank that comes down on the floor: a step has one impulse for each contact,
and at its end the pusher stands at its stop, where nothing pushes.  The load got no push in such a step: at 24 frames a
second up to (a + g) h of its speed, with a what it was pushed with, and a stop farther out could throw less far.

So the step is done again in two parts that meet where the pusher meets its stop.  A solve without the stop tells when
that is, and whether the load would have been pushed until then, and by how much.  Pushers are what joints hold: in
heaps hardly anything is thrown, and they would take half as many solves again.  Not if any of those joints may break:
it is judged by its mean force over a step (breaking.py), which over a second part of a tenth is ten times as large.
"""

from dataclasses import dataclass

import numpy as np

from .attempt import Spent
from .bounces import moving_first
from .components import joint_groups
from .copies import replace
from .flags import places, some
from .reference.rows import coordinate_rates, coordinates, gaps, parting_speeds, start_gaps
from .topology import whole_groups
from .vectors import length

PARTS = 0.1  # [m/s], and that share of a load's speed: slower it lies on its pusher, at the start; faster they part
LEAST = 0.02  # [m/s] of speed, less of which may be lost,
SHARE = 0.005  # and so may be that share of it
EARLY = 0.01  # of the step, by which its first part ends before the stop: there nothing pushes any more
NEAR = 0.03  # of the step: stops that are met within that of its start are met there


@dataclass
class Stops:
    """Limits and contacts that groups of jointed bodies meet in a step.  K rows, L contacts."""

    rows: np.ndarray  # (K,) numbers of joint rows
    contacts: np.ndarray  # (L,) numbers of contacts
    groups: np.ndarray  # (2 K + L,) those of the rows' bodies a, of their bodies b, of the contacts; -1: does not move
    label: np.ndarray  # (n + 1,) group of each body that moves, then -1


def launch(attempt, phase):
    """(share of the step after which a pusher meets its stop, (n,) bool: it and what it launches); None: none does.

    attempt: a finished Attempt, to which the work is added; phase: the PositionPhase that solved it.
    """
    assembly, solution, fast = attempt.assembly, attempt.solution, phase.fast
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    stops = _stops(assembly, solution, fast)
    if stops is None:
        return None
    pushes, pusher, load = _loads(problem, solution, stops, attempt.end.velocity, fast)
    pending = ~attempt.failed[attempt.dynamic()][load]  # others are done again anyway
    pending &= ~may_break(problem, stops.label, phase.joints.breakable())[stops.label[pusher]]
    pushes, pusher, load = pushes[pending], pusher[pending], load[pending]
    if not len(pushes):
        return None
    free, residual, impulse = unstopped(attempt, phase, stops, load)
    found, met = shares(problem, stops, free), np.ones(len(stops.label) + 1)
    np.minimum.at(met, stops.groups, np.append(found[: len(stops.rows)], found))
    share = met[stops.label[pusher]]
    lost = share * np.bincount(load, np.maximum(impulse[pushes], 0.0), n)[load] / problem.bodies.mass[load]
    told = matters(lost, length(problem.bodies.velocity[load, :3]))
    told &= (share > NEAR) & (share < 1.0) & (residual[load] <= fast)
    if not some(told):
        return None
    launched = np.zeros(n, bool)
    launched[load[told]] = launched[pusher[told]] = True
    return float(share[told].min()) - EARLY, launched


def _stops(assembly, solution, fast):
    """The Stops that a solved step met: farther away than ``fast`` at its start.  None: it met none."""
    problem, (one, other) = assembly.problem, assembly.joint_links
    contacts, rows, n = problem.contacts, problem.joints, problem.bodies.dynamic_count
    if not len(one) or not len(contacts):
        return None
    own, ground = moving_first(contacts)
    jointed = np.zeros(len(problem.bodies.mass), bool)
    jointed[one] = jointed[other] = True
    apart = (ground >= n) & jointed[own] & (start_gaps(problem) > fast)
    hit = places(apart & (solution.contact_impulse[:, 0] > 0.0))
    limits = (rows.beta == 1.0) & ((rows.lower == 0.0) | (rows.upper == 0.0)) & (solution.joint_impulse != 0.0)
    limits = places(limits)
    if len(limits):
        room = _room(rows.take(limits), problem.bodies.position, problem.bodies.orientation)
        limits = limits[room > fast]
    if not len(hit) and not len(limits):
        return None
    label = joint_groups(assembly.joint_links, n)
    sides = np.concatenate([label[np.minimum(side[limits], n)] for side in (rows.body_a, rows.body_b)])
    stopped = np.append(sides[sides >= 0], label[own[hit]])
    # Without those its other corners, or the floor, would hold it up.
    hit = places(apart & np.isin(label[np.minimum(own, n)], stopped))
    return Stops(limits, hit, np.append(sides, label[own[hit]]), label)


def _loads(problem, solution, stops, velocity, fast):
    """Numbers of the contacts (P,) that part at the step's end though they lay on each other at its start, one side of
    which has met one of Stops; bodies (P,) on that side, the pushers, and on the other.

    velocity: (n, 6) at the step's end.
    """
    contacts, n = problem.contacts, problem.bodies.dynamic_count
    stopped = np.zeros(len(stops.label) + 1, bool)
    stopped[stops.groups] = True
    a, b = (stopped[stops.label[np.minimum(body, n)]] for body in (contacts.body_a, contacts.body_b))
    pushes = (contacts.body_a < n) & (contacts.body_b < n) & (start_gaps(problem) <= fast)
    pushes = places(pushes & (a != b))
    pair = contacts.body_a[pushes], contacts.body_b[pushes]
    pusher, load = np.where(a[pushes], *pair), np.where(a[pushes], *pair[::-1])
    start, touch = problem.bodies, contacts.take(pushes)
    least = PARTS * np.maximum(1.0, length(start.velocity[load, :3]))
    before = parting_speeds(touch, start.velocity, start.position, start.orientation)
    end = np.concatenate([velocity, start.velocity[n:]])
    parts = (np.abs(before) < least) & (parting_speeds(touch, end, solution.position, solution.orientation) > least)
    return pushes[parts], pusher[parts], load[parts]


def matters(lost, speed):
    """(N,) bool: whether a step is worth doing in parts that else loses so much of a speed [m/s]."""
    return lost > np.maximum(LEAST, SHARE * speed)


def may_break(problem, label, breakable):
    """(n + 1,) bool: those of the ``joint_groups`` that ``breakable`` (J,) joints hold; the last one does not move."""
    rows, out = problem.joints, np.zeros(len(label), bool)
    breaks = breakable[rows.joint]
    for side in (rows.body_a, rows.body_b):
        out[label[np.minimum(side[breaks], problem.bodies.dynamic_count)]] = True
    out[-1] = False
    return out


def _room(limits, position, orientation):
    """(K,) how far one-sided JointRows are from their limits [m or rad]."""
    return _sense(limits) * (coordinates(limits, position, orientation) - limits.target)


def unstopped(attempt, phase, stops, bodies):
    """(StepSolution, (n,) residual [m], (C,) normal impulses) of the step without its Stops, in the islands of
    ``bodies`` (numbers or bool) of a finished Attempt; the work is added to that.
    """
    problem = attempt.assembly.problem
    contacts, rows = problem.contacts, problem.joints
    kept, lower, upper = np.ones(len(contacts), bool), rows.lower.copy(), rows.upper.copy()
    kept[stops.contacts] = False
    lower[stops.rows] = upper[stops.rows] = 0.0
    without = replace(problem, contacts=contacts.take(kept), joints=replace(rows, lower=lower, upper=upper))
    free, residual = solved_otherwise(attempt, phase, without, bodies)
    impulse = np.zeros(len(contacts))
    impulse[kept] = free.contact_impulse[:, 0]
    return free, residual, impulse


def solved_otherwise(attempt, phase, problem, bodies):
    """(StepSolution, (n,) residual [m]) of another ``problem`` in the place of a finished Attempt's, in the islands of
    ``bodies`` (numbers or bool); the work is added to the Attempt.
    """
    assembly, start = attempt.assembly, attempt.solution.velocity[: problem.bodies.dynamic_count]
    options = phase.options(assembly, attempt.state)[0]
    options = replace(options, start=start, done=~whole_groups(assembly.island, bodies))
    found, statistics = phase.solver.solve(problem, options)
    attempt.spent = Spent(*np.add(attempt.spent, (found.newton_iterations, found.linear_iterations, 1)))
    return found, statistics.residual


def shares(problem, stops, free):
    """(K + L,) share of the step after which each of Stops is met on the way to ``free``, a StepSolution; 1: never."""
    start, limits, hit = problem.bodies, problem.joints.take(stops.rows), problem.contacts.take(stops.contacts)
    poses = (start.position, start.orientation), (free.position, free.orientation)
    first, last = (np.concatenate([_room(limits, *pose), gaps(hit, *pose)]) for pose in poses)
    rate = _sense(limits) * coordinate_rates(limits, start.velocity, *poses[0])
    rate = problem.step * np.concatenate([rate, parting_speeds(hit, start.velocity, *poses[0])])
    return met_at(first, rate, last)


def met_at(first, rate, last):
    """(K,) share of the step after which a room of ``first`` (K,) is used up, that changes by ``rate`` (K,) a step at
    its start and is ``last`` (K,) at its end; 1: never.
    """
    # The way bends evenly: first + rate s + bend s^2 = 0, its first root, also where bend is 0.
    bend = last - first - rate
    root = np.sqrt(np.maximum(rate**2 - 4.0 * bend * first, 0.0))
    share = 2.0 * first / np.maximum(root - rate, 1e-300)
    return np.where(last < 0.0, np.minimum(share, 1.0), 1.0)


def _sense(limits):
    """(K,) 1 for lower limits, -1 for upper ones."""
    return np.where(limits.lower == 0.0, 1.0, -1.0)
