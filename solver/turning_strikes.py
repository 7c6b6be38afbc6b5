# SPDX-License-Identifier: GPL-3.0-or-later
"""Strikes: what turns and hits something within a step leaves it by the levers and the normal of that moment.

A bat, a hammer on a hinge or a rod that spins comes to what it hits along an arc.  Seen from the step's start it is
slower, and may not arrive at all: a bat that met its ball late in a frame pushed it without restitution, and lost a
quarter of what the law of impact gives it.  By the step's end it has turned on, and so has the velocity of its centre
of mass, so that the law of impact, asked for there, holds between other velocities than those of the hit.

So the step is done again in parts: until just before the hit, as if nothing were hit; over the hit, in which nothing
turns by much; and the rest.  A solve without the contacts that are hit tells when that is.  What stands still is hit in
free motion (bounces.py), which turns by itself.  Not if any of the joints may break; see stops.py.
"""

import numpy as np

from .bounces import moving_first
from .copies import replace
from .flags import places, some
from .missed_hits import strikes
from .ordered import among, distinct
from .plausible import pair_number
from .reference.rows import contact_jacobians, gaps, parting_speeds, start_gaps
from .rotations import rotate
from .stops import joint_groups, may_break, met_at, solved_otherwise
from .vectors import inner, length

FAR = 0.2  # [rad] by which what hits may turn in a step, before the hit or after it
AROUND = 0.02  # [rad] before and after the hit, within which it is
HIT = 0.1  # [m/s] at which turning brings bodies together,
SHARE = 0.1  # and of the speed at which they do that


def strike(attempt, phase):
    """(share of the step at which to split it, (n,) bool: what turns and hits, and what that hits); None: nothing does.

    attempt: a finished Attempt, to which the work is added; phase: the PositionPhase that solved it.
    """
    assembly = attempt.assembly
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    hits = _hits(assembly, attempt.solution, phase.fast)
    if not len(hits):
        return None
    label = joint_groups(assembly.joint_links, n)
    own, other = (np.minimum(side[hits], n) for side in moving_first(problem.contacts))
    pending = ~attempt.failed[attempt.dynamic()][own]  # the others are done again anyway
    breaks = may_break(problem, label, phase.joints.breakable())
    pending &= ~(breaks[label[own]] | breaks[label[other]])
    hits, own, other = hits[pending], own[pending], other[pending]
    if not len(hits):
        return None
    bodies = np.zeros(n + 1, bool)
    bodies[own] = bodies[other] = True
    problem, free, residual = _without(attempt, phase, hits, bodies[:n])
    share, turn = _met(problem, hits, free, phase.fast)
    told = (residual[own] <= phase.fast) & (np.maximum(share, 1.0 - share) * turn > FAR)
    if not some(told):
        return None
    first = int(np.argmin(np.where(told, share, np.inf)))
    share, around, turn = share[first], AROUND / turn[first], turn[first]
    bodies[:] = False
    bodies[own[told]] = bodies[other[told]] = True
    if share * turn > 2.0 * AROUND:
        return float(share - around), bodies[:n]
    return (float(share + around), bodies[:n]) if share + around < 1.0 else None


def _hits(assembly, solution, close):
    """Numbers (H,) of contacts that rebound, come from afar as something turns, and carry load at the step's end.

    Those of joints may be taken to carry load and carry none: what they take from the arc of a hammer that is held up
    then keeps it from where it hits.
    """
    problem, contacts = assembly.problem, assembly.problem.contacts
    hits = contacts.restitution > 0.0
    if not some(hits):
        return places(hits)
    jointed = assembly.island_jointed[assembly.island[moving_first(contacts)[0]]]
    hits &= (solution.contact_impulse[:, 0] > 0.0) | (assembly.pressed & jointed)
    hits &= start_gaps(problem) > close
    if not some(hits):
        return places(hits)
    found = places(hits & strikes(problem, FAR))
    contacts, spin, levers = contacts.take(found), problem.bodies.velocity[:, 3:], np.zeros(len(found), bool)
    for body, point in ((contacts.body_a, contacts.point_a), (contacts.body_b, contacts.point_b)):
        lever = rotate(problem.bodies.orientation[body], point)
        levers |= length(np.cross(spin[body], lever)) > HIT  # not of balls
        if contacts.face is not None:
            levers |= contacts.face == body
    return found[levers]


def _without(attempt, phase, hits, bodies):
    """(StepProblem, StepSolution, (n,) residual [m]) of the step without the contacts ``hits``, and those that only
    showed at its end between the same bodies, in the islands of ``bodies`` (n,) bool.  The problem has them, the
    solution does not; what joints hold keeps its energy.
    """
    assembly, solution = attempt.assembly, attempt.solution
    contacts, count = assembly.problem.contacts, len(assembly.contacts)
    pair = pair_number(contacts.body_a, contacts.body_b, len(assembly.problem.bodies.mass))
    kept = np.ones(len(contacts), bool)
    kept[count:] = ~among(pair[count:], distinct(pair[hits]))
    kept[hits] = False
    if some(assembly.island_jointed[assembly.island[bodies]]):
        assembly = phase.again(assembly, solution, None, assembly.pressed & kept, attempt.state)
    problem = assembly.problem
    without = replace(problem, contacts=problem.contacts.take(kept))
    return problem, *solved_otherwise(attempt, phase, without, bodies)


def _met(problem, hits, free, close):
    """(H,) share of the step after which the contacts ``hits`` meet on the way to ``free``, a StepSolution, and by how
    much what brings them together turns in the step [rad]; 1 and 0: they do not meet, or nothing does.
    """
    start, contacts, h = problem.bodies, problem.contacts.take(hits), problem.step
    poses = (start.position, start.orientation), (free.position, free.orientation)
    first, last = np.maximum(start_gaps(problem)[hits], 0.0), gaps(contacts, *poses[1])
    begins, own = parting_speeds(contacts, start.velocity_at_start(), *poses[0]), []
    sides = contacts.body_a, contacts.body_b
    for pose in poses:
        rows = contact_jacobians(contacts, *pose)
        own.append([np.abs(inner(j[:, 0, 3:], start.velocity[body, 3:])) for j, body in zip(rows, sides, strict=True)])
    share = met_at(first, h * begins, last)
    by_turning, turn = np.maximum(*own), np.zeros(len(hits))
    for side, body in zip(by_turning, sides, strict=True):
        spin, brings = start.velocity[body, 3:], side > np.maximum(HIT, SHARE * np.abs(begins))
        turn = np.maximum(turn, np.where(brings, h * length(spin), 0.0))
        if contacts.face is not None:
            tilts = np.where(contacts.face == body, h * length(np.cross(spin, contacts.normal)), 0.0)
            turn = np.maximum(turn, tilts)
    return share, np.where(last <= close, turn, 0.0)
