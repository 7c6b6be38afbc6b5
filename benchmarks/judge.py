# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of the comparison: every figure comes from the poses alone, so that it is the same for every engine.

A measure takes a Motion and returns one number: SI units, relative, or a count.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from axion.solver import Scene, rotations
from comparison_scenes import COUPLER, CRANK, CRANK_SPEED, FOLLOWER, GRAVITY, GROUND
from overlaps import Overlaps

STENCIL = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
"""Central difference of eighth order: weights of the values 1 to 4 frames after, minus those before."""
REACH = len(STENCIL)
RESTING = 0.05
"""Root mean square speed of bodies that have come to rest [m/s]; contacts of soft engines go on trembling."""
SETTLED = 0.5
"""Time after which a box on a slope has found its contact [s]."""


@dataclass(frozen=True, eq=False)
class Motion:
    """What an engine made of a scene: position (F+1, B, 3) [m], orientation (F+1, B, 4) xyzw; frame 0 is the start."""

    scene: Scene
    position: np.ndarray
    orientation: np.ndarray
    fps: float

    @cached_property
    def moving(self):
        """Indices of the dynamic bodies."""
        return [i for i, body in enumerate(self.scene.bodies) if body.motion == "dynamic"]

    @cached_property
    def mass(self):
        """(D,) of the dynamic bodies [kg]."""
        return np.array([self.scene.bodies[i].mass_properties()[0] for i in self.moving])

    @cached_property
    def inertia(self):
        """(D, 3, 3) of the dynamic bodies in their axes [kg m^2]."""
        return np.array([self.scene.bodies[i].mass_properties()[2] for i in self.moving])

    @cached_property
    def overlap(self):
        """(F,) deepest penetration of any two bodies at every frame after the start [m]."""
        frames, overlaps = zip(self.position[1:], self.orientation[1:], strict=True), Overlaps(self.scene)
        return np.array([overlaps.deepest(*poses) for poses in frames])

    @property
    def duration(self):
        """[s]."""
        return (len(self.position) - 1) / self.fps


def penetration(motion):
    """Deepest penetration of any two bodies at any frame [m]."""
    return float(motion.overlap.max())


def share_within_tenth_millimetre(motion):
    """Share of the frames in which nothing penetrates by 1e-4 m or more."""
    return float((motion.overlap < 1e-4).mean())


def share_within_half_millimetre(motion):
    """Share of the frames in which nothing penetrates by 5e-4 m or more: the tolerance of a preview."""
    return float((motion.overlap < 5e-4).mean())


def rest_frame(motion):
    """First frame from which the root mean square speed of the bodies stays below RESTING; None if it never does."""
    steps = np.diff(motion.position[:, motion.moving], axis=0)
    fast = np.flatnonzero(np.sqrt((steps**2).sum(axis=2).mean(axis=1)) * motion.fps >= RESTING)
    first = int(fast[-1]) + 1 if len(fast) else 0
    return first if first < len(steps) else None


def joint_error(motion):
    """Largest distance of a joint's two anchors at any frame [m]."""
    turn, worst = rotations.matrices(motion.orientation), 0.0
    for joint in motion.scene.joints:
        ends = []
        for name in (joint.body_a, joint.body_b):
            if name is None:
                ends.append(joint.position)
                continue
            i = motion.scene.index(name)
            local = turn[0, i].T @ (joint.position - motion.position[0, i])
            ends.append(motion.position[:, i] + turn[:, i] @ local)
        worst = max(worst, float(np.linalg.norm(ends[0] - ends[1], axis=1).max()))
    return worst


def drift(motion):
    """Farthest that any body is from its start at any frame [m]."""
    return float(np.linalg.norm(motion.position - motion.position[0], axis=2).max())


def final_drift(motion):
    """Farthest that any body is from its start at the end [m]."""
    return float(np.linalg.norm(motion.position[-1] - motion.position[0], axis=1).max())


def final_speed(motion):
    """Root mean square speed of the bodies over the last second, from frame to frame [m/s]."""
    last = motion.position[-int(motion.fps) - 1 :, motion.moving]
    return float(np.sqrt((np.diff(last, axis=0) ** 2).sum(axis=2).mean()) * motion.fps)


# Slopes: body 1 is the box; gravity is tilted about Y.


def creep(motion):
    """Mean speed of the box from SETTLED to the end [m/s]."""
    path = motion.position[-1, 1] - motion.position[int(SETTLED * motion.fps), 1]
    return float(np.linalg.norm(path)) / (motion.duration - SETTLED)


def sliding_acceleration(scene):
    """Of a sliding box: gravity along the floor less friction [m/s^2]."""
    along, _, normal = scene.gravity
    return along + scene.bodies[1].friction * normal


def acceleration_error(motion):
    """Relative error of the sliding box's acceleration, from a parabola through its path.

    Every time stepping that accelerates it rightly passes, whatever its step: x_n = a h^2 n (n + c) / 2 has the right
    quadratic term for every c.
    """
    times = np.arange(len(motion.position)) / motion.fps
    late = times >= SETTLED
    fitted = 2.0 * np.polyfit(times[late], motion.position[late, 1, 0], 2)[0]
    return abs(float(fitted) / sliding_acceleration(motion.scene) - 1.0)


