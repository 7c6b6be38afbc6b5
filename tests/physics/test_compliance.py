# SPDX-License-Identifier: GPL-3.0-or-later
"""Compliance is the spring that it is said to be: on a floor, under a heavy load, in ropes, and where it is stiff."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Plane, Scene, SolverConfig, Sphere, rotations, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
G = 9.81


def floor(friction=0.0, **options):
    scene = Scene(gravity=(0, 0, -G))
    scene.friction_combine = "min"
    scene.add(Body("Floor", [Plane()], motion="static", friction=friction, **options))
    return scene


def hold(scene, kind, body, place, stiffness):
    """Pull ``body`` at ``place`` along x to where x = 0."""
    if kind == "axis":
        axes = {"x": Axis(stiffness=stiffness, rest=-place[0])}
        scene.add(Joint("Spring", "generic", None, body, position=place, axes=axes))
    elif kind == "ropes":
        for side in (-1.0, 1.0):
            far = (2.0 * side, 0.0, place[2])
            scene.add(
                Joint(f"{side}", "rope", None, body, anchors=(far, place), length=1.5, compliance=2.0 / stiffness)
            )
    else:
        far = (-1.0, 0.0, place[2])
        scene.add(Joint("Spring", kind, None, body, anchors=(far, place), length=1.0, compliance=1.0 / stiffness))


@pytest.mark.parametrize("kind", ["axis", "distance", "ropes"])
def test_a_box_on_ice_swings_on_compliance_as_on_a_spring(kind):
    # With the force at a step's end a quarter of the swing was gone after ten periods.
    scene, far, period = floor(), 0.2, 0.3
    omega = 2.0 * np.pi / period
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(far, 0, 0.1), mass=1.0, friction=0.0))
    hold(scene, kind, "Box", (far, 0.0, 0.1), omega**2)
    trajectory = simulate(scene, round(240 * period), config=CPU)
    x = trajectory.position[:, 1, 0]
    energy = 0.5 * trajectory.linear_velocity[:, 1, 0] ** 2 + 0.5 * (omega * x) ** 2
    lost = 1.0 - np.sqrt(energy[-1] / energy[0])
    assert figure(f"box on ice, {kind}", "swing lost in 10 periods", abs(lost), 1e-3) < 1e-3
    # the phase of the mean coordinate
    turned = 2.0 * np.arctan(0.5 * omega / 24.0)
    off = np.abs(x - far * np.cos(turned * np.arange(len(x)))).max() / far
    assert figure(f"box on ice, {kind}", "off the mid-step law", off, 1e-3) < 1e-3


@pytest.mark.parametrize("kind", ["axis", "distance"])
def test_a_box_on_a_belt_sticks_and_slips_on_compliance(kind):
    # It is let go where k x = mu m g, at the belt's speed v, and so swings v / omega about there.
    friction, speed, omega = 0.5, 0.5, 10.0
    scene = floor(friction, surface_velocity=(speed, 0, 0))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.1), mass=1.0, friction=friction))
    hold(scene, kind, "Box", (0.0, 0.0, 0.1), omega**2)
    x = simulate(scene, 72, config=CPU).position[24:, 1, 0]
    middle, swing = friction * G / omega**2, speed / omega
    off = max(abs(x.max() - middle - swing), abs(x.min() - middle + swing))
    assert figure(f"stick and slip, {kind}", "ends of the swing off", off, 2.5e-3, "m") < 2.5e-3


@pytest.mark.parametrize("kind", ["slider", "fixed"])
def test_a_load_on_a_soft_mount_swings_though_its_foot_stands(kind):
    # Let go unstrained, it falls by 2 m g / k and comes back.  With compliance it stood still at once.
    period, mass, scene = 0.3, 2.0, floor(0.5)
    stiffness = mass * (2.0 * np.pi / period) ** 2
    scene.add(Body("Foot", [Box((0.3, 0.3, 0.05))], position=(0, 0, 0.05), mass=2.0))
    scene.add(Body("Load", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.5), mass=mass))
    if kind == "slider":
        up = rotations.exponential(np.array([0.0, -0.5 * np.pi, 0.0]))
        axes = {"x": Axis(stiffness=stiffness)}
        scene.add(Joint("Mount", kind, "Foot", "Load", position=(0, 0, 0.5), orientation=up, axes=axes))
    else:
        scene.add(Joint("Mount", kind, "Foot", "Load", position=(0, 0, 0.5), compliance=1.0 / stiffness))
    z = simulate(scene, 72, config=CPU).position[-12:, 2, 2]
    swing = 0.5 * (z.max() - z.min()) * stiffness / (mass * G)
    assert figure(f"load on a {kind} mount", "swing lost in 3 s", abs(1.0 - swing), 0.01) < 0.01


@pytest.mark.parametrize("kind", ["distance", "fixed"])
@pytest.mark.parametrize("ratio", [20.0, 1e4])
def test_a_load_welded_to_a_light_plate_swings_on_the_mount_of_that(kind, ratio):
    # The plate alone would vibrate far too fast for a step; with what rigid joints make go along it takes 12 steps.
    period, speed, mass = 0.5, 0.5, 1.0
    light = mass / ratio
    omega, scene = 2.0 * np.pi / period, Scene(gravity=(0, 0, 0))
    soft = 1.0 / ((mass + light) * omega**2)
    for name, m, z in (("Plate", light, 0.0), ("Load", mass, 0.11)):
        shape = [Box((0.1, 0.1, 0.01 if name == "Plate" else 0.1))]
        velocity = (0, 0, speed)
        scene.add(Body(name, shape, mass=m, position=(0, 0, z), collision_mask=0, linear_velocity=velocity))
    scene.add(Joint("Weld", "fixed", "Plate", "Load", position=(0, 0, 0.01)))
    place = {"anchors": ((0, 0, -2.0), (0, 0, 0))} if kind == "distance" else {}
    scene.add(Joint("Mount", kind, None, "Plate", compliance=soft, **place))
    trajectory = simulate(scene, 72, config=CPU)
    z = trajectory.position[:, 1, 2] - 0.11
    turned = 2.0 * np.arctan(0.5 * omega / 24.0)
    off = np.abs(z - speed / omega * np.sin(turned * np.arange(len(z)))).max() * omega / speed
    assert figure(f"load on a plate of 1 / {ratio:g}, {kind}", "off the mid-step law, 3 s", off, 1e-3) < 1e-3


def test_a_rod_swings_about_its_end_on_angular_compliance():
    # About its middle alone it would have a quarter of the inertia: 4.8 steps a period are enough.
    length, mass, period, scene = 1.0, 1.0, 0.2, Scene(gravity=(0, 0, 0))
    omega, spin = 2.0 * np.pi / period, 1.0
    soft = 3.0 / (mass * length**2 * omega**2)
    velocity = {"linear_velocity": (0, 0.5 * spin * length, 0), "angular_velocity": (0, 0, spin)}
    shape = [Box((0.5 * length, 1e-3, 1e-3))]
    scene.add(Body("Rod", shape, mass=mass, position=(0.5 * length, 0, 0), collision_mask=0, **velocity))
    scene.add(Joint("Clamp", "fixed", None, "Rod", angular_compliance=soft))
    y = simulate(scene, 72, config=CPU).position[36:, 0, 1]
    lost = 1.0 - np.abs(y).max() * omega / (0.5 * spin * length)
    assert figure("rod on a soft clamp, 4.8 steps a period", "swing lost in 3 s", abs(lost), 0.01) < 0.01


def rope(period, place, length, seconds, fps=24):
    """(positions, velocities, energies / m) of a ball of 1 kg let go on a rope from the origin."""
    scene, omega = Scene(gravity=(0, 0, -G)), 2.0 * np.pi / period
    scene.add(Body("Ball", [Sphere(0.1)], position=place, mass=1.0, collision_mask=0))
    anchors = ((0, 0, 0), place)
    scene.add(Joint("Rope", "rope", None, "Ball", anchors=anchors, length=length, compliance=1.0 / omega**2))
    trajectory = simulate(scene, seconds * fps, fps, CPU)
    assert all(report.converged for report in trajectory.reports)
    x, v, w = (
        values[:, 0] for values in (trajectory.position, trajectory.linear_velocity, trajectory.angular_velocity)
    )
    stretch = np.maximum(np.linalg.norm(x, axis=1) - length, 0.0)
    energy = 0.5 * (v**2).sum(axis=1) + 0.5 * 0.4 * 0.01 * (w**2).sum(axis=1) + G * x[:, 2]
    return x, v, energy + 0.5 * (omega * stretch) ** 2


@pytest.mark.parametrize("aside", [0.0, 0.5])
@pytest.mark.parametrize("period", [0.3, 0.5, 1.0])
def test_a_jumper_bounces_on_a_rope_that_goes_slack(period, aside):
    # By its law alone, which takes the mean of a taut and a slack end, a rope gave or took 15 % of the fall.
    length, drop = 2.0, 1.5 - aside
    x, v, energy = rope(period, (aside, 0.0, drop - length), length, 6)
    off = np.abs(energy - energy[0]).max() / (G * drop)
    assert figure(f"jumper on a rope of {period} s, {aside:g} m aside", "energy off, 6 s", off, 5e-3) < 5e-3
    slack = np.linalg.norm(x, axis=1) < length - 0.05
    falls = slack[1:] & slack[:-1]
    gain = np.diff(v, axis=0)[falls] - np.array([0.0, 0.0, -G / 24.0])
    # what is owed of the energy is given within the steps after the rope came slack
    assert np.median(np.linalg.norm(gain, axis=1)) < 1e-9
    assert falls.sum() > 30


@pytest.mark.parametrize("period", [0.3, 1.0])
def test_a_pendulum_on_an_elastic_rope_keeps_its_energy(period):
    length, angle = 1.0, 1.0
    place = (length + G * (period / (2.0 * np.pi)) ** 2) * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    _, _, energy = rope(period, place, length, 10)
    off = np.abs(energy - energy[0]).max() / (G * np.linalg.norm(place) * (1.0 - np.cos(angle)))
    assert figure(f"elastic pendulum, {period} s", "energy off, 10 s", off, 2e-3) < 2e-3


@pytest.mark.parametrize("soft", [{"compliance": 1e-9}, {"compliance": 1e-6}, {"angular_compliance": 1e-6}])
def test_links_of_stiff_compliance_swing_as_rigid_ones(soft):
    # Rigid ones keep their energy (kept_energy.py); a billionth of a metre a newton cost a third of it in 5 s.
    scene, length = Scene(gravity=(0, 0, -G)), 0.2
    across = rotations.exponential(np.array([-0.5 * np.pi, 0.0, 0.0]))
    before = None
    for k in range(2):
        shape, middle = [Box((0.5 * length, 0.01, 0.01))], (length * (k + 0.5), 0, 0)
        scene.add(Body(f"{k}", shape, position=middle, mass=1.0, collision_mask=0))
        scene.add(Joint(f"{k}", "hinge", before, f"{k}", (length * k, 0, 0), across, **soft))
        before = f"{k}"
    trajectory = simulate(scene, 120, config=CPU)
    kinetic = np.array([report.kinetic_energy for report in trajectory.reports])
    height = trajectory.position[1:, :, 2].sum(axis=1) * G
    off = np.abs(kinetic + height)[-24:].max() / np.abs(height).max()
    name, value = next(iter(soft.items()))
    assert figure(f"two links, {name} {value:g}", "energy off in the last of 5 s", off, 0.01) < 0.01
