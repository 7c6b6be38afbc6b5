# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints in motion: they hold, swing at the right period, keep energy and momentum, follow their drives, and break."""

from dataclasses import replace

import numpy as np
import pytest
from axion.solver import Axis, Body, Box, Joint, Scene, SolverConfig, Sphere, simulate
from axion.solver.constraints.rows import JointTable
from axion.solver.frames import body_frames
from axion.solver.problem import Coordinate
from axion.solver.reference.rows import coordinates
from figures import figure
from scenes import (
    GRAVITY,
    chain,
    door,
    four_bar,
    four_bar_pins,
    hanging_mass,
    motor_hinge,
    motor_slider,
    pendulum,
    pendulum_period,
    turned,
)
from test_impacts import momenta

CPU = SolverConfig(device="cpu")
EXACT = SolverConfig(device="cpu", quality="final")
SLOW, FAST = CPU.tolerances()
STEP = 1.0 / 24.0


def pair(kind, gravity=(0, 0, -GRAVITY), hung=True, **options):
    """Two unequal boxes, the first hung on the world by a ball joint, the joint under test between them, turning."""
    scene = Scene(gravity=gravity)
    spin = (0, 0, 0) if hung else (1.0, 2.0, 3.0)
    scene.add(Body("A", [Box((0.3, 0.1, 0.1))], position=(0.3, 0, 0), mass=2.0, angular_velocity=spin))
    scene.add(Body("B", [Box((0.2, 0.1, 0.15))], position=(0.9, 0.1, 0), mass=1.0, angular_velocity=(1.0, 2.0, -1.0)))
    if hung:
        scene.add(Joint("Wall", "ball", None, "A", (0, 0, 0)))
    if kind in ("distance", "rope"):
        scene.add(Joint("Test", kind, "A", "B", anchors=((0.6, 0, 0), (0.8, 0.1, 0)), **options))
    else:
        scene.add(Joint("Test", kind, "A", "B", (0.6, 0, 0), turned("y", 0.3), **options))
    return scene


def errors(scene, trajectory):
    """Worst error of a joint in each frame, (F + 1,) [m] and (F + 1,) [rad], told from the poses alone.

    A joint's error is the norm over its locked rows: of a ball joint, the distance of its anchors.
    """
    frames = body_frames(scene)
    rows = JointTable(scene, frames).fixed
    angular = np.isin(rows.coordinate, (Coordinate.DOT, Coordinate.TWIST))
    out = []
    for position, orientation in zip(trajectory.position, trajectory.orientation, strict=True):
        x, q = frames.to_solver(position, orientation)
        c = np.abs(coordinates(rows, np.vstack([x, np.zeros(3)]), np.vstack([q, [0, 0, 0, 1.0]])))
        each = [[np.linalg.norm(c[kind & (rows.joint == k)]) for k in set(rows.joint)] for kind in (~angular, angular)]
        out.append((max(each[0]), max(each[1])))
    return np.array(out).T


@pytest.fixture(scope="module")
def swings():
    """Each joint kind swinging for 2 s at the finest quality."""
    kinds = ("fixed", "ball", "hinge", "slider", "piston", "distance")
    scenes = {kind: pair(kind) for kind in kinds}
    return {kind: (scene, simulate(scene, 48, config=EXACT)) for kind, scene in scenes.items()}


@pytest.mark.parametrize("kind", ["fixed", "ball", "hinge", "slider", "piston", "distance"])
def test_joint_holds_and_the_report_says_by_how_much(swings, kind):
    scene, trajectory = swings[kind]
    assert all(report.converged for report in trajectory.reports)
    metres, radians = errors(scene, trajectory)
    name = f"swinging pair on a {kind} joint, final quality"
    assert figure(name, "joint error, 2 s", metres.max(), 1e-5, "m") < 1e-5
    assert figure(name, "joint error in angle, 2 s", radians.max(), 1e-5, "rad") < 1e-5
    # a frame's report is the worst over its steps, the last of which ends at the keyframe
    told = np.array([(report.joint_error, report.joint_error_angle) for report in trajectory.reports])
    assert np.all(metres[1:] <= told[:, 0] + 1e-12) and np.all(radians[1:] <= told[:, 1] + 1e-9)
    single = np.array([report.substeps == 1 for report in trajectory.reports])
    assert single.any()
    assert told[single, 0] == pytest.approx(metres[1:][single], abs=1e-9)
    assert told[single, 1] == pytest.approx(radians[1:][single], abs=1e-9)


