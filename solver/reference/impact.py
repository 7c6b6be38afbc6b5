# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a rebounding contact is at the end of the step it hits in: Newton's law of impact, at the time of the impact.

Until it hits, and between hits, a contact's gap moves freely:

    phi(t) = phi_0 + v_0 t + a t^2 / 2        v(t) = v_0 + a t        v(after) = -e v(before) at phi = 0

What keyframes move faster or slower has other v_0 and a in each part of the step (``led_course.py``).

Taken at the end of a frame-sized step instead, an impact would lose the rest of the step and with it up to a fifth of
the next bounce's height.  A contact that hits no faster than free motion gathers speed in half a step does not
rebound: it rests.
"""

import numpy as np

from .rows import normal_jacobians, start_gaps

MOST_HITS = 16  # of one contact within one step, or a part of it; one that still hits is taken to rest


def approach(bodies, contacts, end_velocity):
    """Gap velocity of free motion at the start of the step [m/s] and its acceleration times the step [m/s]: (C,), (C,).

    end_velocity: (n, 6) free velocity of the dynamic bodies at the step's end; immovable ones keep their velocity.
    """
    if not len(contacts):
        return np.zeros(0), np.zeros(0)
    j_a, j_b = normal_jacobians(contacts, bodies.orientation)
    gain = np.zeros_like(bodies.velocity)
    n = bodies.dynamic_count
    gain[:n, :3] = end_velocity[:, :3] - bodies.velocity[:n, :3]

    def along_normal(velocity):
        on_a, on_b = (velocity.take(body, 0) for body in (contacts.body_a, contacts.body_b))
        return np.einsum("ci,ci->c", j_a, on_a) + np.einsum("ci,ci->c", j_b, on_b)

    drift = 0.0 if contacts.surface_drift is None else contacts.surface_drift
    return along_normal(bodies.velocity) + drift, along_normal(gain)


def rebounds(problem, end_velocity, slowest=0.0, held=None, course=None):
    """What Newton's law of impact asks of each contact at the end of the step.

    Args:
        problem: StepProblem; its bodies' ``velocity`` is that at the step's start.
        end_velocity: (n, 6) free velocity of the dynamic bodies at the step's end.
        slowest: approaches below this speed [m/s] do not rebound; half of what free motion gathers in the step counts
            too.
        held: (C,) what does not come to be of the gain of gap velocities, with its sign changed [m/s], or None: all
            does.
        course: led_course.Course, or None: no surface gets faster or slower.

    Returns:
        gap (C,) [m] and separation speed (C,) [m/s] at the end of the step; a speed below zero is that of a body on its
        way to the next hit.  Both are zero where nothing rebounds.  And hits (C,) bool: free motion reaches phi = 0.
    """
    contacts, h = problem.contacts, problem.step
    speed, gain = approach(problem.bodies, contacts, end_velocity)
    gap = np.maximum(start_gaps(problem), 0.0)
    pull = (gain if held is None else gain + held) / h
    hits, bounced = np.zeros((2, len(contacts)), bool)
    for part, jump, bend in [(h, 0.0, 0.0)] if course is None else course.each():
        least = np.maximum(slowest, 0.5 * np.abs(gain + h * bend))
        motion = gap, speed + jump, pull + bend
        gap, speed, hit, bounce = _in_part(contacts.restitution, motion, part, least)
        hits, bounced = hits | hit, bounced | bounce
    return np.where(bounced, gap, 0.0), np.where(bounced, speed, 0.0), hits


def _in_part(restitution, motion, part, slowest):
    """Gap, speed, hits and whether it rebounded, (C,) each, after a part [s] of the step in which nothing jumps.

    motion: gap, speed and its acceleration; slowest: (C,) [m/s].
    """
    gap, speed, pull = motion
    left = np.full(len(gap), part)
    moving, hits, bounced = np.ones(len(gap), bool), *np.zeros((2, len(gap)), bool)
    for _ in range(MOST_HITS):
        time = time_to_zero(gap, speed, pull)
        hit = moving & (time <= left)
        if not hit.any():
            break
        hits |= hit
        arrival = speed + pull * np.where(hit, time, 0.0)
        rest = hit & ((-arrival <= slowest) | (restitution <= 0.0))
        bounce = hit & ~rest
        bounced |= bounce
        left = np.where(hit, left - time, left)
        gap = np.where(hit, 0.0, gap)
        speed = np.where(bounce, -restitution * arrival, np.where(rest, 0.0, speed))
        moving &= ~rest
    else:
        still = moving & (time_to_zero(gap, speed, pull) <= left)
        moving &= ~still
        speed = np.where(still, 0.0, speed)
    gap = np.where(moving, np.maximum(0.0, gap + left * (speed + 0.5 * pull * left)), gap)
    speed = np.where(moving, speed + pull * left, speed)
    return gap, speed, hits, bounced


def time_to_zero(gap, speed, pull):
    """First t >= 0 at which gap + speed t + pull t^2 / 2 falls through zero; inf where it never does."""
    root = speed**2 - 2.0 * pull * gap
    real = root >= 0.0
    # of the two forms of the root, the one that does not subtract: it falls through zero with v = -sqrt(root)
    width = np.sqrt(np.where(real, root, 0.0))
    time = np.full(len(gap), np.inf)
    falling = real & (speed < 0.0)
    time[falling] = (2.0 * gap / np.where(falling, width - speed, 1.0))[falling]
    later = real & (speed >= 0.0) & (pull < 0.0)
    time[later] = ((speed + width) / np.where(later, -pull, 1.0))[later]
    return time
