# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls that bounce on what keyframes move faster and slower: lifts, shaken tables, floors that set out or stop dead.

The reference goes from impact to impact: a parabola down to the path itself, and off it with v+ = V - e (v- - V).
"""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SolverConfig, Sphere, rotations, simulate
from figures import figure
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
FPS = 24
SAMPLES = 4  # of a path in a frame, as the add-on has them
RADIUS, DROP, APART = 0.1, 0.6, 3.0
FINE = 96  # looks in a frame for the next impact


def heights(restitutions, seconds, ways=None, gravity=GRAVITY, above=DROP, speed=0.0):
    """((frames + 1, N) of the lowest points of balls over N floors side by side, (frames + 1, N) velocities of theirs).

    ways: N functions of times (S,) [s] that tell how high the floors are, or None: they stand.
    """
    scene = Scene(gravity=(0.0, 0.0, -gravity))
    times = np.arange(round((seconds + 0.1) * FPS * SAMPLES) + 1) / (FPS * SAMPLES)
    for k, e in enumerate(restitutions):
        floor, begin, place = {"motion": "static", "position": (APART * k, 0.0, 0.0)}, 0.0, np.zeros((len(times), 3))
        if ways is not None:
            place[:, 0], place[:, 2] = APART * k, ways[k](times)
            path = MotionPath(times, place, np.tile(rotations.IDENTITY, (len(times), 1)))
            floor, begin = {"motion": "kinematic", "path": path}, place[0, 2]
        shape = Box((1.0, 1.0, 0.1), position=(0.0, 0.0, -0.1))
        scene.add(Body(f"Floor {k}", [shape], friction=0.5, restitution=e, **floor))
        lies = {"position": (APART * k, 0.0, begin + above + RADIUS), "linear_velocity": (0.0, 0.0, speed)}
        scene.add(Body(f"Ball {k}", [Sphere(RADIUS)], mass=1.0, friction=0.5, restitution=e, **lies))
    at = simulate(scene, round(seconds * FPS), FPS, CPU)
    assert all(report.converged for report in at.reports)
    return at.position[:, 1::2, 2] - RADIUS, at.linear_velocity[:, 1::2, 2]


def by_impacts(way, restitution, seconds, bounces, above=DROP, speed=0.0):
    """((F,) heights in the frames before the impact after ``bounces`` ones, (F,) velocities there)."""
    frames, out = np.arange(round(seconds * FPS) + 1) / FPS, []
    time, z, v = 0.0, way(np.zeros(1))[0] + above, speed

    def fall(t):
        return z + v * (t - time) - 0.5 * GRAVITY * (t - time) ** 2

    for _ in range(bounces + 1):
        looks = time + np.arange(1, int((seconds - time) * FPS * FINE) + 2) / (FPS * FINE)
        under = np.flatnonzero(fall(looks) < way(looks))
        end = seconds + 1.0
        if len(under):
            low, end = looks[under[0]] - 1.0 / (FPS * FINE) + 1e-9, looks[under[0]]
            for _ in range(60):
                middle = np.array([0.5 * (low + end)])
                low, end = (low, middle[0]) if fall(middle)[0] < way(middle)[0] else (middle[0], end)
        until = frames[len(out) :][frames[len(out) :] <= end]
        out.extend(zip(fall(until), v - GRAVITY * (until - time), strict=True))
        if len(out) == len(frames):
            break
        runs = np.diff(way(np.array([end - 1e-6, end + 1e-6])))[0] / 2e-6
        z, v, time = fall(end), runs - restitution * (v - GRAVITY * (end - time) - runs), end
    return np.array(out).T


@pytest.mark.parametrize("gain", [2.0, -3.0])
def test_bounces_in_a_lift_that_gets_faster_are_those_of_another_gravity(gain):
    """By the lift's mean velocity in each step they were up to 0.3 m off."""
    seconds, restitutions, bound = 2.0, (0.3, 0.5, 0.8, 1.0), 1e-5
    want = heights(restitutions, seconds, gravity=GRAVITY + gain)[0]
    ways = [lambda t: 0.5 * gain * t**2] * len(restitutions)
    found = heights(restitutions, seconds, ways)[0] - ways[0](np.arange(len(want)) / FPS)[:, None]
    off = np.abs(found - want).max()
    assert figure(f"balls in a lift that gains {gain:.0f} m/s^2, 24 fps", "most off, 2 s", off, bound, "m") < bound


