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

from .assembled import pressing
from .components import joint_groups
from .flags import places, some
from .hand_over import smooth
from .reference.rotation import cross
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
    problem, number, begin = attempt.assembly.problem, attempt.assembly.numbering, attempt.state.time
    contacts, n = problem.contacts, problem.bodies.dynamic_count
    if not phase.assembler.prescribes or not len(contacts):
        return None
    touch, touched = start_gaps(problem) <= phase.fast, np.zeros(len(problem.bodies.mass), bool)
    touched[contacts.body_a[touch]] = touched[contacts.body_b[touch]] = True
    touched &= problem.bodies.velocity.any(axis=1)
    carriers = phase.assembler.hand_over.carriers(begin, begin + problem.step, number, touched)
    if not carriers:
        return None
    barred = np.append(attempt.failed[attempt.dynamic()], True)  # those are done again anyway
    label = joint_groups(attempt.assembly.joint_links, n)
    barred |= may_break(problem, label, phase.joints.breakable())[label]
    alone = _alone(contacts.take(places(touch)), attempt.assembly.joint_links, n)
    share, thrown = 1.0, np.zeros(n, bool)
    for carrier in carriers:
        for sense, side, other in ((-1.0, contacts.body_a, contacts.body_b), (1.0, contacts.body_b, contacts.body_a)):
            on = places(touch & (side == carrier[1]) & ~barred[np.minimum(other, n)])
            if not len(on):
                continue
            for lost, speed, when in _happens(attempt, phase, carrier, (sense, on, other[on]), alone):
                told = matters(lost, speed) & (when > NEAR) & (when < 1.0 - NEAR)
                if some(told):
                    share = min(share, float(when[told].min()))
                    thrown[other[on[told]]] = True
    return (share, thrown) if some(thrown) else None


def _happens(attempt, phase, carrier, touches, alone):
    """What ``_Path.lets_go`` and ``_Path.overtakes`` answer for contacts of a keyframed body.

    carrier: its numbers in the scene and the solver's; touches: 1 or -1, their normals times which lead away from it,
    numbers (K,) of contacts, (K,) of the bodies on it; alone: (n,) bool, as in ``_alone``.
    """
    problem, number, state = attempt.assembly.problem, attempt.assembly.numbering, attempt.state
    bodies, contacts, (sense, on, own) = problem.bodies, problem.contacts, touches
    place, arm = [contacts.point_a[on], contacts.point_b[on]][:: int(-sense)]
    place = bodies.position[carrier[1]] + rotate(bodies.orientation[carrier[1]], place)
    normals, speeds = sense * contacts.normal[on], bodies.velocity[own]
    path = _Path(phase.assembler.hand_over, carrier[0], (state, state.time + problem.step), place, normals)
    spin = cross(speeds[:, 3:], rotate(bodies.orientation[own], arm))
    slips = path.starts[0] - speeds[:, :3] - spin
    slides = alone[own] & (problem.step * length(speeds[:, 3:]) <= TURNS)
    pushes = np.zeros((len(alone), 3))
    np.add.at(pushes, own, pressing(attempt.assembly, attempt.solution)[on, None] * normals)
    gains = attempt.end.velocity[own, :3] - speeds[:, :3] - pushes[own] / bodies.mass[own, None]  # but for its pushes
    falls = np.broadcast_to(phase.assembler.acceleration(number.scene[own]), (len(own), 3))
    yield path.lets_go(gains / problem.step)
    yield path.overtakes(falls, np.where(slides[:, None], slips, 0.0), contacts.friction[on])


def _alone(touches, joint_links, n):
    """(n,) bool: dynamic bodies that touch no other one, and that no joint holds."""
    out = np.ones(n + 1, bool)
    both = np.maximum(touches.body_a, touches.body_b) < n
    for bodies in (touches.body_a[both], touches.body_b[both], *joint_links):
        out[np.minimum(bodies, n)] = False
    return out[:-1]


