# SPDX-License-Identifier: GPL-3.0-or-later
"""What slides or rolls over tiles, belts and planks that lie flush does not feel their edges; a kerb it does."""

import numpy as np
import pytest
from axion.solver import (
    Body,
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    MotionPath,
    Plane,
    Scene,
    SolverConfig,
    Sphere,
    TriangleMesh,
    simulate,
)
from axion.solver.rotations import rotate
from contact_scenes import CUBE, torus
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
CORNERS = 2.0 * CUBE
SIDES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
SIDES += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
HALF = (0.5, 0.5, 0.1)
TILES = {
    "boxes": lambda: Box(HALF),
    "hulls": lambda: ConvexHull(CORNERS * HALF),
    "meshes": lambda: TriangleMesh(CORNERS * HALF, np.array(SIDES)),
}
THINGS = {
    "box": (Box((0.2, 0.2, 0.1)), 0.1),
    "hull": (ConvexHull(CORNERS * (0.2, 0.15, 0.1)), 0.1),
    "ball": (Sphere(0.1), 0.1),
    "upright barrel": (Cylinder(0.1, 0.2), 0.2),
    "mesh": (TriangleMesh(CORNERS * (0.2, 0.15, 0.1), np.array(SIDES)), 0.1),
}


def row(scene, shape, friction=0.0, lifted=None):
    """Four tiles of 1 m along X, their tops at z = 0 but for that of the one that is ``lifted`` (number, height)."""
    for k in range(4):
        height = lifted[1] if lifted is not None and lifted[0] == k else 0.0
        scene.add(Body(f"Tile {k}", [shape()], motion="static", position=(k, 0, height - HALF[2]), friction=friction))


@pytest.mark.parametrize("speed", [1.0, 2.3])
@pytest.mark.parametrize("tiles", TILES)
@pytest.mark.parametrize("thing", THINGS)
def test_nothing_is_felt_of_flush_edges(thing, tiles, speed):
    # No friction: v = v0 for ever, straight on, on the tiles' top.
    shape, height = THINGS[thing]
    scene = Scene()
    row(scene, TILES[tiles])
    scene.add(Body("Thing", [shape], position=(0.1, 0.03, height), friction=0.0, linear_velocity=(speed, 0, 0)))
    trajectory = simulate(scene, round(2.6 / speed / STEP), 24, CPU)
    slowest = trajectory.linear_velocity[:, 4, 0].min() / speed
    name = f"{thing} over flush {tiles} at {speed} m/s"
    assert figure(name, "least speed over that at the start", slowest, "1 +- 1e-3") == pytest.approx(1.0, abs=1e-3)
    assert trajectory.linear_velocity[:, 4, 0].max() < speed * 1.001
    assert np.abs(trajectory.position[:, 4, 2] - height).max() < FAST
    assert np.abs(trajectory.linear_velocity[:, 4, 1:]).max() < 2.0 * FAST / STEP


def test_ball_rolls_on_over_tiles():
    scene, speed, radius = Scene(), 1.0, 0.1
    row(scene, TILES["boxes"], friction=0.5)
    scene.add(Body("Ball", [Sphere(radius)], position=(0.1, 0, radius), linear_velocity=(speed, 0, 0),
                   angular_velocity=(0, speed / radius, 0)))  # fmt: skip
    trajectory = simulate(scene, 60, 24, CPU)
    assert trajectory.linear_velocity[:, 4, 0] == pytest.approx(speed, abs=1e-3)


def test_one_belt_hands_over_to_the_next():
    scene = Scene()
    for k, speed in enumerate((1.0, 2.0)):
        scene.add(Body(f"Belt {k}", [Box((2.0, 0.5, 0.1))], motion="static", position=(4.0 * k, 0, -0.1),
                       surface_velocity=(speed, 0, 0)))  # fmt: skip
    scene.add(Body("Box", [Box((0.2, 0.2, 0.1))], position=(0.5, 0, 0.1)))
    trajectory = simulate(scene, 60, 24, CPU)
    speed = trajectory.linear_velocity[:, 2, 0]
    assert figure("box from belt to belt", "speed at the end", speed[-1], "2 +- 2.4e-3", "m/s") == pytest.approx(
        2.0, abs=FAST / STEP
    )
    assert np.all(np.diff(speed) > -FAST / STEP), "nothing holds it up on the way"


