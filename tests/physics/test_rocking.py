# SPDX-License-Identifier: GPL-3.0-or-later
"""What rocks about where it touches: roly-polies, bottles, a ring on a nail, and planks on logs."""

from functools import cache

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, Cylinder, Scene, SolverConfig, Sphere, TriangleMesh, simulate
from axion.solver.rotations import multiply
from contact_scenes import torus
from figures import figure
from judges import reported_energies
from scenes import GRAVITY, ground, turned

RADIUS, SECONDS, FPS = 0.2, 8, 24
LYING = turned("x", 0.5 * np.pi)
BODIES = {
    "roly-poly": (Sphere(RADIUS), turned("x", 0.0), 0.05, 0.3),
    "roly-poly far out": (Sphere(RADIUS), turned("x", 0.0), 0.08, 1.0),
    "bottle": (Cylinder(RADIUS, 0.3), LYING, 0.08, 0.5),
    "capsule": (Capsule(RADIUS, 0.3), LYING, 0.05, 0.5),
}
"""Shape, how it lies, how far its centre of mass is below its middle [m], and by how much it leans at first [rad]."""


@cache
def rocked(kind):
    """One of BODIES, and its Trajectory, let go on the ground."""
    shape, lies, offset, lean = BODIES[kind]
    down = np.array([0.0, 0.0, -offset]) if kind.startswith("roly") else np.array([0.0, -offset, 0.0])
    scene = Scene()
    ground(scene, friction=1.0)
    pose = {"position": (0, 0, RADIUS), "orientation": multiply(turned("y", lean), lies)}
    scene.add(Body("Body", [shape], center_of_mass=down, mass=1.0, friction=1.0, **pose))
    return scene.bodies[1], simulate(scene, SECONDS * FPS, FPS, SolverConfig(device="cpu"))


@pytest.mark.parametrize("kind", BODIES)
def test_what_is_round_rocks_on(kind):
    # By backward Euler a roly-poly went from 0.3 to 0.17 rad in 8 s; the law keeps what it swings with.
    _, _, offset, lean = BODIES[kind]
    _, trajectory = rocked(kind)
    swing = reported_energies(trajectory) - GRAVITY * (RADIUS - offset)
    worst = swing[np.argmax(np.abs(swing / swing[0] - 1.0))] / (GRAVITY * offset * (1.0 - np.cos(lean)))
    assert figure(kind, "swing energy in 8 s, of that at first, the worst", worst, "1 +- 0.03") == pytest.approx(
        1.0, abs=0.03
    )
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("kind", BODIES)
def test_what_is_round_rocks_as_fast_as_by_law(kind):
    # (I + m (r^2 + d^2 - 2 r d cos a)) a'^2 / 2 = m g d (cos a - cos a_0)
    _, _, offset, lean = BODIES[kind]
    body, trajectory = rocked(kind)
    mass, _, inertia = body.mass_properties()
    turn = 2.0 * np.arcsin(np.sin(0.5 * lean) * np.sin((np.arange(1000) + 0.5) * np.pi / 2000.0))
    weight = inertia[2, 2] + mass * (RADIUS**2 + offset**2 - 2.0 * RADIUS * offset * np.cos(turn))
    law = 2.0 * np.pi * np.mean(np.sqrt(weight / (mass * GRAVITY * offset)) / np.cos(0.5 * turn))
    x = trajectory.position[:, 1, 0] + RADIUS * lean  # of its middle, from where it stands upright
    x -= 0.5 * (x.max() + x.min())
    at = np.flatnonzero(x[:-1] * x[1:] < 0.0)
    time = trajectory.times[at] - x[at] * np.diff(trajectory.times)[at] / (x[at + 1] - x[at])
    period = 2.0 * (time[-1] - time[0]) / (len(time) - 1)
    assert figure(kind, "period over that of the law", period / law, "1 +- 0.01") == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("radius", [0.05, 0.1, 0.2, 0.4, 0.8])
