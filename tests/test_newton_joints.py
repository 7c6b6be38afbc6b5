# SPDX-License-Identifier: GPL-3.0-or-later
"""SolverAxion and the joints of a newton.Model: one closed form for each kind of data."""

import math

import newton
import numpy as np
import pytest
import warp as wp
from newton_models import INERTIA, STEP, G, Run, builder, link, prismatic, revolute

DofConfig = newton.ModelBuilder.JointDofConfig


def test_drive_is_an_implicit_spring_and_damper():
    # m z'' + d z' + k (z - target) = 0, critically damped: z = target (1 - (1 + w t) exp(-w t)), w = sqrt(k / m).
    w, target = 20.0, 0.3
    mode = newton.JointTargetMode.POSITION_VELOCITY
    run = prismatic(target_ke=2.0 * w * w, target_kd=4.0 * w, target_q=target, actuator_mode=mode).go(100)
    t = 100 * STEP
    # second order in the step: the mean coordinate of the step carries the spring
    assert run.q[0] == pytest.approx(target * (1 - (1 + w * t) * math.exp(-w * t)), abs=target * (w * STEP) ** 2)


def test_drive_gives_no_more_than_its_effort_limit():
    run = prismatic(target_kd=1e4, target_qd=5.0, effort_limit=3.0, actuator_mode=newton.JointTargetMode.VELOCITY).go(
        200
    )
    assert run.qd[0] == pytest.approx(3.0 / 2.0 * 0.2, rel=1e-5)  # v = F t / m


def test_drive_of_the_control_wins_over_the_model():
    run = prismatic(target_kd=1e5, target_qd=1.0, actuator_mode=newton.JointTargetMode.VELOCITY)
    run.control.joint_target_qd.assign(np.array([-2.0], np.float32))
    # m v' = d (target - v), exactly fitted: v = target (1 - exp(-d t / m)), without ringing though h d / m = 50
    assert run.go(1).qd[0] == pytest.approx(-2.0, abs=1e-5)
    assert run.go(1).qd[0] == pytest.approx(-2.0, abs=1e-5)


def test_damping_decays_as_the_exponential():
    run = prismatic(damping=40.0)
    run.state.joint_qd.assign(np.array([1.0], np.float32))
    newton.eval_fk(run.model, run.state.joint_q, run.state.joint_qd, run.state)
    assert run.go(5, step=0.02).qd[0] == pytest.approx(math.exp(-40.0 / 2.0 * 0.1), rel=1e-5)


def test_target_mode_none_switches_a_drive_off():
    run = prismatic(target_ke=1e4, target_q=1.0, actuator_mode=newton.JointTargetMode.NONE).go(20)
    assert run.q[0] == 0.0


def test_passive_spring_and_damping():
    # critically damped to where the weight hangs, m g / k below the rest coordinate, from zero
    w = math.sqrt(400.0 / 2.0)
    run = prismatic(gravity=G, stiffness=400.0, rest_q=0.1, damping=2.0 * 2.0 * w).go(200)
    end = 0.1 - 2.0 * G / 400.0
    assert run.q[0] == pytest.approx(end * (1 - (1 + w * 0.2) * math.exp(-w * 0.2)), abs=end * (w * STEP) ** 2)


def test_dry_friction_holds_and_brakes():
    force = 5.0
    run = prismatic(friction=force)
    run.control.joint_f.assign(np.array([0.9 * force], np.float32))
    assert run.go(100).q[0] == pytest.approx(0.0, abs=100 * 0.1 * STEP**2)  # the tolerance of so many steps
    run.control.joint_f.assign(np.array([2.0 * force], np.float32))
    assert run.go(100).qd[0] == pytest.approx((2.0 * force - force) / 2.0 * 0.1, rel=1e-5)


