# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces that run while their bodies stand: belts.  Friction is Coulomb's, of the slip on the running surface."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, MotionPath, Plane, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY, downhill, ground, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]
STEP = 1.0 / 24.0


def within(scene, quantity, found, want, bound, unit="m/s"):
    """Prints by how much ``found`` is off ``want`` at most, and says whether that is less than ``bound``."""
    return figure(scene, quantity, np.abs(np.asarray(found) - want).max(), bound, unit) < bound


def belt(speed, friction=0.5, orientation=(0, 0, 0, 1), **options):
    """A scene with the plane z = 0 as a belt that runs at ``speed`` (3,) along its own axes."""
    scene = Scene()
    tilt = {"orientation": orientation, "friction": friction, "surface_velocity": speed}
    scene.add(Body("Belt", [Plane()], motion="static", **tilt, **options))
    return scene


@pytest.mark.parametrize("method", ["proximal", "schur"])
def test_box_takes_the_speed_of_the_belt(method):
    # mu g h a step until it goes along: after s / (mu g) = 0.306 s it has slid s^2 / (2 mu g) back on the belt, less
    # s h / 2 by the implicit step where s is a multiple of mu g h, and within (mu g h) h / 8 of that between.
    speed, n = 1.5, 24
    scene = belt((speed, 0, 0))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.1))], position=(0, 0, 0.1)))
    trajectory = simulate(scene, n, config=SolverConfig(device="cpu", method=method))
    along, name = trajectory.linear_velocity[:, 1, 0], f"box on a belt of 1.5 m/s, {method}"
    gained = 0.5 * GRAVITY * STEP * np.arange(1, 8)
    assert within(name, "speed off mu g t while it slides", along[1:8], gained, FAST / STEP)
    assert within(name, "speed off the belt's after that", along[10:], speed, FAST / STEP)
    want = speed * n * STEP - (speed**2 / GRAVITY - 0.5 * speed * STEP)
    bound = 0.5 * GRAVITY * STEP**2 / 8 + n * FAST
    assert within(name, "place off the discrete law, 1 s", trajectory.position[-1, 1], [want, 0, 0.1], bound, "m")
    assert all(report.converged for report in trajectory.reports)


def test_belt_does_the_work():
    # Friction never does more than take the box along: m s^2 / 2 in the end, and never less than the step before.
    speed = 1.0
    scene = belt((0, speed, 0))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.1))], position=(0, 0, 0.1), mass=3.0))
    energy = np.array([report.kinetic_energy for report in simulate(scene, 16, config=CPU).reports])
    slack = 3.0 * speed * FAST / STEP
    assert figure("box on a belt of 1 m/s", "energy lost in a frame", -np.diff(energy).min(), slack, "J") < slack
    assert within("box on a belt of 1 m/s", "energy off m s^2 / 2", energy[-1], 1.5 * speed**2, slack, "J")
    # And it brakes what is faster: by mu g, down to its own speed.
    scene.bodies[1].linear_velocity = (0, 2.0 * speed, 0)
    back = simulate(scene, 16, config=CPU).linear_velocity[:, 1, 1]
    name, want = "box at 2 m/s on a belt of 1 m/s", 2.0 * speed - 0.5 * GRAVITY * STEP
    assert within(name, "speed off the braked one, first step", back[1], want, FAST / STEP)
    assert within(name, "speed off the belt's in the end", back[-1], speed, FAST / STEP)


@pytest.mark.parametrize("degrees", [20.0, 26.0])
def test_tilted_belt_holds_what_friction_can_hold(degrees):
    # tan(angle) < mu: the box takes the belt's velocity, uphill or across, and keeps its place on it.
    angle = np.radians(degrees)
    for way in ((-0.4, 0, 0), (0, 0.4, 0), (0.2, -0.2, 0)):
        scene = belt(way, orientation=turned("y", angle))
        up = np.array([np.sin(angle), 0, np.cos(angle)])
        carried = np.array([way[0] * np.cos(angle), way[1], -way[0] * np.sin(angle)])
        box = Body("Box", [Box((0.2, 0.2, 0.1))], position=0.1 * up, orientation=turned("y", angle))
        box.linear_velocity = carried
        scene.add(box)
        n = 24
        trajectory = simulate(scene, n, config=CPU)
        want = 0.1 * up + carried * n * STEP
        name = f"box on a belt at {degrees:g} degrees that runs at {way}"
        assert within(name, "place on the belt, 1 s", trajectory.position[-1, 1], want, n * CPU.tolerances()[0], "m")