def test_errors_do_not_add_up(swings):
    # Position-level constraints: the error at the end is no larger than that of a step, not of 48.
    finest = EXACT.tolerances()[0]
    for kind, (scene, trajectory) in swings.items():
        late = errors(scene, trajectory)[0][24:].max()
        name = f"swinging pair on a {kind} joint, final quality"
        assert figure(name, "joint error in the last second", late, finest, "m") < finest


@pytest.mark.parametrize("kind", ["ball", "hinge", "fixed", "slider", "distance"])
def test_free_pair_keeps_momentum(kind):
    # Internal forces: linear momentum to the residual of the linear solver; angular momentum to the joint's position
    # error and m tolerance / h each step.
    scene = pair(kind, gravity=(0, 0, 0), hung=False)
    momentum = momenta(scene, simulate(scene, 48, config=EXACT))
    change = np.abs(momentum - momentum[0]).max(axis=0)
    name, bound = f"free pair on a {kind} joint, final quality", 48 * 3.0 * EXACT.tolerances()[0]
    assert figure(name, "linear momentum drift, 2 s", change[:3].max(), 1e-6, "N s") < 1e-6
    assert figure(name, "angular momentum drift, 2 s", change[3:].max(), bound, "N m s") < bound


def crossings(times, values):
    i = np.nonzero((values[:-1] > 0) != (values[1:] > 0))[0]
    return times[i] + (times[i + 1] - times[i]) * values[i] / (values[i] - values[i + 1])


