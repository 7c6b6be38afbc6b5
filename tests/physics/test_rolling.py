# SPDX-License-Identifier: GPL-3.0-or-later
"""Rolling and tossing: balls that slide, roll, or run down slopes, carts, and a cube thrown on the ground."""

import numpy as np
import pytest
from axion.solver import Body, Box, ConvexHull, Cylinder, Joint, Plane, Scene, SolverConfig, Sphere, simulate
from contact_scenes import grid
from figures import figure
from scenes import GRAVITY, downhill, ground, turned

CPU = SolverConfig(device="cpu")
RECORDED = SolverConfig(device="cpu", record_forces=True)
SLOW, FAST = CPU.tolerances()


@pytest.mark.parametrize("fps", [24, 240])
def test_sliding_ball_rolls_after_its_time_and_way(fps):
    # v0 = 2, mu = 0.3: rolls from t = 2 v0 / (7 mu g) = 0.194165 s and x = 0.332855 m on, at 5/7 v0.  Of the step in
    # which it begins to roll nobody knows when.
    mu, v0, start, way, h = 0.3, 2.0, 0.194165, 0.332855, 1.0 / fps
    scene = Scene()
    ground(scene, friction=mu)
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.1), friction=mu, linear_velocity=(v0, 0, 0)))
    trajectory = simulate(scene, fps, fps, CPU)
    name = f"sliding ball at {fps} fps"
    speed = trajectory.linear_velocity[-1, 1, 0]
    assert figure(name, "speed when it rolls, of 5/7 v0", speed * 7 / (5 * v0), "1 +- 1e-3") == pytest.approx(
        1.0, abs=1e-3
    )
    late = trajectory.times > start + h
    want = way + 5.0 / 7.0 * v0 * (trajectory.times - start)
    off = np.abs(trajectory.position[late, 1, 0] - want[late]).max()
    bound = 3.5 * mu * GRAVITY * h**2 / 8.0 + FAST * np.count_nonzero(late) * 0.1 + 1e-4
    assert figure(name, "way off the law", off, bound, "m") < bound
    slip = speed - 0.1 * trajectory.angular_velocity[-1, 1, 1]
    assert abs(figure(name, "slip at the end", slip, FAST * fps, "m/s")) < FAST * fps


def contact_force(trajectory, frame, body):
    """Sum (3,) of the contact forces on a body, by its number, in a frame [N]."""
    forces = trajectory.forces.frame(frame)
    sign = (forces.contact_body[:, 0] == body).astype(float) - (forces.contact_body[:, 1] == body)
    return sign @ forces.contact_force


@pytest.mark.parametrize("fps", [24, 60])
def test_ball_rolls_down_a_slope_of_15_degrees(fps):
    # Drake: a = 5/7 g sin = 1.813582 m/s^2 and friction m (g sin - a) = 2/7 m g sin, in every frame; v = a t at any
    # step, s = a t^2 / 2.  Relative 5.5e-4 there.
    angle = np.radians(15.0)
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene = Scene()
    scene.add(Body("Slope", [Plane()], motion="static", orientation=turned("y", angle)))
    scene.add(Body("Ball", [Sphere(0.1)], position=0.1 * up, mass=0.1))
    n = 2 * fps
    trajectory = simulate(scene, n, fps, RECORDED)
    speed = trajectory.linear_velocity[-1, 1] @ downhill(angle)
    acceleration = speed / 2.0
    name = f"ball on 15 degrees at {fps} fps"
    assert figure(name, "acceleration", acceleration, "1.813582 +- 5.5e-4 of it", "m/s^2") == pytest.approx(
        1.813582, rel=5.5e-4
    )
    forces = np.array([contact_force(trajectory, frame, 1) for frame in range(1, n + 1)])
    friction = -forces @ downhill(angle)
    worst = friction[np.argmax(np.abs(friction - 0.0725433))]
    assert figure(name, "friction in the worst frame", worst, "0.0725433 +- 5.5e-4 of it", "N") == pytest.approx(
        0.0725433, rel=5.5e-4
    )
    carried = 0.1 * GRAVITY * np.cos(angle)
    assert forces @ up == pytest.approx(carried, rel=5.5e-4)
    way = (trajectory.position[-1, 1] - trajectory.position[0, 1]) @ downhill(angle)
    law = 1.813582 * 2.0**2 / 2.0
    assert figure(name, "way over that of the law", way / law, "1 +- 1e-3") == pytest.approx(1.0, abs=1e-3)
    lift = np.abs((trajectory.position[:, 1] - 0.1 * up) @ up).max()
    assert figure(name, "distance from the slope", lift, FAST, "m") < FAST


def cart(ground_shape, wheel, tilt, run):
    """A Scene of a cart of 10 kg on four wheels of 1 kg and 0.2 m on a slope, which runs down it at ``run`` [m/s]."""
    scene, lies, along = Scene(), turned("y", tilt), downhill(tilt)
    up, radius = np.array([np.sin(tilt), 0.0, np.cos(tilt)]), 0.2
    moving = {"orientation": lies, "linear_velocity": run * along}
    scene.add(Body("Slope", [ground_shape], motion="static", orientation=lies, friction=0.8))
    scene.add(Body("Chassis", [Box((0.6, 0.3, 0.1))], position=radius * up, mass=10.0, **moving))
    for number, (x, y) in enumerate(((0.4, 0.45), (0.4, -0.45), (-0.4, 0.45), (-0.4, -0.45))):
        place, name = radius * up + x * along + (0.0, y, 0.0), f"Wheel {number}"
        spin = (0.0, run / radius, 0.0)
        scene.add(Body(name, [wheel], position=place, mass=1.0, friction=0.8, angular_velocity=spin, **moving))
        scene.add(Joint(f"Hub {number}", "hinge", "Chassis", name, place, turned("x", -0.5 * np.pi)))
    return scene


