# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces that the solver hands out: statics and momentum say what they must be.

A residual of ``TOLERANCE`` metres in a step h is a force error of at most m TOLERANCE / h^2.
"""

import numpy as np
import pytest
from axion.solver import Body, Box, Joint, Scene, SceneError, SolverConfig, Sphere, Trajectory, TriangleMesh, simulate
from scenes import GRAVITY, chain, downhill, falling, ground, hanging_mass, pendulum, pile, slope, stack

TOLERANCE, FPS = 1e-5, 24.0


def recorded(scene, frames, fps=FPS, **options):
    return simulate(scene, frames, fps, SolverConfig(device="cpu", tolerance=TOLERANCE, record_forces=True, **options))


def on_body(trajectory, frame, name):
    """Sum (3,) of all contact forces on a body in a frame [N]."""
    forces, body = trajectory.forces.frame(frame), trajectory.index(name)
    sign = (forces.contact_body[:, 0] == body).astype(float) - (forces.contact_body[:, 1] == body)
    return sign @ forces.contact_force


def error(mass, fps=FPS):
    return mass * TOLERANCE * fps**2


@pytest.mark.parametrize("substeps", ["auto", 4])
def test_a_resting_box_is_carried_by_its_contacts(substeps):
    # m a = 0 = sum of contact forces - m g; four corners of one face at z = 0, normals up.
    trajectory = recorded(stack(1, mass=3.0), 24, substeps=substeps)
    forces = trajectory.forces.frame(24)
    assert on_body(trajectory, 24, "Box 1") == pytest.approx([0.0, 0.0, 3.0 * GRAVITY], abs=4 * error(3.0, 4 * FPS))
    assert len(forces.contact_gap) == 4
    np.testing.assert_allclose(forces.contact_point[:, 2], 0.0, atol=2 * TOLERANCE)
    np.testing.assert_allclose(np.abs(forces.contact_point[:, :2]), 0.1, atol=2 * TOLERANCE)
    upwards = np.where(forces.contact_body[:, 0] == trajectory.index("Box 1"), 1.0, -1.0)
    np.testing.assert_allclose(forces.contact_normal[:, 2] * upwards, 1.0, atol=1e-6)


def test_a_ball_that_rolls_has_one_contact_in_a_frame():
    # Rolling without slip on the level: the ground carries m g and nothing else, wherever the ball has come to.
    scene = Scene()
    ground(scene)
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 0.1), mass=2.0, linear_velocity=(2, 0, 0),
                   angular_velocity=(0, 20, 0)))  # fmt: skip
    trajectory = recorded(scene, 12, substeps=4)
    for frame in range(1, 13):
        forces = trajectory.forces.frame(frame)
        assert len(forces.contact_gap) == 1
        assert on_body(trajectory, frame, "Ball") == pytest.approx([0, 0, 2.0 * GRAVITY], abs=4 * error(2.0, 4 * FPS))
        under = trajectory.position[frame, trajectory.index("Ball")] - (0, 0, 0.1)
        np.testing.assert_allclose(forces.contact_point[0], under, atol=2.0 / (4 * FPS))  # the way of one step


def test_each_box_of_a_stack_carries_those_above():
    trajectory = recorded(stack(4, heavier=2.0), 24)
    forces, weights = trajectory.forces.frame(24), GRAVITY * np.array([1.0, 2.0, 4.0, 8.0])
    for below in range(4):
        pair = {below, below + 1}  # the ground is body 0
        between = np.array([set(body) == pair for body in forces.contact_body.tolist()])
        carried = np.abs(forces.contact_force[between].sum(axis=0)[2])
        assert carried == pytest.approx(weights[below:].sum(), abs=4 * error(15.0))


def test_a_slope_holds_by_friction():
    # At rest on a slope of angle a: m g cos a along the normal, m g sin a uphill.
    angle = np.radians(20.0)
    trajectory = recorded(slope(angle), 24)
    force = on_body(trajectory, 24, "Box")
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    assert force @ up == pytest.approx(GRAVITY * np.cos(angle), abs=4 * error(1.0))
    assert force @ downhill(angle) == pytest.approx(-GRAVITY * np.sin(angle), abs=4 * error(1.0))


@pytest.mark.parametrize("method", ["proximal", "schur"])
def test_a_rod_carries_what_hangs_on_it(method):
    forces = recorded(hanging_mass(), 6, method=method).forces
    assert forces.joint_names == ["Rod"]
    np.testing.assert_allclose(forces.joint_force[:, 0], np.tile([0, 0, 5.0 * GRAVITY], (6, 1)), atol=error(5.0))
    np.testing.assert_allclose(forces.joint_torque, 0.0, atol=1e-9)
    np.testing.assert_allclose(forces.joint_anchor[-1, 0], [[0, 0, 0], [0, 0, -2.0]], atol=2 * TOLERANCE)


def test_a_pendulum_pulls_hardest_at_its_lowest_point():
    # m (v^2 / L + g) with v^2 = 2 g L (1 - cos start): 3 m g from the horizontal.  The frame's mean is low by at most
    # 3/2 m g (w h)^2 with w^2 = 2 g / L.
    fps = 240.0
    trajectory = recorded(pendulum(angle=0.5 * np.pi, radius=1e-3), int(0.6 * fps), fps)
    lowest = np.argmin(trajectory.position[:, 0, 2])
    pull = trajectory.forces.joint_force[lowest - 1, 0, 2]
    assert pull == pytest.approx(3.0 * GRAVITY, abs=1.5 * GRAVITY * 2.0 * GRAVITY / fps**2 + error(1.0, fps))


def test_a_broken_joint_carries_nothing():
    scene = hanging_mass()
    scene.joints[0].break_force = 2.5 * GRAVITY
    trajectory = recorded(scene, 4)
    assert trajectory.broken_joints and not trajectory.forces.joint_force.any()


def test_a_cantilever_carries_force_and_torque():
    # A beam fixed to the world at its end: m g up, and m g L / 2 about the anchor, here about the world's -Y.
    scene = Scene()
    scene.add(Body("Beam", [Box((0.5, 0.05, 0.05))], position=(0.5, 0, 0), mass=2.0))
    scene.add(Joint("Wall", "fixed", None, "Beam", (0, 0, 0)))
    forces = recorded(scene, 3).forces.frame(3)
    assert forces.joint_force[0] == pytest.approx([0, 0, 2.0 * GRAVITY], abs=error(2.0))
    assert forces.joint_torque[0] == pytest.approx([0, -GRAVITY, 0], abs=error(2.0))


def bounce():
    scene = falling(height=0.6)
    scene.bodies[0].restitution = 0.6
    ground(scene)
    return scene


SCENES = {
    "pile": (lambda: pile(8), 20),
    "chain": (lambda: chain(4, sideways=True), 12),
    "bounce": (bounce, 24),
}


@pytest.mark.parametrize("name", SCENES)
def test_forces_are_the_change_of_momentum(name):
    # m (v+ - v-) = (F + m g) dt in every frame, whatever happened in it; off by what the report admits per step.
    build, frames = SCENES[name]
    scene = build()
    trajectory, count = recorded(scene, frames), len(scene.bodies)
    mass = np.array([body.mass_properties()[0] if body.motion == "dynamic" else 0.0 for body in scene.bodies])
    number = {None: count, **{body.name: i for i, body in enumerate(scene.bodies)}}
    gravity = np.array([0.0, 0.0, -GRAVITY])
    for frame, report in enumerate(trajectory.reports, start=1):
        forces, total = trajectory.forces.frame(frame), np.zeros((count + 1, 3))
        for side, sign in ((0, 1.0), (1, -1.0)):
            np.add.at(total, forces.contact_body[:, side], sign * forces.contact_force)
        for joint, force in zip(scene.joints, forces.joint_force, strict=True):
            total[number[joint.body_a]] -= force
            total[number[joint.body_b]] += force
        change = trajectory.linear_velocity[frame] - trajectory.linear_velocity[frame - 1]
        moved = mass > 0.0
        expected = (change[moved] - gravity / FPS) * mass[moved, None]
        allowed = report.substeps * (report.momentum_residual + report.velocity_residual + 1e-9)
        if name == "chain":  # what brings its energy back to what there is scales the speed, and is no force
            allowed += 0.01 * np.linalg.norm(trajectory.linear_velocity[frame], axis=1).max()
        off = np.linalg.norm(total[:-1][moved] / FPS - expected, axis=1) / mass[moved]
        assert off.max() <= allowed, f"frame {frame}: {off.max():.2e} m/s, allowed {allowed:.2e} m/s"
    assert len(trajectory.forces.contact_gap) or scene.joints


def kinked(comes, friction=0.0):
    """A Scene with level ground, then a slope of 29 degrees, and a ball that comes to it after ``comes`` frames."""
    scene, turn, radius, speed = Scene(friction_combine="multiply"), 0.5, 0.05, 2.0
    across, end = np.array([-0.5, 0.5]), (2.0 * np.cos(turn), 2.0 * np.sin(turn))
    profile = np.array([(-2.0, 0.0), (0.0, 0.0), end])
    vertices = np.stack([np.repeat(profile[:, 0], 2), np.tile(across, 3), np.repeat(profile[:, 1], 2)], axis=1)
    mesh = TriangleMesh(vertices, [(0, 2, 3), (0, 3, 1), (2, 4, 5), (2, 5, 3)])
    place = (-radius * np.tan(0.5 * turn) - comes * speed / FPS, 0.0, radius)
    spin = (0.0, speed / radius if friction else 0.0, 0.0)
    ball = {"mass": 1.0, "friction": friction, "linear_velocity": (speed, 0, 0), "angular_velocity": spin}
    scene.add(Body("Ball", [Sphere(radius)], position=place, **ball))
    scene.add(Body("Ground", [mesh], motion="static", friction=1.0))
    return scene


def off_at_a_kink(scene, frame):
    """Most by which the impulses told for the Ball are off those of its motion [N s]; it is hit in ``frame``."""
    trajectory, ball = recorded(scene, frame + 2), [body.name for body in scene.bodies].index("Ball")
    change = np.diff(trajectory.linear_velocity[:, ball], axis=0) + np.array([0.0, 0.0, GRAVITY / FPS])
    told = [on_body(trajectory, k, "Ball") / FPS for k in range(1, frame + 3)]
    assert np.abs(change[frame - 1]).max() > 0.1  # it comes to the kink there
    return np.abs(told - change).max()


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.95])
def test_forces_at_a_kink_are_the_change_of_momentum(share, friction):
    # What mid-step impulses lacked to the speed the ball comes with was told, though it comes with that of free motion,
    # and what carries it until then was not: 0.13 to 0.51 of 1.2 N s.
    assert off_at_a_kink(kinked(2.0 + share, friction), 3) < 1e-4


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_forces_at_a_kink_are_of_its_contacts_while_others_turn_out_to_be_none(share):
    # Two crosses turn over posts and touch neither.  Without their contacts the carrier's number was that of another.
    near, scene, top = kinked(3.0 + share), Scene(friction_combine="multiply"), 3.5 / FPS
    shapes = [Box((0.4, 0.05, 0.05)), Box((0.05, 0.4, 0.05))]
    for k in range(2):
        scene.add(Body(f"Post {k}", [Box((0.3, 0.3, 0.3))], "static", (0.0, 5.0 + 2 * k, 1.6408), friction=0.0))
        place = (-0.2 - 4.27 * top, 4.959 + 2 * k, 2.0 - 0.5 * GRAVITY * top**2)
        motion = {"linear_velocity": (4.27, 0.0, GRAVITY * top), "angular_velocity": (0.0, 0.0, 5.39), "friction": 0.0}
        scene.add(Body(f"Cross {k}", shapes, position=place, mass=2.0, **motion))
    for body in near.bodies[::-1]:
        scene.add(body)
    assert off_at_a_kink(scene, 4) < 1e-4


def test_joint_errors_are_those_of_the_report():
    trajectory = recorded(chain(4, sideways=True), 6)
    for report, error, angle in zip(
        trajectory.reports, trajectory.forces.joint_error, trajectory.forces.joint_error_angle, strict=True
    ):
        assert (error.max(), angle.max()) == (report.joint_error, report.joint_error_angle)


def test_forces_are_recorded_on_request_only():
    seen = []
    config = SolverConfig(device="cpu")
    trajectory = simulate(stack(1), 2, config=config, on_frame=lambda result: seen.append(result.forces))
    assert trajectory.forces is None and seen == [None, None]
    asked = simulate(
        stack(1), 2, config=SolverConfig(device="cpu", record_forces=True), on_frame=lambda r: seen.append(r.forces)
    )
    np.testing.assert_array_equal(asked.position, trajectory.position)
    assert [len(f.contact_gap) for f in seen[2:]] == [4, 4]


def test_contacts_of_steps_that_were_done_again_are_none():
    """A box spins so close above the ground that a frame finds contacts, and the pieces of it that it takes do not."""
    scene = Scene()
    ground(scene)
    scene.add(Body("Spinner", [Box((0.1, 0.2, 0.3))], position=(0, 0, 0.315), angular_velocity=(0, 0, 25.0)))
    for k in range(20):
        scene.add(Body(f"Box {k}", [Box((0.2, 0.2, 0.2))], position=(3 + 2 * k, 5, 3)))
    trajectory = recorded(scene, 2)
    assert trajectory.reports[0].contacts > 0 and not len(trajectory.forces.frame(1).contact_gap)
    assert on_body(trajectory, 2, "Spinner")[2] > 0.0


def test_forces_are_saved_with_the_motion(tmp_path):
    trajectory = recorded(pile(2), 6)
    trajectory.save(tmp_path / "bake.npz")
    loaded = Trajectory.load(tmp_path / "bake.npz")
    for name, values in trajectory.forces.tree().items():
        np.testing.assert_array_equal(getattr(loaded.forces, name), values)
    trajectory.forces.contact_offset[-1] += 1
    trajectory.save(tmp_path / "broken.npz")
    with pytest.raises(SceneError, match="damaged"):
        Trajectory.load(tmp_path / "broken.npz")
