# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups that turn about the line of their pull: the kernel against the same in NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver.energy import kinetic_energies
from axion.solver.kept_momentum import _turning
from axion.solver.pivot_turns import turns_about
from axion.solver.reference.rotation import matrix
from step_problems import bodies_of

NONE = np.zeros((9, 3), bool)


def hanging(seed, still=False):
    """(Bodies, (n, 6) end velocity, pose and velocity, (n,) islands, (islands, 3) points) of nine bodies in three."""
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=(9, 4))
    turn /= np.linalg.norm(turn, axis=1)[:, None]
    places = rng.uniform(0.5, 3.0, 9), rng.uniform(0.1, 1.0, (9, 3)), rng.normal(size=(9, 3)), turn
    bodies = bodies_of(*places, rng.normal(size=(9, 6)))
    free = bodies.velocity[:9] + (0.0 if still else np.array([0.0, 0.0, -9.81 / 24.0, 0.0, 0.0, 0.0]))
    end = (bodies.position, bodies.orientation), rng.normal(size=(9, 6))
    return bodies, free, end, np.arange(9) % 3, rng.normal(size=(3, 3))


@pytest.mark.parametrize("still", (False, True))
@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_turns_groups_as_numpy_does(seed, still):
    bodies, free, end, island, point = hanging(seed, still)
    wanted = np.array([True, False, True])
    motion, energy, spinning = turns_about(bodies, free, end, (island, point, wanted), NONE)
    assembly = SimpleNamespace(island=island, end_velocity=free)
    same, _ = _turning(end[1], assembly, (bodies, end[0]), point, None)
    same = np.where(wanted[island][:, None], same, 0.0)
    assert not spinning
    np.testing.assert_allclose(motion, same, rtol=1e-12, atol=1e-13)
    kinetic = np.bincount(island, kinetic_energies(bodies, end[0][1][:9], same), 3)
    np.testing.assert_allclose(energy, kinetic, rtol=1e-12, atol=1e-13)


def test_it_keeps_the_momentum_about_the_pull():
    bodies, free, end, island, point = hanging(7)
    motion, _, _ = turns_about(bodies, free, end, (island, point, np.ones(3, bool)), NONE)
    arm = end[0][0][:9] - point[island]

    def about(velocity):
        axes = matrix(end[0][1][:9])
        spin = np.einsum("nij,nj,nkj,nk->ni", axes, bodies.inertia[:9], axes, velocity[:, 3:])
        return np.bincount(island, (spin + bodies.mass[:9, None] * np.cross(arm, velocity[:, :3]))[:, 2], 3)

    np.testing.assert_allclose(about(motion), about(end[1]), rtol=1e-12)


def test_a_body_that_spins_about_a_loose_axis_is_told():
    bodies, free, end, island, point = hanging(3)
    loose = NONE.copy()
    loose[4, 1] = True
    islands = island, point, np.ones(3, bool)
    assert turns_about(bodies, free, end, islands, loose)[2]
    end[1][4, 3:] = 0.0
    assert not turns_about(bodies, free, end, islands, loose)[2]
