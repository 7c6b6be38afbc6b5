# SPDX-License-Identifier: GPL-3.0-or-later
"""SolverAxion and the bodies, forces and contacts of a newton.Model: one closed form for each kind of data."""

import math

import newton
import numpy as np
import pytest
import warp as wp
from axion.solver import newton_solver, position_phase
from axion.solver.newton_solver import SolverAxion
from axion.solver.position_phase import PositionPhase
from newton.tests.test_physics_verification import _add_equality_constraint
from newton_models import INERTIA, STEP, G, Run, builder, link, prismatic


def test_body_force_acts_at_the_centre_of_mass():
    build = builder()
    link(build, com=(0.3, 0.0, 0.0))
    run = Run(build).go(100, body_f=[[4.0, 0.0, 0.0, 0.0, 0.0, 0.5]])
    assert run.twist[0] == pytest.approx([0.2, 0, 0, 0, 0, 0.5 * 0.1 / INERTIA[2]], abs=1e-5)
    # the centre goes straight: its pose is body_q applied to com
    turn = run.pose[0, 3:]
    angle = 2.0 * math.atan2(turn[2], turn[3])
    center = run.pose[0, :3] + 0.3 * np.array([math.cos(angle), math.sin(angle), 0.0])
    assert center == pytest.approx([0.3 + 0.5 * 2.0 * 0.1**2, 0, 0], abs=2.0 * 0.1 * STEP)


def test_each_world_has_its_own_gravity():
    build = builder(G)
    for _ in range(2):
        build.begin_world()
        link(build)
        build.end_world()
    run = Run(build)
    run.model.set_gravity((0.0, 0.0, 3.0), world=1)
    run.go(100)
    assert run.twist[:, 2] == pytest.approx([-G * 0.1, 0.3], rel=1e-5)


def test_kinematic_body_carries_by_friction():
    # The belt moves at 1 m/s; the box slips until v = mu g t reaches that, then goes with it.  mu is the pair's mean.
    build = builder(G)
    config = newton.ModelBuilder.ShapeConfig(mu=0.2, gap=0.01)
    belt = build.add_body(is_kinematic=True, xform=wp.transform((0.0, 0.0, -0.1), wp.quat_identity()))
    build.add_shape_box(belt, hx=5.0, hy=1.0, hz=0.1, cfg=config)
    box = build.add_body(xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()))
    build.add_shape_box(box, hx=0.2, hy=0.2, hz=0.1, cfg=newton.ModelBuilder.ShapeConfig(mu=0.4, gap=0.01))
    run = Run(build, collide=True)
    run.state.body_qd.assign(np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]], np.float32))
    run.go(100)
    assert run.twist[1, 0] == pytest.approx(0.3 * G * 0.1, abs=0.3 * G * STEP)  # one step: it starts out of touch
    run.go(300)
    assert run.twist[1, 0] == pytest.approx(1.0, abs=1e-4)
    assert run.pose[0, :3] == pytest.approx([0, 0, -0.1], abs=1e-7)  # newton: passes through unchanged
    assert run.twist[0, 0] == 1.0
    assert run.q[:3] == pytest.approx([0, 0, -0.1], abs=1e-7)  # its free joint's coordinates too


def stack(count, gap=0.01, **options):
    """A stack of boxes of 20 cm on the ground, and its Run."""
    build = builder(G)
    config = newton.ModelBuilder.ShapeConfig(mu=0.5, gap=gap, density=1000.0)
    build.add_ground_plane(cfg=config)
    for k in range(count):
        body = build.add_body(xform=wp.transform((0.0, 0.0, 0.1 + 0.2 * k), wp.quat_identity()))
        build.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=config)
    return Run(build, collide=True, **options)


def test_stack_rests_and_its_residuals_are_small():
    run = stack(5)
    start = run.pose
    run.go(60, step=1 / 60)
    assert np.abs(run.pose - start).max() < 1e-5  # the tolerance of quality "normal"
    assert np.linalg.norm(run.twist, axis=1).max() < 1e-4
    residuals = run.solver.residuals()
    assert residuals.worst(1 / 60) < 1e-5
    assert residuals.momentum_residual < 1e-4


def test_warm_start_carries_the_weight():
    """At rest the impulses of the step before are the answer: the solve has next to nothing to do."""
    run = stack(5).go(30, step=1 / 60)
    first = stack(5).go(1, step=1 / 60)
    work = [r.solver._last[1].newton_iterations for r in (run, first)]
    assert work[0] <= work[1]
    contacts, force = run.solver._reader._old
    ground = contacts.body_b == run.model.body_count
    assert force[ground, 2].sum() == pytest.approx(5 * 8.0 * G, rel=1e-4)


def test_rebound_shows_at_the_surface_and_keeps_its_height():
    # e^2 h from 1 m in steps of a frame: only sampling is lost, g h^2 / 8 at the top
    build, e, step = builder(G), 0.8, 1 / 60
    config = newton.ModelBuilder.ShapeConfig(restitution=e, mu=0.0, gap=0.2)
    build.add_ground_plane(cfg=config)
    body = build.add_body(xform=wp.transform((0.0, 0.0, 1.1), wp.quat_identity()))
    build.add_shape_sphere(body, radius=0.1, cfg=config)
    run, height = Run(build, collide=True), []
    for _ in range(54):  # 0.9 s: falls for 0.45 s, is up again after 0.81 s
        height.append(run.go(1, step=step).pose[0, 2] - 0.1)
    assert min(height) == pytest.approx(0.0, abs=1e-4)
    top = max(height[int(np.argmin(height)) :])
    assert top == pytest.approx(e * e * 1.0, abs=G * step**2 / 8 + 1e-4)


