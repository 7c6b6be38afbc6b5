# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies loose on a pusher that meets its stop flies on as fast as it was pushed, whenever in a step that is."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Plane, Scene, SolverConfig, Sphere, simulate
from axion.solver.rotations import rotate
from figures import figure
from scenes import GRAVITY, ground, turned

PUSH = 30.0  # [m/s^2] of pad and box
SLOWER = 0.97  # of the law's speed: (a + g) h were up to a third of it


def simulated(scene, seconds, fps):
    """The Trajectory, every frame of which must have converged."""
    trajectory = simulate(scene, round(seconds * fps), fps, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    return trajectory


def launched(stop, way, fps=24, strength=np.inf):
    """(Scene, Trajectory) of a box on a pad on a slider of a break force that meets its stop, a limit or a bar, after
    ``way`` [m].
    """
    scene = Scene()
    scene.add(Body("Pad", [Box((0.3, 0.3, 0.05))], mass=5.0))
    drive = {"drive": "velocity", "target": 100.0, "max_force": 7.0 * (PUSH + GRAVITY)}
    if stop == "limit":
        drive["upper"] = way
    else:
        sides = [Box((0.05, 0.5, 0.05), position=(x, 0.0, 0.0)) for x in (0.27, -0.27)]
        scene.add(Body("Bar", sides, motion="static", position=(0.0, 0.0, 0.1 + way)))
    scene.add(Joint("Slider", "slider", None, "Pad", orientation=turned("y", -0.5 * np.pi), axes={"x": Axis(**drive)},
                    break_force=strength))  # fmt: skip
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0.0, 0.0, 0.15), mass=2.0))
    return scene, simulated(scene, 0.6, fps)


def launch_speed(stop, way, fps=24):
    """Speed [m/s] of the box as the pad meets its stop."""
    scene, trajectory = launched(stop, way, fps)
    at = len(scene.bodies) - 1
    rise = trajectory.position[-1, at, 2] - 0.15 - way
    return np.sqrt(trajectory.linear_velocity[-1, at, 2] ** 2 + 2.0 * GRAVITY * rise)


@pytest.mark.parametrize("stop", ["limit", "bar"])
def test_a_box_leaves_a_pad_that_is_stopped_at_the_speed_of_the_law(stop):
    """v = sqrt(2 a s).  It got no push in the step of the stop: 4.63 m/s of 6.00 at 0.6 m, less than at 0.5 m."""
    ways = np.linspace(0.45, 1.2, 11)
    share = np.array([launch_speed(stop, way) / np.sqrt(2.0 * PUSH * way) for way in ways])
    name = f"box on a pad stopped by a {stop}, 24 fps: launch speed over sqrt(2 a s)"
    assert figure(name, "least of 11", share.min(), f"> {SLOWER}", "") > SLOWER
    assert figure(name, "most of 11", share.max(), "< 1.0001", "") < 1.0001


def test_a_slider_that_may_break_holds_at_its_stop_whenever_in_a_step_that_is():
    """Its mean force over a frame is 1 kN; over the rest of a step in two parts it was up to ten times that."""
    broken = [launched("limit", way, strength=3000.0)[1].broken_joints for way in np.linspace(0.45, 1.2, 11)]
    assert not any(broken)


def thrown(stop, fps=24):
    """Speed [m/s] at height zero of a ball that an arm throws, which a torque turns to its limit ``stop`` [degrees]."""
    scene, long = Scene(), 1.5
    ground(scene)
    walls = [((0.02, 0.14, 0.05), (long - 0.26, 0.0, 0.08)), ((0.02, 0.14, 0.05), (long + 0.01, 0.0, 0.08))]
    walls += [((0.14, 0.02, 0.05), (long - 0.125, y, 0.08)) for y in (0.13, -0.13)]
    walls += [((0.14, 0.14, 0.01), (long - 0.125, 0.0, 0.02)), ((0.5 * long, 0.06, 0.03), (0.5 * long, 0.0, 0.0))]
    arm = [Box(half, position=place) for half, place in walls]
    scene.add(Body("Arm", arm, position=(0.0, 0.0, 0.5), mass=6.0))
    turn = Axis(drive="velocity", target=30.0, max_force=200.0, lower=0.0, upper=np.radians(stop))
    hinge = {"position": (0.0, 0.0, 0.5), "orientation": turned("x", 0.5 * np.pi), "axes": {"rz": turn}}
    scene.add(Joint("Hinge", "hinge", None, "Arm", **hinge))
    scene.add(Body("Ball", [Sphere(0.1)], position=(long - 0.125, 0.0, 0.631), mass=2.0))
    trajectory = simulated(scene, 0.75, fps)
    speed = np.linalg.norm(trajectory.linear_velocity[-1, 2])
    return np.sqrt(speed**2 + 2.0 * GRAVITY * trajectory.position[-1, 2, 2])


