# SPDX-License-Identifier: GPL-3.0-or-later
"""Two and three angular limits of one joint at once, as ragdolls have them: where they stop a turn, and how it goes on.

An angle about k is 2 atan2(v . k, w) of the turn (v, w), so that a limit is the plane v . k = w tan(limit / 2) through
the centre of the sphere of unit quaternions.
"""

from itertools import pairwise

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, Sphere, rotations, simulate
from figures import figure

NORMAL = SolverConfig(device="cpu")
EXACT = SolverConfig(device="cpu", tolerance=1e-9)
FAST = NORMAL.tolerances()[1]
STEP = 1.0 / 24.0
ANGLES = ("rx", "ry", "rz")
SOME = [("rx", "ry"), ("ry", "rz"), ("rx", "rz"), ANGLES]
LOCKED = {name: Axis(locked=True) for name in ("x", "y", "z")}
FRAME = rotations.exponential(np.array([0.3, -0.5, 0.8]))


def angles(turn, frame=rotations.IDENTITY):
    """(F + 1, 3) angles [rad] about the axes of the joint frame, of turns (F + 1, 4) that stay within half a turn."""
    local = rotations.multiply(rotations.multiply(rotations.conjugate(frame), turn), frame)
    return 2.0 * np.arctan2(local[:, :3] * np.sign(local[:, 3:]), np.abs(local[:, 3:]))


def not_beyond(velocity, normals):
    """The velocity nearest to ``velocity`` that leads beyond none of the planes with these normals (n, 4)."""
    push = np.zeros(len(normals))
    for _ in range(1000):  # Hildreth's method: one plane after the other
        for k, normal in enumerate(normals):
            push[k] = max(0.0, push[k] + (velocity - push @ normals) @ normal)
    return velocity - push @ normals


def along_limits(spin, limits, times):
    """(T, 4) turns of a ball that starts with ``spin`` [rad/s]; limits: (n, 3) axes times limits [rad].

    Free, it goes along a great circle of the quaternions at |spin| / 2.  A limit takes what of its velocity leads
    beyond; along the plane of a limit great circles are free as well.
    """
    planes = np.array([np.append(np.sign(limit), -np.tan(0.5 * np.abs(limit).max())) for limit in limits])
    planes /= np.linalg.norm(planes, axis=1)[:, None]
    place, velocity, passages = np.array([0.0, 0.0, 0.0, 1.0]), np.append(0.5 * np.asarray(spin), 0.0), []
    start = 0.0
    while start < times[-1]:
        rate = np.linalg.norm(velocity)
        passages.append((start, place, velocity / rate, rate))
        ways = np.arctan2(-planes @ place, planes @ velocity / rate)
        ways = np.where((np.abs(planes @ place) < 1e-12) | (ways < 0.0), np.inf, ways)  # it lies on it, or goes away
        way = ways.min()
        if not np.isfinite(way):
            break
        ahead = velocity / rate
        place, ahead = np.cos(way) * place + np.sin(way) * ahead, np.cos(way) * ahead - np.sin(way) * place
        velocity, start = not_beyond(rate * ahead, planes[np.abs(planes @ place) < 1e-9]), start + way / rate
    out = np.zeros((len(times), 4))
    for (begin, place, ahead, rate), (end, *_) in pairwise([*passages, (np.inf,)]):
        now = (times >= begin) & (times < end)
        way = rate * (times[now, None] - begin)
        out[now] = np.cos(way) * place + np.sin(way) * ahead
    return out


