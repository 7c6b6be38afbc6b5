# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed and mobility of joint rows from the kernel, against the Jacobians of the reference."""

import numpy as np
import pytest
from axion.solver import rotations
from axion.solver.constraints.observed import Observer
from axion.solver.frames import BodyFrames
from axion.solver.reference.rotation import world_inertia
from axion.solver.reference.rows import coordinates, jacobians
from step_problems import random_bodies, random_rows, unit


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_observed_as_the_reference_has_them(seed):
    rng = np.random.default_rng(seed)
    bodies = random_bodies(rng, 5, 2)
    rows = random_rows(rng, 12, bodies)  # every kind of coordinate; the last body is the world
    observer = Observer(rows, BodyFrames(bodies.mass[:-1], bodies.inertia[:-1], np.zeros((6, 3)), np.zeros((6, 4))))
    for _ in range(2):
        position, orientation, velocity = rng.normal(size=(6, 3)), unit(rng, 6, 4), rng.normal(size=(6, 6))
        got = observer.look(position, orientation, velocity)
        position, velocity = np.vstack([position, np.zeros(3)]), np.vstack([velocity, np.zeros(6)])
        orientation = np.vstack([orientation, rotations.IDENTITY])
        j_a, j_b = jacobians(rows, position, orientation)
        inverse = np.zeros((7, 6, 6))
        for i in range(5):
            inverse[i, :3, :3] = np.eye(3) / bodies.mass[i]
            inverse[i, 3:, 3:] = np.linalg.inv(world_inertia(orientation[i], bodies.inertia[i]))
        speed = np.einsum("ri,ri->r", j_a, velocity[rows.body_a]) + np.einsum("ri,ri->r", j_b, velocity[rows.body_b])
        mobility = sum(
            np.einsum("ri,rij,rj->r", j, inverse[body], j) for j, body in ((j_a, rows.body_a), (j_b, rows.body_b))
        )
        np.testing.assert_allclose(got[0], coordinates(rows, position, orientation), atol=1e-12)
        np.testing.assert_allclose(got[1], speed, atol=1e-12)
        np.testing.assert_allclose(got[2], mobility, atol=1e-12)
