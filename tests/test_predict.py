# SPDX-License-Identifier: GPL-3.0-or-later
"""Free motion: momentum and energy of the torque-free body, its flip period, damping, and gravity."""

import numpy as np
import pytest
from axion.solver import rotations
from axion.solver.predict import carry_momentum, free_rotation, free_velocity
from axion.solver.reference.rotation import world_inertia
from step_problems import unit

MOMENTS = np.array([[1.0, 2.0, 3.0]])
WOBBLE = np.array([[0.01, 5.0, 0.01]])  # about the middle axis: unstable, so it flips over


def momentum(q, w, inertia):
    return np.einsum("nij,nj->ni", world_inertia(q, inertia), w)


def energy(q, w, inertia):
    return 0.5 * np.sum(w * momentum(q, w, inertia), axis=1)


def test_momentum_is_kept_to_rounding_for_any_moments():
    rng = np.random.default_rng(0)
    inertia = rng.uniform(0.01, 10.0, (50, 3))
    q, w = unit(rng, 50, 4), 10.0 * rng.normal(size=(50, 3))
    new, turned = free_rotation(q, w, inertia, 0.04)
    before = momentum(q, w, inertia)
    assert np.abs(momentum(new, turned, inertia) - before).max() < 1e-13 * np.abs(before).max()
    assert np.abs(np.linalg.norm(new, axis=1) - 1.0).max() < 1e-15


def test_energy_of_the_flipping_body_does_not_drift():
    # 10 s at 24 fps: the splitting's energy error swings with its sub-step (0.1 rad) squared, and does not grow.
    q, w = rotations.IDENTITY[None], WOBBLE.copy()
    start, seen = energy(q, w, MOMENTS)[0], []
    for _ in range(240):
        q, w = free_rotation(q, w, MOMENTS, 1 / 24)
        seen.append(energy(q, w, MOMENTS)[0] / start - 1.0)
    assert np.abs(seen).max() < 0.1**2
    assert abs(np.mean(seen[200:])) < 0.1**2


@pytest.mark.parametrize("step", [1 / 24, 1 / 240])
def test_flip_period(step):
    # Time between flips of I = (1, 2, 3), w = (.01, 5, .01): half of 4K(m)/omega is one flip; the period is 10.05186 s.
    q, w = rotations.IDENTITY[None], WOBBLE.copy()
    times, spin = [], []
    for k in range(round(16 / step)):
        q, w = free_rotation(q, w, MOMENTS, step)
        times.append((k + 1) * step)
        spin.append(rotations.rotate(rotations.conjugate(q), w)[0, 1])
    spin = np.array(spin)
    down = np.nonzero((spin[:-1] > 0) & (spin[1:] <= 0))[0]
    up = np.nonzero((spin[:-1] < 0) & (spin[1:] >= 0))[0]
    cross = [times[i] + step * spin[i] / (spin[i] - spin[i + 1]) for i in sorted([*down, *up])]
    # sub-steps of at most 0.1 rad: relative error of the order 0.1^2 of the exponent, that is of the period
    assert 2.0 * (cross[1] - cross[0]) == pytest.approx(10.05186, rel=3e-3)


def test_free_rotation_is_of_second_order():
    # error(step) / error(step / 2) = 4, from sub-steps small enough that the splitting takes one round.
    q, w = rotations.IDENTITY[None], np.array([[1.0, 2.0, -1.5]])
    exact = q, w
    for _ in range(1024):
        exact = free_rotation(*exact, MOMENTS, 0.03 / 1024)
    errors = []
    for count in (1, 2):
        got = q, w
        for _ in range(count):
            got = free_rotation(*got, MOMENTS, 0.03 / count)
        errors.append(np.abs(got[1] - exact[1]).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)


def test_symmetric_body_turns_exactly():
    # A ball keeps its angular velocity: q(t) = exp(w t) q.
    rng = np.random.default_rng(1)
    q, w = unit(rng, 5, 4), 20.0 * rng.normal(size=(5, 3))
    new, turned = free_rotation(q, w, np.full((5, 3), 0.3), 0.1)
    assert turned == pytest.approx(w, abs=1e-12)
    difference = rotations.multiply(new, rotations.conjugate(rotations.multiply(rotations.exponential(0.1 * w), q)))
    # turns about three axes in sequence, second order in the sub-step of 0.1 rad
    assert np.linalg.norm(rotations.logarithm(difference), axis=1).max() < 0.1**2


def test_damping_is_exponential_whatever_the_step():
    # v' = g - d v: two half steps are one step; v = v0 exp(-d t) + g (1 - exp(-d t)) / d.
    v = np.array([[1.0, -2.0, 3.0, 0.5, 1.5, -2.5], [1.0, -2.0, 3.0, 0.5, 1.5, -2.5]])
    g, d, a = np.array([0, 0, -9.81]), np.array([3.0, 0.0]), np.array([2.0, 0.0])
    once = free_velocity(v, g, d, a, 0.5)
    twice = free_velocity(free_velocity(v, g, d, a, 0.25), g, d, a, 0.25)
    assert once == pytest.approx(twice, abs=1e-14)
    decay = np.exp(-1.5)
    assert once[0, :3] == pytest.approx(v[0, :3] * decay + g * (1 - decay) / 3.0)
    assert once[0, 3:] == pytest.approx(v[0, 3:] * np.exp(-1.0))
    assert once[1] == pytest.approx(v[1] + np.append(0.5 * g, np.zeros(3)))
    assert free_velocity(v, g, d, a, 100.0)[0, 2] == pytest.approx(-9.81 / 3.0)  # terminal velocity


def test_carried_momentum_is_the_same_momentum():
    rng = np.random.default_rng(2)
    q, new = unit(rng, 20, 4), unit(rng, 20, 4)
    w, inertia = rng.normal(size=(20, 3)), rng.uniform(0.1, 3.0, (20, 3))
    carried = carry_momentum(q, new, w, inertia)
    assert momentum(new, carried, inertia) == pytest.approx(momentum(q, w, inertia), abs=1e-13)
    assert carry_momentum(q, q, w, inertia) == pytest.approx(w, abs=1e-13)