def test_drawbridge_that_is_level_lets_pass():
    # A collider that moves is flush with one that stands once it is up.
    scene, times = Scene(), np.array([0.0, 0.5])
    scene.add(Body("Quay", [Box(HALF)], motion="static", position=(0, 0, -0.1), friction=0.0))
    path = MotionPath(times, [(1.0, 0, -0.4), (1.0, 0, -0.1)], [(0, 0, 0, 1)] * 2)
    scene.add(Body("Lift", [Box(HALF)], motion="kinematic", path=path, friction=0.0))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.1))], position=(-0.5, 0, 0.1), friction=0.0, linear_velocity=(1, 0, 0)))
    trajectory = simulate(scene, 40, 24, CPU)
    assert trajectory.linear_velocity[:, 2, 0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("height", [0.002, 0.02])
def test_what_stands_out_stops_a_box(height):
    # e = 0 and no friction: it comes to rest at the edge, x = 1.5 - 0.2.  Pushed below its middle it tips a little on
    # the way: at 960 fps its middle gets 2 mm farther.
    scene = Scene()
    row(scene, TILES["boxes"], lifted=(2, height))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.1))], position=(0.1, 0, 0.1), friction=0.0, linear_velocity=(1, 0, 0)))
    trajectory = simulate(scene, 48, 24, CPU)
    assert trajectory.position[:, 4, 0].max() < 1.3 + 3e-3


def test_box_slides_off_the_end_of_a_slab_onto_the_next_below():
    # The lower one is no plane with the box before it until it is reached: it lands there.
    scene = Scene()
    row(scene, TILES["boxes"], lifted=(2, -0.3))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0.9, 0, 0.1), friction=0.0, linear_velocity=(1.5, 0, 0)))
    trajectory = simulate(scene, 48, 24, CPU)
    assert trajectory.position[:, 4, 2].min() > -0.2 - 0.1 and trajectory.position[-1, 4, 0] < 2.5
    assert trajectory.reports[-1].penetration < FAST


@pytest.mark.parametrize("lean", [0.0, 0.2])
def test_wall_on_the_floor_stops_also_what_touches_it_with_a_bottom_edge(lean):
    # Leaning back, a box meets the wall along the edge it stands on: the contact lies in the floor, the wall does not.
    scene = Scene()
    scene.add(Body("Floor", [Box((3, 3, 0.1))], motion="static", position=(0, 0, -0.1), friction=0.0))
    scene.add(Body("Wall", [Box((0.1, 3, 0.5))], motion="static", position=(1.1, 0, 0.5), friction=0.0))
    height = 0.2 * (np.cos(lean) + np.sin(lean))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.2))], position=(0, 0, height), orientation=turned("y", -lean),
                   friction=0.0, linear_velocity=(3, 0, 0)))  # fmt: skip
    trajectory = simulate(scene, 36, 24, CPU)
    assert trajectory.position[:, 2, 0].max() < 1.0 - 0.2 + 1e-3


PARTS = {
    "boxes": lambda offset: Box(HALF, position=offset),
    "hulls": lambda offset: ConvexHull(CORNERS * HALF + offset),
}
HEAVY = 1e6


def plank(parts, **state):
    """One body of HEAVY kg of four tiles along X, that moves: its top at z = 0, joints at x = -1, 0 and 1."""
    shapes = [PARTS[parts](np.array([k - 1.5, 0, -HALF[2]])) for k in range(4)]
    return Body("Plank", shapes, mass=HEAVY, friction=0.0, **state)


@pytest.mark.parametrize("restitution", [0.0, 0.8])
@pytest.mark.parametrize("beside", [-0.06, -0.01, 0.01, 0.06])
@pytest.mark.parametrize("parts", PARTS)
def test_a_ball_by_the_joint_of_a_body_that_moves_leaves_as_by_one_face(parts, beside, restitution):
    # Askew over a joint at 5 m/s: only what is upright turns round.
    scene, velocity = Scene(gravity=(0, 0, 0)), np.array([1.5, 0.7, -5.0])
    scene.add(plank(parts, restitution=restitution))
    place = np.array([beside, 0.0, 0.1]) - 0.03 * velocity
    scene.add(Body("Ball", [Sphere(0.1)], position=place, linear_velocity=velocity, mass=1.0, friction=0.0))
    trajectory = simulate(scene, 6, 24, CPU)
    off = np.abs(trajectory.linear_velocity[-1, 1] - velocity * (1, 1, -restitution)).max()
    name = f"ball {beside:g} m beside the joint of two {parts} that move, restitution {restitution:g}"
    assert figure(name, "velocity off", off, 2.0 * FAST / STEP, "m/s") < 2.0 * FAST / STEP


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("parts", PARTS)
def test_nothing_is_felt_of_the_joints_of_a_body_that_moves(thing, parts):
    shape, height = THINGS[thing]
    scene, speed = Scene(), 1.3
    scene.add(plank(parts))
    scene.add(Body("Thing", [shape], position=(-1.5, 0.03, height), friction=0.0, linear_velocity=(speed, 0, 0)))
    scene.add(Body("Floor", [Plane()], motion="static", position=(0, 0, -2.0 * HALF[2])))
    trajectory = simulate(scene, 48, 24, CPU)
    assert trajectory.linear_velocity[:, 1, 0] == pytest.approx(speed, abs=1e-3)
    assert np.abs(trajectory.position[:, 1, 2] - height).max() < 2.0 * FAST
    assert np.abs(trajectory.position[:, 0, :2]).max() < FAST


