# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene, its state and its contacts to a StepProblem: who moves, what is prescribed, what touches what."""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from . import rotations
from .force_fields import ForceTable
from .held import HandOver, Holding
from .manifold import NOISE
from .materials import combine
from .predict import free_rotation, free_velocity, reach
from .problem import Bodies, Contacts, Coordinate, StepProblem
from .reference.impact import rebounds
from .topology import connected_components

HELD = 0.5  # of the tolerance at rest: gaps and overlaps within it stay as they are, or mending them is what moves


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
    row_rate: np.ndarray  # (R,) velocity each row's coordinate should end with; NaN where its force decides
    end_velocity: np.ndarray  # (n, 6) free velocity at the step's end
    island: np.ndarray  # (n,)
    island_jointed: np.ndarray  # (islands,) bool
    joint_links: tuple  # solver bodies of both ends of every row of joints that hold
    pressed: np.ndarray  # (C,) bool: contacts taken to carry load when the integrator was chosen


def joined(first, second):
    """Two Contacts as one."""
    for contacts, other in ((first, second), (second, first)):
        for name in ("surface_velocity", "surface_drift"):
            like = getattr(other, name)
            if getattr(contacts, name) is None and like is not None:
                setattr(contacts, name, np.zeros((len(contacts), *like.shape[1:])))
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in first.__dataclass_fields__}
    return Contacts(
        **{name: None if any(p is None for p in pair) else np.concatenate(pair) for name, pair in pairs.items()}
    )


