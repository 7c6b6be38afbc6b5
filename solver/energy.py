# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies, momenta and Gauss's deviation of a motion, in float64 NumPy; ``metrics.py`` offers them as its own."""

import numpy as np

from .reference.rotation import conjugate, cross, dot, rotate, world_inertia
from .vectors import inner


def kinetic_energy(mass, inertia, orientation, velocity):
    """Sum of 1/2 m v.v + 1/2 w.I w [J] over bodies of finite mass.

    mass (B,) [kg], inertia (B, 3) principal [kg m^2], orientation (B, 4) xyzw, velocity (B, 6) (linear, angular) in
    world axes.
    """
    mass, inertia, orientation, velocity = _finite(mass, inertia, orientation, velocity)
    spin = rotate(conjugate(orientation), velocity[:, 3:])
    return 0.5 * float(mass @ dot(velocity[:, :3], velocity[:, :3]) + np.sum(inertia * spin * spin))


def kinetic_energies(bodies, orientation, velocity):
    """(n,) 1/2 m v.v + 1/2 w.I w [J] of each dynamic body of problem.Bodies.  orientation (n, 4), velocity (n, 6)."""
    n = bodies.dynamic_count
    spin = rotate(conjugate(orientation), velocity[:, 3:])
    square = bodies.mass[:n] * dot(velocity[:, :3], velocity[:, :3])
    return 0.5 * (square + inner(bodies.inertia[:n] * spin, spin))


def potential_energy(mass, position, gravity):
    """Sum of -m g.x [J] over bodies of finite mass.  position (B, 3) of the centres of mass, gravity (3,) [m/s^2]."""
    mass, position = _finite(mass, position)
    return -float(mass @ (position @ np.asarray(gravity, float)))


def linear_momentum(mass, velocity):
    """Sum of m v (3,) [N s] over bodies of finite mass.  velocity (B, 6)."""
    mass, velocity = _finite(mass, velocity)
    return mass @ velocity[:, :3]


def angular_momentum(mass, inertia, orientation, velocity, position, about=(0.0, 0.0, 0.0)):
    """Sum of (x - about) x m v + I w (3,) [N m s] over bodies of finite mass; arguments as in ``kinetic_energy``."""
    mass, inertia, orientation, velocity, position = _finite(mass, inertia, orientation, velocity, position)
    spin = np.einsum("bij,bj->bi", world_inertia(orientation, inertia), velocity[:, 3:])
    return np.sum(cross(position - np.asarray(about, float), mass[:, None] * velocity[:, :3]) + spin, axis=0)


def gauss_deviation(mass, inertia, orientation, velocity, free_velocity, step):
    """Gauss's deviation 1/2 (a - a_free).M (a - a_free) [N m/s^2], a - a_free = (velocity - free_velocity) / step."""
    velocity, free_velocity = np.asarray(velocity, float), np.asarray(free_velocity, float)
    return kinetic_energy(mass, inertia, orientation, (velocity - free_velocity) / step)


def _finite(mass, *arrays):
    """The entries of bodies whose mass is finite, as float64."""
    mass = np.asarray(mass, float)
    keep = np.isfinite(mass)
    if keep.all():
        return mass, *(np.asarray(array, float) for array in arrays)
    return mass[keep], *(np.asarray(array, float)[keep] for array in arrays)
