# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene: bodies, joints and gravity as plain data.  SI units, radians, world frame Z up, quaternions xyzw.

Arrays are float64 copies of what was given.  Construction never fails on bad values: ``validate(scene)`` finds every
problem at once, ``Scene.check()`` raises, and ``simulate`` checks before it starts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import ClassVar

import numpy as np

from . import coerce, mass, rotations
from .errors import SceneError
from .force_fields import ForceField
from .joint_types import AXES, JOINT_TYPES
from .shapes import Shape

MOTIONS = ("dynamic", "static", "kinematic")
ALL_GROUPS = 0xFFFFFFFF


@dataclass(frozen=True, eq=False)
class MotionPath(coerce.CoercedOnce):
    """Prescribed motion of a body's frame.  S samples; between them position is linear and rotation spherical-linear.

    Attributes:
        times: (S,) strictly increasing [s]; 0 is the start of the simulation.
        position: (S, 3) of the body's frame in the world [m].
        orientation: (S, 4) quaternions xyzw; neighbours are joined by the shorter way round.

    Before the first and after the last sample the body stands still there.
    """

    times: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    _coerce: ClassVar = {"times": coerce.array, "position": coerce.array, "orientation": coerce.quaternion}

    def pose(self, time):
        """(position (3,) [m], orientation (4,)) of the body's frame at ``time`` [s]."""
        i, fraction = self._interval(time)
        j = min(i + 1, len(self.times) - 1)
        position = (1.0 - fraction) * self.position[i] + fraction * self.position[j]
        return position, rotations.slerp(self.orientation[i], self.orientation[j], fraction)

    def velocity(self, time):
        """(linear (3,) of the body frame's origin [m/s], angular (3,) [rad/s]) in world axes at ``time``.

        At a sample: of the interval that ends there (of the first interval at the first sample).  Zero outside.
        """
        if len(self.times) < 2 or time < self.times[0] or time > self.times[-1]:
            return np.zeros(3), np.zeros(3)
        i = int(np.clip(np.searchsorted(self.times, time, side="left") - 1, 0, len(self.times) - 2))
        linear, angular = self.rates
        return linear[i].copy(), angular[i].copy()

    @cached_property
    def rates(self):
        """(linear (S - 1, 3) of the body frame's origin [m/s], angular (S - 1, 3) [rad/s]) between samples."""
        apart, turn = np.diff(self.times)[:, None], self.orientation
        turned = rotations.multiply(turn[1:], rotations.conjugate(turn[:-1]))
        return np.diff(self.position, axis=0) / apart, rotations.logarithm(turned) / apart

    def turns(self):
        """(S - 1,) angle of the rotation from each sample to the next, the shorter way round [rad]."""
        cosine = np.abs(np.einsum("si,si->s", self.orientation[1:], self.orientation[:-1]))
        return 2.0 * np.arccos(np.minimum(cosine, 1.0))

    def _interval(self, time):
        if time <= self.times[0] or len(self.times) == 1:
            return 0, 0.0
        if time >= self.times[-1]:
            return len(self.times) - 1, 0.0
        i = int(np.searchsorted(self.times, time, side="right")) - 1
        return i, float((time - self.times[i]) / (self.times[i + 1] - self.times[i]))


