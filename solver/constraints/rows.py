# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints of a scene as rows: which coordinate each row measures, and what it asks of it (problem.JointRows).

    locked            c = 0                        beta 1; with compliance a spring k = 1 / compliance
    limit             c >= lower, c <= upper       beta 1, impulse of one sign; see limits.py
    spring            force -k (c - rest) - d c'   beta = h k / (h k + d), compliance = 1 / (h^2 k + h d)
    position drive    the same to its target, force within max_force; rigid where k = 0, see ``arrival``
    velocity drive    c' = target, gain d, force within max_force; rigid where d = 0
    friction          c' = 0, force within the joint's dry friction

What is asked is data in a row; the kernels know no joint types.  Force signs: positive pushes B along +axis, away
from A.  In steps that find their mean velocity, springs and dampers are fitted to what they do inside it (springs.py).
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from .. import rotations
from ..joint_types import ANGULAR, JOINT_TYPES, LINEAR
from ..problem import Coordinate, JointRows, frozen
from .braking import Carried, arrival
from .breaking import overloaded
from .limits import passed, stand
from .mobility import Held, matters
from .observed import Observer
from .springs import EndLaw, spring_law, turns_far, weights

LOCK, LOWER, UPPER, SPRING, POSITION_DRIVE, VELOCITY_DRIVE, FRICTION = range(7)
RESOLVED = 4.0  # (omega h)^2 up to which compliance vibrates: pi steps a period; beyond, it only gives way


@dataclass
class Ask:
    """What one row asks of its coordinate."""

    role: int
    axis: object  # Axis, or None for distances
    compliance: float = 0.0


@dataclass(eq=False)
class Standing:
    """Rows of the joints that hold, and which of them have a law that depends on the step (numbers of rows)."""

    number: np.ndarray  # (R,) in the table
    rows: JointRows  # read-only, with all that no step changes
    twist: np.ndarray  # count turns
    complied: np.ndarray  # locks and ropes that give way
    pulled: np.ndarray  # springs and dampers
    arriving: np.ndarray  # rigid position drives within a force
    stops: np.ndarray  # limits that do not give way
    limited: np.ndarray  # force within a limit
    driven: list  # (row, Axis): target in time

    @property
    def same(self):
        """Whether every step asks the same of every row."""
        return not (len(self.twist) or len(self.complied) or len(self.limited) or len(self.pulled) or len(self.stops))

    @cached_property
    def rigid(self):
        """JointRows without impulse, of locks that never give way; None where there are others."""
        rows, none = self.rows, frozen(np.zeros(len(self.rows)))
        if not (self.same and np.isinf(rows.lower).all() and np.isinf(rows.upper).all() and rows.beta.all()):
            return None
        return replace(rows, **dict.fromkeys(("beta", "compliance", "impulse", "target_velocity"), none))


PER_STEP = "offset", "beta", "target", "target_velocity", "compliance", "lower", "upper"