@pytest.mark.parametrize("run", [0.0, -4.0])
@pytest.mark.parametrize("ground_kind", ["plane", "box", "mesh", "hull"])
@pytest.mark.parametrize("kind", ["cylinder", "sphere"])
def test_a_cart_rolls_down_a_slope_by_the_law(kind, ground_kind, run):
    # a = g sin m / (m + 4 I / r^2), s = v t + a t^2 / 2.  By backward Euler it was a h t / 2 too far down, 62 mm.
    tilt, seconds = np.radians(10.0), 2.0
    wheel = {"cylinder": Cylinder(0.2, 0.05, orientation=turned("x", 0.5 * np.pi)), "sphere": Sphere(0.2)}[kind]
    corners = np.array([[x, y, z] for x in (-8.0, 8.0) for y in (-2.0, 2.0) for z in (-1.0, 0.0)])
    slope = {"plane": Plane(), "box": Box((50.0, 5.0, 0.5), position=(0.0, 0.0, -0.5)), "mesh": grid(8, 20.0)}
    slope = (slope | {"hull": ConvexHull(corners)})[ground_kind]
    trajectory = simulate(cart(slope, wheel, tilt, run), 48, 24, CPU)
    share = {"cylinder": 0.5, "sphere": 0.4}[kind]
    pull = GRAVITY * np.sin(tilt) * 14.0 / (14.0 + 4.0 * share)
    way = (trajectory.position[-1, 1] - trajectory.position[0, 1]) @ downhill(tilt)
    law = run * seconds + pull * seconds**2 / 2.0
    name = f"cart with wheels like a {kind} on a {ground_kind} of 10 degrees, from {run:g} m/s"
    assert abs(figure(name, "way off the law", way - law, 1e-3, "m")) < 1e-3
    energy = np.array([report.kinetic_energy + report.potential_energy for report in trajectory.reports])
    assert abs(figure(name, "energy gained", energy[-1] - energy[0], 0.01, "J")) < 0.01
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("fps", [24, 60, 600])
@pytest.mark.parametrize("mu", [0.2, 0.4, 0.7])
def test_sliding_box_stops_after_its_way(mu, fps):
    # Newton's table: v0 = 2 m/s, d = v0^2 / (2 mu g) = 1.0194, 0.5097, 0.2912 m, to 1 % at 600 steps a second.  Poses
    # move with the end velocities v_k = v0 - mu g h k: the way is the sum of h v_k, which is d - v0 h / 2 where v0 is a
    # multiple of mu g h and at most mu g h^2 / 8 more between.  Wanted to 1e-3; here to 1e-4.
    v0, h = 2.0, 1.0 / fps
    scene = Scene()
    ground(scene, friction=mu)
    scene.add(Body("Box", [Box((0.2, 0.2, 0.05))], position=(0, 0, 0.05), friction=mu, linear_velocity=(v0, 0, 0)))
    count = int(v0 / (mu * GRAVITY * h))
    trajectory = simulate(scene, count + fps // 4, fps, CPU)
    way = trajectory.position[-1, 1, 0]
    name = f"stopping box, mu = {mu:g}, {fps} fps"
    law = count * h * v0 - mu * GRAVITY * h**2 * count * (count + 1) / 2.0
    continuous = v0**2 / (2.0 * mu * GRAVITY)
    assert -1e-12 < law - (continuous - v0 * h / 2.0) < mu * GRAVITY * h**2 / 8.0 + 1e-12
    off = way / law - 1.0
    assert abs(figure(name, "way beyond that of the discrete law, of it", off, "+- 1e-4")) < 1e-4
    if fps == 600:
        assert figure(name, "way over v0^2 / (2 mu g)", way / continuous, "1 +- 0.01") == pytest.approx(1.0, abs=0.01)
    speed = np.abs(trajectory.linear_velocity[-1, 1]).max()
    assert figure(name, "speed at the end", speed, SLOW * fps, "m/s") < SLOW * fps


@pytest.mark.parametrize("step", [0.1, 0.05, 0.01, 0.005])
def test_tossed_cube_ends_flat_and_at_rest(step):
    # Dojo's box toss: a cube of 0.5 m, v = (1, 1.5, 1), mu = 0.1, from 1 m up; ends with z = 0.25 +- 1e-3 at rest.  It
    # has slid to rest once v^2 / (2 mu g) is gone: (1 + 2.25) / 1.96 = 1.7 m at most and 1.9 s.
    scene = Scene()
    ground(scene, friction=0.1)
    scene.add(
        Body("Cube", [Box((0.25, 0.25, 0.25))], position=(0, 0, 1.0), mass=1.0, friction=0.1,
             linear_velocity=(1, 1.5, 1), angular_velocity=(0.3, -0.2, 0.1))
    )  # fmt: skip
    trajectory = simulate(scene, round((5.0 if step > 0.01 else 3.0) / step), 1.0 / step, CPU)
    name = f"box toss, h = {step} s"
    speed = np.linalg.norm(trajectory.linear_velocity[-1, 1])
    figure(name, "speed at the end", speed, 1e-8, "m/s")
    figure(name, "height at the end", trajectory.position[-1, 1, 2], "0.25 +- 1e-3", "m")
    assert trajectory.position[-1, 1, 2] == pytest.approx(0.25, abs=1e-3)
    assert speed < 1e-8
    energy = np.array([report.kinetic_energy + report.potential_energy for report in trajectory.reports])
    gain = np.diff(energy).max() / (energy[0] - energy[-1])
    assert figure(name, "largest gain of energy in a frame, of what was lost", gain, 1e-3) < 1e-3