@pytest.mark.parametrize("part", [0.2, 0.4, 0.6, 0.8])
def test_roly_polies_of_any_size_keep_their_swing(part, radius):
    """Those that swing by many radians a second: by levers half way to free motion they lost up to 86 % in 4 s."""
    body, trajectory = roly_poly(radius, part * radius, 1.0)
    swing = reported_energies(trajectory) - body.mass * GRAVITY * (1.0 - part) * radius
    worst = np.abs(swing / swing[0] - 1.0).max()
    name = f"roly-poly of {radius:g} m, centre of mass {part:g} r down, leans by 1 rad"
    assert figure(name, "swing energy in 4 s, off that at first", worst, "< 0.005") < 0.005
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize(("radius", "most"), [(0.05, 0.015), (0.1, 0.015), (0.2, 0.01), (0.4, 0.005)])
def test_fast_roly_polies_swing_as_fast_as_by_law(radius, most):
    """What turns by more than half a radian in a step has it cut into pieces: in one its swing took too long."""
    body, trajectory = roly_poly(radius, 0.6 * radius, 1.0)
    inertia, depth, lean = body.mass_properties()[2][1, 1], 0.6 * radius, 1.0
    turn = 2.0 * np.arcsin(np.sin(0.5 * lean) * np.sin((np.arange(1000) + 0.5) * np.pi / 2000.0))
    weight = inertia + body.mass * (radius**2 + depth**2 - 2.0 * radius * depth * np.cos(turn))
    law = 2.0 * np.pi * np.mean(np.sqrt(weight / (body.mass * GRAVITY * depth)) / np.cos(0.5 * turn))
    leans = 2.0 * np.arctan2(*trajectory.orientation[:, 1, [1, 3]].T)
    at = np.flatnonzero(leans[:-1] * leans[1:] < 0.0)
    time = trajectory.times[at] - leans[at] * np.diff(trajectory.times)[at] / (leans[at + 1] - leans[at])
    off = abs(2.0 * (time[-1] - time[0]) / (len(time) - 1) / law - 1.0)
    name = f"roly-poly of {radius:g} m that leans by 1 rad"
    assert figure(name, "period off that of the law", off, f"< {most:g}") < most
    assert max(report.substeps for report in trajectory.reports) <= (1 if radius > 0.05 else 3)


def test_a_roly_poly_that_slips_loses_what_friction_takes():
    """It slips at the ends of its swings: 0.81 of the energy is left after four seconds at 32 steps a frame."""
    body, trajectory = roly_poly(0.1, 0.08, 1.2, friction=0.6)
    swing = reported_energies(trajectory) - body.mass * GRAVITY * 0.02
    left = swing[-1] / (body.mass * GRAVITY * 0.08 * (1.0 - np.cos(1.2)))
    assert figure("roly-poly that slips", "swing energy left after 4 s", left, "0.81 +- 0.02") == pytest.approx(
        0.81, abs=0.02
    )


def roly_poly(radius, depth, lean, friction=2.0):
    """A ball of 0.5 kg with its centre of mass at a ``depth`` below its middle, and its Trajectory of 4 s."""
    scene = Scene()
    ground(scene, friction=friction)
    heavy = {"mass": 0.5, "inertia": 0.15 * radius**2 * np.eye(3), "center_of_mass": (0.0, 0.0, -depth)}
    pose = {"position": (0.0, 0.0, radius), "orientation": turned("y", lean)}
    scene.add(Body("Body", [Sphere(radius)], friction=friction, **pose, **heavy))
    return scene.bodies[1], simulate(scene, 4 * FPS, FPS, SolverConfig(device="cpu"))


