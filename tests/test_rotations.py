# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternions: the laws of the rotation group, and the NumPy reference that is written another way."""

import numpy as np
import pytest
from axion.solver import rotations
from axion.solver.reference import rotation as reference

RNG = np.random.default_rng(0)
P, Q, R = RNG.normal(size=(3, 200, 4)) / 1.0
P, Q, R = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (P, Q, R))
V, W = RNG.normal(size=(2, 200, 3))


def same(a, b, tolerance=1e-14):
    """Equal as rotations: q and -q are the same."""
    sign = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return np.abs(a - sign * b).max() < tolerance


def test_group_laws():
    m = rotations.multiply
    assert np.abs(m(m(P, Q), R) - m(P, m(Q, R))).max() < 1e-15
    assert np.abs(m(P, rotations.conjugate(P)) - rotations.IDENTITY).max() < 1e-15
    assert np.array_equal(m(P, rotations.IDENTITY), P)
    assert np.abs(np.linalg.norm(m(P, Q), axis=1) - 1.0).max() < 1e-15


def test_rotate_is_an_action_and_keeps_lengths_and_hands():
    turn = rotations.rotate
    assert np.abs(turn(rotations.multiply(P, Q), V) - turn(P, turn(Q, V))).max() < 1e-14
    assert np.abs(np.linalg.norm(turn(P, V), axis=1) - np.linalg.norm(V, axis=1)).max() < 1e-14
    assert np.abs(turn(P, np.cross(V, W)) - np.cross(turn(P, V), turn(P, W))).max() < 1e-14
    assert np.abs(turn(P, V) - np.einsum("nij,nj->ni", rotations.matrices(P), V)).max() < 1e-14


def test_exponential_is_the_turn_about_its_own_axis():
    # exp((s + t) v) = exp(s v) exp(t v); the axis stays; a quarter turn about z takes x to y.
    e = rotations.exponential
    assert np.abs(e(1.3 * V) - rotations.multiply(e(0.5 * V), e(0.8 * V))).max() < 1e-14
    assert np.abs(rotations.rotate(e(V), V) - V).max() < 1e-14
    assert rotations.rotate(e(np.array([0, 0, np.pi / 2])), np.array([1.0, 0, 0])) == pytest.approx(
        [0, 1, 0], abs=1e-15
    )
    assert np.abs(e(V) - reference.exponential(V)).max() < 1e-15


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-13, 1e-9, 1e-4, 1.0, 3.1415])
def test_logarithm_undoes_the_exponential(size):
    v = size * V / np.linalg.norm(V, axis=1, keepdims=True)
    assert np.abs(rotations.logarithm(rotations.exponential(v)) - v).max() <= 1e-13 * size
    assert np.abs(rotations.logarithm(-rotations.exponential(v)) - v).max() <= 1e-13 * size


def test_matrix_and_back():
    back = np.array([rotations.from_matrix(m) for m in rotations.matrices(P)])
    assert same(back, P)
    for q in np.vstack([np.eye(4), [[1, 1, 0, 0], [0, 0, 1, -1], [1, 1, 1, 1]]]):  # turns by pi: no trace to divide by
        q = q / np.linalg.norm(q)
        assert same(rotations.from_matrix(rotations.matrices(q)), q)


def test_slerp_goes_the_short_way_at_even_speed():
    turn = rotations.logarithm(rotations.multiply(Q, rotations.conjugate(P)))
    for t in (0.0, 0.25, 0.5, 1.0):
        at = rotations.slerp(P, Q, np.full(len(P), t))
        assert same(at, rotations.multiply(rotations.exponential(t * turn), P), 1e-13)
    assert same(rotations.slerp(P, Q, np.ones(len(P))), Q, 1e-13)
    assert same(rotations.slerp(P, -Q, np.full(len(P), 0.3)), rotations.slerp(P, Q, np.full(len(P), 0.3)), 1e-13)
