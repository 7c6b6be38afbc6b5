# SPDX-License-Identifier: GPL-3.0-or-later
"""What slides in a fit slides in single precision, too: the scenes of test_fits.py, at the bounds that hold there.

Rounding squeezed it: in a shaft with 1e-5 m of clearance a box fell at 4.1 m/s after a second, and a car with wheels
flush with it came to 0.08 m/s from 5, in frames that had converged.  What is factored is float64 in any precision, so
islands without joints iterate here.
"""

import pytest
import test_fits
from as_on_cuda import iterate_without_joints
from in_single import solve_in_single

pytestmark = pytest.mark.usefixtures("single")


@pytest.fixture
def single(monkeypatch):
    iterate_without_joints(monkeypatch)
    solve_in_single(monkeypatch, test_fits)


@pytest.mark.parametrize("count, gap", [(1, 1e-7), (1, 1e-5), (3, 0.0), (3, 1e-5)])
def test_boxes_fall_through_a_shaft_that_they_fit(count, gap):
    test_fits.test_boxes_fall_through_a_shaft_that_they_fit(count, gap)


def test_a_drawer_slides_as_far_as_its_floor_lets_it():
    test_fits.test_a_drawer_slides_as_far_as_its_floor_lets_it(0.0)


def test_a_pendulum_swings_along_a_wall():
    test_fits.test_a_pendulum_swings_along_a_wall(0.0)


def test_a_car_with_wheels_flush_with_it_rolls_on():
    test_fits.test_a_car_with_wheels_flush_with_it_rolls_on(1, 96)


def test_wheels_flush_with_what_they_hang_on_spin_on():
    test_fits.test_wheels_flush_with_what_they_hang_on_spin_on(0.8)


@pytest.mark.parametrize("gap", [0.0, 1e-5])
def test_a_box_falls_through_a_shaft_whose_faces_lie_along_no_axis(gap):
    # It fell at 8.5 and at 6 m/s.
    test_fits.test_a_box_falls_through_a_shaft_whose_faces_lie_along_no_axis(0, gap, 0.0)
