# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and dampers over a step that finds its mean velocity, fitted to what they do inside it, in float64 NumPy.

    m y'' + d y' + k y = f                        y: coordinate of the row off its target, 1 / m = J M^-1 J^T

With x = h d / m and K = h^2 k / m the step is made of two laws, one for its way and one for the velocity it ends with,

    way   p = -h/2 [k ((1 - c) y- + c y+) + d ((1 - s) y'- + s (y+ - y-) / h)]    counts twice in momentum
    end   P = -h   [k ((1 - e) y- + e y+) + d ((1 - w) y'- + w y'+)]              P: all of the step's impulse

whose weights c, s, e and w (``weights``) say how much of the force at the end counts.  They are such that

    without a spring   the way is h g y'- and the end exp(-x) y'-, g = (1 - exp(-x)) / x: both exact
    with one           amplitudes fall by exp(-x / 2) a step, to the last digit: det d(y+, y'+) / d(y-, y'-) = exp(-x)
    far overdamped     y+ = exp(-k h / d) y-, exact
    without a damper   all are 1/2: the mean coordinate, which keeps energy, and P = 2 p
    held by f          y+ = y- = f / k, or y' = f / d without a spring

and of second order.  One law for both, P = 2 p, cannot do it: a stiff damper stops a body at once, so that its impulse
tells twice as much in the way as in a step whose force is even, and at 24 frames a second a body went v h / 2 through
it.  Other joints make m larger than the row knows; the step amplifies nothing then, whatever K, x and m.
"""

from dataclasses import dataclass

import numpy as np

SMALL = 1e-2  # decay below which series are taken: exact to 1e-9 there, where differences lose digits


def spring_law(stiffness, damping, h, share, weight):
    """(beta, compliance) of the row of a spring and damper, numbers or arrays; not both of the two may be zero.

    h: step [s]; share: how many times the row's impulse counts, 1 to 2; weight: how much of the spring's force at the
    end of the step counts, against that at its start: c+ - (1 - weight) h c' is where it acts.
    """
    damping = damping - h * stiffness * (1.0 - weight)
    return h * stiffness / (h * stiffness + damping), share / (h * h * stiffness + h * damping)


def fitted_weight(decay):
    """Weight w of the end velocity in a damper's force, d ((1 - w) v + w v+).

    decay: h d / m.  The mean velocity (w = 1 / 2) would make v ring where the damper is stiff; exponentially fitted,
    v+ = exp(-decay) v to the last digit (Liniger and Willoughby 1970).
    """
    small = decay < SMALL
    x = np.where(small, 1.0, decay)
    return np.where(small, 0.5 + decay / 12.0 - decay**3 / 720.0, -1.0 / np.expm1(-x) - 1.0 / x)


@dataclass
class Weights:
    """How much of a force at the end of a step counts, (R,) each, 0 to 1; see the head of this file."""

    way_spring: np.ndarray  # c
    way_damper: np.ndarray  # s
    end_spring: np.ndarray  # e
    end_damper: np.ndarray  # w


def weights(stiffness, damping, mobility, h, share):
    """The Weights of springs and dampers: all 1 in steps that end in their velocity, where ``share`` is 1.

    stiffness [N/m], damping [N s/m], mobility [1/kg]: (R,), or the same of angles; h: step [s]; share: (R,) how many
    times impulses count, 1 or 2.
    """
    x, square = h * damping * mobility, h * h * stiffness * mobility
    root = np.sqrt(np.maximum(x * x - 4.0 * square, 0.0))  # of the two decays that overdamped rows have; else 0
    fast = 0.5 * (x + root)
    slow = np.where(root > 0.0, np.divide(square, fast, out=np.zeros_like(fast), where=fast > 0.0), fast)
    near = np.divide(slow, fast, out=np.ones_like(fast), where=fast > 0.0)  # 1 where it swings, 0 far overdamped
    end_spring = _swinging_weight(x)
    found = (
        fitted_weight(slow) + (end_spring - fitted_weight(0.5 * x)) * near, _way_weight(x), end_spring,
        fitted_weight(x),
    )  # fmt: skip
    return Weights(*(np.where(share > 1.0, weight, 1.0) for weight in found))


def _way_weight(x):
    """The s of the file's head, 1 / (1 - g) - 2 / x, from 2/3 to 1: the way of a velocity that decays by exp(-x)."""
    small = x < SMALL
    y = np.where(small, 1.0, x)
    g = -np.expm1(-y) / y
    return np.where(small, 2.0 / 3.0 + x / 18.0 - x**2 / 270.0, 1.0 / (1.0 - g) - 2.0 / y)


def _swinging_weight(x):
    """The e of the file's head, 1 - exp(-x) (1 - g) / (x g^2), from 1/2 to 1: det of the step is exp(-x)."""
    small = x < SMALL
    y = np.where(small, 1.0, x)
    g = -np.expm1(-y) / y
    return np.where(small, 0.5 + x / 6.0 - x**3 / 180.0, 1.0 - np.exp(-y) * (1.0 - g) / (y * g * g))


def turns_far(row, off, start, most, h):
    """(K,) bool: rows of angles that turn by more than a quarter turn beyond what their velocity alone would.

    The pose a step ends in does not tell that: their coordinate has to be the way they made.  row: (beta, target
    velocity, compliance), off: coordinate off its target at the start [rad], start: (velocity, mobility) there, most:
    the largest impulse; (K,) each.  Alone, u = v + mobility p and p = -(u + beta off / h - wanted) / compliance.
    """
    (beta, wanted, compliance), (speed, mobility) = row, start
    p = -(speed + beta * off / h - wanted) / (compliance + mobility)
    return h * mobility * np.minimum(np.abs(p), most) > 0.5 * np.pi


def end_law(stiffness, damping, mobility, found, h, share, place, speed, wanted):
    """(constant, stiffness, damping, decay), (K,) each, of constraints/springs.EndLaw.  found: Weights of the rows;
    place: (K,) coordinates off their targets where the step starts, both where they are then; speed: (K,) how fast
    they change there; wanted: (K,) how fast dampers want them to; the rest as in ``weights``.
    """
    acts = (share > 1.0) & (damping > 0.0)
    early, late = 1.0 - found.end_damper, found.end_damper
    constant = stiffness * (1.0 - found.end_spring) * place + damping * (early * (speed - wanted) - late * wanted)
    columns = constant, stiffness * found.end_spring, damping * late, damping * mobility
    return tuple(h * np.where(acts, column, 0.0) for column in columns)