class JointTable:
    """All joints of a scene as rows; ``rows`` gives them for one step."""

    def __init__(self, scene, frames):
        """frames: BodyFrames.  Bodies are numbered as in the scene; the world is number len(scene.bodies)."""
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
        self._laws()
        self.angle = np.zeros(len(self.fixed))  # last known twist, so that turns are counted
        self.force = np.zeros(len(self.fixed))  # of the last step [N, N m]
        self._place = np.zeros(len(self.fixed))  # of each coordinate where the step starts, twists within a turn
        self._speed = np.zeros(len(self.fixed))  # of each coordinate there
        self._mobility = np.zeros(len(self.fixed))  # J M^-1 J^T there: at least 1 / m of what the row moves
        self._frames, self._observer = frames, None
        self.alive = np.ones(len(self.joints), bool)
        self.broken = {}  # name -> time [s]
        self._standing, self._around = (None, None), (None, None, None)
        self._strength = np.array([(j.break_force, j.break_torque) for j in self.joints], float).reshape(-1, 2)
        self._breakable = bool(np.isfinite(self._strength).any())

    def __len__(self):
        return len(self.fixed)

    def observe(self, position, orientation, velocity):
        """Take in where a step starts: solver poses (B, 3), (B, 4), velocities (B, 6); prescribed bodies: the mean.

        Only springs, dampers, limits, what gives way and what has to brake ask for it.
        """
        if not len(self._soft):
            return
        pulled, arriving = self._special[1:3]
        if self._observer is None:
            self._observer = Observer(self.fixed.take(self._soft), self._frames)
        seen = self._observer.look(position, orientation, velocity)
        self._place[self._soft], self._speed[self._soft], self._mobility[self._soft] = seen
        key = self.alive.tobytes()
        if self._around[0] != key and (len(arriving) or len(pulled)):
            holds, fixed = self.alive[self.fixed.joint], self.fixed
            links = (fixed.joint[holds], fixed.body_a[holds], fixed.body_b[holds])
            carried = Carried(fixed.take(arriving), links, self._frames)
            rigid = np.setdiff1d(np.flatnonzero(holds), np.concatenate(self._special))
            self._around = key, carried, Held(fixed, pulled, rigid[fixed.beta[rigid] == 1.0], self._frames)
        if len(arriving):
            own = self._mobility[arriving]
            self._mobility[arriving] = self._around[1].mobility(position, orientation, own)
        if len(pulled):
            own, law = self._mobility[pulled], (self._stiffness[pulled], self._damping[pulled])
            self._mobility[pulled] = self._around[2].mobility(position, orientation, own, matters(*law, own))

    def rows(self, time, step, midpoint, force=None):
        """Rows of the step that ends at ``time`` [s]: (JointRows, number in the table (R,), rate of each target (R,),
        EndLaw or None where nothing is damped).

        They are those of the joints that hold, in the order of the table; columns that no step changes are read-only.
        The rate is that which the coordinate must end with; NaN where a force decides.

        midpoint: (J,) per joint, 0 to 1: position impulses count (1 + midpoint) times, so force limits and
        compliances scale.  force: (rows of the table,) to start from; None: those of the last step.
        """
        standing = self._stand()
        number, base = standing.number, standing.rows
        if not len(number):
            return base, number, np.zeros(0), None
        share, rate = 1.0 + midpoint.take(base.joint), np.zeros(len(number))
        end = EndLaw.none(len(number)) if len(standing.pulled) else None
        if standing.same:
            out = JointRows(**vars(base))
        else:
            out = JointRows(**vars(base) | {name: getattr(base, name).copy() for name in PER_STEP})
            self._ask(out, standing, (rate, end), time, step, share)
        force = self.force if force is None else force
        out.impulse = np.minimum(np.maximum(force.take(number) * step / share, out.lower), out.upper)
        return out, number, rate, end

    def passed(self, step):
        """(joints,) bool: those that lie beyond a limit, from where a step [s] of this length brings them back."""
        out, standing = np.zeros(len(self.joints), bool), self._stand()
        if len(k := standing.stops):
            rows, place = standing.rows, self._turned(standing.rows, k, standing.number[k])
            out[rows.joint[k[passed(rows.target[k], place, rows.lower[k] == 0.0, step)]]] = True
        return out

    def rigid_rows(self):
        """The rows, with no law but that their coordinates stand still, where that is so in every step; else None."""
        return self._stand().rigid

    def break_overloaded(self, assembly, solution, phase, time, sound):
        """Break the joints whose force or torque over a converged step exceeds theirs most; True if there were any.

        phase: see ``joint_impulses`` of breaking.py; sound: (n,) bool, dynamic bodies within the tolerance: joints of
        the others are not judged.
        """
        if not len(assembly.problem.joints) or not self._breakable:
            return False
        going = overloaded(assembly, solution, phase, self._strength, self.alive, sound)
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
            rows, place = self.fixed.take(number), np.cumsum(holds) - 1
            for item in fields(rows):
                frozen(getattr(rows, item.name))
            self._standing = (
                key,
                Standing(
                    frozen(number),
                    rows,
                    np.nonzero(rows.coordinate == Coordinate.TWIST)[0],
                    *(place[where[holds[where]]] for where in self._special),
                    [(int(place[index]), axis) for index, axis in self._driven if holds[index]],
                ),
            )
        return self._standing[1]

    def _ask(self, rows, standing, asked, time, h, share):
        """Fill what this step asks of ``rows``, in place; and ``asked``: their rates (R,) and EndLaw."""
        number, rate = standing.number, asked[0]
        for k, axis in standing.driven:
            goal, speed = axis.target_at(time)
            if axis.drive == "position":
                rows.target[k], rate[k] = goal, speed
            else:
                rows.target_velocity[k] = rate[k] = goal
        if len(k := standing.complied):
            self._comply(rows, k, self._softness[number[k]], self._mobility[number[k]], rate, h, share[k])
        if len(k := standing.pulled):
            self._pull(rows, k, number[k], asked, h, share[k])
        if len(k := standing.arriving):
            place, brake = self._turned(rows, k, number[k]), self._most[number[k]] * self._mobility[number[k]]
            rows.target[k], rate[k] = arrival(rows.target[k], rate[k], place, brake, h)
        if len(k := standing.stops):
            place = self._turned(rows, k, number[k])
            rows.target[k] = stand(rows.target[k], place, rows.lower[k] == 0.0, h)
        if len(k := standing.limited):
            bound = self._most[number[k]] * h / share[k]
            rows.lower[k], rows.upper[k] = -bound, bound
        if len(k := standing.twist):
            angle = self.angle[number[k]]
            rows.offset[k] += angle
            rows.target[k] -= angle

    @staticmethod
    def _comply(rows, k, compliance, mobility, rate, h, share):
        """What gives way, as springs that keep their energy, or c+ = -compliance force where steps are too long.

        Then their vibration is no motion, and the velocity phase takes them as rigid; else their rate is NaN.
        """
        vibrates = h * h * mobility <= RESOLVED * compliance
        beta, soft = spring_law(1.0 / compliance, 0.0, h, share, 1.0 / share)
        rows.beta[k] = np.where(vibrates, beta, rows.beta[k])
        rows.compliance[k] = np.where(vibrates, soft, share * compliance / h**2)
        rate[k] = np.where(vibrates, np.nan, 0.0)

    def _turned(self, rows, k, number):
        """(K,) coordinates of rows k, ``number`` in the table, where the step starts, with their turns."""
        place = self._place[number]
        twist = rows.coordinate[k] == int(Coordinate.TWIST)
        return np.where(twist, rotations.unwrapped(place, self.angle[number]), place)

    def _pull(self, rows, k, number, asked, h, share):
        """Rows k, ``number`` in the table, as springs and dampers whose targets move at their rate, which becomes NaN.

        asked: rates (R,) and EndLaw.
        """
        rate, end = asked
        stiffness, damping, speed = self._stiffness[number], self._damping[number], self._speed[number]
        found = weights(stiffness, damping, self._mobility[number], h, share)
        # how much of a row's own velocity counts; the rest is that of ``speed``
        part, lag = found.way_damper, 1.0 - found.way_spring
        rows.beta[k], rows.compliance[k] = spring_law(stiffness, part * damping, h, share, found.way_spring)
        steady, gain = damping - h * stiffness * lag, share / (h * rows.compliance[k])
        rows.target_velocity[k] = (rate[k] * steady - (1.0 - part) * damping * speed) / gain
        off = self._turned(rows, k, number) - rows.target[k]
        end.put(k, stiffness, damping, found, h, share, (off + h * rate[k], speed, rate[k]))
        rate[k] = np.nan
        row = rows.beta[k], rows.target_velocity[k], rows.compliance[k]
        most = np.where(self._most[number] > 0.0, self._most[number] * h / share, np.inf)
        far = turns_far(row, off, (speed, self._mobility[number]), most, h)
        far &= rows.coordinate[k] == int(Coordinate.TWIST)
        rows.target_velocity[k] -= np.where(far, rows.beta[k] * off / h, 0.0)
        rows.beta[k] = np.where(far, 0.0, rows.beta[k])

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

        def place(coordinate, axis_a, axis_b):
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
                spot = place(Coordinate.TWIST, basis[k], basis[k])
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
            self._add(index, place, Ask(SPRING, axis if axis.drive is None else replace(axis, damping=0.0)))
        if axis.drive == "velocity":
            self._add(index, place, Ask(VELOCITY_DRIVE, axis))
        if axis.friction > 0.0:
            self._add(index, place, Ask(FRICTION, axis))

    def _add_distance(self, index, joint, a, b):
        anchor_a = self._local(a, joint.anchors[0] - self._position[a])
        anchor_b = self._local(b, joint.anchors[1] - self._position[b])
        zero = np.zeros(3)
        place = (Coordinate.DISTANCE, a, b, anchor_a, anchor_b, zero, zero, rotations.IDENTITY, joint.rest_length())
        slack = JOINT_TYPES[joint.kind].slack
        self._add(index, place, Ask(UPPER if slack else LOCK, None, joint.compliance))

    def _pack(self):
        rows = JointRows.of(len(self._asks))
        rows.joint[:] = self._joint
        names = ("coordinate", "body_a", "body_b", "anchor_a", "anchor_b", "axis_a", "axis_b", "reference", "offset")
        for k, place in enumerate(self._places):
            for name, value in zip(names, place, strict=True):
                getattr(rows, name)[k] = value
        return rows

    def _laws(self):
        """Write into ``fixed`` what no step changes of the rows' laws, and note which rows have one that steps do."""
        rows, count = self.fixed, len(self.fixed)
        self._softness, self._stiffness, self._damping, self._most = np.zeros((4, count))
        complied, pulled, arriving, stops, limited, self._driven = [], [], [], [], [], []
        for k, ask in enumerate(self._asks):
            axis, pulls = ask.axis, False
            if ask.compliance > 0.0:
                complied.append(k)
                self._softness[k] = ask.compliance
            elif ask.role in (LOWER, UPPER):
                stops.append(k)
            if ask.role == LOWER:
                rows.target[k], rows.lower[k] = axis.lower, 0.0
            elif ask.role == UPPER:
                rows.target[k], rows.upper[k] = (axis.upper if axis is not None else 0.0), 0.0
            elif ask.role == SPRING:
                rows.target[k], pulls = axis.rest, True
                self._stiffness[k] = axis.stiffness
            elif ask.role == POSITION_DRIVE:
                pulls = axis.stiffness > 0.0
                self._stiffness[k], self._most[k] = axis.stiffness, axis.max_force
                if not pulls and np.isfinite(axis.max_force):
                    arriving.append(k)
            elif ask.role == VELOCITY_DRIVE:
                rows.beta[k], pulls = 0.0, axis.damping > 0.0
                self._most[k] = axis.max_force
            elif ask.role == FRICTION:
                rows.beta[k], self._most[k] = 0.0, axis.friction
            if pulls:
                pulled.append(k)
                self._damping[k] = axis.damping
            if ask.role in (POSITION_DRIVE, VELOCITY_DRIVE):
                self._driven.append((k, axis))
            if ask.role in (POSITION_DRIVE, VELOCITY_DRIVE, FRICTION):
                limited.append(k)
        self._special = [np.array(rows, int) for rows in (complied, pulled, arriving, stops, limited)]
        self._soft = np.concatenate(self._special[:4])  # as Standing has them
