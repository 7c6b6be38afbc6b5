# SPDX-License-Identifier: GPL-3.0-or-later
"""method="schur" on whole scenes: every frame converges by the judge, and keeps the laws the default method keeps."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Joint, Scene, SolverConfig, Sphere, simulate
from scenes import GRAVITY, downhill, falling, hanging_mass, motor_hinge, pendulum, slope, stack

SCHUR = SolverConfig(device="cpu", method="schur")
SLOW, FAST = SCHUR.tolerances()
STEP = 1.0 / 24.0


def run(scene, frames, config=SCHUR):
    """The trajectory, every frame of which converged."""
    trajectory = simulate(scene, frames, config=config)
    missed = [report.frame for report in trajectory.reports if not report.converged]
    assert not missed, f"frames {missed} missed the tolerance"
    return trajectory


def test_free_fall_needs_no_solve():
    # Free motion is exact: z = z_0 - g t^2 / 2.
    trajectory = run(falling(height=10.0), 24)
    assert trajectory.position[:, 0, 2] == pytest.approx(10.0 - 0.5 * GRAVITY * trajectory.times**2, abs=1e-9)
    assert all(report.newton_iterations == 0 for report in trajectory.reports)


def test_hanging_mass_stays():
    trajectory = run(hanging_mass(), 24)
    assert np.abs(trajectory.position - trajectory.position[0]).max() < SLOW


def test_pendulum_swings_as_by_the_default_method():
    # Both solve the same equations of each step to FAST: after n steps within n of it, and of its slope in time.
    n = 24
    both = [run(pendulum(), n, config).position[:, 0] for config in (SCHUR, SolverConfig(device="cpu"))]
    assert np.abs(both[0] - both[1]).max() < n * FAST
    assert np.abs(np.linalg.norm(both[0], axis=1) - 1.0).max() < FAST  # on its circle


def test_box_sticks_on_a_slope_two_degrees_below_the_limit():
    angle = np.arctan(0.5) - np.radians(2.0)
    trajectory = run(slope(angle), 48)
    assert np.abs(trajectory.position - trajectory.position[0]).max() < 1e-4
    assert np.linalg.norm(trajectory.linear_velocity[-1, 1]) < 1e-5


def test_box_slides_two_degrees_above_the_limit_by_the_discrete_law():
    # v_k = a k h, and the pose moves with the end velocity: s_n = a h^2 n (n + 1) / 2, a = g (sin - mu cos).
    angle, n = np.arctan(0.5) + np.radians(2.0), 36
    trajectory = run(slope(angle), n)
    way = trajectory.position[-1, 1] - trajectory.position[0, 1]
    acceleration = GRAVITY * (np.sin(angle) - 0.5 * np.cos(angle))
    assert way @ downhill(angle) == pytest.approx(acceleration * STEP**2 * n * (n + 1) / 2, abs=n * FAST)


@pytest.mark.parametrize("heavier", [1.0, 10.0])
def test_stack_of_three_stands(heavier):
    # each contact may be off by the tolerance, and three boxes stand on each other
    trajectory = run(stack(3, heavier=heavier), 24)
    assert np.abs(trajectory.position - trajectory.position[0]).max() < 3 * SLOW + SLOW


def test_heavy_box_on_a_light_one_sinks_in_no_deeper_than_the_tolerance():
    trajectory = run(stack(2, heavier=1000.0), 24)
    assert max(report.penetration for report in trajectory.reports) < SLOW


@pytest.mark.parametrize("torque", [np.inf, 0.2])
def test_hinge_motor_drives_with_its_torque(torque):
    # w = target at once, or torque t / I: 1/12 m (0.6^2 + 0.6^2) about the hinge of a plate of 2 kg.
    trajectory = run(motor_hinge(2.0, torque), 12)
    inertia = 2.0 / 12.0 * (0.6**2 + 0.6**2)
    want = np.minimum(2.0, torque * trajectory.times[1:] / inertia)
    # a residual of FAST in the motor's row, or in the momentum about the axis, is a change of speed of FAST / h a step
    room = FAST / STEP * np.arange(1, 13)
    assert np.all(np.abs(trajectory.angular_velocity[1:, 0, 1] - want) < room)


def test_a_limit_holds_a_weight():
    # A ball on a slider along z falls 0.1 m and rests on the limit: it ends there, and the joint carries its weight.
    scene = Scene()
    scene.add(Body("Weight", [Sphere(0.1)], mass=3.0))
    scene.add(Joint("Rail", "generic", None, "Weight", (0, 0, 0), axes={
        **{axis: Axis(locked=True) for axis in ("x", "y", "rx", "ry", "rz")}, "z": Axis(lower=-0.1),
    }))  # fmt: skip
    trajectory = run(scene, 24)
    assert trajectory.position[:, 0, 2].min() > -0.1 - FAST
    assert trajectory.position[-1, 0, 2] == pytest.approx(-0.1, abs=SLOW)
    assert np.abs(trajectory.linear_velocity[-1]).max() < SLOW / STEP


def test_a_ball_rebounds_with_its_restitution():
    # Dropped by 0.4 m: the next apex is e^2 0.4 m, read from height and speed after the impact.
    scene = stack(0)
    scene.bodies[0].restitution = 0.5
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.5), restitution=0.5, mass=1.0))
    trajectory = run(scene, 12)
    height, speed = trajectory.position[:, 1, 2] - 0.1, trajectory.linear_velocity[:, 1, 2]
    hit = int(np.argmax(speed > 0.0))
    apex = height[hit] + speed[hit] ** 2 / (2.0 * GRAVITY)
    # heights are known to the tolerance, speeds to tolerance / h
    assert apex == pytest.approx(0.25 * 0.4, abs=FAST * (1.0 + speed[hit] / STEP / GRAVITY))


def test_two_runs_give_the_same_bits():
    first, second = (simulate(stack(2), 6, config=SCHUR) for _ in range(2))
    assert np.array_equal(first.position, second.position)
    assert np.array_equal(first.linear_velocity, second.linear_velocity)
