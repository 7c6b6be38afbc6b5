# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that only carry each other keep their energy at 24 fps: nothing that holds them does any work."""

import numpy as np
import pytest
from axion.solver import Body, Box, Cylinder, Joint, Scene, SolverConfig, Sphere, simulate
from axion.solver.rotations import rotate
from figures import figure
from judges import reported_energies
from scenes import turned

CPU = SolverConfig(device="cpu")
PIVOT = np.array([0.0, 0.0, 3.0])
LENGTH, BOX = 2.0, 0.1
FLAT = np.sin(np.pi / 4), 0.0, 0.0, np.cos(np.pi / 4)  # local Z along the world's Y


def lean(angle, place):
    """A place (3,) turned about the Y axis by ``angle`` [rad]."""
    return rotate(turned("y", angle), place)


def swing(angle, friction, rate=0.0, boxes=1, joint="hinge"):
    """A plank 2 m below its pivot with boxes on it, all turned by ``angle`` [rad] and turning by ``rate`` [rad/s]."""
    scene = Scene()
    sizes = [(0.4, 0.2, 0.02), *[(BOX, BOX, BOX)] * boxes]
    heights = [-LENGTH, *(-LENGTH + 0.02 + BOX * (2 * k + 1) for k in range(boxes))]
    for k, (half, height) in enumerate(zip(sizes, heights, strict=True)):
        arm = lean(angle, (0, 0, height))
        scene.add(Body(f"Box {k}" if k else "Plank", [Box(half)], position=PIVOT + arm, orientation=turned("y", angle),
                       mass=4.0 if k else 10.0, friction=friction, angular_velocity=(0, rate, 0),
                       linear_velocity=np.cross((0, rate, 0), arm)))  # fmt: skip
    scene.add(Joint("Pin", joint, None, "Plank", PIVOT, orientation=FLAT))
    return scene


def assert_kept(name, trajectory, scale, bound=0.002):
    """Energy within ``bound`` of ``scale`` [J], all frames within their tolerance."""
    energy = reported_energies(trajectory)
    off = np.abs(energy - energy[0]).max() / scale
    assert figure(f"{name}, 24 fps", "change of the energy, of what moves", off, f"< {bound}") < bound
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize(("friction", "boxes"), [(0.8, 1), (0.8, 4), (0.0, 1)])
def test_a_loaded_swing_keeps_its_amplitude(friction, boxes):
    # Backward Euler took a seventh of it with every half swing, friction or not.  What slides far moves its levers in
    # the step: the energy is that of a step of second order, off by (w h)^2.
    scene = swing(0.5, friction, boxes=boxes)
    trajectory = simulate(scene, 240, 24, CPU)
    arm = trajectory.position[:, 0] - PIVOT
    angle = np.arctan2(arm[:, 0], -arm[:, 2])
    turns = np.flatnonzero(np.diff(np.sign(np.diff(angle)))) + 1
    lost = 1.0 - np.abs(angle[turns[-1]]) / 0.5
    name = f"swing with {boxes} box{'es' if boxes > 1 else ''}, friction {friction:g}"
    if friction:
        assert abs(figure(name, "amplitude lost in 10 s", lost, "< 0.01")) < 0.01
        apart = np.linalg.norm(trajectory.position[:, 1] - trajectory.position[:, 0], axis=1)
        assert np.ptp(apart) < 2e-4
    masses = np.array([10.0, *[4.0] * boxes])
    heights = (masses * 9.81 * (trajectory.position[0, :, 2] - PIVOT[2] + LENGTH)).sum()
    assert sum(report.substeps for report in trajectory.reports) < 1.05 * 240  # nobody changes his mind
    assert_kept(name, trajectory, heights, 0.002 if friction else 9.81 / LENGTH / 24.0**2)


def test_forces_in_mid_step_account_for_the_motion():
    # m (v+ - v-) = (contact forces + m g) h, though what acts in mid-step is turned on to the end and solved anew.
    trajectory = simulate(swing(0.5, 0.8), 24, 24, SolverConfig(device="cpu", record_forces=True))
    for frame in range(1, 25):
        forces = trajectory.forces.frame(frame)
        sign = (forces.contact_body[:, 0] == 1).astype(float) - (forces.contact_body[:, 1] == 1)
        push = (sign @ forces.contact_force - (0, 0, 4.0 * 9.81)) / 24.0
        change = 4.0 * (trajectory.linear_velocity[frame, 1] - trajectory.linear_velocity[frame - 1, 1])
        report = trajectory.reports[frame - 1]
        allowed = 4.0 * (2.0 * report.momentum_residual + report.velocity_residual + 1e-9)
        assert allowed < 0.02 and np.abs(push - change).max() < allowed, frame


def test_a_swing_goes_round_with_its_load():
    # 13 m/s at the bottom, 4.5 g outwards at the top: a turn by 0.2 to 0.27 rad in each frame.
    # Mid-step gives some 1e-5 of the energy in such a step; it stops at a hundredth, and was at 4 % after these 50 s.
    trajectory = simulate(swing(0.0, 0.6, rate=6.5), 1200, 24, CPU)
    assert trajectory.position[:, 1, 2].max() > PIVOT[2] + 1.85
    assert_kept("swing that goes round", trajectory, 14.0 * 0.5 * 13.0**2, 0.0105)


