# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast what turns meets what it hits in a step.

The law of impact is foreseen (impact.py) with the levers and the normal of the step's start, at which a rod that turns
by 0.1 rad until it hits may come 2 % slower.  Once both are known of the hit, so is its speed, and the rebound with it.
"""

import numpy as np

from .flags import some
from .missed_hits import strikes
from .rotations import rotate
from .vectors import inner

SAME = 1e-6  # of its speed: rebounds that differ by more do not come from one arrival, but from several, or knocks


def by_arrivals(problem, solution, at_end, index, forecast, met):
    """(C,) separation speeds [m/s] for the velocity phase: those of the Contacts ``at_end``, of what turns by the speed
    at which it meets.  None: nothing turns.

    Args:
        problem: StepProblem of the position phase; solution: its StepSolution.
        index: (N,) contacts whose hit was looked for.
        forecast: (N,) when each is foreseen [s], if ever; how fast its gap changes at the start [m/s], (N,) and what
            free motion adds to that in the step, (N,); and to each body's velocity, (B, 6).
        met: (N,) bool, which of those are met in the step, and M normals (M, 3) and levers (M, 3), (M, 3) of them.
    """
    turns = strikes(problem)[index]
    if not some(turns):
        return None
    near, bodies, h = problem.contacts.take(index), problem.bodies, problem.step
    time, speed, gain, change = forecast
    share = np.minimum(time / h, 1.0)
    arrives, drift = speed + share * gain, 0.0 if near.surface_drift is None else near.surface_drift
    single = (1.0 - share) * gain - near.restitution * arrives - drift
    turns &= (near.rebound_speed > 0.0) & (np.abs(near.rebound_speed - single) <= SAME * near.rebound_speed)
    jointed = np.zeros(len(bodies.mass), bool)  # they do not come by their tangent
    jointed[problem.joints.body_a] = jointed[problem.joints.body_b] = True
    turns &= (time <= h) | ~(jointed[near.body_a] | jointed[near.body_b])
    if not some(turns):
        return None
    normal, sides = at_end.normal[index], (near.body_a, near.body_b)
    levers = [
        rotate(solution.orientation[body], point[index])
        for body, point in zip(sides, (at_end.point_a, at_end.point_b), strict=True)
    ]
    for whole, part in zip((normal, *levers), met[1:], strict=True):
        whole[met[0]] = part
    meets = drift
    for sign, body, lever in zip((1.0, -1.0), sides, levers, strict=True):
        velocity = bodies.velocity[body] + share[:, None] * change[body]
        meets = meets + sign * inner(normal, velocity[:, :3] + np.cross(velocity[:, 3:], lever))
    turns &= meets < 0.0
    out = at_end.rebound_speed.copy()
    out[index[turns]] += (near.restitution * (arrives - meets))[turns]
    return out
