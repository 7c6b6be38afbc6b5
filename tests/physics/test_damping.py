# SPDX-License-Identifier: GPL-3.0-or-later
"""Damping is a rate the user sets [1/s]: motion decays as exp(-d t), whatever the frame rate."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY, pendulum, pendulum_period, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]


@pytest.mark.parametrize("fps", [24, 60, 240])
def test_body_damping_decays_at_its_rate(fps):
    # No force: v = v0 exp(-d t), w = w0 exp(-d t), exactly.  The way of a step is known to (d h)^2 / 12.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(
        Body("Ball", [Sphere(0.1)], linear_velocity=(3, 0, 0), angular_velocity=(0, 5, 0), linear_damping=0.7,
             angular_damping=1.3)
    )  # fmt: skip
    trajectory = simulate(scene, fps, fps, CPU)
    speed, spin = trajectory.linear_velocity[-1, 0, 0] / 3.0, trajectory.angular_velocity[-1, 0, 1] / 5.0
    name = f"damped ball at {fps} fps"
    figure(name, "speed left after 1 s over exp(-d t)", speed / np.exp(-0.7), "1 +- 1e-9")
    figure(name, "spin left after 1 s over exp(-d t)", spin / np.exp(-1.3), "1 +- 1e-9")
    assert speed == pytest.approx(np.exp(-0.7), rel=1e-9)
    assert spin == pytest.approx(np.exp(-1.3), rel=1e-9)
    way = trajectory.position[-1, 0, 0] / (3.0 * -np.expm1(-0.7) / 0.7)
    assert figure(name, "way over v0 (1 - exp(-d t)) / d", way, "second order") == pytest.approx(
        1.0, abs=(0.7 / fps) ** 2 / 10.0 + 1e-9
    )


@pytest.mark.parametrize("fps", [24, 96])
def test_damped_box_slides_to_its_terminal_speed(fps):
    # On a slider down 30 degrees: m v' = m g sin - m d v, v = g sin / d (1 - exp(-d t)).
    d = 2.0
    scene = Scene()
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], linear_damping=d))
    scene.add(Joint("Rail", "slider", None, "Box", (0, 0, 0), turned("y", np.radians(30.0))))
    trajectory = simulate(scene, fps, fps, CPU)
    speed = np.linalg.norm(trajectory.linear_velocity[-1, 0])
    want = GRAVITY * 0.5 / d * -np.expm1(-d)
    assert figure(f"damped box on a rail at {fps} fps", "speed after 1 s over the law", speed / want, "1 +- 1e-3") == (
        pytest.approx(1.0, abs=1e-3)
    )


def rotor(speed=4.0, offset=0.0):
    """A bar on a hinge through its middle (or ``offset`` [m] beside it), no gravity, turning."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add(
        Body("Bar", [Box((0.5, 0.05, 0.05))], mass=2.0, position=(offset, 0, 0), angular_velocity=(0, 0, speed),
             linear_velocity=(0, offset * speed, 0))
    )  # fmt: skip
    scene.add(Joint("Hinge", "hinge", None, "Bar", (0, 0, 0)))
    return scene


@pytest.mark.parametrize("fps", [24, 60, 240])
@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_joint_damping_slows_a_rotor_at_its_rate(fps, offset):
    # joint_damping d: w = w0 exp(-d t) about the hinge, whatever the step.  The directions of a step are those of its
    # middle, which may cost (w h)^2 / 24 of a step's damping.
    d, w0, seconds = 0.5, 4.0, 1
    config = SolverConfig(device="cpu", joint_damping=d)
    trajectory = simulate(rotor(w0, offset), seconds * fps, fps, config)
    left = trajectory.angular_velocity[-1, 0, 2] / w0 / np.exp(-d * seconds)
    name = f"rotor {offset:g} m off its hinge, joint_damping 0.5, {fps} fps"
    assert figure(name, "speed left after 1 s over exp(-d t)", left, "1 +- 0.01") == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("fps", [24, 60])