def test_pendulum_keeps_its_period_and_its_amplitude():
    # Ten seconds at one step a frame.  Mid-step forces are of second order: the period is long by about (w h)^2 / 24.
    angle = 0.1
    trajectory = simulate(pendulum(angle=angle), 240, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    x = trajectory.position[:, 0, 0]
    period = 2.0 * np.mean(np.diff(crossings(trajectory.times, x)))
    want = pendulum_period() * (1.0 + angle**2 / 16.0)
    omega = 2.0 * np.pi / want
    bound = min(0.01, 2.0 * (omega * STEP) ** 2 / 12.0)
    name = "pendulum of 0.1 rad"
    ratio = figure(name, "period over its own", period / want, f"1 +- {bound:.2g}")
    assert ratio == pytest.approx(1.0, abs=bound)
    # amplitude from the energy: E = m g L (1 - cos A)
    energy = np.array([r.kinetic_energy + r.potential_energy for r in trajectory.reports]) + GRAVITY
    left = np.sqrt(energy[-1] / energy[0])
    assert figure(name, "amplitude left after 10 s, by its energy", left, "1 +- 0.01") == pytest.approx(1.0, abs=0.01)
    left = np.abs(x[-60:]).max() / np.sin(angle)
    assert figure(name, "amplitude left after 10 s", left, "1 +- 0.01") == pytest.approx(1.0, abs=0.01)


def test_joint_damping_lets_a_pendulum_die():
    # x'' + d x' + w^2 x = 0: the amplitude falls as exp(-d t / 2), here to exp(-1) in 4 s.
    trajectory = simulate(pendulum(angle=0.1), 96, config=replace(CPU, joint_damping=0.5))
    energy = np.array([r.kinetic_energy + r.potential_energy for r in trajectory.reports]) + GRAVITY
    assert np.all(np.diff(energy) < 1e-9)
    # within a swing the energy strays by d / (2 w) = 8 % from its mean decay, the root of it by half
    left = np.sqrt(energy[-1] / energy[0]) / np.exp(-0.25 * 95 / 24)
    name = "pendulum of 0.1 rad, joint_damping 0.5"
    assert figure(name, "amplitude left over exp(-d t / 2)", left, "1 +- 0.08") == pytest.approx(1.0, abs=0.08)


@pytest.mark.parametrize("fps", [24, 96])
def test_joint_damping_is_a_rate(fps):
    # A wheel on its hinge: w = w0 exp(-d t), whatever the step.
    scene = motor_hinge()
    scene.joints[0].axes.clear()
    scene.bodies[0].angular_velocity = np.array([0.0, 2.0, 0.0])
    trajectory = simulate(scene, 2 * fps, fps, replace(CPU, joint_damping=0.5))
    want = 2.0 * np.exp(-0.5 * trajectory.times)
    off = np.abs(trajectory.angular_velocity[:, 0, 1] / want - 1.0).max()
    assert figure(f"wheel, joint_damping 0.5, {fps} fps", "speed off exp(-d t), of itself", off, 1e-9) < 1e-9


@pytest.mark.parametrize("kind", ["ball", "hinge"])
def test_swinging_chain_converges_with_the_square_of_the_step(kind):
    # Mid-step joints and a velocity phase: error(h) / error(h / 2) is 4 where h is small enough.  Ways along
    # arcs are of a higher order than velocities (arcs.py), so that long steps converge faster yet.
    def end(substeps):
        config = SolverConfig(device="cpu", substeps=substeps, tolerance=1e-9)
        return simulate(chain(3, kind=kind, sideways=True), 6, config=config).position[-1]

    exact, error = end(48), {}
    for substeps in (3, 6, 12):
        error[substeps] = np.abs(end(substeps) - exact).max()
    # the comparison itself is off by error(h / 16), (h / 8) and (h / 4): 1.6 % and 7 % of the coarse ones
    for coarse in (3, 6):
        name, ratio = (
            f"swinging chain of {kind} joints, {coarse} and {2 * coarse} steps",
            error[coarse] / error[2 * coarse],
        )
        assert 3.4 < figure(name, "error(h) over error(h / 2)", ratio, "3.4 to 8") < 8.0
    assert figure(f"swinging chain of {kind} joints, 12 steps", "off the end", error[12], "1.5e-5", "m") < 1.5e-5


@pytest.mark.parametrize("speed", [2.0, -20.0])
def test_motor_hinge_reaches_its_speed_at_once(speed):
    # Rigid velocity drive, no limit: from the first step on.  20 rad/s is nearly one radian a step.
    trajectory = simulate(motor_hinge(speed), 24, config=CPU)
    off = np.abs(trajectory.angular_velocity[1:, 0, 1] - speed).max()
    name = f"motor hinge of {speed:g} rad/s"
    assert figure(name, "off its speed from the first step on", off, FAST / STEP, "rad/s") < FAST / STEP


def test_motor_slider_reaches_its_speed_at_once():
    trajectory = simulate(motor_slider(0.5), 24, config=CPU)
    name, off = "motor slider of 0.5 m/s", np.abs(trajectory.linear_velocity[1:, 0, 0] - 0.5).max()
    assert figure(name, "off its speed from the first step on", off, SLOW / STEP, "m/s") < SLOW / STEP
    off = abs(trajectory.position[-1, 0, 0] - 0.5)
    assert figure(name, "off its way after 1 s", off, 24 * SLOW, "m") < 24 * SLOW
    off = np.abs(trajectory.position[:, 0, 1:]).max()
    assert figure(name, "off its rail", off, SLOW, "m") < SLOW


def test_motor_pushes_no_harder_than_it_may():
    # Torque 0.1 N m on I = m (a^2 + c^2) / 3 of the wheel about Y; force 0.4 N on 2 kg.
    inertia = 2.0 / 3.0 * (0.3**2 + 0.3**2)
    wheel = simulate(motor_hinge(2.0, max_force=0.1), 24, config=CPU)
    off = np.abs(wheel.angular_velocity[:, 0, 1] - 0.1 / inertia * wheel.times).max()
    assert figure("weak motor hinge", "speed off M t / I", off, 1e-6, "rad/s") < 1e-6
    carriage = simulate(motor_slider(0.5, max_force=0.4), 48, config=CPU)
    off = np.abs(carriage.linear_velocity[:, 0, 0] - np.minimum(0.5, 0.2 * carriage.times)).max()
    assert figure("weak motor slider", "speed off F t / m", off, 1e-6, "m/s") < 1e-6


def test_position_drive_follows_its_target():
    target = ([0.0, 1.0, 2.0], [0.0, 0.6, 0.6])
    scene = motor_slider()
    scene.joints[0].axes["x"] = Axis(drive="position", target=target)
    trajectory = simulate(scene, 48, config=CPU)
    want = np.interp(trajectory.times, *target)
    name, off = "position drive on a slider", np.abs(trajectory.position[:, 0, 0] - want).max()
    assert figure(name, "off its moving target", off, FAST, "m") < FAST
    off = np.abs(trajectory.linear_velocity[30:, 0, 0]).max()
    assert figure(name, "speed once its target stands", off, FAST / STEP, "m/s") < FAST / STEP


def test_spring_and_damper_swing_as_the_equation_says():
    # m x'' + d x' + k x = 0 from x = 0 with v0, at 8 and 16 steps a frame: of second order in h.
    m, k, d, v0, error = 2.0, 50.0, 1.0, 1.0, {}
    for substeps in (8, 16):
        scene = Scene(gravity=(0, 0, 0))
        scene.add(Body("Mass", [Sphere(0.1)], mass=m, linear_velocity=(v0, 0, 0)))
        scene.add(Joint("Spring", "slider", None, "Mass", axes={"x": Axis(stiffness=k, damping=d)}))
        trajectory = simulate(scene, 24, config=SolverConfig(device="cpu", substeps=substeps, tolerance=1e-9))
        rate, omega = 0.5 * d / m, np.sqrt(k / m - (0.5 * d / m) ** 2)
        want = v0 / omega * np.exp(-rate * trajectory.times) * np.sin(omega * trajectory.times)
        error[substeps], bound = (
            np.abs(trajectory.position[:, 0, 0] - want).max(),
            (omega * STEP / substeps) ** 2 / omega,
        )
        name = f"spring and damper at {substeps} steps a frame"
        assert figure(name, "off its equation, 1 s", error[substeps], bound, "m") < bound
    ratio = figure("spring and damper", "error(h) over error(h / 2)", error[8] / error[16], "4 +- 0.3")
    assert ratio == pytest.approx(4.0, abs=0.3)


def test_limit_stops_a_door():
    # pi / 4 at 1 rad/s: there after 0.785 s, and no further.
    scene = door(open_speed=1.0, upper=np.pi / 4)
    trajectory = simulate(scene, 36, config=CPU)
    angle = 2.0 * np.arctan2(trajectory.orientation[:, 0, 2], trajectory.orientation[:, 0, 3])
    name, beyond = "door against its limit", angle.max() - np.pi / 4
    assert figure(name, "beyond it", beyond, FAST, "rad") < FAST
    off = abs(angle[-1] - np.pi / 4)
    assert figure(name, "off it at the end", off, FAST, "rad") < FAST
    off = abs(angle[12] - 0.5)
    assert figure(name, "off w t before it, 0.5 s", off, 1e-3, "rad") < 1e-3


def test_four_bar_stays_closed_and_its_crank_turns():
    scene = four_bar(speed=2.0)
    trajectory = simulate(scene, 48, config=CPU)
    assert all(report.converged for report in trajectory.reports)
    metres, _ = errors(scene, trajectory)
    assert figure("driven four-bar", "joint error, 2 s", metres.max(), FAST, "m") < FAST
    crank = 2.0 * np.unwrap(np.arctan2(trajectory.orientation[:, 0, 1], trajectory.orientation[:, 0, 3]))
    off = np.abs(crank - crank[0] - 2.0 * trajectory.times).max()
    assert figure("driven four-bar", "crank off w t, 2 s", off, 1e-3, "rad") < 1e-3
    # B, where crank and coupler meet, stays 0.2 m from A and the pins of the rocker 0.4 m apart
    pins = four_bar_pins()
    assert np.linalg.norm(pins[1] - pins[0]) == pytest.approx(0.2)


def test_rope_hangs_slack_and_then_holds():
    # Let go 0.5 m below its hook on a rope of 2 m: free fall for sqrt(2 1.5 / g) s, then at rest 2 m below.
    scene = Scene()
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, -0.5), mass=1.0))
    scene.add(Joint("Rope", "rope", None, "Ball", anchors=((0, 0, 0), (0, 0, -0.5)), length=2.0))
    trajectory = simulate(scene, 36, config=CPU)
    taut = np.sqrt(2.0 * 1.5 / GRAVITY)
    free = trajectory.times < taut - STEP
    fall = -0.5 - 0.5 * GRAVITY * trajectory.times**2
    off = np.abs(trajectory.position[free, 0, 2] - fall[free]).max()
    assert figure("rope of 2 m", "off free fall while slack", off, 1e-9, "m") < 1e-9
    beyond = -2.0 - trajectory.position[:, 0, 2].min()
    assert figure("rope of 2 m", "stretched by", beyond, FAST, "m") < FAST
    off = abs(trajectory.position[-1, 0, 2] + 2.0)
    assert figure("rope of 2 m", "off its length at the end", off, FAST, "m") < FAST


