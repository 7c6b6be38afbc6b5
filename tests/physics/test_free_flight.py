# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that touch nothing: the parabola, terminal velocity, and spins, exact at any step."""

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, SolverConfig, Sphere, simulate
from scenes import GRAVITY, falling
from test_impacts import momenta

CPU = SolverConfig(device="cpu")


@pytest.mark.parametrize("fps", [24.0, 10.0])
@pytest.mark.parametrize("shape", [Sphere(0.1), Box((0.5, 0.1, 0.2), position=(1.0, 0, 0))])
def test_fall_is_the_exact_parabola(shape, fps):
    # The pose moves with the mean of the velocities before and after: no error of h at all.
    scene = falling(shape, height=100.0)
    scene.bodies[0].linear_velocity = (1.0, 2.0, 3.0)
    trajectory = simulate(scene, 24, fps, CPU)
    t = trajectory.times[:, None]
    want = (0, 0, 100.0) + t * (1.0, 2.0, 3.0) - 0.5 * GRAVITY * t**2 * (0, 0, 1)
    assert trajectory.position[:, 0] == pytest.approx(want, abs=1e-11)
    assert trajectory.reports[-1].newton_iterations == 0
    energy = np.array([r.kinetic_energy + r.potential_energy for r in trajectory.reports])
    assert energy == pytest.approx(np.full(24, energy[0]), rel=1e-12)


def test_damped_fall_ends_at_g_over_d():
    scene = falling(height=0.0)
    scene.bodies[0].linear_damping = 5.0
    trajectory = simulate(scene, 96, config=CPU)
    t = trajectory.times
    assert trajectory.linear_velocity[:, 0, 2] == pytest.approx(-GRAVITY / 5.0 * -np.expm1(-5.0 * t), abs=1e-12)


def test_spinning_body_keeps_momentum_and_energy():
    # No force, no torque: momentum to rounding; energy to the square of the rotation's sub-step, 0.1 rad.
    scene = Scene(gravity=(0, 0, 0))
    scene.add(
        Body("Book", [Box((0.1, 0.2, 0.3))], angular_velocity=(0.1, 10.0, 0.1), linear_velocity=(1, 0, 0), mass=2.0)
    )
    trajectory = simulate(scene, 96, config=CPU)
    momentum = momenta(scene, trajectory)
    assert np.abs(momentum - momentum[0]).max() < 1e-12
    energy = np.array([report.kinetic_energy for report in trajectory.reports])
    assert np.abs(energy / energy[0] - 1.0).max() < 0.1**2
    assert trajectory.angular_velocity[:, 0, 1].min() < 0 or np.abs(trajectory.angular_velocity[:, 0]).max() > 10.0


def test_gravity_may_point_anywhere():
    scene = falling(height=0.0)
    scene.gravity = np.array([1.0, -2.0, 0.5])
    trajectory = simulate(scene, 24, config=CPU)
    assert trajectory.position[-1, 0] == pytest.approx([0.5, -1.0, 0.25], abs=1e-12)
