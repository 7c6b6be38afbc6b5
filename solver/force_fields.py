# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields: wind, vortices and the like, as plain data and as forces on bodies.

    kind         force on a body at x with velocity v; n: the field's Z axis, r: from the field to the body, f: falloff
    "wind"       S f n
    "force"      S f r / |r|; with inverse_square S f r / |r|^3
    "vortex"     S f n x r (shape "point"), else a spiral: (S f)^2 n x (n x r) + S f n x r, less v
    "magnet"     v x B,  B = S f (n x r) / |n x r|, of shape "plane" S f n
    "harmonic"   -S f (|r| - size) r / |r| - 2 D sqrt|S| v
    "turbulence" S f times gradient noise in cells of ``size``
    "drag"       -f (S |v| + D) v                                   S and D at most 2

and all but the last and the harmonic: less flow f v.  A force pulls at the centre of mass.  r leads from the field's
position, from its Z axis (shape "line") or from its XY plane ("plane").  These are Blender's fields: its ``rate`` is
the frames per second, by which forces are divided, and its ``length`` and ``force`` are the metres and newtons of
its units; for SI leave all three at 1.

Forces are taken at the place in mid-step.  What brakes, c v, becomes a damping of c / m per second, so that a strong
drag or flow is as stable as a weak one; c is that of drag's mean speed in the step.  A magnet turns the velocity and
keeps its length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from . import coerce, rotations
from .noise import default_permutation, turbulence
from .reference.free_motion import reach
from .runaways import check_field

KINDS = ("wind", "force", "vortex", "magnet", "harmonic", "turbulence", "drag")
SHAPES = ("point", "line", "plane")
FALLOFFS = ("sphere", "tube", "cone")
SIDES = ("both", "positive", "negative")
STRONGEST_DRAG = 2.0
PARTS = 8  # of a step, over which the speed that a drag goes by is averaged