def test_armature_adds_inertia():
    run = revolute(armature=0.07)
    run.control.joint_f.assign(np.array([0.5], np.float32))
    assert run.go(100).qd[0] == pytest.approx(0.5 * 0.1 / (INERTIA[1] + 0.07), rel=1e-5)


def test_limits_are_rigid():
    run = prismatic(gravity=G, limit_lower=-0.05).go(400)
    assert run.q[0] == pytest.approx(-0.05, abs=1e-6)
    assert run.qd[0] == pytest.approx(0.0, abs=1e-6)


def test_revolute_angle_counts_turns_up_to_a_limit():
    run = revolute(limit_upper=7.0 * math.pi)
    run.control.joint_f.assign(np.array([1.0], np.float32))
    middle = run.go(70, step=0.01).q[0]  # tau t^2 / (2 I)
    assert middle == pytest.approx(0.5 * 1.0 * 0.7**2 / INERTIA[1], rel=1e-5)
    assert run.go(80, step=0.01).q[0] == pytest.approx(7.0 * math.pi, abs=1e-4)


def test_stiff_drive_to_another_turn_goes_there():
    # A pose does not tell turns: by it, the drive threw the link to 4e5 rad/s.
    target, mode = 4.0 * math.pi, newton.JointTargetMode.POSITION
    run = revolute(target_ke=1e6, target_kd=1e3, target_q=target, actuator_mode=mode).go(20, step=0.02)
    assert run.q[0] == pytest.approx(target, abs=1e-5) and run.qd[0] == pytest.approx(0.0, abs=1e-5)
    run = revolute(target_ke=1e3, target_q=target, actuator_mode=mode)  # without a damper it swings about the target
    way = [float(run.go(1, step=0.02).q[0]) for _ in range(60)]
    assert -0.1 < min(way) < 1.0 and 2.0 * target - 1.0 < max(way) < 2.0 * target + 0.1


def test_torque_is_second_order_in_time():
    # Constant torque: angle = tau t^2 / (2 I) exactly, whatever the step.
    run = revolute()
    run.control.joint_f.assign(np.array([0.3], np.float32))
    assert run.go(10, step=0.02).q[0] == pytest.approx(0.5 * 0.3 * 0.2**2 / INERTIA[1], rel=1e-5)


def test_free_joint_force_pushes_parent_and_child_apart():
    build = builder()
    parent, child = link(build), link(build, xform=wp.transform((1.0, 0.5, 0.0), wp.quat_identity()))
    free = build.add_joint_free(parent)
    run = Run(build, [free, build.add_joint_free(child, parent=parent)])
    force = np.zeros(12, np.float32)
    force[6:9] = 0.0, 3.0, 0.0
    run.control.joint_f.assign(force)
    run.go(10)
    assert run.twist[1, :3] == pytest.approx([0, 3.0 / 2.0 * 0.01, 0], abs=1e-7)
    assert run.twist[0, :3] == pytest.approx(-run.twist[1, :3], abs=1e-7)
    momentum = sum(
        2.0 * np.cross(pose[:3], twist[:3]) + np.array(INERTIA) * twist[3:]
        for pose, twist in zip(run.pose, run.twist, strict=True)
    )
    assert momentum == pytest.approx([0, 0, 0], abs=1e-6)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 0.4), (0.4, 0.4)])
def test_distance_joint_holds_its_length(low, high):
    build = builder(G)
    body = link(build)
    joint = build.add_joint_distance(-1, body, min_distance=low, max_distance=high)
    build.joint_q[-7:] = 0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    run = Run(build, [joint])
    worst = 0.0
    for _ in range(30):
        run.go(10)
        worst = max(worst, abs(np.linalg.norm(run.pose[0, :3]) - 0.4))
    assert worst < 1e-5
    assert run.pose[0, 2] < -0.1  # it swung


