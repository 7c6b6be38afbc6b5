# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints lead round turns as fast as its velocity says, at 24 fps: one rate, so many radians."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Scene, SolverConfig, rotations, simulate
from figures import figure
from smooth_motion import runge_kutta

CPU = SolverConfig(device="cpu")
FPS, ARM, HALF = 24, 0.4, 0.15


def boxes(places, spin, **options):
    """Boxes of 1 kg at ``places`` that turn by ``spin`` [rad/s] about the origin, without gravity."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    for k, place in enumerate(places):
        scene.add(Body(f"Box {k}", [Box((HALF,) * 3)], position=place, mass=1.0, angular_velocity=spin,
                       linear_velocity=np.cross(spin, place), **options))  # fmt: skip
    return scene


def led_round(kind, held, rate):
    """One box on a joint to the world, or two on one to each other, that spin about the vertical."""
    scene = boxes([(ARM, 0.0, 0.0)] if held else [(ARM, 0.0, 0.0), (-ARM, 0.0, 0.0)], np.array((0.0, 0.0, rate)))
    scene.add(Joint("Joint", kind, None if held else "Box 1", "Box 0", (0.0, 0.0, 0.0)))
    return scene


@pytest.mark.parametrize("method", ["proximal", "schur"])
@pytest.mark.parametrize("rate", [2.0, 8.0, 20.0])
@pytest.mark.parametrize(
    ("kind", "held"), [("fixed", False), ("ball", False), ("hinge", False), ("hinge", True), ("ball", True)]
)
def test_what_joints_lead_round_turns_at_its_rate(kind, held, rate, method):
    if not held and kind != "fixed" and rate > 10.0:
        pytest.skip("two bodies that may turn against each other at such a rate swing faster than a step follows")
    # By the mean of the velocities at both ends it made 2 atan(w h / 2) in a step: 0.8 % less at 8 rad/s, 4.8 at 20.
    seconds = 2
    config = SolverConfig(device="cpu", method=method)
    trajectory = simulate(led_round(kind, held, rate), seconds * FPS, FPS, config)
    place = trajectory.position[:, 0]
    angle = np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
    off = angle[-1] / (rate * seconds) - 1.0
    name = f"{kind} {'to the world' if held else 'pair'}, {rate:g} rad/s, {method}"
    assert abs(figure(name, "turned too far by", off, "+- 1e-3", "of itself")) < 1e-3
    kept = np.linalg.norm(trajectory.linear_velocity[-1, 0]) / (rate * ARM)
    assert figure(name, "speed kept", kept, "1 +- 2e-3") == pytest.approx(1.0, abs=2e-3)
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("axis", [(0, 1, 1), (1, 1, 1), (1, 0.2, 0)])
def test_glued_boxes_tumble_as_one_body(axis, count):
    # They share one free motion: the same boxes as shapes of one body tell it.  Two came 8 degrees and 50 mm off it.
    spin = 8.0 * np.array(axis, float) / np.linalg.norm(axis)
    places = [np.array((ARM * (2 * k - count + 1) / (count - 1), 0.0, 0.0)) for k in range(count)]
    apart = boxes(places, spin, collision_mask=0)
    for k in range(count - 1):
        apart.add(Joint(f"Glue {k}", "fixed", f"Box {k}", f"Box {k + 1}", 0.5 * (places[k] + places[k + 1])))
    whole = Scene(gravity=(0.0, 0.0, 0.0))
    whole.add(Body("Whole", [Box((HALF,) * 3, position=place) for place in places], mass=float(count),
                   inertia=sum(np.eye(3) * HALF**2 * 2 / 3 + np.eye(3) * (p @ p) - np.outer(p, p) for p in places),
                   angular_velocity=spin))  # fmt: skip
    pieces, body = (simulate(scene, FPS, FPS, CPU) for scene in (apart, whole))
    want = body.position[-1] + rotations.rotate(body.orientation[-1], np.array(places))
    off = np.linalg.norm(pieces.position[-1] - want, axis=1).max()
    turn = rotations.multiply(pieces.orientation[-1, 0], rotations.conjugate(body.orientation[-1, 0]))
    angle = 2.0 * np.arctan2(np.linalg.norm(turn[:3]), abs(turn[3]))
    name = f"{count} glued boxes about {axis}, 8 rad/s, 1 s"
    assert figure(name, "off one body", off, "< 1e-3", "m") < 1e-3
    assert figure(name, "and turned from it by", angle, "< 0.01", "rad") < 0.01


@pytest.mark.parametrize("start", [0.1, 1.0])
def test_a_short_pendulum_swings_at_its_period(start):
    # 0.3 m: omega h = 0.24, and (omega h)^2 / 12 = 0.5 % was what its period was too long by.
    length, frames = 0.3, 10 * FPS
    scene = Scene()
    scene.add(Body("Bob", [Box((0.05,) * 3)], mass=1.0, position=length * np.array((np.sin(start), 0, -np.cos(start)))))
    scene.add(Joint("Pivot", "hinge", None, "Bob", (0, 0, 0), orientation=(np.sqrt(0.5), 0, 0, np.sqrt(0.5))))
    trajectory = simulate(scene, frames, FPS, CPU)
    moment = length**2 + 0.1**2 / 6.0
    law = runge_kutta(
        lambda y: np.array([y[1], -9.81 * length / moment * np.sin(y[0])]), (start, 0.0), trajectory.times
    )
    place = trajectory.position[:, 0]
    seen = np.arctan2(place[:, 0], -place[:, 2])

    def period(angle):
        i = np.flatnonzero((angle[:-1] > 0) != (angle[1:] > 0))
        zero = trajectory.times[i] + angle[i] / (angle[i] - angle[i + 1]) / FPS
        return 2.0 * (zero[-1] - zero[0]) / (len(zero) - 1)

    off = period(seen) / period(law[:, 0]) - 1.0
    assert abs(figure(f"pendulum of 0.3 m from {start} rad", "period off by", off, "1e-3", "of itself")) < 1e-3
    late = trajectory.times > 9.0
    kept = np.abs(seen[late]).max() / np.abs(law[late, 0]).max()
    assert figure(f"pendulum of 0.3 m from {start} rad", "amplitude kept, 10 s", kept, "1 +- 0.01") == pytest.approx(
        1.0, abs=0.01
    )
