# SPDX-License-Identifier: GPL-3.0-or-later
"""Lift-offs: what rides on bodies that keyframes move flies off where they slow down by more than it falls.

A contact has one impulse a step.  Of what a lift let go within a step it held on to the end, or gave it no push at all:
where a lift that rose at 2 m/s stood still from the middle of a frame on, its load flew 20 % too low.  The step is done
again in two parts, which meet at the sample of the path where the load is let go.  Not if any of the joints that hold
it may break; see stops.py.
"""

import numpy as np

from .flags import places, some
from .reference.rows import dot, start_gaps
from .rotations import conjugate, rotate
from .stops import joint_groups, matters, may_break

NEAR = 0.03  # of the step: what lets go within that of its ends does so there


def lift_off(attempt, phase):
    """(share of the step after which something loses its hold on what keyframes move, (n,) bool: bodies that do); None:
    nothing does.

    attempt: a finished Attempt; phase: the PositionPhase that solved it.
    """
    problem, number, state = attempt.assembly.problem, attempt.assembly.numbering, attempt.state
    n, contacts, hand_over = problem.bodies.dynamic_count, problem.contacts, phase.assembler.hand_over
    carriers = hand_over.carriers(state.time, state.time + problem.step, number, problem.bodies.velocity)
    if not carriers or not len(contacts):
        return None
    touch = start_gaps(problem) <= phase.fast
    barred = np.append(attempt.failed[attempt.dynamic()], True)  # those are done again anyway
    label = joint_groups(attempt.assembly.joint_links, n)
    barred |= may_break(problem, label, phase.joints.breakable())[label]
    falls = np.broadcast_to(phase.assembler.acceleration(number.scene[:n]), (n, 3))
    share, thrown = 1.0, np.zeros(n, bool)
    for scene, carrier in carriers:
        for side, other, sense in ((contacts.body_a, contacts.body_b, -1.0), (contacts.body_b, contacts.body_a, 1.0)):
            on = places(touch & (side == carrier) & ~barred[np.minimum(other, n)])
            if not len(on):
                continue
            point = contacts.point_a if sense < 0.0 else contacts.point_b
            place = problem.bodies.position[carrier] + rotate(problem.bodies.orientation[carrier], point[on])
            carried = place, sense * contacts.normal[on], falls[other[on]]
            lost, speed, when = _lost(hand_over, scene, state, problem.step, carried)
            told = matters(lost, speed) & (when > NEAR) & (when < 1.0 - NEAR)
            if some(told):
                share = min(share, float(when[told].min()))
                thrown[other[on[told]]] = True
    return (share, thrown) if some(thrown) else None


def _lost(hand_over, body, state, step, carried):
    """What places lose in a step that scene body ``body`` carries and then lets go: (K,) [m/s] of speed, (K,) their
    speed where it does, (K,) after which share of the step; 0 where it does not.

    carried: places (K, 3), normals (K, 3) towards what lies there, and accelerations (K, 3) with which that falls.
    """
    place, normal, falls = carried
    begin, end = state.time, state.time + step
    origin, turn = hand_over.plan(body, begin, begin, state.glide)
    place, normal = rotate(conjugate(turn), place - origin), rotate(conjugate(turn), normal)

    def speeds(time):
        """Speeds along the normals before and after ``time``, how they bend by turning, and how what falls gains."""
        turn = hand_over.plan(body, begin, time, state.glide)[1]
        lever, along = rotate(turn, place), rotate(turn, normal)
        sides = hand_over.around(body, time, state.glide)
        before, after = (dot(along, linear + np.cross(angular, lever)) for linear, angular in sides)
        spin = sides[0][1]
        return before, after, dot(along, np.cross(spin, np.cross(spin, lever))), dot(along, falls)

    first, stop = speeds(begin)[1], speeds(end)[0]
    (lost, at, when), gone = np.zeros((3, len(place))), np.zeros(len(place), bool)
    for time, apart in hand_over.samples(body, begin, end):
        before, after, bends, fall = speeds(time)
        leaves = ~gone & ((after - before) / apart + bends < fall)
        gone |= leaves
        held, free = before + fall * (end - time) - stop, before - first - fall * (time - begin)
        for column, found in ((lost, np.maximum(held, free)), (at, np.abs(before)), (when, (time - begin) / step)):
            column[leaves] = np.broadcast_to(found, len(place))[leaves]
    return lost, at, when
