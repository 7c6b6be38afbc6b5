# SPDX-License-Identifier: GPL-3.0-or-later
"""Lean, momenta and energy of Lagrange's top from its poses: the last two by the motion that each two frames share.

Differences of poses cannot tell them at 24 frames a second: a top at 60 rad/s nods by 0.7 rad from frame to frame, and
a stencil of eighth order is off by 1.4e-4 of its momentum on the exact motion.  So each pair of frames is given to
Lagrange's equations as a problem with two ends, of which the exact motion is the solution.
"""

import sys
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from axion.solver import rotations
from comparison_scenes import GRAVITY
from judge import lean
from truth_scenes import TOP_ARM, TOP_LEAN, TOP_SPIN, top

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from smooth_motion import runge_kutta

ROUNDS = 30
CLOSE = 1e-10
"""How well the second pose of a pair is met [rad]."""
ENOUGH = 0.9
"""Share of the pairs that must be of a motion of the top."""
NUDGE = 1e-6
"""Of a start, for differences [of the momentum, and rad/s]."""


def _angles(motion):
    """(F+1,) lean, precession and own turn of the top [rad]: Euler angles, the last of them within half a turn."""
    turn = rotations.matrices(motion.orientation[:, motion.moving[0]])
    lean = np.arctan2(np.hypot(turn[:, 0, 2], turn[:, 1, 2]), turn[:, 2, 2])
    return lean, np.unwrap(np.arctan2(turn[:, 0, 2], -turn[:, 1, 2])), np.arctan2(turn[:, 2, 0], turn[:, 2, 1])


class _Top:
    """Moments of the scene's top about its point: ``across`` and about its own axis [kg m^2], and m g l [N m]."""

    def __init__(self):
        mass, _, inertia = top().bodies[0].mass_properties()
        self.across, self.own = inertia[0, 0] + mass * TOP_ARM**2, inertia[2, 2]
        self.pull = mass * GRAVITY * TOP_ARM
        self.spin = self.own * TOP_SPIN
        self.start = np.array([self.spin * np.cos(TOP_LEAN), self.spin])

    def rate(self, y, vertical, own):
        """Rates of (lean, its rate, precession, own turn), each (P,), with the momenta of each pair, (P,)."""
        lean, nod = y[:2]
        cos, sin = np.cos(lean), np.sin(lean)
        turn = (vertical - own * cos) / (self.across * sin**2)
        pull = ((self.across * turn * cos - own) * turn * sin + self.pull * sin) / self.across
        return np.array([nod, pull, turn, own / self.own - turn * cos])

    def after(self, begin, start, seconds):
        """(lean, precession, own turn) ``seconds`` after ``begin`` (3, P), ``start``: (nod, vertical, own) (3, P)."""
        y = np.array([begin[0], start[0], begin[1], begin[2]])
        return runge_kutta(lambda y: self.rate(y, *start[1:]), y, (0.0, seconds))[-1, [0, 2, 3]]

    def energy(self, lean, start):
        """(P,) [J]."""
        nod, vertical, own = start
        turning = (vertical - own * np.cos(lean)) ** 2 / (2.0 * self.across * np.sin(lean) ** 2)
        return 0.5 * self.across * nod**2 + turning + own**2 / (2.0 * self.own) + self.pull * np.cos(lean)


THE_TOP = _Top()


@lru_cache(1)
def _told(motion):
    """(lean (F,), start (3, F), met (F,)) of each pair of frames: (nod [rad/s], vertical and own momentum [N m s])."""
    seconds = 1.0 / motion.fps
    begin, end = (np.array([angle[part] for angle in _angles(motion)]) for part in (slice(None, -1), slice(1, None)))
    nod, turn = (end[0] - begin[0]) / seconds, (end[1] - begin[1]) / seconds
    middle = 0.5 * (begin[0] + end[0])
    # Of the turns by whole circles that the own angle may have made, the one nearest to the spin at the start.
    made = TOP_SPIN - turn * np.cos(middle)
    made += (
        np.remainder((end[2] - begin[2]) / seconds - made + np.pi / seconds, 2.0 * np.pi / seconds) - np.pi / seconds
    )
    own = THE_TOP.own * (made + turn * np.cos(middle))
    start = np.array([nod, THE_TOP.across * np.sin(middle) ** 2 * turn + own * np.cos(middle), own])
    scale = np.array([1.0, THE_TOP.spin, THE_TOP.spin])[:, None]
    aim = np.array([end[0], end[1], begin[2] + made * seconds])
    for _ in range(ROUNDS):
        miss = THE_TOP.after(begin, start, seconds) - aim
        met = np.abs(miss).max(axis=0) < CLOSE
        if met.all():
            break
        slopes = np.empty((miss.shape[1], 3, 3))
        for k in range(3):
            nudged = start.copy()
            nudged[k] += NUDGE * scale[k]
            slopes[:, :, k] = (THE_TOP.after(begin, nudged, seconds) - aim - miss).T / NUDGE
        start = start - scale * np.linalg.solve(slopes, miss.T[:, :, None])[:, :, 0].T
    return begin[0], start, met


def _most(errors, met):
    return float(errors[..., met].max()) if met.mean() >= ENOUGH else np.inf


def momentum_error(motion):
    """Largest change of the momentum about the vertical or about the top's own axis since the start, of its length.

    Pairs of frames that no motion of the top was found for are left out; infinite where they are too many.
    """
    _, start, met = _told(motion)
    return _most(np.abs(start[1:] - THE_TOP.start[:, None]) / THE_TOP.spin, met)


def energy_error(motion):
    """Largest relative change of the energy since the start, of the pairs of frames that ``momentum_error`` takes."""
    lean, start, met = _told(motion)
    began = THE_TOP.energy(TOP_LEAN, (0.0, *THE_TOP.start))
    return _most(np.abs(THE_TOP.energy(lean, start) / began - 1.0), met)


@cache
def _exact_lean():
    """Largest lean of the top started with its spin alone [rad]."""
    motion = runge_kutta(
        lambda y: THE_TOP.rate(y, *THE_TOP.start), (TOP_LEAN, 0.0, 0.0, 0.0), np.linspace(0.0, 1.0, 97)
    )
    return float(motion[:, 0].max())


def lean_excess(motion):
    """How much farther than Lagrange's top the top leans at most, relative to that top's largest lean; may be < 0."""
    return float(lean(motion.orientation[:, motion.moving[0]]).max()) / _exact_lean() - 1.0
