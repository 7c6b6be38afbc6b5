# SPDX-License-Identifier: GPL-3.0-or-later
"""Strings and nets whose springs vibrate too fast for a step: across them, their tension keeps them swinging."""

import numpy as np
import pytest
from axion.solver import Body, Box, Cylinder, Joint, MotionPath, Scene, SolverConfig, Sphere, simulate
from axion.solver.rotations import exponential
from figures import figure
from scenes import turned

FPS, HALF = 24, 1.0


def string(kind, period, strain, amplitude, seconds):
    """(Trajectory, (F,) energy beyond that of the straight string, (F,) way aside by its law [m]) of a mass of 1 kg
    between two springs of HALF a metre, let go aside; period: [s] of small swings; strain: rest length, of that.
    """
    tension = 0.5 * HALF * (2.0 * np.pi / period) ** 2
    stiffness, rest = tension / (HALF * (1.0 - strain)), strain * HALF
    scene, place = Scene(gravity=(0, 0, 0)), (0.0, 0.0, amplitude)
    scene.add(Body("Mass", [Sphere(0.05)], position=place, mass=1.0))
    for side in (-HALF, HALF):
        anchors = (side, 0.0, 0.0), place
        scene.add(Joint(f"{side}", kind, None, "Mass", anchors=anchors, length=rest, compliance=1.0 / stiffness))
    trajectory = simulate(scene, round(seconds * FPS), FPS, SolverConfig(device="cpu"))
    place, velocity = trajectory.position[:, 0], trajectory.linear_velocity[:, 0]
    stretch = np.array([np.linalg.norm(place - (side, 0, 0), axis=1) for side in (-HALF, HALF)]) - rest
    energy = 0.5 * (velocity**2).sum(axis=1) + 0.5 * stiffness * (stretch**2).sum(axis=0)

    def pull(z):
        length = np.hypot(HALF, z)
        return -2.0 * stiffness * (length - rest) * z / length

    z, v, h, law = amplitude, 0.0, 0.005 / FPS, [amplitude]
    for _ in trajectory.times[1:]:
        for _ in range(200):
            v += 0.5 * h * pull(z)
            z += h * v
            v += 0.5 * h * pull(z)
        law.append(z)
    return trajectory, energy - stiffness * (HALF - rest) ** 2, np.array(law)


@pytest.mark.parametrize("kind", ["distance", "rope"])
@pytest.mark.parametrize(("period", "strain", "amplitude"), [(0.25, 0.9, 0.05), (0.5, 0.99, 0.05), (0.25, 0.9, 0.2)])
def test_a_plucked_string_swings_on(kind, period, strain, amplitude):
    # m z'' = -2 T z / l, with T = k (l - l0): along the string 1.2 to 1.9 steps a period, which none follow; across it
    # 5 and more.  While the velocity phase took both springs as rigid, two of them at an angle held all velocity.
    trajectory, energy, law = string(kind, period, strain, amplitude, 4.0)
    z, last = trajectory.position[:, 0, 2], round(2.0 * period * FPS)
    name = f"{kind} plucked by {amplitude} m, {period} s, {strain} of its length"
    assert all(report.converged and report.substeps == 1 for report in trajectory.reports)
    kept = energy[-last:].max() / energy[0]
    assert figure(name, "energy lost in 4 s, of the swing's", 1.0 - kept, 0.05) < 0.05
    assert figure(name, "energy gained", energy.max() / energy[0] - 1.0, 1e-3) < 1e-3
    reach = np.abs(z[-last:]).max() / np.abs(law).max()
    assert figure(name, "reach aside short of the law, of it", 1.0 - reach, 0.15) < 0.15  # its ends fall between frames


def net_energy(trajectory, joints, mass):
    """(F,) of bodies of one mass, without weight; joints: tuples of both ends, stiffness [N/m] and rest length [m]."""
    out = 0.5 * mass * (trajectory.linear_velocity**2).sum(axis=(1, 2))
    for *ends, stiffness, rest in joints:
        a, b = (trajectory.position[:, trajectory.index(e)] if isinstance(e, str) else e for e in ends)
        out = out + 0.5 * stiffness * (np.linalg.norm(a - b, axis=1) - rest) ** 2
    return out