class Assembler:
    """Builds the StepProblem of each step of one scene."""

    force_fields = None
    asleep = None  # (B,) bool: bodies that rest in this step (rest.py), or None where nothing does
    carried = None  # parts.Carried: bodies that have done this step already, or None

    def __init__(self, scene, frames, joints, config):
        self.scene, self.frames, self.joints = scene, frames, joints
        bodies = scene.bodies
        self.holding = Holding.of(bodies)
        self.hand_over = HandOver(scene, frames, self.holding)
        self.force_fields = ForceTable(scene, frames) if scene.fields else None
        self.linear_damping = np.array([body.linear_damping for body in bodies], float)
        self.angular_damping = np.array([body.angular_damping for body in bodies], float)
        self.friction = np.array([body.friction for body in bodies], float)
        self.restitution = np.array([body.restitution for body in bodies], float)
        surface = np.array([body.surface_velocity for body in bodies], float).reshape(-1, 3)
        self.surface_velocity = rotations.rotate(rotations.conjugate(frames.principal), surface)  # in solver axes
        self.slow = config.tolerances()[0]
        self.noise = config.tolerances()[1]  # [m] way that residuals may lead in a step
        self._moving = [
            i for i, b in enumerate(bodies) if b.motion == "kinematic" or (b.motion == "dynamic" and b.path)
        ]

    def free(self, time):
        """(B,) bool: which bodies move freely in a step that starts at ``time`` [s]."""
        return self.holding.free(time)

    @property
    def prescribes(self):
        """Whether any body of the scene has a path."""
        return bool(self._moving)

    @contextmanager
    def sleeping(self, asleep):
        """Put steps together with the bodies ``asleep`` (B,) bool left as they are."""
        before, self.asleep = self.asleep, asleep
        try:
            yield
        finally:
            self.asleep = before

    def numbering(self, time):
        """Who is to be solved in a step that starts at ``time`` [s]: bodies that move freely, do not rest and are not
        carried.
        """
        free = self.free(time)
        if self.asleep is not None:
            free = free & ~self.asleep
        if self.carried is not None:
            free = free & ~self.carried.mask
        free = np.concatenate([free, [False]])
        order = np.concatenate([np.nonzero(free)[0], np.nonzero(~free)[0]])
        solver = np.empty(len(order), np.int64)
        solver[order] = np.arange(len(order))
        return Numbering(order, solver, int(free.sum()))

    def prescribed(self, state, time):
        """Solver poses of all bodies at ``time``, where prescribed ones are: (B, 3), (B, 4)."""
        position, orientation = state.position.copy(), state.orientation.copy()
        free = self.free(state.time)
        for i in self._moving:
            if not free[i]:
                place, turn = self.hand_over.plan(i, state.time, time, state.glide)
                position[i] = place + rotations.rotate(turn, self.frames.center[i])
                orientation[i] = rotations.multiply(turn, self.frames.principal[i])
        if self.carried is not None:
            bodies, place, turn = self.carried.pose(time)
            position[bodies], orientation[bodies] = place, turn
        return position, orientation

    def prescribed_velocity(self, state, step):
        """(B, 6) velocity of each body: its own, or for prescribed ones the mean over the coming step."""
        return self._mean_velocity(state, step, *self.prescribed(state, state.time + step))

    def _mean_velocity(self, state, step, position, orientation):
        """The same, where the step leads to the prescribed poses given."""
        velocity, free = state.velocity.copy(), self.free(state.time)
        for i in self._moving:
            if not free[i]:
                velocity[i, :3] = (position[i] - state.position[i]) / step
                turn = rotations.multiply(orientation[i], rotations.conjugate(state.orientation[i]))
                velocity[i, 3:] = rotations.logarithm(turn) / step
        if self.carried is not None:
            velocity[self.carried.mask] = self.carried.velocity[self.carried.mask]
        return velocity

    def build(self, state, step, contacts, impulses, missed=None, row_force=None, pressed=None):
        """The Assembly of one step.

        contacts: ContactSet found at the state; impulses: (C, 3) world start impulses on body a [N s].
        missed: more Contacts, numbered as in this step, that follow those; row_force: (rows of the table,) [N, N m] to
        start from instead of the last step's; pressed: (C,) bool, which contacts carry load, missed ones included, or
        None to guess: those that carried some before, those that free motion closes, and new ones that touch.
        """
        number = self.numbering(state.time)
        n = number.dynamic_count
        bodies, end_velocity = self._bodies(state, step, number)
        touches = self.contacts(contacts, impulses, number, bodies.orientation)
        if missed is not None:
            touches = joined(touches, missed)
        problem = StepProblem(step, bodies, touches)
        touches.rebound_gap, touches.rebound_speed, hits = rebounds(problem, end_velocity, 2.0 * self.noise / step)
        touches.rebound_gap[len(contacts) :] = 0.0  # found at the end of the step: nobody knows when they hit
        if touches.surface_drift is not None:
            touches.rebound_speed = touches.rebound_speed - touches.surface_drift
        if pressed is None:
            new = (contacts.previous < 0) & (contacts.gap <= self.noise)
            pressed = hits | new | touches.impulse.any(axis=1)
        a, b, joint = self._joint_links(number)
        held = self._held_by_contacts(number, (a, b), touches, pressed)
        self._take_mean_velocity(bodies, end_velocity, np.where(held, 0.0, 1.0), step)
        of_joint = np.zeros(len(self.joints.joints))
        np.maximum.at(of_joint, joint, np.maximum(bodies.midpoint[a], bodies.midpoint[b]))
        rows, row_number, rate = self.joints.rows(state.time + step, step, of_joint, row_force)
        for side in ("body_a", "body_b"):
            setattr(rows, side, number.solver[getattr(rows, side)].astype(np.int32))
        problem.joints, row_number, rate = self._movable_rows(rows, row_number, rate, n)
        self._expect_turns(problem.joints, bodies, step)
        island = _components(n, (np.append(a, touches.body_a), np.append(b, touches.body_b)))
        jointed = _marked(island, (a, b))
        return Assembly(problem, number, contacts, row_number, rate, end_velocity, island, jointed, (a, b), pressed)

    def wrongly_pressed(self, assembly, solution):
        """(C,) bool: which contacts carry load in the solution; None where the integrator was chosen by the same ones.

        A body that a contact holds, itself or through joints, is taken to the end of the step by backward Euler; one
        that nothing holds keeps its energy.
        """
        loaded = solution.contact_impulse[:, 0] > 0.0
        number, contacts = assembly.numbering, assembly.problem.contacts
        held = self._held_by_contacts(number, assembly.joint_links, contacts, loaded)
        same = held == (assembly.problem.bodies.midpoint[: number.dynamic_count] == 0.0)
        return None if same.all() else loaded

    def _joint_links(self, number):
        """Both solver bodies of every row of joints that hold, and the row's joint."""
        fixed = self.joints.fixed
        alive = self.joints.alive[fixed.joint] if len(fixed) else np.zeros(0, bool)
        return number.solver[fixed.body_a[alive]], number.solver[fixed.body_b[alive]], fixed.joint[alive]

    @staticmethod
    def _held_by_contacts(number, links, contacts, pressed):
        """(n,) bool: dynamic bodies with a pressed contact, or linked by joints and pressed contacts to one with it."""
        n = number.dynamic_count
        touching = contacts.body_a[pressed], contacts.body_b[pressed]
        group = _components(n, (np.append(links[0], touching[0]), np.append(links[1], touching[1])))
        return _marked(group, touching)[group]

    def acceleration(self, bodies):
        """(3,), or (n, 3) one for each of ``bodies`` (n,): acceleration of free motion [m/s^2]."""
        return np.asarray(self.scene.gravity, float)

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

    def _bodies(self, state, step, number):
        """Bodies with free motion by backward Euler, and the free velocity (n, 6) at the step's end."""
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
        acceleration, damping = self.acceleration(free), self.linear_damping[free]
        if self.force_fields is not None:
            pushed, braked = self.force_fields.on(free, state, step)
            acceleration, damping = acceleration + pushed, damping + braked
        end = free_velocity(velocity[:n], acceleration, damping, self.angular_damping[free], step)
        end_orientation[:n], end[:, 3:] = free_rotation(orientation[:n], end[:, 3:], inertia[:n], step)
        # Damping acts on what impulses do in the step as it acts on gravity: as if the body were that much heavier.
        mass[:n] /= reach(damping, step) / step
        inertia[:n] /= reach(self.angular_damping[free], step)[:, None] / step
        flow = velocity.copy()
        flow[:n] = end
        end_position[:n] = position[:n] + step * flow[:n, :3]
        bodies = Bodies(
            n, mass, inertia, position, orientation, velocity, end_position, end_orientation, flow, np.zeros(len(order))
        )  # fmt: skip
        return bodies, end

    @staticmethod
    def _take_mean_velocity(bodies, end_velocity, midpoint, step):
        """The unknown is the velocity that carries the pose: the mean (u+ + a u-) / (1 + a), a = midpoint (n,)."""
        n = bodies.dynamic_count
        bodies.midpoint[:n], share = midpoint, midpoint[:, None]
        flow = (end_velocity[:, :3] + share * bodies.velocity[:n, :3]) / (1.0 + share)
        bodies.free_velocity[:n, :3] = flow
        bodies.free_position[:n] = bodies.position[:n] + step * flow

    def contacts(self, contacts, impulses, number, orientation):
        """A ContactSet as solver Contacts.

        impulses: (C, 3) world start impulses on body a [N s]; orientation: of the solver bodies at the step's start.
        """
        a, b = contacts.body_a, contacts.body_b
        point_a, point_b, drift = contacts.point_a, contacts.point_b, None
        if (contacts.deforms >= 0).any():
            on_a = (contacts.deforms == a)[:, None]
            point_a, point_b = (
                point_a + np.where(on_a, contacts.shift, 0.0),
                point_b + np.where(on_a, 0.0, contacts.shift),
            )
            drift = np.where(on_a, contacts.drift, -contacts.drift)
        rules = self.scene.friction_combine, self.scene.restitution_combine
        return Contacts(
            number.solver[a].astype(np.int32),
            number.solver[b].astype(np.int32),
            self.frames.local(a, point_a),
            self.frames.local(b, point_b),
            contacts.margin_a,
            contacts.margin_b,
            contacts.normal,
            combine(rules[0], self.friction[a], self.friction[b]),
            combine(rules[1], self.restitution[a], self.restitution[b]),
            impulses,
            contacts.gap,
            face=np.where(contacts.face >= 0, number.solver[contacts.face], -1).astype(np.int32),
            face_normal=self.frames.local_direction(contacts.face, contacts.face_normal),
            surface_velocity=self._surface_velocity(a, b, orientation[number.solver], drift),
            surface_drift=None if drift is None else np.einsum("ci,ci->c", contacts.normal, drift),
            gap_noise=np.minimum(NOISE * contacts.manifolds.size[contacts.source], HELD * self.slow),
        )

    def _surface_velocity(self, a, b, orientation, drift):
        """(C, 3) world velocity of the surface of bodies a relative to that of b, beyond their motion; or None."""
        if not self.surface_velocity.any():
            return drift
        world = rotations.rotate(orientation[:-1], self.surface_velocity)
        return world[a] - world[b] + (0.0 if drift is None else drift)


def _components(count, links):
    """(count,) label of each dynamic body's group; links to immovable bodies join nobody."""
    a, b = links
    linked = (a < count) & (b < count)
    return connected_components(count, a[linked], b[linked])


def _marked(group, links):
    """(groups,) bool: which have a body among the links."""
    count = len(group)
    mark = np.zeros(int(group.max()) + 1 if count else 0, bool)
    for side in links:
        mark[group[side[side < count]]] = True
    return mark