@pytest.mark.parametrize("degrees", [30.0, 40.0])
def test_belt_that_runs_uphill_cannot_hold_a_steep_box(degrees):
    # tan(angle) > mu: it slides down by g (sin - mu cos), whatever the belt's speed uphill; running downhill faster
    # than the box, the belt pulls it along by g (sin + mu cos) instead.
    angle, n = np.radians(degrees), 8
    for speed, sign in ((-2.0, -1.0), (30.0, 1.0)):
        scene = belt((speed, 0, 0), orientation=turned("y", angle))
        up = np.array([np.sin(angle), 0, np.cos(angle)])
        scene.add(Body("Box", [Box((0.2, 0.2, 0.02))], position=0.02 * up, orientation=turned("y", angle)))
        velocity = simulate(scene, n, config=CPU).linear_velocity[-1, 1]
        want = GRAVITY * (np.sin(angle) + sign * 0.5 * np.cos(angle)) * n * STEP
        name, found = f"box on a belt at {degrees:g} degrees of {speed:g} m/s", velocity @ downhill(angle)
        assert within(name, "speed off the law of sliding, 1/3 s", found, want, n * FAST / STEP)


def test_box_between_two_belts():
    # A plate of weight P on a rail presses the box (weight G) from above and runs the other way: friction mu (G + P)
    # takes it forward, mu P holds it back, so it gains mu g; then it goes with the belt below.
    speed = 1.0
    scene = belt((speed, 0, 0))
    scene.add(Body("Box", [Box((0.4, 0.4, 0.05))], position=(0, 0, 0.05), mass=2.0))
    plate = Body("Plate", [Box((0.4, 0.4, 0.05))], position=(0, 0, 0.15), mass=3.0, surface_velocity=(-speed, 0, 0))
    scene.add(plate)
    scene.add(Joint("Rail", "slider", None, "Plate", (0, 0, 0.15), turned("y", -0.5 * np.pi)))
    trajectory = simulate(scene, 12, config=CPU)
    along = trajectory.linear_velocity[:, 1, 0]
    name, gained = "box between two belts", 0.5 * GRAVITY * STEP * np.arange(1, 4)
    assert within(name, "speed off mu g t while it slides", along[1:4], gained, 4 * FAST / STEP)
    assert within(name, "speed off that of the belt below in the end", along[-1], speed, FAST / STEP)
    assert within(name, "plate off its place", trajectory.position[:, 2], (0, 0, 0.15), FAST, "m")


def test_two_belts_side_by_side_turn_a_box():
    # Opposite speeds under its outer quarters: no net force, so the middle stays while the couple mu m g y,
    # 0.15 <= y <= 0.2, turns it, I = m (0.2^2 + 0.2^2) / 3.  Its own turning slants the slip by w x / s, x = 0.2, which
    # takes mu m g x of that off the couple: w = gain (y - w x^2 / s), to first order in w x / s (4 %, so 1 % is left).
    scene = Scene()
    for side in (-1.0, 1.0):
        flat = [Box((2.0, 0.5, 0.1))]
        run = {"surface_velocity": (-side * 5.0, 0, 0)}
        scene.add(Body(f"Belt {side:g}", flat, motion="static", position=(0, 0.65 * side, -0.1), **run))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.1))], position=(0, 0, 0.1)))
    trajectory = simulate(scene, 1, config=CPU)
    gain = 0.5 * GRAVITY * STEP / (0.08 / 3.0)
    least, most = (gain * y / (1.0 + gain * 0.2**2 / 5.0) for y in (0.15, 0.2))
    name, turns = "box on two belts side by side", trajectory.angular_velocity[-1, 2, 2]
    bounds = f"{0.99 * least:.4g} to {1.01 * most:.4g}"
    assert 0.99 * least < figure(name, "angular velocity after a step", turns, bounds, "rad/s") < 1.01 * most
    assert within(name, "middle off its place", trajectory.position[-1, 2, :2], 0.0, FAST, "m")


def test_belt_runs_along_the_axes_of_its_body():
    # Turned by 40 degrees about Z: (1, 0, 0) of the body is (cos 40, sin 40, 0) of the world.
    angle = np.radians(40.0)
    scene = belt((0.6, 0, 0), orientation=turned("z", angle))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.1))], position=(0, 0, 0.1)))
    velocity = simulate(scene, 12, config=CPU).linear_velocity[-1, 1]
    want = [0.6 * np.cos(angle), 0.6 * np.sin(angle), 0]
    assert within("box on a belt turned by 40 degrees", "velocity off the belt's", velocity, want, FAST / STEP)


