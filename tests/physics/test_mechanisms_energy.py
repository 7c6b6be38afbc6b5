# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms end with the energy they had and the work of their dampers, friction, drives and springs: no more is lost
where something brakes a little, and none is gained where something springs.
"""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, simulate
from figures import figure
from judges import energies
from scenes import GRAVITY, turned

ABOUT_Y = turned("x", -0.5 * np.pi)
CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.8, 0.6, 0.7  # [m] of a four-bar linkage
MASSES = 1.0, 2.0, 1.5  # [kg] of the first three


def rods(**axis):
    """Scene of two rods of 0.3 m, one below the other, that are let go from horizontal."""
    scene = Scene()
    for i, before in enumerate((None, "Rod 0")):
        rod = Body(f"Rod {i}", [Box((0.15, 0.02, 0.02))], position=(0.15 + 0.3 * i, 0.0, 0.0), collision_mask=0)
        scene.add(rod).mass = 1.0
        scene.add(Joint(f"Pin {i}", "hinge", before, rod.name, (0.3 * i, 0.0, 0.0), ABOUT_Y, axes={"rz": Axis(**axis)}))
    return scene


def angles(trajectory):
    """(F, bodies) of turning about y, counted on from frame to frame, upward from x to z."""
    q = trajectory.orientation
    return -2.0 * np.unwrap(np.arctan2(q[:, :, 1], q[:, :, 3]), axis=0, period=np.pi)


def baked(scene, seconds, fps):
    """The Trajectory, every frame of which must have converged, and its energies (F,) [J]."""
    trajectory = simulate(scene, round(seconds * fps), fps, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    return trajectory, energies(scene, trajectory)


WEAK = {
    "damper of 1e-6 N m s": {"damping": 1e-6}, "friction of 1e-6 N m": {"friction": 1e-6},
    "drive of at most 1e-6 N m": {"drive": "velocity", "target": 3.0, "max_force": 1e-6},
    "drive with a gain of 1e-6 N m s": {"drive": "velocity", "target": 0.0, "damping": 1e-6},
}  # fmt: skip


@pytest.mark.parametrize("fps", [24, 96])
@pytest.mark.parametrize("name", WEAK)
def test_what_hardly_brakes_takes_hardly_any_energy(name, fps):
    """All took 1.5 J of 5.9 in 5 s at 24 frames a second, where nothing at all took 0.003."""
    energy = baked(rods(**WEAK[name]), 5.0, fps)[1]
    off = np.abs(energy - energy[0]).max() / (0.6 * GRAVITY)
    figure(f"two rods, {name}, {fps} fps, 5 s", "energy off, of that of the fall", off, "< 5e-3", "")
    assert off < 5e-3


@pytest.mark.parametrize("fps", [24, 96])
def test_friction_takes_its_torque_times_its_way(fps):
    """It took 23 times that at 24 frames a second, and 1.35 times at 96."""
    torque = 1e-3
    trajectory, energy = baked(rods(friction=torque), 5.0, fps)
    angle = angles(trajectory)
    way = np.abs(np.diff(np.column_stack([angle[:, 0], angle[:, 1] - angle[:, 0]]), axis=0)).sum()
    share = (energy[0] - energy[-1]) / (torque * way)
    figure(f"two rods, friction of 1e-3 N m, {fps} fps, 5 s", "energy taken over torque times way", share, "0.9 to 1.1")
    assert share == pytest.approx(1.0, abs=0.1)


def placed(phi):
    """(3, 3) of the four-bar's bodies at the angle of its crank: x, z of the middle [m], angle [rad]; and its pins."""
    a, d = np.zeros(2), np.array([GROUND, 0.0])
    b = CRANK * np.array([np.cos(phi), np.sin(phi)])
    apart = np.linalg.norm(d - b)
    along = (d - b) / apart
    part = (COUPLER**2 - ROCKER**2 + apart**2) / (2.0 * apart)
    c = b + part * along + np.sqrt(COUPLER**2 - part**2) * np.array([-along[1], along[0]])
    ends = (a, b), (b, c), (d, c)
    return np.array([[*(0.5 * (p + q)), np.arctan2(*(q - p)[::-1])] for p, q in ends]), (a, b, c, d)


