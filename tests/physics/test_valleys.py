# SPDX-License-Identifier: GPL-3.0-or-later
"""Where one slab slopes down onto another there is no edge: what slides down takes its speed along the second one.

What comes down at v, without friction and rebound, keeps what of its velocity is along the floor: v cos d, with
v^2 = v0^2 + 2 g s sin d.  The impact is somewhere in a step, so gravity on the slope may count up to a step more.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Cylinder, Plane, Scene, SolverConfig, Sphere, TriangleMesh, simulate
from contact_scenes import CUBE
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
HALF = np.array([1.5, 0.5, 0.1])
CORNERS = 2.0 * CUBE
SIDES = ConvexHull(CUBE).triangles
START, WAY = 2.0, 0.8
SLABS = {
    "boxes": lambda place, turn: Box(HALF, position=place, orientation=turn),
    "hulls": lambda place, turn: ConvexHull(CORNERS * HALF, position=place, orientation=turn),
    "meshes": lambda place, turn: TriangleMesh(CORNERS * HALF, SIDES, position=place, orientation=turn),
}
THINGS = {
    "box": (Box((0.1, 0.1, 0.05)), 0.05),
    "hull": (ConvexHull(CORNERS * (0.1, 0.1, 0.05)), 0.05),
    "ball": (Sphere(0.1), 0.1),
    "barrel": (Cylinder(0.1, 0.1, orientation=turned("x", np.pi / 2)), 0.1),
}


def slope(angle):
    """Directions down a slope along X and up from it (3,), and its orientation."""
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.array([cosine, 0, -sine]), np.array([sine, 0, cosine]), turned("y", angle)


def slabs(kind, angle, step=0.0):
    """Two shapes: a slope down along X that ends at the origin, and a floor from there on, higher by ``step`` [m]."""
    down, up, turn = slope(angle)
    make = SLABS[kind]
    return [make(-HALF[0] * down - HALF[2] * up, turn), make((HALF[0], 0, step - HALF[2]), (0, 0, 0, 1))]


def above(thing, angle, way=WAY, speed=START, **settings):
    """A body on the slope, ``way`` [m] before its end, that goes down."""
    shape, height = THINGS[thing]
    down, up, turn = slope(angle)
    return Body("Thing", [shape], position=height * up - way * down, orientation=turn, friction=0.0,
                linear_velocity=speed * down, **settings)  # fmt: skip


@pytest.mark.parametrize("degrees", [1.0, 7.5, 20.0, 45.0])
@pytest.mark.parametrize("ground", ["boxes", "hulls", "meshes", "parts of one body", "box on a plane"])
@pytest.mark.parametrize("thing", THINGS)
def test_speed_is_kept_along_the_floor(thing, ground, degrees):
    angle, scene = np.radians(degrees), Scene()
    first, second = slabs(ground if ground in SLABS else "boxes", angle)
    if ground == "parts of one body":
        scene.add(Body("Ground", [first, second], motion="static", friction=0.0))
    else:
        scene.add(Body("Slope", [first], motion="static", friction=0.0))
        floor = Plane() if ground == "box on a plane" else second
        scene.add(Body("Floor", [floor], motion="static", friction=0.0))
    scene.add(above(thing, angle))
    trajectory = simulate(scene, 20, 24, CPU)
    right = np.sqrt(START**2 + 2 * 9.81 * WAY * np.sin(angle)) * np.cos(angle)
    off = trajectory.linear_velocity[-1, -1, 0] - right
    name = f"{thing} down {degrees:g} degrees onto the floor, {ground}"
    bound = 9.81 * STEP * np.sin(angle) + 2e-3
    assert figure(name, "speed off", abs(off), f"{bound:.3g}", "m/s") < bound
    assert all(report.converged and report.penetration < FAST for report in trajectory.reports)


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("degrees", [2.0, 20.0])
@pytest.mark.parametrize("kind", SLABS)
def test_a_ball_takes_its_speed_along_the_floor_where_nothing_pulls(kind, degrees, moves):
    angle, scene, speed = np.radians(degrees), Scene(gravity=(0, 0, 0)), 2.0
    motion = {"mass": 1e6, "motion": "dynamic"} if moves else {"motion": "static"}
    scene.add(Body("Ground", slabs(kind, angle), friction=0.0, **motion))
    scene.add(above("ball", angle, 0.7, speed, mass=1.0))
    trajectory = simulate(scene, 20, 24, CPU)
    right = speed * np.cos(angle) * np.array([1.0, 0, 0])
    assert np.abs(trajectory.linear_velocity[-1, 1] - right).max() < 2.0 * FAST / STEP


@pytest.mark.parametrize("height", [0.002, 0.02])
@pytest.mark.parametrize("kind", SLABS)
def test_a_kerb_at_the_foot_of_a_slope_stops_a_box(kind, height):
    angle, scene = np.radians(7.5), Scene()
    for name, shape in zip(("Slope", "Floor"), slabs(kind, angle, height), strict=True):
        scene.add(Body(name, [shape], motion="static", friction=0.0))
    scene.add(above("box", angle, 0.5, 1.0))
    trajectory = simulate(scene, 36, 24, CPU)
    assert trajectory.position[:, 2, 0].max() < 0.0 and abs(trajectory.linear_velocity[-1, 2, 0]) < 0.1