@dataclass(eq=False)
class ForceField(coerce.Coerced):
    """One field of a scene.

    Attributes:
        name: unique among the fields.
        kind, shape: see above.
        strength, damping: S and D: numbers, or (times [s], values), linear in between and constant outside.
        flow: how much the field's medium brakes bodies.
        position, orientation: of the field in the world; a ``path`` (MotionPath) replaces them.
        body: name of a body that carries the field; position and orientation are in its frame then.
        falloff: f = (1 + d - min_distance)^-power from min_distance on, 1 before it, 0 beyond max_distance; d is the
            distance ("sphere") or that along Z ("tube", "cone").  Tube and cone have a second such factor of the
            distance from the Z axis, or of the angle to it in degrees.
        side: bodies on which side of the XY plane it acts on.
        size: of turbulence's cells, or the rest length of a harmonic field.
        global_coordinates: turbulence stays where it is when the field moves.
        inverse_square: of "force".
        weight: factor of the falloff.
        rate, length, force: units of the field, see above.
        permutation: (256,) of the turbulence's noise; None: a fixed one.
        excludes: names of bodies it does not act on.
    """

    name: str
    kind: str
    strength: float | tuple = 1.0
    damping: float | tuple = 0.0
    shape: str = "point"
    flow: float = 0.0
    position: np.ndarray = (0.0, 0.0, 0.0)
    orientation: np.ndarray = (0.0, 0.0, 0.0, 1.0)
    path: object = None
    body: str | None = None
    falloff: str = "sphere"
    power: float = 0.0
    min_distance: float = 0.0
    max_distance: float = inf
    radial_power: float = 0.0
    min_radius: float = 0.0
    max_radius: float = inf
    side: str = "both"
    size: float = 0.0
    global_coordinates: bool = False
    inverse_square: bool = False
    weight: float = 1.0
    rate: float = 1.0
    length: float = 1.0
    force: float = 1.0
    permutation: np.ndarray | None = None
    excludes: Sequence[str] = ()

    _coerce: ClassVar = {
        **dict.fromkeys(("strength", "damping"), coerce.number_or_series),
        **dict.fromkeys(("flow", "power", "min_distance", "max_distance", "size", "weight"), coerce.number),
        **dict.fromkeys(("radial_power", "min_radius", "max_radius", "rate", "length", "force"), coerce.number),
        **{"position": coerce.array, "orientation": coerce.quaternion, "permutation": coerce.indices},
        "excludes": coerce.sequence,
    }

    def act(self, time, position, velocity, mass, step, carrier=None, others=(0.0, 0.0)):
        """What the field does to n bodies in a step from ``time`` [s].

        position (n, 3) [m] of the centres of mass, velocity (n, 3) [m/s], mass (n,) [kg], step [s]; carrier: (position
        (3,), orientation (4,)) of the frame of the body that carries it; others: (acceleration, (n, 3) or one [m/s^2],
        and rate, (n,) or one [1/s]) by all else, which drag goes by.

        Returns:
            acceleration (n, 3) [m/s^2] without, and rate (n,) [1/s] of what brakes.
        """
        origin, axis = self._place(time + 0.5 * step, carrier)
        x = (position + 0.5 * step * velocity) / self.length
        apart = x - origin / self.length
        r, distance = self._apart(apart, axis)
        f = self._falloff(apart, axis, np.linalg.norm(r, axis=1))
        s, d = (_at(series, time + 0.5 * step) for series in (self.strength, self.damping))
        push, brake, field = np.zeros_like(x), np.zeros(len(x)), None
        sf = (s * f)[:, None]
        if self.kind == "wind":
            push = sf * axis / self.rate
        elif self.kind == "force":
            push = sf * _unit(r) / self.rate
            if self.inverse_square:
                push *= np.where(distance > 1e-6, 1.0 / np.maximum(distance, 1e-6) ** 2, 0.0)[:, None]
        elif self.kind == "vortex" and self.shape == "point":
            push = sf * distance[:, None] * _unit(np.cross(axis, r)) / self.rate
        elif self.kind == "vortex":
            around = sf * np.cross(axis, apart)
            push, brake = (sf * np.cross(axis, around) + around) / self.rate, np.ones(len(x))
        elif self.kind == "magnet":
            field = sf * (np.tile(axis, (len(x), 1)) if self.shape == "plane" else _unit(np.cross(axis, r)))
        elif self.kind == "harmonic":
            stretched = distance - self.size if self.size else distance
            push, brake = -sf * stretched[:, None] * _unit(r) / self.rate, np.full(len(x), 2.0 * d * np.sqrt(abs(s)))
        elif self.kind == "turbulence":
            push = sf * self._turbulence(x if self.global_coordinates else apart + axis) / self.rate
        else:
            by_speed, constant = f * min(s, STRONGEST_DRAG) * self.rate, f * min(d, STRONGEST_DRAG)
            to_rate = self.force / self.length / mass
            slope = by_speed * to_rate / self.length
            speed = _mean_speed(velocity, others[0], slope, others[1] + constant * to_rate, step) / self.length
            brake = by_speed * speed + constant
        if self.kind not in ("harmonic", "drag"):
            brake = brake + self.flow * f
        push, brake = np.where(f[:, None] > 0.0, push, 0.0), np.where(f > 0.0, brake, 0.0)
        acceleration = self.force * push / mass[:, None]
        rate = self.force / self.length * brake / mass
        driven = rate < 0.0  # what drives instead of braking is no damping
        acceleration[driven] -= rate[driven, None] * velocity[driven]
        rate[driven] = 0.0
        if field is not None:
            acceleration += _turning(velocity, 0.5 * step * self.force / self.length * field / mass[:, None], step)
        return acceleration, rate

    def _place(self, time, carrier):
        """(position (3,) [m], direction of the Z axis (3,)) in the world."""
        place, turn = (self.position, self.orientation) if self.path is None else self.path.pose(time)
        axis = rotations.rotate(turn, np.array([0.0, 0.0, 1.0]))
        if carrier is None:
            return place, axis
        return carrier[0] + rotations.rotate(carrier[1], place), rotations.rotate(carrier[1], axis)

    def _apart(self, apart, axis):
        """(r (n, 3), |r| (n,)): from what the shape makes of the field to each body."""
        along = (apart @ axis)[:, None] * axis
        if self.shape == "line" or (self.shape == "plane" and self.kind == "vortex"):
            apart = apart - along
        elif self.shape == "plane":
            apart = along
        return apart, np.linalg.norm(apart, axis=1)

    def _falloff(self, apart, axis, distance):
        along = apart @ axis
        if self.falloff == "sphere":
            factor = _fall(distance, self.power, self.min_distance, self.max_distance)
        else:
            factor = _fall(np.abs(along), self.power, self.min_distance, self.max_distance)
            if self.falloff == "tube":
                radius = np.linalg.norm(apart - along[:, None] * axis, axis=1)
            else:
                length = np.linalg.norm(apart, axis=1)
                radius = np.degrees(np.arccos(np.clip(along / np.maximum(length, 1e-30), -1.0, 1.0)))
            factor = factor * _fall(radius, self.radial_power, self.min_radius, self.max_radius)
        if self.side != "both":
            factor = np.where((along if self.side == "positive" else -along) < 0.0, 0.0, factor)
        return self.weight * factor

    def _turbulence(self, point):
        table = default_permutation() if self.permutation is None else self.permutation
        turned = (point, point[:, [1, 2, 0]], point[:, [2, 0, 1]])
        return np.stack([turbulence(each, self.size, table) for each in turned], axis=1)


