# SPDX-License-Identifier: GPL-3.0-or-later
"""Cups and buckets in each other: a wedge that friction locks, whose contacts push with any force, stays at rest.

What two bodies push each other with turns neither of them as a pair, and friction of the ground takes energy.  So a
pair at rest stays at rest: it may be lifted by what overlap is pushed out, no more than the tolerance.
"""

import numpy as np
import pytest
from axion.solver import Body, Plane, Scene, SolverConfig, Sphere, TriangleMesh, rest, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
SLOW, FAST = CPU.tolerances()
WEIGHT = 0.02 * 9.81


def turned_profile(profile, sides):
    """A closed TriangleMesh: (radius, height) pairs from the middle of the outer bottom to that of the inner one."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    corners = [(r * np.cos(a), r * np.sin(a), z) for r, z in profile for a in angle]
    triangles, after = [], [(k, (k + 1) % sides) for k in range(sides)]
    for ring in range(0, (len(profile) - 1) * sides, sides):
        for i, j in after:
            triangles += [(ring + i, ring + j, ring + sides + j), (ring + i, ring + sides + j, ring + sides + i)]
    last, middle = (len(profile) - 1) * sides, len(corners)
    corners += [(0.0, 0.0, profile[0][1]), (0.0, 0.0, profile[-1][1])]
    for i, j in after:
        triangles += [(middle, j, i), (middle + 1, last + i, last + j)]
    return TriangleMesh(np.array(corners), np.array(triangles))


def bucket(sides):
    """25 cm high, walls of 8 mm that lean by 7 degrees."""
    return turned_profile([(0.1, 0.0), (0.13, 0.25), (0.122, 0.25), (0.093, 0.008)], sides)


def cup(sides):
    """11 cm high, walls of 4 mm that lean by 8 degrees."""
    return turned_profile([(0.03, 0.0), (0.045, 0.11), (0.041, 0.11), (0.026, 0.004)], sides)


@pytest.mark.parametrize("fps", [24, 48])
def test_a_cup_dropped_into_another_stays_there(fps):
    scene, shape = Scene(), cup(24)
    scene.add(Body("Ground", [Plane()], motion="static", friction=0.4))
    for k in range(2):
        place = (0.0005 * k, 0, 0.0522 * k)
        scene.add(Body(f"Cup {k}", [shape], position=place, mass=0.02, friction=0.3))
    trajectory = simulate(scene, 2 * fps, fps, CPU)
    reports = trajectory.reports[fps // 2 :]
    energy = np.array([report.kinetic_energy + report.potential_energy for report in reports])
    spin = np.abs(trajectory.angular_velocity[fps // 2 :, 1:]).max()
    name = f"two cups in each other at {fps} fps"
    assert figure(name, "spin at rest", spin, "0.05", "rad/s") < 0.05
    assert energy.max() - energy[0] < 2.0 * WEIGHT * FAST
    assert all(report.converged for report in reports)


def pierced(profile, sides):
    """A closed TriangleMesh with a hole along its axis: (radius, height) pairs around the wall, counter-clockwise."""
    count, angle = len(profile), 2.0 * np.pi * np.arange(sides) / sides
    corners = [(r * np.cos(a), r * np.sin(a), z) for a in angle for r, z in profile]
    own, next_ = count * np.arange(sides)[:, None], count * ((np.arange(sides) + 1) % sides)[:, None]
    here, up = np.arange(count), (np.arange(count) + 1) % count
    a, b, c, d = (each.ravel() for each in (own + here, next_ + here, next_ + up, own + up))
    return TriangleMesh(np.array(corners), np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3))


def test_cups_dropped_into_each_other_are_not_lifted_by_their_walls():
    """What pushed overlap out of them gave them speed, step by step: they rose to 6 mm above the ground, and rolled."""
    profile = (0.001, 0.0), (0.03, 0.0), (0.042, 0.1), (0.039, 0.1), (0.0275, 0.004), (0.001, 0.004)
    scene, shape = Scene(), pierced(profile, 24)
    scene.add(Body("Ground", [Plane()], motion="static", friction=0.4))
    for k in range(5):
        turn = 0.0, 0.0, np.sin(0.05 * k), np.cos(0.05 * k)
        place = 0.0, 0.0, 0.001 + 0.05 * k
        scene.add(Body(f"Cup {k}", [shape], position=place, orientation=turn, mass=0.05, friction=0.4))
    trajectory = simulate(scene, 36, 24, CPU)
    reports = trajectory.reports[4:]  # the last one has come down
    energy = np.array([report.kinetic_energy + report.potential_energy for report in reports])
    gained = np.max(energy - np.minimum.accumulate(energy))
    name, weight = "five cups dropped into each other", 5 * 0.05 * 9.81
    assert figure(name, "energy gained after", gained, 2.0 * weight * FAST, "J") < 2.0 * weight * FAST
    risen = np.max(trajectory.position[5:, 1:, 2] - trajectory.position[5, 1:, 2])
    assert figure(name, "risen after", risen, 5e-4, "m") < 5e-4


STUCK = pytest.mark.parametrize(
    ("sides", "count", "offset", "fps"), [(16, 3, 0.002, 96), (16, 3, 0.004, 24), (24, 2, 0.005, 24)]
)
"""Buckets that friction locks in each other with 20 to 90 micrometres of overlap."""


def buckets(sides, count, offset, **ground):
    """Each dropped into the one below."""
    scene, shape = Scene(), bucket(sides)
    scene.add(Body("Ground", [Plane()], motion="static", friction=0.5, **ground))
    for k in range(count):
        place = (offset * k, 0.5 * offset * k, 0.001 + 0.15 * k)
        scene.add(Body(f"Bucket {k}", [shape], position=place, mass=0.2, friction=0.4))
    return scene


@STUCK
def test_buckets_that_stick_in_each_other_gain_nothing(sides, count, offset, fps):
    # Friction locks what overlap the fall left: nothing can push it out, and it stays as it is.
    trajectory = simulate(buckets(sides, count, offset), round(0.8 * fps), fps, CPU)
    reports = trajectory.reports[round(0.3 * fps) :]
    energy = np.array([report.kinetic_energy + report.potential_energy for report in reports])
    gained = np.diff(energy).max()
    name = f"{count} buckets of {sides} sides in each other at {fps} fps"
    bound = count * 0.2 * 9.81 * FAST
    assert figure(name, "energy gained in a frame", gained, f"{bound:.1e}", "J") < bound
    assert np.abs(trajectory.angular_velocity[-1]).max() < 0.05
    assert max(report.penetration for report in reports) < FAST
    assert all(report.converged for report in reports)


@STUCK
def test_buckets_that_stick_in_each_other_come_to_rest(sides, count, offset, fps, monkeypatch):
    """They stand still although overlap is left, and cost nothing: failed by two solves of 110 iterations a frame.

    Nor would they have gone on: where nothing ever rests they are in the same place a second later, to what a solve may
    be off at rest.
    """
    frames, still = 2 * fps, round(1.2 * fps)
    resting = simulate(buckets(sides, count, offset), frames, fps, CPU)
    assert not any(report.newton_iterations for report in resting.reports[still:])
    assert all(report.converged for report in resting.reports[fps // 2 :])
    assert np.array_equal(resting.position[still], resting.position[-1])
    assert max(report.penetration for report in resting.reports[still:]) > SLOW, "nothing is locked here"
    monkeypatch.setattr(rest, "REST", np.inf)
    awake = simulate(buckets(sides, count, offset), frames, fps, CPU)
    assert awake.reports[-1].newton_iterations > 0
    apart = np.abs(resting.position[-1] - awake.position[-1]).max()
    name = f"{count} buckets of {sides} sides that rest at {fps} fps"
    assert figure(name, "off where they stay awake", apart, SLOW, "m") < SLOW


def test_what_is_locked_is_carried_off_by_a_slow_belt():
    """1 mm/s is no rest: it goes as far as the belt."""
    speed, fps = 1e-3, 24
    trajectory = simulate(buckets(16, 3, 0.004, surface_velocity=(speed, 0.0, 0.0)), 4 * fps, fps, CPU)
    way = trajectory.position[-1, 1:, 0] - trajectory.position[2 * fps, 1:, 0]
    assert np.abs(way - 2.0 * speed).max() < SLOW


def test_what_is_locked_wakes_when_it_is_struck():
    """A ball that arrives after they came to rest pushes the buckets away."""
    scene, fps = buckets(16, 3, 0.004), 24
    scene.add(Body("Ball", [Sphere(0.1)], position=(-8.4, 0.0, 0.1), linear_velocity=(6.0, 0, 0), mass=5.0))
    trajectory = simulate(scene, 2 * fps, fps, CPU)
    still = trajectory.position[1:, 1:4] - trajectory.position[:-1, 1:4]
    rests = ~still.any(axis=(1, 2))
    before = round(1.3 * fps)
    assert rests[before - 2]
    assert np.linalg.norm(trajectory.position[-1, 1:4] - trajectory.position[before, 1:4], axis=1).min() > 0.1