def test_tracked_vehicle_drives_itself():
    # Its underside runs backwards at s, so it gains mu g up to s forwards: along the body's own axes, which are neither
    # the world's (turned by 90 degrees) nor those of its inertia (the block lies askew in the body).
    speed = 0.8
    scene = Scene()
    ground(scene)
    block = Box((0.5, 0.3, 0.1), orientation=turned("z", np.radians(20.0)))
    tank = {"orientation": turned("z", 0.5 * np.pi), "surface_velocity": (-speed, 0, 0)}
    scene.add(Body("Tank", [block], position=(0, 0, 0.1), **tank))
    velocity = simulate(scene, 12, config=CPU).linear_velocity[:, 1]
    name, want = "tracked vehicle of 0.8 m/s", [0, 0.5 * GRAVITY * STEP, 0]
    assert within(name, "velocity off mu g h, first step", velocity[1], want, FAST / STEP)
    assert within(name, "velocity off that of its tracks in the end", velocity[-1], [0, speed, 0], FAST / STEP)


def test_ball_on_a_belt_rolls_at_two_sevenths():
    # F t = m v and F t r = 2/5 m r^2 w, until the lowest point goes with the belt: v + w r = s at v = 2 s / 7.
    speed = 1.4
    scene = belt((speed, 0, 0))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.1)))
    trajectory = simulate(scene, 24, config=CPU)
    name, rolls = "ball on a belt of 1.4 m/s", trajectory.linear_velocity[-1, 1, 0]
    assert within(name, "speed off 2/7 s", rolls, 2.0 * speed / 7.0, FAST / STEP)
    turns = trajectory.angular_velocity[-1, 1, 1] * 0.1
    assert within(name, "speed of its rim off 5/7 s", turns, -5.0 * speed / 7.0, FAST / STEP)


def test_hinged_body_that_lands_on_a_belt_is_pushed():
    # The velocity phase sees the belt too: a box that bounces in a joint's plane ends with its speed
    speed = 0.5
    scene = belt((speed, 0, 0))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.1))], position=(0, 0, 0.3), restitution=0.5))
    upright = {name: Axis(locked=True) for name in ("y", "rx", "ry", "rz")}
    scene.add(Joint("Plane", "generic", None, "Box", (0, 0, 0.3), axes=upright))
    trajectory = simulate(scene, 36, config=CPU)
    along = trajectory.linear_velocity[:, 1, 0]
    name = "hinged box that lands on a belt of 0.5 m/s"
    assert within(name, "speed off the belt's in the end", along[-1], speed, FAST / STEP)
    assert figure(name, "speed beyond the belt's", along.max() - speed, FAST / STEP, "m/s") < FAST / STEP
    assert figure(name, "speed lost in a frame", -np.diff(along).min(), FAST / STEP, "m/s") < FAST / STEP


@pytest.mark.parametrize("fps", [24, 96])
def test_belt_that_turns_carries_along_itself(fps):
    # What lies still on a belt goes straight on along it, and round with it; by its direction at a step's start it
    # fell behind by h w times its way on the belt.
    spin, speed, seconds, from_middle = 0.5, 0.5, 3, 0.5
    time = np.linspace(0.0, seconds, 24 * seconds + 1)
    half = 0.5 * spin * time
    turns = np.stack([0.0 * time, 0.0 * time, np.sin(half), np.cos(half)], axis=1)
    path, scene = MotionPath(time, np.tile((0.0, 0.0, -0.1), (len(time), 1)), turns), Scene()
    scene.add(Body("Belt", [Box((20, 20, 0.1))], motion="kinematic", path=path, surface_velocity=(speed, 0, 0)))
    motion = {"linear_velocity": (speed, spin * from_middle, 0), "angular_velocity": (0, 0, spin)}
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(from_middle, 0, 0.1), **motion))
    end = simulate(scene, fps * seconds, fps, CPU).position[-1, 1, :2]
    along, angle = from_middle + speed * seconds, spin * seconds
    want = along * np.array([np.cos(angle), np.sin(angle)])
    assert within(f"box on a belt that turns, {fps} frames a second", "place off after 3 s", end, want, FAST, "m")
