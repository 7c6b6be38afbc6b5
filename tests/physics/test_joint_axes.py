# SPDX-License-Identifier: GPL-3.0-or-later
"""Every law an axis can have, on each of the six axes of a generic joint, against its closed form.

The other five axes are locked, so a body on it has one freedom s with mass or moment of inertia m, and no gravity.
"""

import numpy as np
import pytest
from axion.solver import Axis, Body, Joint, Scene, SolverConfig, Sphere, simulate
from figures import figure
from test_soft_joints import spring_steps

CPU = SolverConfig(device="cpu")
SLOW, FAST = CPU.tolerances()
STEP = 1.0 / 24.0
FRAMES = 36
AXES = ("x", "y", "z", "rx", "ry", "rz")
INERTIA = np.array([2.0, 2.0, 2.0, 0.3, 0.5, 0.8])  # of each axis: mass [kg], then moments [kg m^2]
SWING = 5.0  # [1/s] w of the springs with dampers
RATIOS = [0.1, 0.5, 1.0, 2.0]  # of their damping to the critical one
RAMP = ([0.0, 0.5, 1.0], [0.0, 0.4, 0.4])  # a target that moves, and then stays


def motion(axis_of, speed, config=CPU):
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
    trajectory = simulate(scene, FRAMES, config=config)
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
    off = np.abs(got - want).max()
    assert got.shape[1] == len(AXES)
    assert figure(name, "off its law, worst of six axes", off, bound, unit) < bound


def test_spring_swings_by_the_mid_step_formula_on_every_axis():
    # m s'' = -25 m s: each step turns the phase by 2 atan(w h / 2), w = 5 / s.
    way, _ = motion(lambda m: Axis(stiffness=25.0 * m), 1.0)
    phase = 2.0 * np.arctan(0.5 * 5.0 * STEP) / STEP
    check("spring", way, np.sin(phase * TIMES) / 5.0, FRAMES * SLOW, "m or rad")


def test_damper_slows_exponentially_on_every_axis():
    # m s'' = -2 m s'.
    _, rate = motion(lambda m: Axis(damping=2.0 * m), 1.0)
    check("damper", rate, np.exp(-2.0 * TIMES), 1e-6, "m/s or rad/s")


@pytest.mark.parametrize("ratio", RATIOS)
def test_damped_spring_swings_by_the_law_of_its_steps_on_every_axis(ratio):
    # m s'' + 2 ratio w m s' + w^2 m s = 0, from a swing to a spring that only creeps back.
    stiffness, damping = SWING**2, 2.0 * ratio * SWING
    way, rate = motion(lambda m: Axis(stiffness=stiffness * m, damping=damping * m), 1.0)
    law, name = (
        spring_steps(stiffness, damping, STEP, (0.0, 1.0), FRAMES),
        f"spring of {ratio:g} times critical damping",
    )
    check(name, way, law[:, :1], 1e-6, "m or rad")
    check(f"{name}, speed", rate, law[:, 1:], 1e-6, "m/s or rad/s")


@pytest.mark.parametrize("ratio", [0.1, 1.0])
def test_damped_spring_nears_its_closed_form_with_the_square_of_the_step_on_every_axis(ratio):
    # s = exp(-r t) sin(u t) / u with r = ratio w, u^2 = w^2 - r^2: sinh where that is negative, t where it is zero.
    # From 8 to 16 steps a frame the next order of r h = 0.05 is left.
    rate, square = ratio * SWING, SWING**2 * (1.0 - ratio**2)
    root = np.sqrt(complex(square))
    want = np.exp(-rate * TIMES) * (np.sin(root * TIMES) / root).real if square else TIMES * np.exp(-rate * TIMES)
    error = []
    for substeps in (8, 16):
        config = SolverConfig(device="cpu", substeps=substeps, tolerance=1e-9)
        way, _ = motion(lambda m: Axis(stiffness=SWING**2 * m, damping=2.0 * rate * m), 1.0, config)
        error.append(np.abs(way - want).max(axis=0))
    order = np.log2(error[0] / error[1])
    name, worst = f"spring of {ratio:g} times critical damping", order[np.abs(order - 2.0).argmax()]
    assert figure(name, "order of convergence, worst of six axes", worst, "2 +- 0.1") == pytest.approx(2.0, abs=0.1)
    assert error[1].max() < (SWING * STEP / 16.0) ** 2 / SWING


