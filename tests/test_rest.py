# SPDX-License-Identifier: GPL-3.0-or-later
"""Islands at rest keep still, exactly, with the forces that hold them; what disturbs them is answered in its step.

Each disturbed scene is also run with resting switched off: the motion after the disturbance must be the same, but for
what two solves of one rest may differ by.
"""

import numpy as np
import pytest
from axion.solver import (
    Axis,
    Body,
    Box,
    ForceField,
    Joint,
    MotionPath,
    Scene,
    SolverConfig,
    Sphere,
    TriangleMesh,
    rest,
    simulate,
)  # fmt: skip
from axion.solver.metrics import step_residuals
from contact_scenes import grid
from scenes import GRAVITY, chain, ground, stack, turned

CPU = SolverConfig(device="cpu", record_forces=True)
SLOW, FAST = CPU.tolerances()
STEP = 1.0 / 24.0
SETTLED = 24  # frames: all scenes below are at rest by then, and nothing disturbs them before
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def restless(monkeypatch, scene, frames):
    """The same motion with every step solved."""
    with monkeypatch.context() as patch:
        patch.setattr(rest, "REST", np.inf)
        return simulate(scene, frames, config=CPU)


def solved(trajectory):
    """(F,) bool: frames in which anything was solved."""
    return np.array([report.newton_iterations > 0 for report in trajectory.reports])


def path(position, times=(0.0, 2.0, 3.0)):
    return MotionPath(np.array(times), np.array(position, float), np.tile(UPRIGHT, (len(times), 1)))


def test_a_stack_at_rest_keeps_its_pose_its_forces_and_its_proof():
    trajectory = simulate(stack(5), 60, config=CPU)
    idle = ~solved(trajectory)
    assert idle[SETTLED:].all() and not idle[: int(rest.REST / STEP)].any()
    assert np.ptp(trajectory.position[SETTLED + 1 :], axis=0).max() == 0.0
    assert np.ptp(trajectory.orientation[SETTLED + 1 :], axis=0).max() == 0.0
    assert not trajectory.linear_velocity[SETTLED + 1 :].any() and not trajectory.angular_velocity[SETTLED + 1 :].any()
    for report in trajectory.reports[SETTLED:]:
        assert report.converged and report.contacts == 20 and 0.0 < report.residual <= SLOW
        assert report.momentum_residual > 0.0 and len(report.worst_bodies) == 3
    for frame in (SETTLED, 60):  # each box carries those above: 1 kg each
        forces = trajectory.forces.frame(frame)
        below = np.max(forces.contact_body, axis=1) == trajectory.index("Box 3")
        assert forces.contact_force[below, 2].sum() == pytest.approx(3.0 * GRAVITY, rel=1e-3)


def test_a_proof_is_the_judges():
    """The residuals kept are those of metrics.step_residuals for standing still under the kept impulses."""
    seen = []

    def judge(problem, solution):
        residuals = step_residuals(problem, solution)
        n = problem.bodies.dynamic_count
        if not solution.velocity[:n].any():
            seen.append((problem, solution, residuals))
        return residuals

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rest, "step_residuals", judge)
        trajectory = simulate(stack(2), 40, config=CPU)
    (problem, solution, residuals), report = seen[0], trajectory.reports[-1]
    assert len(seen) == 1 and len(problem.contacts) == 8
    assert np.array_equal(solution.position[:2], problem.bodies.position[:2])
    assert report.momentum_residual == residuals.momentum_residual
    assert report.gap_residual == residuals.gap_residual
    assert report.penetration == residuals.penetration


def test_heaps_come_to_rest_in_single_precision():
    """Fails where rest asks for less motion than single precision can do: then a heap is solved on for ever."""
    generator, scene = np.random.default_rng(1), Scene()
    ground(scene)
    for i, cell in enumerate(np.ndindex(3, 3, 3)):
        place = 1.1 * np.array(cell) + (0.0, 0.0, 0.7) + generator.uniform(-0.04, 0.04, 3)
        turn = turned("xyz"[i % 3], generator.uniform(0.0, 0.08))
        scene.add(Body(f"Box {i}", [Box((0.5, 0.5, 0.5))], position=place, orientation=turn))
    single = SolverConfig(device="cpu", precision="float32", record_forces=True)
    trajectory = simulate(scene, 72, config=single)
    assert not solved(trajectory)[60:].any()
    assert all(report.converged for report in trajectory.reports)


