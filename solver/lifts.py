# SPDX-License-Identifier: GPL-3.0-or-later
"""What rides on bodies that keyframes move: it ends a step with their velocity of the step's end.

A step goes by the mean velocity of its way, half a step late: what rode on a lift that slowed down flew off with
g h / 2 too much, and 12 % too high at 24 frames a second.  So it gets the velocity phase, where keyframed bodies have
their velocity of the end (``HandOver.led``); along it what goes by backward Euler keeps to the mean.
"""

import numpy as np

from .copies import replace
from .flags import some
from .reference.rotation import cross
from .reference.rows import dot
from .rotations import conjugate, multiply, rotate


def on_lifts(problem, loaded, led, noise):
    """(n,) bool: dynamic bodies pushed by keyframed ones that get faster or slower along the normal, or None.

    loaded: (C,) bool, contacts that push; led: (B, 6) velocities of keyframed bodies at the step's end; noise: [m] of
    its way, less of which is none.
    """
    out = np.zeros(problem.bodies.dynamic_count, bool)
    for _, on, other, faster in _sped_up(problem, loaded, led):
        out[other[problem.step * np.abs(dot(faster, problem.contacts.normal[on])) > noise]] = True
    return out if some(out) else None


def dragged(at_end, problem, part, led):
    """The Contacts ``at_end`` of the velocity phase, of which those of the ``part`` (C,) bool that do not glide run
    along keyframed bodies at their mean velocity, as in the position phase.

    By backward Euler friction is that of the mean: at the velocity of the end it turned heaps on shaken plates over.
    at_end: as many as in ``problem``, that of the step; led: as in ``riders``.
    """
    if len(at_end) != len(problem.contacts):
        return at_end
    if problem.contacts.glides is not None:
        part = part & ~problem.contacts.glides
    runs = np.zeros((len(at_end), 3))
    for sense, on, _, faster in _sped_up(problem, part, led):
        runs[on] = -0.5 * sense * faster
    if not some(runs):
        return at_end
    known = 0.0 if at_end.surface_velocity is None else at_end.surface_velocity
    return replace(at_end, surface_velocity=known + runs)


def _sped_up(problem, loaded, led):
    """For either side of contacts that are ``loaded`` (C,) bool, where that is keyframed and the other is dynamic:
    (1 for a and -1 for b, numbers (K,) of the contacts, (K,) the dynamic bodies, (K, 3) how much faster the place has
    become, and not only turned [m/s]).
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
        yield sense, on, other[on], last - rotate(multiply(turns[1], conjugate(turns[0])), first)
