# SPDX-License-Identifier: GPL-3.0-or-later
"""Work of springs, dampers, friction and drives in a step, as the momentum equations of its two phases have it.

    W = P J u + sum p (J u + J u') / 2        P, p: impulses of the position and of the velocity phase

u carries the bodies, J in mid-step; u and u' are the velocities the velocity phase starts from and ends with, J at the
end pose.  So a damper that alone acts takes what its laws take, however stiff it is (reference/springs.py).  Rows that
only hold do none: what the step has their impulses do is of third order, and has one sign step after step.  Nor does a
spring take more or less than k (y-^2 - y+^2) / 2, though J u h is not y+ - y- where its bodies turn far, and though p
is only what its law asks to within the tolerance: that is a length, which is much of the strain of a stiff one.  A rope
that gives way has that of its taut side alone: its law takes the mean of both ends of the step, one of which is slack
where it comes taut.
"""

import numpy as np

from .constraints.breaking import impulse_share
from .flags import places, some
from .problem import Coordinate
from .reference.rotation import dot
from .reference.rows import coordinate_rates, coordinates, mean_jacobians

THROWN = 0.1  # of the energy there is, about which a spring may be wrong in a step


def work_of_way(assembly, solution, judged, which):
    """(K,) work [J] of the rows ``which`` (K,) numbers in the position phase, all of whose bodies go by mid-step.

    judged: the JudgedStep of the StepSolution.
    """
    problem, h = assembly.problem, assembly.problem.step
    rows, share = problem.joints.take(which), impulse_share(problem)[which]
    rate = mean_rates(problem, rows, solution)
    work = share * solution.joint_impulse[which] * rate
    springs = places(np.isin(which, assembly.springs))
    if len(springs):
        stiffness, off, way, more = swings(problem, judged, which[springs], rate[springs])
        ours, share = rows.take(springs), share[springs]
        # of k (y-^2 - y+^2) / 2 the law does -k (y+ - way / 2) way, and what is left is at the middle of the rest
        work[springs] = share * rate[springs] * impulse_of_law(ours, off, rate[springs], h)
        force = -stiffness * (off - way - 0.5 * more)
        work[springs] += np.clip(force, share * ours.lower / h, share * ours.upper / h) * more
        if some(ropes := slackens(ours)):
            after = off[ropes]
            before, after = np.maximum(after - (way + more)[ropes], 0.0), np.maximum(after, 0.0)
            strain = 0.5 * stiffness[ropes] * (before**2 - after**2)
            if assembly.row_end is not None:  # stiff ones are damped while they catch (caught.py)
                damped = assembly.row_end.damping[which[springs[ropes]]] > 0.0
                strain = np.where(damped, np.minimum(work[springs[ropes]], strain), strain)
            work[springs[ropes]] = strain
    return work


def work_of_strain(assembly, judged, firm, noise):
    """(K,) work [J] of the rows ``firm`` (K,) numbers, which give way but do not vibrate, by their strain at both ends.

    noise: [m or rad] that is no strain.
    """
    rows, h = assembly.problem.joints.take(firm), assembly.problem.step
    stiffness = impulse_share(assembly.problem)[firm] / (rows.compliance * h**2)
    ends = np.maximum(np.abs(strains(assembly.problem, judged, firm)) - noise, 0.0)
    return 0.5 * stiffness * (ends[0] ** 2 - ends[1] ** 2)


def strains(problem, judged, firm):
    """(2, K) by how much the rows ``firm`` (K,) numbers give way where a step starts and ends [m, rad]; ropes are slack
    or do.

    judged: the JudgedStep.
    """
    rows, bodies = problem.joints.take(firm), problem.bodies
    before = coordinates(rows, bodies.position, bodies.orientation)
    ends = np.stack([before, judged.coordinate[firm]]) - rows.target
    return np.where(slackens(rows), np.maximum(ends, 0.0), ends)


def impulse_of_law(rows, off, rate, h):
    """(R,) impulses [N s, N m s] that JointRows of springs ask for in a step of h [s].

    off: (R,) coordinates off their targets where it ends; rate: (R,) J u on the way.
    """
    speed = rows.beta * off / h + (1.0 - rows.beta) * rate - rows.target_velocity
    return np.clip(-speed / rows.compliance, rows.lower, rows.upper)


def slackens(rows):
    """(R,) bool: those of JointRows of springs that only pull: ropes."""
    return np.isneginf(rows.lower) & (rows.upper == 0.0)


def mean_rates(problem, rows, solution):
    """(K,) J u of JointRows in mid-step."""
    bodies = problem.bodies
    start, end = (bodies.position, bodies.orientation), (solution.position, solution.orientation)
    j_a, j_b = mean_jacobians(rows, start, end)
    return dot(j_a, solution.velocity[rows.body_a]) + dot(j_b, solution.velocity[rows.body_b])


