# SPDX-License-Identifier: GPL-3.0-or-later
"""Compliance, dampers and gains from soft to stiff: no energy is lost that nobody set, and nothing rings."""

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure
from scenes import GRAVITY

CPU = SolverConfig(device="cpu")
SLOW, FAST = CPU.tolerances()
MASS = 2.0


def body(scene, name="Mass", **options):
    return scene.add(Body(name, [Box((0.1, 0.1, 0.1))], mass=MASS, collision_mask=0, **options))


@pytest.mark.parametrize("kind", ["fixed", "distance"])
@pytest.mark.parametrize("fps", [24, 60])
def test_compliant_joint_swings_for_ever(kind, fps):
    # m x'' = -x / c: the mean coordinate of a step keeps the energy and turns the phase by 2 atan(w h / 2) a step.  The
    # force at the end of the step instead leaves (1 + w^2 h^2 / 2)^(-1 / 2) of the amplitude a step: nothing in 10 s.
    compliance, speed, seconds = 0.02, 0.5, 10
    scene = Scene(gravity=(0, 0, 0))
    body(scene, linear_velocity=(speed, 0, 0))
    place = {"anchors": ((-2.0, 0, 0), (0, 0, 0))} if kind == "distance" else {}
    scene.add(Joint("Soft", kind, None, "Mass", compliance=compliance, **place))
    trajectory = simulate(scene, seconds * fps, fps, CPU)
    omega, h = np.sqrt(1.0 / (MASS * compliance)), 1.0 / fps
    x, v = trajectory.position[:, 0, 0], trajectory.linear_velocity[:, 0, 0]
    energy = 0.5 * MASS * v**2 + 0.5 * x**2 / compliance
    name = f"{kind} joint of 0.02 m/N at {fps} fps"
    off = np.abs(energy / energy[0] - 1.0).max()
    assert figure(name, "energy off, 10 s", off, 2e-3) < 2e-3
    phase = 2.0 * np.arctan(0.5 * omega * h) / h
    off = np.abs(x - speed / omega * np.sin(phase * trajectory.times)).max()
    bound = seconds * fps * SLOW  # the tolerance of every step
    assert figure(name, "off the mid-step law, 10 s", off, bound, "m") < bound


@pytest.mark.parametrize("compliance", [1e-9, 1e-6, 1e-5])
def test_stiff_compliance_does_not_ring(compliance):
    # w h of 940 to 9 at 24 fps: no step can follow the vibration.  A blow along the rod is taken up at once, as a rigid
    # rod does; the swing goes on, and no energy comes from anywhere.
    scene = Scene()
    place = np.array([0.6, 0.0, -0.8])
    along, across = place, np.array([-0.8, 0.0, -0.6])
    scene.add(Body("Mass", [Sphere(0.02)], mass=MASS, position=place, linear_velocity=0.3 * along + across))
    scene.add(Joint("Rod", "distance", None, "Mass", anchors=((0, 0, 0), place), compliance=compliance))
    trajectory = simulate(scene, 120, config=CPU)
    x, v = trajectory.position[:, 0], trajectory.linear_velocity[:, 0]
    length = np.linalg.norm(x, axis=1)
    radial = np.einsum("ti,ti->t", x, v) / length
    energy = MASS * (0.5 * (v * v).sum(axis=1) + GRAVITY * x[:, 2])
    scale = energy[0] + MASS * GRAVITY - 0.5 * MASS * 0.3**2
    gain = (energy - energy[0]).max() / scale
    name = f"rod of {compliance:g} m/N"
    assert figure(name, "speed along it after a blow of 0.3 m/s", np.abs(radial[2:]).max(), 1e-3, "m/s") < 1e-3
    # its own stretch: no more than the greatest pull, m g + m v^2, times the compliance
    pull = MASS * (GRAVITY + (v * v).sum(axis=1).max())
    stretch = np.abs(length[3:] - 1.0).max()
    assert figure(name, "stretch", stretch, pull * compliance + FAST, "m") < pull * compliance + FAST
    assert figure(name, "energy gained, of the swing's", gain, 1e-3) < 1e-3
    late = energy[72:].mean() - (energy[0] - 0.5 * MASS * 0.3**2)
    assert abs(figure(name, "energy of the swing off after 3 s", late / scale, 0.01)) < 0.01


@pytest.mark.parametrize(("method", "fps"), [("proximal", 24), ("proximal", 96), ("schur", 24)])
def test_elastic_rope_catches_a_fall_at_its_depth(method, fps):
    # Slack for 0.5 m, then a spring that only pulls: m g (0.5 + x) = x^2 / 2c at its lowest, and up again.  The step in
    # which it becomes taut begins slack, by v h at most: that much of a spring's energy, (v h)^2 / 2c, may be off.
    compliance, drop = 0.02, 0.5
    scene, step = Scene(), 1.0 / fps
    body(scene, position=(0, 0, -drop))
    scene.add(
        Joint("Rope", "rope", None, "Mass", anchors=((0, 0, 0), (0, 0, -drop)), length=1.0, compliance=compliance)
    )
    trajectory = simulate(scene, fps, fps, SolverConfig(device="cpu", method=method))
    weight, place = MASS * GRAVITY, trajectory.position[:, 0, 2]
    deepest = weight * compliance + np.sqrt((weight * compliance) ** 2 + 2.0 * compliance * weight * drop)
    rate = np.sqrt(2.0 * GRAVITY * drop)
    bound = (rate * step) ** 2 / (2.0 * deepest) + GRAVITY * step**2 / 8.0  # and it may be lowest between two frames
    name = f"elastic rope at {fps} fps, {method}"
    assert abs(figure(name, "deepest stretch off its law", -place.min() - 1.0 - deepest, bound, "m")) < bound
    slack = trajectory.times < np.sqrt(2.0 * drop / GRAVITY) - step
    off = np.abs(place + drop + 0.5 * GRAVITY * trajectory.times**2)[slack].max()
    assert figure(name, "off free fall while slack", off, 1e-9, "m") < 1e-9
    assert place[-1] > place.min() + 0.5  # it does bring it up
    assert all(report.converged for report in trajectory.reports)


LAWS = {
    "damper": {},
    "velocity drive": {"drive": "velocity"},
    "position drive": {"drive": "position", "stiffness": 1e-6},
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("damping", "fps"), [(4.0, 24), (100.0, 24), (1e4, 24), (1e5, 1000)])
def test_damper_slows_exponentially_however_stiff(law, damping, fps):
    # m v' = -d v: v = v0 exp(-d t / m), exactly; the mean velocity alone gives ((1 - d h / 2m) / (1 + d h / 2m))^n,
    # which changes its sign every step where the damper is stiff.
    scene = Scene(gravity=(0, 0, 0))
    body(scene, linear_velocity=(1.0, 0, 0))
    scene.add(Joint("Rail", "slider", None, "Mass", axes={"x": Axis(damping=damping, **LAWS[law])}))
    trajectory = simulate(scene, 12, fps, CPU)
    speed = trajectory.linear_velocity[:, 0, 0]
    off = np.abs(speed - np.exp(-damping / MASS * trajectory.times)).max()
    name = f"{law} of {damping:g} N s/m at {fps} fps"
    assert figure(name, "speed off exp(-d t / m)", off, 1e-6, "m/s") < 1e-6
