# SPDX-License-Identifier: GPL-3.0-or-later
"""Gauss's principle: no allowed acceleration deviates less; reduced and maximal coordinates tell the same motion."""

import numpy as np
import pytest
from axion.solver.reference.gauss import deviation, least_constraint_acceleration, reduced_equations
from axion.solver.reference.rotation import exponential, matrix, multiply, skew

GRAVITY = np.array([0.0, 0.0, -9.81])


def random_problem(seed, n=8, m=3):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    return root @ root.T + 0.1 * np.eye(n), rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=m), rng


@pytest.mark.parametrize("seed", range(3))
def test_no_feasible_perturbation_lowers_the_deviation(seed):
    M, a_free, J, b, rng = random_problem(seed)
    a = least_constraint_acceleration(M, a_free, J, b)
    assert J @ a == pytest.approx(b)
    allowed = np.linalg.svd(J)[2][len(J) :]  # directions with J direction = 0
    least = deviation(a, a_free, M)
    for size in (1e-3, 1.0, 30.0):
        for weights in rng.normal(size=(50, len(allowed))):
            change = size * weights @ allowed
            # Z(a + change) = Z(a) + 1/2 change.M change, since M (a - a_free) has no part along allowed motion.
            assert deviation(a + change, a_free, M) > least
            expected = least + 0.5 * change @ M @ change
            assert deviation(a + change, a_free, M) == pytest.approx(expected, rel=1e-9)


def test_free_motion_that_is_allowed_is_left_alone():
    M, a_free, J, _, _ = random_problem(4)
    assert least_constraint_acceleration(M, a_free, J, J @ a_free) == pytest.approx(a_free)
    assert least_constraint_acceleration(M, a_free, np.zeros((0, 8)), np.zeros(0)) == pytest.approx(a_free)
    assert deviation(a_free, a_free, M) == 0.0


def test_repeated_constraints_do_no_harm_and_contradictions_are_refused():
    M, a_free, J, b, _ = random_problem(5)
    a = least_constraint_acceleration(M, a_free, J, b)
    again = least_constraint_acceleration(M, a_free, np.vstack([J, J[:2]]), np.concatenate([b, b[:2]]))
    assert again == pytest.approx(a)
    with pytest.raises(ValueError, match="No acceleration satisfies"):
        least_constraint_acceleration(M, a_free, np.vstack([J, J[:1]]), np.concatenate([b, b[:1] + 1]))


class Chain:
    """An open chain of links in space, hinged about axes that are not parallel, so that gyroscopic terms matter.

    Link k turns by q_k about an axis fixed in its parent; the hinge sits at the parent's far end.
    """

    def __init__(self, links, seed):
        rng = np.random.default_rng(seed)
        self.axis = rng.normal(size=(links, 3))
        self.axis /= np.linalg.norm(self.axis, axis=1, keepdims=True)
        self.rest = exponential(rng.normal(size=(links, 3)))
        self.to_centre = rng.normal(size=(links, 3))  # from the hinge, in the link's axes
        self.to_end = rng.normal(size=(links, 3))
        self.mass = rng.uniform(0.5, 3.0, links)
        root = rng.normal(size=(links, 3, 3))
        self.inertia_body = np.einsum("nij,nkj->nik", root, root) + 0.2 * np.eye(3)
        self.q, self.qdot = rng.normal(size=(2, links))
        self._kinematics()

    def _kinematics(self):
        """Poses, velocities, Jacobians and their velocity-dependent accelerations, link by link from the fixed end."""
        n = len(self.q)
        self.J, self.bias = np.zeros((n, 6, n)), np.zeros((n, 6))
        self.omega, self.velocity, self.inertia = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3, 3))
        self.lever_parent, self.lever, self.hinge_axis = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        turn = np.array([0.0, 0.0, 0.0, 1.0])
        J_parent, bias_parent, w_parent, reach = np.zeros((6, n)), np.zeros(6), np.zeros(3), np.zeros(3)
        for k in range(n):
            hinge_axis = matrix(turn) @ self.axis[k]
            turn = multiply(multiply(turn, exponential(self.q[k] * self.axis[k])), self.rest[k])
            rotation = matrix(turn)
            angular, angular_bias = J_parent[3:].copy(), bias_parent[3:].copy()
            angular[:, k] += hinge_axis
            w = angular @ self.qdot
            angular_bias += np.cross(w_parent, hinge_axis) * self.qdot[k]
            # The hinge moves with the parent: reach leads there from the parent's centre.
            hinge = J_parent[:3] - skew(reach) @ J_parent[3:]
            hinge_bias = bias_parent[:3] + np.cross(bias_parent[3:], reach)
            hinge_bias = hinge_bias + np.cross(w_parent, np.cross(w_parent, reach))
            to_centre = rotation @ self.to_centre[k]
            self.J[k] = np.vstack([hinge - skew(to_centre) @ angular, angular])
            linear_bias = hinge_bias + np.cross(angular_bias, to_centre) + np.cross(w, np.cross(w, to_centre))
            self.bias[k] = np.concatenate([linear_bias, angular_bias])
            self.omega[k], self.velocity[k] = w, self.J[k, :3] @ self.qdot
            self.inertia[k] = rotation @ self.inertia_body[k] @ rotation.T
            self.lever_parent[k], self.lever[k], self.hinge_axis[k] = reach, -to_centre, hinge_axis
            J_parent, bias_parent, w_parent = self.J[k], self.bias[k], w
            reach = rotation @ self.to_end[k] - to_centre

    def wrench(self):
        """Gravity (n, 6)."""
        return np.hstack([self.mass[:, None] * GRAVITY, np.zeros((len(self.mass), 3))])

    def constraints(self):
        """Five rows a hinge in maximal coordinates: the points coincide, the axes stay aligned.  J a = b."""
        n = len(self.q)
        J, b = np.zeros((5 * n, 6 * n)), np.zeros(5 * n)
        for k in range(n):
            point, turn = slice(5 * k, 5 * k + 3), slice(5 * k + 3, 5 * k + 5)
            w, r = self.omega[k], self.lever[k]
            w_parent = self.omega[k - 1] if k else np.zeros(3)
            across = np.linalg.svd(self.hinge_axis[k][None, :])[2][
                1:
            ]  # two directions across the axis, fixed in the parent
            J[point, 6 * k : 6 * k + 6] = np.hstack([np.eye(3), -skew(r)])
            b[point] -= np.cross(w, np.cross(w, r))
            J[turn, 6 * k + 3 : 6 * k + 6] = across
            b[turn] = -np.cross(w_parent, across) @ (w - w_parent)
            if k:
                reach = self.lever_parent[k]
                J[point, 6 * k - 6 : 6 * k] = -np.hstack([np.eye(3), -skew(reach)])
                b[point] += np.cross(w_parent, np.cross(w_parent, reach))
                J[turn, 6 * k - 3 : 6 * k] = -across
        return J, b

    def free(self):
        """Mass matrix (6n, 6n) and free acceleration (6n,), gyroscopic torque included."""
        n = len(self.q)
        M, force = np.zeros((6 * n, 6 * n)), self.wrench()
        for k in range(n):
            M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = self.mass[k] * np.eye(3)
            M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = self.inertia[k]
            force[k, 3:] -= np.cross(self.omega[k], self.inertia[k] @ self.omega[k])
        return M, np.linalg.solve(M, force.ravel())


