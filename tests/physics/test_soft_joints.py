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


def spring_steps(stiffness, damping, h, start, count):
    """(count + 1, 2) way and speed of y'' + damping y' + stiffness y = 0 from ``start``, step by step of h.

    The law of the solver's steps (solver/reference/springs.py), written once more here: one force for the way, one for
    the velocity at the end, each weighed between both ends of the step.  damping > 0.
    """
    x, square = h * damping, h * h * stiffness

    def fitted(decay):
        return 1.0 / -np.expm1(-decay) - 1.0 / decay

    mean = -np.expm1(-x) / x
    root = np.sqrt(max(x * x - 4.0 * square, 0.0))
    fast = 0.5 * (x + root)
    slow = square / fast if root else fast
    end_spring, way_damper = 1.0 - np.exp(-x) * (1.0 - mean) / (x * mean**2), 1.0 / (1.0 - mean) - 2.0 / x
    way_spring = fitted(slow) + (end_spring - fitted(0.5 * x)) * slow / fast
    states = [start]
    for _ in range(count):
        y, v = states[-1]
        way = (v - 0.5 * (h * stiffness * y + x * (1.0 - way_damper) * v)) / (
            1.0 + 0.5 * (square * way_spring + x * way_damper)
        )
        end = y + h * way
        pull = h * stiffness * ((1.0 - end_spring) * y + end_spring * end)
        states.append((end, (v - pull - x * (1.0 - fitted(x)) * v) / (1.0 + x * fitted(x))))
    return np.array(states)


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


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["proximal", "schur"])
@pytest.mark.parametrize(("damping", "fps"), [(4.0, 24), (100.0, 24), (1e4, 24), (1e9, 24), (1e5, 1000)])
def test_damper_lets_a_body_go_as_far_as_the_exponential(law, method, damping, fps):
    # x = v0 m / d (1 - exp(-d t / m)).  The mean of the velocities at both ends of a step, however right they are, lets
    # a body through a stiff damper by v0 h / 2: 0.21 m here.  Each step may be off by the tolerance of what is at rest.
    scene, speed = Scene(gravity=(0, 0, 0)), 10.0
    body(scene, linear_velocity=(speed, 0, 0))
    scene.add(Joint("Rail", "slider", None, "Mass", axes={"x": Axis(damping=damping, **LAWS[law])}))
    trajectory = simulate(scene, 12, fps, SolverConfig(device="cpu", method=method))
    want = speed * MASS / damping * -np.expm1(-damping / MASS * trajectory.times)
    off = np.abs(trajectory.position[:, 0, 0] - want).max()
    name = f"{law} of {damping:g} N s/m at {fps} fps, {method}"
    assert figure(name, "way off v0 m / d (1 - exp(-d t / m))", off, SLOW, "m") < SLOW
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("damping", [100.0, 1e9])
def test_weight_sinks_on_a_stiff_damper_at_its_terminal_speed(damping):
    # m v' = m g - d v: the way of the damper must be right where a constant force drives it, too.
    scene = Scene(gravity=(GRAVITY, 0, 0))
    body(scene)
    scene.add(Joint("Rail", "slider", None, "Mass", axes={"x": Axis(damping=damping)}))
    trajectory = simulate(scene, 48, config=CPU)
    terminal, time = MASS * GRAVITY / damping, MASS / damping
    want = terminal * (trajectory.times + time * np.expm1(-trajectory.times / time))
    off = np.abs(trajectory.position[:, 0, 0] - want).max()
    assert figure(f"weight on {damping:g} N s/m", "way off its law, 2 s", off, SLOW, "m") < SLOW


