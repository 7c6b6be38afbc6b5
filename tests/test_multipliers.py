# SPDX-License-Identifier: GPL-3.0-or-later
"""Multipliers with drift feedback: a pendulum's tension, forces without work, errors that die out at their rate."""

import numpy as np
import pytest
from axion.solver.reference.gauss import least_constraint_acceleration
from axion.solver.reference.multipliers import constraint_force, constraint_multipliers

MASS, G = 1.7, 9.81
GRAVITY = np.array([0.0, -MASS * G])
W = np.eye(2) / MASS


def wire(x, v, length):
    """A bead on a wire of given length about the origin: C = (x.x - L^2) / 2, its rate, J, and J' q'."""
    return np.array([x @ x - length**2]) / 2, np.array([x @ v]), x[None, :], np.array([v @ v])


def acceleration(x, v, length, ks, kd):
    C, Cdot, J, bias = wire(x, v, length)
    lam = constraint_multipliers(J, W, GRAVITY, bias, C, Cdot, ks, kd)
    return W @ (GRAVITY + constraint_force(J, lam))


def test_tension_of_a_pendulum():
    # Tension m (g cos + v^2 / L) along the wire, for any angle and speed.
    length, angle, speed = 1.3, 0.7, 2.1
    x = length * np.array([np.sin(angle), -np.cos(angle)])
    v = speed * np.array([np.cos(angle), np.sin(angle)])
    C, Cdot, J, bias = wire(x, v, length)
    force = constraint_force(J, constraint_multipliers(J, W, GRAVITY, bias, C, Cdot, 0.0, 0.0))
    tension = MASS * (G * np.cos(angle) + speed**2 / length)
    assert force == pytest.approx(-tension * x / length)


def random_system(seed=0, n=9, m=4):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    M = root @ root.T + np.eye(n)
    return M, rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=m), rng


def test_feedback_is_what_the_acceleration_obeys():
    # J q'' + J' q' = -k_s C - k_d C', with a gain per row.
    M, Q, J, bias, rng = random_system()
    C, Cdot, ks, kd = rng.normal(size=(4, 4))
    lam = constraint_multipliers(J, np.linalg.inv(M), Q, bias, C, Cdot, ks, kd)
    a = np.linalg.solve(M, Q + constraint_force(J, lam))
    assert J @ a + bias == pytest.approx(-ks * C - kd * Cdot)


def test_constraint_force_does_no_work_on_allowed_motion():
    _, _, J, lam, rng = random_system()
    allowed = np.linalg.svd(J)[2][4:].T @ rng.normal(size=5)
    assert constraint_force(J, lam) @ allowed == pytest.approx(0.0, abs=1e-13)


def test_multipliers_give_gausss_minimum():
    # Gauss = d'Alembert: without feedback both give the same acceleration.
    M, Q, J, bias, _ = random_system(1)
    lam = constraint_multipliers(J, np.linalg.inv(M), Q, bias, np.zeros(4), np.zeros(4), 0.0, 0.0)
    a = np.linalg.solve(M, Q + constraint_force(J, lam))
    assert a == pytest.approx(least_constraint_acceleration(M, np.linalg.solve(M, Q), J, -bias))


def test_a_row_given_twice_shares_its_force():
    M, Q, J, bias, _ = random_system(2)
    zero = np.zeros(4)
    lam = constraint_multipliers(J, np.linalg.inv(M), Q, bias, zero, zero, 0.0, 0.0)
    doubled = [np.concatenate([value, value[:1]]) for value in (J, bias, zero)]
    shared = constraint_multipliers(doubled[0], np.linalg.inv(M), Q, doubled[1], doubled[2], doubled[2], 0.0, 0.0)
    assert constraint_force(doubled[0], shared) == pytest.approx(constraint_force(J, lam))
    assert shared[[0, 4]] == pytest.approx([lam[0] / 2, lam[0] / 2])


RATE = 12.0


@pytest.mark.parametrize(
    ("ks", "kd", "law"),
    [
        # Critical: both roots -RATE.  Overdamped: roots -RATE and -3 RATE.  Underdamped: -RATE +- i RATE.
        (RATE**2, 2 * RATE, lambda t: (1 + RATE * t) * np.exp(-RATE * t)),
        (3 * RATE**2, 4 * RATE, lambda t: 1.5 * np.exp(-RATE * t) - 0.5 * np.exp(-3 * RATE * t)),
        (2 * RATE**2, 2 * RATE, lambda t: np.exp(-RATE * t) * (np.cos(RATE * t) + np.sin(RATE * t))),
    ],
)
def test_drift_decays_at_the_rate_its_gains_give(ks, kd, law):
    # A swinging bead starts off its wire with C' = 0: C(t) = C(0) law(t), the solution of C'' + k_d C' + k_s C = 0.
    length = 1.0
    x, v = 1.1 * np.array([0.8, -0.6]), 1.5 * np.array([0.6, 0.8])
    start = wire(x, v, length)[0]
    h, steps = 1e-3, 300  # classical Runge-Kutta: error below 1e-9 at this step

    def rate(state):
        return np.concatenate([state[2:], acceleration(state[:2], state[2:], length, ks, kd)])

    state = np.concatenate([x, v])
    for k in range(1, steps + 1):
        k1 = rate(state)
        k2 = rate(state + h / 2 * k1)
        k3 = rate(state + h / 2 * k2)
        k4 = rate(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if k % 50 == 0:
            assert wire(state[:2], state[2:], length)[0] == pytest.approx(start * law(k * h), abs=1e-8)