@pytest.mark.parametrize(("limit", "holds"), [(48.9, False), (49.2, True)])
def test_rod_breaks_at_the_weight_it_carries(limit, holds):
    # 5 kg hang with 49.05 N.
    scene = hanging_mass()
    scene.joints[0].break_force = limit
    trajectory = simulate(scene, 12, config=CPU)
    assert (trajectory.broken_joints == {}) == holds
    if holds:
        off = np.abs(trajectory.position[:, 0, 2] + 2.0).max()
        assert figure("rod that holds", "off its length", off, FAST, "m") < FAST
    else:
        assert list(trajectory.broken_joints) == ["Rod"]
        fall = -2.0 - 0.5 * GRAVITY * trajectory.times**2
        off = np.abs(trajectory.position[:, 0, 2] - fall).max()  # it broke in the first step
        assert figure("broken rod", "off free fall", off, 1e-9, "m") < 1e-9


@pytest.mark.parametrize(("torque", "force", "holds"), [(9.7, 1e9, False), (9.9, 19.7, True), (1e9, 19.5, False)])
def test_bracket_breaks_at_its_torque_or_its_force(torque, force, holds):
    # A beam of 2 kg and 1 m out of a wall: m g = 19.62 N, m g L / 2 = 9.81 N m.
    scene = Scene()
    scene.add(Body("Beam", [Box((0.5, 0.05, 0.05))], position=(0.5, 0, 0), mass=2.0))
    scene.add(Joint("Bracket", "fixed", None, "Beam", break_torque=torque, break_force=force))
    trajectory = simulate(scene, 6, config=CPU)
    assert (trajectory.broken_joints == {}) == holds
    name = f"bracket of {torque:g} N m and {force:g} N under 9.81 N m and 19.62 N"
    fall = np.zeros(7) if holds else -0.5 * GRAVITY * trajectory.times**2
    off = np.abs(trajectory.position[:, 0, 2] - fall).max()
    assert figure(name, "off its place" if holds else "off free fall", off, 1e-9, "m") < 1e-9


