# SPDX-License-Identifier: GPL-3.0-or-later
"""Take-offs: what a spring throws flies on from where the spring stops pushing, not from the step's end.

A step has one impulse for each contact.  Where a spring pushes in the first part of a step and pulls in the rest, its
load stays on it until the step's end and is slowed with it, or gets no push at all, by which of the two is more.  A
box on a sprung pad so lost up to a sixth of its height at 24 frames a second.  The step is done again in two parts that
meet where the spring is not strained.  Not if any of the joints may break; see stops.py.
"""

import numpy as np

from .constraints.breaking import impulse_share
from .copies import replace
from .flags import places, some
from .reference.knock_on import answer, reflections
from .reference.rows import coordinates, dot, jacobians, start_gaps
from .stops import joint_groups, matters, may_break
from .vectors import length

ASLANT = 0.1  # cosine of how far from a contact's normal a spring may push on the ground
NEAR = 0.03  # of the step: springs that stop pushing within that of its ends do so there


def take_off(attempt, phase):
    """(share of the step after which a spring stops pushing a load, (n,) bool: what it pushes); None: none does.

    attempt: a finished Attempt; phase: the PositionPhase that solved it.
    """
    problem, solution = attempt.assembly.problem, attempt.solution
    springs, share, forces = _let_go(attempt.assembly, solution)
    if not len(springs):
        return None
    label = joint_groups(attempt.assembly.joint_links, problem.bodies.dynamic_count)
    touch = places(start_gaps(problem) <= phase.fast)
    on = problem.contacts.take(touch)
    push = _pair_push(on, solution.contact_impulse[touch, 0])
    barred = np.append(attempt.failed[attempt.dynamic()], True)  # those are done again anyway
    barred |= may_break(problem, label, phase.joints.breakable())[label]
    told, pushed = np.zeros(len(springs), bool), np.zeros(len(barred), bool)
    for spring, at, load, gain in _slowed(problem, problem.joints.take(springs), forces[1], on):
        # with what carries nothing at all the push of the first part is lost, which else the second takes back
        missed = np.where(push[at], 1.0 - share[spring], -share[spring] * (forces[0] / forces[1])[spring])
        speed = length(problem.bodies.velocity[load, :3])
        lost = matters(0.5 * problem.step * missed * gain, speed) & ~barred[load]
        told[spring[lost]] = pushed[load[lost]] = True
    return (float(share[told].min()), pushed[:-1]) if some(told) else None


def _let_go(assembly, solution):
    """Numbers (S,) of the spring rows whose force changes its sense in the step, after which share of it (S,), and
    their forces (S,) and (S,) at its start and end [N, N m].
    """
    problem, rows = assembly.problem, assembly.problem.joints
    springs = assembly.springs
    if not len(springs) or not len(problem.contacts):
        return springs[:0], None, None
    stiffness = (impulse_share(problem)[springs] * rows.beta[springs]) / (problem.step**2 * rows.compliance[springs])
    ours, bodies = rows.take(springs), problem.bodies
    poses = (bodies.position, bodies.orientation), (solution.position, solution.orientation)
    forces = (stiffness * (ours.target - coordinates(ours, *pose)) for pose in poses)
    first, last = (np.clip(force, ours.lower, ours.upper) for force in forces)
    share = np.divide(first, first - last, out=np.zeros(len(springs)), where=first * last < 0.0)
    found = places((share > NEAR) & (share < 1.0 - NEAR))
    return springs[found], share[found], (first[found], last[found])


def _pair_push(contacts, impulse):
    """(C,) bool: contacts of pairs of bodies one of whose contacts has an ``impulse`` (C,)."""
    pair = np.unique(np.stack([contacts.body_a, contacts.body_b]), axis=1, return_inverse=True)[1].reshape(-1)
    return np.bincount(pair, impulse)[pair] > 0.0


def _slowed(problem, rows, force, on):
    """Tuples (spring (P,), contact (P,), body (P,) that the spring pushes by it, how fast ``force`` slows that (P,)).

    rows: JointRows (S,) of springs, and their force (S,); on: Contacts.  By a contact with the ground the spring pushes
    what it is fixed to with its other end.
    """
    bodies, ends = problem.bodies, (rows.body_a, rows.body_b)
    n, along = bodies.dynamic_count, jacobians(rows, bodies.position, bodies.orientation)
    frees = [dot(row, answer(bodies, body, row)) for body, row in zip(ends, along, strict=True)]
    j_a, j_b, r_a, r_b = reflections(replace(problem, contacts=on))
    give = dot(j_a, r_a), dot(j_b, r_b)
    sides = (on.body_a, on.body_b, r_a, *give), (on.body_b, on.body_a, r_b, *give[::-1])
    for mine, far, row, free, back in zip(ends, ends[::-1], along, frees, frees[::-1], strict=True):
        for held, load, response, own, others in sides:
            spring, at = np.nonzero((mine[:, None] == held) & (held < n))
            opens, loose = dot(row[spring], response[at]), load[at] < n
            share = np.divide(others[at], own[at] + others[at], out=np.zeros(len(at)), where=loose)
            upon = force[spring] * opens > ASLANT * np.abs(force[spring]) * np.sqrt(free[spring] * own[at])
            stands = np.where(upon, np.abs(force[spring]) * back[spring], 0.0)
            gain = np.where(loose, force[spring] * opens * share, stands)
            yield spring, at, np.where(loose, load[at], np.minimum(far[spring], n)), gain
