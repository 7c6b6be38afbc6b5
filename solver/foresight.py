# SPDX-License-Identifier: GPL-3.0-or-later
"""Where rebounds end in a step, foreseen from free motion, in which what rests on others does not fall.

A marble on three others was taken to fall on to the slope 3 mm below it, as all others around were, and to hit its
neighbours with what it gathered: contacts asked for gaps and speeds of rebounds that never were, and heaps in a pit
pushed each other about at 0.06 m/s for ever.
"""

import numpy as np

from .copies import replace
from .flags import places, some
from .impact import Impacts
from .knock_on import KnockOn
from .led_course import led_course
from .reference.impact import approach
from .reference.knock_on import answer
from .reference.rotation import cross
from .reference.rows import levers, start_gaps
from .vectors import inner, length, moved

EVEN = 0.1  # of what free motion adds to a velocity: what contacts leave of it, at most, where they hold a body


class Foresight:
    """Newton's law of impact for the contacts of one scene, step by step."""

    def __init__(self):
        self._alone, self._together = Impacts(), KnockOn()

    def rebounds(self, problem, end_velocity, slowest, close, leads=None):
        """Gap (C,) [m] and speed (C,) [m/s] a rebound ends the step with, and hits (C,) bool.

        problem: StepProblem; end_velocity: (n, 6) free velocity of those that move at the step's end; slowest: approach
        that rebounds [m/s]; close: gaps below this [m] touch; leads: HandOver, Numbering and State at the start, or
        None: keyframes move nothing.
        """
        course = None if leads is None else led_course(problem, *leads)
        alone, held = self._alone.rebounds(problem, end_velocity, slowest, course=course), None
        apart = start_gaps(problem) > close
        if some(apart & ((alone[0] > 0.0) | (alone[1] != 0.0))):
            held = kept_up(problem, end_velocity, slowest, apart)
        if held is not None:
            alone = self._alone.rebounds(problem, end_velocity, slowest, held, course)
        return self._together.rebounds(problem, end_velocity, alone, slowest, close, held, course)


def without_parting(problem, hits, end_velocity, slowest, close):
    """(C, 3) start impulses of a StepProblem's contacts, but none of bodies that part after they rebounded alone.

    With them what had hit as the last step ended would be held, and fall by backward Euler: g h^2 / 2 too far, back on
    to what it rebounded from.  hits: (C,) bool, contacts that free motion closes in the step; others as above.
    """
    contacts, bodies, n = problem.contacts, problem.bodies, len(end_velocity)
    if not some(contacts.restitution):
        return contacts.impulse
    had = moved(contacts.impulse)
    index = places(had & ~hits & (contacts.restitution > 0.0) & (np.maximum(contacts.body_a, contacts.body_b) >= n))
    if not len(index):
        return contacts.impulse
    at_start = replace(bodies, velocity=bodies.velocity_at_start())
    speed, gain = approach(at_start, contacts.take(index), end_velocity)
    apart = start_gaps(problem)[index] > close
    parts = np.zeros(len(contacts), bool)
    parts[index[apart | (speed > np.maximum(slowest, 0.5 * np.abs(gain)))]] = True
    held, keeps = np.zeros(len(bodies.mass), bool), (had | hits) & ~parts
    for side in (contacts.body_a, contacts.body_b):
        held[side[keeps]] = True
    parts &= ~held[np.minimum(contacts.body_a, contacts.body_b)]
    return np.where(parts[:, None], 0.0, contacts.impulse) if some(parts) else contacts.impulse


def kept_up(problem, end_velocity, still, apart):
    """(C,) what of the gain of gap velocities by free motion does not come to be, with its sign changed [m/s], or None.

    That of bodies which contacts hold: those that touch and stay so, with the impulses they carried.  Contacts that
    touch keep all of it: it presses on them.

    still: gap speeds up to this [m/s] are none; apart: (C,) bool, contacts that do not touch; others as above.
    """
    contacts, bodies, n = problem.contacts, problem.bodies, len(end_velocity)
    near = places(~apart & moved(contacts.impulse))
    if not len(near):
        return None
    gain = end_velocity[:, :3] - bodies.velocity[:n, :3]
    stays = contacts.take(near)
    stays = stays.take(places(np.abs(approach(bodies, stays, end_velocity)[0]) <= still))
    left = np.zeros((n + 1, 6))  # of momentum; the last of what does not move
    left[:n, :3] = bodies.mass[:n, None] * gain
    arms = levers(stays, stays.normal, bodies.orientation)
    for sign, body, arm in zip((1.0, -1.0), (stays.body_a, stays.body_b), arms, strict=True):
        np.add.at(left, np.minimum(body, n), sign * np.hstack([stays.impulse, cross(arm, stays.impulse)]))
    change = answer(bodies, np.arange(n), left[:n])
    off = length(change[:, :3]) + bodies.gyration() * length(change[:, 3:])
    holds = np.zeros(len(bodies.mass), bool)
    holds[:n] = off <= EVEN * length(gain)
    if not some(holds):
        return None
    held = np.zeros((len(bodies.mass), 3))
    held[:n] = np.where(holds[:n, None], gain, 0.0)
    back = inner(contacts.normal, held[contacts.body_b] - held[contacts.body_a])
    return np.where(apart, back, 0.0)
