# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and dampers of joint rows: ``reference/springs.py``, where the laws are told, row by row."""

from dataclasses import dataclass

import numpy as np
import warp as wp

from ..reference.springs import SMALL

module = "axion_row_laws"
SERIES = wp.constant(wp.float64(SMALL))
QUARTER = wp.constant(wp.float64(0.5 * np.pi))
ZERO, HALF, ONE, TWO = (wp.constant(wp.float64(value)) for value in (0.0, 0.5, 1.0, 2.0))


@wp.struct
class SpringWeights:
    """How much of a force at the end of a step counts; see ``Weights`` of the reference."""

    way_spring: wp.float64
    way_damper: wp.float64
    end_spring: wp.float64
    end_damper: wp.float64


@wp.func(module=module)
def lost(x: wp.float64):
    """1 - exp(-x) of x >= 0 to the last digits."""
    t = wp.tanh(HALF * x)
    return TWO * t / (ONE + t)


@wp.func(module=module)
def fitted_weight(x: wp.float64):
    """Weight of the end velocity in a damper's force; x: its decay."""
    if x < SERIES:
        return HALF + x / wp.float64(12.0) - x * x * x / wp.float64(720.0)
    return ONE / lost(x) - ONE / x


@wp.func(module=module)
def way_weight(x: wp.float64):
    """The s of the reference."""
    if x < SERIES:
        return TWO / wp.float64(3.0) + x / wp.float64(18.0) - x * x / wp.float64(270.0)
    return ONE / (ONE - lost(x) / x) - TWO / x


@wp.func(module=module)
def swinging_weight(x: wp.float64):
    """The e of the reference."""
    if x < SERIES:
        return HALF + x / wp.float64(6.0) - x * x * x / wp.float64(180.0)
    g = lost(x) / x
    return ONE - wp.exp(-x) * (ONE - g) / (x * g * g)


@wp.func(module=module)
def spring_weights(stiffness: wp.float64, damping: wp.float64, mobility: wp.float64, h: wp.float64, share: wp.float64):
    """The weights of a spring and damper."""
    out = SpringWeights()
    out.way_spring = ONE
    out.way_damper = ONE
    out.end_spring = ONE
    out.end_damper = ONE
    if share <= ONE:
        return out
    x = h * damping * mobility
    square = h * h * stiffness * mobility
    root = wp.sqrt(wp.max(x * x - wp.float64(4.0) * square, ZERO))  # of the two decays of overdamped rows; else 0
    fast = HALF * (x + root)
    slow = fast
    near = ONE  # where it swings; 0 far overdamped
    if fast > ZERO:
        if root > ZERO:
            slow = square / fast
        near = slow / fast
    out.end_spring = swinging_weight(x)
    out.way_spring = fitted_weight(slow) + (out.end_spring - fitted_weight(HALF * x)) * near
    out.way_damper = way_weight(x)
    out.end_damper = fitted_weight(x)
    return out


@wp.func(module=module)
def spring_law(stiffness: wp.float64, damping: wp.float64, h: wp.float64, share: wp.float64, weight: wp.float64):
    """(beta, compliance) of a spring and damper; weight: how much of the spring's force at the end counts."""
    given = h * (stiffness * weight) + damping
    return h * stiffness / given, share / (h * given)


@wp.func(module=module)
def turns_far(
    beta: wp.float64,
    wanted: wp.float64,
    compliance: wp.float64,
    off: wp.float64,
    speed: wp.float64,
    mobility: wp.float64,
    most: wp.float64,
    h: wp.float64,
):
    """Whether an angle turns by more than a quarter turn beyond what its velocity alone would; see the reference."""
    p = (speed + beta * off / h - wanted) / (compliance + mobility)
    return h * mobility * wp.min(wp.abs(p), most) > QUARTER


@dataclass
class EndLaw:
    """What the dampers of R joint rows still do to the velocity with which a step ends.

    All of a row's impulse over the step is -(constant + stiffness y + damping v+): y the row's coordinate at the end
    off its target, v+ its velocity there.  Rows without a damper, and those of steps that end in their velocity, have
    no ``damping``: theirs is the impulse of their way.
    """

    constant: np.ndarray  # (R,) [N s, N m s]
    stiffness: np.ndarray  # (R,) [N s/m, N m s]
    damping: np.ndarray  # (R,) [kg, kg m^2]
    decay: np.ndarray  # (R,) h d / m: how much of a speed the damper takes in the step

    def take(self, index):
        """The EndLaw of the rows at ``index`` (numbers or bool)."""
        return EndLaw(*(column[index] for column in vars(self).values()))

    def rest(self, used, off):
        """(target velocity (R,), compliance (R,)) of the rows that bring the impulses up to the law; 0 of the others.

        used: (R,) impulses over the step that the way has taken [N s, N m s]; off: (R,) coordinates at the end off
        their targets.
        """
        acts = self.damping > 0.0
        soft = np.divide(1.0, self.damping, out=np.zeros_like(self.damping), where=acts)
        return -soft * (self.constant + self.stiffness * off + used), soft
