# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls and rods that hit edges and corners of boxes and hulls within a frame: the way they leave and their spin.

The normal of a hit is that from the edge to the ball as they touch.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, ConvexHull, Plane, Scene, SolverConfig, Sphere, TriangleMesh, simulate
from contact_scenes import CUBE
from figures import figure
from scenes import GRAVITY, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0
R, HALF = 0.2, 0.5
BOX = Box((HALF, HALF, HALF))
TILT = turned("y", 0.4)
ROOF = ConvexHull([(x, y, -0.3) for x in (-0.5, 0.5) for y in (-0.6, 0.6)] + [(0, -0.6, 0.2), (0, 0.6, 0.2)])
TETRAHEDRON = ConvexHull([(0.5, 0, -0.5), (-0.3, 0.5, -0.5), (-0.3, -0.5, -0.5), (0, 0, 0.1)])
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
MESH = TriangleMesh(2.0 * HALF * CUBE, [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])
SHEET = TriangleMesh([(-HALF, -1, 0), (HALF, -1, 0), (HALF, 1, 0), (-HALF, 1, 0)], [(0, 1, 2), (0, 2, 3)])
# shape, its orientation, a place of the edge or corner in the shape's frame, offset of the ball's way from there.
# The ball comes straight down.
PLACES = {
    "edge, near": (BOX, turned("y", 0.0), (HALF, 0.1, HALF), (0.06, 0.0)),
    "edge, far": (BOX, turned("y", 0.0), (HALF, 0.1, HALF), (0.15, 0.0)),
    "edge of a box that leans": (BOX, TILT, (HALF, 0.1, HALF), (0.12, 0.0)),
    "corner": (BOX, turned("y", 0.0), (HALF, HALF, HALF), (0.07, 0.11)),
    "edge of a mesh": (MESH, TILT, (HALF, 0.1, HALF), (0.12, 0.0)),
    "corner of a mesh": (MESH, turned("y", 0.0), (HALF, HALF, HALF), (0.07, 0.11)),
    "border of a sheet": (SHEET, turned("y", 0.0), (HALF, 0.1, 0.0), (0.12, 0.0)),
    "ridge": (ROOF, turned("x", 0.1), (0, 0.1, 0.2), (0.09, 0.0)),
    "apex": (TETRAHEDRON, turned("z", 0.7), (0, 0, 0.1), (0.03, -0.06)),
}
CORNERS = "corner", "corner of a mesh", "apex"


def rotated(orientation, point):
    """``point`` (3,) turned."""
    x, w = np.asarray(orientation)[:3], orientation[3]
    point = np.asarray(point, float)
    return point + 2.0 * w * np.cross(x, point) + 2.0 * np.cross(x, np.cross(x, point))


def true_normal(place):
    """(3,) from the edge or corner to the middle of the ball of PLACES as they touch, by the way it comes down."""
    _, orientation, _, aside = PLACES[place]
    lever = np.array([*aside, 0.0])
    along = np.zeros(3) if place in CORNERS else rotated(orientation, (0.0, 1.0, 0.0))
    # |lever + z up - along (along . (lever + z up))| = R
    across, up = lever - (lever @ along) * along, np.array([0.0, 0.0, 1.0]) - along[2] * along
    a, b, c = up @ up, 2.0 * across @ up, across @ across - R**2
    return (across + (-b + np.sqrt(b * b - 4.0 * a * c)) / (2.0 * a) * up) / R


def thrown(place, speed, ahead, gravity=0.0, **material):
    """A ball straight down on what PLACES says, ``ahead`` [m] of touching it."""
    shape, orientation, feature, _ = PLACES[place]
    scene = Scene(gravity=(0, 0, -gravity))
    scene.add(Body("Fixed", [shape], orientation=orientation, motion="static", **material))
    position = rotated(orientation, feature) + R * true_normal(place) + (0, 0, ahead)
    scene.add(Body("Ball", [Sphere(R)], position=position, linear_velocity=(0, 0, -speed), mass=1.0, **material))
    return scene


def after(velocity, normal, friction, restitution):
    """Velocity and spin (3,), (3,) of a ball that came with ``velocity`` (3,) alone: Newton's and Coulomb's laws."""
    push = -(1.0 + restitution) * (velocity @ normal)
    slip = velocity - (velocity @ normal) * normal
    grip = -min(friction * push, np.linalg.norm(slip) * 2.0 / 7.0) * slip / np.linalg.norm(slip)
    return velocity + push * normal + grip, np.cross(-normal, grip) / (0.4 * R)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("speed, ahead", [(2.0, 0.03), (5.0, 0.11), (9.0, 0.3)])
