# SPDX-License-Identifier: GPL-3.0-or-later
"""Conventions between Blender and the solver, against NumPy formulas."""

import math

import numpy as np
import pytest
from axion.axion_blender import conventions as c


def rotation(seed):
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


@pytest.mark.parametrize("seed", range(5))
def test_quaternion_and_matrix_are_inverse(seed):
    R = rotation(seed)
    assert np.allclose(c.rotation_matrix(c.quaternion(R)), R, atol=1e-14)


@pytest.mark.parametrize("axis", range(3))
def test_quaternion_of_half_turns(axis):
    # w = 0 there: formulas that divide by w fail.
    R = -np.eye(3)
    R[axis, axis] = 1.0
    q = c.quaternion(R)
    assert np.allclose(np.abs(q), np.eye(4)[axis], atol=1e-15)


def test_quaternion_takes_many():
    R = np.stack([rotation(seed) for seed in range(20)])
    assert np.allclose(c.quaternion(R), [c.quaternion(one) for one in R], atol=1e-15)


def test_orders_of_quaternions():
    # Half a turn about X is (w, x, y, z) = (0, 1, 0, 0) in Blender.
    assert np.array_equal(c.wxyz([1, 0, 0, 0]), [0, 1, 0, 0])
    assert np.array_equal(c.wxyz([[0.1, 0.2, 0.3, 0.5]]), [[0.5, 0.1, 0.2, 0.3]])


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 0.5, 3), (-1, 1, 1), (-1, -2, 1), (-1, -1, -3)])
def test_decompose_gives_back_the_matrix(scale):
    # W = T R S, and the frame must be a rotation whatever is mirrored.
    W = np.eye(4)
    W[:3, :3], W[:3, 3] = rotation(7) * scale, (4, -5, 6)
    pose = c.decompose(W)
    R = c.rotation_matrix(pose.orientation)
    assert np.isclose(np.linalg.det(R), 1.0)
    assert np.allclose(R * pose.scale, W[:3, :3], atol=1e-14)
    assert np.array_equal(pose.position, (4, -5, 6))
    assert np.allclose(pose.matrix() @ np.diag([*pose.scale, 1.0]), W, atol=1e-14)


def test_float32_noise_is_no_shear():
    W = np.eye(4)
    W[:3, :3] = rotation(3) * (1000.0, 0.001, 1.0)
    c.decompose(W.astype(np.float32))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda W: W.__setitem__((0, 3), np.nan), "NaN"),
        (lambda W: W.__setitem__((slice(0, 3), 1), 0.0), "scale is"),
        (lambda W: W.__setitem__((slice(0, 3), slice(0, 3)), 0.0), "scale is"),
        (lambda W: W.__setitem__((0, 1), 0.01), "sheared"),
    ],
)
def test_decompose_refuses(change, message):
    W = np.eye(4)
    change(W)
    with pytest.raises(ValueError, match=message):
        c.decompose(W)


def test_winding_keeps_the_outside_outside():
    # The signed volume of a closed surface, sum of a . (b x c) / 6, stays positive when the scale mirrors it.
    vertices = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.0)])
    triangles = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    for scale in ((1, 2, 3), (-1, 2, 3), (-1, -2, 3), (-1, -2, -3)):
        a, b, d = np.moveaxis(c.baked(vertices, scale)[c.wound(triangles, scale)], 1, 0)
        assert np.isclose((a * np.cross(b, d)).sum() / 6.0, abs(np.prod(scale)) / 6.0)


def test_rigid_motion_finds_what_moved_the_points():
    points = np.random.default_rng(0).normal(size=(30, 3))
    R, t = rotation(1), np.array([1, 2, 3.0])
    found, moved, error = c.rigid_motion(points, points @ R.T + t)
    assert np.allclose(found, R) and np.allclose(moved, t) and error < 1e-13


def test_rigid_motion_of_a_plane_is_a_rotation_and_of_a_stretch_has_an_error():
    # A flat set of points fits a mirror image just as well: the answer must be the rotation.
    flat = np.random.default_rng(0).normal(size=(9, 3)) * (1, 1, 0)
    found, _, error = c.rigid_motion(flat, flat)
    assert np.isclose(np.linalg.det(found), 1.0) and error < 1e-13
    # Stretched by 1 percent along X, the farthest of the points stays 1 percent of its distance away.
    points = np.array([(-1, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.0)])
    assert np.isclose(c.rigid_motion(points, points * (1.01, 1, 1))[2], 0.01, rtol=0.01)


@pytest.mark.parametrize("lost", [0.0, 0.04, 0.5, 0.999])
def test_damping_rate(lost):
    # After one second exp(-k) of the velocity is left.
    assert math.isclose(math.exp(-c.damping_rate(lost)), 1.0 - lost)


def test_bodies_collide_when_they_share_a_collection():
    def collide(a, b):
        (group_a, mask_a), (group_b, mask_b) = c.collision_bits(a), c.collision_bits(b)
        return bool(group_a & mask_b) and bool(group_b & mask_a)

    def only(*members):
        return [i in members for i in range(20)]

    assert collide(only(0), only(0, 5)) and collide(only(19), only(19))
    assert not collide(only(0), only(1)) and not collide(only(), only(0)) and not collide(only(), only())


def test_unit_scale_counts_with_a_unit_system_only():
    assert c.metres_per_unit("METRIC", 0.01) == 0.01
    assert c.metres_per_unit("NONE", 0.01) == 1.0
