# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums up what contacts and joints carry in the accepted steps of a frame: impulses in, FrameForces out.

A step's impulses are those of its velocity phase where it had one, because they are what the motion goes on with; those
of its position phase elsewhere.  A joint's are both together: there the velocity phase only adds.
"""

from dataclasses import replace

import numpy as np

from . import rotations
from .bounces import moving_first
from .constraints.breaking import joint_impulses, pushes
from .flags import some
from .forces import CONTACT, FrameForces
from .joint_types import JOINT_TYPES
from .meeting import at_one_point
from .problem import world_impulses
from .reference.round_cores import end_normals
from .reference.rows import gaps, jacobians, normals
from .rest import KINDS


class ForceRecorder:
    """Collects one frame after the other; keeps nothing from frame to frame."""

    def __init__(self, scene, frames, joints):
        """frames: BodyFrames; joints: JointTable."""
        self._carried = _carried_frames(scene)
        self._frames, self._table = frames, joints
        self._names = [joint.name for joint in scene.joints]
        self._begin()

    def _begin(self):
        self._steps, self._last, self._count = [], None, 0
        self._body, self._point = np.zeros((0, 2), int), np.zeros((0, 3))  # of each contact, where last seen
        self._wrench = np.zeros((len(self._names), 6))
        self._error = np.zeros((len(self._names), 2))

    def add(self, attempt, part):
        """Take in an accepted Attempt and what rests; with ``part`` (B,) bool only what it says of those bodies."""
        assembly, solution, end, sleep = attempt.assembly, attempt.solution, attempt.end, attempt.sleep
        problem, scene = assembly.problem, assembly.numbering.scene
        wide = np.ones(len(scene), bool) if part is None else np.append(part, False)[scene]
        self._add_joints(problem, solution, end.phase, attempt.residuals, wide)
        contacts = problem.contacts
        impulse = world_impulses(contacts.normal, solution.contact_impulse)
        midpoint = problem.bodies.midpoint
        impulse *= (1.0 + np.maximum(midpoint[contacts.body_a], midpoint[contacts.body_b]))[:, None]
        if end.phase is not None and some(end.phase[2]):
            velocity_problem, velocity_solution, taken = end.phase
            ended = world_impulses(velocity_problem.contacts.normal, velocity_solution.contact_impulse)
            if contacts.glides is not None:  # what acted in mid-step was only turned on to be solved anew at the end
                turned = np.where(contacts.glides[:, None], impulse - velocity_problem.contacts.impulse, 0.0)
                ended += turned if end.kinks is None else _until_kinks(assembly, velocity_problem, end.kinks, turned)
            impulse = np.where(taken[:, None], ended, impulse)
        if assembly.bounces is not None:
            impulse += assembly.bounces.impulse
        pose = solution.position, solution.orientation
        normal = end_normals(contacts, normals(contacts, pose[1]), *pose)
        place = at_one_point(replace(contacts, normal=normal), solution, assembly.problem.bodies.dynamic_count)
        point = pose[0][contacts.body_a] + rotations.rotate(pose[1][contacts.body_a], place.point_a)
        body = np.stack([scene[contacts.body_a], scene[contacts.body_b]], axis=1).astype(int)
        step = body, point, normal, impulse, gaps(contacts, *pose)
        shown = wide[contacts.body_a] | wide[contacts.body_b]
        if sleep.solved is not None:
            whole, late = self._resting_contacts(sleep, attempt.state), len(sleep.solved)
            for column, values in zip(whole, step, strict=True):
                column[sleep.solved] = values[:late]
            step = tuple(np.concatenate([c, values[late:]]) for c, values in zip(whole, step, strict=True))
            rests = np.append(sleep.asleep, False)[whole[0]].any(axis=1) & (part is None)
            rests[sleep.solved] = shown[:late]
            shown = np.concatenate([rests, shown[late:]])
        chain = self._chains(sleep.contacts, step[0], step[1])
        self._steps.append(tuple(column[shown] for column in (chain, *step)))
        if part is None:
            self._add_resting_joints(sleep.asleep, attempt.state, problem.step)

    def add_resting(self, sleep, seconds, state):
        """Take in ``seconds`` in which everything rests."""
        step = self._resting_contacts(sleep, state)
        self._steps.append((self._chains(sleep.contacts, step[0], step[1]), *step))
        self._add_resting_joints(sleep.asleep, state, seconds)

    def _resting_contacts(self, sleep, state):
        """(body, point, normal, impulse, gap) of all contacts, as they were found and with the forces they keep."""
        found = sleep.contacts
        position, orientation = self._frames.to_body(state.position, state.orientation)
        a, b = found.body_a, found.body_b
        margin_a, margin_b = found.margin_a[:, None] * found.normal, found.margin_b[:, None] * found.normal
        on_a = position[a] + rotations.rotate(orientation[a], found.point_a) - margin_a
        on_b = position[b] + rotations.rotate(orientation[b], found.point_b) + margin_b
        body = np.stack([a, b], axis=1).astype(int)
        return body, 0.5 * (on_a + on_b), found.normal.copy(), sleep.impulses.copy(), found.gap.copy()

    def _add_resting_joints(self, asleep, state, seconds):
        """Joints that bodies at rest hang on pull on as they did."""
        rows, wide = self._table.fixed, np.append(asleep, False)
        if not len(rows) or not asleep.any():
            return
        rests = self._table.alive[rows.joint] & (wide[rows.body_a] | wide[rows.body_b])
        some, force = rows.take(rests), self._table.force[rests]
        pose = np.vstack([state.position, np.zeros(3)]), np.vstack([state.orientation, rotations.IDENTITY])
        self._wrench += pushes(some, jacobians(some, *pose)[1], force * seconds, len(self._wrench))
        for kind, name in enumerate(("joint_error", "joint_error_angle")):
            error = np.append(state.proof[:, KINDS.index(name)], np.inf)
            np.maximum.at(self._error[:, kind], some.joint, np.minimum(error[some.body_a], error[some.body_b]))

    def _chains(self, contacts, body, point):
        """(C,) a number for each contact of a step: that which it had in the step before.

        body (C, 2), point (C, 3): of the step's contacts.  One that is new takes up the nearest of the same bodies that
        ended, as impulses are handed on between steps: a ball that rolls has one contact in a frame.
        """
        chain = np.full(len(body), -1)
        if self._last is not None:
            known = np.nonzero(contacts.previous >= 0)[0]
            chain[known] = self._last[contacts.previous[known]]
        ended = np.setdiff1d(np.arange(self._count), chain)
        new = np.nonzero(chain < 0)[0]
        for k in new if len(ended) else ():
            same = ended[(self._body[ended] == body[k]).all(axis=1)]
            if len(same):
                chain[k] = same[np.argmin(np.linalg.norm(self._point[same] - point[k], axis=1))]
                ended = ended[ended != chain[k]]
        new = new[chain[new] < 0]
        chain[new] = self._count + np.arange(len(new))
        self._count += len(new)
        self._body, self._point = np.concatenate([self._body, body[new]]), np.concatenate([self._point, point[new]])
        self._point[chain] = point
        self._last = chain[: len(contacts)]
        return chain

    def _add_joints(self, problem, solution, phase, residuals, wide):
        """wide: (bodies,) bool, solver bodies whose rows count."""
        rows = problem.joints
        taken = wide[rows.body_a] | wide[rows.body_b]
        self._wrench += joint_impulses(problem, solution, phase, len(self._wrench), wide)
        kind = residuals.joint_row_is_angle.astype(int)
        np.maximum.at(self._error, (rows.joint[taken], kind[taken]), residuals.joint_row[taken])

    def take(self, position, orientation, seconds):
        """The FrameForces of the frame that ends here; the next frame begins.

        position (B, 3), orientation (B, 4): poses of the body frames; seconds: length of the frame.
        """
        arrays = self._contact_arrays(seconds)
        anchor, frame = self._carried(position, orientation)
        wrench, error = self._wrench / seconds, self._error
        self._begin()
        return FrameForces(
            self._names, **arrays, joint_anchor=anchor, joint_frame=frame, joint_force=wrench[:, :3],
            joint_torque=wrench[:, 3:], joint_error=error[:, 0], joint_error_angle=error[:, 1],
        )  # fmt: skip

    def _contact_arrays(self, seconds):
        """CONTACT arrays: a contact that goes on through several steps is one, with its impulses summed."""
        chain, body, point, normal, impulse, gap = (np.concatenate(column) for column in zip(*self._steps, strict=True))
        force = np.zeros((self._count, 3))
        np.add.at(force, chain, impulse / seconds)
        last = np.full(self._count, -1)  # of a step that was done again for its bodies nothing was taken in
        np.maximum.at(last, chain, np.arange(len(chain)))
        kept = np.nonzero(last >= 0)[0]
        kept = kept[force[kept].any(axis=1) | (gap[last[kept]] < 0.0)]
        last = last[kept]
        return dict(zip(CONTACT, (body[last], point[last], normal[last], force[kept], gap[last]), strict=True))


def _until_kinks(assembly, velocity_problem, kinks, turned):
    """``turned`` (C, 3), but for balls that were hit at ``kinks``: what acted in mid-step is not in the velocity with
    which they come to those, but what carried them until then.
    """
    contacts, bodies, n = assembly.problem.contacts, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    hit = np.zeros(n + 1, bool)
    hit[kinks.body] = True
    own = np.minimum(moving_first(contacts)[0], n)
    out = np.where(hit[own, None], 0.0, turned)
    kinks = kinks.take(kinks.carrier >= 0)
    borne = velocity_problem.bodies.free_velocity[kinks.body, :3] - assembly.end_velocity[kinks.body, :3]
    sign = np.where(contacts.body_a[kinks.carrier] == kinks.body, 1.0, -1.0)
    out[kinks.carrier] += (sign * bodies.mass[kinks.body])[:, None] * borne
    return out


def _carried_frames(scene):
    """A function (position (B, 3), orientation (B, 4)) -> where bodies a and b take each joint's frame to."""
    number = {body.name: i for i, body in enumerate(scene.bodies)}
    world = len(scene.bodies)
    start = [body.start() for body in scene.bodies]
    position = np.array([*(s[0] for s in start), np.zeros(3)]).reshape(-1, 3)
    orientation = np.array([*(s[1] for s in start), rotations.IDENTITY]).reshape(-1, 4)
    joints = scene.joints
    sides = [[world if name is None else number[name] for name in (j.body_a, j.body_b)] for j in joints]
    body = np.array(sides, int).reshape(-1, 2)
    anchored = [JOINT_TYPES[joint.kind].anchors for joint in joints]
    spot = [j.anchors if two else (j.position, j.position) for j, two in zip(joints, anchored, strict=True)]
    spot = np.array(spot, float).reshape(-1, 2, 3)
    turn = [rotations.IDENTITY if two else j.orientation for j, two in zip(joints, anchored, strict=True)]
    turn = np.repeat(np.array(turn, float).reshape(-1, 1, 4), 2, axis=1)
    back = rotations.conjugate(orientation[body])
    local, local_turn = rotations.rotate(back, spot - position[body]), rotations.multiply(back, turn)

    def carried(position, orientation):
        position = np.vstack([position, np.zeros(3)])[body]
        orientation = np.vstack([orientation, rotations.IDENTITY])[body]
        return position + rotations.rotate(orientation, local), rotations.multiply(orientation, local_turn)

    return carried