@dataclass(eq=False)
class Body(coerce.Coerced):
    """A rigid body.

    Attributes:
        name: unique in the scene.
        shapes: collision shapes in the body's frame; together they also give mass, centre and inertia.
        motion: "dynamic" moves freely, "static" never moves, "kinematic" follows ``path``, or without a path moves on
            at the velocity given.  A dynamic body with a path is held on it until the path's last time, or in the
            times ``held``, and released to physics with the velocity it has there (a hand-over from animation).
        position: (3,) of the body's frame in the world at the start [m].  A path replaces it.
        orientation: (4,) quaternion xyzw at the start.  A path replaces it.
        linear_velocity: (3,) of the centre of mass, world [m/s].
        angular_velocity: (3,) world [rad/s].
        mass: [kg]; None: volume times density.
        density: [kg/m^3], used where mass is None.
        center_of_mass: (3,) in the body's frame [m]; None: that of the shapes.
        inertia: (3, 3) about the centre of mass, body axes [kg m^2]; None: that of the shapes, scaled to the mass.
        friction: Coulomb coefficient.
        restitution: 0 to 1.
        linear_damping: rate at which velocity decays [1/s].
        angular_damping: [1/s].
        collision_group: bits; two bodies collide when each one's group is in the other's mask.
        collision_mask: bits.
        path: MotionPath or None.
        held: (K, 2) begin and end [s] of the times in which a dynamic body is held on its path; None: until the path's
            last time.  Where it is free at the start, position and velocities say how it starts.
        blend_time: [s] within which a body that is taken back glides to its path; 0: it is there at once.
        surface_velocity: (3,) of the surface's material relative to the body, along the body's axes [m/s]: a belt that
            runs over a body that stands still.  Friction sees it; what lies along a contact's normal does not count.
    """

    name: str
    shapes: Sequence[Shape]
    motion: str = "dynamic"
    position: np.ndarray = (0.0, 0.0, 0.0)
    orientation: np.ndarray = (0.0, 0.0, 0.0, 1.0)
    linear_velocity: np.ndarray = (0.0, 0.0, 0.0)
    angular_velocity: np.ndarray = (0.0, 0.0, 0.0)
    mass: float | None = None
    density: float = 1000.0
    center_of_mass: np.ndarray | None = None
    inertia: np.ndarray | None = None
    friction: float = 0.5
    restitution: float = 0.0
    linear_damping: float = 0.0
    angular_damping: float = 0.0
    collision_group: int = 1
    collision_mask: int = ALL_GROUPS
    path: MotionPath | None = None
    surface_velocity: np.ndarray = (0.0, 0.0, 0.0)
    held: np.ndarray | None = None
    blend_time: float = 0.0

    _coerce: ClassVar = {
        **dict.fromkeys(("position", "linear_velocity", "angular_velocity", "center_of_mass", "inertia"), coerce.array),
        **dict.fromkeys(("mass", "density", "friction", "restitution"), coerce.number),
        **dict.fromkeys(("linear_damping", "angular_damping"), coerce.number),
        "orientation": coerce.quaternion,
        **{"surface_velocity": coerce.array, "held": coerce.array, "blend_time": coerce.number},
        "shapes": coerce.sequence,
    }

    def mass_properties(self):
        """(mass [kg], center_of_mass (3,) body frame [m], inertia (3, 3) about it, body axes [kg m^2]).

        The shapes count in full, also where they overlap.  A given ``center_of_mass`` moves the centre only: the
        inertia about it stays that of the shapes about theirs.  Bodies that are not dynamic have infinite mass and
        inertia; their centre is the one given, else that of the shapes, else (no volume) the body's origin.

        Raises:
            SceneError: the shapes enclose no volume and mass, center_of_mass or inertia are missing.
        """
        if self.motion != "dynamic":
            solids = all(shape.encloses_volume() for shape in self.shapes) and len(self.shapes) > 0
            center = self._solid().center if solids and self.center_of_mass is None else self.center_of_mass
            return inf, np.zeros(3) if center is None else center.copy(), np.diag([inf] * 3)
        if not self.shapes and self.mass is not None and self.inertia is not None:
            center = np.zeros(3) if self.center_of_mass is None else self.center_of_mass
            return self.mass, center.copy(), self.inertia.copy()
        if self.mass is not None and self.inertia is not None and self.center_of_mass is not None:
            return self.mass, self.center_of_mass.copy(), self.inertia.copy()
        solid = self._solid()
        weight = solid.volume * self.density if self.mass is None else self.mass
        center = solid.center if self.center_of_mass is None else self.center_of_mass
        inertia = solid.inertia * (weight / solid.volume) if self.inertia is None else self.inertia
        return float(weight), center.copy(), inertia.copy()

    def _solid(self):
        if not self.shapes:
            raise SceneError(f"{self.name}: it has no shapes, so give mass and inertia, or add a shape")
        try:
            return mass.union([shape.solid() for shape in self.shapes])
        except SceneError as error:
            raise SceneError(f"{self.name}: {error}") from error

    def held_times(self):
        """[(begin, end)] [s] of the times in which the body does not move freely: for ever unless it is dynamic."""
        if self.motion != "dynamic":
            return [(-inf, inf)]
        if self.path is None:
            return []
        return [(-inf, float(self.path.times[-1]))] if self.held is None else [tuple(times) for times in self.held]

    def release_time(self):
        """When the body becomes free for the first time [s]: 0 where it starts so, inf where it never does."""
        return max([0.0, *(end for begin, end in self.held_times() if begin <= 0.0)])

    def start(self):
        """(position (3,), orientation (4,)) of the body's frame at time 0."""
        return self.prescribed(0.0)[:2]

    def prescribed(self, time):
        """Prescribed motion of the body's frame at ``time`` [s], while the body is not free.

        Returns:
            position (3,) of the frame [m], orientation (4,), linear_velocity (3,) of the centre of mass [m/s],
            angular_velocity (3,) [rad/s]; world.  For a dynamic body that is not held then: the state at the start.
        """
        if self.path is not None and (self.held is None or any(a <= time <= b for a, b in self.held)):
            position, orientation = self.path.pose(time)
            linear, angular = self.path.velocity(time)
            if angular.any():
                linear = linear + np.cross(angular, rotations.rotate(orientation, self.mass_properties()[1]))
            return position, orientation, linear, angular
        position, orientation, angular = self.position.copy(), self.orientation.copy(), self.angular_velocity.copy()
        if self.motion == "static":
            return position, orientation, np.zeros(3), np.zeros(3)
        if self.motion == "kinematic":
            center = self.mass_properties()[1]
            moved = position + rotations.rotate(orientation, center) + time * self.linear_velocity
            orientation = rotations.multiply(rotations.exponential(time * angular), orientation)
            position = moved - rotations.rotate(orientation, center)
        return position, orientation, self.linear_velocity.copy(), angular


