# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of the comparison, on motions whose answers are known in closed form."""

import accuracy_page
import comparison_scenes
import judge
import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Plane, Scene, Sphere, rotations, validate
from overlaps import CORNERS, Overlaps
from rows import FPS, ROWS

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def still(scene, frames=24):
    """A motion in which every body keeps its start."""
    start = [body.start() for body in scene.bodies]
    position = np.repeat([[place for place, _ in start]], frames + 1, axis=0)
    orientation = np.repeat([[turn for _, turn in start]], frames + 1, axis=0)
    return judge.Motion(scene, position, orientation, FPS)


@pytest.mark.parametrize("row", ROWS)
def test_scenes_can_be_simulated_and_start_without_fault(row):
    scene = ROWS[row].build()
    assert validate(scene) == []
    motion = still(scene)
    # stones and cards touch exactly; what is left is the rounding of their corners
    assert motion.overlap.max() < 1e-12
    assert judge.joint_error(motion) < 1e-12
    if row == "four_bar":
        assert judge.follower_error(motion) < 1e-12


def overlap_of(first, second, apart, turn=UPRIGHT):
    scene = Scene(bodies=[Body("First", [first]), Body("Second", [second])])
    return Overlaps(scene).deepest(np.array([np.zeros(3), apart]), np.array([UPRIGHT, turn]))


@pytest.mark.parametrize("second", [Box((0.5, 0.5, 0.5)), ConvexHull(0.5 * CORNERS)])
def test_overlap_of_boxes_is_the_shortest_way_out(second):
    box = Box((0.5, 0.5, 0.5))
    assert overlap_of(box, second, (0.2, 0.1, 0.99)) == pytest.approx(0.01, abs=1e-12)
    assert overlap_of(box, second, (0.2, 0.1, 1.01)) == 0.0
    # an edge along y, turned by 45 degrees, reaches sqrt(0.5) below its centre
    edge = comparison_scenes.about_y(np.pi / 4)
    assert overlap_of(box, second, (0.0, 0.0, 0.5 + np.sqrt(0.5) - 0.02), edge) == pytest.approx(0.02, abs=1e-12)


def test_overlap_of_crossed_edges_is_along_their_common_normal():
    # Box 1 has an edge along x on top, box 2 one along y at its bottom; both reach sqrt(0.5) towards each other.
    box = Box((0.5, 0.5, 0.5))
    scene = Scene(bodies=[Body("First", [box]), Body("Second", [box])])
    turns = np.array([[np.sin(np.pi / 8), 0, 0, np.cos(np.pi / 8)], comparison_scenes.about_y(np.pi / 4)])
    place = np.array([np.zeros(3), (0.1, 0.1, 2 * np.sqrt(0.5) - 0.03)])
    assert Overlaps(scene).deepest(place, turns) == pytest.approx(0.03, abs=1e-12)


def test_overlap_with_the_floor_counts_spheres_and_corners():
    floor = Body("Floor", [Plane()], motion="static")
    for shape, reach in ((Sphere(0.3), 0.3), (Box((0.1, 0.2, 0.3)), 0.3)):
        scene = Scene(bodies=[floor, Body("Body", [shape])])
        place = np.array([np.zeros(3), (5.0, 0.0, reach - 0.004)])
        assert Overlaps(scene).deepest(place, np.array([UPRIGHT] * 2)) == pytest.approx(0.004, abs=1e-12)


def test_overlap_of_what_explodes_is_infinite():
    assert overlap_of(Box((1, 1, 1)), Box((1, 1, 1)), (np.nan, 0, 0)) == np.inf


def test_joint_error_is_the_distance_of_the_anchors():
    motion = still(comparison_scenes.chain(links=3))
    motion.position[7, 1] += (0.0, 0.003, 0.004)
    assert judge.joint_error(motion) == pytest.approx(0.005, abs=1e-12)


