# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls that go over a crest: they stay on it as long as gravity holds them, keep their energy, and leave it by law."""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cylinder, Joint, Plane, Scene, SolverConfig, Sphere, simulate
from contact_scenes import strip
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
G = 9.81


def hill(kind, radius):
    """A shape whose top is at the origin."""
    if kind == "cylinder":
        return Cylinder(radius, 0.5, position=(0, 0, -radius), orientation=turned("x", np.pi / 2))
    if kind == "capsule":
        return Capsule(radius, 0.5, position=(0, 0, -radius), orientation=turned("x", np.pi / 2))
    if kind == "sphere":
        return Sphere(radius, position=(0, 0, -radius))
    angle = np.linspace(-0.6, 0.6, 129)
    return strip(np.c_[radius * np.sin(angle), radius * np.cos(angle) - radius], 0.5)


def energy(frame, radius, friction):
    """That of the ball of ``radius`` [J/kg]; what does not roll has none in its spin."""
    speed, spin = np.linalg.norm(frame.linear_velocity[1]), np.linalg.norm(frame.angular_velocity[1])
    return 0.5 * speed**2 + (0.2 * (radius * spin) ** 2 if friction else 0.0) + G * frame.position[1, 2]


@pytest.mark.parametrize("friction", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["cylinder", "capsule", "sphere", "mesh"])
@pytest.mark.parametrize(("large", "small", "speed"), [(2.0, 0.1, 2.4), (0.25, 0.008, 0.85)])
def test_a_ball_goes_over_a_hill_without_loss(kind, large, small, speed, friction):
    """It comes up at 17 degrees and goes down as far; small hills took a sixth of what rolled over them."""
    angle, reach = 0.3, large + 1.0003 * small
    along, up = np.array([np.cos(angle), 0, np.sin(angle)]), np.array([-np.sin(angle), 0, np.cos(angle)])
    scene = Scene()
    scene.add(Body("Hill", [hill(kind, large)], motion="static", friction=friction))
    scene.add(
        Body(
            "Ball", [Sphere(small)], position=reach * up - (0, 0, large), linear_velocity=speed * along,
            angular_velocity=(0, speed / small if friction else 0.0, 0), density=2500.0, friction=friction,
        )
    )  # fmt: skip
    seen, share = [], 1.4 if friction else 1.0
    first = 0.5 * share * speed**2 + G * scene.bodies[1].position[2]
    simulate(scene, 30, config=CPU, on_frame=seen.append)
    on_it = [f for f in seen if np.arctan2(f.position[1, 0], f.position[1, 2] + large) < angle]
    assert all(frame.report.converged for frame in on_it) and on_it[-1].position[1, 0] > 0.5 * large * np.sin(angle)
    off = np.abs([energy(frame, small, friction) - first for frame in on_it]).max() / (0.5 * share * speed**2)
    label = f"ball of {small} m over a {kind} of {large} m, friction {friction}"
    assert figure(label, "energy off", off, 0.005) < 0.005
    # What turns away is the surface, not the ball: it never is above it by more than what detection tells.
    height = max(np.hypot(f.position[1, 0], f.position[1, 2] + large) - large - small for f in on_it)
    assert figure(label, "highest above it", height, 2e-2 * small, "m") < 2e-2 * small


def test_a_ball_slides_off_a_sphere_where_the_cosine_is_two_thirds():
    """From rest beside the top of 2 m, without friction: it leaves at 48.2 degrees with sqrt(2/3 g R)."""
    large, small, angle = 2.0, 0.05, 0.1
    scene = Scene()
    scene.add(Body("Dome", [Sphere(large)], motion="static", friction=0.0))
    place = (large + small) * np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add(Body("Ball", [Sphere(small)], position=place, density=2500.0, friction=0.0))
    seen = []
    simulate(scene, 60, config=CPU, on_frame=seen.append)
    above = [np.linalg.norm(f.position[1]) - large - small for f in seen]
    flies = next(k for k, height in enumerate(above) if height > 1e-3)
    last = seen[flies - 1].position[1]
    left = np.arctan2(last[0], last[2])
    # From the height it started at: cos = 2/3 cos(angle).  It is seen a frame after or before, and turns by 0.1 in one.
    law = np.arccos(2.0 / 3.0 * np.cos(angle))
    assert figure("ball off a dome", "angle off", abs(left - law), 0.1, "rad") < 0.1
    speed, height = np.linalg.norm(seen[flies].linear_velocity[1]), seen[flies].position[1, 2]
    assert speed == pytest.approx(np.sqrt(2.0 * G * ((large + small) * np.cos(angle) - height)), rel=0.02)


