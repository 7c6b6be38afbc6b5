# SPDX-License-Identifier: GPL-3.0-or-later
"""Halts: what friction of a joint stops in mid-step is braked until then, and stands for the rest of the step.

So does what a drive within a force brings to its speed.  The way of a step is its mean velocity, and a row has one
impulse for it: asked for the velocity of the end, a slider that friction stops in the first half of a step goes no way
at all, and one that it stops later as far as if friction had pulled it back again.  The law of both, v^2 / (2 a), is
met where the step is done again in two parts that meet where the joint stops.  How it slows, with all that hangs on
it, leans on it and pulls at it, one more solve tells, without friction: how much of the way was friction's, and so what
all of its force does to it, and whether that holds it where it stops.  Not if any of the joints may break; see
stops.py.
"""

import numpy as np

from .components import joint_groups
from .constraints.breaking import impulse_share
from .copies import replace
from .flags import some
from .problem import Coordinate
from .reference.knock_on import answer
from .reference.rows import coordinate_rates, coordinates, dot, fades, jacobians
from .stops import may_break, solved_otherwise
from .vectors import length

FULL = 1.0 - 1e-6  # of the force there is: what takes more slides all the way, or is turned back
LATE = 0.005  # of its first part, by which that ends after the halt: what is still on its way would lose it
SLOW = 1e-3  # [m/s] of speed, less of which may be lost where it is turned back
NEAR = 0.01  # of the step: what stops within that of its end stops there


def halt(attempt, phase):
    """(share of the step after which friction has stopped a joint, (n,) bool: bodies of those); None: it stops none.

    attempt: a finished Attempt, to which the work is added; phase: the PositionPhase that solved it.
    """
    problem, solution = attempt.assembly.problem, attempt.solution
    start, n, h = problem.bodies, problem.bodies.dynamic_count, problem.step
    number = brakes(attempt.assembly)
    if len(number):
        number = number[impulse_share(problem)[number] > 1.0]  # the others end their way with the speed of its mean
    if not len(number):
        return None
    label = joint_groups(attempt.assembly.joint_links, n)
    rows = problem.joints.take(number)
    speed = coordinate_rates(rows, start.velocity, start.position, start.orientation) - rows.target_velocity
    arm = arms(rows, phase.collider.model.body_radius[attempt.dynamic()])
    barred = np.append(attempt.failed[attempt.dynamic()], False)  # those are done again anyway
    barred |= may_break(problem, label, phase.joints.breakable())[label]
    sides = np.minimum(rows.body_a, n), np.minimum(rows.body_b, n)
    sense, force = np.sign(speed), solution.joint_impulse[number]
    taken = -sense * force / rows.upper
    speed, mean = np.abs(speed), _mean_speeds(rows, sense, problem, solution)
    asked = (speed * h * arm > phase.fast) & ~(barred[sides[0]] | barred[sides[1]])
    asked &= (taken < FULL) | ((speed - 2.0 * mean) * arm > SLOW)
    if not some(asked):
        return None
    slope, sound = np.zeros(len(number)), asked.copy()
    slope[asked], sound[asked] = _slopes(attempt, phase, (number, sides, asked), (sense, speed, taken, mean))
    braked = mean + slope * (1.0 - taken)  # mean speed with all of the force against it
    slows = 2.0 * (speed - braked)  # in a step
    stop = np.divide(speed, slows, out=np.ones(len(number)), where=slows > speed)
    back = np.maximum(slows + 4.0 * slope, 0.0) * (1.0 - stop)  # speed at the end
    end = np.concatenate([attempt.end.velocity, start.velocity[n:]])
    ends = sense * (coordinate_rates(rows, end, solution.position, solution.orientation) - rows.target_velocity)
    off = np.abs(0.5 * (speed * stop - back * (1.0 - stop)) - mean)
    told = sound & (stop < 1.0 - NEAR) & ((h * arm * off > phase.fast) | (arm * np.abs(back + ends) > SLOW))
    if not some(told):
        return None
    bodies = np.zeros(n + 1, bool)
    for side in sides:
        bodies[side[told]] = True
    return float(stop[told].min()) * (1.0 + LATE), bodies[:-1]