@pytest.mark.parametrize("damping", [2.0, 30.0])
def test_velocity_drive_with_a_gain_closes_in_exponentially_on_every_axis(damping):
    # m s'' = d m (0.7 - s') from -0.3: s' = 0.7 - exp(-d t).
    way, rate = motion(lambda m: Axis(drive="velocity", damping=damping * m, target=0.7), -0.3)
    name = f"velocity drive with a gain of {damping:g} m"
    check(name, rate, 0.7 - np.exp(-damping * TIMES), 1e-6, "m/s or rad/s")
    check(f"{name}, way", way, 0.7 * TIMES + np.expm1(-damping * TIMES) / damping, 1e-6, "m or rad")


@pytest.mark.parametrize("damping", [2.0, 30.0])
def test_velocity_drive_with_a_gain_lags_behind_its_moving_target_on_every_axis(damping):
    # A step closes in on the target of its end, s'+ = T+ + exp(-d h) (s' - T+); with T = a t the exact one is
    # s' = a t - a / d (1 - exp(-d t)), at most a h ahead or behind.
    _, rate = motion(lambda m: Axis(drive="velocity", damping=damping * m, target=RAMP), 0.0)
    law = [0.0]
    for target in np.interp(TIMES[1:, 0], *RAMP):
        law.append(target + np.exp(-damping * STEP) * (law[-1] - target))
    check(f"velocity drive with a gain of {damping:g} m and a moving target", rate, np.array(law)[:, None], 1e-6,
          "m/s or rad/s")  # fmt: skip
    rising = TIMES[:, 0] <= 0.5
    want = 0.8 * (TIMES[rising] + np.expm1(-damping * TIMES[rising]) / damping)
    assert np.abs(rate[rising] - want).max() < 0.8 * STEP


def test_velocity_drive_with_a_gain_keeps_within_its_force_on_every_axis():
    # m s'' = min(2 m, 4 m (1 - s')): s' = 2 t until it is 1/2, on a frame, then 1 - exp(-4 (t - 1/4)) / 2.
    _, rate = motion(lambda m: Axis(drive="velocity", damping=4.0 * m, target=1.0, max_force=2.0 * m), 0.0)
    want = np.where(TIMES < 0.25, 2.0 * TIMES, 1.0 - 0.5 * np.exp(-4.0 * (TIMES - 0.25)))
    check("velocity drive with a gain within its force", rate, want, 1e-6, "m/s or rad/s")


def test_dry_friction_brakes_and_holds_on_every_axis():
    # s' = 1 - t until it stands.
    _, rate = motion(lambda m: Axis(friction=m), 1.0)
    check("friction", rate, np.maximum(0.0, 1.0 - TIMES), SLOW / STEP, "m/s or rad/s")


@pytest.mark.parametrize("push", [0.99, 1.01, 1.5])
def test_dry_friction_holds_below_its_force_and_slides_above_on_every_axis(push):
    # A motor that pushes with ``push`` times the friction, m: rest, or s'' = push - 1.
    way, rate = motion(lambda m: Axis(drive="velocity", target=100.0, max_force=push * m, friction=m), 0.0)
    name, slides = f"friction pushed with {push:g} times its force", max(push - 1.0, 0.0)
    check(name, rate, slides * TIMES, 1e-6, "m/s or rad/s")
    check(f"{name}, way", way, 0.5 * slides * TIMES**2, 1e-6, "m or rad")


@pytest.mark.parametrize("push", [0.5, 1.5])
def test_dry_friction_turns_over_with_the_motion_on_every_axis(push):
    # Against a motor: s'' = push + 1 until it stands, on a frame; then it stays, or slides the other way at push - 1.
    speed, slides = 0.5 * (push + 1.0), max(push - 1.0, 0.0)
    _, rate = motion(lambda m: Axis(drive="velocity", target=100.0, max_force=push * m, friction=m), -speed)
    want = np.where(TIMES < 0.5, (push + 1.0) * (TIMES - 0.5), slides * (TIMES - 0.5))
    check(f"friction that turns over under {push:g} times its force", rate, want, 1e-6, "m/s or rad/s")


def test_rigid_position_drive_follows_its_moving_target_on_every_axis():
    way, rate = motion(lambda m: Axis(drive="position", target=RAMP), 0.0)
    check("position drive", way, np.interp(TIMES, *RAMP), FAST, "m or rad")
    assert np.abs(rate[26:]).max() < FAST / STEP


