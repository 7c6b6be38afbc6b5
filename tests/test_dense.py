# SPDX-License-Identifier: GPL-3.0-or-later
"""The dense walk-through: its numbers, its Jacobian by differences, Euler's equations, Baumgarte's right side."""

import numpy as np
import pytest
from axion.solver.reference.dense import DistanceConstraint, RigidBody6DOF, assemble_system, solve_kkt
from axion.solver.reference.rotation import exponential, multiply

G = 9.81
AT_REST = ((0, 0, 0, 1), (0, 0, 0), (0, 0, 0))


def random_bodies(count, seed=0):
    rng = np.random.default_rng(seed)
    tensors = np.einsum("nij,nkj->nik", *[rng.normal(size=(count, 3, 3))] * 2) + np.eye(3)
    return [
        RigidBody6DOF(f"Body {k}", rng.uniform(1, 5), tensors[k], *rng.normal(size=(1, 3)), rng.normal(size=4),
                      rng.normal(size=3), rng.normal(size=3))
        for k in range(count)
    ]  # fmt: skip


def test_walk_through_of_two_falling_bodies():
    # 10 kg and 5 kg joined by a rod of 2 m, alpha 5, beta 1: both fall at g, the rod carries nothing.
    bodies = [
        RigidBody6DOF("Upper", 10.0, np.eye(3), (0, 0, 2), *AT_REST),
        RigidBody6DOF("Lower", 5.0, 0.5 * np.eye(3), (0, 0, 0), *AT_REST),
    ]
    for body in bodies:
        body.apply_force((0, 0, -body.mass * G))
    rod = DistanceConstraint(bodies, 0, 1, (0, 0, 0), (0, 0, 0), 2.0)
    Minv, J, F, rhs, _ = assemble_system(bodies, [rod], alpha=5.0, beta=1.0)
    a, lam = solve_kkt(Minv, J, F, rhs)
    assert lam == pytest.approx([0.0], abs=1e-12)
    assert a == pytest.approx([0, 0, -G, 0, 0, 0] * 2, abs=1e-12)


def test_walk_through_of_the_hanging_mass():
    # 5 kg under an anchor of 1e6 kg that nothing pulls: the rod pulls up with 5 g = 49.05 N, less a part of 5 / 1e6.
    bodies = [
        RigidBody6DOF("Anchor", 1e6, 1e6 * np.eye(3), (0, 0, 2), *AT_REST),
        RigidBody6DOF("Mass", 5.0, 0.5 * np.eye(3), (0, 0, 0), *AT_REST),
    ]
    bodies[1].apply_force((0, 0, -5.0 * G))
    rod = DistanceConstraint(bodies, *bodies, (0, 0, 0), (0, 0, 0), 2.0)
    Minv, J, F, rhs, _ = assemble_system(bodies, [rod], alpha=5.0, beta=1.0)
    a, lam = solve_kkt(Minv, J, F, rhs)
    force = J.T @ lam
    assert force[6:] == pytest.approx([0, 0, 49.05 / (1 + 5.0 / 1e6), 0, 0, 0], abs=1e-9)
    assert force[:6] == pytest.approx(-force[6:], abs=1e-9)
    assert a[8] == pytest.approx(a[2], abs=1e-9)  # the rod keeps its length