@pytest.mark.parametrize("links", [1, 2, 5])
def test_reduced_and_maximal_form_agree_on_a_pendulum_chain(links):
    chain = Chain(links, seed=links)
    H, h = reduced_equations(chain.J, chain.bias, chain.mass, chain.inertia, chain.omega)
    qddot = np.linalg.solve(H, np.einsum("nia,ni->a", chain.J, chain.wrench()) - h)
    reduced = chain.J @ qddot + chain.bias
    M, a_free = chain.free()
    J, b = chain.constraints()
    maximal = least_constraint_acceleration(M, a_free, J, b).reshape(links, 6)
    assert reduced == pytest.approx(maximal, rel=1e-9, abs=1e-9 * np.abs(maximal).max())


def test_reduced_mass_matrix_is_the_kinetic_energy():
    # 1/2 q'.H q' = sum 1/2 m v.v + 1/2 w.I w
    chain = Chain(4, seed=9)
    H, _ = reduced_equations(chain.J, chain.bias, chain.mass, chain.inertia, chain.omega)
    linear = 0.5 * chain.mass @ np.sum(chain.velocity**2, axis=1)
    angular = 0.5 * np.einsum("ni,nij,nj->", chain.omega, chain.inertia, chain.omega)
    assert 0.5 * chain.qdot @ H @ chain.qdot == pytest.approx(linear + angular)
    assert pytest.approx(H.T) == H
    assert np.linalg.eigvalsh(H).min() > 0


def test_free_solid_keeps_its_gyroscopic_term():
    # A single solid whose coordinates are its own six: H q'' + h = 0 are Euler's equations, h = (0, w x I w).
    inertia, omega = np.diag([1.0, 2.0, 3.0]), np.array([0.3, -0.5, 0.7])
    H, h = reduced_equations([np.eye(6)], [np.zeros(6)], [2.0], [inertia], [omega])
    assert np.diag([2, 2, 2, 1, 2, 3.0]) == pytest.approx(H)
    assert h == pytest.approx(
        [0, 0, 0, (3 - 2) * omega[1] * omega[2], (1 - 3) * omega[2] * omega[0], (2 - 1) * omega[0] * omega[1]]
    )


def test_arrays_of_different_length_are_refused():
    with pytest.raises(ValueError, match="mass_k has shape"):
        reduced_equations(np.zeros((2, 6, 1)), np.zeros((2, 6)), np.ones(3), np.zeros((2, 3, 3)), np.zeros((2, 3)))
