# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the scenes of truth_scenes.py, from poses alone as in judge.py: (Motion) -> one number."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from axion.solver import rotations
from comparison_scenes import GRAVITY
from judge import drift, energy, final_speed, penetration, potential, rebounds
from truth_scenes import BLOCK, THINNEST_ARCH, four_bars_pull

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from loop_scenes import BRICARD_CORNERS
from smooth_motion import complete_elliptic, swing

STANDING, FALLEN = 1e-3, 0.1
"""Sinking of a crown, of the radius, below which an arch stands and above which it has fallen."""


def _size(motion):
    return 2.0 * float(motion.scene.bodies[motion.moving[0]].shapes[0].half_extents[2])


def drift_in_sizes(motion):
    """Farthest that any box is from its start at any frame, in sizes of a box."""
    return drift(motion) / _size(motion)


def speed_in_sizes(motion):
    """Root mean square speed over the last second in sqrt(g size): statics knows no other speed."""
    return final_speed(motion) / np.sqrt(GRAVITY * _size(motion))


def penetration_in_sizes(motion):
    """Deepest penetration, in sizes of a box."""
    return penetration(motion) / _size(motion)


def crowns(motion):
    """(arches,) most that the crown of each arch sinks, of its radius."""
    drops = []
    for stones in THINNEST_ARCH:
        first = motion.scene.index(f"{stones} stones: Stone 0")
        height = motion.position[:, first + stones // 2, 2]
        drops.append((height[0] - height).max() / np.hypot(*motion.position[0, first, [0, 2]]))
    return np.array(drops)


def arches_standing(motion):
    """Number of arches whose crown sinks by less than STANDING."""
    return float((crowns(motion) < STANDING).sum())


def arches_fallen(motion):
    """Number of arches whose crown sinks by more than FALLEN."""
    return float((crowns(motion) > FALLEN).sum())


def worst_crown(motion):
    """Most that any crown sinks, of the radius."""
    return float(crowns(motion).max())


def highest_rebound(motion):
    """Highest first rebound of the balls of ``bounce``, relative to its drop."""
    return max(rebound / drop for drop, rebound, _ in rebounds(motion))


def swing_angle(motion):
    """(F+1,) angle of the bob from straight down, towards +X [rad]."""
    bob = motion.position[:, motion.moving[0]]
    return np.unwrap(np.arctan2(bob[:, 0], -bob[:, 2]))


def crossings(angle, fps):
    """Times at which an angle (F+1,) passes zero, by the line between two frames [s]."""
    i = np.flatnonzero((angle[:-1] > 0) != (angle[1:] > 0))
    return (i + angle[i] / (angle[i] - angle[i + 1])) / fps


def period_error(zero, exact):
    """Relative error of the mean period told by the times ``zero`` of crossings; infinite where there are too few."""
    return abs(2.0 * float(zero[-1] - zero[0]) / (len(zero) - 1) / exact - 1.0) if len(zero) > 1 else np.inf


def swing_period_error(motion):
    """Relative error of the mean period, against 4 sqrt(I / (m g L)) K(sin^2(A / 2)) from amplitude A."""
    angle, (mass,) = swing_angle(motion), motion.mass
    length = float(np.linalg.norm(motion.position[0, motion.moving[0]]))
    moment = mass * length**2 + motion.inertia[0, 1, 1]
    exact = 4.0 * np.sqrt(moment / (mass * GRAVITY * length)) * complete_elliptic(np.sin(0.5 * angle[0]) ** 2)
    return period_error(crossings(angle, motion.fps), exact)


def swing_lost(motion):
    """Part of the amplitude that is missing in the last three seconds; negative where it has grown.

    The top of a swing is that of the parabola through the three frames around the farthest one.
    """
    angle = np.abs(swing_angle(motion))
    first = len(angle) - int(3.0 * motion.fps)
    k = first + int(np.argmax(angle[first:-1]))
    before, top, after = angle[k - 1 : k + 2]
    bend = before - 2.0 * top + after
    top = top - (before - after) ** 2 / (8.0 * bend) if bend < 0.0 else top
    return 1.0 - float(top / angle[0])


def bricard_law(motion):
    """Largest miss of the law of Bricard's mechanism: with c_i the cosine between rods i and i + 1, those of odd i are
    one number, those of even i another, and odd + even + odd even = 0.
    """
    along = np.roll(BRICARD_CORNERS, -1, axis=0) - BRICARD_CORNERS
    turn = rotations.multiply(motion.orientation, rotations.conjugate(motion.orientation[:1]))
    rods = [rotations.rotate(turn[:, motion.scene.index(f"Rod {k + 1}")], along[k][None]) for k in range(5)]
    rods.append(np.broadcast_to(along[5], rods[0].shape))
    cosine = np.column_stack([np.einsum("ti,ti->t", rods[k - 1], rods[k]) for k in range(6)])
    odd, even = cosine[:, 0], cosine[:, 1]
    return float(max(np.abs(odd + even + odd * even).max(), np.abs(cosine - np.tile(cosine[:, :2], 3)).max()))


def energy_rise_of_fall(motion):
    """Most that the energy is above that of the start, relative to the most that gravity gave; not below 0."""
    given = -float(potential(motion).sum(axis=1).min())
    return max(0.0, float(energy(motion).max()) / given) if given > 0.0 else np.inf


def four_bars_error(motion):
    """Farthest that the first upright's end is from where its equation has it [m]."""
    uprights = sum(body.name.startswith("Upright") for body in motion.scene.bodies)
    times = np.arange(len(motion.position)) / motion.fps
    phi = swing(0.5 * np.pi, -1.0, four_bars_pull(uprights - 1), times)[:, 0]
    end = 2.0 * motion.position[:, motion.scene.index("Upright 0")]
    return float(np.hypot(end[:, 0] - np.cos(phi), end[:, 2] - np.sin(phi)).max())


def turn_about(axis, motion):
    """(F+1,) turn of the first moving body about a coordinate axis, 0 to 2, since the start [rad], counted through
    whole turns.
    """
    q = motion.orientation[:, motion.moving[0]]
    q = rotations.multiply(q, rotations.conjugate(q[:1]))
    return 2.0 * np.unwrap(np.arctan2(q[:, axis], q[:, 3]), period=np.pi)


def door_error(motion):
    """Largest angle between the door and one that swings on at 1 rad/s [rad]."""
    times = np.arange(len(motion.position)) / motion.fps
    return float(np.abs(turn_about(2, motion) - times).max())


def block_lean(motion):
    """(F+1,) lean of the rocking block towards -X [rad]."""
    up = rotations.rotate(motion.orientation[:, motion.moving[0]], np.array([0.0, 0.0, 1.0])[None])
    return -np.arctan2(up[:, 0], up[:, 2])


def _rate_between(first, last, pull, step):
    """Rate [rad/s] with which the toe at a lean ``first`` is left that has a block at ``last`` after ``step`` [s]."""
    turn = 0.5 * np.pi - np.arctan(BLOCK[0] / BLOCK[2])

    def miss(rate):
        return swing(turn + first, rate, pull, (0.0, step))[-1, 0] - turn - last

    rates = [(last - first) / step, (last - first) / step + 1e-3]
    misses = [miss(rate) for rate in rates]
    while abs(misses[1]) > 1e-14 and misses[1] != misses[0] and len(rates) < 50:
        rates = rates[1], rates[1] - misses[1] * (rates[1] - rates[0]) / (misses[1] - misses[0])
        misses = misses[1], miss(rates[1])
    return rates[1]


def rocking_ratio(motion):
    """Angular velocity after the first impact over that before, from the lean on both sides; inf where it falls over.

    On its toe a block keeps its energy, lean'^2 / 2 + p^2 (cos(alpha - lean) - cos(alpha)), p^2 = 3 g / (4 R).  After
    the impact each two frames that follow each other tell it by the one motion that has both, in the median until the
    block comes back: its peak lies between frames.
    """
    alpha, pull = np.arctan(BLOCK[0] / BLOCK[2]), 1.5 * GRAVITY / np.hypot(BLOCK[0], BLOCK[2])
    angle = block_lean(motion)
    k = int(np.argmax(angle < 0.0))
    if k == 0:
        return 0.0
    away = -angle[k:]
    away = away[: int(np.argmax(away < 0.0)) or len(away)]
    if away.max() >= alpha:
        return np.inf
    if len(away) < 2:
        return 0.0

    def height(lean):
        return pull * (np.cos(alpha - lean) - np.cos(alpha))

    rates = [_rate_between(first, last, pull, 1.0 / motion.fps) for first, last in pairwise(away)]
    after = np.median([0.5 * rate**2 + height(lean) for rate, lean in zip(rates, away, strict=False)])
    return float(np.sqrt(after / height(angle[0])))