@pytest.mark.parametrize("drive", ["position", None])
@pytest.mark.parametrize(("ratio", "fps"), [(1.0, 24), (1.5, 24), (5.0, 24), (5.0, 96), (50.0, 24), (1.0, 240)])
def test_spring_with_much_damping_comes_to_its_target_without_ringing(drive, ratio, fps):
    # m x'' + d x' + k (x - 1) = 0 from rest, w = sqrt(k / m) = 1000 / s: what step by step the mean coordinate alone
    # threw to 1.02, 1.5, 0.72, ...  x never passes its target, nor turns back on its way.  Where a step sees neither
    # decay (w h = 42), or only the slow one, it is near the exact one; at w h = 4.2 second order is not small.  The law
    # of the steps themselves it keeps to the tolerance.
    stiffness = MASS * 1e6
    damping = 2.0 * ratio * np.sqrt(stiffness * MASS)
    law = {"drive": drive, "target": 1.0} if drive else {"rest": 1.0}
    scene = Scene(gravity=(0, 0, 0))
    body(scene)
    scene.add(Joint("Rail", "slider", None, "Mass", axes={"x": Axis(stiffness=stiffness, damping=damping, **law)}))
    trajectory = simulate(scene, fps, fps, CPU)
    place, name = trajectory.position[:, 0, 0], f"{drive or 'spring'}, {ratio:g} times critical, {fps} fps"
    fast, slow = 1000.0 * (ratio + np.sqrt(ratio**2 - 1.0)), 1000.0 / (ratio + np.sqrt(ratio**2 - 1.0))
    t = trajectory.times
    if ratio > 1.0:
        want = 1.0 - (fast * np.exp(-slow * t) - slow * np.exp(-fast * t)) / (fast - slow)
    else:
        want = 1.0 - (1.0 + 1000.0 * t) * np.exp(-1000.0 * t)
    beyond, bound = place.max() - 1.0, 0.06 if fps < 240 else 0.3
    assert figure(name, "beyond the target", beyond, SLOW, "m") < SLOW
    assert np.diff(place).min() > -SLOW
    assert figure(name, "off the exact solution", np.abs(place - want).max(), bound, "m") < bound
    law = spring_steps(stiffness / MASS, damping / MASS, 1.0 / fps, (-1.0, 0.0), fps)
    off = np.abs(place - 1.0 - law[:, 0]).max()
    assert figure(name, "off the law of its steps", off, SLOW, "m") < SLOW
    off = np.abs(trajectory.linear_velocity[:, 0, 0] - law[:, 1]).max()
    assert figure(name, "speed off the law of its steps", off, SLOW * 1000.0, "m/s") < SLOW * 1000.0
    assert all(report.converged for report in trajectory.reports)


@pytest.mark.parametrize("fps", [24, 96])
def test_spring_with_little_damping_rings_at_its_own_rate(fps):
    # exp(-d t / 2 m) of its energy's root, exactly, also where a step sees a part of the swing: w h = 1.04 at 24 fps.
    stiffness, damping, seconds = 1250.0, 6.0, 2.0
    scene = Scene(gravity=(0, 0, 0))
    body(scene, linear_velocity=(1.0, 0, 0))
    scene.add(Joint("Rail", "slider", None, "Mass", axes={"x": Axis(stiffness=stiffness, damping=damping)}))
    trajectory = simulate(scene, round(seconds * fps), fps, CPU)
    x, v = trajectory.position[:, 0, 0], trajectory.linear_velocity[:, 0, 0]
    # two steps of the linear map: the wedge of (x, v) with its successor falls by its determinant
    wedge = np.abs(x[:-1] * v[1:] - x[1:] * v[:-1])
    left = wedge[-1] / wedge[0] / np.exp(-damping / MASS * (len(wedge) - 1) / fps)
    bound = 0.02  # the tolerance of a step, of an amplitude that has fallen to 2 mm
    name = f"ringing spring at {fps} fps"
    assert figure(name, "what its damper leaves, over exp(-d t / m)", left, f"1 +- {bound}") == pytest.approx(
        1.0, abs=bound
    )


@pytest.mark.parametrize("damping", [5.0, 20.0, 1e3, 1e9])
def test_damper_of_a_door_knows_all_of_it(damping):
    # I w' = -d w about the edge, I = m (a^2 + b^2) / 3 + m a^2: three quarters of it come with the way of the middle,
    # which the hinge enforces.  What a step's chord costs: (w h)^2 / 12 of the angle.
    half, speed, moment = 0.5, 4.0, MASS * ((0.5**2 + 0.05**2) / 3.0 + 0.5**2)
    scene = Scene(gravity=(0, 0, 0))
    scene.add(
        Body("Door", [Box((half, 0.05, 1.0))], mass=MASS, position=(half, 0, 0), angular_velocity=(0, 0, speed),
             linear_velocity=(0, speed * half, 0), collision_mask=0)
    )  # fmt: skip
    scene.add(Joint("Hinge", "hinge", None, "Door", (0, 0, 0), axes={"rz": Axis(damping=damping)}))
    trajectory = simulate(scene, 24, config=CPU)
    angle = np.arctan2(trajectory.position[:, 0, 1], trajectory.position[:, 0, 0])
    want = speed * moment / damping * -np.expm1(-damping / moment * trajectory.times)
    bound = want[-1] * (speed / 24.0) ** 2 / 12.0 + SLOW
    name = f"door with a damper of {damping:g} N m s"
    assert figure(name, "angle off its law, 1 s", np.abs(angle - want).max(), bound, "rad") < bound
