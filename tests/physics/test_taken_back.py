# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that switch between their animation and physics, any number of times."""

import numpy as np
import pytest
from axion.solver import Body, Box, MotionPath, Scene, SceneError, SolverConfig, Sphere, rotations, simulate
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
FPS = 24


def path_of(seconds=3.0, spin=2.0):
    """(1 t, 0, 5 + sin t), turning at ``spin`` about Z, sampled finely."""
    t = np.linspace(0.0, seconds, int(seconds * 240) + 1)
    return MotionPath(
        t, np.column_stack([t, 0 * t, 5 + np.sin(t)]), rotations.exponential(np.column_stack([0 * t, 0 * t, spin * t]))
    )


def bake(held, frames=60, blend=0.0, **body):
    scene = Scene()
    scene.add(Body("Ball", [Sphere(0.1)], path=path_of(), held=held, blend_time=blend, **body))
    return simulate(scene, frames, FPS, CPU)


def test_let_go_taken_back_and_let_go_again():
    # Held on [0, 0.5) and [1, 1.5): a parabola from each release, with the velocity the path has there.
    trajectory = bake([[0.0, 0.5], [1.0, 1.5]])
    t, path = trajectory.times, path_of()
    for frame in (*range(13), *range(24, 37)):
        assert trajectory.position[frame, 0] == pytest.approx(path.pose(t[frame])[0], abs=1e-9), frame
    for release, last in ((12, 23), (36, 60)):
        velocity = path.velocity(t[release])[0]
        later = t[release : last + 1] - t[release]
        want = path.pose(t[release])[0] + later[:, None] * velocity
        want[:, 2] -= 0.5 * GRAVITY * later**2
        assert trajectory.position[release : last + 1, 0] == pytest.approx(want, abs=1e-9)
        assert trajectory.linear_velocity[release, 0] == pytest.approx(velocity, abs=1e-9)
        assert trajectory.angular_velocity[release : last + 1, 0, 2] == pytest.approx(2.0, abs=1e-9)


def test_released_velocity_is_that_of_the_path_and_not_the_mean_of_the_step():
    # x = 3 t^2: at 0.5 s the speed is 3 m/s; the mean of the last frame would be 2.875 m/s.
    t = np.linspace(0.0, 0.5, 1201)
    path = MotionPath(t, np.column_stack([3 * t**2, 0 * t, 0 * t]), np.tile([0, 0, 0, 1.0], (len(t), 1)))
    scene = Scene()
    scene.add(Body("Ball", [Sphere(0.1)], path=path))
    trajectory = simulate(scene, 24, FPS, CPU)
    assert trajectory.linear_velocity[-1, 0, 0] == pytest.approx(3.0, abs=2e-3)  # 3 * the last sample interval


def test_free_at_first_then_taken():
    trajectory = bake([[1.0, 9.0]], 36, position=(7, 7, 7), linear_velocity=(0, 2, 0))
    t = trajectory.times
    assert trajectory.position[:24, 0, 1] == pytest.approx(7 + 2 * t[:24], abs=1e-9)
    assert trajectory.position[24:, 0, 0] == pytest.approx(t[24:], abs=1e-9)


def test_gliding_back_keeps_place_and_velocity_and_ends_on_the_path():
    # Halving the step must halve the jump of the velocity over it: there is none in the limit.
    jumps = []
    for fps in (96, 192):
        scene = Scene()
        body = Body("Ball", [Box((0.3, 0.2, 0.1))], path=path_of(), held=[[0, 0.25], [0.75, 9]], blend_time=0.5)
        body.center_of_mass = (0.05, 0.0, 0.02)
        scene.add(body)
        trajectory = simulate(scene, int(1.5 * fps), fps, CPU)
        at = int(0.75 * fps)
        assert np.abs(np.diff(trajectory.position[:, 0], axis=0)).max() < 8.0 / fps
        jumps.append(np.abs(np.diff(trajectory.linear_velocity[at - 1 : at + 2, 0], axis=0)).max())
        jumps.append(np.abs(np.diff(trajectory.angular_velocity[at - 1 : at + 2, 0], axis=0)).max())
        after = int(1.25 * fps) + 1
        want = np.array([path_of().pose(t)[0] for t in trajectory.times[after:]])
        assert trajectory.position[after:, 0] == pytest.approx(want, abs=1e-9)
    assert jumps[2] < 0.6 * jumps[0] and jumps[3] < max(0.6 * jumps[1], 1e-6)


def test_released_while_gliding_flies_on_as_it_glided():
    trajectory = bake([[0.0, 0.5], [1.0, 1.25]], 40, blend=1.0)
    step = np.diff(trajectory.position[:, 0], axis=0) * FPS
    # From step to step only gravity changes the velocity; the glide's own change is of second order.
    assert np.abs(step[30] - step[29] - [0, 0, -GRAVITY / FPS]).max() < 0.7


def test_taken_back_it_hits_others_as_a_moving_collider():
    # A paddle that floats free beside the ball is taken back and sweeps through at 2 m/s: it takes the ball along.
    t = np.linspace(0.0, 2.0, 97)
    path = MotionPath(t, np.column_stack([-2 + 2 * t, 0 * t, 0 * t]), np.tile([0, 0, 0, 1.0], (97, 1)))
    scene = Scene(gravity=(0, 0, 0))
    scene.add(Body("Paddle", [Box((0.1, 0.5, 0.5))], position=(-2, 0, 0), path=path, held=[[0.25, 9]], mass=1e-3))
    scene.add(Body("Ball", [Sphere(0.1)], mass=1.0))
    trajectory = simulate(scene, 44, FPS, CPU)
    assert trajectory.position[6:, 0] == pytest.approx(
        np.column_stack([-2 + 2 * trajectory.times, *[0 * trajectory.times] * 2])[6:]
    )
    assert trajectory.linear_velocity[-1, 1, 0] == pytest.approx(2.0, abs=0.01)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"held": [[0.5, 0.2]]}, "held does not increase: 0.5 s is followed by 0.2 s"),
        ({"held": [[0.0, 1.0], [0.5, 2.0]]}, "held does not increase: 1 s is followed by 0.5 s"),
        ({"held": [[0.0, 1.0]], "path": None}, "only a dynamic body with a path"),
        ({"held": [0.0, 1.0]}, "held"),
        ({"blend_time": -1.0}, "blend_time"),
    ],
)
def test_what_cannot_be_is_named(changes, words):
    scene = Scene()
    scene.add(Body("Ball", [Sphere(0.1)], **{"path": path_of(), **changes}))
    with pytest.raises(SceneError, match=f"Ball.*{words}"):
        simulate(scene, 1)


def test_scene_file_keeps_it(tmp_path):
    scene = Scene()
    scene.add(Body("Ball", [Sphere(0.1)], path=path_of(), held=[[0, 1], [2, 3]], blend_time=0.5))
    scene.save(tmp_path / "scene.npz")
    kept = Scene.load(tmp_path / "scene.npz").bodies[0]
    assert np.array_equal(kept.held, [[0, 1], [2, 3]]) and kept.blend_time == 0.5