def test_a_catapult_throws_farther_the_farther_its_arm_turns():
    """Its throw at 55 degrees was weaker than at 50."""
    stops = np.arange(40.0, 76.0, 5.0)
    speed = np.array([thrown(stop) for stop in stops])
    exact = np.array([thrown(stop, 384) for stop in stops[1::3]])
    assert figure("catapult", "least gain in speed of 5 degrees", np.diff(speed).min(), "> 0", "m/s") > 0.0
    share = speed[1::3] / exact
    assert figure("catapult", "speed over that at 384 fps, least", share.min(), f"> {SLOWER}", "") > SLOWER
    assert figure("catapult", "speed over that at 384 fps, most", share.max(), "< 1.005", "") < 1.005


def flung(height, fps=24, limited=False):
    """Height [m] to which a seesaw throws a box when a ball falls from ``height`` on its other end.

    limited: its hinge stops it 3 degrees before that end meets the floor.
    """
    tilt, pivot = 0.0, 0.56
    for _ in range(50):  # its end lies on the ground
        tilt = np.arcsin(0.5 * (pivot - 0.04 * np.cos(tilt)))
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static"))
    lies = turned("y", tilt)
    scene.add(Body("Plank", [Box((2.0, 0.3, 0.04))], position=(0, 0, pivot), orientation=lies, mass=20.0))
    axes = {"rz": Axis(lower=0.0, upper=2.0 * tilt - np.radians(3.0))} if limited else {}
    pose = {"position": (0, 0, pivot), "orientation": turned("x", 0.5 * np.pi)}
    scene.add(Joint("Hinge", "hinge", None, "Plank", axes=axes, **pose))
    place = rotate(lies, np.array([1.7, 0.0, 0.19])) + np.array([0.0, 0.0, pivot])
    box = Box((0.15, 0.15, 0.15))
    scene.add(Body("Small", [box], position=tuple(place), orientation=lies, mass=5.0, friction=1.0))
    scene.add(Body("Big", [Sphere(0.25)], position=(-1.6, 0.0, height), mass=60.0))
    trajectory = simulated(scene, 1.2, fps)
    z, rate = trajectory.position[:, 2, 2], trajectory.linear_velocity[:, 2, 2]
    return np.where(rate > 0.0, z + rate**2 / (2.0 * GRAVITY), z).max()


def test_a_seesaw_throws_as_high_when_its_end_comes_down_in_mid_step():
    """A box lost g h, the fall of a step, where the plank met the floor: up to a seventh of its height."""
    share = np.array([flung(height) / flung(height, 384) for height in (2.6, 3.2, 3.6)])
    assert figure("seesaw", "height over that at 384 fps, least of 3", share.min(), "> 0.96", "") > 0.96
    assert figure("seesaw", "height over that at 384 fps, most of 3", share.max(), "< 1.01", "") < 1.01


def test_a_seesaw_with_a_limit_throws_as_high_though_the_floor_is_near():
    """Where the limit was left out to see how far it goes on, the floor stopped the plank, and the box had no push."""
    heights = np.linspace(2.6, 3.6, 6)
    share = np.array([flung(height, limited=True) / flung(height, 384, limited=True) for height in heights])
    name = "seesaw with a limit: height over that at 384 fps"
    assert figure(name, "least of 6", share.min(), "> 0.96", "") > 0.96
    assert figure(name, "most of 6", share.max(), "< 1.01", "") < 1.01