@pytest.mark.parametrize("phase", [0.0, 0.1, 1.0])
def test_acceleration_does_not_see_the_step_and_the_distance_does(phase):
    # x_n = a h^2 n (n + c) / 2: exact for c = 0, backward Euler for c = 1, its substeps in between.
    scene = comparison_scenes.incline(27.5)
    motion = still(scene, 5 * FPS)
    frames = np.arange(5 * FPS + 1)
    law = 9.81 * (np.sin(np.radians(27.5)) - 0.5 * np.cos(np.radians(27.5)))
    motion.position[:, 1, 0] = 0.5 * law / FPS**2 * frames * (frames + phase)
    assert judge.acceleration_error(motion) < 1e-10
    assert judge.distance_error(motion) == pytest.approx(phase / (5 * FPS), abs=1e-10)


def test_creep_and_speed_are_metres_a_second():
    motion = still(comparison_scenes.incline(26.0), 5 * FPS)
    motion.position[:, 1, 0] += 0.002 * np.arange(5 * FPS + 1) / FPS
    assert judge.creep(motion) == pytest.approx(0.002)
    assert judge.final_speed(motion) == pytest.approx(0.002)
    motion.position[7, 1, 2] += 0.02
    assert judge.drift(motion) == pytest.approx(np.hypot(0.02, 0.002 * 7 / FPS))
    assert judge.final_drift(motion) == pytest.approx(0.01)


def precession(spin_error=0.0):
    """Free motion of a symmetric body in closed form: it turns about L at |L| / I1 and about its axis besides.

    ``spin_error``: relative rate at which the turn about its axis grows, which no free body does.
    """
    body = Body("Top", [Box((0.3, 0.3, 0.1))], mass=2.0)
    scene = Scene(gravity=(0, 0, 0), bodies=[body])
    across, _, along = np.diag(body.mass_properties()[2])
    tip, about = 0.4, 6.0
    momentum = across * about
    own = momentum * np.cos(tip) * (1.0 / along - 1.0 / across)
    times = np.arange(20 * FPS + 1) / FPS
    turned = own * times * (1.0 + 0.5 * spin_error * times)
    zeros = np.zeros_like(times)
    outer = rotations.exponential(np.stack([zeros, zeros, about * times], axis=1))
    inner = rotations.exponential(np.stack([zeros, zeros, turned], axis=1))
    orientation = rotations.multiply(rotations.multiply(outer, comparison_scenes.about_y(tip)), inner)
    return judge.Motion(scene, np.zeros((len(times), 1, 3)), orientation[:, None], FPS)


def test_energy_and_momentum_of_a_free_body_do_not_change():
    # The difference of eighth order errs by (h w)^8 / 630 of a rate w: half of 6 + 5.3 rad/s at most, h = 1/24 s.
    error = 2.0 * (0.5 * (6.0 + 5.3) / FPS) ** 8 / 630.0
    exact = precession()
    assert judge.spin_energy_error(exact) < error
    assert judge.spin_momentum_error(exact) < error
    wrong = precession(spin_error=1e-3)
    assert judge.spin_energy_error(wrong) > 1e-3
    assert judge.spin_momentum_error(wrong) > 1e-3


def test_energy_of_a_fall_and_of_a_circle():
    # A link of the chain in free fall keeps its energy; one carried at constant height gains what it moves with.
    scene = comparison_scenes.chain(links=1)
    motion = still(scene, 2 * FPS)
    times = np.arange(2 * FPS + 1) / FPS
    motion.position[:, :, 2] -= 0.5 * 9.81 * times[:, None] ** 2
    assert np.abs(judge.energy(motion)).max() < 1e-9 * 1001 * 9.81 * 0.5 * 9.81 * 4
    level = still(scene, 2 * FPS)
    level.position[:, :, 1] += 3.0 * times[:, None]
    assert judge.energy_rise(level) * judge.hanging_energy(level) == pytest.approx(0.5 * 1001.0 * 9.0)
    assert judge.energy_loss(level) == 0.0


def test_chain_that_hangs_still_at_its_start_does_not_pass_for_one_that_swings():
    motion = still(comparison_scenes.chain())
    assert judge.lowest_point_error(motion) == 1.0
    motion.position[20, -1] = (0.0, 0.0, -10.4)
    assert judge.lowest_point_error(motion) == pytest.approx(0.1 / 10.5)