@dataclass(frozen=True)
class Axis(coerce.CoercedOnce):
    """What happens along or about one axis of a joint.  [m, N] on x y z, [rad, N m] on rx ry rz.

    Attributes:
        locked: the coordinate stays zero.
        lower, upper: limits of the coordinate.
        stiffness: of the spring to ``rest``, or of a position drive (0: rigid) [N/m, N m/rad].
        damping: of the spring, or the gain of a velocity drive (0: rigid) [N s/m, N m s/rad].
        rest: coordinate at which the spring is relaxed.
        friction: largest dry friction force [N, N m].
        drive: None, "position" or "velocity".
        target: of the drive: a number, or (times [s], values), linear in between and constant outside.
        max_force: limit of the drive [N, N m].
    """

    locked: bool = False
    lower: float = -inf
    upper: float = inf
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    friction: float = 0.0
    drive: str | None = None
    target: float | tuple = 0.0
    max_force: float = inf

    _coerce: ClassVar = {
        **dict.fromkeys(("lower", "upper", "stiffness", "damping", "rest", "friction", "max_force"), coerce.number),
        "target": coerce.number_or_series,
    }

    def target_at(self, time):
        """(value, rate of change) of the target at ``time`` [s]; at a corner, the rate of what begins there."""
        if not isinstance(self.target, tuple):
            return self.target, 0.0
        times, values = self.target
        value = float(np.interp(time, times, values))
        if len(times) < 2 or not times[0] <= time < times[-1]:
            return value, 0.0
        i = int(np.searchsorted(times, time, side="right")) - 1
        return value, float((values[i + 1] - values[i]) / (times[i + 1] - times[i]))

    def mean_target(self, start, end):
        """The mean of the target between two times [s], the second later."""
        if not isinstance(self.target, tuple):
            return self.target
        times, values = self.target
        inside = [time for time in times if start < time < end]
        times, values = np.array([start, *inside, end]), np.interp([start, *inside, end], times, values)
        return float(0.5 * (np.diff(times) * (values[1:] + values[:-1])).sum() / (end - start))


