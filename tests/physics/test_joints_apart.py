# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that keyframes hold apart and let go of: they close as fast as overlap leaves, and that is no motion."""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, MotionPath, Scene, SolverConfig, Sphere, rotations, simulate
from figures import figure
from scenes import GRAVITY, turned

CPU = SolverConfig(device="cpu")
FAST = CPU.tolerances()[1]  # m
PUSH_OUT = 3.0  # m/s and rad/s, see StepProblem.push_out_speed
UNTURNED = (0.0, 0.0, 0.0, 1.0)
HELD = 0.25  # s
RATES = [24, 96, 384]  # frames a second


def led(name, places, turns=(UNTURNED, UNTURNED), shape=None, waits=True):
    """A body led from ``places[0]`` to ``places[1]`` in HELD seconds, half of which it ``waits`` there, and let go."""
    times, (first, last), (start, end) = [0.0, HELD], places, turns
    places, turns = [first, last], [start, end]
    if waits:
        times, places, turns = [0.0, 0.5 * HELD, HELD], [first, last, last], [start, end, end]
    return Body(name, [shape or Sphere(0.1)], mass=1.0, collision_mask=0, path=MotionPath(times, places, turns))


def let_go(trajectory, fps):
    """Numbers of the frames from the release on."""
    return np.arange(round(HELD * fps), len(trajectory.times))


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize("kind", ["ball", "hinge", "fixed", "slider"])
def test_anchors_that_are_apart_close_at_the_speed_of_overlaps(kind, fps):
    # The anchor lies 0.5 m beside the body, which is led 0.3 m across and 0.4 m up, and stops there.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(led("Body", [(0.5, 0, 0), (0.5, 0.3, 0.4)]))
    scene.add(Joint("Joint", kind, None, "Body", (0, 0, 0), turned("y", 0.5 * np.pi)))
    trajectory = simulate(scene, round(0.75 * fps), fps, CPU)
    frames = let_go(trajectory, fps)
    x, q = trajectory.position[frames, 0], trajectory.orientation[frames, 0]
    gap = x + rotations.rotate(q, np.tile([-0.5, 0.0, 0.0], (len(x), 1)))
    off = np.linalg.norm(gap[:, :2] if kind == "slider" else gap, axis=1)  # a slider slides along the world's Z here
    want = np.maximum(off[0] - PUSH_OUT * (trajectory.times[frames] - HELD), 0.0)
    name = f"{kind} let go 0.5 m off its anchor, {fps} fps"
    assert figure(name, "off 3 m/s", np.abs(off - want).max(), FAST, "m") < FAST
    speed = np.linalg.norm(trajectory.linear_velocity[frames, 0], axis=1).max()
    assert figure(name, "fastest", speed, FAST * 24, "m/s") < FAST * 24
    reports = trajectory.reports[frames[0] :]  # of the frames after the release
    assert all(report.converged for report in reports)
    told = np.array([report.joint_error for report in reports])
    assert figure(name, "told of what is left, off by", np.abs(told - off[1:]).max(), FAST, "m") < FAST
    assert all("Joint" in report.worst_joints for report in reports[: round(0.1 * fps)])


@pytest.mark.parametrize("fps", RATES)
def test_angles_that_are_off_close_as_fast(fps):
    # A fixed joint led 1.2 rad off its angle: 3 rad/s, about the same axis.
    axis = np.array([2.0, 1.0, 2.0]) / 3.0
    scene = Scene(gravity=(0, 0, 0))
    turned_off = rotations.exponential(1.2 * axis)
    scene.add(led("Body", [(0, 0, 0)] * 2, (UNTURNED, turned_off), Box((0.1, 0.2, 0.3))))
    scene.add(Joint("Joint", "fixed", None, "Body", (0, 0, 0)))
    trajectory = simulate(scene, round(1.0 * fps), fps, CPU)
    frames = let_go(trajectory, fps)
    angle = np.linalg.norm(rotations.logarithm(trajectory.orientation[frames, 0]), axis=1)
    name = f"fixed joint let go 1.2 rad off, {fps} fps"
    fastest = -np.diff(angle).min() * fps
    assert figure(name, "closes with", fastest, 1.2 * PUSH_OUT, "rad/s") < 1.2 * PUSH_OUT
    assert figure(name, "off at the end", angle[-1], FAST, "rad") < FAST
    spin = np.linalg.norm(trajectory.angular_velocity[frames, 0], axis=1).max()
    assert figure(name, "fastest", spin, FAST * 24, "rad/s") < FAST * 24
    told = np.array([report.joint_error_angle for report in trajectory.reports[frames[0] :]])
    assert (told[angle[1:] > 0.1] > 0.05).all()


