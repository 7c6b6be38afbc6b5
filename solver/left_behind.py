# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what keyed bodies strike leaves them: a bat that eases out is left behind, one that speeds up pushes on."""

import numpy as np

from .bounces import moving_first
from .ordered import distinct
from .reference.rows import normals
from .rotations import conjugate, rotate
from .vectors import inner, length


def left_behind(assembly, assembler, state, hits, times, until):
    """Of contacts ``hits`` (L,) with keyed bodies, by which they strike ``times`` (L,) after the step's start [s]: how
    far what is struck is ahead of them ``until`` after it [s] (L,) [m], how much their speeds along the normals have
    changed by then (L,) [m/s], and those of the blows (L,).

    assembler: Assembler; state: State at the step's start.
    """
    problem, number, hand_over = assembly.problem, assembly.numbering, assembler.hand_over
    contacts, bodies, turns = problem.contacts.take(hits), problem.bodies, problem.bodies.orientation.copy()
    on_a = contacts.body_a >= bodies.dynamic_count
    body, point = moving_first(contacts)[1], np.where(on_a[:, None], contacts.point_a, contacts.point_b)
    away = np.where(on_a, -1.0, 1.0)[:, None] * normals(contacts, bodies.orientation)  # towards what is struck
    away = rotate(conjugate(bodies.orientation[body]), away)
    scene, which = number.scene[body], np.zeros(len(bodies.mass), bool)
    which[body] = True

    def there(times):
        """Places (L, 3), their velocities (L, 3) and normals (L, 3) ``times`` (L,) after the step's start."""
        place, speed, along = np.empty((3, len(hits), 3))
        for time in distinct(times):
            at, now = state.time + time, times == time
            position, orientation = assembler.prescribed(state, at)
            turns[body] = orientation[scene]
            led = hand_over.led(at, state, number, bodies.velocity, turns, which, hand_over.velocity_within)
            lever = rotate(turns[body[now]], point[now])
            place[now] = position[scene[now]] + lever
            speed[now] = led[body[now], :3] + np.cross(led[body[now], 3:], lever)
            along[now] = rotate(turns[body[now]], away[now])
        return place, speed, along

    (then, blow, along), (end, leads, last) = there(times), there(np.full(len(hits), until))
    blow, leads = (inner(speed, normal)[:, None] * normal for speed, normal in ((blow, along), (leads, last)))
    return inner(last, then + (until - times)[:, None] * blow - end), length(blow - leads), length(blow)