def distance_error(motion):
    """Relative error of the distance slid at the end, against a t^2 / 2: what the step costs is in it."""
    path = motion.position[-1, 1, 0] - motion.position[0, 1, 0]
    return abs(float(path) / (0.5 * sliding_acceleration(motion.scene) * motion.duration**2) - 1.0)


# Energy and momentum.


def derivative(series, fps):
    """Rate of change of (F+1, ...) at the frames REACH .. F - REACH, by differences of eighth order."""
    count = len(series) - 2 * REACH
    if count < 1:
        raise ValueError(f"{len(series)} poses are too few: a derivative needs {2 * REACH + 1}")
    return fps * sum(
        weight * (series[REACH + k : REACH + k + count] - series[REACH - k : REACH - k + count])
        for k, weight in enumerate(STENCIL, 1)
    )


def angular_velocity(orientation, fps):
    """(F+1, B, 4) -> (F+1-2 REACH, B, 3) in world axes [rad/s]."""
    same = np.where((orientation[1:] * orientation[:-1]).sum(axis=2) < 0.0, -1.0, 1.0)
    continuous = orientation.copy()
    continuous[1:] *= np.cumprod(same, axis=0)[:, :, None]
    inner = continuous[REACH:-REACH]
    return 2.0 * rotations.multiply(derivative(continuous, fps), rotations.conjugate(inner))[..., :3]


def spin_and_momentum(motion):
    """(angular velocity [rad/s], angular momentum about each centre [kg m^2/s]) of a smooth motion: (T, D, 3) each."""
    orientation = motion.orientation[:, motion.moving]
    spin = angular_velocity(orientation, motion.fps)
    turn = rotations.matrices(orientation[REACH:-REACH])
    return spin, np.einsum("tbij,bjk,tblk,tbl->tbi", turn, motion.inertia, turn, spin)


def potential(motion):
    """(F+1, D) potential energy of each dynamic body, zero at the start [J]."""
    position = motion.position[:, motion.moving]
    return -((position - position[0]) @ motion.scene.gravity) * motion.mass


def energy(motion):
    """Mechanical energy at the frames REACH .. F - REACH of a motion without impacts [J].

    Vibration faster than a few frames is not in it, so that it can be too small, not too large.
    """
    velocity = derivative(motion.position[:, motion.moving], motion.fps)
    spin, momentum = spin_and_momentum(motion)
    kinetic = 0.5 * ((motion.mass[:, None] * velocity**2).sum(axis=(1, 2)) + (spin * momentum).sum(axis=(1, 2)))
    return kinetic + potential(motion)[REACH:-REACH].sum(axis=1)


def hanging_energy(motion):
    """What a chain let go at the horizontal can turn into motion: the potential energy down to hanging straight [J]."""
    levers = np.linalg.norm(motion.position[0, motion.moving], axis=1)
    return float(motion.mass @ levers * np.linalg.norm(motion.scene.gravity))


def energy_rise(motion):
    """Most that the energy is above that of the start, relative to ``hanging_energy``; not below 0."""
    return max(0.0, float(energy(motion).max()) / hanging_energy(motion))


def energy_loss(motion):
    """Energy missing at the end, relative to ``hanging_energy``; not below 0."""
    return max(0.0, -float(energy(motion)[-1]) / hanging_energy(motion))


def lowest_point_error(motion):
    """Relative error of how far the last body of a taut chain falls below the pivot at its deepest: its distance."""
    last = motion.moving[-1]
    length = float(np.linalg.norm(motion.position[0, last]))
    return abs(-float(motion.position[:, last, 2].min()) / length - 1.0)


def spin_energy_error(motion):
    """Largest relative change of a free body's kinetic energy since the first frames."""
    series = energy(motion)
    return float(np.abs(series / series[0] - 1.0).max())


def spin_momentum_error(motion):
    """Largest change of a free body's angular momentum, in length or direction, relative to its length."""
    momentum = spin_and_momentum(motion)[1][:, 0]
    return float(np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0]))


def _kinetic(motion, velocity, spin):
    """(T,) kinetic energy [J].  velocity: (T, D, 3) [m/s]; spin: (T, D, 3) in the bodies' axes [rad/s]."""
    return 0.5 * (
        np.einsum("tbi,tbi,b->t", velocity, velocity, motion.mass)
        + np.einsum("tbi,bij,tbj->t", spin, motion.inertia, spin)
    )