class ForceTable:
    """All fields of one scene, and whom they act on."""

    def __init__(self, scene, frames):
        self.frames = frames
        self.fields = sorted(scene.fields, key=lambda field: field.kind == "drag")  # which goes by what the others do
        self._names = [body.name for body in scene.bodies]
        number = {body.name: i for i, body in enumerate(scene.bodies)}
        self._carrier = [None if field.body is None else number[field.body] for field in self.fields]
        self._acts = [
            np.array([body.name not in field.excludes for body in scene.bodies], bool) for field in self.fields
        ]

    def on(self, bodies, state, step, pulled=0.0, damped=0.0):
        """(acceleration (n, 3) [m/s^2], damping (n,) [1/s]) of ``bodies`` (n,) in a step of ``step`` seconds.

        pulled: (n, 3) or (3,), and damped: (B,) of the scene: the same by all but fields, which drag goes by.
        """
        acceleration, damping = np.zeros((len(bodies), 3)), np.zeros(len(bodies))
        mass, own = self.frames.mass[bodies], np.broadcast_to(damped, len(self.frames.mass))[bodies]
        for field, carrier, acts in zip(self.fields, self._carrier, self._acts, strict=True):
            pose = None
            if carrier is not None:
                found = self.frames.to_body(state.position, state.orientation)
                pose = found[0][carrier], found[1][carrier]
            takes = acts[bodies]
            some = bodies[takes]
            by_others = (pulled + acceleration)[takes], damping[takes] + own[takes]
            with np.errstate(over="ignore", invalid="ignore"):  # it is told below
                a, rate = field.act(
                    state.time, state.position[some], state.velocity[some, :3], mass[takes], step, pose, by_others
                )
            check_field([self._names[i] for i in some], field, state.time, a, rate)
            acceleration[takes] += a
            damping[takes] += rate
        return acceleration, damping


def _mean_speed(velocity, pushed, slope, damping, step):
    """(n,) mean speed [m/s] in a step in which v' = pushed - (slope |v| + damping) v; velocity (n, 3) at its start."""
    part, mean = step / PARTS, np.zeros(len(velocity))
    slope, damping = np.maximum(slope, 0.0), np.maximum(damping, 0.0)
    for _ in range(PARTS):  # implicit mid-step: exact where pushes and drag are in balance, and stable
        rate = slope * np.linalg.norm(velocity, axis=1) + damping
        half = (velocity + 0.5 * part * pushed) / (1.0 + 0.5 * part * rate)[:, None]
        speed = np.linalg.norm(half, axis=1)
        rate = slope * speed + damping
        velocity = velocity * np.exp(-part * rate)[:, None] + pushed * reach(rate, part)[:, None]
        mean += speed / PARTS
    return mean


def _at(series, time):
    return float(np.interp(time, *series)) if isinstance(series, tuple) else series


def _unit(vectors):
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(length > 0.0, vectors / np.where(length > 0.0, length, 1.0), 0.0)


def _fall(distance, power, least, most):
    """(n,) factor of a distance: whole up to ``least``, nothing beyond ``most``."""
    factor = (1.0 + np.maximum(distance - least, 0.0)) ** -power
    return np.where(distance > most, 0.0, factor)


def _turning(velocity, half, step):
    """(n, 3) mean acceleration of velocities that turn about ``half`` (n, 3) [rad in half a step] and keep length."""
    first = velocity + np.cross(velocity, half)
    share = 2.0 / (1.0 + np.sum(half**2, axis=1, keepdims=True))
    return np.cross(first, share * half) / step