def test_what_is_no_equilibrium_is_not_left_alone(monkeypatch):
    """Bodies that are quiet for another reason than balance are found out by the proof."""
    begin = rest.Rest.__init__
    loose = lambda self, *rest: begin(self, *rest[:-1], 1e9)  # noqa: E731
    monkeypatch.setattr(rest.Rest, "__init__", loose)  # whatever is slower than that looks quiet
    scene = Scene()
    ground(scene)
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.1), friction=0.5))
    scene.gravity = GRAVITY * np.array([np.sin(0.6), 0.0, -np.cos(0.6)])
    trajectory = simulate(scene, 40, config=CPU)
    assert solved(trajectory).all()
    slide = GRAVITY * (np.sin(0.6) - 0.5 * np.cos(0.6))
    assert trajectory.linear_velocity[-1, 1, 0] == pytest.approx(slide * 40 * STEP, rel=1e-3)


def struck_row():
    """Three boxes at rest with gaps, a ball that comes later: in one step it strikes one, and that one the next."""
    scene = Scene()
    ground(scene, friction=0.0)
    for i in range(3):
        place = (1.0 + 0.25 * i, 0, 0.1)
        scene.add(Body(f"Box {i}", [Box((0.1, 0.1, 0.1))], position=place, mass=1.0, friction=0.0))
    ball = Body("Ball", [Sphere(0.1)], position=(-28.0, 0, 0.1), mass=4.0, friction=0.0, linear_velocity=(20, 0, 0))
    scene.add(ball)
    return scene


def lifted():
    """A table on a path that begins to rise after two seconds."""
    scene = Scene()
    rise = path([(0, 0, 0), (0, 0, 0), (0.3, 0, 0.5)])
    scene.add(Body("Table", [Box((1, 1, 0.1))], motion="kinematic", path=rise))
    for i in range(2):
        scene.add(Body(f"Box {i}", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.2 + 0.2 * i)))
    return scene


def let_go():
    """A plank held by its path for two seconds, and what lies on it."""
    scene = Scene()
    ground(scene)
    scene.add(Body("Plank", [Box((0.5, 0.2, 0.02))], path=path([(0, 0, 1)] * 2, (0.0, 2.0)), position=(0, 0, 1)))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0.1, 0, 1.12)))
    return scene


def driven():
    """A lever on a motor whose target angle changes after two seconds; a box lies on it."""
    scene = Scene()
    turn = Axis(drive="position", target=([0.0, 2.0, 2.5], [0.0, 0.0, -0.4]))
    scene.add(Body("Lever", [Box((0.5, 0.2, 0.02))], position=(0.5, 0, 0.5), mass=2.0))
    scene.add(Joint("Motor", "hinge", None, "Lever", (0, 0, 0.5), turned("x", -0.5 * np.pi), axes={"rz": turn}))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0.5, 0, 0.62)))
    return scene


def blown():
    """A wind that begins after two seconds."""
    scene = Scene()
    ground(scene)
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.1), mass=1.0))
    sideways = turned("y", 0.5 * np.pi)
    scene.add(ForceField("Wind", "wind", ([0.0, 2.0, 2.2], [0.0, 0.0, 20.0]), orientation=sideways))
    return scene


def waved():
    """A floor mesh that begins to rise after two seconds."""
    corners = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
    shapes = [corners, corners, corners + (0, 0, 0.5)]
    mesh = TriangleMesh(corners, [(0, 1, 2), (0, 2, 3)], times=(0.0, 2.0, 3.0), moving_vertices=shapes)
    scene = Scene()
    scene.add(Body("Floor", [mesh], motion="static"))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0.1, 0, 0.1)))
    return scene


DISTURBED = {"struck": struck_row, "lifted": lifted, "let go": let_go, "driven": driven, "blown": blown, "waved": waved}


@pytest.mark.parametrize("name", DISTURBED)
def test_a_disturbance_is_answered_in_its_step(monkeypatch, name):
    resting, awake = simulate(DISTURBED[name](), 62, config=CPU), restless(monkeypatch, DISTURBED[name](), 62)
    assert solved(awake).all()
    moved = np.abs(awake.position - awake.position[SETTLED]).max(axis=(1, 2)) > 1e-3
    first = int(np.argmax(moved[SETTLED:])) + SETTLED if name != "struck" else 34
    if name not in ("waved", "struck"):  # a mesh that may deform is looked at in every step; the ball flies in all
        assert not solved(resting)[SETTLED : first - 3].any()
    # The way after it: two bodies or three in free motion and simple contact, no chaos.
    np.testing.assert_allclose(resting.position[first:], awake.position[first:], atol=62 * SLOW)
    assert np.abs(resting.position[-1] - resting.position[SETTLED]).max() > 0.05
    assert all(report.converged for report in resting.reports)


