# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of bodies, and how each would move as one rigid body of the momentum it has."""

import numpy as np

from .reference.rotation import cross, world_inertia
from .vectors import length


class RigidGroups:
    """Groups of bodies in one pose, about their centres of mass."""

    def __init__(self, group, mass, inertia, position, orientation):
        """Group (K,) numbers from 0; mass (K,) [kg], principal inertia (K, 3) [kg m^2], and poses of K bodies."""
        self.group, self.count, self.mass = group, int(group.max(initial=-1)) + 1, mass
        self.own, self.whole = world_inertia(orientation, inertia), self.total(mass)
        self.arm = position - (self.total(mass[:, None] * position) / self.whole[:, None])[group]

    def total(self, values):
        """(G, ...) sums over the bodies of each group."""
        out = np.zeros((self.count, *values.shape[1:]))
        np.add.at(out, self.group, values)
        return out

    def any(self, flags):
        """(G,) bool: groups that have one of the bodies ``flags`` (K,) bool."""
        return np.bincount(self.group, flags, self.count) > 0.0

    def mean(self, velocity):
        """(K, 3) velocity of the centre of mass of each body's group, of velocities (K, 6)."""
        return (self.total(self.mass[:, None] * velocity[:, :3]) / self.whole[:, None])[self.group]

    def beyond(self, velocity):
        """(K, 6) velocities beyond that of the centre of mass."""
        return np.hstack([velocity[:, :3] - self.mean(velocity), velocity[:, 3:]])

    def momentum(self, velocity):
        """(G, 3) angular momenta."""
        spin = np.einsum("kij,kj->ki", self.own, velocity[:, 3:])
        return self.total(spin + self.mass[:, None] * cross(self.arm, self.beyond(velocity)[:, :3]))

    def energy(self, velocity):
        """(G,) kinetic energies beyond that of the centre of mass."""
        spin = np.einsum("ki,kij,kj->k", velocity[:, 3:], self.own, velocity[:, 3:])
        return self.total(0.5 * (spin + self.mass * length(self.beyond(velocity)[:, :3]) ** 2))

    def turning(self, momentum):
        """(K, 6) velocities of each group as one rigid body with angular ``momentum`` (G, 3) about its centre of mass,
        beyond that of the centre.
        """
        square = np.einsum("ki,ki->k", self.arm, self.arm)[:, None, None] * np.eye(3)
        square = self.mass[:, None, None] * (square - self.arm[:, :, None] * self.arm[:, None, :])
        inverse = np.linalg.pinv(self.total(self.own + square), hermitian=True)  # balls in a row do not resist
        spin = np.einsum("gij,gj->gi", inverse, momentum)[self.group]
        return np.hstack([cross(spin, self.arm), spin])