@pytest.mark.parametrize("off", [0.2, 0.3, 0.5])
def test_what_is_let_go_off_its_anchor_swings_on_as_fast_at_any_frame_rate(off):
    # A pendulum of 0.5 m is led upwards, at 4 off / s, and let go: it may fall by its height and half a metre more.
    fastest = []
    for fps in RATES:
        scene = Scene()
        scene.add(led("Bob", [(0.5, 0, 0), (0.5, 0, off)], waits=False))
        scene.add(Joint("Joint", "ball", None, "Bob", (0, 0, 0)))
        trajectory = simulate(scene, round(1.75 * fps), fps, CPU)
        frames, name = let_go(trajectory, fps), f"pendulum let go {off} m off its anchor, {fps} fps"
        speed = np.linalg.norm(trajectory.linear_velocity[frames, 0], axis=1)
        fastest.append(speed.max())
        energy = np.array([report.kinetic_energy for report in trajectory.reports])[frames[0] - 1 :]
        whole = energy + GRAVITY * trajectory.position[frames, 0, 2]
        rise = (whole / whole[0]).max() - 1.0
        assert figure(name, "energy beyond that at the release, of it", rise, 1e-3) < 1e-3
        assert all(report.converged for report in trajectory.reports)
        assert figure(name, "fastest", fastest[-1], "see below", "m/s") < np.sqrt(2 * GRAVITY * (0.5 + off)) + 4 * off
    spread = max(fastest) / min(fastest) - 1.0
    assert figure(f"pendulum let go {off} m off", "fastest at 24 to 384 fps, apart", spread, 0.03) < 0.03


@pytest.mark.parametrize("fps", RATES)
def test_what_hangs_on_a_body_that_is_taken_away_at_once_comes_after(fps):
    # Keyframes take the upper of two balls 0.6 m aside from one step to the next: the lower, 0.5 m below, was shot
    # after it.
    path = MotionPath([0.0, 9.0], [(0.6, 0, 0)] * 2, [UNTURNED] * 2)
    ball, scene = {"shapes": [Sphere(0.1)], "mass": 1.0, "collision_mask": 0}, Scene(gravity=(0, 0, 0))
    scene.add(Body("Upper", position=(0, 0, 0), path=path, held=[[HELD, 9.0]], **ball))
    scene.add(Body("Lower", position=(0, 0, -0.5), **ball))
    scene.add(Joint("Joint", "ball", "Upper", "Lower", (0, 0, 0)))
    trajectory = simulate(scene, round(1.0 * fps), fps, CPU)
    frames, name = let_go(trajectory, fps), f"ball whose hold is taken 0.6 m away, {fps} fps"
    speed = np.linalg.norm(trajectory.linear_velocity[frames, 1], axis=1).max()
    assert figure(name, "fastest", speed, FAST * 24, "m/s") < FAST * 24
    x, q = trajectory.position[frames, 1], trajectory.orientation[frames, 1]
    gap = x + rotations.rotate(q, np.tile([0.0, 0.0, 0.5], (len(x), 1))) - trajectory.position[frames, 0]
    want = np.maximum(0.6 - PUSH_OUT * (trajectory.times[frames] - HELD), 0.0)
    assert figure(name, "off 3 m/s", np.abs(np.linalg.norm(gap, axis=1) - want).max(), FAST, "m") < FAST
    assert all(report.converged for report in trajectory.reports)
