# SPDX-License-Identifier: GPL-3.0-or-later
"""Impacts that lead to impacts within a step: what a row of balls hands on, and the second corner of a falling box.

Contacts fly freely from hit to hit, as in ``impact.py``, but a hit changes the velocity of its two bodies, and with it
the speed of all their contacts.  Contacts that touch and approach are reflected together, and only they, until none
approaches: generalised reflections (Smith, Kaufman, Vouga, Tamstorf, Grinspun 2012, "Reflections on simultaneous
impact").  Momentum is kept, no energy is gained where all hit with the same e, and a ball against a row sends off the
last one.  Joints and friction take no part.

Levers and normals stay those of the step's start, which is only true of bodies that impacts set no spin to: of groups
whose impulses all go through the centres of mass, as those of balls do.
"""

import numpy as np

from .impact import approach, time_to_zero
from .rotation import conjugate, rotate
from .rows import normal_jacobians, start_gaps

ROUNDS = 16  # reflections for each contact of a group: what still hits then is taken to rest
SWEEPS = 50  # Gauss-Seidel over the contacts that are reflected together
CENTRAL = 0.01  # of a contact's answer may be spin
SETTLED = 1e-9  # of the fastest approach: a sweep that changes speeds by less is the last


def reflections(problem):
    """(J_a, J_b, R_a, R_b), each (C, 6): row of a contact's gap velocity for both bodies, and velocity that a unit
    impulse gives them.
    """
    bodies, contacts = problem.bodies, problem.contacts
    rows = normal_jacobians(contacts, bodies.orientation)
    return *rows, *(answer(bodies, side, j) for side, j in zip((contacts.body_a, contacts.body_b), rows, strict=True))


def answer(bodies, body, row):
    """(C, 6) velocity that a unit impulse along ``row`` (C, 6) gives ``body`` (C,); 0 for those that do not move."""
    q, moves = bodies.orientation[body], (body < bodies.dynamic_count)[:, None]
    spin = rotate(q, rotate(conjugate(q), row[:, 3:]) / bodies.inertia[body])
    return np.where(moves, np.hstack([row[:, :3] / bodies.mass[body, None], spin]), 0.0)


def central(rows):
    """(C,) bool: contacts with impulses through the centres of mass; rows: of ``reflections``."""
    j_a, j_b, r_a, r_b = rows
    answer = j_a * r_a + j_b * r_b
    return answer[:, 3:].sum(axis=1) <= CENTRAL * answer.sum(axis=1)


def slowest_hits(problem, end_velocity, gain, rebounds, slowest):
    """(C,) approach [m/s] up to which contacts do not rebound.

    Those that free motion does not let rebound may carry weight whichever way they face: half of what their bodies
    gather in the step is no impact, or balls at rest would push each other about for ever.
    gain: (C,) of the gap velocity in the step; others as for ``knock_on``.
    """
    bodies, contacts = problem.bodies, problem.contacts
    gathered = np.zeros(len(bodies.mass))
    n = bodies.dynamic_count
    gathered[:n] = np.linalg.norm(end_velocity[:, :3] - bodies.velocity[:n, :3], axis=1)
    weight = np.maximum(gathered[contacts.body_a], gathered[contacts.body_b])
    return np.maximum(slowest, 0.5 * np.where(rebounds, np.abs(gain), weight))


