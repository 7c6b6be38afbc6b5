# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison's scenes as Blender's own rigid bodies: material, velocities and motors arrive in Bullet."""

import comparison_scenes
import judge
import numpy as np
import pytest
from axion.solver import Body, Box, Scene
from engines import ENGINES, bullet, common

FPS = 24
HIGH = ENGINES["bullet_high"].settings


def motion_of(scene, frames):
    watch = common.Watch()
    position, orientation = bullet.run(scene, frames, FPS, watch, **HIGH)
    assert len(watch.cpu_ms) == frames
    return judge.Motion(scene, position, orientation, FPS)


def test_body_is_thrown_and_spun_as_the_scene_says():
    # Semi-implicit Euler with step h falls by g t (t + h) / 2; keyframes at 24 fps carry the velocity into the start.
    thrown = Body("Box", [Box((0.2, 0.2, 0.2))], linear_velocity=(2.0, 0.0, 5.0), angular_velocity=(0.0, 0.0, 3.0))
    motion = motion_of(Scene(bodies=[thrown]), 24)
    step = 1.0 / (FPS * HIGH["substeps"])
    wanted = np.array([2.0, 0.0, 5.0 - 0.5 * 9.81 * (1.0 + step)])
    # what the keyframes leave of a velocity is exact to 1e-3
    assert motion.position[-1, 0] == pytest.approx(wanted, abs=5e-3)
    turn = judge.angular_velocity(motion.orientation, FPS)
    assert turn[-1, 0] == pytest.approx([0.0, 0.0, 3.0], abs=3e-3)


def test_friction_of_a_pair_is_the_scene_s():
    # Blender multiplies the coefficients of the two bodies; a wrong one would show in the acceleration at once.
    assert judge.acceleration_error(motion_of(comparison_scenes.incline(27.5), 48)) < 1e-3


def test_motor_turns_the_crank_at_the_speed_and_in_the_direction_of_its_drive():
    motion = motion_of(comparison_scenes.four_bar(), 48)
    assert judge.crank_error(motion) < 1e-2
    assert judge.joint_error(motion) < 1e-4
    crank = judge.angular_velocity(motion.orientation, FPS)[-1, motion.scene.index("Crank")]
    assert crank == pytest.approx([0.0, comparison_scenes.CRANK_SPEED, 0.0], abs=0.03)


def test_translation_that_moves_the_start_is_refused():
    scene = comparison_scenes.incline(26.0)
    recording = common.Recording(scene, common.Watch())
    with pytest.raises(RuntimeError, match=r"the bodies start 0\.01 m"):
        recording.check_start([(0.0, 0.01, 0.5)], [(0.0, 0.0, 0.0, 1.0)])
    with pytest.raises(RuntimeError, match="away from where the scene has them"):
        recording.check_start([(np.nan, 0.0, 0.5)], [(0.0, 0.0, 0.0, 1.0)])


def test_run_ends_when_its_cpu_time_is_spent():
    watch = common.Watch(cpu_limit=0.0)
    position, _ = bullet.run(comparison_scenes.stack(3), 48, FPS, watch, **HIGH)
    assert len(position) == len(watch.cpu_ms) + 1 < 49