def stretched(joint_damping=0.0, linear_damping=0.0):
    """5 kg on a rod of 1e-3 m/N, at rest after 4 s; its height."""
    scene = hanging_mass()
    scene.joints[0].compliance = 1e-3
    scene.bodies[0].linear_damping = linear_damping
    trajectory = simulate(scene, 96, config=replace(CPU, joint_damping=joint_damping))
    assert np.abs(trajectory.linear_velocity[-1]).max() < 1e-3
    return trajectory.position[-1, 0, 2]


def test_compliant_rod_stretches_by_force_times_compliance():
    # 49.05 N x 1e-3 m/N = 4.905 cm below its length, when it has come to rest.
    off = abs(stretched(joint_damping=24.0) + 2.0 + 5.0 * GRAVITY * 1e-3)
    assert figure("rod of 1e-3 m/N that carries 5 kg", "off m g c, joint_damping 24", off, 1e-4, "m") < 1e-4


def test_damping_does_not_change_what_a_body_weighs():
    off = abs(stretched(linear_damping=20.0) + 2.0 + 5.0 * GRAVITY * 1e-3)
    assert figure("rod of 1e-3 m/N that carries 5 kg", "off m g c, linear_damping 20", off, 1e-3, "m") < 1e-3


def test_small_hinged_bodies_need_no_halving():
    # 48 frames at rest or swinging, far from any difficulty: one step each.
    trajectory = simulate(pair("hinge"), 48, config=CPU)
    solves = sum(report.substeps for report in trajectory.reports)
    assert figure("small hinged bodies", "solves in 48 frames", solves, 48) == 48


