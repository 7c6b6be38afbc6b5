# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that deform: bodies on them go with the material that they touch, up, down and along."""

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, SceneError, SolverConfig, Sphere, TriangleMesh, simulate
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
SLOW, FAST = CPU.tolerances()
SECONDS = 1.5


def sheet(heights, size=4.0, cells=4, shear=None, thick=0.0):
    """A square of triangles whose vertices are at heights(t, x, y), moved sideways by shear(t, x, y)."""
    x, y = (axis.reshape(-1) for axis in np.meshgrid(*[np.linspace(-size / 2, size / 2, cells + 1)] * 2, indexing="ij"))
    row = np.arange(cells)
    corner = (row[:, None] * (cells + 1) + row).reshape(-1)
    triangles = np.concatenate(
        [
            np.stack([corner, corner + cells + 1, corner + cells + 2], 1),
            np.stack([corner, corner + cells + 2, corner + 1], 1),
        ]
    )
    times = np.linspace(0.0, SECONDS, int(SECONDS * 24) + 1)
    frames = []
    for t in times:
        along = 0.0 * x if shear is None else shear(t, x, y)
        frames.append(np.stack([x + along, y, heights(t, x, y)], 1))
    if thick:
        count = len(x)
        frames = [np.concatenate([frame, frame - [0, 0, thick]]) for frame in frames]
        under = triangles[:, ::-1] + count
        rim = []
        n = cells
        border = [
            *(i * (n + 1) for i in range(n)),
            *(n * (n + 1) + j for j in range(n)),
            *(i * (n + 1) + n for i in range(n, 0, -1)),
            *(j for j in range(n, 0, -1)),
        ]
        for p, q in zip(border, border[1:] + border[:1], strict=True):
            rim += [(p, p + count, q), (q, p + count, q + count)]
        triangles = np.concatenate([triangles, under, np.array(rim)])
    return TriangleMesh(frames[0], triangles, times=times, moving_vertices=frames)


def bake(mesh, body, frames=36, **settings):
    scene = Scene()
    scene.add(Body("Floor", [mesh], motion="static", **settings))
    scene.add(body)
    return simulate(scene, frames, 24, CPU)


@pytest.mark.parametrize("thick", [0.0, 0.5])
def test_a_rising_floor_lifts_a_box_with_its_own_speed(thick):
    # z = 0.8 t: the box stands on it at all times, and moves at 0.8 m/s, within a step's tolerance over the step.
    box = Body("Box", [Box((0.3, 0.3, 0.2))], position=(0.1, 0.2, 0.2), linear_velocity=(0, 0, 0.8))
    trajectory = bake(sheet(lambda t, x, y: 0.8 * t + 0 * x, thick=thick), box)
    bottom = trajectory.position[:, 1, 2] - 0.2
    assert bottom == pytest.approx(0.8 * trajectory.times, abs=FAST)
    assert trajectory.linear_velocity[1:, 1, 2] == pytest.approx(0.8, abs=FAST * 24)
    assert all(report.converged for report in trajectory.reports)


def test_a_floor_that_starts_to_rise_takes_the_box_along_without_a_bounce():
    box = Body("Box", [Box((0.3, 0.3, 0.2))], position=(0.1, 0.2, 0.2))
    trajectory = bake(sheet(lambda t, x, y: 1.2 * max(t - 0.5, 0.0) + 0 * x), box)
    floor = 1.2 * np.maximum(trajectory.times - 0.5, 0.0)
    assert trajectory.position[:, 1, 2] - 0.2 == pytest.approx(floor, abs=2 * FAST)


def test_a_floor_that_stops_throws_the_box():
    # It leaves at 2 m/s where the floor stops at 0.5 s: a parabola, 0.204 m high.
    box = Body("Box", [Box((0.3, 0.3, 0.2))], position=(0, 0, 0.2), linear_velocity=(0, 0, 2.0))
    trajectory = bake(sheet(lambda t, x, y: 2.0 * min(t, 0.5) + 0 * x), box, 20)
    later = trajectory.times[12:] - 0.5
    want = 1.0 + 2.0 * later - 0.5 * GRAVITY * later**2
    assert trajectory.position[12:, 1, 2] - 0.2 == pytest.approx(want, abs=2.0 * FAST * 24 * 0.4)


