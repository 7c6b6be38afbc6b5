# SPDX-License-Identifier: GPL-3.0-or-later
"""Every law an axis can have, on each of the six axes of a generic joint, against its closed form.

The other five axes are locked, so a body on it has one freedom s with mass or moment of inertia m, and no gravity.
"""

import numpy as np
import pytest
from axion.solver import Axis, Body, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure

CPU = SolverConfig(device="cpu")
SLOW, FAST = CPU.tolerances()
STEP = 1.0 / 24.0
FRAMES = 36
AXES = ("x", "y", "z", "rx", "ry", "rz")
INERTIA = np.array([2.0, 2.0, 2.0, 0.3, 0.5, 0.8])  # of each axis: mass [kg], then moments [kg m^2]
RAMP = ([0.0, 0.5, 1.0], [0.0, 0.4, 0.4])  # a target that moves, and then stays


def motion(axis_of, speed):
    """(way (F + 1, 6), rate (F + 1, 6)) along the axis of each of six bodies that start with ``speed``.

    axis_of: function of the axis' inertia -> Axis.
    """
    scene = Scene(gravity=(0, 0, 0))
    for i, name in enumerate(AXES):
        start = np.zeros(6)
        start[i] = speed
        scene.add(
            Body(name, [Sphere(0.1)], position=(0, 2.0 * i, 0), mass=INERTIA[0], inertia=np.diag(INERTIA[3:]),
                 linear_velocity=start[:3], angular_velocity=start[3:], collision_mask=0)
        )  # fmt: skip
        axes = {other: Axis(locked=True) for other in AXES if other != name}
        axes[name] = axis_of(INERTIA[i])
        scene.add(Joint(name, "generic", None, name, (0, 2.0 * i, 0), axes=axes))
    trajectory = simulate(scene, FRAMES, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    way = trajectory.position - trajectory.position[0]
    angle = 2.0 * np.unwrap(np.arctan2(trajectory.orientation[..., :3], trajectory.orientation[..., 3:]), axis=0)
    diagonal = np.arange(3)
    return (
        np.hstack([way[:, diagonal, diagonal], angle[:, diagonal + 3, diagonal]]),
        np.hstack([
            trajectory.linear_velocity[:, diagonal, diagonal], trajectory.angular_velocity[:, diagonal + 3, diagonal],
        ]),
    )  # fmt: skip


TIMES = np.arange(FRAMES + 1)[:, None] * STEP


def check(name, got, want, bound, unit):
    off = np.abs(got - want).max(axis=0)
    for axis, each in zip(AXES, off, strict=True):
        figure(f"{name} on {axis}", "off its law", each, bound, unit)
    assert off.max() < bound


def test_spring_swings_by_the_mid_step_formula_on_every_axis():
    # m s'' = -25 m s: each step turns the phase by 2 atan(w h / 2), w = 5 / s.
    way, _ = motion(lambda m: Axis(stiffness=25.0 * m), 1.0)
    phase = 2.0 * np.arctan(0.5 * 5.0 * STEP) / STEP
    check("spring", way, np.sin(phase * TIMES) / 5.0, FRAMES * SLOW, "m or rad")


def test_damper_slows_exponentially_on_every_axis():
    # m s'' = -2 m s'.
    _, rate = motion(lambda m: Axis(damping=2.0 * m), 1.0)
    check("damper", rate, np.exp(-2.0 * TIMES), 1e-6, "m/s or rad/s")


def test_dry_friction_brakes_and_holds_on_every_axis():
    # s' = 1 - t until it stands.
    _, rate = motion(lambda m: Axis(friction=m), 1.0)
    check("friction", rate, np.maximum(0.0, 1.0 - TIMES), SLOW / STEP, "m/s or rad/s")


def test_rigid_position_drive_follows_its_moving_target_on_every_axis():
    way, rate = motion(lambda m: Axis(drive="position", target=RAMP), 0.0)
    check("position drive", way, np.interp(TIMES, *RAMP), FAST, "m or rad")
    assert np.abs(rate[26:]).max() < FAST / STEP


def test_soft_position_drive_lags_behind_a_moving_target_on_every_axis():
    # m s'' = k (T - s) + d (T' - s') with k = w^2 m, d = 2 w m and T = V t: e = T - s has e'' + 2 w e' + w^2 e = 0 with
    # e(0) = 0, e'(0) = V, so e = V t exp(-w t): of first order in w h at steps this long.
    omega, speed = 4.0, 0.4
    target = ([0.0, 10.0], [0.0, 10.0 * speed])

    def drive(m):
        return Axis(drive="position", stiffness=omega**2 * m, damping=2.0 * omega * m, target=target)

    way, rate = motion(drive, 0.0)
    behind = speed * TIMES * np.exp(-omega * TIMES)
    check("soft position drive", way, speed * TIMES - behind, omega * STEP * behind.max(), "m or rad")
    assert np.abs(rate[-1] / speed - 1.0).max() < omega * TIMES[-1, 0] * np.exp(-omega * TIMES[-1, 0])


def test_rigid_velocity_drive_follows_its_moving_target_on_every_axis():
    # 0.8 m/s^2, then steady; the target may be that of any time in the step.
    way, rate = motion(lambda m: Axis(drive="velocity", target=RAMP), 0.0)
    want = np.interp(TIMES, *RAMP)
    check("velocity drive", rate, want, 0.8 * STEP + FAST / STEP, "m/s or rad/s")
    assert np.abs(rate[13:] - 0.4).max() < FAST / STEP
    assert way[-1] == pytest.approx(np.full(6, 0.1 + 0.4 * 1.0), abs=0.4 * STEP)


@pytest.mark.parametrize(("drive", "stiffness"), [("position", 0.0), ("position", 1e6), ("velocity", 0.0)])
def test_weak_drive_pushes_with_its_maximum_force_on_every_axis(drive, stiffness):
    # A target out of reach, force 0.5 m: s' = t / 2, s = t^2 / 4.
    way, rate = motion(lambda m: Axis(drive=drive, stiffness=stiffness, target=100.0, max_force=0.5 * m), 0.0)
    check(f"weak {drive} drive", rate, 0.5 * TIMES, SLOW / STEP, "m/s or rad/s")
    check(f"weak {drive} drive, way", way, 0.25 * TIMES**2, FAST, "m or rad")


def test_rigid_position_drive_arrives_as_fast_as_its_force_allows_on_every_axis():
    # 0.4 to go with 1 / s^2: half of the way faster and faster, the other half slower and slower; then it stands.
    way, rate = motion(lambda m: Axis(drive="position", target=0.4, max_force=m), 0.0)
    half = np.sqrt(0.4)
    left = np.maximum(2.0 * half - TIMES, 0.0)
    want = np.where(half > TIMES, 0.5 * TIMES**2, 0.4 - 0.5 * left**2)
    check("position drive within its force", way, want, STEP**2, "m or rad")
    assert np.abs(rate[32:]).max() < SLOW / STEP and np.abs(way[32:] - 0.4).max() < SLOW


@pytest.mark.parametrize("reach", [1.2, 3.0])
def test_an_arm_with_a_load_comes_to_rest_where_it_is_driven(reach):
    # From hanging to 60 degrees, with ``reach`` times the torque that holds it there: it brakes for the load, too.
    scene = Scene(gravity=(0, 0, -9.81))
    scene.add(Body("Arm", [Sphere(0.05)], position=(0, 0, -0.5), mass=1.0, collision_mask=0))
    scene.add(Body("Load", [Sphere(0.1)], position=(0, 0, -1.0), mass=3.0, collision_mask=0))
    target = np.radians(60.0)
    most = reach * (0.5 + 3.0) * 9.81 * np.sin(target)
    drive = {"rx": Axis(drive="position", target=target, max_force=most)}
    locked = {name: Axis(locked=True) for name in AXES if name != "rx"}
    scene.add(Joint("Shoulder", "generic", None, "Arm", (0, 0, 0), axes=locked | drive))
    scene.add(Joint("Grip", "fixed", "Arm", "Load", (0, 0, -1.0)))
    trajectory = simulate(scene, 144, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    angle = 2.0 * np.arctan2(trajectory.orientation[:, 0, 0], trajectory.orientation[:, 0, 3])
    off = np.abs(angle[-24:] - target).max()
    assert figure(f"arm driven with {reach} times the torque", "off its target after 5 s", off, SLOW, "rad") < SLOW


def test_limit_stops_on_every_axis():
    # 1 m/s or rad/s to 0.5: there after 0.5 s, and at rest.
    way, rate = motion(lambda m: Axis(lower=-1.0, upper=0.5), 1.0)
    check("limit", way, np.minimum(TIMES, 0.5), FAST + STEP, "m or rad")
    assert way.max() < 0.5 + FAST
    assert np.abs(rate[14:]).max() < FAST / STEP


def test_free_axis_keeps_its_speed():
    way, rate = motion(lambda m: Axis(), 1.0)
    check("free axis", rate, 1.0 + 0.0 * TIMES, 1e-6, "m/s or rad/s")
    assert np.abs(way - TIMES).max() < FAST
