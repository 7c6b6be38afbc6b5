# SPDX-License-Identifier: GPL-3.0-or-later
"""Landings: what hits something sprung, or held by friction of its joints, is braked by those from then on, not from
the step's start.

A hit ends its step by backward Euler (gliding.py): the force that springs have at the end of the step then acts for all
of it, though they give way only after the hit.  What came down on a trampoline at 24 frames a second so lost up to half
its height in the one step of the hit, and none after.  So it is with friction of joints: what it takes in all of a step
stopped a hammer of 0.6 kg at 3 m/s on a nail that 60 N hold, which has to go in by 5 cm.

So the step is done again in parts: until just before the hit, as if nothing were hit; over the hit, so short that
springs hardly matter; and the rest, in which all lies on each other and keeps its energy.  A solve without any
contact of the two that was apart tells when that is.  Not if any of the joints may break; see stops.py.
"""

import numpy as np

from .bounces import moving_first
from .components import joint_groups
from .constraints.breaking import impulse_share
from .flags import places, some
from .ghosts import of_pairs
from .halts import arms, brakes
from .ordered import distinct
from .reference.rows import coordinate_rates, coordinates, parting_speeds, start_gaps
from .stops import Stops, matters, may_break, shares, unstopped

HIT = 0.1  # [m/s] at which bodies approach; slower they come to lie on each other
LIGHT = 0.1  # of what springs do in the step: hits of less energy are not worth so many solves
RUBS = 0.02  # of what hits, that friction takes in a step: of less it is not worth so many solves
AROUND = 0.01  # of the step, before and after the hit, within which it is
SOON = 0.03  # of the step: hits within that of its start are over with them


def landing(attempt, phase):
    """(share of the step at which to split it, (n,) bool: what hits something sprung, and that); None: nothing does.

    attempt: a finished Attempt, to which the work is added; phase: the PositionPhase that solved it.
    """
    assembly, solution = attempt.assembly, attempt.solution
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    springs, rubs = assembly.springs, brakes(assembly)
    none = springs[:0]
    hits, approach = _hits(problem, solution, phase.fast) if len(springs) or len(rubs) else (none, None)
    if not len(hits):
        return None
    label = joint_groups(assembly.joint_links, n)
    sides = [label[np.minimum(side[hits], n)] for side in (problem.contacts.body_a, problem.contacts.body_b)]
    told = _brake(attempt, springs, (hits, approach), (sides, label))
    if len(rubs):
        told |= _rub(attempt, phase, rubs, (hits, approach), (sides, label))
    told &= ~may_break(problem, label, phase.joints.breakable())
    told[label[:n][attempt.failed[attempt.dynamic()]]] = False  # they are done again anyway
    met = told[sides[0]] | told[sides[1]]
    if not some(met):
        return None
    hits, bodies = hits[met], np.zeros(n, bool)
    own = moving_first(problem.contacts)[0][hits]
    bodies[own] = True
    apart = of_pairs(distinct(assembly.pairs[hits]), assembly)
    apart &= start_gaps(problem) > phase.fast  # their others would stop them
    stops = Stops(none, places(apart), none, label)
    free, residual, _ = unstopped(attempt, phase, stops, bodies)
    share = shares(problem, stops, free)[np.searchsorted(stops.contacts, hits)]
    share = share[(residual[own] <= phase.fast) & (share < 1.0)]
    if not len(share):
        return None
    first = float(share.min())
    return first + (AROUND if first < SOON else -AROUND), bodies


def _hits(problem, solution, close):
    """Numbers (H,) of contacts that are hit: that carry load at the step's end and approach from afar, and how fast."""
    hits = places((solution.contact_impulse[:, 0] > 0.0) & (start_gaps(problem) > close))
    start, contacts = problem.bodies, problem.contacts.take(hits)
    approach = -parting_speeds(contacts, start.velocity, start.position, start.orientation)
    approach = np.maximum(approach, start_gaps(problem)[hits] / problem.step)
    fast = approach > HIT
    return hits[fast], approach[fast]


def _brake(attempt, springs, hits, groups):
    """(n + 1,) bool: those of the ``joint_groups`` whose springs brake what hits them for longer than they should.

    hits: as ``_hits`` returns them; groups: of both bodies of those contacts, (H,) each, and (n + 1,) of all.
    """
    problem, solution, (hits, approach), (sides, label) = attempt.assembly.problem, attempt.solution, hits, groups
    start, count = problem.bodies, len(label)
    energy, fastest, work = np.zeros((3, count))
    for side in sides:
        np.add.at(energy, side, approach * solution.contact_impulse[hits, 0])
        np.maximum.at(fastest, side, approach)
    rows = problem.joints.take(springs)
    off = coordinates(rows, start.position, start.orientation) - rows.target
    before = np.clip(-rows.beta * off / (problem.step * rows.compliance), rows.lower, rows.upper)
    gain = solution.joint_impulse[springs] - before
    velocity = np.concatenate([attempt.end.velocity, start.velocity[start.dynamic_count :]])
    speed = coordinate_rates(rows, velocity, solution.position, solution.orientation)
    for side in (rows.body_a, rows.body_b):
        np.maximum.at(work, label[np.minimum(side, start.dynamic_count)], np.abs(gain * speed))
    lost = np.divide(fastest * work, energy, out=np.zeros(count), where=energy > LIGHT * work)
    told = matters(lost, fastest)
    told[-1] = False
    return told


def _rub(attempt, phase, rubs, hits, groups):
    """(n + 1,) bool: those of the ``joint_groups`` whose friction ``rubs`` brakes what hits them before it does.

    hits, groups: as in ``_brake``.  What friction stops within the tolerance is let be.
    """
    problem, (hits, approach), (sides, label) = attempt.assembly.problem, hits, groups
    n = problem.bodies.dynamic_count
    energy, push, fastest, taken, most = np.zeros((5, len(label)))
    load = attempt.solution.contact_impulse[hits, 0]
    for side in sides:
        np.add.at(energy, side, 0.5 * approach * load)
        np.add.at(push, side, load)
        np.maximum.at(fastest, side, approach)
    rows = problem.joints.take(rubs)
    arm, impulse = arms(rows, phase.collider.model.body_radius[attempt.dynamic()]), attempt.solution.joint_impulse[rubs]
    force = impulse_share(problem)[rubs] * rows.upper / problem.step
    # Both bodies are of one group, or one does not move.
    group = np.maximum(*(label[np.minimum(side, n)] for side in (rows.body_a, rows.body_b)))
    np.add.at(taken, group, np.abs(impulse) / arm)
    np.add.at(most, group, np.where(impulse != 0.0, force / arm, 0.0))
    lost = np.divide(fastest * taken, push, out=np.zeros(len(label)), where=push > 0.0)
    told = matters(lost, fastest) & (lost > RUBS * fastest) & (energy > phase.fast * most)
    told[-1] = False
    return told
