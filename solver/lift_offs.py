# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps in which bodies that keyframes move let go of what rides on them, or leave it behind another way.

A contact has one impulse a step.  Of what a lift let go within a step it held on to the end, or gave it no push at all:
where a lift that rose at 2 m/s stood still from the middle of a frame on, its load flew 20 % too low.  The step is done
again in two parts, which meet at the sample of the path where the load is let go: where the lift slows down by more
than it falls.  So is a step in which a shaken plate is overtaken by what slides on it: friction that turns round within
a step would come out as that which holds on.  Not if any of the joints that hold the load may break; see stops.py.
"""

from itertools import pairwise

import numpy as np

from .components import joint_groups
from .flags import places, some
from .reference.rows import dot, start_gaps
from .rotations import conjugate, rotate
from .stops import LEAST, matters, may_break
from .vectors import length

TURNS = 0.1  # [rad] in a step: what turns by more rolls or tumbles, and hardly slides one way
NEAR = 0.03  # of the step: what happens within that of its ends does so there


def lift_off(attempt, phase):
    """(share of the step after which something loses its hold on what keyframes move, (n,) bool: bodies that do); None:
    nothing does.

    attempt: a finished Attempt; phase: the PositionPhase that solved it.
    """
    problem, number, state = attempt.assembly.problem, attempt.assembly.numbering, attempt.state
    bodies, contacts, n, solution = problem.bodies, problem.contacts, problem.bodies.dynamic_count, attempt.solution
    hand_over, end = phase.assembler.hand_over, state.time + problem.step
    carriers = hand_over.carriers(state.time, end, number, bodies.velocity)
    if not carriers or not len(contacts):
        return None
    touch = start_gaps(problem) <= phase.fast
    barred = np.append(attempt.failed[attempt.dynamic()], True)  # those are done again anyway
    label = joint_groups(attempt.assembly.joint_links, n)
    barred |= may_break(problem, label, phase.joints.breakable())[label]
    falls = np.broadcast_to(phase.assembler.acceleration(number.scene[:n]), (n, 3))
    alone = _alone(contacts.take(places(touch)), attempt.assembly.joint_links, n)
    alone &= problem.step * length(bodies.velocity[:n, 3:]) <= TURNS
    gains = (attempt.end.velocity - bodies.velocity[:n])[:, :3] / problem.step
    share, thrown = 1.0, np.zeros(n, bool)
    for scene, carrier in carriers:
        for side, other, sense in ((contacts.body_a, contacts.body_b, -1.0), (contacts.body_b, contacts.body_a, 1.0)):
            on = places(touch & (side == carrier) & ~barred[np.minimum(other, n)])
            if not len(on):
                continue
            own, points = other[on], (contacts.point_a[on], contacts.point_b[on])
            place, arm = points if sense < 0.0 else points[::-1]
            place = bodies.position[carrier] + rotate(bodies.orientation[carrier], place)
            path = _Path(hand_over, scene, (state, end), place, sense * contacts.normal[on])
            speeds = bodies.velocity[own, :3] + np.cross(bodies.velocity[own, 3:], rotate(bodies.orientation[own], arm))
            slips = np.where(alone[own, None], path.smooth(state.time, begins=True) - speeds, 0.0)
            pushes = np.zeros((n, 3))
            np.add.at(pushes, own, solution.contact_impulse[on, :1] * path.normals)
            moves = gains - pushes / (problem.step * bodies.mass[:n, None])  # but for what this body pushes
            found = path.lets_go(moves[own]), path.overtakes(falls[own], slips, contacts.friction[on])
            for lost, speed, when in found:
                told = matters(lost, speed) & (when > NEAR) & (when < 1.0 - NEAR)
                if some(told):
                    share = min(share, float(when[told].min()))
                    thrown[own[told]] = True
    return (share, thrown) if some(thrown) else None


def _alone(touches, joint_links, n):
    """(n,) bool: dynamic bodies that touch no other one, and that no joint holds."""
    out = np.ones(n + 1, bool)
    both = np.maximum(touches.body_a, touches.body_b) < n
    for bodies in (touches.body_a[both], touches.body_b[both], *joint_links):
        out[np.minimum(bodies, n)] = False
    return out[:-1]


class _Path:
    """The way that K places of one keyframed body go in a step.

    Each question is answered by (K,) [m/s] of speed that is lost where the step is not done in parts, (K,) speed there,
    (K,) the share of the step after which they meet; 0 where nothing happens.
    """

    def __init__(self, hand_over, body, times, place, normal):
        """body: number in the scene; times: (State at the start, end [s]); place, normal: (K, 3) at the start, normals
        towards what lies there.
        """
        (self.state, self.end), self.hand_over, self.body = times, hand_over, body
        self.begin = begin = self.state.time
        self.samples = hand_over.samples(body, begin, self.end)
        origin, turn = hand_over.plan(body, begin, begin, self.state.glide)
        self.place, self.normal = rotate(conjugate(turn), place - origin), rotate(conjugate(turn), normal)
        self.normals = normal  # at the start
        self.first, self.last = self.at(begin)[1], self.at(self.end)[0]

    def at(self, time):
        """Velocities (K, 3) before and after ``time``, how they bend by turning, and normals there."""
        turn = self.hand_over.plan(self.body, self.begin, time, self.state.glide)[1]
        lever, sides = rotate(turn, self.place), self.hand_over.around(self.body, time, self.state.glide)
        before, after = (linear + np.cross(angular, lever) for linear, angular in sides)
        spin = sides[0][1]
        return before, after, np.cross(spin, np.cross(spin, lever)), rotate(turn, self.normal)

    def smooth(self, time, begins=False):
        """Velocities (K, 3) at ``time``, the mean of before and after but at a corner of the path, see HandOver."""
        turn = self.hand_over.plan(self.body, self.begin, time, self.state.glide)[1]
        linear, angular = self.hand_over.smooth_velocity(self.body, time, self.state.glide, begins)
        return linear + np.cross(angular, rotate(turn, self.place))

    def lets_go(self, falls):
        """Where the places slow down by more than what lies there, which moves on with ``falls`` (K, 3) [m/s^2]."""
        (lost, speed, when), gone = np.zeros((3, len(falls))), np.zeros(len(falls), bool)
        for time, apart in self.samples:
            before, after, bends, along = self.at(time)
            fall, run = dot(falls, along), dot(before, along)
            leaves = ~gone & (dot(after - before, along) / apart + dot(bends, along) < fall)
            gone |= leaves
            held = run + fall * (self.end - time) - dot(self.last, along)  # to the end, or let go at once
            loose = run - dot(self.first, along) - fall * (time - self.begin)
            lost[leaves], speed[leaves] = np.maximum(held, loose)[leaves], np.abs(run)[leaves]
            when[leaves] = (time - self.begin) / (self.end - self.begin)
        return lost, speed, when

    def overtakes(self, falls, slips, friction):
        """Where places that run past what lies there with ``slips`` (K, 3) [m/s] slow down until they are overtaken by
        it, by more than ``friction`` (K,), its coefficient, can brake it.
        """
        along, last = self.at(self.begin)[3], self.smooth(self.begin, begins=True)
        slips = slips - along * dot(slips, along)[:, None]
        slip, presses = length(slips), dot((self.smooth(self.end) - last) / (self.end - self.begin) - falls, along)
        ahead = slips / np.maximum(slip, LEAST)[:, None]
        brakes, fall = friction * np.maximum(presses, 0.0), dot(falls, ahead)
        (lost, speed, when), gone, then = np.zeros((3, len(slip))), slip <= LEAST, slip
        times = [time for time, _ in self.samples] + [self.end]
        for time, late in pairwise(times):
            start, stop = self.smooth(time, begins=True), self.smooth(late)
            then = then + dot(start - last, ahead)
            slows = brakes + fall - dot(stop - start, ahead) / (late - time)
            now = then - slows * (late - time)
            turns = ~gone & (now < 0.0)
            gone |= turns
            left = self.end - time - np.maximum(then, 0.0) / np.maximum(slows, LEAST)
            lost[turns] = ((slows - 2.0 * brakes) * left)[turns]
            speed[turns], when[turns] = length(start)[turns], 1.0 - left[turns] / (self.end - self.begin)
            then, last = now, stop
        return lost, speed, when
