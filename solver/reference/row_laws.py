# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints ask of their rows in a step, in float64 NumPy: problem.JointRows of one step, and how they are to end.

Compliance is a spring that keeps its energy, or c+ = -compliance force where steps are too long to follow what vibrates
in it: then the vibration is no motion, and the velocity phase takes it (velocity_phase.py).  For springs and dampers
see springs.py, for limits constraints/limits.py, for rigid drives within a force constraints/braking.py.
"""

from enum import IntFlag

import numpy as np

from ..problem import StepProblem
from .springs import end_law, spring_law, turns_far, weights

RESOLVED = 4.0  # (omega h)^2 up to which compliance vibrates: pi steps a period; beyond, it only gives way
SPEED = StepProblem.push_out_speed  # [m/s], [rad/s] at which what lies beyond a limit is brought back
NEAR = 0.1  # of the way back in a step: what lies no farther beyond its limit is not on its way back
ASKED = (
    *("offset", "beta", "target", "target_velocity", "compliance", "lower", "upper", "impulse"),  # of JointRows,
    "centre",
    "rate",  # that the coordinate must end with; NaN where a force decides
    *("constant", "stiffness", "damping", "decay"),  # of constraints/springs.EndLaw
)
"""What a step asks of each row."""


class Law(IntFlag):
    """What acts on a joint row: some of these, or none where it is locked."""

    TURNS = 1  # its whole turns are counted
    GIVES = 2  # lock or rope with compliance
    PULLS = 4  # spring, damper
    BRAKES = 8  # rigid drive to a position within a force
    LOWER = 16  # limit from below that does not give way
    UPPER = 32
    BOUNDED = 64  # force within ``most``
    FLOWS = 128  # asks for a velocity, the rate
    FOLLOWS = 256  # its target moves at the rate
    WEIGHS = 512  # inertia of its own


def asked(rows, h):
    """(len(ASKED), R) of the columns of constraints/asked.py, ``rows``, in a step of h [s]."""
    has = {law: (rows.law & law) != 0 for law in Law}
    share, count = 1.0 + rows.midpoint[rows.joint], len(rows.law)
    turns = 2.0 * np.pi * np.round((rows.angle - rows.place) / (2.0 * np.pi))
    place = np.where(has[Law.TURNS] & (rows.fades == 0), rows.place + turns, rows.place)
    beta, compliance, rate = rows.beta.copy(), np.zeros(count), rows.rate.copy()
    target, flow, end = rows.target.copy(), np.where(has[Law.FLOWS], rows.mean, 0.0), np.zeros((4, count))
    bound = np.where(has[Law.BOUNDED], rows.most * h / share, np.inf)
    if (k := has[Law.GIVES]).any():
        beta[k], compliance[k], rate[k] = give(rows.softness[k], rows.mobility[k], beta[k], h, share[k])
    damped = has[Law.GIVES] & (rows.damping > 0.0) & vibrates(rows.softness, rows.mobility, h)
    if (k := has[Law.PULLS] | damped).any():
        own = rows.stiffness[k], rows.damping[k]
        follows, wanted = has[Law.FOLLOWS][k], rows.rate[k]
        drift, wanted = np.where(follows, wanted, 0.0), (np.where(follows, wanted, rows.mean[k]), wanted)
        start = (place - target)[k], rows.speed[k], rows.mobility[k]
        found, end[:, k] = pull(own, start, wanted, drift, h, share[k])
        far = turns_far(found, start[0], start[1:], bound[k], h) & has[Law.TURNS][k] & (rows.fades[k] == 0)
        flow[k] = found[1] - np.where(far, found[0] * start[0] / h, 0.0)
        beta[k], compliance[k], rate[k] = np.where(far, 0.0, found[0]), found[2], np.nan
    if (k := has[Law.BRAKES]).any():
        target[k], rate[k] = arrival(target[k], rate[k], place[k], (rows.most * rows.mobility)[k], h)
    centre = np.where(rows.beta == 0.0, np.nan, target)
    if (k := has[Law.LOWER] | has[Law.UPPER]).any():
        centre[k] = rows.centre[k]
        target[k] = stand(target[k], place[k], has[Law.LOWER][k], h)
    if (k := has[Law.WEIGHS]).any():
        flow[k], compliance[k], rate[k] = rows.speed[k], rows.softness[k], np.nan
    lower, upper = (np.where(has[Law.BOUNDED], b, own) for b, own in ((-bound, rows.lower), (bound, rows.upper)))
    angle = np.where(has[Law.TURNS], rows.angle, 0.0)
    impulse = np.minimum(np.maximum(rows.force * h / share, lower), upper)
    bounds = lower, upper, impulse, centre - angle
    return np.array([rows.offset + angle, beta, target - angle, flow, compliance, *bounds, rate, *end])


def give(softness, mobility, beta, h, share):
    """(beta, compliance, rate), (K,) each, of what gives way by ``softness`` [m/N] and moves by ``mobility`` [1/kg]."""
    swings = vibrates(softness, mobility, h)
    fitted, soft = spring_law(1.0 / softness, 0.0, h, share, 1.0 / share)
    return (
        np.where(swings, fitted, beta),
        np.where(swings, soft, share * softness / h**2),
        np.where(swings, np.nan, 0.0),
    )


def vibrates(softness, mobility, h):
    """(K,) bool: what gives way slowly enough for steps of h [s] to follow how it vibrates.  As in ``give``."""
    return h * h * mobility <= RESOLVED * softness


def pull(own, start, wanted, drift, h, share):
    """((beta, target velocity, compliance), end law) of springs and dampers, (K,) each.

    own: stiffness and damping; start: coordinate off the target of the step's end, speed and mobility where it starts;
    wanted: velocities that the damper asks for, on the way and at the end; drift: how fast the target moves.
    """
    (stiffness, damping), (off, speed, mobility) = own, start
    found = weights(stiffness, damping, mobility, h, share)
    # how much of a row's own velocity counts; the rest is that of ``speed``
    part, lag = found.way_damper, 1.0 - found.way_spring
    beta, compliance = spring_law(stiffness, part * damping, h, share, found.way_spring)
    push = wanted[0] * damping - drift * h * stiffness * lag - (1.0 - part) * damping * speed
    end = end_law(stiffness, damping, mobility, found, h, share, off + h * drift, speed, wanted[1])
    return (beta, push * h * compliance / share, compliance), end


def arrival(target, rate, place, brake, h):
    """(target (K,), rate (K,)) of rigid position drives, no nearer to where they are to go than they can still brake.

    target, rate: (K,) of the end of the step [m or rad], [m/s or rad/s]; place: (K,) coordinates at its start; brake:
    (K,) a = max_force J M^-1 J^T, with what hangs on the joint as one body; h: step [s].
    """
    way = target - h * rate - place  # to where the target is at the start
    slower = np.maximum(np.sqrt(2.0 * brake * np.abs(way)) - h * brake, 0.0)  # speed at the end of the step
    left = np.divide(0.5 * slower**2, brake, out=np.zeros(len(way)), where=slower > 0.0)
    return target - np.copysign(left, way), rate + np.copysign(slower, way)


def passed(limit, place, lower, h):
    """(K,) bool: which of K limits the step brings back to.  As in ``stand``."""
    return np.where(lower, limit - place, place - limit) > h * (NEAR * SPEED)


def stand(limit, place, lower, h):
    """(K,) coordinates that K limits ask of the end of a step.

    limit: (K,) [m] or [rad]; place: (K,) coordinates where the step starts, with their turns; lower: (K,) bool, limits
    from below; h: step [s].
    """
    reach = h * SPEED
    return np.where(lower, np.minimum(limit, place + reach), np.maximum(limit, place - reach))