@pytest.mark.parametrize(("length", "height", "speed"), [(0.3, 0.01, 0.9), (0.15, 0.004, 0.8), (1.0, 0.03, 1.5)])
def test_a_marble_keeps_going_over_waves(length, height, speed):
    """Of 8 mm, on waves that it never leaves; 24 facets each.  0.27 to 0.8 of its energy was left after 1.5 s."""
    x = np.linspace(0.0, 3.0 if length < 1.0 else 5.0, 24 * round((3.0 if length < 1.0 else 5.0) / length) + 1)
    track = strip(np.c_[x, height * np.cos(2.0 * np.pi * x / length)], 0.1)
    scene = Scene()
    scene.add(Body("Track", [track], motion="static"))
    scene.add(
        Body(
            "Marble", [Sphere(0.008)], position=(length, 0, height + 0.008004), linear_velocity=(speed, 0, 0),
            angular_velocity=(0, speed / 0.008, 0), density=2500.0,
        )
    )  # fmt: skip
    seen = []
    simulate(scene, 36, config=CPU, on_frame=seen.append)
    assert all(frame.report.converged for frame in seen)
    kept = (energy(seen[-1], 0.008, True) - G * (height + 0.008)) / (0.7 * speed**2)
    label = f"marble on waves of {length} m"
    assert figure(label, "energy kept", kept, 0.7) > 0.7
    assert kept < 1.001


def test_a_ball_that_rolls_off_a_table_keeps_its_speed():
    scene = Scene()
    scene.add(Body("Table", [Box((0.5, 0.5, 0.05))], motion="static", position=(-0.5, 0, -0.05), friction=0.5))
    scene.add(
        Body(
            "Ball", [Sphere(0.02)], position=(-0.4, 0, 0.02), linear_velocity=(2, 0, 0), angular_velocity=(0, 100, 0),
            density=1000.0, friction=0.5,
        )
    )  # fmt: skip
    trajectory = simulate(scene, 10, config=CPU)
    assert trajectory.linear_velocity[-1, 1, 0] == pytest.approx(2.0, rel=0.01)
    assert trajectory.position[-1, 1, 2] < -0.1


def test_a_ball_on_the_level_takes_one_solve_a_frame():
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static"))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.1), linear_velocity=(2, 0, 0), angular_velocity=(0, 20, 0)))
    trajectory = simulate(scene, 24, config=CPU)
    assert [report.substeps for report in trajectory.reports[2:]] == [1] * 22


def cart_on_a_hill(large=3.0, small=0.1, speed=2.6, angle=-0.35):
    """10 kg on four balls of 1 kg as wheels, on its way up."""

    def place(turn):
        return (large + small) * np.array([np.sin(turn), 0.0, np.cos(turn)]) - (0.0, 0.0, large)

    def along(turn):
        return np.array([np.cos(turn), 0.0, -np.sin(turn)])

    scene, axle = Scene(), turned("x", np.pi / 2)
    scene.add(Body("Hill", [hill("cylinder", large)], motion="static", friction=1.0))
    scene.add(
        Body(
            "Cart", [Box((0.35, 0.15, 0.05))], position=place(angle), orientation=turned("y", angle), mass=10.0,
            linear_velocity=speed * along(angle), angular_velocity=(0, speed / (large + small), 0), collision_mask=0,
        )
    )  # fmt: skip
    for number in range(4):
        turn = angle + (0.3, -0.3)[number % 2] / (large + small)
        where = place(turn) + (0.0, 0.25 if number < 2 else -0.25, 0.0)
        scene.add(
            Body(
                f"Wheel {number}", [Sphere(small)], position=where, mass=1.0, friction=1.0,
                linear_velocity=speed * along(turn), angular_velocity=(0, speed / small, 0),
            )
        )  # fmt: skip
        scene.add(Joint(f"Axle {number}", "hinge", "Cart", f"Wheel {number}", where, axle))
    return scene


def test_a_cart_goes_over_a_hill_without_loss():
    """The wheels of a cart go over the crest as single balls do: it lost a tenth of its energy in a second."""
    seen = []
    simulate(cart_on_a_hill(), 24, config=CPU, on_frame=seen.append)
    assert all(frame.report.converged for frame in seen)
    whole = [frame.report.kinetic_energy + frame.report.potential_energy for frame in seen]
    moves = max(frame.report.kinetic_energy for frame in seen)
    off = np.abs(np.array(whole) - whole[0]).max() / moves
    assert figure("cart over a hill", "energy off", off, 0.005) < 0.005
    assert seen[-1].position[1, 0] > 0.5


@pytest.mark.parametrize("name", ["cylinder", "capsule"])
@pytest.mark.parametrize("large", [0.4, 0.6, 0.9])
def test_what_rolls_along_a_line_is_not_turned_aside(name, large):
    """Both ends of the line go along the chord, also where one of them bears nothing just now: else a cylinder is
    thrown aside by up to 3 cm in half a second.
    """
    small, angle, speed = 0.05, 0.6, 1.6 * np.sqrt(large)
    shape = {"cylinder": Cylinder, "capsule": Capsule}[name](small, 0.1, orientation=turned("x", np.pi / 2))
    scene = Scene()
    scene.add(Body("Hill", [hill("cylinder", large)], motion="static", friction=1.0))
    up, along = np.array([-np.sin(angle), 0, np.cos(angle)]), np.array([np.cos(angle), 0, np.sin(angle)])
    scene.add(
        Body(
            "Roller", [shape], position=(large + 1.0003 * small) * up - (0, 0, large), linear_velocity=speed * along,
            angular_velocity=(0, speed / small, 0), density=1000.0, friction=1.0,
        )
    )  # fmt: skip
    trajectory = simulate(scene, 14, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    aside = np.abs(trajectory.position[:, 1, 1]).max()
    assert figure(f"{name} over a hill of {large} m", "aside", aside, 1e-3, "m") < 1e-3
