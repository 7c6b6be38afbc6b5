# SPDX-License-Identifier: GPL-3.0-or-later
"""Free motion of rigid bodies over a step: gravity, damping, and the exact torque-free rotation.

Rotation splits the free rigid body into turns about its principal axes (Dullweber, Leimkuhler and McLachlan 1997):
angular momentum is kept to rounding, energy to second order of the sub-step, for any ratio of moments.
"""

import numpy as np

from . import rotations

LARGEST_TURN = 0.1  # [rad] per sub-step of the splitting
MOST_ROUNDS = 512  # sub-steps; faster spin than 51 rad a step keeps its angular momentum, and loses track of its angle
SPLITTING = ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5))  # axis, share of the sub-step


def free_rotation(orientation, angular_velocity, inertia, step):
    """Torque-free rotation.  orientation (n, 4), angular_velocity (n, 3) world, inertia (n, 3) -> both at the end."""
    moment = rotations.rotate(rotations.conjugate(orientation), angular_velocity) * inertia
    q = orientation.copy()
    speed = np.linalg.norm(angular_velocity, axis=1).max(initial=0.0)
    rounds = int(np.clip(np.ceil(speed * step / LARGEST_TURN), 1, MOST_ROUNDS))
    for _ in range(rounds):
        for axis, share in SPLITTING:
            j, k = (axis + 1) % 3, (axis + 2) % 3
            angle = share * step / rounds * moment[:, axis] / inertia[:, axis]
            cosine, sine = np.cos(angle), np.sin(angle)
            turned = moment[:, j] * cosine + moment[:, k] * sine
            moment[:, k] = moment[:, k] * cosine - moment[:, j] * sine
            moment[:, j] = turned
            turn = np.zeros((len(q), 4))
            turn[:, axis], turn[:, 3] = np.sin(0.5 * angle), np.cos(0.5 * angle)
            q = rotations.multiply(q, turn)
    q = rotations.normalised(q)
    return q, rotations.rotate(q, moment / inertia)


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


def angular_acceleration(orientation, torque, inertia):
    """I^-1 torque in world axes.  orientation (n, 4), torque (n, 3) world [N m], inertia (n, 3) -> (n, 3) [rad/s^2]."""
    return rotations.rotate(orientation, rotations.rotate(rotations.conjugate(orientation), torque) / inertia)


def carry_momentum(orientation, new_orientation, angular_velocity, inertia):
    """Angular velocity at ``new_orientation`` with the angular momentum it had at ``orientation``.  All (n, ...).

    I(q+) w+ = I(q) w: this stands in for an implicit gyroscopic term, and keeps fast tops upright.
    """
    axes = rotations.matrices(orientation)
    momentum = np.einsum("nij,nj,nkj,nk->ni", axes, inertia, axes, angular_velocity)
    local = rotations.rotate(rotations.conjugate(new_orientation), momentum)
    return rotations.rotate(new_orientation, local / inertia)
