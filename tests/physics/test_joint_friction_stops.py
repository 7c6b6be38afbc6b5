# SPDX-License-Identifier: GPL-3.0-or-later
"""What friction of a joint stops goes as far as the law has it, whenever in a step it stops."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Cylinder, Joint, Scene, SolverConfig, simulate
from figures import figure
from scenes import GRAVITY, turned

CPU = SolverConfig(device="cpu")
FAST = 1e-4  # [m] the tolerance
MASS = 0.7  # [kg]
UP = turned("y", -0.5 * np.pi)  # turns an x axis up
NEVER = (0.0, 0.0, 0.0)


def sliders(axes, speeds, gravity=NEVER, rail=(0.0, 0.0, 0.0, 1.0), along=(1.0, 0.0, 0.0)):
    """Scene of boxes on rails through the world's origin and beside it, with the Axis and the speed [m/s] of each."""
    scene = Scene(gravity=gravity)
    for k, (axis, speed) in enumerate(zip(axes, speeds, strict=True)):
        at = np.array([0.0, 2.0 * k, 0.0])
        scene.add(Body(f"B{k}", [Box((0.05,) * 3)], position=at, orientation=rail, mass=MASS,
                       linear_velocity=speed * np.array(along)))  # fmt: skip
        scene.add(Joint(f"J{k}", "slider", None, f"B{k}", at, rail, axes={"x": axis}))
    return scene


def run(scene, seconds, fps, config=CPU):
    """Trajectory of all frames, which have to converge."""
    trajectory = simulate(scene, round(seconds * fps), fps, config)
    assert all(report.converged for report in trajectory.reports)
    return trajectory


def energy_rise(trajectory):
    """Largest rise of kinetic and potential energy from a frame to the next [J]."""
    return np.diff([r.kinetic_energy + r.potential_energy for r in trajectory.reports]).max()


@pytest.mark.parametrize("method", ["proximal", "schur"])
@pytest.mark.parametrize("fps", [24, 96])
def test_a_slider_stops_after_v2_over_2a(fps, method):
    # In 0.84, 0.59, 0.25, 0.06, 0.28 and 1.68 frames at 24 fps; 20 of 37 mm and 0 of 16 mm were gone.
    cases = np.array([(3, 60), (3, 85), (3, 200), (3, 800), (1, 60), (6, 60), (-3, 85)], float)
    scene = sliders([Axis(friction=force) for _, force in cases], cases[:, 0])
    trajectory = run(scene, 0.5, fps, SolverConfig(device="cpu", method=method))
    law = np.sign(cases[:, 0]) * cases[:, 0] ** 2 * MASS / (2.0 * cases[:, 1])
    off = np.abs(trajectory.position[-1, :, 0] - law).max()
    assert figure(f"sliders with friction, {fps} fps, {method}", "way off v^2 / 2a", off, 3 * FAST, "m") < 3 * FAST
    assert np.abs(trajectory.linear_velocity[-1]).max() < 1e-5
    assert energy_rise(trajectory) < 1e-6


@pytest.mark.parametrize("fps", [24, 96])
def test_a_drive_within_a_force_comes_to_its_speed_as_late_as_the_law_has_it(fps):
    # x = v t - v^2 / 2a; the way of the step in which it comes to its speed was that speed's, up to v h / 2 too long.
    cases = np.array([(2, 70), (1, 60), (-2, 200), (3, 20)], float)
    axes = [Axis(drive="velocity", target=speed, max_force=force) for speed, force in cases]
    trajectory = run(sliders(axes, np.zeros(len(cases))), 0.5, fps)
    law = 0.5 * cases[:, 0] - np.sign(cases[:, 0]) * cases[:, 0] ** 2 * MASS / (2.0 * cases[:, 1])
    off = np.abs(trajectory.position[-1, :, 0] - law).max()
    assert figure(f"drives within a force, {fps} fps", "way off v t - v^2 / 2a", off, 2 * FAST, "m") < 2 * FAST


@pytest.mark.parametrize("fps", [24, 96])
def test_weight_helps_friction_up_a_slope_and_takes_from_it_down(fps):
    # a = F / m +- g sin; what friction does not hold comes back, with g sin - F / m.
    pull, tilt = 0.5 * GRAVITY, turned("y", -np.radians(30.0))  # x goes up by 30 degrees
    along, cases = (np.cos(np.radians(30.0)), 0.0, 0.5), np.array([(2, 20), (-2, 20), (1.5, 4), (-1, 8), (2, 2)], float)
    scene = sliders([Axis(friction=force) for _, force in cases], cases[:, 0], (0, 0, -GRAVITY), tilt, along)
    trajectory = run(scene, 1.0, fps)
    way, t, law = trajectory.position[-1] @ along, 1.0, []
    for speed, force in cases:
        slows = force / MASS + np.sign(speed) * pull
        stop = abs(speed) / slows
        back = max(pull - force / MASS, 0.0) * (t - stop) ** 2 / 2.0
        law.append(0.5 * speed * stop - back)
    off = np.abs(way - law).max()
    assert figure(f"sliders up and down 30 degrees, {fps} fps", "way off the law", off, 5 * FAST, "m") < 5 * FAST
    late = trajectory.linear_velocity[-1, :2]
    assert np.abs(late).max() < 1e-5
    assert energy_rise(trajectory) < 1e-5