def test_soft_position_drive_lags_behind_a_moving_target_on_every_axis():
    # m s'' = k (T - s) + d (T' - s') with k = w^2 m, d = 2 w m and T = V t: e = T - s has e'' + 2 w e' + w^2 e = 0 with
    # e(0) = 0, e'(0) = V, so e = V t exp(-w t): of first order in w h at steps this long.  The law of the steps holds
    # for e.
    omega, speed = 4.0, 0.4
    target = ([0.0, 10.0], [0.0, 10.0 * speed])

    def drive(m):
        return Axis(drive="position", stiffness=omega**2 * m, damping=2.0 * omega * m, target=target)

    way, rate = motion(drive, 0.0)
    behind = speed * TIMES * np.exp(-omega * TIMES)
    check("soft position drive", way, speed * TIMES - behind, omega * STEP * behind.max(), "m or rad")
    law = spring_steps(omega**2, 2.0 * omega, STEP, (0.0, -speed), FRAMES)
    check("soft position drive, by steps", way, speed * TIMES + law[:, :1], 1e-6, "m or rad")
    assert np.abs(rate[-1] / speed - 1.0).max() < omega * TIMES[-1, 0] * np.exp(-omega * TIMES[-1, 0])


def test_rigid_velocity_drive_follows_its_moving_target_on_every_axis():
    # 0.8 m/s^2, then steady: the target is that of the end of a step.
    way, rate = motion(lambda m: Axis(drive="velocity", target=RAMP), 0.0)
    want = np.interp(TIMES, *RAMP)
    check("velocity drive", rate, want, FAST / STEP, "m/s or rad/s")
    assert np.abs(rate[13:] - 0.4).max() < FAST / STEP
    assert way[-1] == pytest.approx(np.full(6, 0.1 + 0.4 * 1.0), abs=0.4 * STEP)


@pytest.mark.parametrize(("drive", "stiffness"), [("position", 0.0), ("position", 1e6), ("velocity", 0.0)])
def test_weak_drive_pushes_with_its_maximum_force_on_every_axis(drive, stiffness):
    # A target out of reach, force 0.5 m: s' = t / 2, s = t^2 / 4.
    way, rate = motion(lambda m: Axis(drive=drive, stiffness=stiffness, target=100.0, max_force=0.5 * m), 0.0)
    name = f"weak {'soft' if stiffness else 'rigid'} {drive} drive"
    check(name, rate, 0.5 * TIMES, SLOW / STEP, "m/s or rad/s")
    check(f"{name}, way", way, 0.25 * TIMES**2, FAST, "m or rad")


def test_rigid_position_drive_arrives_as_fast_as_its_force_allows_on_every_axis():
    # 0.4 to go with 1 / s^2: half of the way faster and faster, the other half slower and slower; then it stands.
    way, rate = motion(lambda m: Axis(drive="position", target=0.4, max_force=m), 0.0)
    half = np.sqrt(0.4)
    left = np.maximum(2.0 * half - TIMES, 0.0)
    want = np.where(half > TIMES, 0.5 * TIMES**2, 0.4 - 0.5 * left**2)
    check("position drive within its force", way, want, STEP**2, "m or rad")
    assert np.abs(rate[32:]).max() < SLOW / STEP and np.abs(way[32:] - 0.4).max() < SLOW


def test_rigid_position_drive_catches_up_with_its_target_as_fast_as_its_force_allows_on_every_axis():
    # T = 0.4 t and 1 / s^2: it is as fast as its target after 0.4 s, and 0.08 behind; faster for half of that, then
    # slower for the other half, it is there after 0.4 + 2 sqrt(0.08) s, and stays.
    target = ([0.0, 10.0], [0.0, 4.0])
    way, rate = motion(lambda m: Axis(drive="position", target=target, max_force=m), 0.0)
    half = np.sqrt(0.08)
    left = np.maximum(0.4 + 2.0 * half - TIMES, 0.0)
    want = np.where(left > half, 0.5 * TIMES**2, 0.4 * TIMES - 0.5 * left**2)
    check("position drive after its moving target within its force", way, want, STEP**2, "m or rad")
    assert np.abs(rate[24:] - 0.4).max() < SLOW / STEP and np.abs(way[24:] - 0.4 * TIMES[24:]).max() < SLOW


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
    # 1 m/s or rad/s to 0.5: there after 0.5 s, on a frame, and at rest.
    way, rate = motion(lambda m: Axis(lower=-1.0, upper=0.5), 1.0)
    check("limit", way, np.minimum(TIMES, 0.5), FAST, "m or rad")
    assert way.max() < 0.5 + FAST
    assert np.abs(rate[14:]).max() < FAST / STEP


def test_free_axis_keeps_its_speed():
    way, rate = motion(lambda m: Axis(), 1.0)
    check("free axis", rate, 1.0 + 0.0 * TIMES, 1e-6, "m/s or rad/s")
    assert np.abs(way - TIMES).max() < FAST
