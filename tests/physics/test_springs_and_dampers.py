# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs that vibrate faster than a frame follows lose what dampers take from them, and keep what those do not."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Joint, Scene, SolverConfig, Sphere, simulate
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from figures import figure

CPU = SolverConfig(device="cpu")
FPS, FRAMES = 24, 12
WEIGHED = {"slider": ("x", (0.5, 0.0, 0.0), 1.0, 0.1), "hinge": ("rz", (0.0, 0.0, 0.5), 0.1, 0.3)}
"""Kind -> axis, from one body to the next [m], moment of a kilogram [m^2 or 1], what the spring is strained by."""


def ball(scene, name, mass, inertia, position, **motion):
    shape = {"mass": mass, "inertia": np.eye(3) * inertia, "collision_mask": 0}
    return scene.add(Body(name, [Sphere(0.1)], position=position, **shape, **motion))


def kinetic(scene, trajectory):
    """(F + 1,) kinetic energy [J] of balls."""
    linear, angular = ((v * v).sum(axis=2) for v in (trajectory.linear_velocity, trajectory.angular_velocity))
    mass, inertia = np.array([b.mass for b in scene.bodies]), np.array([b.inertia[0, 0] for b in scene.bodies])
    return 0.5 * (linear @ mass + angular @ inertia)


def chain(kind, masses, turn, ratio):
    """(scene, mass (N,), stiffness, damping) of bodies in a line: a damper before the last but one, a spring after it.

    turn: omega h of the last two on the spring; ratio: damping in parts of 2 omega m.
    """
    axis, apart, each, rest = WEIGHED[kind]
    mass = each * np.array(masses)
    reduced, omega = mass[-1] * mass[-2] / (mass[-1] + mass[-2]), turn * FPS
    stiffness, damping = reduced * omega**2, 2.0 * ratio * reduced * omega
    scene, names = Scene(gravity=(0, 0, 0)), [f"Body {i}" for i in range(len(masses))]
    for i, name in enumerate(names):
        ball(scene, name, masses[i], 0.1 * masses[i], np.array(apart) * i)
    first = names[-3] if len(names) > 2 else None
    between = np.array(apart) * (len(names) - 1.5)
    scene.add(Joint("Damper", kind, first, names[-2], between - apart, axes={axis: Axis(damping=damping)}))
    spring = Axis(stiffness=stiffness, rest=rest)
    scene.add(Joint("Spring", kind, names[-2], names[-1], between, axes={axis: spring}))
    return scene, mass, stiffness, damping


def strains(kind, trajectory):
    """(F + 1,) strain of the spring between the last two."""
    _, apart, _, rest = WEIGHED[kind]
    if kind == "slider":
        return trajectory.position[:, -1, 0] - trajectory.position[:, -2, 0] - apart[0] - rest
    one, other = (2.0 * np.arctan2(q[:, 2], q[:, 3]) for q in np.moveaxis(trajectory.orientation, 1, 0)[-2:])
    return (other - one - rest + np.pi) % (2.0 * np.pi) - np.pi


def exact_energies(mass, stiffness, damping, rest):
    """(F + 1,) energy of the chain, by 2^14 steps of the implicit midpoint rule in a frame."""
    mass, n = np.array([1e12, *mass]) if len(mass) == 2 else mass, 3
    spring, damper = np.array([0.0, -1.0, 1.0]), np.array([-1.0, 1.0, 0.0])
    rate = np.zeros((2 * n, 2 * n))
    rate[:n, n:], rate[n:, :n] = np.eye(n), -stiffness * np.outer(spring, spring) / mass[:, None]
    rate[n:, n:] = -damping * np.outer(damper, damper) / mass[:, None]
    rate /= FPS * 2.0**15
    step = np.linalg.matrix_power(np.linalg.solve(np.eye(2 * n) - rate, np.eye(2 * n) + rate), 2**14)
    state, out = np.array([0.0, 0.0, -rest, 0.0, 0.0, 0.0]), []
    for _ in range(FRAMES + 1):
        out.append(0.5 * (mass * state[n:] ** 2).sum() + 0.5 * stiffness * (spring @ state[:n]) ** 2)
        state = step @ state
    return np.array(out)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("turn", [3.0, 10.0, 30.0])
@pytest.mark.parametrize(
    ("kind", "masses"),
    [("slider", (0.5, 1.0)), ("slider", (0.05, 1.0)), ("slider", (10.0, 1.0)), ("hinge", (2.0, 0.5, 1.0))],
)
def test_a_damper_takes_its_part_of_a_spring_beside_it(kind, masses, turn, ratio):
    # M x'' + D x' + K x = 0, where the damper acts between other bodies than the spring.  By the mean coordinate, a
    # spring pulls with 1 / (omega h) of its force, which dampers hardly feel: 99 % was left where nothing should be.
    scene, mass, stiffness, damping = chain(kind, masses, turn, ratio)
    trajectory = simulate(scene, FRAMES, FPS, CPU)
    assert all(report.converged for report in trajectory.reports)
    energy = kinetic(scene, trajectory) + 0.5 * stiffness * strains(kind, trajectory) ** 2
    truth = exact_energies(mass, stiffness, damping, WEIGHED[kind][3])
    off, name = (energy - truth) / truth[0], f"{kind} of {masses} kg, omega h {turn:g}, damper {ratio:g}"
    bound = 0.2 if ratio else 2e-3
    assert figure(name, "energy too much, of that at the start", off.max(), bound) < bound
    assert figure(name, "energy too little, of that at the start", off.min(), -bound) > -bound
    assert (np.diff(energy) < 1e-3 * truth[0]).all()
    if len(masses) > 2:
        spin = np.einsum("fb,b->f", trajectory.angular_velocity[..., 2], mass)
        assert np.abs(spin).max() < 1e-6 * np.sqrt(truth[0] * mass.max())


def test_limbs_on_a_spring_and_a_damper():
    # Free limbs on ball joints, the spring and the damper about axes that differ: 768 frames a second are the law.  At
    # 24, 40 of 56 J were left after a quarter of a second, where the law leaves 0.5.
    def left(fps):
        scene = Scene(gravity=(0, 0, 0))
        for i, mass in enumerate((1.2, 1.2, 0.9)):
            ball(scene, f"Limb {i}", mass, 0.03, (0.4 * i, 0.1 * (i % 2), 0.0))
        about = {"rx": Axis(stiffness=5000.0, rest=0.15)}
        scene.add(Joint("Spring", "ball", "Limb 0", "Limb 1", (0.2, 0.05, 0.1), axes=about))
        scene.add(Joint("Damper", "ball", "Limb 1", "Limb 2", (0.6, 0.1, 0.0), axes={"rx": Axis(damping=20.0)}))
        trajectory = simulate(scene, fps // 4, fps, CPU)
        frames = body_frames(scene)
        table, energy = JointTable(scene, frames), kinetic(scene, trajectory)
        for f in range(len(energy)):
            position, orientation = frames.to_solver(trajectory.position[f], trajectory.orientation[f])
            table.observe(position, orientation, np.zeros((len(position), 6)))
            spring = table.springs
            energy[f] += 0.5 * (5000.0 * (table.start.place[spring] - 0.15) ** 2).sum()
        return energy

    energy, truth = left(24), left(768)[::32]
    off = (energy - truth) / truth[0]
    assert figure("limbs", "energy off that of 768 fps", np.abs(off).max(), 0.15) < 0.15
    assert energy[0] == pytest.approx(0.5 * 5000.0 * 0.15**2) and truth[-1] < 0.5 * truth[0]
    assert (np.diff(energy) < 1e-3 * energy[0]).all()
