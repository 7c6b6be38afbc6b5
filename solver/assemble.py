# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene, its state and its contacts to a StepProblem: who moves, what is prescribed, what touches what."""

from dataclasses import dataclass

import numpy as np

from . import rotations
from .materials import combine
from .predict import free_rotation, free_velocity, reach
from .problem import Bodies, Contacts, Coordinate, StepProblem
from .topology import connected_components


@dataclass
class Numbering:
    """Which scene body is which solver body in a step.  The world is scene number B."""

    scene: np.ndarray  # (B + 1,) scene number of each solver body, dynamic ones first
    solver: np.ndarray  # (B + 1,) solver number of each scene body
    dynamic_count: int


@dataclass
class Assembly:
    """A StepProblem and what is needed to read its solution back."""

    problem: StepProblem
    numbering: Numbering
    contacts: object  # ContactSet
    row_number: np.ndarray  # (R,) rows in the JointTable
    row_rate: np.ndarray  # (R,) velocity each row's coordinate should end with
    end_velocity: np.ndarray  # (n, 6) free velocity at the step's end
    island: np.ndarray  # (n,)
    island_jointed: np.ndarray  # (islands,) bool
    island_touching: np.ndarray  # (islands,) bool


def joined(first, second):
    """Two Contacts as one."""
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in first.__dataclass_fields__}
    return Contacts(**{name: np.concatenate(pair) for name, pair in pairs.items()})


