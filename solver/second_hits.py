# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that rebound and hit something else in the same step: their step is done again in halves.

A contact has one normal for the step, and its law of impact the velocities that lead to it in free flight
(round_impacts.py, convex_impacts.py).  What a body meets on its rebound it meets elsewhere: balls of restitution 1 that
flew about in a box lost 28 % of their energy in three seconds at 24 frames a second.  How far off such a hit may be
goes with the restitution, for it is the rebound that goes astray.

Rebounds of bodies that are not hit through their centres are foreseen one by one (knock_on.py follows the others).  A
light box that comes back from a wall to a heavy one so pushed that away like a strut, as far as it would have flown.
Such steps are halved, too.
"""

import numpy as np

from .flags import some
from .reference.knock_on import central, reflections
from .reference.rows import start_gaps
from .topology import whole_groups
from .vectors import inner, length
from .velocity_phase import moves

TURNED = 0.035  # [rad] by which a normal may turn in a step before a body on its rebound meets it, at restitution 1
SLOW = 0.5  # [m/s] rebounds that are slower may go astray


def hit_again(assembly, solution, missed, bad):
    """(n,) bool: dynamic bodies that rebound and hit something else on the way it sends them.  None: nothing rebounds.

    Args:
        assembly: Assembly of the step; solution: its StepSolution.
        missed: Contacts that only show at its end, or None.
        bad: (n,) bool, bodies whose solve tells nothing.
    """
    problem, flights = assembly.problem, None if missed is None else assembly.bounces
    rebounds = problem.contacts.rebound_speed
    if flights is None and (rebounds is None or not some(rebounds)):
        return None
    contacts, n = problem.contacts, problem.bodies.dynamic_count
    sent = (contacts.rebound_speed != 0.0) & (solution.contact_impulse[:, 0] > 0.0)
    sent = np.flatnonzero(sent & ~moves(contacts, bad, len(solution.velocity)) if some(bad) else sent)
    sides = contacts.body_a, contacts.body_b
    u = _sent_off(problem, solution, sent)
    hits = np.bincount(np.append(*(side[sent] for side in sides)), minlength=len(u))
    hits[n:] = 0
    if flights is not None:
        hits[:n] += flights.flown
    again, most = np.zeros(len(u), bool), np.maximum(*(hits[side] for side in sides))
    flew = start_gaps(problem)[sent] > (0.0 if contacts.gap_noise is None else contacts.gap_noise[sent])
    if contacts.face is not None:
        flew &= contacts.face[sent] < 0
    flew &= np.abs(contacts.rebound_speed[sent]) > SLOW
    second = contacts.take(sent[flew & (most[sent] > 1)])
    speed = u[second.body_a] - u[second.body_b]
    aside = problem.step * second.restitution * length(np.cross(second.normal, speed))
    reach = second.margin_a + second.margin_b
    reach += sum(length(point) for point in (second.point_a, second.point_b))
    turned = aside > TURNED * reach
    again[second.body_a[turned]] = again[second.body_b[turned]] = True
    again[:n] |= _jammed(assembly, solution, sent)
    if missed is not None:
        a, b = missed.body_a, missed.body_b
        speed = length(u[b] - u[a])  # the normal at the step's end may be that of a near miss
        hit = (np.maximum(hits[a], hits[b]) > 0) & (missed.restitution * speed > SLOW)
        again[a[hit]] = again[b[hit]] = True
    return again[:n]


def _jammed(assembly, solution, sent):
    """(n,) bool: bodies whose rebounds push what they meet, though no hit was foreseen there.

    sent: (K,) numbers of contacts that rebound with an impulse.  Not where all impulses go through the centres of mass.
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    contacts, jams = problem.contacts, np.zeros(len(problem.bodies.mass), bool)
    if not len(sent):
        return jams[:n]
    sides = contacts.body_a, contacts.body_b
    loaded = (contacts.rebound_speed == 0.0) & (contacts.rebound_gap == 0.0) & (contacts.restitution > 0.0)
    loaded &= solution.contact_impulse[:, 0] > 0.0
    if not some(loaded):
        return jams[:n]
    before, left = problem.bodies.velocity[:, :3], _leaving(problem, sent)
    apart = start_gaps(problem) > (0.0 if contacts.gap_noise is None else contacts.gap_noise)
    apart[len(assembly.contacts) :] = True  # of late ones nobody knows
    parts, meets = (inner(contacts.normal, v[sides[0]] - v[sides[1]]) for v in (before, left))
    apart |= contacts.restitution * parts > SLOW
    met = np.flatnonzero(loaded & apart & (-contacts.restitution * meets > SLOW))
    if not len(met):
        return jams[:n]
    off = np.zeros(len(jams), bool)
    aside = ~central(reflections(problem))
    off[sides[0][aside]] = off[sides[1][aside]] = True
    jams[sides[0][met]] = jams[sides[1][met]] = True
    return jams[:n] & whole_groups(assembly.island, off[:n])


def _leaving(problem, sent):
    """(B, 3) [m/s]: velocities with which bodies leave the fastest of the contacts ``sent``, as if only two met there:
    what is pushed along with them in the solution tells nothing of that.
    """
    bodies, contacts = problem.bodies, problem.contacts
    sent = sent[np.argsort(np.abs(contacts.rebound_speed[sent]), kind="stable")]
    a, b, n, v = contacts.body_a[sent], contacts.body_b[sent], contacts.normal[sent], bodies.velocity[:, :3]
    ease_a, ease_b = 1.0 / bodies.mass[a, None], 1.0 / bodies.mass[b, None]
    change = contacts.rebound_speed[sent] - inner(v[a] - v[b], n)
    push, left = change[:, None] * n / (ease_a + ease_b), v.copy()
    for side, gains in ((a, ease_a * push), (b, -ease_b * push)):
        left[side] = v[side] + gains
    return left


def _sent_off(problem, solution, sent):
    """(B, 3) [m/s]: velocities with which bodies leave the contacts ``sent``, which rebound; others keep theirs.

    Those of the solution are means over the step, the way to what they hit included.
    """
    bodies, contacts = problem.bodies, problem.contacts
    u, n = solution.velocity[:, :3].copy(), contacts.normal[sent]
    a, b = contacts.body_a[sent], contacts.body_b[sent]
    before, mean = (inner(v[a, :3] - v[b, :3], n) for v in (bodies.velocity, solution.velocity))
    change = np.maximum(mean - before, 1e-3 * (np.abs(before) + np.abs(contacts.rebound_speed[sent])))
    more = np.maximum(contacts.rebound_speed[sent] - mean, 0.0) / change * solution.contact_impulse[sent, 0]
    for side, push in ((a, more), (b, -more)):
        free = side < bodies.dynamic_count
        np.add.at(u, side[free], (push[:, None] * n)[free] / bodies.mass[side[free], None])
    return u