@pytest.mark.parametrize("substeps", ["auto", 4])
def test_a_string_of_many_keeps_its_energy(substeps):
    # Seven masses in a row, let go in the shape of their lowest mode.  Along it (omega h)^2 = k h^2 / m is 200.
    mass, link, count, strain = 0.1, 0.25, 8, 0.95
    stiffness = 200.0 * mass * FPS**2
    scene, joints = Scene(gravity=(0, 0, 0)), []
    places = [np.array((link * i, 0.0, 0.1 * np.sin(np.pi * i / count))) for i in range(count + 1)]
    for i in range(1, count):
        scene.add(Body(f"{i}", [Sphere(0.03)], position=places[i], mass=mass, collision_mask=0))
    for i in range(count):
        a, b = None if i == 0 else f"{i}", None if i == count - 1 else f"{i + 1}"
        anchors = places[i], places[i + 1]
        scene.add(Joint(f"j{i}", "distance", a, b, anchors=anchors, length=strain * link, compliance=1.0 / stiffness))
        joints.append((anchors[0] if a is None else a, anchors[1] if b is None else b, stiffness, strain * link))
    trajectory = simulate(scene, 3 * FPS, FPS, SolverConfig(device="cpu", substeps=substeps))
    energy = net_energy(trajectory, joints, mass) - 0.5 * count * stiffness * ((1.0 - strain) * link) ** 2
    kept = energy[-FPS:].max() / energy[0]
    assert figure(f"string of eight, substeps {substeps}", "energy lost in 3 s", 1.0 - kept, 0.05) < 0.05
    assert energy.max() < 1.001 * energy[0]
    assert all(report.converged for report in trajectory.reports)


def trampoline(substeps, seconds=1.0):
    """z (F,) of a ball of 2 kg that falls by 0.3 m on to a node of 0.05 kg in the cross of four springs."""
    scene, side, stiffness = Scene(), 0.2, 2000.0
    scene.add(Body("Node", [Sphere(0.08)], mass=0.05, inertia=1e-4 * np.eye(3), friction=0.0, collision_mask=2))
    for x, y in ((side, 0), (-side, 0), (0, side), (0, -side)):
        anchors = (x, y, 0.0), (0.0, 0.0, 0.0)
        scene.add(
            Joint(f"{x}{y}", "distance", None, "Node", anchors=anchors, length=0.9 * side, compliance=1.0 / stiffness)
        )
    scene.add(Body("Ball", [Sphere(0.15)], position=(0, 0, 0.53), mass=2.0, friction=0.0, collision_group=2))
    trajectory = simulate(scene, round(seconds * FPS), FPS, SolverConfig(device="cpu", substeps=substeps))
    return trajectory.position[:, trajectory.index("Ball"), 2]


def test_a_ball_bounces_on_stiff_springs():
    # Nothing takes energy but the hit of the node, 1 / 41 of it.  The ball came up to 0.21 m, where the net holds it at
    # rest, while springs that give way stood still across as well.
    law = trampoline(32)[9:].max()
    short = law - trampoline(4)[9:].max()
    assert law > 0.5
    name = "ball on four springs, 4 substeps"
    assert figure(name, "height of its bounce short of the law", short, 0.03, "m") < 0.03
    assert trampoline("auto")[9:].max() > 0.3


def bounce(substeps, off):
    """z (F,), beyond that of the first touch, of a ball of 2 kg that falls by 0.47 m on to a net of 4 x 4 nodes of
    0.05 kg: at ``off`` [m] aside on one node, in the middle on four at once.
    """
    scene, side, stiffness, count = Scene(), 0.2, 2000.0, 4
    radius, inner = 0.12 if off else 0.25, range(count)
    place = {(i, j): (side * (i - 1.5), side * (j - 1.5), 0.0) for i in range(-1, 5) for j in range(-1, 5)}
    name = {key: f"{key}" if set(key) <= set(inner) else None for key in place}
    for key in place:
        if name[key]:
            scene.add(
                Body(
                    name[key], [Sphere(0.05)], position=place[key], mass=0.05, inertia=1e-4 * np.eye(3), friction=0.0,
                    collision_mask=2,
                )
            )  # fmt: skip
    for i, j in place:
        for other in ((i + 1, j), (i, j + 1)):
            if other in place and (name[i, j] or name[other]):
                anchors = place[i, j], place[other]
                link = {"anchors": anchors, "length": 0.9 * side, "compliance": 1.0 / stiffness}
                scene.add(Joint(f"{i} {j} {other}", "distance", name[i, j], name[other], **link))
    touch = np.sqrt((radius + 0.05) ** 2 - 2.0 * (0.1 - off) ** 2)
    ball = Body("Ball", [Sphere(radius)], position=(off, off, touch + 0.47), mass=2.0, friction=0.0, collision_group=2)
    scene.add(ball)
    trajectory = simulate(scene, FPS, FPS, SolverConfig(device="cpu", substeps=substeps))
    assert all(report.converged for report in trajectory.reports)
    return trajectory.position[:, trajectory.index("Ball"), 2] - touch


