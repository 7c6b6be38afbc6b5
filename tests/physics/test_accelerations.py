# SPDX-License-Identifier: GPL-3.0-or-later
"""A small step is Gauss's principle: (u+ - u-) / h tends to the least-constraint acceleration, in first order."""

import numpy as np
import pytest
from axion.solver import SolverConfig, simulate
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from axion.solver.reference.gauss import least_constraint_acceleration
from axion.solver.reference.multipliers import constraint_force, constraint_multipliers
from axion.solver.reference.rotation import exponential, multiply, world_inertia
from axion.solver.reference.rows import jacobians
from scenes import chain, four_bar

WORLD = np.array([[0.0, 0.0, 0.0, 1.0]])


def dense_jacobian(rows, x, q):
    count = len(x)
    J = np.zeros((len(rows), count + 1, 6))
    j_a, j_b = jacobians(rows, np.vstack([x, np.zeros(3)]), np.vstack([q, WORLD]))
    every = np.arange(len(rows))
    J[every, rows.body_a] += j_a
    J[every, rows.body_b] += j_b
    return J[:, :count].reshape(len(rows), -1)


def set_in_motion(scene, seed):
    """Gives the bodies a random velocity the joints allow; returns it and what the equations of motion need."""
    count, frames = len(scene.bodies), body_frames(scene)
    rows = JointTable(scene, frames).fixed
    x, q = frames.to_solver(
        np.array([b.position for b in scene.bodies]), np.array([b.orientation for b in scene.bodies])
    )
    J = dense_jacobian(rows, x, q)
    u = np.random.default_rng(seed).normal(scale=2.0, size=6 * count)
    u -= np.linalg.pinv(J) @ (J @ u)
    velocity = u.reshape(count, 6)
    for body, own in zip(scene.bodies, velocity, strict=True):
        body.linear_velocity, body.angular_velocity = own[:3], own[3:]

    def later(t):
        return dense_jacobian(rows, x + t * velocity[:, :3], multiply(exponential(t * velocity[:, 3:]), q))

    d = 1e-5
    Jdot_qdot = (later(d) - later(-d)) @ u / (2 * d)
    M, Q = np.zeros((6 * count, 6 * count)), np.zeros((count, 6))
    for i in range(count):
        inertia = world_inertia(q[i], frames.inertia[i])
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = frames.mass[i] * np.eye(3)
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = inertia
        Q[i, :3] = frames.mass[i] * scene.gravity
        Q[i, 3:] = -np.cross(velocity[i, 3:], inertia @ velocity[i, 3:])
    return velocity, M, Q.reshape(-1), J, Jdot_qdot


def loop():
    scene = four_bar()
    for joint in scene.joints:
        joint.axes = {}
    return scene


SCENES = {
    "double pendulum on hinges": lambda: chain(2, kind="hinge", sideways=True, length=0.5),
    "double pendulum on ball joints": lambda: chain(2, kind="ball", sideways=True, length=0.5),
    "closed loop of four bars": loop,
}


@pytest.mark.parametrize("name", SCENES)
def test_step_tends_to_the_least_constraint_acceleration(name):
    scene = SCENES[name]()
    velocity, M, Q, J, Jdot_qdot = set_in_motion(scene, seed=1)
    want = least_constraint_acceleration(M, np.linalg.solve(M, Q), J, -Jdot_qdot)
    # the same accelerations from multipliers (no drift yet: C = C' = 0)
    W = np.linalg.inv(M)
    zero = np.zeros(len(J))
    lam = constraint_multipliers(J, W, Q, Jdot_qdot, zero, zero, 0.0, 0.0)
    assert W @ (Q + constraint_force(J, lam)) == pytest.approx(want, abs=1e-6 * np.abs(want).max(initial=1.0))
    errors = []
    for h in (0.005, 0.0025):
        # residuals of 1e-11 m change the acceleration by 1e-11 / h^2, far below h times its rate
        config = SolverConfig(device="cpu", substeps=1, tolerance=1e-11)
        end = simulate(scene, 1, 1.0 / h, config)
        assert end.reports[0].converged and end.reports[0].substeps == 1
        got = (np.hstack([end.linear_velocity[1], end.angular_velocity[1]]) - velocity) / h
        errors.append(np.abs(got - want.reshape(-1, 6)).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)
    assert errors[1] < 0.1 * np.abs(want).max()


def test_bodies_held_entirely_do_not_accelerate():
    _, M, Q, J, Jdot_qdot = set_in_motion(chain(2, kind="fixed", sideways=True, length=0.5), seed=1)
    acceleration = least_constraint_acceleration(M, np.linalg.solve(M, Q), J, -Jdot_qdot)
    assert np.abs(acceleration).max() < 1e-10