def test_energy_gained_in_impacts_shows_and_a_fall_is_no_gain():
    scene = comparison_scenes.stack(1)
    scene.bodies[1].position[2] = 2.0
    motion = still(scene, FPS)
    times = np.arange(FPS + 1) / FPS
    motion.position[:, 1, 2] = np.maximum(0.5, 2.0 - 0.5 * 9.81 * times**2)
    assert judge.impact_energy_gain(motion) == 0.0
    motion.position[:, 1, 2] = 2.0 + 3.0 * times
    # half of 3^2, and the height of all but the last frame's path, against 2 m
    expected = (0.5 * 9.0 + 9.81 * 3.0 * (1.0 - 1.0 / FPS)) / (9.81 * 2.0)
    assert judge.impact_energy_gain(motion) == pytest.approx(expected)
    # What a scene starts with is no gain: 3 m/s upwards and 2 rad/s, of a cube of 1 m about any axis.
    box = scene.bodies[1]
    box.linear_velocity, box.angular_velocity = (0.0, 0.0, 3.0), (0.0, 2.0, 0.0)
    began = 0.5 * 9.0 + 0.5 * 4.0 / 6.0
    late = (0.5 * 9.0 + 9.81 * 3.0 * (1.0 - 1.0 / FPS) - began) / (9.81 * 2.0 + began)
    assert judge.impact_energy_gain(motion) == pytest.approx(late)


def ball_height(drop, restitution, times):
    """Height of a ball above the floor until its second impact."""
    fall = np.sqrt(2.0 * drop / 9.81)
    after = times - fall
    return np.where(after < 0.0, drop - 0.5 * 9.81 * times**2, after * (restitution * 9.81 * fall - 0.5 * 9.81 * after))


@pytest.mark.parametrize("restitution", [0.5, 0.4])
def test_rebound_is_measured_between_the_frames(restitution):
    # A parabola through three frames of a flight is that flight, so the law e^2 h comes out exactly.
    motion = still(comparison_scenes.bounce(0.5), 3 * FPS)
    times = np.arange(3 * FPS + 1) / FPS
    for i, drop in enumerate(comparison_scenes.DROPS, 1):
        motion.position[:, i, 2] = 0.5 + np.maximum(0.0, ball_height(drop, restitution, times))
    assert judge.rebound_error(motion) == pytest.approx(abs(restitution**2 / 0.25 - 1.0), abs=1e-9)


def test_wave_of_dominoes_and_their_fall():
    # Each plate tips at 2 rad/s, a delay of 0.2 s after the one before it, 0.5 m away: 2.5 m/s.
    motion = still(comparison_scenes.dominoes(), 11 * FPS)
    times = np.arange(11 * FPS + 1) / FPS
    angle = np.clip(2.0 * (times[:, None] - 0.2 * np.arange(50)), 0.0, 1.3)
    motion.orientation[:, 1:] = np.stack([0 * angle, np.sin(angle / 2), 0 * angle, np.cos(angle / 2)], axis=2)
    assert judge.wave_speed(motion) == pytest.approx(2.5)
    assert judge.fallen(motion) == 50
    assert judge.wave_speed(still(comparison_scenes.dominoes())) == 0.0
    assert judge.fallen(still(comparison_scenes.dominoes())) == 0  # the first one leans by 14 degrees only


def test_follower_on_the_wrong_branch_is_seen():
    scene = comparison_scenes.four_bar()
    motion = still(scene)
    follower = scene.index("Follower")
    mirrored = motion.orientation[:, follower] * np.array([1, -1, 1, 1])
    motion.orientation[5:, follower] = mirrored[5:]
    assert judge.follower_error(motion) > np.radians(30.0)
    assert judge.crank_error(motion) == 1.0


def test_sinking_crown_and_lost_bodies():
    motion = still(ROWS["arch_stands"].build())
    motion.position[9, 6, 2] -= 0.2
    # the centres of the stones lie a little inside the middle line
    assert judge.crown_drop(motion) == pytest.approx(0.02, rel=0.01)
    motion.position[-1, 3, 2] = -1.0
    motion.position[-1, 4, 0] = 200.0
    assert judge.lost_bodies(motion) == 2.0


def test_page_shows_figures_without_needless_digits():
    assert [accuracy_page.number(value) for value in (0.0, 3e-9, 0.01234, 12.34, 50.0, 94.96, 4321.4, 2e-5)] == [
        *("0", "0", "0.0123", "12.3", "50", "95", "4321", "2e-05"),
    ]
