# SPDX-License-Identifier: GPL-3.0-or-later
"""Stiff springs whose damper takes hardly anything give no energy, however far what they hold turns in a frame."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure


def ball(scene, name, mass, inertia, **options):
    shape = {"mass": mass, "inertia": np.eye(3) * inertia, "collision_mask": 0}
    return scene.add(Body(name, [Sphere(0.1)], **shape, **options))


def kinetic(scene, trajectory):
    """(F + 1,) kinetic energy [J] of balls."""
    linear, angular = ((v * v).sum(axis=2) for v in (trajectory.linear_velocity, trajectory.angular_velocity))
    mass, inertia = np.array([b.mass for b in scene.bodies]), np.array([b.inertia[0, 0] for b in scene.bodies])
    return 0.5 * (linear @ mass + angular @ inertia)


@pytest.mark.parametrize(("spin", "apart"), [(1.0, 3.0), (3.0, 0.5), (6.0, 0.5), (6.0, 3.0)])
@pytest.mark.parametrize("damping", [0.01, 1.0])
def test_a_spring_with_hardly_any_damper_gives_no_energy(spin, apart, damping):
    # What spins about each other on a stiff spring across has no way to gain any.  The velocity phase took what is left
    # to do from the coordinate of the start, off by h k / 2 of what turning far makes of it, and from an impulse that
    # is known to h k times the tolerance: 5 to 15 % too much.
    stiffness, scene = 16000.0, Scene(gravity=(0, 0, 0))
    ball(scene, "One", 2.0, 0.05, angular_velocity=(0, spin, 0.3))
    motion = {"linear_velocity": (0, 0, -spin * apart), "angular_velocity": (0, 0.5 * spin, 0.3)}
    ball(scene, "Other", 4.0, 0.1, position=(apart, 0, 0), **motion)
    free, held = {"x": Axis()}, dict.fromkeys(("y", "rx", "rz"), Axis(locked=True))
    across = {"z": Axis(stiffness=stiffness, damping=damping)}
    scene.add(Joint("Joint", "generic", "One", "Other", (0.5 * apart, 0, 0), axes=free | held | across))
    trajectory = simulate(scene, 96, 24, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    energy, name = kinetic(scene, trajectory), f"{spin:g} rad/s, {apart:g} m, {damping:g} N s/m"
    gain = energy[1:].max() / energy[0] - 1.0
    assert figure(name, "kinetic energy gained", gain, 2e-3) < 2e-3
    assert figure(name, "kinetic energy left after 4 s", energy[-1] / energy[0], "> 0.985") > 0.985