def test_distance_jacobian_is_the_derivative_of_its_value():
    bodies = random_bodies(3)
    rng = np.random.default_rng(5)
    rod = DistanceConstraint(bodies, 2, 0, rng.normal(size=3), rng.normal(size=3), 0.7)
    assert rod.rows() == 1
    assert rod.index_map().tolist() == [12, 13, 14, 15, 16, 17, 0, 1, 2, 3, 4, 5]

    def value(body, axis, amount):
        position, orientation = body.position.copy(), body.orientation_xyzw.copy()
        direction = amount * np.eye(3)[axis % 3]
        if axis < 3:
            body.position = position + direction
        else:
            body.orientation_xyzw = multiply(exponential(direction), orientation)
        c = rod.evaluate()[0]
        body.position, body.orientation_xyzw = position, orientation
        return c

    step = 1e-6
    numeric = [
        (value(bodies[column // 6], column % 6, step) - value(bodies[column // 6], column % 6, -step)) / (2 * step)
        for column in rod.index_map()
    ]
    assert rod.jacobian()[0] == pytest.approx(numeric, abs=1e-7)


def test_distance_value_is_half_the_difference_of_squares():
    bodies = [
        RigidBody6DOF("A", 1, np.eye(3), (0, 0, 0), *AT_REST),
        RigidBody6DOF("B", 1, np.eye(3), (4, 0, 0), *AT_REST),
    ]
    rod = DistanceConstraint(bodies, 0, 1, (0, 0, 0), (0, 3, 0), 4.0)
    assert rod.evaluate() == pytest.approx([(25 - 16) / 2])


def test_torque_free_body_follows_eulers_equations():
    # I_1 w_1' = (I_2 - I_3) w_2 w_3 and so on in body axes; the world's angular acceleration is R times that.
    body = random_bodies(1)[0]
    body.inertia_tensor_body = np.diag([1.0, 2.0, 3.5])
    Minv, J, F, rhs, v = assemble_system([body], [])
    a, lam = solve_kkt(Minv, J, F, rhs)
    assert J.shape == (0, 6)
    assert lam.shape == (0,)
    rotation = np.linalg.eigh(body.inertia_world())[1]
    rotation[:, 2] = np.cross(rotation[:, 0], rotation[:, 1])  # principal axes, right-handed
    w1, w2, w3 = rotation.T @ v[3:]
    expected = [(2.0 - 3.5) * w2 * w3 / 1.0, (3.5 - 1.0) * w3 * w1 / 2.0, (1.0 - 2.0) * w1 * w2 / 3.5]
    assert rotation.T @ a[3:] == pytest.approx(expected)
    assert a[:3] == pytest.approx(np.zeros(3))


def test_forces_add_up_and_clear():
    body = RigidBody6DOF("A", 2.0, (1, 2, 3), (0, 0, 0), *AT_REST)
    body.apply_force((1, 0, 0))
    body.apply_force((1, 2, 0, 0, 0, 4))
    assert body.generalized_force() == pytest.approx([2, 2, 0, 0, 0, 4])
    assert body.inv_mass_matrix_world() @ body.generalized_force() == pytest.approx([1, 1, 0, 0, 0, 4 / 3])
    body.clear_forces()
    assert body.generalized_force() == pytest.approx(np.zeros(6))


def test_right_side_is_that_of_baumgarte():
    bodies = random_bodies(3)
    rods = [DistanceConstraint(bodies, i, j, (0.1, 0, 0), (0, 0.2, 0), 1.0) for i, j in ((0, 1), (1, 2))]
    Minv, J, F, rhs, v = assemble_system(bodies, rods, alpha=5.0, beta=0.25)
    C = np.concatenate([rod.evaluate() for rod in rods])
    assert rhs == pytest.approx(-1.25 * J @ v - 5.0 * C)
    a, lam = solve_kkt(Minv, J, F, rhs)
    assert J @ a == pytest.approx(rhs)
    assert np.linalg.solve(Minv, a) == pytest.approx(F + J.T @ lam)


def test_repeated_constraints_share_and_contradictions_are_refused():
    bodies = random_bodies(2)
    rod = DistanceConstraint(bodies, 0, 1, (0.1, 0, 0), (0, 0.2, 0), 1.0)
    Minv, J, F, rhs, _ = assemble_system(bodies, [rod], alpha=2.0)
    a, lam = solve_kkt(Minv, J, F, rhs)
    twice = solve_kkt(Minv, np.vstack([J, J]), F, np.tile(rhs, 2))
    assert twice[0] == pytest.approx(a)
    assert twice[1] == pytest.approx(np.tile(lam / 2, 2))
    with pytest.raises(ValueError, match="contradict"):
        solve_kkt(Minv, np.vstack([J, J]), F, np.array([rhs[0], rhs[0] + 1.0]))


@pytest.mark.parametrize(("mass", "inertia", "named"), [(0.0, (1, 1, 1), "mass"), (1.0, (1, -1, 1), "inertia")])
def test_unphysical_bodies_are_refused_by_name(mass, inertia, named):
    with pytest.raises(ValueError, match=f"'Brick': {named}"):
        RigidBody6DOF("Brick", mass, inertia, (0, 0, 0), *AT_REST)
