# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands on the ground and has springs swings on them for as long as what hangs from a joint does."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Cylinder, Joint, Scene, SolverConfig, simulate
from figures import figure
from scenes import GRAVITY, ground, turned

UP = turned("y", -0.5 * np.pi)


def baked(scene, seconds, fps=24):
    """The Trajectory, every frame of which must have converged."""
    trajectory = simulate(scene, round(seconds * fps), fps, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    return trajectory


def standing(scene, height=0.6, **about):
    """A base on the ground, and what stands above it."""
    ground(scene, friction=0.8)
    scene.add(Body("Base", [Box((0.4, 0.4, 0.05))], position=(0.0, 0.0, 0.05), mass=8.0, friction=0.8))
    scene.add(Body("Mass", [Box((0.2, 0.2, 0.1))], position=(0.0, 0.0, height), mass=20.0, **about))


def upright():
    """A mass that is let go on an upright spring: it goes down twice the way at which it would rest."""
    scene = Scene()
    standing(scene)
    scene.add(Joint("Spring", "slider", "Base", "Mass", (0.0, 0.0, 0.6), UP, axes={"x": Axis(stiffness=2000.0)}))
    return scene, 2, 2, 2.0 * 20.0 * GRAVITY / 2000.0


def sideways():
    """A mass that is thrown aside on a spring that friction of its base bears."""
    scene = Scene()
    standing(scene, linear_velocity=(1.0, 0.0, 0.0))
    scene.add(Joint("Spring", "slider", "Base", "Mass", (0.0, 0.0, 0.6), axes={"x": Axis(stiffness=500.0)}))
    return scene, 2, 0, 2.0 * np.sqrt(20.0 / 500.0)


def loaded():
    """Three boxes on a sprung table."""
    scene = Scene()
    standing(scene)
    scene.add(Joint("Spring", "slider", "Base", "Mass", (0.0, 0.0, 0.6), UP, axes={"x": Axis(stiffness=3000.0)}))
    for i in range(3):
        place = (0.03 * i, 0.0, 0.8 + 0.2 * i)
        scene.add(Body(f"Box {i}", [Box((0.1, 0.1, 0.1))], position=place, mass=3.0))
    return scene, 2, 2, 2.0 * 29.0 * GRAVITY / 3000.0


def car(speed=0.0):
    """Four wheels on undamped springs; it is let go as they bear nothing yet."""
    scene = Scene()
    ground(scene, friction=0.9)
    goes = {"linear_velocity": (speed, 0.0, 0.0)}
    scene.add(Body("Car", [Box((1.0, 0.4, 0.15))], position=(0.0, 0.0, 0.55), mass=800.0, **goes))
    for k, (x, y) in enumerate([(0.75, 0.55), (0.75, -0.55), (-0.75, 0.55), (-0.75, -0.55)]):
        place = (x, y, 0.3)
        rolls = {"angular_velocity": (0.0, speed / 0.3, 0.0), "orientation": turned("x", 0.5 * np.pi)}
        wheel = [Cylinder(0.3, 0.1)]
        scene.add(Body(f"Wheel {k}", wheel, position=place, mass=20.0, friction=0.9, **rolls, **goes))
        scene.add(Body(f"Hub {k}", [], position=place, mass=10.0, inertia=0.2 * np.eye(3), **goes))
        scene.add(Joint(f"Spring {k}", "slider", "Car", f"Hub {k}", place, UP, axes={"x": Axis(stiffness=2e4)}))
        scene.add(Joint(f"Axle {k}", "hinge", f"Hub {k}", f"Wheel {k}", place, turned("x", -0.5 * np.pi)))
    return scene, 1, 2, 2.0 * 800.0 * GRAVITY / 8e4


def rolling_car():
    """The same, that turns its wheels by 0.8 rad a frame."""
    return car(6.0)


@pytest.mark.parametrize("make", [upright, sideways, loaded, car, rolling_car])
def test_what_stands_on_springs_swings_on(make):
    """It stood by backward Euler, and was at rest after four seconds: a car lost half of its swing in each."""
    scene, body, axis, whole = make()
    way = baked(scene, 6.0).position[:, body, axis]
    swing = np.ptp(way[-24:]) / whole
    name = f"{make.__name__.replace('_', ' ')} on springs, 24 fps"
    assert figure(name, "swing of the sixth second over the law's", swing, "0.97 to 1.01", "") == pytest.approx(
        0.99, abs=0.02
    )


@pytest.mark.parametrize("stiffness", [2e3, 1e4])
def test_a_pogo_stick_jumps_as_high_as_with_short_steps(stiffness):
    """It jumped a sixth as high: on the ground it was damped, and as its foot came down."""
    share = np.array([jumped(stiffness, height) / jumped(stiffness, height, 192) for height in (0.5, 1.1)])
    name = f"pogo stick on a spring of {stiffness:.0f} N/m, 24 fps: height over that at 192 fps"
    assert figure(name, "least of 2", share.min(), "> 0.97", "") > 0.97
    assert figure(name, "most of 2", share.max(), "< 1.01", "") < 1.01


def jumped(stiffness, height, fps=24):
    """Height [m] to which a mass and a foot rise again that fall from ``height``, of the centre of both."""
    scene, (mass, foot) = Scene(), (20.0, 1.0)
    ground(scene)
    scene.add(Body("Foot", [Box((0.2, 0.2, 0.05))], position=(0.0, 0.0, 0.05 + height), mass=foot))
    place = (0.0, 0.0, 1.2 + height)
    scene.add(Body("Mass", [Box((0.2, 0.2, 0.1))], position=place, mass=mass))
    scene.add(Joint("Spring", "slider", "Foot", "Mass", place, UP, axes={"x": Axis(stiffness=stiffness)}))
    trajectory = baked(scene, 1.6, fps)
    weight = np.array([0.0, foot, mass]) / (mass + foot)
    z, rate = trajectory.position[:, :, 2] @ weight, trajectory.linear_velocity[:, :, 2] @ weight
    low = np.argmin(z[: round(0.9 * fps)])
    away = slice(low, low + round(0.6 * fps))
    flies = (trajectory.position[away, 1, 2] > 0.052) & (rate[away] > 0.0)
    return np.where(flies, z[away] + rate[away] ** 2 / (2.0 * GRAVITY), 0.0).max() - z[0] + height