class Assembler:
    """Builds the StepProblem of each step of one scene."""

    def __init__(self, scene, frames, joints, config):
        self.scene, self.frames, self.joints, self.config = scene, frames, joints, config
        bodies = scene.bodies
        self.release = np.array([body.release_time() for body in bodies])
        self.linear_damping = np.array([body.linear_damping for body in bodies], float)
        self.angular_damping = np.array([body.angular_damping for body in bodies], float)
        self.friction = np.array([body.friction for body in bodies], float)
        self.restitution = np.array([body.restitution for body in bodies], float)
        self._moving = [
            i for i, b in enumerate(bodies) if b.motion == "kinematic" or (b.motion == "dynamic" and b.path)
        ]

    def free(self, time):
        """(B,) bool: which bodies move freely in a step that starts at ``time`` [s]."""
        return self.release <= time + 1e-9

    def numbering(self, time):
        """Who moves freely in a step that starts at ``time`` [s]; release comes at the first step after a path."""
        free = np.concatenate([self.free(time), [False]])
        order = np.concatenate([np.nonzero(free)[0], np.nonzero(~free)[0]])
        solver = np.empty(len(order), np.int64)
        solver[order] = np.arange(len(order))
        return Numbering(order, solver, int(free.sum()))

    def prescribed(self, state, time):
        """Solver poses of all bodies at ``time``, where prescribed ones are: (B, 3), (B, 4)."""
        position, orientation = state.position.copy(), state.orientation.copy()
        for i in self._moving:
            if self.release[i] > state.time + 1e-9:
                place, turn = self._plan(self.scene.bodies[i], time)
                position[i] = place + rotations.rotate(turn, self.frames.center[i])
                orientation[i] = rotations.multiply(turn, self.frames.principal[i])
        return position, orientation

    @staticmethod
    def _plan(body, time):
        """Prescribed pose of the body's frame; past its release, on at the velocity it is released with."""
        beyond = time - body.release_time()
        if beyond <= 0.0 or body.motion != "dynamic":
            return body.prescribed(time)[:2]
        place, turn = body.path.pose(body.release_time())
        linear, angular = body.path.velocity(body.release_time())
        return place + beyond * linear, rotations.multiply(rotations.exponential(beyond * angular), turn)

    def prescribed_velocity(self, state, step):
        """(B, 6) velocity of each body: its own, or for prescribed ones the mean over the coming step."""
        return self._mean_velocity(state, step, *self.prescribed(state, state.time + step))

    def _mean_velocity(self, state, step, position, orientation):
        """The same, where the step leads to the prescribed poses given."""
        velocity = state.velocity.copy()
        for i in self._moving:
            if self.release[i] > state.time + 1e-9:
                velocity[i, :3] = (position[i] - state.position[i]) / step
                turn = rotations.multiply(orientation[i], rotations.conjugate(state.orientation[i]))
                velocity[i, 3:] = rotations.logarithm(turn) / step
        return velocity

    def build(self, state, step, contacts, impulses, missed=None, row_force=None):
        """The Assembly of one step.

        contacts: ContactSet found at the state; impulses: (C, 3) world start impulses on body a [N s].
        missed: more Contacts, numbered as in this step, that follow those; row_force: (rows of the table,) [N, N m] to
        start from instead of the last step's.
        """
        number = self.numbering(state.time)
        n = number.dynamic_count
        touches = self.contacts(contacts, impulses, number)
        if missed is not None:
            touches = joined(touches, missed)
        island, jointed, touching = self._islands(number, touches)
        midpoint = np.zeros(len(number.scene))
        keep = max(0.0, 1.0 - self.config.joint_damping * step)
        midpoint[:n] = np.where(touching[island], 0.0, keep)
        bodies, end_velocity = self._bodies(state, step, number, midpoint)
        of_joint = np.zeros(len(self.joints.joints))
        fixed = self.joints.fixed
        if len(fixed):
            both = np.maximum(midpoint[number.solver[fixed.body_a]], midpoint[number.solver[fixed.body_b]])
            np.maximum.at(of_joint, fixed.joint, both)
        rows, row_number, rate = self.joints.rows(state.time + step, step, of_joint, row_force)
        for side in ("body_a", "body_b"):
            setattr(rows, side, number.solver[getattr(rows, side)].astype(np.int32))
        rows, row_number, rate = self._movable_rows(rows, row_number, rate, n)
        self._expect_turns(rows, bodies, step)
        problem = StepProblem(step, bodies, touches, rows)
        return Assembly(problem, number, contacts, row_number, rate, end_velocity, island, jointed, touching)

    @staticmethod
    def _expect_turns(rows, bodies, step):
        """Unwrap twists around the angle that the present velocity leads to, so that fast wheels are not miscounted."""
        twist = np.nonzero(rows.coordinate == Coordinate.TWIST)[0]
        a, b = rows.body_a[twist], rows.body_b[twist]
        axis = rotations.rotate(bodies.orientation[a], rows.axis_a[twist])
        turn = step * np.einsum("ri,ri->r", axis, bodies.velocity[b, 3:] - bodies.velocity[a, 3:])
        rows.offset[twist] += turn
        rows.target[twist] -= turn * (rows.beta[twist] != 0.0)

    @staticmethod
    def _movable_rows(rows, row_number, rate, n):
        """Rows between two immovable bodies (a joint whose body is still held) take no part."""
        take = (rows.body_a < n) | (rows.body_b < n)
        if take.all():
            return rows, row_number, rate
        return rows.take(take), row_number[take], rate[take]

    def _islands(self, number, contacts):
        n, fixed = number.dynamic_count, self.joints.fixed
        alive = self.joints.alive[fixed.joint] if len(fixed) else np.zeros(0, bool)
        ja, jb = number.solver[fixed.body_a[alive]], number.solver[fixed.body_b[alive]]
        ca, cb = contacts.body_a, contacts.body_b
        a, b = np.concatenate([ca, ja]), np.concatenate([cb, jb])
        linked = (a < n) & (b < n)
        island = connected_components(n, a[linked], b[linked])
        count = int(island.max()) + 1 if n else 0
        flags = []
        for a, b in ((ja, jb), (ca, cb)):
            flag = np.zeros(count, bool)
            for side in (a, b):
                flag[island[side[side < n]]] = True
            flags.append(flag)
        return island, flags[0], flags[1]

    def _bodies(self, state, step, number, midpoint):
        n, order = number.dynamic_count, number.scene
        free, fixed = order[:n], order[n:-1]
        frames = self.frames
        mass, inertia = np.append(frames.mass, np.inf)[order], np.vstack([frames.inertia, np.full(3, np.inf)])[order]
        mass[n:], inertia[n:] = np.inf, np.inf
        position = np.vstack([state.position, np.zeros(3)])[order]
        orientation = np.vstack([state.orientation, rotations.IDENTITY])[order]
        velocity = np.vstack([state.velocity, np.zeros(6)])[order]
        end_position, end_orientation = position.copy(), orientation.copy()
        planned = self.prescribed(state, state.time + step)
        end_position[n:-1], end_orientation[n:-1] = planned[0][fixed], planned[1][fixed]
        velocity[n:-1] = self._mean_velocity(state, step, *planned)[fixed]
        end = free_velocity(
            velocity[:n],
            np.asarray(self.scene.gravity, float),
            self.linear_damping[free],
            self.angular_damping[free],
            step,
        )
        end_orientation[:n], end[:, 3:] = free_rotation(orientation[:n], end[:, 3:], inertia[:n], step)
        share = midpoint[:n, None]
        # Damping acts on what impulses do in the step as it acts on gravity: as if the body were that much heavier.
        mass[:n] /= reach(self.linear_damping[free], step) / step
        inertia[:n] /= reach(self.angular_damping[free], step)[:, None] / step
        flow = velocity.copy()
        # The unknown is the velocity that carries the pose: the mean (u+ + a u-) / (1 + a), a = midpoint.
        flow[:n, :3] = (end[:, :3] + share * velocity[:n, :3]) / (1.0 + share)
        flow[:n, 3:] = end[:, 3:]
        end_position[:n] = position[:n] + step * flow[:n, :3]
        bodies = Bodies(
            n, mass, inertia, position, orientation, velocity, end_position, end_orientation, flow, midpoint
        )  # fmt: skip
        return bodies, end

    def contacts(self, contacts, impulses, number):
        """A ContactSet as solver Contacts; impulses: (C, 3) world start impulses on body a [N s]."""
        a, b = contacts.body_a, contacts.body_b
        rules = self.scene.friction_combine, self.scene.restitution_combine
        return Contacts(
            number.solver[a].astype(np.int32),
            number.solver[b].astype(np.int32),
            self.frames.local(a, contacts.point_a),
            self.frames.local(b, contacts.point_b),
            contacts.margin_a,
            contacts.margin_b,
            contacts.normal,
            combine(rules[0], self.friction[a], self.friction[b]),
            combine(rules[1], self.restitution[a], self.restitution[b]),
            impulses,
            contacts.gap,
        )