def brakes(assembly):
    """Numbers (K,) of the joint rows of an Assembly that ask for a velocity within a force."""
    rows = assembly.problem.joints
    if not len(rows) or assembly.rigid is not None:
        return np.zeros(0, int)
    return np.flatnonzero((rows.beta == 0.0) & (rows.compliance == 0.0) & (rows.upper > 0.0) & np.isfinite(rows.upper))


def arms(rows, radius):
    """(K,) how far what JointRows turn goes with an angle of 1, and 1 of those that shift it.  radius: (n,) [m]."""
    wide = np.append(radius, 0.0)
    sides = ((rows.body_a, rows.anchor_a), (rows.body_b, rows.anchor_b))
    reach = [np.where(body < len(radius), wide[np.minimum(body, len(radius))] + length(at), 0.0) for body, at in sides]
    return np.where(rows.coordinate == int(Coordinate.TWIST), np.maximum(*reach), 1.0)


def _mean_speeds(rows, sense, problem, solution):
    """(K,) speed of each row along ``sense`` (K,), beyond what it asks for, in the mean of the way to ``solution``."""
    start = problem.bodies
    first = coordinates(rows, start.position, start.orientation)
    last = coordinates(rows, solution.position, solution.orientation)
    turned = last - first
    gone = problem.step * coordinate_rates(rows, solution.velocity, start.position, start.orientation)
    whole = np.round((turned - gone) / (2.0 * np.pi))
    turned -= np.where(rows.coordinate == int(Coordinate.TWIST), 2.0 * np.pi * whole, 0.0)
    if some(rows.swings):
        over = fades(rows, start.orientation) | fades(rows, solution.orientation)
        turned = np.where(over, gone, turned)
    return sense * (turned / problem.step - rows.target_velocity)


def _slopes(attempt, phase, asked, known):
    """(F,) change of mean speed by all of the force of the rows asked for, negative; (F,) bool, whether it is sound.

    asked: numbers (K,) of rows, numbers (K,) of the bodies on either side, (K,) bool which; known: (K,) sense of their
    motion, speed at the start, share of the force that they took, mean speed.
    """
    (number, sides, which), (sense, speed, taken, mean) = asked, [column[asked[2]] for column in known]
    problem, number = attempt.assembly.problem, number[which]
    start, rows = problem.bodies, problem.joints.take(number)
    ends = zip((rows.body_a, rows.body_b), jacobians(rows, start.position, start.orientation), strict=True)
    lightest = sum(dot(row, answer(start, body, row)) for body, row in ends) * rows.upper
    # Without friction, or where it took next to nothing with so much that it is not thrown back.
    some_of_it = np.minimum(np.divide(2.0 * speed, lightest, out=np.ones(len(speed)), where=lightest > 0.0), 1.0)
    tried = np.where(taken >= 0.5 * some_of_it, 0.0, some_of_it)
    lower, upper = problem.joints.lower.copy(), problem.joints.upper.copy()
    lower[number] = upper[number] = -sense * tried * rows.upper
    n, moved = problem.bodies.dynamic_count, np.zeros(problem.bodies.dynamic_count + 1, bool)
    for side in sides:
        moved[side[which]] = True
    otherwise = replace(problem, joints=replace(problem.joints, lower=lower, upper=upper))
    other, residual = solved_otherwise(attempt, phase, otherwise, moved[:n])
    slope = (mean - _mean_speeds(rows, sense, problem, other)) / (taken - tried)
    wide = np.append(residual, 0.0)
    sound = (wide[sides[0][which]] <= phase.fast) & (wide[sides[1][which]] <= phase.fast) & (slope < 0.0)
    return slope, sound
