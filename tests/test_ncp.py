# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact with Coulomb friction as a complementarity problem: cases with a known answer, laws, and refusals."""

import numpy as np
import pytest
from axion.solver.reference.ncp import natural_map_error, project_cone, solve_ncp


def pushed_block(force, mu, mass=2.0):
    """A point mass on the ground: u = r / m + free velocity after unit time; weight 9.81 m, pushed along t1."""
    return np.eye(3) / mass, np.array([-9.81, force / mass, 0.0]), mu


@pytest.mark.parametrize("force", [0.0, 3.0, 9.8, 9.82, 30.0])
def test_block_sticks_up_to_mu_times_its_weight_and_then_slides(force):
    # Coulomb: friction -min(force, mu m g), u = (force - mu m g) / m beyond.  mu m g = 9.81 N here.
    W, q, mu = pushed_block(force, mu=0.5)
    r = solve_ncp(W, q, mu)
    assert r == pytest.approx([2 * 9.81, -min(force, 9.81), 0], abs=1e-9)
    assert (W @ r + q)[1] == pytest.approx(max(0.0, force - 9.81) / 2, abs=1e-9)


def test_separating_contact_carries_nothing():
    W, q, mu = pushed_block(1.0, mu=0.5)
    q[0] = 0.1
    assert solve_ncp(W, q, mu) == pytest.approx(np.zeros(3), abs=1e-12)


def box_on_corners(mu, push=0.0, corners=4):
    """Hyperstatic: a cube of edge 2 on its lower corners, W = J M^-1 J^T has rank 6 of 12."""
    mass, inertia = 3.0, 3.0 * 4 / 6
    places = np.array([[1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, -1.0]])[:corners]
    axes = np.eye(3)[[2, 0, 1]]
    J = np.array([np.concatenate([e, np.cross(r, e)]) for r in places for e in axes])
    inverse = np.diag([1 / mass] * 3 + [1 / inertia] * 3)
    return J @ inverse @ J.T, J @ np.array([push, 0, -9.81, 0, 0, 0]), mu, J


def test_hyperstatic_box_rests_on_its_corners():
    W, q, mu, J = box_on_corners(0.6, push=2.0)
    assert np.linalg.matrix_rank(W) == 6
    r = solve_ncp(W, q, mu)
    assert W @ r + q == pytest.approx(np.zeros(12), abs=1e-7)
    # Statics: vertical and horizontal forces, and moments, of all corners balance weight and push.
    assert J.T @ r == pytest.approx([-3 * 2.0, 0, 3 * 9.81, 0, 0, 0], abs=1e-7)


def test_pushed_box_slides_with_all_corners_on_their_cones():
    # Sliding without tipping: total friction mu m g against the push, all along -t1.
    W, q, mu, J = box_on_corners(0.3, push=5.0)
    r = solve_ncp(W, q, mu).reshape(-1, 3)
    assert r[:, 1] == pytest.approx(-0.3 * r[:, 0], abs=1e-7)
    velocity = np.array([5.0, 0, -9.81, 0, 0, 0]) + J.T @ r.ravel() / ([3.0] * 3 + [2.0] * 3)
    assert velocity == pytest.approx([5.0 - 0.3 * 9.81, 0, 0, 0, 0, 0], abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_laws_hold_contact_by_contact(seed):
    # Signorini, the cone, and maximum dissipation, each on its own.
    rng = np.random.default_rng(seed)
    n = 8
    root = rng.normal(size=(3 * n, 3 * n))
    W, q, mu = root @ root.T / n + 0.1 * np.eye(3 * n), rng.normal(size=3 * n), rng.uniform(0, 0.9, n)
    impulse = solve_ncp(W, q, mu)
    velocity = (W @ impulse + q).reshape(n, 3)
    impulse = impulse.reshape(n, 3)
    assert impulse[:, 0].min() > -1e-8
    assert velocity[:, 0].min() > -1e-7
    assert np.abs(impulse[:, 0] * velocity[:, 0]).max() < 1e-7
    friction, speed = np.linalg.norm(impulse[:, 1:], axis=1), np.linalg.norm(velocity[:, 1:], axis=1)
    assert (friction - mu * impulse[:, 0]).max() < 1e-7
    work = np.einsum("ci,ci->c", impulse[:, 1:], velocity[:, 1:])
    assert work == pytest.approx(-mu * impulse[:, 0] * speed, abs=1e-6)


def test_units_do_not_matter():
    # r scales with 1 / W and with q.
    W, q, mu, _ = box_on_corners(0.3, push=5.0, corners=3)
    r = solve_ncp(W, q, mu)
    assert solve_ncp(W * 1e-4, q, mu) == pytest.approx(1e4 * r, rel=1e-6, abs=1e-3)
    assert solve_ncp(W, q * 1e3, mu) == pytest.approx(1e3 * r, rel=1e-6, abs=1e-4)


class Sparse:
    """What solve_ncp needs of a sparse matrix."""

    def __init__(self, dense):
        self.dense = dense

    def toarray(self):
        return self.dense


def test_sparse_matrices_and_a_common_friction_are_taken():
    W, q, mu, _ = box_on_corners(0.3, push=5.0)
    assert solve_ncp(Sparse(W), q, np.full(4, mu)) == pytest.approx(solve_ncp(W, q, mu))
    assert solve_ncp(np.zeros((0, 0)), np.zeros(0), 0.5).shape == (0,)


def test_projection_is_the_nearest_point_of_the_cone():
    rng = np.random.default_rng(0)
    x, mu = rng.normal(size=(200, 3)), rng.uniform(0, 1.5, 200)
    near = project_cone(x, mu)
    assert (np.linalg.norm(near[:, 1:], axis=1) - mu * near[:, 0]).max() < 1e-14
    # x - P(x) lies in the polar cone and is orthogonal to P(x): Moreau.
    rest = x - near
    assert np.einsum("ci,ci->c", rest, near) == pytest.approx(np.zeros(200), abs=1e-14)
    assert (mu * np.linalg.norm(rest[:, 1:], axis=1) + rest[:, 0]).max() < 1e-14


def test_error_measure_grows_with_a_wrong_impulse():
    W, q, mu = pushed_block(3.0, mu=0.5)
    r = solve_ncp(W, q, mu)
    assert natural_map_error(W, q, mu, r) < 1e-12
    wrong = r + np.array([0, 0.1, 0])  # inside the cone, so that u_t = 0.1 / m is the whole error: shift and slip
    assert natural_map_error(W, q, mu, wrong) > 0.04 / np.linalg.norm(q)


def test_a_problem_without_solution_is_not_answered():
    # Approaching contact that no impulse can stop: W has no normal part.
    W = np.diag([0.0, 1.0, 1.0])
    with pytest.raises(ArithmeticError, match="error"):
        solve_ncp(W, np.array([-1.0, 0, 0]), 0.0)


@pytest.mark.parametrize(
    ("W", "q", "mu", "message"),
    [
        (np.eye(3), np.zeros(6), 0.5, "W has shape"),
        (np.eye(3), np.zeros(3), [0.5, 0.5], "mu has shape"),
        (np.eye(3), np.array([np.nan, 0, 0]), 0.5, "finite"),
        (np.eye(3), np.ones(3), -0.1, "Contact 0: friction -0.1"),
        (np.diag([1, 1, 1, 0, 0, 0.0]), np.ones(6), 0.5, "Contact 1: mean diagonal"),
    ],
)
def test_bad_input_is_refused(W, q, mu, message):
    with pytest.raises(ValueError, match=message):
        solve_ncp(W, q, mu)