def test_a_fast_floor_is_not_passed():
    # 6 m/s, 0.25 m a step, against a ball that hangs in the air: it is hit in the step in which they meet.
    ball = Body("Ball", [Sphere(0.1)], position=(0.3, 0.2, 1.0), linear_velocity=(0, 0, 0))
    trajectory = bake(sheet(lambda t, x, y: 6.0 * t - 1.0 + 0 * x), ball, 24)
    gap = trajectory.position[:, 1, 2] - 0.1 - (6.0 * trajectory.times - 1.0)
    assert gap.min() > -0.01
    assert trajectory.linear_velocity[-1, 1, 2] == pytest.approx(6.0, abs=0.2)


def test_bounce_on_a_rising_floor_is_relative_to_it():
    # e = 1 on a floor of 1 m/s: a ball that falls at v leaves at v + 2 m/s.
    ball = Body("Ball", [Sphere(0.1)], position=(0.3, 0.2, 1.1), restitution=1.0)
    trajectory = bake(sheet(lambda t, x, y: 1.0 * (t - 0.4) + 0 * x), ball, 14)
    hit = (-1.0 + np.sqrt(1.0 + 2.0 * GRAVITY * 1.4)) / GRAVITY  # 1.4 - g t^2 / 2 = t, floor from -0.4 on
    speed = GRAVITY * hit
    want = speed + 2.0 - GRAVITY * (trajectory.times[-1] - hit)
    assert trajectory.linear_velocity[-1, 1, 2] == pytest.approx(want, abs=0.05)


def test_friction_drags_a_box_along_with_the_material():
    # The material moves sideways at 0.5 m/s: friction brings the box to it within v / mu g = 0.1 s, and it rides on.
    box = Body("Box", [Box((0.2, 0.2, 0.1))], position=(-0.5, 0, 0.1), friction=0.5)
    trajectory = bake(sheet(lambda t, x, y: 0 * x, shear=lambda t, x, y: 0.5 * t + 0 * x), box, friction=0.5)
    assert trajectory.linear_velocity[6:, 1, 0] == pytest.approx(0.5, abs=5e-3)


def test_a_wave_tilts_and_carries():
    box = Body("Box", [Box((0.3, 0.3, 0.1))], position=(0, 0, 0.12))
    mesh = sheet(lambda t, x, y: 0.1 * np.sin(2.0 * x - 3.0 * t), cells=16)
    trajectory = bake(mesh, box)
    assert all(report.penetration < 0.01 for report in trajectory.reports)
    assert np.abs(trajectory.orientation[:, 1, 1]).max() > 0.03


def test_still_meshes_keep_their_bits():
    body = Body("Box", [Box((0.3, 0.3, 0.2))], position=(0.1, 0.2, 1.0))
    flat = sheet(lambda t, x, y: 0 * x)
    one = bake(flat, body, 24)
    other = bake(TriangleMesh(flat.vertices, flat.triangles), body, 24)
    assert np.abs(one.position - other.position).max() < FAST


@pytest.mark.parametrize(
    ("changes", "motion", "words"),
    [
        ({}, "dynamic", "a dynamic body cannot"),
        ({"moving_vertices": np.zeros((3, 4, 3))}, "static", "moving_vertices of shape 0 .* has shape"),
        ({"times": [0.0, 0.0]}, "static", "do not increase"),
        ({"times": None}, "static", "times of shape 0"),
    ],
)
def test_what_cannot_be_is_named(changes, motion, words):
    good = {"times": [0.0, 1.0], "moving_vertices": np.zeros((2, 3, 3)), **changes}
    mesh = TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], **good)
    scene = Scene()
    scene.add(Body("Cloth", [mesh], motion=motion, mass=1.0, inertia=np.eye(3)))
    with pytest.raises(SceneError, match=f"Cloth.*{words}"):
        simulate(scene, 1)