def test_friction_carries_boxes_round_on_a_disc():
    # 0.57 m/s^2 of the 0.7 g there are towards the axis: angular momentum stays, and nothing slips.
    rate, scene = 2.0, Scene()
    scene.add(Body("Disc", [Cylinder(1.0, 0.05)], position=(0, 0, 1), mass=30.0, friction=0.7,
                   angular_velocity=(0, 0, rate)))  # fmt: skip
    scene.add(Joint("Pin", "hinge", None, "Disc", (0, 0, 1)))
    for i in range(4):
        place = 0.7 * np.array([np.cos(i * np.pi / 2), np.sin(i * np.pi / 2), 0.0])
        scene.add(Body(f"Box {i}", [Box((0.1, 0.1, 0.1))], position=place + (0, 0, 1.15), mass=4.0, friction=0.7,
                       angular_velocity=(0, 0, rate), linear_velocity=np.cross((0, 0, rate), place)))  # fmt: skip
    trajectory = simulate(scene, 240, 24, CPU)
    radius = np.linalg.norm(trajectory.position[:, 1:, :2], axis=2)
    assert figure("boxes on a disc, 24 fps", "farthest off their circle in 10 s", np.ptp(radius), "< 1e-3", "m") < 1e-3
    turned_by = trajectory.angular_velocity[-1, 0, 2] / rate
    assert figure("boxes on a disc, 24 fps", "angular velocity kept", turned_by, "1") == pytest.approx(1.0, abs=1e-3)


def test_a_tray_on_a_ball_joint_keeps_what_lies_in_it():
    angle, scene, speed = 0.6, Scene(), np.array([0.0, 1.0, 0.0])
    walls = [Box((0.02, 0.3, 0.1), position=(x, 0, 0.1)) for x in (-0.3, 0.3)]
    walls += [Box((0.3, 0.02, 0.1), position=(0, y, 0.1)) for y in (-0.3, 0.3)]
    scene.add(Body("Tray", [Box((0.3, 0.3, 0.02)), *walls], position=PIVOT + lean(angle, (0, 0, -LENGTH)), mass=5.0,
                   orientation=turned("y", angle), friction=0.8, linear_velocity=speed))  # fmt: skip
    scene.add(Joint("Pin", "ball", None, "Tray", PIVOT))
    for k, x in enumerate((-0.1, 0.12)):
        place = PIVOT + lean(angle, (x, 0.05, -LENGTH + 0.02 + 0.07))
        scene.add(Body(f"Load {k}", [Box((0.07, 0.07, 0.07))], position=place, orientation=turned("y", angle), mass=2.0,
                       friction=0.8, linear_velocity=speed))  # fmt: skip
    trajectory = simulate(scene, 144, 24, CPU)
    assert_kept("tray on a ball joint", trajectory, 9.0 * (9.81 * LENGTH * (1 - np.cos(angle)) + 0.5), bound=0.02)


def test_bodies_that_touch_in_flight_keep_both_momenta():
    # Weightless, a box lies against the inside of a tube that spins about its end: what presses is the turn alone.
    rate, friction = np.array([0.0, 3.0, 0.5]), 0.8
    walls = [Box((0.5, 0.5, 0.02), position=(0, 0, z)) for z in (-0.3, 0.3)]
    walls += [Box((0.02, 0.5, 0.3), position=(x, 0, 0)) for x in (-0.5, 0.5)]
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Tube", walls, density=500.0, friction=friction, angular_velocity=rate))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0.38, 0, 0), density=500.0, friction=friction,
                   angular_velocity=rate, linear_velocity=np.cross(rate, (0.38, 0, 0))))  # fmt: skip
    trajectory = simulate(scene, 120, 24, CPU)
    masses = np.array([body.mass_properties()[0] for body in scene.bodies])
    momentum = np.einsum("b,fbi->fi", masses, trajectory.linear_velocity)
    assert np.abs(momentum - momentum[0]).max() < 1e-9 * masses.sum()
    centre = np.einsum("b,fbi->fi", masses, trajectory.position) / masses.sum()
    way = centre[-1] - centre[0] - momentum[0] / masses.sum() * 5.0
    assert np.abs(way).max() < 1e-6
    energy = reported_energies(trajectory)
    lost = 1.0 - energy[-1] / energy[0]
    assert figure("box in a spinning tube, 24 fps", "energy lost in 5 s", lost, "< 0.002") < 0.002
    assert np.diff(energy).max() < 1e-4 * energy[0]


def test_a_ball_rolls_off_a_seesaw_as_at_small_steps():
    # What slides or rolls on what turns: the two frame rates agree.
    def ends(fps):
        scene = Scene()
        scene.add(Body("Plank", [Box((1.5, 0.3, 0.03))], position=(0, 0, 1), mass=10.0, friction=0.6,
                       orientation=turned("y", 0.2)))  # fmt: skip
        scene.add(Joint("Pin", "hinge", None, "Plank", (0, 0, 1), orientation=FLAT))
        for x in (-1.0, 0.9):
            place = (0, 0, 1) + lean(0.2, (x, 0, 0.03 + BOX))
            scene.add(Body(f"Box {x}", [Box((BOX, BOX, BOX))], position=place, orientation=turned("y", 0.2), mass=5.0,
                           friction=0.6))  # fmt: skip
        scene.add(Body("Ball", [Sphere(BOX)], position=(0, 0, 1) + lean(0.2, (-0.2, 0, 0.03 + BOX)), friction=0.6))
        return simulate(scene, int(0.5 * fps), fps, CPU).position[-1]

    off = np.abs(ends(24) - ends(960)).max()
    assert figure("ball on a seesaw", "farthest from 960 fps after 0.5 s at 24", off, "< 0.03", "m") < 0.03
