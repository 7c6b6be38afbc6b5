# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of closed_forms.py and top_judge.py are zero on the exact motion, and as large as what is put on it."""

import closed_forms
import judge
import numpy as np
import pytest
import top_judge
import truth_scenes
from axion.solver import rotations
from comparison_scenes import GRAVITY
from smooth_motion import runge_kutta
from test_comparison_judge import still
from test_truth_judge import about, moved
from truth_scenes import TOP_ARM, TOP_LEAN, TOP_SPIN


def pushed(along):
    """The ball of a scene of closed_forms, ``along`` (times) -> way [m]."""

    def motion(scene, frames):
        made = still(scene, frames)
        made.position[:, 1, 0] += along(np.arange(frames + 1) / made.fps)
        return made

    return motion


@pytest.mark.parametrize("faster", [0.0, 0.02])
def test_a_pushed_ball_slides_and_rolls(faster):
    # TRUTH: v0 = 2, mu = 0.3: rolls at t = 0.194165 s, x = 0.332855 m, v = 1.428571.
    def way(t):
        rolls = 0.332855 + (1.0 + faster) * 1.428571 * (t - 0.194165)
        return np.where(t < 0.194165, 2.0 * t - 0.5 * 0.3 * GRAVITY * t**2, rolls)

    motion = pushed(way)(closed_forms.sliding_ball(), 72)
    assert closed_forms.rolling_speed_error(motion) == pytest.approx(faster, abs=1e-6)
    assert closed_forms.rolled_way_error(motion) == pytest.approx(faster * 1.428571 * 2.805835 / 4.341191, abs=1e-5)


def test_a_ball_rolls_down_with_the_acceleration_that_drake_states():
    def way(t):
        return 0.5 * 1.813582 * t * (t + 0.04)  # what any time step adds is no error

    assert closed_forms.rolling_acceleration_error(pushed(way)(closed_forms.rolling_ball(), 72)) < 1e-6
    assert closed_forms.rolling_acceleration_error(still(closed_forms.rolling_ball(), 72)) == pytest.approx(1.0)


def test_a_tossed_cube_is_told_by_its_height_at_the_end():
    motion = still(closed_forms.toss(), 24)
    motion.position[-1, 1, 2] = 0.253
    assert closed_forms.resting_height_error(motion) == pytest.approx(0.003)


def plate(scene, seconds, angle):
    """The plate of a scene of closed_forms, turned by ``angle`` (times) [rad]."""
    return moved(scene, round(24 * seconds), 24, lambda t: (np.zeros((len(t), 3)), about("y", angle(t))))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_motor_gains_speed_by_its_torque_and_keeps_it(sign):
    pull = 1.0 / (3.0 * (1.0 + 0.36) / 12.0)  # a plate of 1 m and 0.6 m

    def angle(t):
        return sign * np.where(t < 4.0 / pull, 0.5 * pull * t**2, 4.0 * t - 8.0 / pull)

    assert closed_forms.motor_angle_error(plate(closed_forms.motor(), 5, angle)) < 1e-9
    slow = plate(closed_forms.motor(), 5, lambda t: 0.999 * angle(t))
    assert closed_forms.motor_angle_error(slow) == pytest.approx(0.001 * (20.0 - 8.0 / pull), rel=1e-6)


def test_a_stop_is_told_by_how_far_it_gives_and_by_where_the_plate_ends():
    motion = plate(closed_forms.stop(), 2, lambda t: np.minimum(2.0 * t, 1.0) + 0.01 * np.exp(-((t - 1.0) ** 2) / 1e-3))
    assert closed_forms.beyond_limit(motion) == pytest.approx(0.01, rel=1e-6)
    assert closed_forms.stopped_angle_error(motion) < 1e-9
    back = plate(closed_forms.stop(), 2, lambda t: np.minimum(2.0 * t, 1.5 - t))
    assert closed_forms.beyond_limit(back) == 0.0
    assert closed_forms.stopped_angle_error(back) == pytest.approx(0.5)


@pytest.mark.parametrize(("longer", "smaller"), [(0.0, 0.0), (0.02, 0.0), (0.0, 0.03)])
def test_a_spring_is_told_by_its_period_and_its_amplitude(longer, smaller):
    def angle(t):
        return (1.0 - smaller) * 2.0 / (2.0 * np.pi) * np.sin(2.0 * np.pi * t / (1.0 + longer))

    motion = plate(closed_forms.spring(), 10, angle)
    assert closed_forms.spring_period_error(motion) == pytest.approx(longer, abs=1e-4)
    assert closed_forms.spring_swing_lost(motion) == pytest.approx(smaller, abs=1e-4)


def lagrange(spin=TOP_SPIN):
    """The exact motion of the scene's top, started with ``spin`` about its own axis alone [rad/s]."""
    scene = truth_scenes.top()
    mass, _, inertia = scene.bodies[0].mass_properties()
    across, own = inertia[0, 0] + mass * TOP_ARM**2, inertia[2, 2] * spin

    def rate(y):
        lean, nod, _, _ = y
        turn = own * (np.cos(TOP_LEAN) - np.cos(lean)) / (across * np.sin(lean) ** 2)
        pull = (across * turn * np.cos(lean) - own) * turn + mass * GRAVITY * TOP_ARM
        return np.array([nod, pull * np.sin(lean) / across, turn, spin - turn * np.cos(lean)])

    def place(times):
        lean, _, turn, own_turn = runge_kutta(rate, (TOP_LEAN, 0.0, 0.0, 0.0), times).T
        tilted = rotations.multiply(about("z", turn), about("x", lean))
        q = rotations.multiply(tilted, about("z", own_turn))
        # the scene's top leans towards -Y: as here at the start
        return TOP_ARM * rotations.rotate(q, np.array([0.0, 0.0, 1.0])[None]), q

    return moved(scene, 48, 24, place)


def test_momenta_and_energy_of_a_top_are_told_between_frames():
    motion = lagrange()
    assert motion.orientation[0, 0] == pytest.approx(motion.scene.bodies[0].orientation)
    assert top_judge.momentum_error(motion) < 1e-8
    assert top_judge.energy_error(motion) < 1e-8
    faster = lagrange(1.001 * TOP_SPIN)
    assert top_judge.momentum_error(faster) == pytest.approx(0.001, rel=1e-4)
    turning = 0.5 * motion.inertia[0, 2, 2] * TOP_SPIN**2
    lifted = turning + motion.mass[0] * GRAVITY * TOP_ARM * np.cos(TOP_LEAN)
    assert top_judge.energy_error(faster) == pytest.approx((1.001**2 - 1.0) * turning / lifted, rel=1e-4)


def test_a_top_whose_poses_are_no_motion_has_no_momentum():
    motion = lagrange()
    motion.orientation[:] = rotations.exponential(np.random.default_rng(1).normal(size=(49, 1, 3)))
    assert top_judge.momentum_error(motion) == np.inf
    assert judge.joint_error(motion) > 0.0
