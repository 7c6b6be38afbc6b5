# SPDX-License-Identifier: GPL-3.0-or-later
"""What slides in a fit slides in single precision, too: the scenes of test_fits.py, at the bounds that hold there.

Rounding squeezed it: in a shaft with 1e-5 m of clearance a box fell at 4.1 m/s after a second, and a car with wheels
flush with it came to 0.08 m/s from 5, in frames that had converged.
"""

import numpy as np
import pytest
import test_fits
from axion.solver import Body, Box, Scene, SolverConfig, rotations, simulate
from scenes import turned

pytestmark = pytest.mark.usefixtures("single")


@pytest.fixture
def single(monkeypatch):
    monkeypatch.setattr(test_fits, "CPU", SolverConfig(device="cpu", precision="float32"))
    figure = test_fits.figure
    monkeypatch.setattr(test_fits, "figure", lambda name, *rest: figure(f"{name}, in float32", *rest))


@pytest.mark.parametrize("count, gap", [(1, 1e-7), (1, 1e-5), (3, 0.0), (3, 1e-5)])
def test_boxes_fall_through_a_shaft_that_they_fit(count, gap):
    test_fits.test_boxes_fall_through_a_shaft_that_they_fit(count, gap)


def test_a_drawer_slides_as_far_as_its_floor_lets_it():
    test_fits.test_a_drawer_slides_as_far_as_its_floor_lets_it(0.0)


def test_a_pendulum_swings_along_a_wall():
    test_fits.test_a_pendulum_swings_along_a_wall(0.0)


def test_a_car_with_wheels_flush_with_it_rolls_on():
    test_fits.test_a_car_with_wheels_flush_with_it_rolls_on()


def test_wheels_flush_with_what_they_hang_on_spin_on():
    test_fits.test_wheels_flush_with_what_they_hang_on_spin_on()


@pytest.mark.parametrize("gap", [0.0, 1e-5])
def test_a_box_falls_through_a_shaft_whose_faces_lie_along_no_axis(gap):
    # It fell at 8.5 and at 6 m/s.
    frame = rotations.multiply(turned("z", 0.5), turned("x", 0.35))
    scene = Scene(gravity=tuple(rotations.rotate(frame, np.array([0.0, 0.0, -9.81]))))
    sides = [((0.05, 0.4, 9.0), (0.3 + gap, 0.0, 0.0)), ((0.4, 0.05, 9.0), (0.0, 0.3 + gap, 0.0))]
    for k, (half, place) in enumerate((half, sign * np.array(place)) for half, place in sides for sign in (-1.0, 1.0)):
        place = tuple(rotations.rotate(frame, place))
        scene.add(Body(f"Wall {k}", [Box(half)], motion="static", position=place, orientation=frame))
    scene.add(Body("Box", [Box((0.25, 0.25, 0.25))], orientation=frame))
    trajectory = simulate(scene, 24, config=test_fits.CPU)
    assert all(report.converged for report in trajectory.reports)
    speed = np.linalg.norm(trajectory.linear_velocity[-1, 4])
    name = f"box in a turned shaft with {gap:g} m of clearance"
    assert test_fits.figure(name, "speed after a second", speed, 9.81, "m/s") == pytest.approx(9.81, rel=1e-3)
