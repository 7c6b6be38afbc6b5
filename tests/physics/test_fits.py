# SPDX-License-Identifier: GPL-3.0-or-later
"""What slides in a fit without clearance slides: no load, speed or overlap squeezes it, so friction has nothing to feed
on.  Coulomb's law admits a squeeze there; the least one is none.
"""

from dataclasses import replace

import numpy as np
import pytest
from axion.solver import (
    Axis,
    Body,
    Box,
    ConvexHull,
    Cylinder,
    Joint,
    MotionPath,
    Plane,
    Scene,
    SolverConfig,
    rotations,
    simulate,
)
from figures import figure
from scenes import turned

CPU = SolverConfig(device="cpu")
GAPS = pytest.mark.parametrize("gap", [0.0, 1e-7, 1e-5, 1e-4])
"""Clearances [m]: none, what single precision makes of none, and ones that a step on cones would close."""


@GAPS
@pytest.mark.parametrize("count", [1, 3])
def test_boxes_fall_through_a_shaft_that_they_fit(count, gap):
    # 13 mm in a second, and all frames converged.
    scene = Scene()
    for k, (x, y) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)]):
        half, far = (0.05 if x else 0.4, 0.05 if y else 0.4, 9.0), 0.3 + gap
        scene.add(Body(f"Wall {k}", [Box(half)], motion="static", position=(far * x, far * y, 0.0)))
    for k in range(count):
        scene.add(Body(f"Box {k}", [Box((0.25, 0.25, 0.25))], position=(0.0, 0.0, 2.0 + 0.6 * k)))
    trajectory = simulate(scene, 24, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    speed = -trajectory.linear_velocity[-1, 4:, 2].max()
    name = f"{count} boxes in a shaft with {gap:g} m of clearance"
    assert figure(name, "speed after a second", speed, 9.81, "m/s") == pytest.approx(9.81, rel=1e-3)


ALONG_NO_AXIS = [
    rotations.multiply(turned("z", 0.5), turned("x", 0.35)),
    rotations.multiply(turned("y", 1.1), turned("x", -0.8)),
]


@pytest.mark.parametrize("gap, rounding", [(0.0, 0.0), (1e-6, 0.0), (1e-5, 0.0), (1e-4, 0.0), (1e-5, 6e-8)])
@pytest.mark.parametrize("turn", [0, 1])
def test_a_box_falls_through_a_shaft_whose_faces_lie_along_no_axis(turn, gap, rounding):
    # At 4.9 and 5.9 m/s with 1e-5 m of clearance; single precision places the walls with a rounding of [rad].
    frame, random = ALONG_NO_AXIS[turn], np.random.default_rng(0)
    scene = Scene(gravity=tuple(rotations.rotate(frame, np.array([0.0, 0.0, -9.81]))))
    sides = [((0.05, 0.4, 9.0), (0.3 + gap, 0.0, 0.0)), ((0.4, 0.05, 9.0), (0.0, 0.3 + gap, 0.0))]
    for k, (half, place) in enumerate((half, sign * np.array(place)) for half, place in sides for sign in (-1.0, 1.0)):
        lies = rotations.multiply(rotations.exponential(rounding * random.normal(size=3)), frame)
        place = tuple(rotations.rotate(frame, place))
        scene.add(Body(f"Wall {k}", [Box(half)], motion="static", position=place, orientation=lies))
    scene.add(Body("Box", [Box((0.25, 0.25, 0.25))], orientation=frame))
    trajectory = simulate(scene, 24, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    speed = np.linalg.norm(trajectory.linear_velocity[-1, 4])
    name = f"box in shaft {turn} along no axis, {gap:g} m of clearance" + (", rounded" if rounding else "")
    assert figure(name, "speed after a second", speed, 9.81, "m/s") == pytest.approx(9.81, rel=1e-3)


def leaning_shaft(frame, gap, friction, half=(0.25, 0.25, 0.25), gravity=(0.0, 0.0, -9.81)):
    """A box at rest in a shaft of four walls with that clearance; its number is 4."""
    scene = Scene(gravity=gravity)
    sides = [((0.05, 0.4, 9.0), (0.3 + gap, 0.0, 0.0)), ((0.4, 0.05, 9.0), (0.0, 0.3 + gap, 0.0))]
    for k, (size, place) in enumerate((size, sign * np.array(place)) for size, place in sides for sign in (-1.0, 1.0)):
        stands = {"motion": "static", "friction": friction, "orientation": frame}
        scene.add(Body(f"Wall {k}", [Box(size)], position=tuple(rotations.rotate(frame, place)), **stands))
    scene.add(Body("Box", [Box(half)], orientation=frame, friction=friction))
    return scene


@pytest.mark.parametrize(
    "axis, lean, gap, substeps",
    [
        ("x", 0.3, 0.0, "auto"),
        ("x", 0.3, 1e-7, 4),
        ("y", 0.3, 1e-6, "auto"),
        ("x", 0.05, 1e-6, 4),
        ("x", 0.6, 1e-5, "auto"),
        ("x", 0.05, 1e-5, "auto"),
    ],
)
def test_a_box_slides_down_a_shaft_that_leans(axis, lean, gap, substeps):
    # It stopped in the air, or lost 4 % in the first frame.  One wall carries it, and no other pushes.
    friction = 0.5
    scene = leaning_shaft(turned(axis, lean), gap, friction)
    trajectory = simulate(scene, 24, config=replace(CPU, substeps=substeps))
    assert all(report.converged for report in trajectory.reports)
    law, speed = 9.81 * (np.cos(lean) - friction * np.sin(lean)), np.linalg.norm(trajectory.linear_velocity[-1, 4])
    name = f"box in a shaft that leans by {lean:g} about {axis}, {gap:g} m, {substeps} steps"
    assert figure(name, "speed after a second", speed, law, "m/s") == pytest.approx(law, rel=1e-3)


@pytest.mark.parametrize("gap", [0.0, 1e-6])
def test_a_box_slides_down_a_shaft_that_leans_on_its_edge(gap):
    # It came to 4.9 and 3.1 m/s.  Two walls carry it.
    lean, friction, towards = 0.05, 0.5, np.array([np.cos(0.6), np.sin(0.6)])
    pull = 9.81 * np.array([*np.sin(lean) * towards, -np.cos(lean)])
    scene = leaning_shaft(ALONG_NO_AXIS[0], gap, friction, gravity=tuple(rotations.rotate(ALONG_NO_AXIS[0], pull)))
    trajectory = simulate(scene, 24, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    law = 9.81 * (np.cos(lean) - friction * np.sin(lean) * towards.sum())
    speed = np.linalg.norm(trajectory.linear_velocity[-1, 4])
    name = f"box in a shaft that leans on its edge, {gap:g} m"
    assert figure(name, "speed after a second", speed, law, "m/s") == pytest.approx(law, rel=1e-3)


@pytest.mark.parametrize("gap", [0.0, 1e-5])
def test_a_box_slides_down_a_shaft_that_keyframes_speed_up_sideways(gap):
    # It stopped in the air.  One wall pushes, and friction takes mu times what it gives.
    friction, times = 0.5, np.arange(49) / 24.0
    scene, still = leaning_shaft(rotations.IDENTITY, gap, friction), np.tile(rotations.IDENTITY, (49, 1))
    for k, wall in enumerate(scene.bodies[:4]):
        ways = np.outer(1.5 * times**2, (1.0, 0.0, 0.0)) + wall.position
        scene.bodies[k] = replace(wall, motion="kinematic", path=MotionPath(times, ways, still))
    trajectory = simulate(scene, 24, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    aside, _, down = trajectory.linear_velocity[-1, 4]
    law = 9.81 - friction * aside
    name = f"box in a shaft that is speeded up sideways, {gap:g} m"
    assert figure(name, "speed after a second", -down, law, "m/s") == pytest.approx(law, rel=5e-3)


def test_a_plate_that_friction_tips_in_a_shaft_is_held_by_the_wall_opposite():
    # Nothing else keeps it from turning over: what free motion passes by counts as soon as it is met.
    lean, gap, half = 0.1, 1e-4, 0.1
    trajectory = simulate(leaning_shaft(turned("x", lean), gap, 0.9, (0.25, 0.25, half)), 24, config=CPU)
    assert all(report.converged and report.penetration < 1e-4 for report in trajectory.reports)
    turn = rotations.multiply(turned("x", -lean), trajectory.orientation[-1, 4])
    tilt = 2.0 * np.linalg.norm(turn[:3])
    assert tilt < (gap + 1e-4) / half


@GAPS
def test_a_drawer_slides_as_far_as_its_floor_lets_it(gap):
    # It stopped after 2 mm.  What slides is half a step ahead of the textbook.
    scene, speed, friction = Scene(), 2.0, 0.2
    scene.add(Body("Ground", [Plane()], motion="static", friction=friction))
    for side in (-1.0, 1.0):
        place = (0.0, side * (0.3 + gap), 0.3)
        scene.add(Body(f"Wall {side}", [Box((3.0, 0.05, 0.3))], motion="static", position=place))
    drawer = Body(
        "Drawer", [Box((0.25, 0.25, 0.1))], position=(-1, 0, 0.1), linear_velocity=(speed, 0, 0), friction=friction
    )
    scene.add(drawer)
    trajectory = simulate(scene, 36, config=CPU)
    law = speed**2 / (2.0 * 9.81 * friction) - 0.5 * speed / 24.0
    way = trajectory.position[-1, 3, 0] + 1.0
    assert all(report.converged for report in trajectory.reports)
    assert figure(f"drawer with {gap:g} m of clearance", "way", way, law, "m") == pytest.approx(law, abs=0.01)


@GAPS
def test_a_door_on_a_slider_coasts_over_the_floor_it_touches(gap):
    # It stopped after 3 mm.
    scene = Scene()
    scene.add(Body("Floor", [Box((4.0, 1.0, 0.05))], motion="static", position=(0.0, 0.0, -0.05 - gap)))
    scene.add(Body("Door", [Box((0.5, 0.05, 1.0))], position=(-1, 0, 1), linear_velocity=(1.5, 0, 0), mass=30.0))
    scene.add(Joint("Rail", "slider", None, "Door", (-1.0, 0.0, 1.0)))
    trajectory = simulate(scene, 48, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    speed = trajectory.linear_velocity[-1, 1, 0]
    assert figure(f"door with {gap:g} m of clearance", "speed", speed, 1.5, "m/s") == pytest.approx(1.5, rel=1e-4)


def pendulum(gap, sides):
    """A plate on a hinge, let go at 1 rad beside one wall, or between two."""
    scene, far = Scene(), 0.03 + gap
    for side in sides:
        scene.add(Body(f"Wall {side}", [Box((0.05, 0.01, 0.3))], motion="static", position=(0.0, side * far, 0.8)))
    place = (0.5 * np.sin(1.0), 0.0, 1.0 - 0.5 * np.cos(1.0))
    scene.add(Body("Plate", [Box((0.03, 0.02, 0.5))], position=place, orientation=turned("y", -1.0)))
    scene.add(Joint("Hinge", "hinge", None, "Plate", (0.0, 0.0, 1.0), turned("x", -np.pi / 2)))
    trajectory = simulate(scene, 72, config=CPU)
    return trajectory, np.abs(trajectory.position[48:, -1, 0]).max() / place[0]


@GAPS
def test_a_pendulum_swings_between_cheeks(gap):
    # It stopped 24 mm off its middle in 17 frames.
    trajectory, kept = pendulum(gap, (-1, 1))
    assert all(report.converged for report in trajectory.reports)
    assert figure(f"pendulum between cheeks, {gap:g} m", "kept in 3 s", kept, 1.0, "of its swing") > 0.985


@GAPS
def test_a_pendulum_swings_along_a_wall(gap):
    """It hung still, far off its middle."""
    trajectory, kept = pendulum(gap, (-1,))
    assert all(report.converged for report in trajectory.reports)
    assert figure(f"pendulum along a wall, {gap:g} m", "kept in 3 s", kept, 1.0, "of its swing") > 0.985


@pytest.mark.parametrize("substeps, frames", [(1, 96), (4, 8), (8, 4)])
def test_a_car_with_wheels_flush_with_it_rolls_on(substeps, frames):
    """It braked at mu g; later it lost 12 % of its speed in the first frame of several steps."""
    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static", friction=0.9))
    speed = {"linear_velocity": (5.0, 0.0, 0.0)}
    scene.add(Body("Chassis", [Box((1.0, 0.4, 0.15))], position=(0.0, 0.0, 0.55), mass=800.0, **speed))
    for k, (x, y) in enumerate([(x, y) for x in (-0.7, 0.7) for y in (-1.0, 1.0)]):
        place = (x, y * 0.5, 0.3)
        scene.add(Body(f"Hub {k}", [Box((0.05, 0.05, 0.05))], position=place, mass=10.0, collision_mask=0, **speed))
        spring = {"x": Axis(stiffness=4e4, damping=4e3)}
        scene.add(Joint(f"Spring {k}", "slider", "Chassis", f"Hub {k}", place, turned("y", -np.pi / 2), axes=spring))
        wheel = Body(
            f"Wheel {k}", [Cylinder(0.3, 0.1)], position=place, orientation=turned("x", -np.pi / 2), mass=20.0,
            angular_velocity=(0.0, 5.0 / 0.3, 0.0), friction=0.9, **speed,
        )  # fmt: skip
        scene.add(wheel)
        scene.add(Joint(f"Axle {k}", "hinge", f"Hub {k}", f"Wheel {k}", place, turned("x", -np.pi / 2)))
    trajectory = simulate(scene, frames, config=replace(CPU, substeps=substeps))
    assert all(report.converged for report in trajectory.reports)
    kept = trajectory.linear_velocity[-1, 1, 0] / 5.0
    name = f"car with wheels flush with it, {substeps} steps a frame"
    assert figure(name, f"speed kept in {frames} frames", kept, 1.0, "of itself") > 0.998


@pytest.mark.parametrize("least", [0.999])
def test_wheels_flush_with_what_they_hang_on_spin_on(least):
    # 20 rad/s became 0.2 in a quarter of a second; later a sixth of it went in the first frames.
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Body("Body", [Box((0.5, 0.25, 0.1))], mass=100.0))
    for side in (-1.0, 1.0):
        place = (0.0, 0.3 * side, -0.1)
        scene.add(Body(f"Hub {side}", [Box((0.02, 0.02, 0.02))], position=place, mass=1.0, collision_mask=0))
        scene.add(Joint(f"Fixed {side}", "fixed", "Body", f"Hub {side}", place))
        wheel = {"position": place, "orientation": turned("x", np.pi / 2), "angular_velocity": (0.0, 20.0, 0.0)}
        scene.add(Body(f"Wheel {side}", [Cylinder(0.2, 0.05)], mass=5.0, **wheel))
        scene.add(Joint(f"Axle {side}", "hinge", f"Hub {side}", f"Wheel {side}", place, turned("x", -np.pi / 2)))
    trajectory = simulate(scene, 48, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    kept = trajectory.angular_velocity[-1, [2, 4], 1].min() / 20.0
    assert figure("wheels flush with a body", "spin kept in 2 s", kept, 1.0, "of itself") > least


def shelf(make, friction, speed):
    """Ten books flush between two ends; the one in the middle leaves along its plane, at half a second, by keyframes.

    make: half size -> Shape; speed: [m/s].
    """
    scene, generator, x = Scene(), np.random.default_rng(1), -0.3
    scene.add(Body("Ground", [Plane()], motion="static", friction=friction))
    scene.add(Body("Left", [Box((0.01, 0.15, 0.2))], motion="static", position=(x - 0.01, 0.0, 0.2)))
    for k in range(10):
        half = generator.uniform((0.012, 0.09, 0.11), (0.03, 0.09, 0.14))
        place = np.array([x + half[0], 0.0, half[2]])
        if k == 5:
            times = np.array([0.0, 0.5, 2.0])
            ways = place - np.outer(np.maximum(times - 0.5, 0.0), (0.0, speed, 0.0))
            path = MotionPath(times, ways, np.tile(rotations.IDENTITY, (3, 1)))
            scene.add(Body("Pulled", [make(half)], motion="kinematic", path=path, friction=friction))
        else:
            scene.add(Body(f"Book {k}", [make(half)], position=place, friction=friction))
        x += 2.0 * half[0]
    scene.add(Body("Right", [Box((0.01, 0.15, 0.2))], motion="static", position=(x + 0.01, 0.0, 0.2)))
    return scene


CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def hull(half):
    return ConvexHull(half * CORNERS)


SHELVES = [(Box, 0.5, 0.2, 24), (Box, 0.5, 0.2, 96), (Box, 0.9, 0.02, 96), (hull, 0.2, 0.2, 24)]


@pytest.mark.parametrize("make, friction, speed, fps", SHELVES, ids=["boxes", "at 96 fps", "slowly", "hulls"])
def test_a_book_that_fits_flush_is_pulled_off_its_shelf(make, friction, speed, fps):
    # Its neighbours went along by 13 to 90 mm, were pushed into the ends by up to 30 mm, and frames took 92 solves.
    scene = shelf(make, friction, speed)
    books = [k for k, body in enumerate(scene.bodies) if body.motion == "dynamic"]
    trajectory = simulate(scene, int(1.5 * fps), fps, CPU)
    moved = np.abs(trajectory.position[:, books] - trajectory.position[0, books]).max()
    assert all(report.converged for report in trajectory.reports)
    assert max(report.substeps for report in trajectory.reports) == 1
    name = f"book pulled at {speed:g} m/s, friction {friction:g}, {fps} fps"
    assert figure(name, "way of its neighbours", moved, 0.0, "m") < 2e-5
