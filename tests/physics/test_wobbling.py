# SPDX-License-Identifier: GPL-3.0-or-later
"""Discs and coins that wobble and spin on their rims, by the law of steady rolling (Euler's disc).

A thin disc of radius r whose plane leans by ``a`` against the floor rolls steadily with its middle at rest when its
axis goes round at Omega with Omega^2 = 4 g / (r sin a), turning about the line from its lowest place to the middle
alone.  Nothing takes energy from that: it goes on for ever, with the lean that it has.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Cylinder, Plane, Scene, SolverConfig, simulate
from axion.solver.reference.rotation import multiply
from axion.solver.rotations import exponential, rotate
from contact_scenes import grid
from figures import figure
from judges import reported_energies
from scenes import GRAVITY, turned

CPU = SolverConfig(device="cpu")
THIN = 1e-4  # half the thickness [m]


def leans(trajectory):
    """(lean [rad], azimuth [rad]) of the disc's axis, of each frame."""
    axis = rotate(trajectory.orientation[:, 1], np.array([0.0, 0.0, 1.0]))
    return np.arccos(axis[:, 2]), np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))


def wobbling(radius, lean, floor=None, friction=1.0):
    """(Scene, Omega): a thin disc that rolls steadily on its rim."""
    scene, rate = Scene(), np.sqrt(4.0 * GRAVITY / (radius * np.sin(lean)))
    scene.add(Body("Floor", [Plane()] if floor is None else [floor], motion="static", friction=friction))
    moment = 0.25 * radius**2
    place = radius * np.array([-np.cos(lean), 0.0, np.sin(lean)])
    scene.add(
        Body(
            "Disc", [Cylinder(radius, THIN)], position=place + [0.0, 0.0, THIN * np.cos(lean)],
            orientation=turned("y", lean), mass=1.0, inertia=np.diag([moment, moment, 2.0 * moment]),
            center_of_mass=(0.0, 0.0, 0.0), friction=friction,
            angular_velocity=rate * np.sin(lean) * place / radius,
        )
    )  # fmt: skip
    return scene, rate


BLOCK = Box((0.5, 0.5, 0.1), position=(0.0, 0.0, -0.1))
DISCS = [
    (0.0375, 20.0, 24, None), (0.1, 10.0, 24, None), (0.1, 30.0, 24, BLOCK), (0.1, 10.0, 24, grid(20, 1.0)),
    (0.1, 10.0, 96, None),
]  # fmt: skip


@pytest.mark.parametrize(("radius", "degrees", "fps", "floor"), DISCS)
def test_a_disc_wobbles_on(radius, degrees, fps, floor):
    lean, seconds = np.radians(degrees), 2.0
    scene, rate = wobbling(radius, lean, floor)
    trajectory = simulate(scene, round(seconds * fps), fps, CPU)
    assert all(report.converged for report in trajectory.reports)
    name, energy = f"disc at {degrees:g} degrees, {fps} fps", reported_energies(trajectory)
    leant, azimuth = leans(trajectory)
    # Between two frames at 24 fps it goes round by more than half a turn: count those that the law asks for.
    turns = np.round((rate * seconds - (azimuth[-1] - azimuth[0])) / (2.0 * np.pi))
    found = (azimuth[-1] - azimuth[0] + 2.0 * np.pi * turns) / seconds
    kept = energy[-1] / (1.5 * GRAVITY * radius * np.sin(lean) + GRAVITY * THIN * np.cos(lean))
    off = np.degrees(np.abs(leant - lean).max())
    assert figure(name, "energy kept in 2 s", kept, 0.005) == pytest.approx(1.0, abs=0.005)
    assert figure(name, "lean off by", off, 0.6, "degrees") < 0.6
    assert figure(name, "goes round at, over the law", found / rate, 0.02) == pytest.approx(1.0, abs=0.02)


def test_a_disc_on_ice_keeps_its_energy():
    scene, _ = wobbling(0.1, 0.4, friction=0.0)
    trajectory = simulate(scene, 48, 24, CPU)
    energy = reported_energies(trajectory)
    assert all(report.converged for report in trajectory.reports)
    assert figure("disc on ice, 0.4 rad", "energy kept in 2 s", energy[-1] / energy[0], 0.01) == pytest.approx(
        1.0, abs=0.01
    )


@pytest.mark.parametrize("spin", [60.0])
def test_a_coin_spun_on_its_rim_keeps_its_energy_and_lean(spin):
    # At 85 degrees; it lay down, or stood up, and lost a tenth to a fifth of its energy in the first second.
    scene = Scene()
    scene.add(Body("Table", [Plane()], motion="static", friction=0.5))
    lean = np.radians(85.0)
    height = 0.0121 * np.sin(lean) + 0.0008 * np.cos(lean)
    scene.add(
        Body("Coin", [Cylinder(0.0121, 0.0008)], position=(0.0, 0.0, height), orientation=turned("y", lean),
             density=7800.0, friction=0.5, angular_velocity=(0.0, 0.0, spin))
    )  # fmt: skip
    trajectory, name = simulate(scene, 36, 24, CPU), f"coin spun at {spin:g} rad/s"
    energy = reported_energies(trajectory)
    assert all(report.converged for report in trajectory.reports)
    assert figure(name, "energy kept in 1.5 s", energy[-1] / energy[0], 0.99) > 0.99
    assert energy.max() < 1.01 * energy[0]
    finer = simulate(scene, 16 * 36, 16 * 24, SolverConfig(device="cpu", substeps=1))
    off = np.degrees(np.abs(leans(trajectory)[0] - leans(finer)[0][::16]).max())
    assert figure(name, "lean beside that at 384 fps", off, 3.0, "degrees") < 3.0


def test_a_disc_wobbles_the_same_wherever_it_is_and_however_turned():
    turn = exponential(np.array([0.0, 0.0, 1.0]))
    first, _ = wobbling(0.1, 0.4)
    second, _ = wobbling(0.1, 0.4)
    disc = second.bodies[1]
    shift = np.array([3.0, -2.0, 0.0])
    moved = {"position": shift + rotate(turn, disc.position), "orientation": multiply(turn, disc.orientation)}
    second.bodies[1] = Body(**{**vars(disc), **moved, "angular_velocity": rotate(turn, disc.angular_velocity)})
    ends = [simulate(scene, 24, 24, CPU) for scene in (first, second)]
    expected = shift + rotate(turn, ends[0].position[-1, 1])
    assert np.linalg.norm(ends[1].position[-1, 1] - expected) < 2e-3
    assert abs(leans(ends[0])[0][-1] - leans(ends[1])[0][-1]) < np.radians(0.5)