def four_bar(speed=9.0, phi=1.0, **axis):
    """Scene of a linkage whose crank turns at ``speed`` [rad/s]; axis: of the pin of the rocker on the ground."""
    scene, step = Scene(), 1e-5
    (places, pins), (after, before) = placed(phi), (placed(phi + sign * step)[0] for sign in (1, -1))
    rate = speed * (after - before) / (2.0 * step)
    for name, mass, length, (x, z, angle), (u, w, turn) in zip(
        "abc", MASSES, (CRANK, COUPLER, ROCKER), places, rate, strict=True
    ):
        scene.add(
            Body(
                name, [Box((0.5 * length, 0.02, 0.02))], position=(x, 0.0, z), orientation=turned("y", -angle),
                mass=mass, linear_velocity=(u, 0.0, w), angular_velocity=(0.0, -turn, 0.0), collision_mask=0,
            )
        )  # fmt: skip
    for number, (ends, (x, z)) in enumerate(zip(((None, "a"), ("a", "b"), ("b", "c"), (None, "c")), pins, strict=True)):
        axes = {"rz": Axis(**axis)} if number == 3 else {}
        scene.add(Joint(f"Pin {number}", "hinge", *ends, (x, 0.0, z), ABOUT_Y, axes=axes))
    return scene


@pytest.mark.parametrize("fps", [24, 96])
@pytest.mark.parametrize("stiffness", [10.0, 400.0])
def test_a_spring_in_a_mechanism_gives_no_more_than_it_took(stiffness, fps):
    """It gained 11 % in 40 s at 24 frames a second, and 2.5 % at 96."""
    trajectory, energy = baked(four_bar(stiffness=stiffness), 20.0, fps)
    turn = angles(trajectory)[:, 2]
    energy += 0.5 * stiffness * (turn - turn[0]) ** 2
    name = f"four-bar, spring of {stiffness:g} N m, {fps} fps, 20 s"
    gained = (energy[-2 * fps :].mean() - energy[: 2 * fps].mean()) / energy[0]
    assert abs(figure(name, "energy gained from the first 2 s to the last", gained, "< 2e-3 in size", "")) < 2e-3
    off = np.abs(energy - energy[0]).max() / energy[0]
    assert figure(name, "energy off within a swing", off, "< 1e-2", "") < 1e-2


@pytest.mark.parametrize(("fps", "bound"), [(24, 5e-3), (96, 1e-3)])
@pytest.mark.parametrize(("damping", "stiffness"), [(1e-3, 0.0), (0.02, 0.0), (0.02, 10.0)])
def test_a_damper_in_a_mechanism_takes_what_its_law_does(damping, stiffness, fps, bound):
    """One of 1e-3 N m s took 3.6 J of 21.3 in 3 s at 24 frames a second, where 0.05 is its work."""
    seconds = 3.0
    trajectory, energy = baked(four_bar(damping=damping, stiffness=stiffness), seconds, fps)
    turn = angles(trajectory)[:, 2]
    energy += 0.5 * stiffness * (turn - turn[0]) ** 2
    lost, want = energy[0] - energy[-1], law(damping, stiffness, seconds)
    off = abs(lost - want) / energy[0]
    name = f"four-bar, damper of {damping:g} N m s, spring of {stiffness:g} N m, {fps} fps, 3 s"
    assert figure(name, "energy lost less the law's, of what there was", off, f"< {bound:g}") < bound


def law(damping, stiffness, seconds, phi=1.0, speed=9.0, steps=6000):
    """[J] lost in ``seconds``: Lagrange's equation of the crank's angle, by the classical Runge-Kutta method."""
    grid = np.linspace(-np.pi, np.pi, 2001)
    place = np.array([placed(each)[0] for each in grid])
    place[:, :, 2] = np.unwrap(place[:, :, 2], axis=0)
    rate = np.gradient(place, grid, axis=0, edge_order=2)
    mass, length = np.array(MASSES), np.array([CRANK, COUPLER, ROCKER])
    inertia = (rate[:, :, :2] ** 2).sum(axis=2) @ mass + rate[:, :, 2] ** 2 @ (mass * (length**2 + 0.04**2) / 12.0)
    height, turn = place[:, :, 1] @ mass, place[:, 2, 2]
    start = np.interp(phi, grid, turn)
    potential = GRAVITY * height + 0.5 * stiffness * (turn - start) ** 2
    columns = inertia, np.gradient(inertia, grid), np.gradient(potential, grid), damping * rate[:, 2, 2] ** 2

    def change(state):
        m, slope, pull, drag = (
            np.interp((state[0] + np.pi) % (2.0 * np.pi) - np.pi, grid, column) for column in columns
        )
        power = drag * state[1] ** 2
        return np.array([state[1], -(0.5 * slope * state[1] ** 2 + pull + drag * state[1]) / m, power])

    state, h = np.array([phi, speed, 0.0]), seconds / steps
    for _ in range(steps):
        k = [change(state)]
        for part in (0.5, 0.5, 1.0):
            k.append(change(state + part * h * k[-1]))
        state = state + h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3])
    return state[2]
