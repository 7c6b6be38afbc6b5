# SPDX-License-Identifier: GPL-3.0-or-later
"""How surfaces that keyframes move go on within a step, for the impacts in it: a lift that gets faster, a shaken table.

A ball that hits leaves with e times its approach to the surface as fast as that is there and then.  Against the mean of
the step, which is half a step late, bounces in a lift that gets faster by 3 m/s^2 were 0.3 m off after two seconds, and
those on a table that is shaken by 5 cm twice a second by half of the way the ball had fallen.

A path is known by its samples, and by how fast it is there (``HandOver.smooth_velocity``).  From one to the next it is
taken as two parabolas that meet half way: they keep places and velocities of both ends, and are the path itself where
it gets faster evenly.  So a step has parts in which gap velocities change evenly, and only jump where a path has a
corner.
"""

from dataclasses import dataclass

import numpy as np

from .flags import places, some
from .vectors import inner

SAME = 1e-9  # [s] times nearer than that are one


@dataclass
class Course:
    """P parts of a step, and what C contacts have in each beyond surfaces that keep to their mean velocity."""

    parts: np.ndarray  # (P,) how long they are [s]
    jump: np.ndarray  # (C, P) by how much gap velocities change as each begins [m/s]
    bend: np.ndarray  # (C, P) accelerations of gaps in it [m/s^2]

    def take(self, index):
        """The Course of the contacts at ``index``."""
        return Course(self.parts, self.jump[index], self.bend[index])

    def each(self):
        """Length, jump (C,) and bend (C,) of one part after the other."""
        return zip(self.parts, self.jump.T, self.bend.T, strict=True)


def led_course(problem, hand_over, number, state):
    """The Course of a StepProblem's contacts; None where nothing that may be bounced off gets faster or slower.

    Of what turns in the step nothing is told: its places and normals do not go one way.  hand_over: HandOver; number:
    Numbering; state: State at the start.
    """
    contacts, bodies, step = problem.contacts, problem.bodies, problem.step
    if bodies.velocity_at_start() is bodies.velocity or not some(contacts.restitution):
        return None
    uneven = bodies.straight(step) & ~bodies.evenly(step)
    uneven[: bodies.dynamic_count] = False
    asked = np.zeros(len(uneven), bool)
    bounces = contacts.restitution > 0.0
    asked[contacts.body_a[bounces]] = asked[contacts.body_b[bounces]] = True
    if not some(uneven & asked):
        return None
    leads = hand_over.carriers(state.time, state.time + step, number, uneven & asked)
    if not leads:
        return None
    paths = [(k, *_parabolas(hand_over, i, state, step)) for i, k in leads]
    times = np.sort(np.concatenate([times for _, times, _, _ in paths]))
    times = np.append(times[np.diff(times, prepend=-1.0) > SAME], step)
    parts = np.diff(times)
    shape = len(contacts), len(parts)
    out = Course(parts, np.zeros(shape), np.zeros(shape))
    for k, begins, speeds, gains in paths:
        own = np.searchsorted(begins, times[:-1] + SAME) - 1
        gain = gains[own]
        first = speeds[own] + gain * (times[:-1] - begins[own])[:, None]
        last = first + gain * parts[:, None]
        jump = first - np.concatenate([[bodies.velocity[k, :3]], last[:-1]])
        for sign, body in ((1.0, contacts.body_a), (-1.0, contacts.body_b)):
            on = places(bounces & (body == k))
            normal = sign * contacts.normal[on, None]
            out.jump[on], out.bend[on] = inner(normal, jump), inner(normal, gain)
    return out


def _parabolas(hand_over, index, state, step):
    """(when each begins (K,), from the start of the step on [s], velocities (K, 3) there, accelerations (K, 3)) of the
    path of the body ``index``.
    """
    glide, begin = state.glide, state.time
    times = [*(time for time, _ in hand_over.samples(index, begin, begin + step)), begin + step]
    place = np.array([hand_over.plan(index, begin, time, glide)[0] for time in times])
    first = np.array([hand_over.smooth_velocity(index, time, glide, True)[0] for time in times[:-1]])
    last = np.array([hand_over.smooth_velocity(index, time, glide, False)[0] for time in times[1:]])
    half = 0.5 * np.diff(times)[:, None]
    middle = np.diff(place, axis=0) / half - 0.5 * (first + last)
    speeds, gains = np.stack([first, middle], 1), np.stack([middle - first, last - middle], 1) / half[:, None]
    begins = np.stack([np.array(times[:-1]), np.array(times[:-1]) + half[:, 0]], 1) - begin
    return begins.reshape(-1), speeds.reshape(-1, 3), gains.reshape(-1, 3)