@pytest.mark.parametrize("place", PLACES)
def test_balls_leave_edges_as_newton_and_coulomb_say(place, speed, ahead, friction, restitution):
    trajectory = simulate(thrown(place, speed, ahead, friction=friction, restitution=restitution), 12, config=CPU)
    velocity, spin = after(np.array([0.0, 0.0, -speed]), true_normal(place), friction, restitution)
    name = f"ball at {speed:g} m/s on {place}, {ahead:g} m ahead, friction {friction:g}, restitution {restitution:g}"
    off = np.abs(trajectory.linear_velocity[-1, 1] - velocity).max()
    # Without a rebound friction acts on the way of the whole step, and the ball may touch once more.
    bound = 2.0 * FAST / STEP if restitution or not friction else 0.02
    assert figure(name, "velocity off", off, bound, "m/s") < bound
    turn = R * np.abs(trajectory.angular_velocity[-1, 1] - spin).max()
    assert figure(name, "spin off, at the rim", turn, 5.0 * FAST / STEP, "m/s") < 5.0 * FAST / STEP


@pytest.mark.parametrize("place", PLACES)
def test_balls_that_fall_on_edges_leave_as_newton_says(place):
    fall, restitution, frames = 1.0, 0.6, 12
    trajectory = simulate(thrown(place, 0.0, fall, GRAVITY, friction=0.0, restitution=restitution), frames, config=CPU)
    time = np.sqrt(2.0 * fall / GRAVITY)
    velocity, _ = after(np.array([0.0, 0.0, -GRAVITY * time]), true_normal(place), 0.0, restitution)
    velocity[2] -= GRAVITY * (frames * STEP - time)
    off = np.abs(trajectory.linear_velocity[-1, 1] - velocity).max()
    assert figure(f"ball that falls on {place}", "velocity off", off, 2.0 * FAST / STEP, "m/s") < 2.0 * FAST / STEP


@pytest.mark.parametrize("start", [-0.05, 0.03, 0.12])
def test_what_is_hit_is_a_face_though_an_edge_was_nearer(start):
    # From ``start`` beside the edge of a table down onto its top, in one step: it touches 0.1 inside.
    restitution, velocity = 0.8, np.array([-6.0, 0.0, -4.0])
    scene, smooth = Scene(gravity=(0, 0, 0)), {"friction": 0.0, "restitution": restitution}
    scene.add(Body("Table", [BOX], motion="static", **smooth))
    position = np.array([HALF - 0.1, 0.1, HALF + R]) - velocity * (start + 0.1) / 6.0
    scene.add(Body("Ball", [Sphere(R)], position=position, linear_velocity=velocity, **smooth))
    trajectory = simulate(scene, 8, config=CPU)
    off = np.abs(trajectory.linear_velocity[-1, 1] - velocity * (1.0, 1.0, -restitution)).max()
    assert figure(f"ball from {start:g} m beside a table", "velocity off", off, 2.0 * FAST / STEP) < 2.0 * FAST / STEP


@pytest.mark.parametrize("across", [0.05, 0.12, 0.18])
def test_a_ball_that_rolls_on_the_ground_leaves_an_upright_edge(across):
    scene, smooth, velocity = Scene(), {"friction": 0.0, "restitution": 0.9}, np.array([-4.0, 0.0, 0.0])
    scene.add(Body("Ground", [Plane()], motion="static", **smooth))
    scene.add(Body("Post", [BOX], position=(0, 0, HALF), motion="static", **smooth))
    aside = np.sqrt(R**2 - across**2)
    place = HALF + aside + 0.5, HALF + across, R
    scene.add(Body("Ball", [Sphere(R)], position=place, linear_velocity=velocity, **smooth))
    trajectory = simulate(scene, 10, config=CPU)
    wanted, _ = after(velocity, np.array([aside, across, 0.0]) / R, 0.0, 0.9)
    off = np.abs(trajectory.linear_velocity[-1, 2] - wanted).max()
    assert figure(f"ball {across:g} m past an upright edge", "velocity off", off, 0.01, "m/s") < 0.01


@pytest.mark.parametrize("ahead", [0.02, 0.1, 0.15])
@pytest.mark.parametrize("height", [0.05, 0.1, 0.15])
def test_a_ball_that_rolls_against_a_kerb_is_thrown_up(height, ahead):
    scene, smooth, restitution = Scene(), {"friction": 0.0, "restitution": 0.7}, 0.7
    velocity, frames = np.array([4.0, 0.0, 0.0]), 3
    scene.add(Body("Ground", [Plane()], motion="static", **smooth))
    scene.add(Body("Kerb", [Box((1, 1, 0.5 * height))], position=(1, 0, 0.5 * height), motion="static", **smooth))
    before = np.sqrt(R**2 - (R - height) ** 2)
    place = -before - ahead, 0.0, R
    scene.add(Body("Ball", [Sphere(R)], position=place, linear_velocity=velocity, **smooth))
    trajectory = simulate(scene, frames, config=CPU)
    wanted, _ = after(velocity, np.array([-before, 0.0, R - height]) / R, 0.0, restitution)
    wanted[2] -= GRAVITY * (frames * STEP - ahead / velocity[0])
    off = np.abs(trajectory.linear_velocity[-1, 2] - wanted).max()
    bound = 0.05 + GRAVITY * ahead / velocity[0]  # its rebound is that of free motion, in which it falls
    assert figure(f"ball on a kerb of {height:g} m, {ahead:g} m ahead", "velocity off", off, bound, "m/s") < bound


