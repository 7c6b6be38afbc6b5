# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint damping: what it takes away, what it leaves, and what it measures motion against."""

import numpy as np
import pytest
from axion.solver import metrics
from axion.solver.joint_damping import damp_joints
from step_problems import random_bodies, unit


def links(*pairs):
    return tuple(np.array(side) for side in zip(*pairs, strict=True))


def case(seed=5, dynamic=4, immovable=2):
    rng = np.random.default_rng(seed)
    bodies = random_bodies(rng, dynamic, immovable)
    pose = rng.normal(size=(dynamic + immovable, 3)), unit(rng, dynamic + immovable, 4)
    return bodies, pose, bodies.velocity[:dynamic].copy()


def test_a_free_group_keeps_its_momenta_and_loses_the_rest():
    bodies, pose, velocity = case()
    n = len(velocity)
    args = bodies.mass[:n], bodies.inertia[:n], pose[1][:n]
    for decay in (0.7, 0.0):
        damped = damp_joints(velocity, bodies, links((0, 1), (1, 2), (2, 3)), pose, decay)
        for before, after in ((velocity, damped),):
            assert metrics.linear_momentum(args[0], after) == pytest.approx(metrics.linear_momentum(args[0], before))
            spin = [metrics.angular_momentum(*args, u, pose[0][:n]) for u in (before, after)]
            assert spin[1] == pytest.approx(spin[0])
    # decay 0: one rigid body; every point's velocity is v + w x r with one w
    assert np.abs(damped[:, 3:] - damped[0, 3:]).max() < 1e-12
    arm = pose[0][:n] - pose[0][0]
    assert damped[:, :3] == pytest.approx(damped[0, :3] + np.cross(damped[:, 3:], arm))


def test_a_group_on_an_anchor_is_slowed_against_the_anchor():
    bodies, pose, velocity = case()
    damped = damp_joints(velocity, bodies, links((0, 4), (0, 1)), pose, 0.25)
    anchor = bodies.velocity[4]
    for i in (0, 1):
        carried = np.append(anchor[:3] + np.cross(anchor[3:], pose[0][i] - pose[0][4]), anchor[3:])
        assert damped[i] == pytest.approx(carried + 0.25 * (velocity[i] - carried))
    assert np.array_equal(damped[2:], velocity[2:])  # no joint, no damping


def test_a_rigid_motion_is_not_slowed():
    bodies, pose, _ = case()
    turn = np.array([0.3, -0.2, 0.9])
    velocity = np.hstack([np.array([1.0, 2.0, 3.0]) + np.cross(turn, pose[0][:4]), np.tile(turn, (4, 1))])
    assert damp_joints(velocity, bodies, links((0, 1), (2, 3)), pose, 0.0) == pytest.approx(velocity)