@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
def test_balls_bounce_on_tables_shaken_up_and_down(restitution):
    """By the mean velocity in each step they were off by up to a fifth of the way they had fallen.

    What an impact is off by is four times that after the next one, on the fastest of these.
    """
    seconds, phases, bound = 2.0, 3, 0.005
    ways = [
        lambda t, motion=motion, k=k: motion[0] * np.sin(2.0 * np.pi * (motion[1] * t + k / phases))
        for motion in ((0.05, 0.5), (0.05, 1.0), (0.03, 1.5), (0.02, 2.0), (0.05, 2.0))
        for k in range(phases)
    ]
    place, speed = heights([restitution] * len(ways), seconds, ways)
    off, gained = [], 0.0
    for k, way in enumerate(ways):
        want, fast = by_impacts(way, restitution, seconds, 3)
        last = len(want) - 1
        off.append(np.abs(place[: last + 1, k] - want).max() / DROP)
        gained += GRAVITY * (place[last, k] - want[last]) + 0.5 * (speed[last, k] ** 2 - fast[last] ** 2)
    name, gained = f"balls with e {restitution} on shaken tables", gained / (len(ways) * GRAVITY * DROP)
    assert figure(name, "most off / drop, three bounces", max(off), bound) < bound
    assert abs(figure(name, "energy gained / drop's, mean of all", gained, "0 +- 0.0005")) < 5e-4


def test_floors_that_set_out_or_stop_within_a_frame_are_met_as_fast_as_they_are():
    """By the mean of the frame balls that hit in it flew off by up to 0.3 m."""
    cases = [
        (before, after, when / FPS)
        for before, after in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, 2.0))
        for when in (8.25, 8.5, 8.75)
    ]
    ways = [
        lambda t, before=before, after=after, when=when: (
            before * np.minimum(t, when) + after * np.maximum(t - when, 0.0)
        )
        for before, after, when in cases
    ]
    place, bound = heights([0.6] * len(ways), 1.0, ways)[0], 1e-3
    for k, (before, after, when) in enumerate(cases):
        want = by_impacts(ways[k], 0.6, 1.0, 2)[0]
        name, off = f"floor from {before:g} to {after:g} m/s after {when:.3g} s", place[: len(want), k] - want
        assert figure(name, "most off, two bounces, e 0.6", np.abs(off).max(), bound, "m") < bound


def test_what_rests_on_a_floor_that_sets_out_leaves_as_struck():
    """(1 + e) V, whenever in the frame.  From its last quarter on the energy that the mean speed may give was less."""
    times, runs = (20.0, 20.25, 20.5, 20.75), 2.0
    ways = [lambda t, when=when: runs * np.maximum(0.0, t - when / FPS) for when in times]
    speed = heights([0.5] * len(ways), 1.0, ways, above=0.0)[1][22]
    for when, found in zip(times, speed, strict=True):
        share = found / (1.5 * runs - GRAVITY * (22.0 - when) / FPS)
        name = f"ball that rests, floor sets out at 2 m/s after {when:g} frames, e 0.5"
        assert figure(name, "speed / law", share, "1 +- 0.003") == pytest.approx(1.0, abs=0.003)


@pytest.mark.parametrize(("early", "arrival"), [(0.01, 0.7), (0.1, 0.7), (0.9, 0.9)])
def test_a_low_bounce_is_not_lost_where_frames_end(early, arrival):
    """What had rebounded in the last step was held by the impulse it had had, and did not get as high, or lay still."""
    time, seconds = (2.0 - early) / FPS, 4.0 / FPS
    speed = GRAVITY * time - arrival
    above = 0.5 * GRAVITY * time**2 - speed * time
    want = by_impacts(np.zeros_like, 0.5, seconds, 1, above, speed)[0]
    off = np.abs(heights([0.5], seconds, above=above, speed=speed)[0][: len(want), 0] - want).max()
    rise = (0.5 * arrival) ** 2 / (2.0 * GRAVITY)
    name = f"ball that hits at {arrival} m/s, {early} frames before one ends, e 0.5"
    assert figure(name, "most off / bounce", off / rise, 0.02) < 0.02