def swings(problem, judged, springs, rate):
    """Of the rows ``springs`` (S,) numbers with the ``rate`` (S,), (S,) each: stiffness [N/m, N m], coordinate off the
    target at the end, h J u, and what the coordinate changed by beyond that.
    """
    rows, bodies, h = problem.joints.take(springs), problem.bodies, problem.step
    after, way = judged.coordinate[springs], h * rate
    more = after - coordinates(rows, bodies.position, bodies.orientation, rows.offset + rows.start) - way
    turns = (rows.coordinate == int(Coordinate.TWIST)) & ~rows.swings
    more -= 2.0 * np.pi * np.round(more / (2.0 * np.pi)) * turns
    stiffness = impulse_share(problem)[springs] * rows.beta / (rows.compliance * h**2)
    return stiffness, after - rows.target, way, more


def throws(assembly, solution, judged, noise):
    """(n,) bool: bodies that a spring throws in too long a step; None: none is.

    What a spring holds when a body is turned over goes into the body within some tenths of a turn, more than that where
    it was wound up, and stiff ones that pull beside the middle of a body turn it to and fro in less than a step.  h J u
    says nothing of the way then, and for a spring that ends with more energy than there was no speed makes up.

    noise: [m or rad] by which coordinates may be off.
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    springs = assembly.springs
    if len(springs):
        by_middle = np.append(problem.bodies.midpoint[:n] == 1.0, True)
        sides = (np.minimum(side[springs], n) for side in (problem.joints.body_a, problem.joints.body_b))
        springs = springs[np.all([by_middle[side] for side in sides], axis=0) | np.isin(springs, judged.fading)]
    if not len(springs):
        return None
    rows = problem.joints.take(springs)
    stiffness, off, way, more = swings(problem, judged, springs, mean_rates(problem, rows, solution))
    before = off - way - more
    if some(ropes := slackens(rows)):
        before[ropes], off[ropes] = np.maximum(before[ropes], 0.0), np.maximum(off[ropes], 0.0)
    energy = assembly.island_energy[assembly.island[np.minimum(rows.body_a, rows.body_b)]]
    most = THROWN * (energy + 0.5 * stiffness * before**2)
    far = (np.abs(more) > noise) & (stiffness * np.maximum(np.abs(before), np.abs(off)) * np.abs(more) > most)
    if not some(far):
        return None
    out = np.zeros(n + 1, bool)
    for body in (rows.body_a, rows.body_b):
        out[np.minimum(body[far], n)] = True
    return out[:-1]


def work_at_end(problem, solution, wanted):
    """((K,) numbers of those of the rows ``wanted`` (R,) bool that do work in the velocity phase, and theirs [J]).

    problem, solution: of the phase.
    """
    rows, impulse = problem.joints, solution.joint_impulse
    holds = (rows.compliance == 0.0) & (rows.target_velocity == 0.0) & (np.isinf(rows.lower) | np.isinf(rows.upper))
    if problem.gives is not None:
        holds |= problem.gives  # theirs is that of their strain
    which = places((impulse != 0.0) & ~holds & wanted)
    if not len(which):
        return which, np.zeros(0)
    rows, impulse, bodies = rows.take(which), impulse[which], problem.bodies
    mean = 0.5 * (bodies.free_velocity + solution.velocity)
    return which, impulse * coordinate_rates(rows, mean, bodies.position, bodies.orientation)


def leading(assembly, solution, near, late):
    """((K,) numbers of rows, (L,) of those of the velocity phase) that lead what they move, within their forces.

    A rigid drive at its speed does, and a damper or gain that takes most of another in a step, as far as it moves at
    all: what there is has its speed from those, and not from the energy.

    near: [m or rad] that is no way in a step; late: StepProblem and StepSolution of the velocity phase.
    """
    at_end, (bodies, rows) = late[1], (late[0].bodies, late[0].joints)
    impulse, drives = at_end.joint_impulse, (rows.compliance == 0.0) & (rows.target_velocity != 0.0)
    drives = places(drives & (rows.lower < impulse) & (impulse < rows.upper))
    if assembly.row_end is None:
        return drives[:0], drives
    rows, impulse = assembly.problem.joints, solution.joint_impulse
    stiff = (assembly.row_end.decay > 1.0) & (rows.lower < impulse) & (impulse < rows.upper)
    if len(which := places(stiff)):
        way = late[0].step * coordinate_rates(rows.take(which), at_end.velocity, bodies.position, bodies.orientation)
        which = which[np.abs(way) > near]
    return which, drives