def impact_energy_gain(motion):
    """Most that the energy of a motion with impacts is above that at the start, relative to what there was.

    That is the speed the scene starts with, and what it can fall.  Kinetic energy is that of the mean velocity over a
    frame, and potential energy that of the lower end of each body's path in it: both can only make the energy smaller
    than it was, so a gain that shows is real.  Not below 0.
    """
    velocity = motion.fps * np.diff(motion.position[:, motion.moving], axis=0)
    before, after = (motion.orientation[frames, motion.moving] for frames in (slice(None, -1), slice(1, None)))
    turn = rotations.logarithm(rotations.multiply(after, rotations.conjugate(before)))
    spin = motion.fps * rotations.rotate(rotations.conjugate(before), turn)
    levels = potential(motion)
    total = _kinetic(motion, velocity, spin) + np.minimum(levels[1:], levels[:-1]).sum(axis=1)
    starts = (motion.scene.bodies[i] for i in motion.moving)
    at_first, turning = np.moveaxis([(body.linear_velocity, body.angular_velocity) for body in starts], 1, 0)
    turning = rotations.rotate(rotations.conjugate(motion.orientation[0, motion.moving]), turning)
    began = _kinetic(motion, at_first[None], turning[None])[0]
    height = motion.position[0, motion.moving, 2]
    return max(0.0, float((total.max() - began) / (motion.mass @ height * GRAVITY + began)))


# What single rows ask for.


def lost_bodies(motion):
    """Bodies that are below the floor or beyond 100 m at the end."""
    last = motion.position[-1, motion.moving]
    return float(((last[:, 2] <= 0.0) | (np.abs(last) >= 100.0).any(axis=1)).sum())


def crown_drop(motion):
    """How far the middle stone of an arch sinks at most, relative to the radius of its middle line."""
    middle = motion.moving[len(motion.moving) // 2]
    height = motion.position[:, middle, 2]
    radius = float(np.linalg.norm(motion.position[0, motion.moving[0]][[0, 2]]))
    return float((height[0] - height).max()) / radius


def bar_angles(motion):
    """(crank (F+1,), follower (F+1,)) of the four-bar linkage in its plane, from +X towards +Z [rad], unwrapped."""
    along = rotations.matrices(motion.orientation)[..., 0]
    bars = [along[:, motion.scene.index(name)] for name in ("Crank", "Follower")]
    return tuple(np.unwrap(np.arctan2(bar[:, 2], bar[:, 0])) for bar in bars)


def follower_error(motion):
    """Largest angle between the follower and where Freudenstein's equation has it for the crank's angle [rad]."""
    crank, follower = bar_angles(motion)
    x, z = CRANK * np.cos(crank) - GROUND, CRANK * np.sin(crank)  # the crank's end, seen from the follower's pivot
    away = np.hypot(x, z)
    opening = np.arccos((FOLLOWER**2 + away**2 - COUPLER**2) / (2.0 * FOLLOWER * away))
    return float(np.abs(np.angle(np.exp(1j * (follower - np.arctan2(z, x) + opening)))).max())


def crank_error(motion):
    """Relative error of how far the crank turned, against a motor that never gives way."""
    crank, _ = bar_angles(motion)
    return abs(abs(float(crank[-1] - crank[0])) / (CRANK_SPEED * motion.duration) - 1.0)


def rebounds(motion):
    """[(drop [m], rebound [m], restitution)] of each ball's first bounce on the floor."""
    found = []
    for i in motion.moving:
        body = motion.scene.bodies[i]
        height = motion.position[:, i, 2] - body.shapes[0].radius
        fall = np.sqrt(2.0 * height[0] / GRAVITY)
        found.append((height[0], _peak(height, fall, body.restitution, motion.fps), body.restitution))
    return found


def _peak(height, fall, restitution, fps):
    """Top of the first bounce after a fall of ``fall`` [s]: a parabola through the three frames around the highest."""
    first = int(np.ceil((1.0 + 0.25 * restitution) * fall * fps))
    last = int((1.0 + 1.75 * restitution) * fall * fps) + 1
    peak = first + int(np.argmax(height[first : last + 1]))
    before, top, after = height[peak - 1 : peak + 2]
    bend = before - 2.0 * top + after
    return float(top - (before - after) ** 2 / (8.0 * bend)) if bend < 0.0 else float(top)


def rebound_error(motion):
    """Largest relative error of a ball's first rebound, against e^2 times its drop."""
    return max(abs(rebound / (restitution**2 * drop) - 1.0) for drop, rebound, restitution in rebounds(motion))


def lean(orientation):
    """Angle of each body's Z axis to the vertical [rad]: (..., 4) -> (...)."""
    return np.arccos(np.clip(rotations.matrices(orientation)[..., 2, 2], -1.0, 1.0))


def fallen(motion):
    """Plates that lean by more than 30 degrees at the end."""
    return float((lean(motion.orientation[-1, motion.moving]) > np.radians(30.0)).sum())


def wave_speed(motion):
    """Speed of the falling of dominoes, from when plates 10 to 40 lean by 10 degrees [m/s]; 0 where they do not."""
    plates = np.array(motion.moving[10:41])
    limit, leaning = np.radians(10.0), lean(motion.orientation[:, plates])
    passed = leaning > limit
    if not passed.any(axis=0).all():
        return 0.0
    frame, column = np.argmax(passed, axis=0), np.arange(len(plates))
    before, after = leaning[frame - 1, column], leaning[frame, column]
    times = (frame - 1 + (limit - before) / (after - before)) / motion.fps
    return float(np.polyfit(times, motion.position[0, plates, 0], 1)[0])
