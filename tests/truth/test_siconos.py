# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction-contact problems published with Siconos, and one whose solution is known to all digits.

Solved by the reference, and by the kernels of the proximal method (dense_contacts.py) in both precisions.
"""

import numpy as np
import pytest
from axion.solver.reference.ncp import solve_ncp
from dense_contacts import DenseContacts
from figures import figure
from siconos_data import load


def project(x, mu):
    """Nearest point of the cone |x_t| <= mu x_n: written once more here, so that the judge is not the judged."""
    size = np.linalg.norm(x[1:])
    if size <= mu * x[0]:
        return x
    if mu * size <= -x[0]:
        return np.zeros(3)
    normal = (x[0] + mu * size) / (1 + mu * mu)
    return np.array([normal, *(mu * normal / size * x[1:])])


def siconos_error(W, q, mu, r):
    """|r - P_K(r - (u + mu |u_t| n))| / |q|, the error that Siconos prints."""
    difference = []
    for impulse, velocity, friction in zip(r.reshape(-1, 3), (W @ r + q).reshape(-1, 3), mu, strict=True):
        shifted = velocity + np.array([friction * np.linalg.norm(velocity[1:]), 0, 0])
        difference.append(impulse - project(impulse - shifted, friction))
    return np.linalg.norm(difference) / np.linalg.norm(q)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("FrictionContact3D_1c.dat", 1e-8),
        ("OneObject-i100000-499.hdf5.dat", 1e-8),
        ("BoxesStack1-i100000-32.hdf5.dat", 1e-8),
        ("Confeti-ex03-Fc3D-SBM.dat", 1e-8),
        ("Capsules-i101-404.dat", 1e-6),
        pytest.param("RockPile_tob1.dat", 1e-6, marks=pytest.mark.slow),
    ],
)
def test_published_problem_is_solved(name, bound):
    W, q, mu = load(name)
    error = siconos_error(W, q, mu, solve_ncp(W, q, mu))
    assert figure(f"Siconos {name}", "error, reference", error, bound) < bound


@pytest.mark.parametrize(("precision", "tolerance", "bound"), [("float64", 3e-7, 1e-6), ("float32", 1e-5, 1e-4)])
@pytest.mark.parametrize(
    "name",
    [
        "FrictionContact3D_1c.dat",
        "OneObject-i100000-499.hdf5.dat",
        "BoxesStack1-i100000-32.hdf5.dat",
        "Confeti-ex03-Fc3D-SBM.dat",
        pytest.param("Capsules-i101-404.dat", marks=pytest.mark.slow),
    ],
)
def test_published_problem_is_solved_by_the_kernels(name, precision, tolerance, bound):
    # The tolerance is that of the natural maps, in parts of the largest velocity without contact impulses.
    W, q, mu = load(name)
    error = siconos_error(W, q, mu, DenseContacts(precision).solve(W, q, mu, tolerance * np.abs(q).max()))
    figure(f"Siconos {name}", f"error, kernels in {precision}", error, bound)
    assert error < bound


@pytest.mark.slow
def test_rock_pile_is_solved_by_the_kernels_in_single_precision():
    # The bound published for single precision.  In the rounds they are given the kernels end at 4e-5.
    W, q, mu = load("RockPile_tob1.dat")
    error = siconos_error(W, q, mu, DenseContacts("float32").solve(W, q, mu, 5e-5 * np.abs(q).max()))
    figure("Siconos RockPile_tob1.dat", "error, kernels in float32", error, 1e-4)
    assert error < 1e-4


def test_single_contact_to_all_published_digits():
    W, q, mu = load("FrictionContact3D_1c.dat")
    r = solve_ncp(W, q, mu)
    known = {
        "impulse": (r, [0.06569568, -0.00367861, -0.00544307]),
        "velocity": (W @ r + q, [0, 1.87736064, 2.77784089]),
    }
    for what, (got, published) in known.items():
        off = np.abs(got - published).max()
        assert figure("Siconos FrictionContact3D_1c.dat", f"{what} off its eight published digits", off, 1e-8) < 1e-8