def deepest_in_box(vertices, trajectory, low, high):
    """How deep vertices (V, 3) of the last body are in the box from ``low`` to ``high`` (3,), at worst [m]."""
    worst = 0.0
    for place, turn in zip(trajectory.position[:, -1], trajectory.orientation[:, -1], strict=True):
        corner = place + rotate(turn, vertices)
        worst = max(worst, np.minimum(corner - low, high - corner).min(axis=1).max())
    return worst


@pytest.mark.parametrize("top", [-0.03, -0.06, 0.3])
def test_a_ring_on_a_peg_hits_what_stands_lower_beside_it(top):
    # All of the box is behind the plane on top of the peg, and so is most of the ring: it went 5 cm deep into the box,
    # in steps that were told to be right.
    mesh = torus(0.1, 0.015, 32, 12)
    upright = TriangleMesh(mesh.vertices[:, [0, 2, 1]], mesh.triangles[:, ::-1])
    scene, angle, arm = Scene(), np.deg2rad(50.0), 0.065
    scene.add(Body("Peg", [Cylinder(0.02, 0.2, orientation=turned("x", 0.5 * np.pi))], motion="static", friction=0.3))
    half = np.array([0.05, 0.2, 0.5 * (top + 0.6)])
    middle = np.array([-0.16, 0.0, 0.5 * (top - 0.6)])
    scene.add(Body("Box", [Box(tuple(half))], motion="static", position=middle))
    scene.add(Body("Ring", [upright], position=(arm * np.sin(angle), 0, -arm * np.cos(angle)), mass=0.5, friction=0.3,
                   linear_velocity=(-1.0, 0, -0.5)))  # fmt: skip
    trajectory = simulate(scene, 24, 24, CPU)
    deep = deepest_in_box(upright.vertices, trajectory, middle - half, middle + half)
    name = f"ring on a peg beside a box up to {top:g} m"
    assert figure(name, "deepest corner in the box", deep, f"< {FAST:g}", "m") < FAST
    assert all(report.converged for report in trajectory.reports)


def test_a_spoon_leans_on_the_rim_of_a_cup_that_moves():
    # The shaft is behind the plane under its thicker end, which the cup's wall is not before: it fell through the wall.
    outer, inner, height = 0.04, 0.035, 0.1
    angle = 2.0 * np.pi * np.arange(20) / 20
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = [(outer, 0.0), (outer, height), (inner, height), (inner, 0.006)]
    vertices = np.concatenate([np.c_[radius * circle, np.full(20, z)] for radius, z in rings])
    vertices = np.concatenate([vertices, [(0, 0, 0), (0, 0, 0.006)]])
    k, after = np.arange(20), (np.arange(20) + 1) % 20
    sides = []
    for low, high in ((0, 20), (20, 40), (40, 60)):
        sides += [
            np.stack(each, axis=1) for each in ((low + k, low + after, high + after), (low + k, high + after, high + k))
        ]
    sides += [np.stack([0 * k + 80, after, k], axis=1), np.stack([60 + k, 60 + after, 0 * k + 81], axis=1)]
    cup = TriangleMesh(vertices, np.concatenate(sides))
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static", friction=0.4))
    scene.add(Body("Cup", [cup], mass=0.3, friction=0.4))
    spoon = [Capsule(0.003, 0.07), Sphere(0.008, position=(0, 0, -0.075))]
    scene.add(Body("Spoon", spoon, position=(0.018, 0, 0.1), orientation=turned("y", 0.1), mass=0.04, friction=0.3))
    trajectory = simulate(scene, 48, 24, CPU)
    up = rotate(trajectory.orientation[-1, 2], np.array([0.0, 0.0, 1.0]))
    foot = trajectory.position[-1, 2] - trajectory.position[-1, 1] - 0.073 * up
    share = (outer - np.hypot(*foot[:2])) / np.hypot(*up[:2])  # where the shaft passes over the wall
    assert figure("spoon in a cup", "height of the shaft over the rim", foot[2] + share * up[2], "> 0.1", "m") > height
    assert all(report.converged for report in trajectory.reports)