def test_no_joint_damping_leaves_a_rotor_turning(fps):
    trajectory = simulate(rotor(), 4 * fps, fps, CPU)
    lost = 1.0 - trajectory.angular_velocity[-1, 0, 2] / 4.0
    assert abs(figure(f"rotor at {fps} fps", "speed lost in 4 s, of itself", lost, 1e-3)) < 1e-3


@pytest.mark.parametrize("fps", [24, 60])
def test_joint_damping_lets_a_pendulum_die_at_half_its_rate(fps):
    # x'' + d x' + w^2 x = 0: the amplitude goes with exp(-d t / 2).
    d, seconds = 0.5, 4.0
    trajectory = simulate(pendulum(angle=0.2), round(seconds * fps), fps, SolverConfig(device="cpu", joint_damping=d))
    omega = 2.0 * np.pi / pendulum_period()
    angle = np.arctan2(trajectory.position[-1, 0, 0], -trajectory.position[-1, 0, 2])
    rate = -trajectory.angular_velocity[-1, 0, 1]
    # x = A exp(-d t / 2) cos(...): A from x and its rate
    damped = np.sqrt(omega**2 - 0.25 * d**2)
    left = np.hypot(angle, (rate + 0.5 * d * angle) / damped) / 0.2 / np.exp(-0.5 * d * seconds)
    name = f"pendulum, joint_damping 0.5, {fps} fps"
    assert figure(name, "amplitude left after 4 s over exp(-d t / 2)", left, "1 +- 0.02") == pytest.approx(
        1.0, abs=0.02
    )


@pytest.mark.parametrize("fps", [24, 60])
def test_joint_damping_leaves_common_motion_alone(fps):
    # Two bodies on a hinge, flying and not turning against each other: nothing to damp, whatever d.
    scene = Scene(gravity=(0, 0, 0))
    for name, x in (("A", -0.3), ("B", 0.3)):
        scene.add(Body(name, [Box((0.25, 0.1, 0.1))], position=(x, 0, 0), mass=1.0, linear_velocity=(2, 1, 0)))
    scene.add(Joint("Hinge", "hinge", "A", "B", (0, 0, 0)))
    trajectory = simulate(scene, fps, fps, SolverConfig(device="cpu", joint_damping=2.0))
    off = np.abs(trajectory.linear_velocity[-1] - (2, 1, 0)).max()
    assert figure(f"flying pair, joint_damping 2, {fps} fps", "velocity lost", off, 1e-6, "m/s") < 1e-6


@pytest.mark.parametrize("fps", [24, 96])
def test_damped_spring_decays_at_its_rate(fps):
    # m x'' + c x' + k x = 0: exp(-c t / 2m).  Mid-step springs keep their energy, so what decays is c's own share; the
    # implicit damper takes 1 / (1 + c h / m) a step for exp(-c h / m): c h / 2m of the rate too little.
    m, k, c, seconds = 2.0, 50.0, 1.0, 3.0
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Mass", [Sphere(0.1)], mass=m, linear_velocity=(1.0, 0, 0)))
    scene.add(Joint("Spring", "slider", None, "Mass", axes={"x": Axis(stiffness=k, damping=c)}))
    trajectory = simulate(scene, round(seconds * fps), fps, CPU)
    x, v = trajectory.position[-1, 0, 0], trajectory.linear_velocity[-1, 0, 0]
    rate, omega = 0.5 * c / m, np.sqrt(k / m - (0.5 * c / m) ** 2)
    left = np.hypot(x, (v + rate * x) / omega) * omega / np.exp(-rate * seconds)
    bound = rate * seconds * c / (2.0 * m * fps) + (omega / fps) ** 2 * 0.5 + FAST * fps / omega / 4.0
    name = f"spring and damper at {fps} fps"
    assert figure(name, "amplitude left after 3 s over exp(-c t / 2m)", left, f"1 +- {bound:.2g}") == pytest.approx(
        1.0, abs=bound
    )