def d6(angular, linear=(), gravity=0.0):
    """One link on a D6 joint with these axes (DofConfigs), its frames turned and shifted, and its Run."""
    build = builder(gravity)
    body = link(build, com=(0.05, 0.0, 0.02))
    frame = wp.transform((0.1, 0.2, 0.3), wp.quat_from_axis_angle(wp.vec3(0.6, 0.0, 0.8), 0.7))
    other = wp.transform((0.0, -0.1, 0.0), wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), 0.4))
    joint = build.add_joint_d6(
        -1, body, linear_axes=list(linear), angular_axes=list(angular), parent_xform=frame, child_xform=other
    )
    return Run(build, [joint])


X, Y, Z = newton.Axis.X, newton.Axis.Y, newton.Axis.Z


@pytest.mark.parametrize(
    ("axes", "driven"),
    [((X, Y, Z), 0), ((X, Y, Z), 1), ((Z, X, Y), 2), ((X, Z, Y), 2), ((Y, X), 0), ((X, Y), 1), ((Z,), 0)],
)
def test_d6_angles_stop_at_their_limits(axes, driven):
    """Newton's own inverse kinematics reads the angle: our limit must be on the same coordinate."""
    limit = 0.6
    config = [
        DofConfig(axis=axis, limit_upper=limit if k == driven else newton.MAXVAL, damping=0.05)
        for k, axis in enumerate(axes)
    ]
    run = d6(config)
    q = np.full(len(axes), 0.2, np.float32)
    run.state.joint_q.assign(q)
    newton.eval_fk(run.model, run.state.joint_q, run.state.joint_qd, run.state)
    force = np.zeros(len(axes), np.float32)
    force[driven] = 0.3
    run.control.joint_f.assign(force)
    run.go(150, step=4e-3)
    assert run.q[driven] == pytest.approx(limit, abs=1e-4)


def test_d6_angular_drives_reach_their_targets():
    mode = newton.JointTargetMode.POSITION_VELOCITY
    target = np.array([0.5, -0.4, 0.8])
    config = [
        DofConfig(axis=axis, target_q=value, target_ke=20.0, target_kd=2.0, actuator_mode=mode)
        for axis, value in zip((X, Y, Z), target, strict=True)
    ]
    assert d6(config).go(150, step=0.01).q == pytest.approx(target, abs=1e-5)


def test_d6_locks_what_it_has_no_axis_for():
    # A slide along X and a turn about Z of the parent's frame under gravity: the other four coordinates stay.
    run = d6([DofConfig(axis=Z)], [DofConfig(axis=X)], gravity=G)
    start = run.pose[0]
    run.go(100)
    frame = run.model.joint_X_p.numpy()[0], run.model.joint_X_c.numpy()[0]
    at = wp.transform(*run.pose[0].reshape(-1)[:7]) * wp.transform(*frame[1])
    relative = wp.transform_inverse(wp.transform(*frame[0])) * at
    place, turn = np.array(relative.p), np.array(relative.q)
    assert abs(run.pose[0] - start).max() > 1e-2
    assert place[1:] == pytest.approx([0, 0], abs=1e-6)
    assert turn[:2] == pytest.approx([0, 0], abs=1e-6)


def test_ball_joint_takes_torque_and_damping():
    build = builder()
    body = link(build)
    damping = 0.04
    run = Run(build, [build.add_joint_ball(-1, body, damping=damping)])
    torque = 0.02
    run.control.joint_f.assign(np.array([torque, 0, 0], np.float32))
    run.go(400)
    speed = torque / damping * (1.0 - math.exp(-damping * 0.4 / INERTIA[0]))
    assert run.twist[0, 3:] == pytest.approx([speed, 0, 0], abs=speed * (STEP * damping / INERTIA[0]) ** 2 + 1e-6)


def test_disabled_joint_lets_go():
    build = builder(G)
    body = link(build)
    run = Run(build, [build.add_joint_fixed(-1, body, enabled=False)]).go(10)
    assert run.twist[0, 2] == pytest.approx(-G * 0.01, rel=1e-5)
