# SPDX-License-Identifier: GPL-3.0-or-later
"""What rides on bodies that keyframes move: it ends a step with their velocity of the step's end.

A step goes by the mean velocity of its way, half a step late: what rode on a lift that slowed down flew off with
g h / 2 too much, and 12 % too high at 24 frames a second.  So it gets the velocity phase, where keyframed bodies have
their velocity of the end (``HandOver.led``).
"""

import numpy as np

from .flags import some
from .reference.rotation import cross
from .rotations import conjugate, multiply, rotate
from .vectors import length


def riders(problem, loaded, led, noise):
    """(n,) bool: dynamic bodies pushed by keyframed ones that get faster or slower along the step's way.

    None where there are none.  loaded: (C,) bool, contacts that push; led: (B, 6) velocities of keyframed bodies at the
    step's end; noise: [m] of its way, less of which is none.
    """
    out, found = np.zeros(problem.bodies.dynamic_count, bool), False
    for other, faster in _sped_up(problem, loaded, led):
        taken = other[problem.step * length(faster) > noise]
        out[taken], found = True, found or len(taken) > 0
    return out if found else None


def _sped_up(problem, loaded, led):
    """For either side of contacts that are ``loaded`` (C,) bool, where that is keyframed and the other is dynamic:
    ((K,) the dynamic bodies, (K, 3) how much faster the place has become, and not only turned [m/s]).
    """
    contacts, bodies, n = problem.contacts, problem.bodies, problem.bodies.dynamic_count
    if led is bodies.velocity or not some(loaded):
        return
    changed, start = (led != bodies.velocity).any(axis=1), bodies.velocity_at_start()
    for body, other, point in (
        (contacts.body_a, contacts.body_b, contacts.point_a),
        (contacts.body_b, contacts.body_a, contacts.point_b),
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
        yield other[on], last - rotate(multiply(turns[1], conjugate(turns[0])), first)