QUALITIES = {"normal": (NORMAL, FAST), "exact": (EXACT, 1e-6)}
"""Name -> SolverConfig, and how far [rad] an angle in motion may be beyond its limit."""


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize(("kind", "limited"), [*(("ball", some) for some in SOME), ("generic", ANGLES)])
def test_a_ball_slides_along_its_limits_on_great_circles(kind, limited, quality):
    # Both ways.  It strikes a limit somewhere in a step, whose directions are those half way: off by (w h)^2.
    (config, finest), limit, index = QUALITIES[quality], 0.4, [ANGLES.index(name) for name in limited]
    spin = np.where([name in limited for name in ANGLES], [1.0, 0.7, 0.4], 0.0)
    scene = Scene(gravity=(0, 0, 0))
    axes = {name: Axis(lower=-limit, upper=limit) for name in limited} | (LOCKED if kind == "generic" else {})
    for name, sign in (("+", 1.0), ("-", -1.0)):
        place = (0, sign, 0)
        scene.add(Body(name, [Sphere(0.2)], position=place, mass=1.0, angular_velocity=sign * spin))
        scene.add(Joint(name, kind, None, name, place, axes=axes))
    trajectory = simulate(scene, 48, config=config)
    assert all(report.converged for report in trajectory.reports)
    beyond, before, along = [], [], []
    for body, sign in enumerate((1.0, -1.0)):
        turn = trajectory.orientation[:, body]
        law = along_limits(sign * spin, sign * limit * np.eye(3)[index], trajectory.times)
        off = 2.0 * np.linalg.norm(turn * np.sign(turn[:, 3:]) - law, axis=1)
        first = np.argmax(np.abs(angles(law)).max(axis=1) > limit - 1e-9)
        assert 0 < first < 16 and np.abs(angles(law)[-1]).max() > limit - 1e-9, "it strikes, and slides"
        beyond.append(np.abs(angles(turn)[:, index]).max() - limit)
        before.append(off[:first].max())
        along.append(off.max())
    name, bound = f"ball on a {kind} joint, limits of {' '.join(limited)}, {quality} tolerance", (spin @ spin) * STEP**2
    assert figure(name, "beyond a limit", max(beyond), finest, "rad") < finest
    assert figure(name, "off its free turn before the first", max(before), 1e-9, "rad") < 1e-9
    assert figure(name, "off great circles", max(along), bound, "rad") < bound


ENDS = {"rx": (-0.3, 0.5), "ry": (-0.6, 0.4), "rz": (-0.2, 0.7)}


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("limited", SOME)
@pytest.mark.parametrize("kind", ["ball", "generic"])
def test_what_is_pressed_into_the_corner_of_its_limits_stays_there(kind, limited, quality):
    # Weak motors on oblique axes, both ways, on the world and between two bodies: every angle ends on its own limit.
    scene, index = Scene(gravity=(0, 0, 0)), [ANGLES.index(name) for name in limited]
    config, finest = QUALITIES[quality]
    locked = LOCKED | {name: Axis(locked=True) for name in ANGLES if name not in limited} if kind == "generic" else {}
    cases = [(sign, pair) for sign in (-1.0, 1.0) for pair in (False, True)]
    for k, (sign, pair) in enumerate(cases):
        here, motor = np.array([0.0, 3.0 * k, 0.0]), {"drive": "velocity", "target": 100.0 * sign, "max_force": 0.05}
        scene.add(Body(f"B{k}", [Box((0.2, 0.1, 0.15))], position=here + (0.2, 0.05, 0), mass=1.0, collision_mask=0))
        if pair:
            scene.add(Body(f"A{k}", [Box((0.3, 0.1, 0.1))], position=here - (0.3, 0, 0), mass=2.0, collision_mask=0))
        axes = {name: Axis(lower=ENDS[name][0], upper=ENDS[name][1], **motor) for name in limited}
        scene.add(Joint(f"{k}", kind, f"A{k}" if pair else None, f"B{k}", here, FRAME, axes=axes | locked))
    trajectory = simulate(scene, 84, config=config)
    assert all(report.converged for report in trajectory.reports)
    number = {name: k for k, name in enumerate(trajectory.names)}
    lower, upper, beyond, off = *np.array([ENDS[name] for name in limited]).T, [], []
    for k, (sign, pair) in enumerate(cases):
        turn = trajectory.orientation[:, number[f"B{k}"]]
        if pair:
            turn = rotations.multiply(rotations.conjugate(trajectory.orientation[:, number[f"A{k}"]]), turn)
        found = angles(turn, FRAME)[:, index]
        beyond.append(np.maximum(lower - found, found - upper).max())
        off.append(np.abs(found[-12:] - (upper if sign > 0.0 else lower)).max())
    name = f"{kind} joint pressed against limits of {' '.join(limited)}, {quality} tolerance"
    assert figure(name, "beyond a limit on its way", max(beyond), finest, "rad") < finest
    assert figure(name, "off its limits at the end", max(off), 1e-6, "rad") < 1e-6
    if kind == "generic" or limited == ANGLES:  # else it turns on about the axis that is free
        assert np.abs(trajectory.angular_velocity[-1]).max() < FAST / STEP
