# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints of a scene as rows: which coordinate each row measures, and what it asks of it (problem.JointRows).

    locked            c = 0                        beta 1; with compliance a spring k = 1 / compliance
    limit             c >= lower, c <= upper       beta 1, impulse of one sign; see limits.py
    spring            force -k (c - rest) - d c'   beta = h k / (h k + d), compliance = 1 / (h^2 k + h d)
    position drive    the same to its target, force within max_force; rigid where k = 0, see braking.py
    velocity drive    c' = target, on the way its mean; gain d, force within max_force; rigid where d = 0
    friction          c' = 0, force within the joint's dry friction

What is asked is data in a row; the kernels know no joint types.  Force signs: positive pushes B along +axis, away
from A.  Which law acts on a row is known from the scene; what it asks in a step, asked.py finds.
"""

import dataclasses
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from .. import rotations
from ..caught import damp_catches
from ..copies import replace
from ..joint_types import ANGULAR, JOINT_TYPES, LINEAR
from ..problem import Coordinate, JointRows, frozen
from ..reference.row_laws import Law, vibrates
from .asked import Asker
from .breaking import overloaded
from .closing import Closing
from .observed import Observer
from .surroundings import Surroundings
from .swinging import Swinging, middle

LOCK, LOWER, UPPER, SPRING, POSITION_DRIVE, VELOCITY_DRIVE, FRICTION = range(7)


@dataclass
class Ask:
    """What one row asks of its coordinate."""

    role: int
    axis: object  # Axis, or None for distances
    compliance: float = 0.0


@dataclass(eq=False)
class Standing:
    """Rows of the joints that hold."""

    number: np.ndarray  # (R,) in the table
    rows: JointRows  # read-only, with all that no step changes
    law: np.ndarray  # (R,) Law
    driven: list  # (row of the table, Axis): target in time

    @cached_property
    def same(self):
        """Whether every step asks the same of every row: they are rigid locks."""
        return not self.law.any()

    @cached_property
    def still(self):
        """(R,) rate of rows that are all rigid locks."""
        return frozen(np.zeros(len(self.rows)))

    @cached_property
    def rigid(self):
        """JointRows without impulse, of locks that never give way; None where there are others."""
        if not self.same:
            return None
        return replace(self.rows, **dict.fromkeys(("beta", "compliance", "impulse", "target_velocity"), self.still))


class JointTable:
    """All joints of a scene as rows; ``rows`` gives them for one step."""

    def __init__(self, scene, frames, least=0.0):
        """frames: BodyFrames.  Bodies are numbered as in the scene; the world is number len(scene.bodies).

        least: [m or rad] what steps that converge may leave of a lock.
        """
        self.joints = list(scene.joints)
        self._asks, self._joint, self._places = [], [], []
        number = {body.name: i for i, body in enumerate(scene.bodies)}
        count = len(scene.bodies)
        start = [body.start() for body in scene.bodies]
        position = np.array([s[0] for s in start]).reshape(-1, 3)
        orientation = np.array([s[1] for s in start]).reshape(-1, 4)
        position, orientation = frames.to_solver(position, orientation)
        self._position = np.vstack([position, np.zeros(3)])
        self._orientation = np.vstack([orientation, rotations.IDENTITY])
        for index, joint in enumerate(self.joints):
            a = count if joint.body_a is None else number[joint.body_a]
            b = count if joint.body_b is None else number[joint.body_b]
            if JOINT_TYPES[joint.kind].anchors:
                self._add_distance(index, joint, a, b)
            else:
                self._add_frame(index, joint, a, b)
        self.fixed = self._pack()
        self._note_laws()
        self._asker = Asker(self.fixed, self._law, len(self.joints))
        self.start = self._asker.columns  # where a step starts, once observed
        self._fill(self.start)
        self.angle = np.zeros(len(self.fixed))  # last known twist, so that turns are counted
        self.force = np.zeros(len(self.fixed))  # of the last step [N, N m]
        self.caught = np.zeros(len(self.fixed))  # 1 less the damping ratio of ropes in a catch, else 0; see caught.py
        self.least, self.whole, self.catches = least, 0.0, 0
        self._frames, self._observer = frames, None
        locks = np.flatnonzero(self._law == 0)
        self._closing = Closing(self.fixed, frames, locks, len(self.joints), least) if len(locks) else None
        self.alive = np.ones(len(self.joints), bool)
        self.broken = {}  # name -> time [s]
        self._standing, self._around = (None, None), (None,)
        self._cascade = None, 0  # end of the step in which joints broke last [s], and how often some did in it
        self._strength = np.array([(j.break_force, j.break_torque) for j in self.joints], float).reshape(-1, 2)
        self._breakable = bool(np.isfinite(self._strength).any())

    def __len__(self):
        return len(self.fixed)

    def begin(self, step):
        """A step [s] begins that may be done in parts."""
        self.whole, self.catches = step, 0

    def observe(self, position, orientation, velocity, time=0.0):
        """Take in where a step starts: solver poses (B, 3), (B, 4), velocities (B, 6), of prescribed bodies the mean;
        time [s].
        """
        if self._closing is not None:
            self._closing.observe(position, orientation)
        if not len(self._soft):
            return
        if self._observer is None:
            self._observer = Observer(self.fixed.take(self._soft), self._frames)
        start, pulled, arriving = self.start, self._pulled, self._arriving
        if len(self._swinging):
            self._swinging.lay(self._observer, start, self.angle, orientation, time)
        seen = self._observer.look(position, orientation, velocity)
        start.place[self._soft], start.speed[self._soft], start.mobility[self._soft] = seen
        if len(self._swinging):
            self._swinging.count(start.place, self.angle)
        if not (len(pulled) or len(arriving) or len(self._giving)):
            return
        key = self.alive.tobytes()
        if self._around[0] != key:
            some, holds = (pulled, arriving, self._giving), self.alive[self.fixed.joint]
            start.damping[pulled] = self._gains[1]
            self._around = key, Surroundings(self.fixed, start, some, holds, self._frames)
        self._around[1].look(position, orientation)

    def rows(self, time, step, midpoint, force=None):
        """Rows of the step that ends at ``time`` [s]: (JointRows, number in the table (R,), rate of each target (R,),
        EndLaw or None where nothing is damped).

        They are those of the joints that hold, in the order of the table; columns that no step changes are read-only.
        The rate is that which the coordinate must end with; NaN where a force decides.

        midpoint: (J,) per joint, 0 to 1: position impulses count (1 + midpoint) times, so force limits and
        compliances scale.  force: (rows of the table,) to start from; None: those of the last step.
        """
        standing, force = self._stand(), self.force if force is None else force
        number, base = standing.number, standing.rows
        if not len(number):
            return base, number, standing.still, None
        if standing.same:
            asked = {"impulse": force.take(number) * step / (1.0 + midpoint.take(base.joint))}
            if (target := self.left(number, step)) is not None:
                asked["target"] = target
            return JointRows(**vars(base) | asked), number, standing.still, None
        start = self.start
        for k, axis in standing.driven:
            goal, speed = axis.target_at(time)
            if axis.drive == "position":
                start.target[k], start.rate[k] = goal, speed
            else:
                start.rate[k], start.mean[k] = goal, axis.mean_target(time - step, time)
        start.angle[:] = self.angle
        if self._around[0] is not None:
            self._around[1].damp(step, midpoint)
        if len(ropes := self.ropes):
            damp_catches(start, ropes, self.caught[ropes])
        rows, rate, end = self._asker.ask(base, number, step, midpoint, force)
        if (target := self.left(number, step)) is not None:
            rows.target = rows.target + target
        return rows, number, rate, end

    def left(self, number, step):
        """(R,) what a step [s] of this length lets stand of locks that are apart, 0 where rows ``number`` (R,) are
        others [m or rad]; None where it is nothing.
        """
        return None if self._closing is None else self._closing.targets(number, step)

    def passed(self, step):
        """(joints,) bool: those that lie beyond a limit, from where a step [s] of this length brings them back, or are
        apart.
        """
        out = None if self._closing is None else self._closing.passed(step)
        if len(self.limits):
            self.start.angle[:] = self.angle
            beyond = self._asker.passed(step)
            out = beyond if out is None else out | beyond
        return np.zeros(len(self.joints), bool) if out is None else out & self.alive

    def springs_of(self, step):
        """Numbers of the rows that are springs in a step [s] of this length: compliance is where it vibrates."""
        if not len(self._giving):
            return self.springs
        swings = vibrates(self.start.softness[self._giving], self.start.mobility[self._giving], step)
        return np.append(self.springs, self._giving[swings])

    def rigid_rows(self):
        """The rows, with no law but that their coordinates stand still, where that is so in every step; else None."""
        return self._stand().rigid

    def breakable(self):
        """(J,) bool: joints that a force or a torque breaks."""
        return np.isfinite(self._strength).any(axis=1)

    def break_overloaded(self, assembly, solution, phase, time, sound):
        """Break the joints whose force or torque over a converged step exceeds theirs most; True if there were any.

        phase: see ``joint_impulses`` of breaking.py; sound: (n,) bool, dynamic bodies within the tolerance: joints of
        the others are not judged.
        """
        if not len(assembly.problem.joints) or not self._breakable:
            return False
        rounds = self._cascade[1] if self._cascade[0] == time else 0
        going = overloaded(assembly, solution, phase, self._strength, self.alive, sound, rounds)
        self._cascade = time, rounds + 1
        for k in going:
            self.alive[k] = False
            self.broken[self.joints[k].name] = time
        return len(going) > 0

    def _stand(self):
        """The Standing rows of the joints that hold now."""
        key = self.alive.tobytes()
        if self._standing[0] != key:
            holds = self.alive[self.fixed.joint] if len(self.fixed) else np.zeros(0, bool)
            number = np.nonzero(holds)[0]
            rows = self.fixed.take(number)
            for item in fields(rows):
                frozen(getattr(rows, item.name))
            driven = [(k, axis) for k, axis in self._driven if holds[k]]
            self._standing = key, Standing(frozen(number), rows, self._law[number], driven)
        return self._standing[1]

    # Building the table

    def _add(self, joint, place, ask):
        self._joint.append(joint)
        self._places.append(place)
        self._asks.append(ask)

    def _local(self, body, world):
        return rotations.rotate(rotations.conjugate(self._orientation[body]), world)

    def _add_frame(self, index, joint, a, b):
        anchor_a = self._local(a, joint.position - self._position[a])
        anchor_b = self._local(b, joint.position - self._position[b])
        reference = rotations.multiply(rotations.conjugate(self._orientation[a]), self._orientation[b])
        basis = rotations.matrices(joint.orientation).T  # rows: the joint's axes in the world

        def place(coordinate, axis_a, axis_b, swings=False):
            return (
                coordinate,
                a,
                b,
                anchor_a,
                anchor_b,
                self._local(a, axis_a),
                self._local(b, axis_b),
                reference,
                0.0,
                swings,
            )

        for k, name in enumerate(LINEAR):
            self._asks_of(index, joint.axis(name), place(Coordinate.LINEAR, basis[k], basis[k]), joint.compliance)
        locked = [k for k, name in enumerate(ANGULAR) if joint.is_locked(name)]
        free = [k for k in range(3) if k not in locked]
        for k, name in enumerate(ANGULAR):
            if k in locked:
                # An axis of B that the remaining freedom leaves alone, watched from where a turn about k would take it.
                watched = free[0] if len(free) == 1 else (2 if k != 2 else 1) if not free else (k + 2) % 3
                across = np.cross(basis[k], basis[watched])
                spot = place(Coordinate.DOT, across, basis[watched])
            else:
                spot = place(Coordinate.TWIST, basis[k], basis[k], len(free) > 1)
            self._asks_of(index, joint.axis(name), spot, joint.angular_compliance)

    def _asks_of(self, index, axis, place, compliance):
        if axis.locked:
            self._add(index, place, Ask(LOCK, axis, compliance))
            return
        if np.isfinite(axis.lower):
            self._add(index, place, Ask(LOWER, axis))
        if np.isfinite(axis.upper):
            self._add(index, place, Ask(UPPER, axis))
        if axis.drive == "position":
            self._add(index, place, Ask(POSITION_DRIVE, axis))
        elif axis.stiffness > 0.0 or (axis.damping > 0.0 and axis.drive is None):
            # the damping of a driven axis belongs to its drive
            bare = axis if axis.drive is None else dataclasses.replace(axis, damping=0.0)
            self._add(index, place, Ask(SPRING, bare))
        if axis.drive == "velocity":
            self._add(index, place, Ask(VELOCITY_DRIVE, axis))
        if axis.friction > 0.0:
            self._add(index, place, Ask(FRICTION, axis))

    def _add_distance(self, index, joint, a, b):
        anchor_a = self._local(a, joint.anchors[0] - self._position[a])
        anchor_b = self._local(b, joint.anchors[1] - self._position[b])
        zero = np.zeros(3)
        length = joint.rest_length()
        place = (Coordinate.DISTANCE, a, b, anchor_a, anchor_b, zero, zero, rotations.IDENTITY, length, False)
        slack = JOINT_TYPES[joint.kind].slack
        self._add(index, place, Ask(UPPER if slack else LOCK, None, joint.compliance))

    def _pack(self):
        rows = JointRows.of(len(self._asks))
        rows.joint[:] = self._joint
        names = (
            *("coordinate", "body_a", "body_b", "anchor_a", "anchor_b", "axis_a", "axis_b", "reference", "offset"),
            "swings",
        )
        for k, place in enumerate(self._places):
            for name, value in zip(names, place, strict=True):
                getattr(rows, name)[k] = value
        return rows

    def _note_laws(self):
        """Note the Law of each row, and write into ``fixed`` what of it no step changes."""
        rows, law = self.fixed, np.where(self.fixed.coordinate == Coordinate.TWIST, int(Law.TURNS), 0)
        self._driven, leaps = [], []
        for k, (ask, axis) in enumerate((ask, ask.axis) for ask in self._asks):
            if ask.compliance > 0.0:
                law[k] |= Law.GIVES
            elif ask.role in (LOWER, UPPER):
                law[k] |= Law.LOWER if ask.role == LOWER else Law.UPPER
            if rows.swings[k] and ask.role in (LOWER, UPPER):
                rows.centre[k] = middle(axis)
            if ask.role == LOWER:
                rows.target[k], rows.lower[k] = axis.lower, 0.0
            elif ask.role == UPPER:
                rows.target[k], rows.upper[k] = (axis.upper if axis is not None else 0.0), 0.0
            elif ask.role == SPRING:
                rows.target[k] = rows.centre[k] = axis.rest
                law[k] |= Law.PULLS
            elif ask.role == POSITION_DRIVE:
                pulls, within = axis.stiffness > 0.0, np.isfinite(axis.max_force)
                law[k] |= Law.BOUNDED | (Law.PULLS | Law.FOLLOWS if pulls else Law.BRAKES if within else Law(0))
                if not (pulls or within) and rows.coordinate[k] == Coordinate.TWIST:
                    leaps.append(k)
            elif ask.role == VELOCITY_DRIVE:
                law[k] |= Law.BOUNDED | Law.FLOWS | (Law.PULLS if axis.damping > 0.0 else Law(0))
            elif ask.role == FRICTION:
                law[k] |= Law.BOUNDED
            if ask.role in (VELOCITY_DRIVE, FRICTION):
                rows.beta[k], rows.centre[k] = 0.0, np.nan
            if ask.role in (POSITION_DRIVE, VELOCITY_DRIVE):
                self._driven.append((k, axis))
        self._law = law
        self.leaps = np.array(leaps, int)  # rows that drive an angle with any force: it is where they say at once
        self._pulled, self._arriving = (np.flatnonzero(law & kind) for kind in (Law.PULLS, Law.BRAKES))
        self._soft = np.flatnonzero(law & (Law.GIVES | Law.PULLS | Law.BRAKES | Law.LOWER | Law.UPPER))
        self._swinging = Swinging(rows, self._soft, self._driven)
        self.limits = np.flatnonzero(law & (Law.LOWER | Law.UPPER))  # numbers of rows

    def _fill(self, columns):
        """Write what no step changes of springs, dampers, compliance and forces."""
        for k, (ask, axis) in enumerate((ask, ask.axis) for ask in self._asks):
            columns.softness[k] = ask.compliance
            if ask.role in (SPRING, POSITION_DRIVE):
                columns.stiffness[k] = axis.stiffness
            if self._law[k] & Law.PULLS:
                columns.damping[k] = axis.damping
            if ask.role in (POSITION_DRIVE, VELOCITY_DRIVE):
                columns.most[k] = axis.max_force
            elif ask.role == FRICTION:
                columns.most[k] = axis.friction
        self._gains = columns.stiffness[self._pulled], columns.damping[self._pulled]
        self.springs = self._pulled[self._gains[0] > 0.0]  # numbers of rows
        self._giving = np.flatnonzero(self._law & Law.GIVES)
        self.gives = np.append(self.springs, self._giving)  # those, and springs
        self.ropes = self._giving[np.isfinite(self.fixed.upper[self._giving])]  # those that only pull