def test_a_blow_keeps_momentum_through_bodies_that_rested():
    trajectory = simulate(struck_row(), 44, config=CPU)
    mass = np.array([0.0, 1.0, 1.0, 1.0, 4.0])
    along = trajectory.linear_velocity[:, :, 0] @ mass
    assert not trajectory.linear_velocity[33, 1:4].any()  # asleep until struck
    assert along[-1] == pytest.approx(4.0 * 20.0, abs=5 * 44 * FAST / STEP)


@pytest.mark.parametrize("speed", [1e-4, 3e-5])
def test_slow_motion_is_no_rest(speed):
    scene = Scene()
    ground(scene, surface_velocity=(speed, 0, 0))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0, 0, 0.1), linear_velocity=(speed, 0, 0)))
    motor = Axis(drive="velocity", target=speed)
    scene.add(Body("Hand", [Box((0.5, 0.1, 0.02))], position=(3.0, 0, 0.5)))
    scene.add(Joint("Clock", "hinge", None, "Hand", (2.5, 0, 0.5), axes={"rz": motor}))
    trajectory = simulate(scene, 72, config=CPU)
    assert trajectory.position[-1, 1, 0] == pytest.approx(3.0 * speed, rel=0.02)
    assert trajectory.position[-1, 2, 1] == pytest.approx(0.5 * 3.0 * speed, rel=0.05)


def test_what_spins_once_a_frame_does_not_rest():
    scene = Scene()
    ground(scene, friction=0.0)
    spin = 2.0 * np.pi * 24.0
    ball = Body("Ball", [Sphere(0.1)], position=(0, 0, 0.1), angular_velocity=(0, 0, spin), friction=0.0)
    scene.add(ball)
    trajectory = simulate(scene, 48, config=CPU)
    assert trajectory.angular_velocity[-1, 1, 2] == pytest.approx(spin, rel=1e-6)


def test_one_island_rests_while_another_moves():
    scene = stack(3)
    scene.bodies += chain(6, sideways=True).bodies
    scene.joints += chain(6, sideways=True).joints
    for body in scene.bodies[4:]:
        body.collision_mask = 0
    trajectory = simulate(scene, 48, config=CPU)
    still = trajectory.position[SETTLED:, 1:4]
    assert np.ptp(still, axis=0).max() == 0.0
    assert np.ptp(trajectory.position[SETTLED:, 4:], axis=0).max() > 0.1
    assert all(report.contacts == 12 for report in trajectory.reports[SETTLED:])
    forces = trajectory.forces.frame(48)
    lowest = np.min(forces.contact_body, axis=1) == 0
    assert forces.contact_force[lowest, 2].sum() == pytest.approx(3.0 * GRAVITY, rel=1e-3)


def test_a_chain_at_rest_keeps_its_joint_forces():
    scene = Scene()
    for i in range(3):
        scene.add(Body(f"Link {i}", [Box((0.02, 0.02, 0.1))], position=(0, 0, -0.1 - 0.2 * i), mass=1.0))
        upper = None if i == 0 else f"Link {i - 1}"
        scene.add(Joint(f"Joint {i}", "ball", upper, f"Link {i}", position=(0, 0, -0.2 * i)))
    trajectory = simulate(scene, 48, config=CPU)
    assert not solved(trajectory)[SETTLED:].any()
    pull = trajectory.forces.frame(48).joint_force
    np.testing.assert_allclose(pull, [(0, 0, GRAVITY * (3 - i)) for i in range(3)], atol=1e-3)


def test_a_mesh_floor_bears_rest_as_a_plane_does():
    scene = Scene()
    scene.add(Body("Floor", [grid()], motion="static"))
    scene.add(Body("Box", [Box((0.1, 0.1, 0.1))], position=(0.03, 0.02, 0.1)))
    trajectory = simulate(scene, 48, config=CPU)
    assert not solved(trajectory)[36:].any()


def test_a_run_resumed_at_rest_has_the_same_bits():
    kept = {}

    def keep(result):
        kept[result.frame] = result.checkpoint()

    whole = simulate(lifted(), 56, config=CPU, on_frame=keep)
    for first in (SETTLED, 50):
        resumed = simulate(lifted(), 56, config=CPU, resume=kept[first])
        assert np.array_equal(resumed.position, whole.position[first:])
        for frame in range(first + 1, 57):
            for name, values in whole.forces.frame(frame).arrays().items():
                assert np.array_equal(values, resumed.forces.frame(frame - first).arrays()[name]), name
