# SPDX-License-Identifier: GPL-3.0-or-later
"""Free motion of rigid bodies over a step in float64 NumPy: gravity, damping, and the torque-free rotation.

The kinetic energy of a free rigid body, m its angular momentum in body axes, is split at the middle moment I2 of three,

    1/2 m.I^-1 m = |m|^2 / 2 I2  +  (1/I1 - 1/I2) m1^2 / 2  +  (1/I3 - 1/I2) m3^2 / 2

into three turns that are known exactly: one about the angular momentum, which commutes with the others, and one about
each of the two other principal axes (after Dullweber, Leimkuhler and McLachlan 1997).  Those two are composed to sixth
order (Blanes and Moan 2002, table 2, S10).  Angular momentum is kept to rounding; bodies of two equal moments turn
exactly.
"""

import numpy as np

from .rotation import conjugate, exponential, multiply, rotate, world_inertia

LARGEST_TURN = 0.5  # [rad] of the two turns in a sub-step: its pose is off by less than 1e-7 of the way turned
MOST_ROUNDS = 512  # sub-steps; beyond, angular momentum is kept, and the angle lost track of
_FIRST = (0.0502627644003922, 0.413514300428344, 0.0450798897943977, -0.188054853819569, 0.541960678450780)
_OTHER = (0.148816447901042, -0.132385865767784, 0.067307604692185, 0.432666402578175)
_FIRST_HALF, _OTHER_HALF = (*_FIRST, 1.0 - 2.0 * sum(_FIRST)), (*_OTHER, 0.5 - sum(_OTHER))
FIRST_SHARES = _FIRST_HALF + _FIRST_HALF[-2::-1]  # (11,) of the sub-step, about the axis of the smallest moment
OTHER_SHARES = _OTHER_HALF + _OTHER_HALF[::-1]  # (10,) between those, about that of the largest


def free_rotation(orientation, angular_velocity, inertia, step):
    """Torque-free rotation.  orientation (n, 4), angular_velocity (n, 3) world, inertia (n, 3) -> both at the end."""
    inertia = np.asarray(inertia, float)
    order = np.argsort(inertia, axis=1, kind="stable")
    ordered = np.take_along_axis(inertia, order, 1)
    # An odd order of the axes is left-handed: m, which counts turns, changes its sign in it.
    hand = np.where((order[:, 1] - order[:, 0]) % 3 == 1, 1.0, -1.0)[:, None]
    local = rotate(conjugate(orientation), angular_velocity) * inertia
    momentum = rotate(orientation, local)
    m = np.ascontiguousarray((hand * np.take_along_axis(local, order, 1)).T)
    turn = np.zeros((4, len(inertia)))
    turn[3] = 1.0
    excess = 1.0 / ordered - 1.0 / ordered[:, 1:2]
    rounds = _rounds(m, ordered, excess, step)
    for k in range(int(rounds.max(initial=0))):
        going = rounds > k
        part = step / rounds[going]
        moving, turned = m[:, going], turn[:, going]
        for number, share in enumerate(FIRST_SHARES):
            _turn_about(0, share * part * excess[going, 0], moving, turned)
            if number < len(OTHER_SHARES):
                _turn_about(2, OTHER_SHARES[number] * part * excess[going, 2], moving, turned)
        m[:, going], turn[:, going] = moving, turned
    own, rest = np.zeros((len(inertia), 4)), np.empty((len(inertia), 3))
    np.put_along_axis(own, order, hand * turn[:3].T, 1)
    own[:, 3] = turn[3]
    np.put_along_axis(rest, order, hand * m.T, 1)
    about = exponential(step * momentum / ordered[:, 1:2])
    q = multiply(multiply(about, orientation), own)
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return q, rotate(q, rest / inertia)


def led_orientation(bodies, step, velocity):
    """(B, 4) orientations that ``velocity`` (B, 6) leads Bodies to: exp(h (w - w_free)) q_free.

    Those with a ``spin`` turn freely from the step's start with it and the impulse of I (w - w_free).
    """
    change = (np.asarray(velocity, float) - bodies.free_velocity)[:, 3:]
    out = multiply(exponential(step * change), bodies.free_orientation)
    if bodies.spin is not None:
        fast = np.flatnonzero(bodies.spin.any(axis=1))
        start, inertia = bodies.orientation[fast], bodies.inertia[fast]
        push = np.einsum("nij,nj->ni", world_inertia(bodies.free_orientation[fast], inertia), change[fast])
        spin = rotate(start, rotate(conjugate(start), bodies.spin[fast] + push) / inertia)
        out[fast] = free_rotation(start, spin, inertia, step)[0]
    return out


def _rounds(m, inertia, excess, step):
    """(n,) sub-steps.  Energy and |m| bound m1 and m3 all along, so a thin rod turning end over end needs no more."""
    square, energy = (m * m).sum(axis=0), (m * m / inertia.T).sum(axis=0)
    spread = np.maximum(excess[:, 0] - excess[:, 2], 1e-300)
    first = np.clip((energy - square / inertia[:, 2]) / spread, 0.0, square)
    last = np.clip((square / inertia[:, 0] - energy) / spread, 0.0, square)
    rate = np.sqrt(excess[:, 0] ** 2 * first + excess[:, 2] ** 2 * last - excess[:, 0] * excess[:, 2] * square)
    return np.clip(np.ceil(step * rate / LARGEST_TURN), 1, MOST_ROUNDS).astype(int)


def _turn_about(axis, factor, m, turn):
    """Turn m (3, n) and turn (4, n), in place, by factor m[axis] about a body axis.  factor (n,) [s/(kg m^2)]."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    half = 0.5 * factor * m[axis]
    sine, cosine = np.sin(half), np.cos(half)
    turn[axis], turn[3] = turn[axis] * cosine + turn[3] * sine, turn[3] * cosine - turn[axis] * sine
    turn[j], turn[k] = turn[j] * cosine + turn[k] * sine, turn[k] * cosine - turn[j] * sine
    sine, cosine = 2.0 * sine * cosine, 1.0 - 2.0 * sine * sine
    m[j], m[k] = m[j] * cosine + m[k] * sine, m[k] * cosine - m[j] * sine


def free_velocity(velocity, gravity, linear_damping, angular_damping, step):
    """Velocity (n, 6) after ``step`` of gravity and damping, the angular part without rotation.

    velocity (n, 6); gravity (3,), or (n, 3): the acceleration of each [m/s^2]; dampings (n,) [1/s].  Damping
    is exponential in time, so it does not depend on the step: v(t) -> g / d as t grows.
    """
    out = velocity.copy()
    decay = np.exp(-linear_damping * step)[:, None]
    out[:, :3] = velocity[:, :3] * decay + gravity * reach(linear_damping, step)[:, None]
    out[:, 3:] = velocity[:, 3:] * np.exp(-angular_damping * step)[:, None]
    return out


def reach(damping, step):
    """(n,) time [s] for which a steady force would act without damping to the same effect: (1 - exp(-d h)) / d."""
    damping = np.asarray(damping, float)
    safe = np.where(damping > 0.0, damping, 1.0)
    return np.where(damping > 0.0, -np.expm1(-safe * step) / safe, step)
