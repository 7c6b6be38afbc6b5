# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints of a newton.Model as rows (problem.JointRows), and its joint forces as wrenches.

Each degree of freedom that can be measured is a row in ``dofs``, which gives its Jacobian and carries what acts on it:

    prismatic, linear D6      LINEAR                            along an axis fixed in the parent
    revolute, one D6 angle    TWIST                             turns counted, near the state's joint_q
    two or three D6 angles    DOT, laid anew along the covector of the angle in each step: exact in value and slope
    ball                      the same about the parent's axes: velocities only

What the joint locks, and what limits, drives, springs, friction and armature ask of a degree of freedom, are rows of
their own, with one role each.  Arrays are read from the model as NumPy: nothing here imports newton.
"""

from dataclasses import fields
from functools import cached_property

import numpy as np

from . import rotations
from .constraints.asked import Asker
from .constraints.observed import Observer
from .newton_angles import angular_coordinates, complement
from .problem import Coordinate, JointRows, frozen
from .reference.row_laws import Law

UNLIMITED = 1e9  # newton writes 1e10 where there is no limit
LOCK, LOWER, UPPER, SPRING, DRIVE, FRICTION, ARMATURE = range(7)
POSITION, VELOCITY, POSITION_VELOCITY = 1, 2, 3  # newton.JointTargetMode
ACTS = (
    "joint_friction", "joint_armature", "joint_stiffness", "joint_damping", "joint_target_ke", "joint_target_kd"
)  # fmt: skip
DOF_FIELDS = ("joint_limit_lower", "joint_limit_upper", "joint_effort_limit", *ACTS)


class NewtonJoints:
    """All joints of a newton.Model as rows, with the interface Assembler expects of a table of joints."""

    def __init__(self, model, kinds, frames):
        """kinds: newton.JointType as a number -> its name.  frames: BodyFrames of the bodies and, last, the world.

        Raises:
            ValueError: names the joint and what SolverAxion cannot do with it.
        """
        count = model.joint_count
        self.joints = [None] * count  # one entry each, as Assembler counts them
        self._world = len(frames.mass) - 1
        self._frames = frames
        self._label = list(model.joint_label)
        self._kind = [kinds[int(k)] for k in _array(model.joint_type, count)]
        self._parent = np.where((parent := _array(model.joint_parent, count)) < 0, self._world, parent)
        self._child = _array(model.joint_child, count)
        self._frame = _array(model.joint_X_p, count).reshape(-1, 7), _array(model.joint_X_c, count).reshape(-1, 7)
        self._size = _array(model.joint_dof_dim, count).reshape(-1, 2)
        self._q_start, self._qd_start = _array(model.joint_q_start, count + 1), _array(model.joint_qd_start, count + 1)
        total = model.joint_dof_count
        self._axis = _array(model.joint_axis, total).reshape(-1, 3)
        self._data = {name: _array(getattr(model, name), total).astype(float) for name in DOF_FIELDS}
        self._mode = _array(model.joint_target_mode, total)
        rest = _array(model.joint_rest_q, model.joint_coord_count)
        target = model.joint_target_q_start
        self._target_start = self._q_start if target is None else _array(target, count + 1)
        self._rows, self._dofs = [], []  # (joint, fields) until packed
        for j in range(count):
            self._add(j)
        self.dofs, self.fixed = self._pack(self._dofs), self._pack(self._rows)
        self._number = np.array([d["dof"] for d in self._dofs], int)  # of each dof row in joint_qd
        self._coordinate = np.array([d["q"] for d in self._dofs], int)  # in joint_q; -1: none
        self._target = np.array([d["target"] for d in self._dofs], int)  # in joint_target_q
        self._angles = [(j, rows) for j, rows in self._by_joint() if self.dofs.coordinate[rows[0]] == Coordinate.DOT]
        self._rest = np.append(rest.astype(float), 0.0)[self._coordinate] if len(self._dofs) else np.zeros(0)
        self._role = np.array([r["role"] for r in self._rows], int)
        self._of = np.array([r["of"] for r in self._rows], int)  # row of ``dofs``, -1: none
        self._asker = Asker(self.fixed, self._laws(), count)
        self._weigh(1.0)
        self._wrench = self._wrench_joints()
        self.alive = _array(model.joint_enabled, count).astype(bool)
        self.force = np.zeros(len(self.fixed))  # of the last step [N, N m]
        self.q = np.zeros(len(self.dofs))
        self._scale = np.ones(len(self.dofs))
        self._goal = np.zeros((2, len(self.dofs)))
        self._twists, self._dots = (self.dofs.coordinate == kind for kind in (Coordinate.TWIST, Coordinate.DOT))

    def __len__(self):
        return len(self.fixed)

    def aim(self, joint_q, targets):
        """Take in (joint_target_q, joint_target_qd) of a step, and joint_q, near which turns are counted."""
        self.q = np.append(joint_q, 0.0)[self._coordinate]
        for k, (target, index) in enumerate(zip(targets, (self._target, self._number), strict=True)):
            self._goal[k] = 0.0 if target is None else np.append(target, 0.0)[index]

    def observe(self, position, orientation, velocity):
        """Take in where a step starts: solver poses (B, 3), (B, 4) and velocities (B, 6), the world last."""
        if not len(self.dofs):
            return
        place, speed, mobility = self._look(position, orientation, velocity)
        self.q = np.where(self._dots, 0.0, place)
        if self._angles:
            for joint, rows in self._angles:
                self._lay(joint, rows, orientation)
            self._observer.lay(self.dofs.axis_a, self.dofs.axis_b)
            speed, mobility = self._look(position, orientation, velocity)[1:]
        self._start(speed, mobility)

    def _look(self, position, orientation, velocity):
        """(coordinates, turns counted near ``q``, their speed, J M^-1 J^T), (dofs,) each."""
        place, speed, mobility = self._observer.look(position, orientation, velocity)
        return np.where(self._twists, rotations.unwrapped(place, self.q), place), speed, mobility

    @cached_property
    def _observer(self):
        return Observer(self.dofs, self._frames)

    def wrench(self, joint_f, position):
        """(B, 6) force and torque about each centre of mass, world axes, of generalized forces joint_f (dofs,).

        Poses: those that ``observe`` took in last.
        """
        out = np.zeros((len(position), 6))
        if len(self.dofs):
            force = (joint_f[self._number] * self.alive[self.dofs.joint] / self._scale)[:, None]
            j_a, j_b = self._observer.jacobians()
            np.add.at(out, self.dofs.body_a, force * j_a)
            np.add.at(out, self.dofs.body_b, force * j_b)
        joint, start = self._wrench
        if len(joint):
            six = joint_f[start[:, None] + np.arange(6)] * self.alive[joint][:, None]
            parent, child = self._parent[joint], self._child[joint]
            apart = np.cross(position[child] - position[parent], six[:, :3])
            np.add.at(out, child, six)
            np.add.at(out, parent, -six - np.hstack([np.zeros_like(apart), apart]))
        out[self._world] = 0.0
        return out

    def go_on(self, position, orientation, way):
        """Take in how a step went from poses (B, 3), (B, 4): turns are counted near where its way (B, 6) led."""
        if self._twists.any():
            self.q = self.q + np.where(self._twists, self._observer.look(position, orientation, way)[1], 0.0)

    def turns(self, position, orientation):
        """Revolute angles at the end of a step, turns counted: (indices in joint_q, angles [rad])."""
        twist = np.flatnonzero(self._twists)
        if not len(twist):
            return twist, np.zeros(0)
        return self._coordinate[twist], self._look(position, orientation, 0.0)[0][twist]

    def rows(self, time, step, midpoint, force=None):
        """Rows of a step: (JointRows, number in the table, rate of each target, EndLaw); see JointTable.rows."""
        number, base, laid = self._standing
        force = self.force if force is None else force
        rows, rate, end = self._asker.ask(base, number, step, midpoint, force)
        if len(laid):
            rows.axis_a, rows.axis_b = base.axis_a.copy(), base.axis_b.copy()
            of = self._of[number[laid]]
            rows.axis_a[laid], rows.axis_b[laid] = self.dofs.axis_a[of], self.dofs.axis_b[of]
        return rows, number, rate, end

    def _start(self, speed, mobility):
        """Lay where a step starts into the table of laws; of degrees of freedom, (dofs,) each.

        A row of an angle that is laid anew is as long as its covector, and measures from where the step starts.
        """
        start, dots = self._asker.columns, self._dots
        goal, rate = self._goal
        columns = (
            self._scale, np.where(dots, 0.0, self.q), np.where(dots, self.q, 0.0), np.where(self._twists, self.q, 0.0),
            speed, mobility, self._rest, goal, rate,
        )  # fmt: skip
        wide = np.zeros((len(columns), len(dots) + 1))  # the last one: of rows that measure no degree of freedom
        wide[:, :-1], wide[0, -1] = columns, 1.0
        unit, place, center, angle, speed, mobility, rest, goal, rate = wide[:, self._of]
        start.place[:], start.angle[:], start.speed[:], start.mobility[:] = place, angle, speed, mobility
        spring, drive = self._role == SPRING, self._role == DRIVE
        start.target[:] = (np.where(spring, rest, np.where(drive, goal, self._value)) - center) / unit
        start.rate[:] = start.mean[:] = np.where(drive, rate / unit, 0.0)
        if self._angles:
            self._weigh(unit)

    def _weigh(self, unit):
        """Lay what rows weigh into the table of laws; unit: (rows,) of their coordinates."""
        columns, inert = self._asker.columns, self._armature > 0.0
        columns.stiffness[:], columns.damping[:] = self._gains * unit**2
        columns.most[:] = self._most * unit
        np.divide(1.0, self._armature * unit**2, out=columns.softness, where=inert)

    @cached_property
    def _standing(self):
        """Of enabled joints: numbers of their rows, these without what a step asks, and which are laid anew."""
        number = np.flatnonzero(self.alive[self.fixed.joint]) if len(self.fixed) else np.zeros(0, int)
        rows = self.fixed.take(number)
        for item in fields(rows):
            frozen(getattr(rows, item.name))
        laid = np.flatnonzero((self._of[number] >= 0) & (rows.coordinate == Coordinate.DOT))
        return frozen(number), rows, laid

    def passed(self, step):
        """(joints,) bool: those beyond a limit; see JointTable.passed."""
        return self._asker.passed(step) & self.alive

    def rigid_rows(self):
        """None: rows are laid anew in every step."""

    # Building

    def _add(self, j):
        kind, parent, child = self._kind[j], int(self._parent[j]), int(self._child[j])
        if kind == "FREE":
            return self._only_forces(j)
        base = self._place(j, parent, child)
        axes, sizes = np.eye(3), {"BALL": (0, 3), "FIXED": (0, 0), "DISTANCE": (0, 0)}
        linear, angular = sizes.get(kind, tuple(int(n) for n in self._size[j]))
        start, q = int(self._qd_start[j]), int(self._q_start[j])
        if kind == "DISTANCE":
            self._only_forces(j)
            self._distance(base, start)
            return None
        spans = self._axis[start : start + linear], self._axis[start + linear : start + linear + angular]
        for span in spans:
            if kind != "BALL" and np.abs(span @ span.T - np.eye(len(span))).max(initial=0.0) > 1e-4:
                raise ValueError(f"joint {self._label[j]}: its axes are not at right angles; SolverAxion needs that")
        for axis in complement(spans[0]):
            self._row(base, LOCK, -1, coordinate=Coordinate.LINEAR, axis_a=base["turn_a"] @ axis)
        for k, axis in enumerate(spans[0]):
            self._dof(base, Coordinate.LINEAR, axis, start + k, q + k, int(self._target_start[j]) + k)
        if kind == "BALL":
            for k in range(3):
                self._dof(base, Coordinate.DOT, axes[k], start + k, -1, -1)
            self._only_rates(j, start)
        elif angular == 1:
            self._dof(base, Coordinate.TWIST, spans[1][0], *self._index(j, linear))
        else:
            for k, axis in enumerate(spans[1]):
                self._dof(base, Coordinate.DOT, axis, *self._index(j, linear + k))
        if kind != "BALL":
            self._lock_turns(base, spans[1])
        return None

    def _laws(self):
        """(rows,) Law of each; what of them no step changes goes into ``fixed``."""
        rows, role = self.fixed, self._role
        value = np.array([r.get("value", 0.0) for r in self._rows])
        soft, friction, inert = (role == SPRING) | (role == DRIVE), role == FRICTION, role == ARMATURE
        self._most, self._armature = np.where(friction, value, self._effort), np.where(inert, value, 0.0)
        self._value = rows.target[:] = np.where(friction | inert, 0.0, value)
        rows.lower[role == LOWER], rows.upper[role == UPPER], rows.beta[friction | inert] = 0.0, 0.0, 0.0
        law = np.zeros(len(rows), int)
        for kind, acts in (
            (Law.TURNS, rows.coordinate == Coordinate.TWIST), (Law.PULLS, soft), (Law.WEIGHS, inert),
            (Law.BOUNDED, friction | (role == DRIVE)), (Law.LOWER, (role == LOWER) & (self._of >= 0)),
            (Law.UPPER, (role == UPPER) & (self._of >= 0)),
        ):  # fmt: skip
            law[acts] |= int(kind)
        return law

    def _index(self, j, k):
        return int(self._qd_start[j]) + k, int(self._q_start[j]) + k, int(self._target_start[j]) + k

    def _place(self, j, parent, child):
        """Anchors, axes and reference of joint j in the solver frames of its bodies."""
        frames = self._frames
        spots = []
        for body, frame in ((parent, self._frame[0][j]), (child, self._frame[1][j])):
            anchor = frames.local(np.array([body]), frame[None, :3].astype(float))[0]
            turn = rotations.multiply(rotations.conjugate(frames.principal[body]), rotations.normalised(frame[3:]))
            spots.append((anchor, turn))
        (anchor_a, turn_a), (anchor_b, turn_b) = spots
        return {
            "joint": j, "body_a": parent, "body_b": child, "anchor_a": anchor_a, "anchor_b": anchor_b,
            "reference": rotations.multiply(turn_a, rotations.conjugate(turn_b)),
            "turn_a": rotations.matrices(turn_a), "turn_b": rotations.matrices(turn_b),
        }  # fmt: skip

    def _row(self, base, role, of, **fields):
        self._rows.append({**base, **fields, "role": role, "of": of})

    def _dof(self, base, coordinate, axis, dof, q, target):
        """One degree of freedom and all that acts on it."""
        of, data = len(self._dofs), {name: self._data[name][dof] for name in DOF_FIELDS}
        place = {**base, "coordinate": coordinate, "axis_a": base["turn_a"] @ axis, "axis_b": base["turn_b"] @ axis}
        self._dofs.append({**place, "dof": dof, "q": q, "target": target, "axis": axis})
        lower, upper = data["joint_limit_lower"], data["joint_limit_upper"]
        if q >= 0 and lower == upper:
            self._row(place, LOCK, of, value=lower)
        elif q >= 0:
            if lower > -UNLIMITED:
                self._row(place, LOWER, of, value=lower)
            if upper < UNLIMITED:
                self._row(place, UPPER, of, value=upper)
        stiffness = data["joint_stiffness"] if q >= 0 else 0.0
        if stiffness > 0.0 or data["joint_damping"] > 0.0:
            self._row(place, SPRING, of, gains=(stiffness, data["joint_damping"]))
        mode = int(self._mode[dof])
        gains = (
            data["joint_target_ke"] if mode in (POSITION, POSITION_VELOCITY) and q >= 0 else 0.0,
            data["joint_target_kd"] if mode in (POSITION, VELOCITY, POSITION_VELOCITY) else 0.0,
        )
        if max(gains) > 0.0:
            self._row(place, DRIVE, of, gains=gains, effort=data["joint_effort_limit"])
        if data["joint_friction"] > 0.0:
            self._row(place, FRICTION, of, value=data["joint_friction"])
        if data["joint_armature"] > 0.0:
            self._row(place, ARMATURE, of, value=data["joint_armature"])

    def _lock_turns(self, base, free):
        """DOT rows that leave only turns about the axes ``free`` (joint frame)."""
        if len(free) == 3:
            return
        if len(free) == 2:
            pairs = [(free[0], free[1])]
        elif len(free) == 1:
            pairs = [(np.cross(axis, free[0]), free[0]) for axis in complement(free)]
        else:
            pairs = [tuple(np.roll(np.eye(3), k, axis=0)[:2]) for k in range(3)]
        for a, b in pairs:
            turned = {"axis_a": base["turn_a"] @ a, "axis_b": base["turn_b"] @ b}
            self._row(base, LOCK, -1, coordinate=Coordinate.DOT, **turned)

    def _distance(self, base, start):
        lower, upper = (self._data[name][start] for name in ("joint_limit_lower", "joint_limit_upper"))
        if lower == upper and upper >= 0.0:
            self._row(base, LOCK, -1, coordinate=Coordinate.DISTANCE, value=upper)
            return
        if lower > 0.0:
            self._row(base, LOWER, -1, coordinate=Coordinate.DISTANCE, value=lower)
        if 0.0 <= upper < UNLIMITED:
            self._row(base, UPPER, -1, coordinate=Coordinate.DISTANCE, value=upper)

    def _only_forces(self, j):
        """Raise where joint j, with six degrees of freedom, asks more of them than to carry joint_f."""
        dofs = slice(int(self._qd_start[j]), int(self._qd_start[j + 1]))
        for name in ACTS:
            if np.any(self._data[name][dofs] > 0.0):
                raise ValueError(f"joint {self._label[j]}: SolverAxion has no {name} for {self._kind[j]} joints")

    def _only_rates(self, j, start):
        for name in ("joint_stiffness", "joint_target_ke"):
            if np.any(self._data[name][start : start + 3] > 0.0):
                raise ValueError(f"joint {self._label[j]}: SolverAxion has no {name} for BALL joints")

    def _wrench_joints(self):
        joint = np.array([j for j, kind in enumerate(self._kind) if kind in ("FREE", "DISTANCE")], int)
        return joint, self._qd_start[joint]

    def _by_joint(self):
        joint = self.dofs.joint
        for j in np.unique(joint[self.dofs.coordinate != Coordinate.LINEAR]):
            yield int(j), np.nonzero((joint == j) & (self.dofs.coordinate != Coordinate.LINEAR))[0]

    def _pack(self, entries):
        rows = JointRows.of(len(entries))
        names = ("joint", "coordinate", "body_a", "body_b", "anchor_a", "anchor_b", "axis_a", "axis_b", "reference")
        for k, entry in enumerate(entries):
            for name in names:
                if name in entry:
                    getattr(rows, name)[k] = entry[name]
        if entries is self._rows:
            self._gains = np.array([e.get("gains", (0.0, 0.0)) for e in entries]).reshape(-1, 2).T
            self._effort = np.array([e.get("effort", np.inf) for e in entries])
            self.springs, self.limits = np.flatnonzero(self._gains[0] > 0.0), ()  # numbers of rows
            self.gives = self.springs
        return rows

    def springs_of(self, step):
        """Numbers of the rows that are springs, in steps of any length."""
        return self.springs

    def _lay(self, joint, rows, orientation):
        """Lay the DOT rows of a joint's angles along their covectors at these orientations, and read the angles."""
        dofs, first = self.dofs, self._dofs[rows[0]]
        a, b = first["body_a"], first["body_b"]
        axes = np.array([self._dofs[r]["axis"] for r in rows])
        of_a, of_b = (rotations.matrices(orientation[body]) for body in (a, b))
        parent, child = of_a @ first["turn_a"], of_b @ first["turn_b"]
        if self._kind[joint] == "BALL":
            angle, covector = np.zeros(3), axes
        else:
            angle, covector = angular_coordinates(axes, parent.T @ child)
        self.q[rows] = angle
        for r, local in zip(rows, covector, strict=True):
            self._scale[r] = np.linalg.norm(local)
            along = parent @ local / self._scale[r]
            across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
            across /= np.linalg.norm(across)
            dofs.axis_a[r], dofs.axis_b[r] = of_a.T @ across, of_b.T @ np.cross(across, along)


def _array(values, count):
    return np.zeros(count) if values is None else np.array(values.numpy())
