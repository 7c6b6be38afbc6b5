# SPDX-License-Identifier: GPL-3.0-or-later
"""What rides on bodies that keyframes move: it ends a step with their velocity of the step's end.

A step goes by the mean velocity of its way, half a step late: what rode on a lift that slowed down flew off with
g h / 2 too much, and 12 % too high at 24 frames a second.  So it gets the velocity phase, where keyframed bodies have
their velocity of the end (``HandOver.led``).  What they shake more than friction holds slides one way and the other,
often both in one step, and is dragged along with the mean velocity, which is right for the mean of its reversals.
"""

import numpy as np

from .copies import replace
from .flags import some
from .plausible import pair_number
from .reference.rotation import cross
from .reference.rows import dot
from .rotations import conjugate, multiply, rotate
from .vectors import length

FLAT = 0.98  # cosine of the angle between normals of one face


def riders(problem, loaded, led, noise):
    """(n,) bool: dynamic bodies pushed by keyframed ones that get faster or slower along the step's way.

    None where there are none.  loaded: (C,) bool, contacts that push; led: (B, 6) velocities of keyframed bodies at the
    step's end; noise: [m] of its way, less of which is none.
    """
    out, found = np.zeros(problem.bodies.dynamic_count, bool), False
    for _, _, (_, other), _, faster in _carried(problem, loaded, led):
        taken = other[problem.step * length(faster) > noise]
        out[taken], found = True, found or len(taken) > 0
    return out if found else None


def dragged(at_end, problem, loaded, led, falls):
    """The Contacts ``at_end`` of the velocity phase, where surfaces that friction cannot hold on to run with the mean
    velocity of the step.

    at_end: as many as in ``problem``, that of the step; falls: (n, 3) acceleration of what nothing touches [m/s^2]; the
    others as in ``riders``.  What lies in a corner of a keyframed body is held by its sides.
    """
    if len(at_end) != len(problem.contacts):
        return at_end
    runs, normal, friction = np.zeros((len(at_end), 3)), problem.contacts.normal, problem.contacts.friction
    for sense, on, (carrier, other), gain, faster in _carried(problem, loaded, led):
        along, needed = -sense * normal[on], gain - falls[other]
        push = dot(needed, along)
        slides = length(needed - push[:, None] * along) > friction[on] * push
        slides &= _flat(pair_number(carrier, other, len(led)), along)
        runs[on[slides]] = -0.5 * sense * faster[slides]
    if not some(runs):
        return at_end
    known = 0.0 if at_end.surface_velocity is None else at_end.surface_velocity
    return replace(at_end, surface_velocity=known + runs)


def _carried(problem, loaded, led):
    """For either side of contacts that are ``loaded`` (C,) bool, where that is keyframed and the other is dynamic:
    (1 for a and -1 for b; (K,) numbers of the contacts; (K,) the keyframed bodies and (K,) the dynamic ones; (K, 3)
    mean acceleration of the place [m/s^2]; (K, 3) how much faster it has become, and not only turned [m/s]).
    """
    contacts, bodies, n = problem.contacts, problem.bodies, problem.bodies.dynamic_count
    if led is bodies.velocity or not some(loaded):
        return
    changed, start = (led != bodies.velocity).any(axis=1), bodies.velocity_at_start()
    for sense, body, other, point in (
        (1.0, contacts.body_a, contacts.body_b, contacts.point_a),
        (-1.0, contacts.body_b, contacts.body_a, contacts.point_b),
    ):
        on = np.flatnonzero(loaded & changed[body] & (other < n))
        if not len(on):
            continue
        body = body[on]
        turns = bodies.orientation[body], bodies.free_orientation[body]
        first, last = (
            velocity[body, :3] + cross(velocity[body, 3:], rotate(turn, point[on]))
            for velocity, turn in zip((start, led), turns, strict=True)
        )
        faster = last - rotate(multiply(turns[1], conjugate(turns[0])), first)
        yield sense, on, (body, other[on]), (last - first) / problem.step, faster


def _flat(pair, normal):
    """(K,) bool: contacts of pairs of bodies (K,) of which all have the same normal (K, 3)."""
    pairs, own = np.unique(pair, return_inverse=True)
    first = np.zeros((len(pairs), 3))
    first[own[::-1]] = normal[::-1]
    bent = np.zeros(len(pairs), bool)
    bent[own[dot(normal, first[own]) < FLAT]] = True
    return ~bent[own]
