# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands on or leans against what keyframes carry round a place far from its middle: friction holds it or not.

A seat on an arm, a plate that presses what lies against it inwards, a drum.  On all of them the rider needs
w^2 r of acceleration towards the axis, from friction below it or from the push of the wall, whatever the step.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, simulate
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
G, HALF = 9.81, 0.1


def circling(spin, seconds, center=(0.0, 0.0, 0.0), rate=24):
    """MotionPath of a frame that goes round the Z axis from ``center``, sampled ``rate`` times a second."""
    times = np.arange(int(seconds * rate) + 2) / rate
    angle = spin * times
    turn = np.array([turned("z", each) for each in angle])
    place = [(center[0] * np.cos(each), center[0] * np.sin(each), center[2]) for each in angle]
    return MotionPath(times, np.array(place), turn)


def rider(scene, radius, spin, friction, height=HALF):
    scene.add(Body("Rider", [Box((HALF,) * 3)], position=(radius, 0, height), mass=1.0, friction=friction,
                   linear_velocity=(0, spin * radius, 0), angular_velocity=(0, 0, spin)))  # fmt: skip


def seat(kind, spin, radius, share, seconds, rate=24):
    """A rider on a seat with ``share`` times the friction that it needs.

    kind: "arm", whose frame is on the axis and its shape off it, or "seat", whose frame goes round.
    """
    scene, friction = Scene(), share * spin**2 * radius / G
    arm = kind == "arm"
    shape = Box((0.4, 0.4, 0.02), position=(radius if arm else 0.0, 0.0, -0.02))
    path = circling(spin, seconds, (0.0 if arm else radius, 0.0, 0.0), rate)
    scene.add(Body("Seat", [shape], motion="kinematic", friction=friction, path=path))
    rider(scene, radius, spin, friction)
    return scene


def strayed(trajectory, spin):
    """(frames + 1, 3) way of the rider, as what carries it sees it [m]."""
    place, angle = trajectory.position[:, -1].astype(float), spin * trajectory.times
    along = place[:, 0] * np.cos(angle) + place[:, 1] * np.sin(angle)
    across = place[:, 1] * np.cos(angle) - place[:, 0] * np.sin(angle)
    return np.stack([along - along[0], across, place[:, 2] - place[0, 2]], axis=1)


@pytest.mark.parametrize("fps", [24, 96])
@pytest.mark.parametrize("kind", ["arm", "seat"])
@pytest.mark.parametrize(("spin", "radius", "share"), [(1.5, 1.5, 1.1), (0.75, 4.0, 1.1)])
def test_rider_keeps_its_seat(spin, radius, share, kind, fps):
    # It crept out by 0.4 m in four seconds, and fell off, in frames that had converged.
    trajectory = simulate(seat(kind, spin, radius, share, 4.0, fps), 4 * fps, fps, config=CPU)
    off = np.abs(strayed(trajectory, spin)).max()
    name = f"rider on a {kind} at {spin} rad/s, {radius} m off, {fps} fps"
    assert figure(name, "off its place after 4 s [m]", off, "< 1e-3") < 1e-3
    assert all(report.converged for report in trajectory.reports)


def test_rider_slides_where_friction_is_not_enough():
    trajectory = simulate(seat("seat", 1.5, 1.5, 0.9, 2.0), 48, config=CPU)
    assert np.abs(strayed(trajectory, 1.5)[-1, :2]).max() > 0.05


def wall(spin, radius, share, seconds, fps):
    """A rider that a plate which goes round presses inwards, with ``share`` times the friction that holds it up."""
    scene, friction = Scene(), share * G / (spin**2 * radius)
    plate = Box((0.05, 1.0, 4.0), position=(radius + HALF + 0.05, 0, 0))
    scene.add(Body("Plate", [plate], motion="kinematic", friction=friction, path=circling(spin, seconds, rate=fps)))
    rider(scene, radius, spin, friction, 0.0)
    return scene


@pytest.mark.parametrize("fps", [24, 96])
@pytest.mark.parametrize(("spin", "radius"), [(4.0, 2.0), (2.0, 8.0), (8.0, 0.5)])
def test_rider_holds_to_a_wall_that_goes_round(spin, radius, fps):
    # It came down by 0.7 to 3.7 m in a second.
    trajectory = simulate(wall(spin, radius, 1.1, 1.0, fps), fps, fps, config=CPU)
    off = np.abs(strayed(trajectory, spin)).max()
    name = f"rider on a wall at {spin} rad/s, {radius} m off, {fps} fps"
    assert figure(name, "off its place after 1 s [m]", off, "< 1e-3") < 1e-3
    assert all(report.converged for report in trajectory.reports)


def test_rider_comes_down_a_wall_by_law():
    # Down with g - mu w^2 r; steps are as long as frames: it was cut into 112 for ever.
    trajectory = simulate(wall(4.0, 2.0, 0.5, 1.0, 96), 96, 96, config=CPU)
    fallen, law = -strayed(trajectory, 4.0)[-1, 2], 0.25 * G
    assert figure("rider that slides down a wall, 1 s at 96 fps", "way over the law", fallen / law, "1 +- 0.02") == (
        pytest.approx(1.0, abs=0.02)
    )
    assert max(report.substeps for report in trajectory.reports) <= 4


@pytest.mark.parametrize("spin", [3.63, 8.0])
def test_load_goes_round_with_a_drum(spin):
    # By the chord of a step, with the friction of the arc, it went ahead by (w h)^2 / 24 of the speed: 67 mm/s.
    scene, angles = Scene(), 2.0 * np.pi * np.arange(16) / 16
    plates = [
        Box((0.1, 0.45, 1.5), position=(2.1 * np.cos(a), 2.1 * np.sin(a), 0), orientation=turned("z", a))
        for a in angles
    ]
    scene.add(Body("Drum", plates, motion="kinematic", friction=0.8, path=circling(spin, 5.0)))
    rider(scene, 2.0 - HALF, spin, 0.8, 0.0)
    trajectory = simulate(scene, 120, config=CPU)
    way = strayed(trajectory, spin)
    ahead = abs(way[-1, 1] - way[24, 1]) / 4.0
    assert figure(f"load in a drum at {spin} rad/s", "ahead of it", ahead, "< 1e-3 m/s") < 1e-3
    assert all(report.converged for report in trajectory.reports)


def test_what_was_let_go_and_goes_on_ahead_is_led_by_nobody():
    # One of two islands needs shorter steps; the other one, let go before, is carried through them at its velocity.
    scene, times = Scene(), np.arange(4) / 24
    scene.add(Body("Floor", [Box((5, 5, 0.1))], position=(0, 0, -0.1), motion="static"))
    path = MotionPath(
        times, np.stack([0.5 * times, 0 * times, 0 * times + 2.0], axis=1), np.tile((0, 0, 0, 1.0), (4, 1))
    )
    scene.add(Body("Thrown", [Box((HALF,) * 3)], mass=1.0, path=path))
    random = np.random.default_rng(0)
    for k in range(12):
        place = (3.0 + 0.3 * random.uniform(-1, 1), 0.3 * random.uniform(-1, 1), 0.5 + 0.25 * k)
        scene.add(Body(f"Box {k}", [Box((HALF,) * 3)], position=place, mass=1.0, restitution=0.5,
                       linear_velocity=(0, 0, -15.0), angular_velocity=10.0 * random.normal(size=3)))  # fmt: skip
    trajectory = simulate(scene, 24, config=CPU)
    assert np.isfinite(trajectory.position).all()
