# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a rebounding contact is at the end of the step it hits in: Newton's law of impact, at the time of the impact.

Until it hits, and between hits, a contact's gap moves freely:

    phi(t) = phi_0 + v_0 t + a t^2 / 2        v(t) = v_0 + a t        v(after) = -e v(before) at phi = 0

Taken at the end of a frame-sized step instead, an impact would lose the rest of the step and with it up to a fifth of
the next bounce's height.  A contact that hits no faster than free motion gathers speed in half a step does not
rebound: it rests.
"""

import numpy as np

from .rows import normal_jacobians, start_gaps

MOST_HITS = 16  # of one contact within one step; one that still hits is taken to rest


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


def rebounds(problem, end_velocity, slowest=0.0, held=None):
    """What Newton's law of impact asks of each contact at the end of the step.

    Args:
        problem: StepProblem; its bodies' ``velocity`` is that at the step's start.
        end_velocity: (n, 6) free velocity of the dynamic bodies at the step's end.
        slowest: approaches below this speed [m/s] do not rebound; half of what free motion gathers in the step counts
            too.
        held: (C,) what does not come to be of the gain of gap velocities, with its sign changed [m/s], or None: all
            does.

    Returns:
        gap (C,) [m] and separation speed (C,) [m/s] at the end of the step; a speed below zero is that of a body on its
        way to the next hit.  Both are zero where nothing rebounds.  And hits (C,) bool: free motion reaches phi = 0.
    """
    contacts, h = problem.contacts, problem.step
    speed, gain = approach(problem.bodies, contacts, end_velocity)
    gap, left = np.maximum(start_gaps(problem), 0.0), np.full(len(contacts), h)
    pull = (gain if held is None else gain + held) / h
    slowest = np.maximum(slowest, 0.5 * np.abs(gain))
    moving, hits = np.ones(len(contacts), bool), np.zeros(len(contacts), bool)
    bounced = np.zeros(len(contacts), bool)
    for _ in range(MOST_HITS):
        time = time_to_zero(gap, speed, pull)
        hit = moving & (time <= left)
        if not hit.any():
            break
        hits |= hit
        arrival = speed + pull * np.where(hit, time, 0.0)
        rest = hit & ((-arrival <= slowest) | (contacts.restitution <= 0.0))
        bounce = hit & ~rest
        bounced |= bounce
        left = np.where(hit, left - time, left)
        gap = np.where(hit, 0.0, gap)
        speed = np.where(bounce, -contacts.restitution * arrival, np.where(rest, 0.0, speed))
        moving &= ~rest
    else:
        still = moving & (time_to_zero(gap, speed, pull) <= left)
        moving &= ~still
        speed = np.where(still, 0.0, speed)
    gap = np.where(moving, np.maximum(0.0, gap + left * (speed + 0.5 * pull * left)), gap)
    speed = np.where(moving, speed + pull * left, speed)
    return np.where(bounced, gap, 0.0), np.where(bounced, speed, 0.0), hits


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