def knock_on(problem, end_velocity, group, rebounds, slowest=0.0, close=0.0, held=None, course=None):
    """Gap (C,) [m] and speed (C,) [m/s] at the end of the step, zero where nothing rebounded, and hits (C,) bool.

    Args:
        problem, end_velocity, slowest: as for ``impact.rebounds``.
        group: (C,) int, contacts of one number that hang together by bodies that move; those below 0 are left out.
        rebounds: (C,) bool, contacts that rebound when each is taken alone.
        close: gaps below this [m] touch.
        held, course: as for ``impact.rebounds``.
    """
    contacts, h = problem.contacts, problem.step
    speed, gain = approach(problem.bodies, contacts, end_velocity)
    gap, pull = np.maximum(start_gaps(problem), 0.0), (gain if held is None else gain + held) / h
    rows, free_pull, apart = reflections(problem), pull, np.zeros(len(contacts))
    bounced, hits, rests = np.zeros((3, len(contacts)), bool)
    for part, jump, bend in [(h, 0.0, 0.0)] if course is None else course.each():
        speed, pull = speed + jump, np.where(rests, 0.0, free_pull + bend)
        limits = slowest, slowest_hits(problem, end_velocity, gain + h * bend, rebounds, slowest), close
        for number in range(int(group.max(initial=-1)) + 1):
            motion, found = (gap, speed, pull, apart), (bounced, hits, rests)
            _play(np.flatnonzero(group == number), contacts, rows, motion, limits, part, found)
    gap = np.where(group >= 0, gap + apart, gap)
    return np.where(bounced, gap, 0.0), np.where(bounced, speed, 0.0), hits


def _play(members, contacts, rows, motion, limits, left, found):
    """Carry ``motion``, (gap, speed, pull, apart) of all contacts, of one group over the time ``left`` [s], in place.

    apart: what touches, though it is apart by up to ``close``, ends as much farther apart; found: bounced, hits, rests.
    """
    (gap, speed, pull, apart), (bounced, hits, rests) = motion, found
    still, slowest, close = limits  # approaches below ``still`` [m/s] are left to the solve
    for _ in range(ROUNDS * len(members)):
        approaching = (gap[members] <= close) & (speed[members] < -still)
        if approaching.any():
            struck = members[approaching]
            hits[struck] = True
            apart[struck] += gap[struck]
            gap[struck] = 0.0
            fast = (-speed[struck] > slowest[struck]) & (contacts.restitution[struck] > 0.0)
            bounced[struck[fast]] = True
            pull[struck[~fast]] = 0.0  # it rests on what holds it
            rests[struck[~fast]] = True
            wanted = np.where(fast, -contacts.restitution[struck] * speed[struck], 0.0)
            speed[members] += _change(members, struck, wanted, speed, contacts, rows)
            continue
        times = time_to_zero(gap[members], speed[members], pull[members])
        time = times.min()
        if time > left:
            break
        left -= time
        gap[members] += time * (speed[members] + 0.5 * pull[members] * time)
        speed[members] += pull[members] * time
        arrived = times == time
        gap[members[arrived]] = 0.0
        lies = members[arrived & (speed[members] >= -still)]
        hits[lies] = rests[lies] = True
        speed[lies] = pull[lies] = 0.0
    else:
        speed[members] = np.where(gap[members] <= close, np.maximum(speed[members], 0.0), speed[members])
    end = gap[members] + left * (speed[members] + 0.5 * pull[members] * left)
    gap[members] = np.maximum(0.0, end)
    speed[members] += pull[members] * left


def _change(members, struck, wanted, speed, contacts, rows):
    """(members,) change of speed by the smallest impulses that leave those ``struck`` with the speed ``wanted``."""
    j_a, j_b, r_a, r_b = rows
    body = contacts.body_a, contacts.body_b
    change = {}  # velocity of each body

    def of(side, contact):
        return change.setdefault(int(body[side][contact]), np.zeros(6))

    impulse, scale = np.zeros(len(struck)), SETTLED * np.abs(speed[struck]).max()
    for _ in range(SWEEPS):
        most = 0.0
        for k, c in enumerate(struck):
            weight = j_a[c] @ r_a[c] + j_b[c] @ r_b[c]
            lack = wanted[k] - speed[c] - j_a[c] @ of(0, c) - j_b[c] @ of(1, c)
            new = max(0.0, impulse[k] + lack / weight)
            most = max(most, abs(new - impulse[k]) * weight)
            change[int(body[0][c])] = of(0, c) + (new - impulse[k]) * r_a[c]
            change[int(body[1][c])] = of(1, c) + (new - impulse[k]) * r_b[c]
            impulse[k] = new
        if most <= scale:
            break
    return np.array([j_a[c] @ of(0, c) + j_b[c] @ of(1, c) for c in members])