@pytest.mark.parametrize("fps", [24, 96])
def test_a_spring_with_friction_loses_as_much_of_its_swing_each_half_period(fps):
    # Each half swing of a spring k is shorter by 2 F / k, and the last ends where k x < F.
    stiffness, force, first = 100.0, 4.0, 0.5
    axis = Axis(stiffness=stiffness, friction=force, rest=first)  # it starts at 0, off its rest by ``first``
    scene = sliders([axis], [0.0])
    trajectory = run(scene, 3.0, fps)
    x = first
    while abs(x) * stiffness > force:
        x = -np.sign(x) * (abs(x) - 2.0 * force / stiffness)
    place = first - trajectory.position[:, 0, 0]
    off = abs(place[-1] - x)
    assert figure(f"spring with friction, {fps} fps", "stands off the law", off, 2 * FAST, "m") < 2 * FAST
    assert np.abs(trajectory.linear_velocity[-fps:, 0]).max() < 1e-5


@pytest.mark.parametrize("fps", [24, 96])
def test_a_pendulum_with_friction_in_its_hinge_swings_and_stands_as_the_law_has_it(fps):
    length, size, mass, friction = 0.5, 0.1, 2.0, 1.5
    moment = mass * (length**2 + size**2 * 8.0 / 12.0)
    scene = Scene()
    scene.add(Body("Bob", [Box((size,) * 3)], position=(length, 0, 0), mass=mass))
    scene.add(
        Joint("Hinge", "hinge", None, "Bob", NEVER, turned("x", -0.5 * np.pi), axes={"rz": Axis(friction=friction)})
    )
    trajectory = run(scene, 4.0, fps)
    angle = np.arctan2(-trajectory.position[:, 0, 2], trajectory.position[:, 0, 0])
    stand = swings(moment, mass * GRAVITY * length, friction)
    off = length * abs(angle[-1] - stand)
    bound = 0.004 * length
    assert figure(f"pendulum with friction, {fps} fps", "stands off the law", off, bound, "m") < bound
    assert np.abs(trajectory.linear_velocity[-fps // 2 :, 0]).max() < 1e-4
    assert energy_rise(trajectory) < 1e-3


def swings(moment, pull, friction):
    """Angle below the horizontal at which a pendulum let go there stands: J w' = pull cos(a) - friction sign(w)."""
    angle, way, turns = 0.0, 1.0, 0
    while pull * abs(np.cos(angle)) > friction and turns < 100:
        # pull (sin b - sin a) = friction |b - a| from one turning point to the next.
        b = angle + way * np.linspace(1e-6, np.pi, 2_000_001)
        lost = pull * (np.sin(b) - np.sin(angle)) - friction * np.abs(b - angle)
        angle, way, turns = b[np.flatnonzero(lost < 0.0)[0]], -way, turns + 1
    return angle


@pytest.mark.parametrize("fps", [24, 96])
def test_a_wheel_that_friction_stops_turns_on_by_w2_over_2a(fps):
    # Several turns in a frame, and an axle that friction stops in the first.
    inertia, cases = 0.5 * 1.2 * 0.1**2, np.array([(60, 0.5), (10, 3.0), (-200, 1.0)], float)
    scene = Scene(gravity=NEVER)
    for k, (spin, torque) in enumerate(cases):
        at = np.array([0.0, 2.0 * k, 0.0])
        scene.add(Body(f"W{k}", [Cylinder(0.1, 0.1)], position=at, mass=1.2, angular_velocity=(0, 0, spin)))
        scene.add(Joint(f"A{k}", "hinge", None, f"W{k}", at, axes={"rz": Axis(friction=torque)}))
    trajectory = run(scene, 1.5, fps)
    q = trajectory.orientation[-1]
    law = np.sign(cases[:, 0]) * cases[:, 0] ** 2 * inertia / (2.0 * cases[:, 1])
    off = np.abs((2.0 * np.arctan2(q[:, 2], q[:, 3]) - law + np.pi) % (2.0 * np.pi) - np.pi).max()
    assert figure(f"wheels with friction, {fps} fps", "turn off w^2 / 2a", off, 3e-3, "rad") < 3e-3


@pytest.mark.parametrize("fps", [24, 96])
def test_friction_between_two_free_bodies_slows_both_and_keeps_their_momentum(fps):
    # One goes by v^2 / 2a along the other, a = F (1 / m + 1 / M), and both go on together.
    light, heavy, speed, force, seconds = 0.5, 1.5, 3.0, 30.0, 0.5
    scene = Scene(gravity=NEVER)
    scene.add(Body("Rail", [Box((0.5, 0.02, 0.02))], position=(0, 0, -0.1), mass=heavy))
    scene.add(Body("Sled", [Box((0.05,) * 3)], mass=light, linear_velocity=(speed, 0, 0), position=(0, 0, -0.1),
                   collision_mask=0))  # fmt: skip
    scene.add(Joint("Slides", "slider", "Rail", "Sled", (0, 0, -0.1), axes={"x": Axis(friction=force)}))
    trajectory = run(scene, seconds, fps)
    way = trajectory.position[-1, 1, 0] - trajectory.position[-1, 0, 0]
    off = abs(way - 0.5 * speed**2 / (force * (1.0 / light + 1.0 / heavy)))
    middle = (heavy * trajectory.position[-1, 0, 0] + light * trajectory.position[-1, 1, 0]) / (light + heavy)
    drift = abs(middle - light * speed / (light + heavy) * seconds)
    assert figure(f"sled on a free rail, {fps} fps", "way along it off v^2 / 2a", off, 2 * FAST, "m") < 2 * FAST
    assert figure(f"sled on a free rail, {fps} fps", "both off their momentum", drift, FAST, "m") < FAST


@pytest.mark.parametrize("fps", [24, 96])
def test_drawers_in_a_drawer_stop_one_after_the_other(fps):
    # Outer (F1 to the world) and inner (F2 to the outer), both at v: the law in time, integrated in steps of 1e-6 s.
    masses, forces, speeds = np.array([2.0, 0.5]), np.array([80.0, 15.0]), np.array([1.5, 4.0])
    scene = Scene(gravity=NEVER)
    for k, name in enumerate(("Outer", "Inner")):
        scene.add(Body(name, [Box((0.05,) * 3)], position=(0, k, 0), mass=masses[k], linear_velocity=(speeds[k], 0, 0)))
        scene.add(Joint(f"Rail {name}", "slider", "Outer" if k else None, name, (0, k, 0),
                        axes={"x": Axis(friction=forces[k])}))  # fmt: skip
    trajectory = run(scene, 0.5, fps)
    x, v, h = np.zeros(2), speeds.copy(), 1e-6
    for _ in range(500_000):
        last = v.copy()
        inner = -forces[1] * np.sign(v[1] - v[0])
        outer = -forces[0] * np.sign(v[0]) if v[0] else -np.clip(-inner, -forces[0], forces[0])
        v += h * np.array([(outer - inner) / masses[0], inner / masses[1]])
        if last[0] * v[0] < 0.0:
            v[0] = 0.0
        if (last[1] - last[0]) * (v[1] - v[0]) < 0.0:
            v[1] = v[0]
        x += 0.5 * h * (v + last)
        if not v.any():
            break
    off = np.abs(trajectory.position[-1, :, 0] - x).max()
    assert figure(f"drawer in a drawer, {fps} fps", "way off the law", off, 2 * FAST, "m") < 2 * FAST


@pytest.mark.parametrize(("fps", "method"), [(24, "proximal"), (24, "schur"), (96, "proximal")])
def test_a_hammer_drives_a_nail_in_as_far_as_friction_lets_it(fps, method):
    # (F - M g) s = M v'^2 / 2, v' = m v / M.  Friction of all the step braked the hammer: 0.02 of 50 mm at 24 fps.
    # Schur has it hit a hundredth of a step early, which friction brakes it for.
    hammer, nail, speed, lift = 0.6, 0.005, 3.0, 0.13
    for force in (30.0, 60.0, 300.0):
        scene = Scene()
        scene.add(Body("Nail", [Cylinder(0.002, 0.03)], position=(0, 0, 0.04), mass=nail))
        scene.add(Joint("Wood", "slider", None, "Nail", (0, 0, 0.04), UP, axes={"x": Axis(friction=force)}))
        down = np.sqrt(speed**2 - 2.0 * GRAVITY * lift)
        scene.add(Body("Hammer", [Box((0.02, 0.02, 0.03))], position=(0, 0, 0.1 + lift), mass=hammer,
                       linear_velocity=(0, 0, -down)))  # fmt: skip
        scene.add(Joint("Guide", "slider", None, "Hammer", (0, 0, 0.2), UP))
        trajectory = run(scene, 0.5, fps, SolverConfig(device="cpu", method=method))
        both = hammer + nail
        law = 0.5 * both * (hammer * speed / both) ** 2 / (force - both * GRAVITY)
        off = abs(0.04 - trajectory.position[-1, 0, 2] - law)
        name = f"hammer on a nail that {force:g} N hold, {fps} fps, {method}"
        bound = 2 * FAST if method == "proximal" else 0.16 * law
        assert figure(name, "way off the law", off, bound, "m") < bound
        assert energy_rise(trajectory) < 1e-5