@pytest.mark.parametrize("off", [0.1, 0.0], ids=["one node", "four nodes"])
def test_a_ball_bounces_on_a_net(off):
    # Sixteen steps a frame take it to 0.31 m on one node and 0.38 m on four.  Held by backward Euler as long as it
    # pressed, with all the net, the ball came up to -0.03 and -0.01 m, and with four steps a frame to 0.12 and 0.13 m.
    # At one step a frame it is 0.19 m; the step in which it lands is by backward Euler still.
    law = 0.30 if off else 0.38
    name = f"ball on {1 if off else 4} of sixteen nodes"
    short = law - bounce(4, off)[9:].max()
    assert figure(f"{name}, 4 substeps", "height of its bounce short of the law", short, 0.06, "m") < 0.06
    assert bounce("auto", off)[9:].max() > 0.15


def test_what_starts_strained_is_drawn_together_and_not_thrown():
    # Along itself a rope of (omega h)^2 = 1e6 is as rigid: too long by 2 cm, it closes that in a step and stays.
    scene, place = Scene(), (0.0, 0.0, -1.0)
    scene.add(Body("Mass", [Sphere(0.05)], position=place, mass=1.0))
    scene.add(Joint("Rope", "rope", None, "Mass", anchors=((0, 0, 0), place), length=0.98, compliance=1e-6 / FPS**2))
    trajectory = simulate(scene, 12, FPS, SolverConfig(device="cpu"))
    assert np.abs(trajectory.position[1:, 0] - (0, 0, -0.98)).max() < 1e-4
    assert np.abs(trajectory.linear_velocity[1:, 0]).max() < 1e-3


@pytest.mark.parametrize("compliance", [1e-9, 1e-6])
def test_a_wheel_keeps_its_spin_on_an_axle_that_gives_way(compliance):
    # A moment square to a free axle takes nothing from the spin about it, whatever leads the axle.
    rate, spin, seconds = 6.0, 20.0, 4.0
    times = np.linspace(0.0, seconds, round(96 * seconds) + 1)
    path = MotionPath(times, np.zeros((len(times), 3)), exponential(np.outer(rate * times, (0.0, 0.0, 1.0))))
    scene, axle = Scene(gravity=(0, 0, 0)), turned("y", 0.5 * np.pi)
    scene.add(Body("Hub", [Box((0.05,) * 3)], motion="kinematic", collision_mask=0, path=path))
    motion = {"linear_velocity": (0.0, rate, 0.0), "angular_velocity": (spin, 0.0, rate)}
    scene.add(
        Body("Wheel", [Cylinder(0.3, 0.05)], position=(1, 0, 0), orientation=axle, mass=2.0, collision_mask=0, **motion)
    )
    soft = {"compliance": compliance, "angular_compliance": compliance}
    scene.add(Joint("Axle", "hinge", "Hub", "Wheel", position=(1, 0, 0), orientation=axle, **soft))
    trajectory = simulate(scene, round(seconds * FPS), FPS, SolverConfig(device="cpu"))
    along = np.stack([np.cos(rate * trajectory.times), np.sin(rate * trajectory.times), 0.0 * trajectory.times], axis=1)
    off = np.abs((trajectory.angular_velocity[:, 1] * along).sum(axis=1) / spin - 1.0).max()
    assert figure(f"wheel led on an axle of {compliance:g} m/N", "spin off, 4 s", off, 1e-3) < 1e-3