@pytest.mark.parametrize("place", [0.93, 1.0, 1.02])
def test_edges_of_flush_tiles_are_none(place):
    # Down askew onto two tiles, near the joint at x = 1: they are one plane.
    scene, smooth = Scene(gravity=(0, 0, 0)), {"friction": 0.0, "restitution": 0.7}
    for name, x in (("Tile 1", HALF), ("Tile 2", 1.0 + HALF)):
        scene.add(Body(name, [BOX], position=(x, 0, -HALF), motion="static", **smooth))
    velocity = np.array([5.0, 0.0, -3.0])
    scene.add(Body("Ball", [Sphere(R)], position=(place, 0, R) - 0.03 * velocity, linear_velocity=velocity, **smooth))
    trajectory = simulate(scene, 6, config=CPU)
    off = np.abs(trajectory.linear_velocity[-1, 2] - velocity * (1.0, 1.0, -0.7)).max()
    assert figure(f"ball on flush tiles at {place:g}", "velocity off", off, 2.0 * FAST / STEP) < 2.0 * FAST / STEP


MOVING = {
    "ball on a box": (BOX, Sphere(R), (0.1, 0.2, 0.3), (0.62, 0.1, 0.9)),
    "ball on a box's corner": (BOX, Sphere(R), (0.0, 0.0, 0.5), (0.55, 0.56, 0.95)),
    "ball on a hull": (ConvexHull(CUBE * (1.0, 0.6, 0.8)), Sphere(R), (0.2, 0.0, 0.3), (0.55, 0.1, 0.85)),
    "rod across an edge": (BOX, Capsule(0.05, 0.4), (0.0, 0.0, 0.0), (0.65, 0.1, 0.85)),
}


# Until the second hit, for small differences grow with each one; a rod that does not rebound hits again at once.
CASES = [
    (name, friction, e) for name in MOVING for friction in (0.0, 0.5) for e in (0.0, 0.5) if e or "rod" not in name
]


@pytest.mark.parametrize("name, friction, restitution", CASES)
def test_both_leave_as_with_short_steps(name, friction, restitution):
    shape, thing, spin, place = MOVING[name]
    rough, scene = {"friction": friction, "restitution": restitution}, Scene(gravity=(0, 0, 0))
    scene.add(Body("Box", [shape], mass=2.0, angular_velocity=spin, **rough))
    moving = {"orientation": turned("y", 1.2), "linear_velocity": (-0.5, 0.2, -5.0)}
    scene.add(Body("Thing", [thing], position=place, mass=1.0, **moving, **rough))
    frame, short = (simulate(scene, 2 * rate // 24, fps=rate, config=CPU) for rate in (24, 960))
    assert np.abs(short.linear_velocity[-1, 0]).max() > 0.5
    case = f"{name}, friction {friction:g}, restitution {restitution:g}"
    off = np.abs(frame.linear_velocity[-1] - short.linear_velocity[-1]).max()
    assert figure(case, "velocity off", off, 0.03, "m/s") < 0.03
    turn = frame.angular_velocity[-1] - short.angular_velocity[-1]
    if isinstance(thing, Capsule):  # it turns about its thin axis almost for nothing
        axis = rotated(short.orientation[-1, 1], (0.0, 0.0, 1.0))
        turn[1] -= (turn[1] @ axis) * axis
    worst = np.abs(turn).max()
    assert figure(case, "spin off", worst, 0.15, "rad/s") < 0.15


@pytest.mark.parametrize("height", [0.0, 1e-9])
def test_a_rod_that_comes_down_on_a_sheet_stands_on_its_lower_end(height):
    """With its other end beyond the border.  A sheet level in its own z counted as a ball, and the rod fell through."""
    sheet = TriangleMesh([(-HALF, -1, 0), (HALF, -1, 0), (HALF, 1, 0), (-HALF, 1, height)], [(0, 1, 2), (0, 2, 3)])
    scene, low, high = Scene(gravity=(0, 0, 0)), np.array([0.3, 0.1, 0.12]), np.array([0.52, 0.1, 0.25])
    smooth, length = {"friction": 0.0, "restitution": 0.5}, np.linalg.norm(high - low)
    scene.add(Body("Sheet", [sheet], motion="static", **smooth))
    lean = turned("y", np.arctan2(*(low - high)[[0, 2]]))
    rod = {"position": 0.5 * (low + high), "orientation": lean, "linear_velocity": (0, 0, -9.0), "mass": 1.0}
    scene.add(Body("Rod", [Capsule(0.05, 0.5 * length)], **rod, **smooth))
    trajectory = simulate(scene, 2, config=CPU)
    assert trajectory.linear_velocity[-1, 1, 2] > 0.0
    assert trajectory.linear_velocity[-1, 1, 0] > 1.0, "it is pushed up at its end and turns over the border"
