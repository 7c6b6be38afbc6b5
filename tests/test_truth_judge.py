# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of truth_judge.py on motions whose answers are known in closed form."""

import judge
import numpy as np
import pytest
import top_judge
import truth_judge
import truth_scenes
from axion.solver import rotations
from comparison_scenes import GRAVITY
from smooth_motion import swing
from test_comparison_judge import still
from truth_scenes import BLOCK, THINNEST_ARCH, TOP_LEAN


def moved(scene, frames, fps, place):
    """A motion of body 0: ``place(times)`` -> (position (T, 3), orientation (T, 4))."""
    motion = still(scene, frames)
    motion.position[:, 0], motion.orientation[:, 0] = place(np.arange(frames + 1) / fps)
    return judge.Motion(scene, motion.position, motion.orientation, fps)


def about(axis, angle):
    """Turns (T, 4) about a coordinate axis."""
    return rotations.exponential(np.asarray(angle)[:, None] * np.eye(3)["xyz".index(axis)])


@pytest.mark.parametrize(("faster", "smaller"), [(1.0, 1.0), (1.02, 1.0), (1.0, 0.97)])
def test_a_swing_is_told_by_its_period_and_its_top(faster, smaller):
    # The exact swing of the physical pendulum: theta'' = -pull sin theta; played too fast, or made smaller.
    scene = truth_scenes.pendulum()
    pull = 9.81 / (1.0 + 0.4 * 0.1**2)

    def place(times):
        angle = smaller * (swing(0.0, 0.0, pull, faster * times)[:, 0] + 0.5 * np.pi)
        zero = 0.0 * angle
        return np.column_stack([np.sin(angle), zero, -np.cos(angle)]), about("y", -angle)

    motion = moved(scene, 240, 24, place)
    if smaller == 1.0:
        assert truth_judge.swing_period_error(motion) == pytest.approx(1.0 - 1.0 / faster, abs=1e-3)
    else:
        # the amplitude is told against the start, which is smaller as well
        motion.position[0, 0] = (1.0, 0.0, 0.0)
    assert truth_judge.swing_lost(motion) == pytest.approx(1.0 - smaller, abs=1e-3)


def test_crowns_are_counted_arch_by_arch():
    scene = truth_scenes.arches(1.05)
    motion = still(scene, 3)
    assert truth_judge.arches_standing(motion) == len(THINNEST_ARCH) and truth_judge.arches_fallen(motion) == 0
    assert len({body.name for body in scene.bodies}) == len(scene.bodies)
    for stones, sunk in ((7, 0.005), (51, 2.0)):
        key = scene.index(f"{stones} stones: Stone {stones // 2}")
        motion.position[2, key, 2] -= sunk
    assert truth_judge.arches_standing(motion) == len(THINNEST_ARCH) - 1
    assert truth_judge.arches_fallen(motion) == 1
    assert truth_judge.worst_crown(motion) == pytest.approx(0.2, rel=1e-2)


def test_sizes_are_those_of_a_box():
    for size in (0.02, 50.0):
        motion = still(truth_scenes.scaled_stack(size), 48)
        motion.position[-24:, 3, 0] += 0.1 * size
        assert truth_judge.drift_in_sizes(motion) == pytest.approx(0.1)
        assert truth_judge.penetration_in_sizes(motion) == pytest.approx(0.0, abs=1e-12)
        want = 0.1 * np.sqrt(24.0 / 10.0) * np.sqrt(size / 9.81)  # one jump in a second, one box of ten
        assert truth_judge.speed_in_sizes(motion) == pytest.approx(want)


def test_bricards_law_holds_at_the_start_and_not_when_a_rod_turns_alone():
    motion = still(truth_scenes.bricard(), 20)
    assert truth_judge.bricard_law(motion) < 1e-12
    rod = motion.scene.index("Rod 2")
    motion.orientation[5, rod] = rotations.multiply(about("z", [0.1])[0], motion.orientation[5, rod])
    assert truth_judge.bricard_law(motion) == pytest.approx(np.sin(0.1), rel=0.1)


def test_four_bars_are_compared_with_their_equation():
    scene, fps = truth_scenes.four_bars(3), 96
    pull = truth_scenes.four_bars_pull(3)
    # thin links: k = g ((N + 1) / 2 + N) / ((N + 1) / 3 + N); bars of 0.1 m turn a little harder
    assert pull == pytest.approx(9.81 * 5.0 / (4.0 / 3.0 + 3.0), rel=1e-2)

    def place(times):
        phi = swing(0.5 * np.pi, -1.0, pull, times)[:, 0]
        return 0.5 * np.column_stack([np.cos(phi), 0.0 * phi, np.sin(phi)]), about("y", 0.5 * np.pi - phi)

    motion = moved(scene, 96, fps, place)
    assert truth_judge.four_bars_error(motion) < 1e-9
    motion.position[40, 0] += (0.005, 0.0, 0.0)
    assert truth_judge.four_bars_error(motion) == pytest.approx(0.01, rel=1e-3)


def test_door_and_top_are_told_by_their_angles():
    door = moved(truth_scenes.door(), 240, 24, lambda t: (np.zeros((len(t), 3)), about("z", 1.001 * t)))
    assert truth_judge.door_error(door) == pytest.approx(0.01, rel=1e-6)
    top = still(truth_scenes.top(), 20)
    assert top_judge.lean_excess(top) < 0.0
    top.orientation[3, 0] = about("x", [2.0 * TOP_LEAN])[0]
    # started with its spin alone a top nods down to 2 m g l sin(lean) / (L3^2 / I1) below its start
    assert 0.2 < top_judge.lean_excess(top) < 1.0


@pytest.mark.parametrize("fps", (24, 960))
def test_ratio_of_the_rocking_block_is_told_between_frames(fps):
    # Housner: r = 1 - 1.5 sin^2 alpha = 0.911765, from a lean of alpha / 2; on a toe lean'' = -p^2 sin(alpha - lean).
    alpha, pull = np.arctan(BLOCK[0] / BLOCK[2]), 1.5 * GRAVITY / np.hypot(BLOCK[0], BLOCK[2])
    turn, before = 0.5 * np.pi - alpha, np.sqrt(2.0 * pull * (np.cos(0.5 * alpha) - np.cos(alpha)))
    fall = np.linspace(0.0, 0.3123, 2)
    assert swing(turn + 0.5 * alpha, 0.0, pull, fall)[-1] == pytest.approx([turn, -before], abs=1e-3)

    times = np.arange(int(0.7 * fps) + 1) / fps
    down, up = times[times < 0.312309], times[times >= 0.312309] - 0.312309
    fallen = swing(turn + 0.5 * alpha, 0.0, pull, down)[:, 0] - turn
    risen = swing(turn, 0.911765 * before, pull, [0.0, *up])[1:, 0] - turn
    motion = still(truth_scenes.rocking_block(), len(times) - 1)
    motion = judge.Motion(motion.scene, motion.position, motion.orientation, fps)
    motion.orientation[:, 1] = about("y", -np.concatenate([fallen, -risen]))
    assert truth_judge.rocking_ratio(motion) == pytest.approx(0.911765, abs=1e-4)
    motion.orientation[-1, 1] = about("y", [1.1 * alpha])[0]
    assert truth_judge.rocking_ratio(motion) == np.inf