@dataclass(eq=False)
class Joint(coerce.Coerced):
    """A joint between two bodies, or a body and the world.

    Its coordinates x y z rx ry rz are zero at the start and measure B relative to A along axes fixed in A.

    Attributes:
        name: unique among the joints.
        kind: a key of JOINT_TYPES: fixed, ball, hinge (about local Z), slider (along local X), piston (slides along X
            and turns about it), distance, rope, generic.
        body_a, body_b: names of the bodies, None for the world.
        position: (3,) of the joint frame in the world at the start [m].
        orientation: (4,) of the joint frame in the world at the start, quaternion xyzw.
        axes: name of a coordinate -> Axis.  Coordinates that the kind leaves free may be locked, limited, sprung and
            driven; those that it locks stay locked.
        compliance: of the locked coordinates, and of the length of a distance or rope [m/N].
        angular_compliance: [rad/(N m)].
        break_force, break_torque: the joint breaks when the norm of its force [N] or torque [N m] over a step is more.
        collide_connected: whether the two bodies collide with each other while the joint holds.  Once all of those that
            forbid it have broken, they do.
        anchors: distance and rope only: points ((3,), (3,)) on A and on B in the world at the start [m].
        length: distance and rope only [m]; None: the distance of the anchors at the start.
    """

    name: str
    kind: str
    body_a: str | None
    body_b: str | None
    position: np.ndarray = (0.0, 0.0, 0.0)
    orientation: np.ndarray = (0.0, 0.0, 0.0, 1.0)
    axes: Mapping[str, Axis] = field(default_factory=dict)
    compliance: float = 0.0
    angular_compliance: float = 0.0
    break_force: float = inf
    break_torque: float = inf
    collide_connected: bool = False
    anchors: np.ndarray | None = None
    length: float | None = None

    _coerce: ClassVar = {
        **dict.fromkeys(("compliance", "angular_compliance", "break_force", "break_torque", "length"), coerce.number),
        **{"position": coerce.array, "orientation": coerce.quaternion, "anchors": coerce.array},
    }

    def axis(self, name):
        """The Axis in force on coordinate ``name``: the one given, locked where the kind locks it."""
        if name not in AXES:
            raise ValueError(f"{self.name}: axis {name!r} does not exist: choose one of {', '.join(AXES)}")
        given = self.axes.get(name, Axis())
        return replace(given, locked=True) if name in JOINT_TYPES[self.kind].locked else given

    def is_locked(self, name):
        """Whether coordinate ``name`` stays zero."""
        return self.axis(name).locked

    def rest_length(self):
        """Length of a distance joint or rope [m]."""
        return float(np.linalg.norm(self.anchors[1] - self.anchors[0])) if self.length is None else self.length


@dataclass(eq=False)
class Scene(coerce.Coerced):
    """Bodies and joints under gravity.

    Attributes:
        gravity: (3,) [m/s^2].
        friction_combine, restitution_combine: how the coefficients of two bodies combine: "multiply", "geometric_mean",
            "average", "min" or "max".
        bodies: Body list; its order is that of every result.
        joints: Joint list.
        fields: ForceField list.
    """

    gravity: np.ndarray = (0.0, 0.0, -9.81)
    friction_combine: str = "geometric_mean"
    restitution_combine: str = "max"
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    fields: list[ForceField] = field(default_factory=list)

    _coerce: ClassVar = {"gravity": coerce.array, **dict.fromkeys(("bodies", "joints", "fields"), coerce.sequence)}

    def add(self, thing):
        """Appends a Body, Joint or ForceField and returns that same object.  Raises TypeError for anything else."""
        if isinstance(thing, Body):
            self.bodies.append(thing)
        elif isinstance(thing, Joint):
            self.joints.append(thing)
        elif isinstance(thing, ForceField):
            self.fields.append(thing)
        else:
            raise TypeError(f"a scene holds Body, Joint and ForceField objects, not {type(thing).__name__}")
        return thing

    def index(self, name):
        """Number of the body called ``name``.  Raises KeyError."""
        for i, body in enumerate(self.bodies):
            if body.name == name:
                return i
        raise KeyError(f"no body is called {name!r}")

    def check(self):
        """Raises SceneError with the first problem ``validate`` finds, and all of them in its ``problems``."""
        from .validate import raise_if_invalid

        raise_if_invalid(self)

    def save(self, path):
        """Writes the scene to one .npz without pickle, at exactly ``path``."""
        from .scene_file import save

        save(self, path)

    @staticmethod
    def load(path):
        """Reads what ``save`` wrote.

        Raises:
            SceneError: the file is no scene, or damaged.
            OSError: the file cannot be opened.
        """
        from .scene_file import load

        return load(path)
