# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation channels over time: each form gives back the rotation, and no channel jumps.  Needs no Blender."""

import numpy as np
import pytest
from axion.axion_blender.writers import channels
from columns import columns_taken

ANGLES = np.linspace(0.0, 6.0 * np.pi, 400)
AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "skew": (1, -2, 3)}


def turning(axis, angles=ANGLES):
    """Rotation matrices (T, 1, 3, 3) about one axis: R = exp(angle [axis]x), from xyzw quaternions."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    q = np.concatenate([np.sin(angles / 2)[:, None] * axis, np.cos(angles / 2)[:, None]], axis=1)
    return channels.pose_matrices(np.zeros((len(angles), 3)), q)[:, None, :3, :3]


def axis_rotation(axis, angle):
    """The textbook matrix about one coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    m = np.eye(3)
    m[i, i] = m[j, j] = c
    m[i, j], m[j, i] = -s, s
    return m


def random_rotations(count):
    q = np.random.default_rng(3).normal(size=(count, 4))
    return channels.pose_matrices(np.zeros((count, 3)), q)[:, None, :3, :3]


def test_a_pose_matrix_turns_x_to_y_about_z():
    half = np.sqrt(0.5)
    m = channels.pose_matrices([1.0, 2.0, 3.0], [0.0, 0.0, half, half])
    assert np.allclose(m @ [1, 0, 0, 1], [1, 3, 3, 1], atol=1e-15)


def test_the_inverse_of_a_rigid_matrix_undoes_it():
    random = np.random.default_rng(8)
    pose = channels.pose_matrices(random.normal(size=(7, 5, 3)), random.normal(size=(7, 5, 4)))
    assert np.abs(channels.rigid_inverse(pose) @ pose - np.eye(4)).max() < 1e-14


def test_quaternions_give_the_matrix_back_at_every_angle():
    rotation = np.concatenate([random_rotations(500), turning((0, 0, 1), np.array([np.pi, 0.0, 1e-9]))])
    q = channels.quaternions(rotation)
    back = channels.pose_matrices(np.zeros((*q.shape[:2], 3)), np.roll(q, -1, axis=-1))[..., :3, :3]
    assert np.abs(back - rotation).max() < 1e-14


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_quaternion_keys_follow_the_short_way(axis):
    q = channels.continuous_quaternions(turning(axis), [[-1.0, 0.0, 0.0, 0.0]])[:, 0]
    # Neighbours on the unit sphere are half the rotation angle apart: |dq| = 2 sin(step / 4).
    step = ANGLES[1]
    assert np.allclose(np.linalg.norm(np.diff(q, axis=0), axis=1), 2 * np.sin(step / 4), atol=1e-9)
    assert q[0, 0] < 0.0, "the first key keeps the sign the object had"


@pytest.mark.parametrize("order", channels.EULER_ORDERS)
def test_eulers_give_the_matrix_back_in_every_order(order):
    rotation = random_rotations(300)
    angles = channels.continuous_eulers(rotation, order, np.zeros((1, 3)))[:, 0]
    for matrix, triple in zip(rotation[:, 0], angles, strict=True):
        back = np.eye(3)
        for letter in order:  # the first letter turns first
            axis = "XYZ".index(letter)
            back = axis_rotation(axis, triple[axis]) @ back
        assert np.abs(back - matrix).max() < 1e-12


@pytest.mark.parametrize("order", channels.EULER_ORDERS)
def test_eulers_of_a_spin_about_the_last_axis_grow_without_a_jump(order):
    axis = "XYZ".index(order[2])
    rotation = turning(np.eye(3)[axis])
    start = np.zeros((1, 3))
    start[0, axis] = 4 * np.pi
    angles = channels.continuous_eulers(rotation, order, start)[:, 0]
    assert np.allclose(angles[:, axis], ANGLES + 4 * np.pi, atol=1e-9), "turns that the object already had are kept"
    assert np.abs(np.delete(angles, axis, axis=1)).max() < 1e-9