def test_what_rolls_into_a_wall_is_not_looked_at_where_it_ends():
    # The contacts are newton's: whether a wall is a curve would take a look at the bodies half way.
    builder = newton.ModelBuilder()
    builder.add_ground_plane()
    ball = builder.add_body(xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()))
    builder.add_shape_sphere(ball, radius=0.1)
    builder.add_shape_box(-1, xform=wp.transform((1.0, 0.0, 0.5), wp.quat_identity()), hx=0.5, hy=1.0, hz=0.5)
    model = builder.finalize(device="cpu")
    solver, pipeline = SolverAxion(model), newton.CollisionPipeline(model)
    contacts, state, out = pipeline.contacts(), model.state(), model.state()
    state.body_qd.assign(np.array([[2.0, 0.0, 0.0, 0.0, 20.0, 0.0]], np.float32))
    for _ in range(40):
        pipeline.collide(state, contacts)
        solver.step(state, out, None, contacts, 1.0 / 120.0)
        state, out = out, state
    assert state.body_q.numpy()[0, 0] < 0.4 + 1e-3  # the wall begins at 0.5


def test_halved_steps_keep_armature_and_limits():
    """The halves of a step that missed know where they start: v = F t / (m + armature), then the limit."""
    missed = []

    def solve(phase, *arguments):
        result = PositionPhase.solve(phase, *arguments)
        step = arguments[0].problem.step
        if step > 0.003:
            missed.append(step)
            result.statistics.residual[:] = np.nan
        return result

    run = prismatic(armature=3.0, limit_upper=0.05)
    run.solver._phase.solve = solve.__get__(run.solver._phase)
    run.control.joint_f.assign(np.array([10.0], np.float32))
    run.go(10, step=0.01)
    assert len(missed) == 10 * 3  # once whole, twice as halves; quarters pass
    assert run.qd[0] == pytest.approx(10.0 * 0.1 / (2.0 + 3.0), rel=1e-5)
    assert run.go(20, step=0.01).q[0] == pytest.approx(0.05, abs=1e-6)


def test_every_contact_has_a_force_where_nothing_is_halved(monkeypatch):
    # Who misses at the last halving is solved without contacts from afar, and those would have none.
    def asked(*_):
        raise AssertionError("newton's contacts are those of the step")

    monkeypatch.setattr(newton_solver, "DEEPEST", 0)
    monkeypatch.setattr(position_phase, "contradicting", asked)
    run = stack(2).go(3, step=1 / 60)
    contacts, force = run.solver._reader._old
    assert len(force) == len(contacts) > 0


def test_contacts_that_were_lost_are_an_error():
    run = stack(3)
    run.go(1)
    run.contacts.rigid_contact_count.assign(np.array([run.contacts.rigid_contact_max + 1], np.int32))
    with pytest.raises(ValueError, match="rigid_contact_max"):
        run.solver.step(run.state, run.next, None, run.contacts, STEP)


def test_what_it_cannot_move_is_refused_by_name():
    build = builder()
    build.add_particle(wp.vec3(0.0), wp.vec3(0.0), 1.0)
    with pytest.raises(ValueError, match="particles"):
        SolverAxion(build.finalize(device="cpu"))
    build = builder()
    link(build, label="point")
    model = build.finalize(device="cpu")
    model.body_inertia.zero_()
    with pytest.raises(ValueError, match="point"):
        SolverAxion(model)
    build = builder()
    body = link(build)
    build.add_articulation([build.add_joint_ball(-1, body, stiffness=3.0, label="shoulder")])
    with pytest.raises(ValueError, match="shoulder"):
        SolverAxion(build.finalize(device="cpu"))


def test_equality_constraints_of_mujoco_are_refused():
    # They were passed over in silence: a four-bar closed by one was 150 degrees off.
    build = builder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(build)
    body, kind = link(build), newton.solvers.SolverMuJoCo.EqType.CONNECT
    build.add_articulation([build.add_joint_revolute(-1, body)])
    SolverAxion(build.finalize(device="cpu"))
    _add_equality_constraint(build, constraint_type=kind, body1=-1, body2=body, anchor=wp.vec3(1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="equality constraints, as number 0"):
        SolverAxion(build.finalize(device="cpu"))


def test_state_in_may_be_state_out():
    one, two = prismatic(gravity=G), prismatic(gravity=G)
    one.go(20)
    for _ in range(20):
        two.solver.step(two.state, two.state, None, None, STEP)
    assert (one.pose == two.pose).all()
    assert (one.q == two.q).all()


def test_a_model_change_is_read_again():
    run = prismatic()
    run.control.joint_f.assign(np.array([2.0], np.float32))
    run.go(10)
    before = run.qd[0]
    run.model.body_mass.assign(np.array([8.0], np.float32))
    run.solver.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
    run.go(10)
    assert run.qd[0] - before == pytest.approx(2.0 / 8.0 * 0.01, rel=1e-4)
