# SPDX-License-Identifier: GPL-3.0-or-later
"""Jointed bodies that slide on what is flat go round, spin and stop as the laws have it, at 24 frames a second."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Cylinder, Joint, Plane, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY, turned

CPU = SolverConfig(device="cpu")
FAST = 1e-4  # [m] the tolerance
SIZE = (0.2, 0.1, 0.1)  # [m] halves of a box
SPIN = 8.0  # [rad/s]


def on_floor(friction, gravity=(0.0, 0.0, -GRAVITY)):
    """Scene with a floor."""
    scene = Scene(gravity=gravity, friction_combine="min")
    scene.add(Body("Floor", [Plane()], motion="static", friction=friction))
    return scene


def run(scene, seconds, fps=24):
    """Trajectory of all frames, which have to converge."""
    trajectory = simulate(scene, round(seconds * fps), fps, CPU)
    assert all(report.converged for report in trajectory.reports)
    return trajectory


def pair(kind, friction=0.0, speed=0.0, spin=0.0, shape=None):
    """Two bodies 0.5 m apart that a joint half way holds, going at ``speed`` [m/s] and turning at ``spin`` [rad/s]."""
    scene = on_floor(friction)
    for name, x in (("A", -0.25), ("B", 0.25)):
        scene.add(Body(name, [shape or Box(SIZE)], position=(x, 0, 0.1), mass=1.0, friction=0.5,
                       linear_velocity=(speed, spin * x, 0), angular_velocity=(0, 0, spin)))  # fmt: skip
    where = {"anchors": ((-0.25, 0, 0.1), (0.25, 0, 0.1))} if kind == "rope" else {"position": (0, 0, 0.1)}
    scene.add(Joint("J", kind, "A", "B", **where))
    return scene


@pytest.mark.parametrize("kind", ["fixed", "hinge", "ball", "rope"])
@pytest.mark.parametrize("shape", [Box(SIZE), Sphere(0.1)], ids=["boxes", "balls"])
def test_what_spins_on_ice_goes_on(kind, shape):
    # 4.2 to 4.6 rad/s of 8 were left after a second.
    trajectory = run(pair(kind, spin=SPIN, shape=shape), 1.0)
    energy = [report.kinetic_energy for report in trajectory.reports]
    name = f"two {'boxes' if isinstance(shape, Box) else 'balls'} on ice, {kind}"
    assert figure(name, "energy lost in a second", abs(energy[-1] / energy[0] - 1.0), 3e-3) < 3e-3
    assert np.abs(trajectory.linear_velocity[:, 1:, :2].mean(axis=1)).max() < 1e-6


@pytest.mark.parametrize("friction", [0.0, 0.05])
def test_a_puck_on_a_rope_goes_round_a_pole(friction):
    # 2.09 m/s of 4 were left after 4 s without friction, 1.97 of 3.02 after 2 s with it.
    scene, seconds = on_floor(friction), 2.0
    scene.add(Body("Puck", [Box((0.1, 0.1, 0.1))], position=(1, 0, 0.1), linear_velocity=(0, 4, 0), friction=0.5))
    scene.add(Joint("Rope", "rope", None, "Puck", anchors=((0, 0, 0.1), (1, 0, 0.1))))
    speed = np.linalg.norm(run(scene, seconds).linear_velocity[-1, 1])
    off = abs(speed - 4.0 + friction * GRAVITY * seconds)
    assert (
        figure(f"puck on a rope round a pole, friction {friction}", "speed off the law after 2 s", off, 4e-3, "m/s")
        < 4e-3
    )


def test_a_pendulum_that_lies_on_a_smooth_slope_swings_on():
    pull = GRAVITY * np.sin(0.3)
    scene = on_floor(0.0, (0.0, -pull, -GRAVITY * np.cos(0.3)))
    scene.add(Body("Bob", [Box((0.1, 0.1, 0.1))], position=(1, 0, 0.1), mass=1.0))
    scene.add(Joint("Rope", "rope", None, "Bob", anchors=((0, 0, 0.1), (1, 0, 0.1))))
    trajectory = run(scene, 6.0)
    energy = 0.5 * (trajectory.linear_velocity[:, 1] ** 2).sum(axis=1) + pull * trajectory.position[:, 1, 1]
    # 0.59 of the depth of the swing were gone.
    assert (
        figure("pendulum lying on a slope", "energy off in 6 s, of its depth", np.abs(energy).max() / pull, 0.01) < 0.01
    )


def test_a_skater_who_draws_in_the_arms_turns_as_much_faster():
    scene, rate, out, drawn = on_floor(0.0), 4.0, 0.8, 0.4
    scene.add(Body("Skater", [Cylinder(0.2, 0.4)], position=(0, 0, 0.4), mass=20.0, angular_velocity=(0, 0, rate)))
    for name, side in (("Left", -1), ("Right", 1)):
        at = (side * out, 0, 0.6)
        scene.add(Body(name, [Box((0.1, 0.1, 0.1))], position=at, mass=3.0,
                       linear_velocity=(0, side * out * rate, 0), angular_velocity=(0, 0, rate)))  # fmt: skip
        axis = Axis(drive="position", target=((0, 1.0, 2.0), (0, 0, drawn - out)))
        scene.add(Joint(name, "slider", "Skater", name, at, turned("z", 0 if side > 0 else np.pi), axes={"x": axis}))
    trajectory = run(scene, 3.0)
    of_body = 0.5 * 20 * 0.2**2 + 2 * 3 * 2 * 0.2**2 / 12
    law = rate * (of_body + 2 * 3 * out**2) / (of_body + 2 * 3 * drawn**2)
    off = abs(trajectory.angular_velocity[-1, 1, 2] / law - 1.0)  # 4.4 rad/s, the law 12.2
    assert figure("skater who draws in the arms", "rate off the law", off, 0.01) < 0.01


@pytest.mark.parametrize("kind", ["fixed", "hinge", "ball", "rope"])
def test_what_slides_to_rest_goes_v2_over_2_mu_g_and_stays(kind):
    # It came v h / 2 = 62 mm short.
    trajectory = run(pair(kind, friction=0.5, speed=3.0), 1.5)
    off = np.abs(trajectory.position[-1, 1:, 0].mean() - 3.0**2 / (2 * 0.5 * GRAVITY))
    assert figure(f"pair that slides to rest, {kind}", "way off the law", off, 10 * FAST, "m") < 10 * FAST
    assert np.abs(trajectory.position[-6:] - trajectory.position[-1]).max() < 1e-6


def test_what_spins_to_rest_takes_the_same_time_at_any_rate_of_frames():
    # 4.5 rad/s at 24 frames a second were left after half a second of 12, 8.0 at 384.
    left = [run(pair("ball", friction=0.2, spin=12.0), 0.5, fps).angular_velocity[-1, 1:, 2].mean() for fps in (24, 96)]
    assert figure("pair that spins to rest", "rate at 24 fps off that at 96", abs(left[0] / left[1] - 1.0), 0.05) < 0.05
