# SPDX-License-Identifier: GPL-3.0-or-later
"""Concave meshes against every shape, the mesh at rest, moved along a path, or free itself: what falls in stays in."""

import numpy as np
import pytest
from axion.solver import (
    Body,
    Box,
    Capsule,
    Cone,
    ConvexDecomposition,
    ConvexHull,
    Cylinder,
    MotionPath,
    Scene,
    SolverConfig,
    Sphere,
    simulate,
)
from contact_scenes import CUBE, ell, torus, tray
from figures import figure
from judges import energies
from scenes import ground, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
LYING = turned("x", 0.5 * np.pi)
FLAT = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))
DROP = 0.05
SPEED = 0.2  # of the tray on its path, up and to the side [m/s]
HALVES = tuple(0.3 * (CUBE * (0.5, 1, 1) + (x, 0, 0)) for x in (-0.25, 0.25))
THINGS = {  # shape, its orientation, height of its middle when it lies on a level floor
    "sphere": (Sphere(0.2), (0, 0, 0, 1), 0.2),
    "box": (Box((0.2, 0.15, 0.1)), (0, 0, 0, 1), 0.1),
    "capsule": (Capsule(0.1, 0.2), LYING, 0.1),
    "cylinder": (Cylinder(0.2, 0.15), (0, 0, 0, 1), 0.15),
    "cone": (Cone(0.2, 0.15), (0, 0, 0, 1), 0.15),
    "hull": (ConvexHull(CUBE * 0.3), (0, 0, 0, 1), 0.15),
    "concave mesh": (torus(0.3, 0.1), (0, 0, 0, 1), 0.1),
    "pieces": (ConvexDecomposition(CUBE * 0.3, ConvexHull(CUBE).triangles, pieces=HALVES), (0, 0, 0, 1), 0.15),
}


def held(motion):
    """(Scene with a tray, place of the tray at the start): it stands, moves along a path, or lies on the ground."""
    scene, place = Scene(), np.array([0.0, 0.0, 0.1])
    if motion == "free":
        ground(scene)
        scene.add(Body("Tray", [tray()], position=place, mass=20.0))
    elif motion == "moved":
        way = 3.0 * SPEED * np.array([0.6, 0.0, 0.8])
        scene.add(Body("Tray", [tray()], motion="kinematic", path=MotionPath([0.0, 3.0], [place, place + way], FLAT)))
    else:
        scene.add(Body("Tray", [tray()], motion="static", position=place))
    return scene


@pytest.mark.parametrize("motion", ["static", "moved", "free"])
@pytest.mark.parametrize("name", THINGS)
def test_what_falls_into_a_tray_lies_on_its_floor(name, motion):
    # It lies on the floor of the tray, seen from the tray, and goes where the tray goes.
    shape, turn, height = THINGS[name]
    scene = held(motion)
    tray_body, thing = len(scene.bodies) - 1, len(scene.bodies)
    start = np.array([0.13, -0.21, 0.1 + height + DROP])
    scene.add(Body("Thing", [shape], position=start, orientation=turn, mass=1.0, angular_damping=1.0))
    trajectory = simulate(scene, 48, config=CPU)
    above = trajectory.position[:, thing] - trajectory.position[:, tray_body]
    label = f"{name} in a {motion} tray"
    off = np.abs(above[-12:, 2] - height).max()
    assert figure(label, "off its height on the floor", off, 2.0 * FAST, "m") < 2.0 * FAST
    depth = max(report.penetration for report in trajectory.reports)
    assert figure(label, "penetration", depth, FAST, "m") < FAST
    assert np.abs(above[:, :2]).max() < 1.0
    apart = trajectory.linear_velocity[-1, thing] - trajectory.linear_velocity[-1, tray_body]
    if name not in ("sphere", "capsule"):  # which may roll on
        assert figure(label, "speed against the tray at the end", np.linalg.norm(apart), 1e-3, "m/s") < 1e-3
    if motion != "moved":
        assert np.diff(energies(scene, trajectory)).max() < 30.0 * 9.81 * FAST


def test_two_free_concave_meshes_lie_in_each_other():
    # An L in the tray, the tray on the ground: both free, both concave.
    scene = held("free")
    scene.add(Body("Ell", [ell()], position=(0.1, 0.1, 0.6), orientation=turned("x", 0.3), mass=1.0))
    trajectory = simulate(scene, 96, config=CPU)
    assert max(report.penetration for report in trajectory.reports) < FAST
    speed = np.abs(trajectory.linear_velocity[-1]).max()
    assert figure("L in a free tray", "speed at the end", speed, 1e-3, "m/s") < 1e-3
    assert np.abs(trajectory.position[:, -1, :2]).max() < 1.0 and trajectory.position[:, -1, 2].min() > 0.1
