# SPDX-License-Identifier: GPL-3.0-or-later
"""Cylinders and capsules that lie along each other nearly parallel, judged by the distance of their axes alone.

Held at the one place where they are nearest, logs of 1 m came 2.4 mm deep into each other in frames that had converged,
and never rested; of two pencils that roll, one came through the other in a step.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Capsule, ConvexHull, Cylinder, Scene, SolverConfig, simulate
from axion.solver.rotations import matrices, multiply
from contact_scenes import detect, gaps, set_up
from figures import figure
from judges import energies, largest_rise, segments_apart
from scenes import ground, turned

CPU = SolverConfig(device="cpu")
SLOW, FAST = CPU.tolerances()
ALONG_X, ALONG_Y = turned("y", 0.5 * np.pi), turned("x", 0.5 * np.pi)
LENGTH, RADIUS = 1.0, 0.07


def deepest(scene, trajectory, frame):
    """How deep straight parts of round bodies are in each other in a frame [m]."""
    bodies = [
        (k, body.shapes[0]) for k, body in enumerate(scene.bodies) if isinstance(body.shapes[0], Cylinder | Capsule)
    ]
    axes = matrices(trajectory.orientation[frame])[:, :, 2]
    middle, half = trajectory.position[frame], [shape.half_height * axes[k] for k, shape in bodies]
    ends = [(middle[k] - along, middle[k] + along) for (k, _), along in zip(bodies, half, strict=True)]
    found = 0.0
    for i, (_, one) in enumerate(bodies):
        for j in range(i):
            found = max(found, one.radius + bodies[j][1].radius - segments_apart(*ends[i], *ends[j]))
    return found


def logs(shape, seed=1):
    """Eighteen logs in three layers between two walls, each a little off the direction of the others."""
    scene, random = Scene(), np.random.default_rng(seed)
    ground(scene, friction=0.4)
    for side in (-1, 1):
        wall = Box((0.05, 0.8, 0.4))
        scene.add(Body(f"Wall {side}", [wall], position=(0.62 * side, 0, 0.4), motion="static", friction=0.4))
    for k in range(18):
        row = k // 6
        place = (-0.45 + 0.17 * (k % 6) + 0.03 * row, 0.02 * random.normal(), 0.1 + 0.2 * row)
        tilt = multiply(turned("z", 0.02 * random.normal()), ALONG_Y)
        scene.add(Body(f"Log {k}", [shape], position=place, orientation=tilt, density=520.0, friction=0.4))
    return scene


KINDS = {"cylinders": Cylinder(RADIUS, 0.5 * LENGTH), "capsules": Capsule(RADIUS, 0.5 * LENGTH - RADIUS)}


@pytest.mark.parametrize("fps", [24, 120])
@pytest.mark.parametrize("kind", KINDS)
def test_logs_in_a_heap_lie_still(kind, fps):
    scene = logs(KINDS[kind])
    trajectory = simulate(scene, 4 * fps, fps, CPU)
    name = f"heap of 18 {kind} of 1 m at {fps} fps"
    depth = max(deepest(scene, trajectory, frame) for frame in range(fps, 4 * fps + 1, fps // 8))
    assert figure(name, "deepest in each other", depth, f"{1.5 * FAST:g}", "m") < 1.5 * FAST
    moved = np.abs(trajectory.position[3 * fps :] - trajectory.position[3 * fps]).max()
    assert figure(name, "moved in the fourth second", moved, SLOW, "m") < SLOW
    rise = largest_rise(energies(scene, trajectory)[2 * fps :])
    bound = 9.81 * sum(body.mass_properties()[0] for body in scene.bodies[3:]) * SLOW
    assert figure(name, "energy gained after two seconds", rise, f"{bound:.1e}", "J") < bound
    assert all(report.converged for report in trajectory.reports[fps:])


PENCILS = {
    "Lower": ((0.059609371950, 0.019294858435, 0.009999999558), (0.70342357, 0.07207828, -0.06576651, 0.70404174),
              (0.078014695, 0.0007005628, -2.146e-6), (-0.069979725, 7.80120966, -2.45e-5)),
    "Upper": ((0.051670623260, 0.015447455790, 0.028352929695), (-0.59310919, 0.37569381, -0.40358561, -0.58668075),
              (0.190175795, 0.002310588, 0.044092714), (-0.442923693, 6.838044046, 0.621578546)),
}  # fmt: skip
"""Position, orientation, velocity and spin of two pencils that roll, the one on the other."""


@pytest.mark.parametrize("fps", [24, 48, 120])
def test_pencils_that_roll_do_not_come_through_each_other(fps):
    scene = Scene()
    ground(scene, friction=0.4)
    for name, (place, tilt, velocity, spin) in PENCILS.items():
        tilt = np.array(tilt) / np.linalg.norm(tilt)
        motion = {"position": place, "orientation": tilt, "linear_velocity": velocity, "angular_velocity": spin}
        scene.add(Body(name, [Cylinder(0.01, 0.05)], density=600.0, friction=0.4, **motion))
    trajectory = simulate(scene, fps // 24, fps, CPU)
    depth = deepest(scene, trajectory, -1)
    assert figure(f"two pencils that roll at {fps} fps", "deepest in each other", depth, FAST, "m") < FAST


def pair(shape, angle, apart=2.0 * RADIUS, shift=0.1):
    """Two of a shape along X, the upper one turned by an angle about Z and moved along."""
    return set_up(
        Body("Low", [shape], orientation=ALONG_X),
        Body("High", [shape], position=(shift, 0, apart), orientation=multiply(turned("z", angle), ALONG_X)),
        gravity=(0.0, 0.0, 0.0),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("angle", [0.0, 1e-6, 1e-3, 0.02, 0.1])
def test_both_ends_of_the_line_are_contacts(kind, angle):
    shape = KINDS[kind]
    collider, x, q = pair(shape, angle)
    contacts = detect(collider, x, q)
    assert np.allclose(gaps(contacts, x, q), contacts.gap, atol=1e-12)
    sign = np.where(contacts.body_a == 1, 1.0, -1.0)
    on_a = np.where((contacts.body_a == 1)[:, None], contacts.point_a, contacts.point_b)
    high = x[1] + on_a @ matrices(q)[1].T
    low = x[0] + np.where((contacts.body_a == 1)[:, None], contacts.point_b, contacts.point_a) @ matrices(q)[0].T
    expected = (sign * (contacts.gap + 2.0 * RADIUS))[:, None] * contacts.normal
    assert np.allclose(high - low, expected, atol=3e-4)  # newton finds normals to a thousandth
    ends = np.array([0.1 - shape.half_height, shape.half_height])
    near = [np.abs(high[:, 0] - end).min() for end in ends]
    # What is farther away than detection looks is none: the gap at an end is s^2 angle^2 / (4 r).
    seen = (0.5 * LENGTH * angle) ** 2 / (4.0 * RADIUS) < 0.5 * 0.04 * RADIUS
    assert all(distance < 0.05 * RADIUS for distance in near) == seen
    along = np.sort(high[:, 0])
    assert (np.diff(along) > 0.03 * RADIUS).all(), "twice at one place"


@pytest.mark.parametrize("kind", KINDS)
def test_between_places_they_are_nowhere_deep(kind):
    # Whatever tilt the contacts of a pair allow, nowhere on the line are the two deep in each other.
    shape, angle, r = KINDS[kind], 0.016, RADIUS
    collider, x, q = pair(shape, angle, shift=0.0)
    contacts = detect(collider, x, q)
    on_a = np.where((contacts.body_a == 1)[:, None], contacts.point_a, contacts.point_b)
    places = np.sort(on_a[:, 2])
    spacing = np.diff(places).max()
    assert len(places) >= 5 and spacing**2 * angle**2 / (16.0 * r) < FAST


@pytest.mark.parametrize("kind", KINDS)
def test_crossed_and_distant_ones_touch_at_one_place(kind):
    for angle, apart in ((0.5, 2.0 * RADIUS), (1.5, 2.0 * RADIUS)):
        assert len(detect(*pair(KINDS[kind], angle, apart))) == 1
    shape = Capsule(RADIUS, 0.43)
    collider, x, q = pair(shape, 0.02, 2.3 * RADIUS)
    fast = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, -3.0)])
    assert len(collider.collide(x, q, fast, 0.0 * fast, 1.0 / 24.0)) == 1  # met in flight, see round_impacts.py


def test_a_log_and_a_prism_need_none():
    around = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    ring = np.column_stack([RADIUS * np.cos(around), RADIUS * np.sin(around)])
    corners = np.vstack([np.column_stack([ring, np.full(24, z)]) for z in (-0.5, 0.5)])
    collider, x, q = set_up(
        Body("Low", [ConvexHull(corners)], orientation=ALONG_X),
        Body("High", [KINDS["cylinders"]], position=(0.1, 0, 2.0 * RADIUS), orientation=ALONG_X),
        gravity=(0.0, 0.0, 0.0),
    )
    assert len(detect(collider, x, q)) >= 2


def apart(shape, place, axes):
    """Lower bound of how far two cylinders are from each other, the second one at ``place``; axes (2, 3) [m]."""
    angle = np.linspace(0.0, 0.5 * np.pi, 46)
    out = place * (1.0, 1.0, 0.0) / np.linalg.norm(place[:2])
    directions = np.outer(np.cos(angle), out) + np.outer(np.sin(angle), (0.0, 0.0, 1.0))
    along = np.abs(directions @ axes.T)
    return (directions @ place - (shape.half_height * along + shape.radius * np.sqrt(1.0 - along**2)).sum(axis=1)).max()


def test_barrels_whose_rims_meet_are_not_in_each_other():
    """What rolls more than it tips is held at its axis, also on a rim, with a radius that is larger than its own; with
    that radius the line beside the two was up to 0.6 m deep, and a heap of barrels flew apart at 100 m/s.
    """
    random, shape, deepest_gap, found = np.random.default_rng(3), Cylinder(0.3, 0.45), 0.0, 0
    for _ in range(200):
        tilt = multiply(turned("x", 0.15 * random.normal()), turned("y", 0.15 * random.normal()))
        axes = np.array([(0.0, 0.0, 1.0), matrices(tilt[None])[0][:, 2]])
        out, up = turned("z", 2.0 * np.pi * random.random()), 0.9 - 0.15 * random.random()
        near, far = 0.0, 2.0
        while far - near > 1e-5:
            middle = 0.5 * (near + far)
            place = np.array([*(middle * matrices(out[None])[0][:2, 0]), up])
            near, far = (middle, far) if apart(shape, place, axes) < 1e-3 else (near, middle)
        collider, x, q = set_up(
            Body("Low", [shape]), Body("High", [shape], position=place, orientation=tilt), gravity=(0.0, 0.0, 0.0)
        )
        spin = np.array([(0.0, 0.0, 3.0), (0.0, 0.0, -1.0)]) + random.normal(size=(2, 3))
        contacts = collider.collide_again(x, q, np.ones(2, bool), spin)
        found += len(contacts) > 0
        deepest_gap = min(deepest_gap, contacts.gap.min(initial=0.0))
    assert found > 100
    assert figure("barrels 1 mm apart", "deepest in each other", -deepest_gap, f"{FAST:g}", "m") < FAST


def test_a_rain_of_barrels_comes_to_lie():
    scene, random = Scene(), np.random.default_rng(1)
    ground(scene, friction=0.5)
    for k in range(100):
        tilt, place = random.normal(size=4), np.array([k % 5 - 2, k // 5 % 5 - 2, 1 + k // 25]) * 1.2
        spin = 2.0 * random.normal(size=3)
        motion = {"position": place, "orientation": tilt / np.linalg.norm(tilt), "angular_velocity": spin}
        scene.add(Body(f"Barrel {k}", [Cylinder(0.3, 0.45)], density=300.0, friction=0.4, **motion))
    trajectory = simulate(scene, 36, 24, CPU)
    fastest = np.linalg.norm(trajectory.linear_velocity[:, 1:], axis=2).max()
    fall = np.sqrt(2.0 * 9.81 * 4.8)
    assert figure("rain of 100 barrels", "fastest", fastest, f"< {fall:.3g}", "m/s") < fall
    assert all(report.converged for report in trajectory.reports)
