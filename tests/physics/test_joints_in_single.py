# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints hold in single precision as in double: scenes of other files, at the bounds that hold there.

Newton's matrix in float32 rounded a hundredth of a mass off beside joints, and what it left went to one side: glued
boxes lost 3e-4 of their angular momentum in two seconds, and a nudged chain gained a third of its energy.
"""

from functools import partial

import pytest
import test_glued_flight
import test_joint_limits
import test_link_chains
import test_overlapping_starts
import test_soft_joints
import test_swinging
from axion.solver import SolverConfig, simulate
from figures import figure
from in_single import SINGLE, solve_in_single
from scenes import chain


@pytest.fixture
def single(monkeypatch):
    return partial(solve_in_single, monkeypatch)


def test_glued_boxes_keep_their_spin(single):
    single(test_glued_flight)
    test_glued_flight.test_glued_boxes_keep_their_spin(test_glued_flight.SQUARE, (0, 0, 6))


def test_a_chain_that_was_nudged_gains_no_energy(single):
    single(test_swinging)
    test_swinging.test_chain_that_was_nudged_gains_no_energy(10, 100, 24)


def test_a_damper_slows_exponentially(single):
    single(test_soft_joints)
    test_soft_joints.test_damper_slows_exponentially_however_stiff("damper", 1e4, 24)


def test_what_a_broken_joint_lets_go_falls_freely(single):
    single(test_joint_limits)
    test_joint_limits.test_overloaded_cantilever_breaks_at_its_root_alone(24)


def test_folded_limbs_part_about_their_common_centre(single):
    single(test_overlapping_starts)
    test_overlapping_starts.test_pushed_apart_without_speed("folded limbs")


def test_links_that_only_touch_hang_still(single):
    # No joints, but factored like them on the CPU.
    single(test_link_chains)
    test_link_chains.test_chains_hang_still("tori", 5, 5.0, test_link_chains.STILL, 96)


def test_newton_takes_no_more_iterations():
    # 50 links swing with a ball of a thousand times their mass: half as many again.
    taken = []
    for config in (SolverConfig(device="cpu", precision="float64"), SINGLE):
        motion = simulate(chain(50, 1000.0, sideways=True), 24, config=config)
        taken.append(sum(report.newton_iterations for report in motion.reports))
    most = 1.1 * taken[0]
    assert figure("50 links swing, in float32", "Newton iterations", taken[1], most) <= most