@pytest.mark.parametrize("order", channels.EULER_ORDERS)
@pytest.mark.parametrize("sign", (1.0, -1.0))
def test_eulers_in_gimbal_lock_stay_put_and_stay_right(order, sign):
    i, j, k = ("XYZ".index(letter) for letter in order)
    last = axis_rotation(k, 0.4) @ axis_rotation(j, sign * np.pi / 2) @ axis_rotation(i, 0.9)
    start = np.zeros((1, 3))
    start[0, [i, j, k]] = 0.9, sign * np.pi / 2, 0.4
    angles = channels.continuous_eulers(np.repeat(last[None, None], 3, axis=0), order, start)
    assert np.allclose(angles, start, atol=1e-7)


@pytest.mark.parametrize("order", channels.EULER_ORDERS)
@pytest.mark.parametrize("sign", (1.0, -1.0))
def test_eulers_near_gimbal_lock_are_as_exact_as_the_rotation(order, sign):
    """Matrices that come from products in single precision are 1e-7 off orthonormal."""
    random = np.random.default_rng(5)
    i, j, k = ("XYZ".index(letter) for letter in order)
    off = np.concatenate([[0.0], 10.0 ** random.uniform(-8.0, -3.0, 399)])  # from the lock [rad]
    alpha, gamma = random.uniform(-np.pi, np.pi, (2, len(off)))
    rotation = np.stack(
        [
            axis_rotation(k, c) @ axis_rotation(j, sign * (np.pi / 2 - b)) @ axis_rotation(i, a)
            for a, b, c in zip(alpha, off, gamma, strict=True)
        ]
    )
    rotation += random.uniform(-6e-8, 6e-8, rotation.shape)
    angles = channels.continuous_eulers(rotation[:, None], order, np.zeros((1, 3)))[:, 0]
    for matrix, triple in zip(rotation, angles, strict=True):
        back = axis_rotation(k, triple[k]) @ axis_rotation(j, triple[j]) @ axis_rotation(i, triple[i])
        assert np.abs(back - matrix).max() < 5e-7


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_axis_angle_counts_turns_and_keeps_its_axis(axis):
    unit = np.asarray(axis, float) / np.linalg.norm(axis)
    keys = channels.continuous_axis_angles(turning(axis), [[0.0, *unit]])[:, 0]
    assert np.allclose(keys[:, 0], ANGLES, atol=1e-9)
    assert np.allclose(keys[:, 1:], unit, atol=1e-6)


@pytest.mark.parametrize("step", (0.1, 1.5), ids=("smooth", "wild"))
@pytest.mark.parametrize("order", channels.EULER_ORDERS)
def test_eulers_of_all_frames_at_once_are_those_found_frame_by_frame(order, step):
    """Near gimbal lock the nearest triple changes from one form to the other; wild motion needs full turns, too."""
    random = np.random.default_rng(7)
    q = np.cumsum(random.normal(0.0, step, (400, 20, 4)), axis=0) + random.normal(size=(1, 20, 4))
    rotation = channels.pose_matrices(np.zeros((400, 20, 3)), q)[..., :3, :3]
    axes, odd = channels.EULER_ORDERS[order]
    i, j, k = axes
    parity = -1.0 if odd else 1.0
    first = np.empty((400, 20, 3))
    first[..., i] = np.arctan2(rotation[..., k, j], rotation[..., k, k])
    first[..., j] = np.arcsin(np.clip(-rotation[..., k, i], -1.0, 1.0))
    first[..., k] = np.arctan2(rotation[..., j, i], rotation[..., i, i])
    start = random.normal(0.0, 9.0, (20, 3))
    never = np.zeros((400, 20), bool)
    wanted = parity * channels._followed(first, axes, parity * start, never, np.zeros((400, 20)))
    assert (np.abs(wanted[..., j]) > 0.5 * np.pi).any(), "both forms must occur"
    # The arc sine loses half the digits at its ends.
    assert np.abs(channels.continuous_eulers(rotation, order, start) - wanted).max() < 1e-7


def test_the_bits_of_keys_do_not_go_by_where_in_memory_they_are(monkeypatch):
    columns, rotation = columns_taken(monkeypatch), np.ascontiguousarray(random_rotations(300))
    channels.continuous_eulers(rotation, "XYZ", np.zeros((1, 3)))
    channels.continuous_axis_angles(rotation, [[0.0, 1.0, 0.0, 0.0]])
    assert not columns