def test_limit_stops_a_wheel_that_turns_fast():
    # 100 rad/s, 4.2 rad a step; the limit is five turns, reached after 0.31 s.
    scene = motor_hinge(100.0, max_force=100.0)
    scene.joints[0].axes["rz"] = replace(scene.joints[0].axes["rz"], upper=10.0 * np.pi)
    trajectory = simulate(scene, 24, config=CPU)
    speed = abs(trajectory.angular_velocity[-1, 0, 1])
    assert figure("wheel of 100 rad/s against its limit", "speed at the end", speed, FAST / STEP, "rad/s") < FAST / STEP


def test_dry_friction_brakes_a_hinge():
    # w = w0 - M t / I, and then it stands.
    inertia = 2.0 / 3.0 * (0.3**2 + 0.3**2)
    scene = motor_hinge()
    scene.joints[0].axes["rz"] = Axis(friction=0.2)
    scene.bodies[0].angular_velocity = np.array([0.0, 2.0, 0.0])
    trajectory = simulate(scene, 36, config=CPU)
    want = np.maximum(0.0, 2.0 - 0.2 / inertia * trajectory.times)
    off = np.abs(trajectory.angular_velocity[:, 0, 1] - want).max()
    assert figure("hinge with friction 0.2 N m", "speed off w0 - M t / I", off, SLOW / STEP, "rad/s") < SLOW / STEP


@pytest.mark.parametrize("drive", [{}, {"max_force": 1e5}, {"damping": 1e6}], ids=["rigid", "within a force", "soft"])
@pytest.mark.parametrize("fps", [24, 96])
def test_a_velocity_that_is_keyed_leads_as_far_as_its_curve(drive, fps):
    # The velocity of a step's end went on for all of it: h dv / 2 too far, 20.21 m of 20 at 24 frames a second.
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Body("Cart", [Box((0.5, 0.5, 0.5))], mass=10.0))
    axis = Axis(drive="velocity", target=((0.0, 2.0, 2.5, 3.0), (0.0, 10.0, 10.0, 4.0)), **drive)
    scene.add(Joint("Rail", "slider", None, "Cart", axes={"x": axis}))
    trajectory = simulate(scene, 3 * fps, fps, SolverConfig(device="cpu"))
    assert all(report.converged for report in trajectory.reports)
    off = abs(trajectory.position[-1, 0, 0] - (10.0 + 5.0 + 3.5))
    assert figure(f"keyed velocity, {', '.join(drive) or 'rigid'}, {fps} fps", "way off", off, 1e-3, "m") < 1e-3
    assert abs(trajectory.linear_velocity[-1, 0, 0] - 4.0) < 1e-3
