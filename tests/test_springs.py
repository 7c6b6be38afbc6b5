# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and dampers over one step (reference/springs.py) against the exact solution of m y'' + d y' + k y = f."""

import numpy as np
import pytest
from axion.solver.constraints.springs import EndLaw
from axion.solver.reference.springs import end_law, fitted_weight, spring_law, weights

H = 0.05


def propagator(stiffness, damping, mass, mobility=None, pull=0.0):
    """((2, 2), (2,)) of (y, v) over a step in which the row believes in ``mobility``: the rows' two laws, solved.

    mass: what moves [kg]; pull: constant force f [N].  The affine map (y, v) -> A (y, v) + b.
    """
    one, mobility = np.ones(1), np.full(1, 1.0 / mass if mobility is None else mobility)
    k, d, share = stiffness * one, damping * one, 2.0 * one
    found = weights(k, d, mobility, H, share)

    def step(y, v):
        beta, soft = spring_law(k, found.way_damper * d, H, share, found.way_spring)
        asked = -(1.0 - found.way_damper) * d * v * H * soft / share
        # p = -(beta y+ / h + (1 - beta) u - asked) / soft, u = v + (h f / 2 + p) / m, y+ = y + h u
        free = v + 0.5 * H * pull / mass
        p = -(beta * y / H + free - asked) / (soft + 1.0 / mass)
        u = free + p / mass
        law = EndLaw(*end_law(k, d, mobility, found, H, share, y, v, 0.0))
        wanted, give = law.rest(2.0 * p, y + H * u)
        end = v + (H * pull + 2.0 * p) / mass
        if damping > 0.0:
            end = (mass * end + wanted / give) / (mass + 1.0 / give)
        return np.concatenate([y + H * u, end])

    b = step(np.zeros(1), 0.0)
    return np.column_stack([step(np.ones(1), 0.0) - b, step(np.zeros(1), 1.0) - b]), b


def exact(stiffness, damping, mass):
    """(2, 2): (y, v) over a step, by 4096 steps of the implicit midpoint rule, off by 1e-7 of the stiffest here."""
    rate = np.array([[0.0, 1.0], [-stiffness / mass, -damping / mass]]) * H / 8192.0
    return np.linalg.matrix_power(np.linalg.solve(np.eye(2) - rate, np.eye(2) + rate), 4096)


@pytest.mark.parametrize("decay", [1e-6, 1e-3, 9e-3, 1.1e-2, 0.5, 3.0, 60.0, 1e8])
def test_damper_alone_is_exact_in_way_and_end(decay):
    # m v' = -d v + f: v = f/d + (v0 - f/d) exp(-x t / h).  Under a constant force the end and rest are exact, the way
    # is where it has come to its terminal velocity.
    mass, pull = 2.0, 3.0
    damping = decay * mass / H
    a, b = propagator(0.0, damping, mass, pull=pull)
    g = -np.expm1(-decay) / decay
    assert a[:, 1] == pytest.approx(np.array([H * g, np.exp(-decay)]), rel=1e-8, abs=1e-12)
    assert b[1] == pytest.approx(pull / mass * H * g, rel=1e-8)
    terminal = a @ np.array([0.0, pull / damping]) + b
    assert terminal == pytest.approx(np.array([H * pull / damping, pull / damping]), rel=1e-7)


@pytest.mark.parametrize("damping", [0.0, 0.02, 0.5, 3.0])
@pytest.mark.parametrize("stiffness", [1.0, 400.0, 1e6])
def test_swing_loses_what_its_damper_takes(stiffness, damping):
    # det of the exact map is exp(-d h / m) whatever the spring; undamped it is the mean coordinate, which keeps energy.
    a, _ = propagator(stiffness, damping, 0.01)
    assert np.linalg.det(a) == pytest.approx(np.exp(-damping * H / 0.01), rel=1e-8, abs=1e-7)
    if damping == 0.0:
        energy = np.diag([stiffness, 0.01])
        assert a.T @ energy @ a == pytest.approx(energy, rel=1e-9, abs=1e-9 * stiffness)


def test_step_is_of_second_order():
    # error of the map over one step / that over half of it: 8, where m, d and k are all felt.
    def error(scale):
        k, d = 30.0 * scale**2, 12.0 * scale  # in units of the step, a shorter one makes rates smaller
        a = propagator(k, d, 1.0)[0] - exact(k, d, 1.0)
        return np.abs(a * [[1.0, scale], [1.0 / scale, 1.0]]).max()

    assert error(1.0) / error(0.5) == pytest.approx(8.0, rel=0.2)


@pytest.mark.parametrize("square", [1.0, 40.0, 1736.0, 1e6])
@pytest.mark.parametrize("ratio", [1.0, 1.2, 3.0, 30.0])
def test_overdamped_spring_does_not_ring(square, ratio):
    # d = ratio times the critical damping: the exact map's eigenvalues are positive, y never changes its sign.
    damping = 2.0 * ratio * np.sqrt(square) / H
    a, _ = propagator(square / H**2, damping, 1.0)
    values = np.linalg.eigvals(a)
    assert np.isreal(values).all() and values.min() > -1e-9 and values.max() < 1.0
    state, places = np.array([1.0, 0.0]), []
    for _ in range(20):
        state = a @ state
        places.append(state[0])
    assert min(places) > -1e-6
    # far overdamped it goes as exp(-k t / d), in which the mass has no part
    if ratio == 30.0:
        assert places[0] == pytest.approx(exact(square / H**2, damping, 1.0)[0, 0], abs=2e-3)


def test_it_stays_where_a_force_holds_it():
    # y = f / k at rest is kept to rounding, whatever the damper.
    for damping in (0.0, 1.0, 1e5):
        a, b = propagator(50.0, damping, 2.0, pull=7.0)
        assert a @ np.array([7.0 / 50.0, 0.0]) + b == pytest.approx(np.array([7.0 / 50.0, 0.0]), abs=1e-12)


@pytest.mark.parametrize("heavier", [1.0, 1.5, 3.0, 10.0, 1e4])
def test_nothing_grows_where_more_moves_than_the_row_knows(heavier):
    # Other joints make the mass larger than 1 / (J M^-1 J^T): any spring and damper still only loses energy.
    worst = 0.0
    for square in 10.0 ** np.arange(-3.0, 7.0, 0.5):
        for ratio in (0.0, 1e-3, 0.03, 0.3, 0.9, 1.0, 1.01, 1.5, 4.0, 100.0):
            a, _ = propagator(square / H**2, 2.0 * ratio * np.sqrt(square) / H, heavier, mobility=1.0)
            worst = max(worst, np.abs(np.linalg.eigvals(a)).max())
    assert worst < 1.0 + 1e-7


def test_weights_are_those_of_the_end_where_a_step_ends_in_its_velocity():
    found = weights(np.full(2, 50.0), np.array([0.0, 3.0]), np.ones(2), H, np.ones(2))
    for weight in vars(found).values():
        np.testing.assert_array_equal(weight, 1.0)


def test_series_and_formula_meet():
    # at the decay where one takes over from the other
    below, above = 0.01 * (1.0 - 1e-12), 0.01 * (1.0 + 1e-12)
    assert fitted_weight(below) == pytest.approx(fitted_weight(above), abs=1e-9)
    low, high = (weights(np.zeros(1), np.full(1, x), np.ones(1), 1.0, np.full(1, 2.0)) for x in (below, above))
    for name, weight in vars(low).items():
        assert weight == pytest.approx(getattr(high, name), abs=1e-9)