def test_a_ring_on_a_nail_swings_on():
    # It lost a third of what it swung with in 4 s: no curve was seen at the ends of its swings, where it is slow.
    big, small, nail, lean = 0.4, 0.03, 0.05, 0.4
    mesh = torus(big, small, 48, 16)
    upright = TriangleMesh(mesh.vertices[:, [0, 2, 1]], mesh.triangles[:, ::-1])
    depth, scene = big - small - nail, Scene()
    scene.add(Body("Nail", [Cylinder(nail, 0.5, orientation=LYING)], motion="static", friction=0.8))
    place = -depth * np.array([np.sin(lean), 0.0, np.cos(lean)])
    scene.add(Body("Ring", [upright], position=place, orientation=turned("y", lean), mass=1.0, friction=0.8))
    trajectory = simulate(scene, 96, 24, SolverConfig(device="cpu"))
    swing = reported_energies(trajectory) + GRAVITY * depth
    left = swing[-1] / swing[0]
    assert figure("ring on a nail", "swing energy left after 4 s", left, "1 +- 0.02") == pytest.approx(1.0, abs=0.02)
    assert all(report.converged for report in trajectory.reports)


ROUND, HALF = 0.5, 0.025
LOGS = {
    "log": (Cylinder(ROUND, 0.5), LYING),
    "ball": (Sphere(ROUND), LYING),
    "capsule": (Capsule(ROUND, 0.5), LYING),
}
"""What stands, and how it lies; a plank that is twice HALF thick rocks on it."""


def rocked_plank(kind, lean, yaw=0.0):
    """Trajectory of a plank of 2 m and 1 kg that has rolled on one of LOGS by ``lean``, aside by ``yaw`` [rad]."""
    shape, lies = LOGS[kind]
    scene = Scene()
    scene.add(Body("Log", [shape], motion="static", position=(0, 0, -ROUND), orientation=lies, friction=1.0))
    up, along = (np.array(axis) for axis in ((np.sin(lean), 0, np.cos(lean)), (np.cos(lean), 0, -np.sin(lean))))
    place = (ROUND + HALF) * up - ROUND * lean * along - np.array([0.0, 0.0, ROUND])
    turn = multiply(turned("y", lean), turned("z", yaw))
    scene.add(Body("Plank", [Box((1.0, 0.2, HALF))], position=place, orientation=turn, mass=1.0, friction=1.0))
    return scene.bodies[1], simulate(scene, 6 * FPS, FPS, SolverConfig(device="cpu"))


def plank_by_law(body, lean, time):
    """Lean [rad] at ``time`` (T,) [s] of a plank that rolls on a log: its middle is R lean from where it touches."""
    inertia = body.mass_properties()[2][1, 1]

    def rates(state):
        turn, rate = state
        weight = inertia + HALF**2 + (ROUND * turn) ** 2
        pull = GRAVITY * (HALF * np.sin(turn) - ROUND * turn * np.cos(turn))
        return np.array([rate, (pull - ROUND**2 * turn * rate**2) / weight])

    state, out, step = np.array([lean, 0.0]), [lean], 1e-3
    for _ in range(round(time[-1] / step)):
        k1 = rates(state)
        k2 = rates(state + 0.5 * step * k1)
        k3 = rates(state + 0.5 * step * k2)
        state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rates(state + step * k3))
        out.append(state[0])
    return np.interp(time, step * np.arange(len(out)), out)


@pytest.mark.parametrize("lean", (0.1, 0.3))
@pytest.mark.parametrize("kind", LOGS)
def test_a_plank_rocks_on_what_is_round_as_by_law(kind, lean):
    # It was held by the plane it touched at the start of a step: of 0.3 rad it had 0.14 left after six seconds.
    body, trajectory = rocked_plank(kind, lean)
    turn = 2.0 * np.arctan2(*trajectory.orientation[:, 1, [1, 3]].T)
    worst = np.abs(turn - plank_by_law(body, lean, trajectory.times)).max() / lean
    assert figure(f"plank on a {kind}, {lean} rad", "off the law in 6 s, of its lean", worst, 0.03) < 0.03
    assert all(report.converged for report in trajectory.reports)


def test_a_plank_that_lies_aside_keeps_its_swing():
    # On a log it rolls along what leads it aside as well; of its swing a quarter was left after four seconds.
    body, trajectory = rocked_plank("log", 0.2, 0.7)
    swing = reported_energies(trajectory) - GRAVITY * HALF * body.mass
    left = swing[96] / swing[0]
    assert figure("plank aside on a log", "swing energy left after 4 s", left, "1 +- 0.07") == pytest.approx(
        1.0, abs=0.07
    )
