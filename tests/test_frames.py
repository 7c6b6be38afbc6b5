# SPDX-License-Identifier: GPL-3.0-or-later
"""Solver frames: at the centre of mass, along the principal axes, and back."""

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, rotations
from axion.solver.frames import body_frames, principal_axes
from axion.solver.reference.rotation import world_inertia
from step_problems import unit


def scene(rng):
    out = Scene()
    for i in range(5):
        spread = rng.normal(size=(4, 3))
        A = spread.T @ spread + np.eye(3)
        tensor = np.trace(A) * np.eye(3) - A  # of four points and a ball: moments obey the triangle inequality
        out.add(Body(f"B{i}", [Box((1, 1, 1))], center_of_mass=rng.normal(size=3), inertia=tensor, mass=1.0 + i))
    out.add(Body("Wall", [Box((1, 1, 1), position=(0.5, 0, 0))], motion="static"))
    return out


def test_there_and_back_again():
    rng = np.random.default_rng(0)
    frames = body_frames(scene(rng))
    position, orientation = rng.normal(size=(6, 3)), unit(rng, 6, 4)
    x, q = frames.to_solver(position, orientation)
    back = frames.to_body(x, q)
    assert back[0] == pytest.approx(position, abs=1e-14)
    assert back[1] == pytest.approx(orientation, abs=1e-14)
    # the solver frame sits at the centre of mass
    assert x == pytest.approx(position + rotations.rotate(orientation, frames.center), abs=1e-14)


def test_local_points_are_the_same_points():
    rng = np.random.default_rng(1)
    frames = body_frames(scene(rng))
    position, orientation = rng.normal(size=(6, 3)), unit(rng, 6, 4)
    x, q = frames.to_solver(position, orientation)
    body, point = rng.integers(0, 6, 30), rng.normal(size=(30, 3))
    world = position[body] + rotations.rotate(orientation[body], point)
    assert x[body] + rotations.rotate(q[body], frames.local(body, point)) == pytest.approx(world, abs=1e-13)


def test_principal_moments_make_the_tensor_again():
    rng = np.random.default_rng(2)
    given = scene(rng)
    frames = body_frames(given)
    for i, body in enumerate(given.bodies[:5]):
        assert world_inertia(frames.principal[i], frames.inertia[i]) == pytest.approx(body.inertia, abs=1e-13)


def test_immovable_bodies_are_infinite_and_centred():
    frames = body_frames(scene(np.random.default_rng(3)))
    assert np.isinf(frames.mass[5]) and np.isinf(frames.inertia[5]).all()
    assert frames.center[5] == pytest.approx([0.5, 0, 0])


def test_diagonal_tensors_keep_their_axes():
    moments, axes = principal_axes(np.diag([3.0, 1.0, 2.0]))
    assert moments.tolist() == [3.0, 1.0, 2.0]
    assert axes.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_axes_are_a_rotation_even_where_moments_repeat(seed):
    rng = np.random.default_rng(seed)
    q = unit(rng, 1, 4)[0]
    tensor = world_inertia(q, np.array([2.0, 2.0, 5.0]))
    moments, axes = principal_axes(tensor)
    assert world_inertia(axes, moments) == pytest.approx(tensor, abs=1e-14)