class _Path:
    """The way that K places of one keyframed body go in a step: at the start, at the samples within it, at its end.

    Each question is answered by (K,) [m/s] of speed that is lost where the step is not done in parts, (K,) speed there,
    (K,) the share of the step after which they meet; 0 where nothing happens.
    """

    def __init__(self, hand_over, body, times, place, normal):
        """body: number in the scene; times: (State at the start, end [s]); place, normal: (K, 3) at the start, normals
        towards what lies there.
        """
        state, self.end = times
        samples = hand_over.samples(body, state.time, self.end)
        self.apart, self.times = [apart for _, apart in samples], [*(time for time, _ in samples), self.end]
        poses = [hand_over.plan(body, state.time, time, state.glide) for time in self.times]
        origin, turn = (np.array(each) for each in zip(*poses, strict=True))  # (T, 3), (T, 4)
        back = conjugate(turn[0])
        local = np.array([rotate(back, place - origin[0]), rotate(back, normal)])
        lever, self.along = rotate(turn[:, None], local[:, None])
        # Linear and angular velocities just before each time and just after, (T, 1, 3) each.
        around = np.array([hand_over.around(body, time, state.glide) for time in self.times])[..., None, :]
        before, after = around[:, 0].swapaxes(0, 1), around[:, 1].swapaxes(0, 1)

        def there(linear, angular):
            return linear + cross(angular, lever)

        self.before, self.after = there(*before), there(*after)
        self.bends = cross(before[1], cross(before[1], lever))
        self.starts, self.stops = (there(*smooth(before, after, begins)) for begins in (True, False))

    def lets_go(self, falls):
        """Where the places slow down by more than what lies there, which moves on with ``falls`` (K, 3) [m/s^2]."""
        (lost, speed, when), gone = np.zeros((3, len(falls))), np.zeros(len(falls), bool)
        begin, first, last = self.times[0], self.after[0], self.before[-1]
        for k, apart in enumerate(self.apart):
            time, before, along = self.times[k], self.before[k], self.along[k]
            fall, run = dot(falls, along), dot(before, along)
            leaves = ~gone & (dot(self.after[k] - before, along) / apart + dot(self.bends[k], along) < fall)
            gone |= leaves
            held = run + fall * (self.end - time) - dot(last, along)  # to the end, or let go at once
            loose = run - dot(first, along) - fall * (time - begin)
            lost[leaves], speed[leaves] = np.maximum(held, loose)[leaves], np.abs(run)[leaves]
            when[leaves] = (time - begin) / (self.end - begin)
        return lost, speed, when

    def overtakes(self, falls, slips, friction):
        """Where places that run past what lies there with ``slips`` (K, 3) [m/s] slow down until they are overtaken by
        it, by more than ``friction`` (K,), its coefficient, can brake it.
        """
        step, along, last = self.end - self.times[0], self.along[0], self.starts[0]
        slips = slips - along * dot(slips, along)[:, None]
        slip, presses = length(slips), dot((self.stops[-1] - last) / step - falls, along)
        ahead = slips / np.maximum(slip, LEAST)[:, None]
        brakes, fall = friction * np.maximum(presses, 0.0), dot(falls, ahead)
        (lost, speed, when), gone, then = np.zeros((3, len(slip))), slip <= LEAST, slip
        for k, (time, late) in enumerate(pairwise(self.times)):
            start, stop = self.starts[k], self.stops[k + 1]
            then = then + dot(start - last, ahead)
            slows = brakes + fall - dot(stop - start, ahead) / (late - time)
            now = then - slows * (late - time)
            turns = ~gone & (now < 0.0)
            gone |= turns
            left = self.end - time - np.maximum(then, 0.0) / np.maximum(slows, LEAST)
            lost[turns] = ((slows - 2.0 * brakes) * left)[turns]
            speed[turns], when[turns] = length(start)[turns], 1.0 - left[turns] / step
            then, last = now, stop
        return lost, speed, when
