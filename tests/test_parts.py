# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a few islands miss, they alone are done again in halves, and the others keep the step they had."""

import numpy as np
import pytest
from axion.solver import Body, Box, Scene, SolverConfig, Sphere, position_phase, simulate, step
from axion.solver.attempt import Attempt
from axion.solver.parts import Carried
from axion.solver.rotations import exponential, multiply
from axion.solver.state import State
from columns import columns_taken
from scenes import GRAVITY, chain, ground

CPU = SolverConfig(device="cpu", record_forces=True, substeps=1)
SLOW, FAST = CPU.tolerances()
STEP, FRAMES = 1.0 / 24.0, 12


def wall(scene):
    """A heavy ball flies into nine bricks: steps of this island are halved."""
    scene.add(Body("Ball", [Sphere(0.3)], position=(-0.9, 0.02, 0.4), linear_velocity=(12, 0, 1), mass=50.0))
    for row in range(3):
        for column in range(3):
            place = (0, (column - 1) * 0.51 + 0.1 * (row % 2), 0.15 + 0.3 * row)
            scene.add(Body(f"Brick {row}.{column}", [Box((0.15, 0.25, 0.15))], position=place, mass=2.0))


def others(scene):
    """Far from it: boxes that slide, a pair that collides, balls that bounce, and a chain that swings."""
    for i in range(6):
        speed = (0.0, 1.0 + 0.3 * i, 0.0)
        scene.add(Body(f"Slider {i}", [Box((0.2, 0.1, 0.1))], position=(50 + i, 0, 0.1), linear_velocity=speed))
    for i in range(4):
        place = (50 + i, -5, 0.4 + 0.3 * i)
        scene.add(Body(f"Bouncer {i}", [Sphere(0.1)], position=place, restitution=0.7))
    for i, speed in enumerate((2.0, -2.0)):
        place = (40 + 0.8 * i, 0.02 * i, 0.1)
        # Smooth ones: where the ground brakes, steps are cut at a blow, or halved as well where others missed.
        scene.add(Body(f"Meeting {i}", [Sphere(0.1)], position=place, linear_velocity=(speed, 0, 0), friction=0.0))
    links = chain(8, sideways=True)
    for body in links.bodies:
        body.position = body.position + (0, 60, 5)
        scene.add(body)
    for joint in links.joints:
        joint.position = joint.position + (0, 60, 5)
        scene.add(joint)


def scene_of(*groups):
    scene = Scene()
    ground(scene)
    for group in groups:
        group(scene)
    return scene


def halve_the_wall(patch):
    """Have every whole step called a miss for the ball and what it touches; the list gets the bodies of each part."""
    halve, judge, seen = step.halve_part, Attempt.judge, []

    def count(stepper, seconds, depth, attempt):
        if depth == 0:  # a half may miss by itself
            seen.append(int(attempt.failed.sum()))
        return halve(stepper, seconds, depth, attempt)

    def strict(attempt, fast):
        judge(attempt, fast)
        if attempt.assembly.problem.step > 0.9 * STEP:
            ball = np.zeros(len(attempt.failed), bool)
            ball[1] = True
            attempt.failed |= attempt.islands_of(ball)

    patch.setattr(step, "halve_part", count)
    patch.setattr(Attempt, "judge", strict)
    return seen


@pytest.fixture(scope="module")
def both():
    """(Trajectory of the wall and the others, sizes of the parts done again)."""
    with pytest.MonkeyPatch.context() as patch:
        seen = halve_the_wall(patch)
        # No solves without ghosts: with them an island comes to be slowed to its energy, which no contact force tells.
        patch.setattr(position_phase, "GHOSTS", 0)
        return simulate(scene_of(wall, others), FRAMES, config=CPU), seen


def test_only_what_missed_is_done_again(both):
    trajectory, seen = both
    assert len(seen) == FRAMES and min(seen) >= 1 and 1 < max(seen) <= 10  # never more than the ball and the bricks
    assert all(report.converged and report.substeps >= 3 for report in trajectory.reports)
    once = simulate(scene_of(wall, others), FRAMES, config=CPU)
    assert np.abs(once.position[:, 1] - trajectory.position[:, 1]).max() > 1e-4  # two steps of implicit Euler, not one


def test_the_others_move_as_if_they_were_alone(both):
    alone = simulate(scene_of(others), FRAMES, config=CPU)
    own = [both[0].index(name) for name in alone.names]
    # Solves stop somewhere within the tolerance, and where they started from has a part in where.
    np.testing.assert_allclose(both[0].position[:, own], alone.position, atol=FRAMES * SLOW)
    np.testing.assert_allclose(both[0].orientation[:, own], alone.orientation, atol=FRAMES * SLOW / 0.1)  # radius


def test_forces_account_for_every_change_of_momentum(both):
    # m (v+ - v-) = (sum of contact forces + m g) h for each body that only touches, whatever steps it was given.
    trajectory, scene = both[0], scene_of(wall, others)
    jointed = {name for joint in scene.joints for name in (joint.body_a, joint.body_b)}
    for i, body in enumerate(scene.bodies):
        if body.motion == "static" or body.name in jointed:
            continue
        mass = body.mass_properties()[0]
        for frame, report in enumerate(trajectory.reports, start=1):
            forces = trajectory.forces.frame(frame)
            sign = (forces.contact_body[:, 0] == i).astype(float) - (forces.contact_body[:, 1] == i)
            push = (sign @ forces.contact_force - (0, 0, mass * GRAVITY)) * STEP
            change = mass * (trajectory.linear_velocity[frame, i] - trajectory.linear_velocity[frame - 1, i])
            allowed = report.substeps * (report.momentum_residual + report.velocity_residual + 1e-9)
            assert np.abs(push - change).max() <= mass * allowed, (body.name, frame)


def test_what_is_pressed_on_while_carried_is_done_again_with_those_that_press(monkeypatch):
    """The first half that presses on something carried is thrown away, and everything put back as it was."""
    pressed, told = step.pressed, []

    def once(assembly, solution, carried):
        if carried is not None and not told:
            told.append(np.flatnonzero(carried.mask)[:1])
            return told[0]
        return pressed(assembly, solution, carried)

    seen = halve_the_wall(monkeypatch)
    plain = simulate(scene_of(wall, others), FRAMES, config=CPU)
    monkeypatch.setattr(step, "pressed", once)
    trajectory = simulate(scene_of(wall, others), FRAMES, config=CPU)
    assert len(told) == 1 and seen
    assert all(report.converged for report in trajectory.reports)
    # One more island (the first slider) took two halves instead of a whole step: the rest is as it was.
    first, apart = trajectory.names[told[0][0]], np.abs(trajectory.position - plain.position).max(axis=(0, 2))
    assert first == "Slider 0" and 1e-4 < apart[told[0][0]] < 0.5 * GRAVITY * STEP**2
    assert all(way < FRAMES * SLOW for name, way in zip(trajectory.names, apart, strict=True) if name[:4] == "Link")


def test_the_bits_of_parts_do_not_go_by_where_in_memory_they_are(monkeypatch):
    seen, columns = halve_the_wall(monkeypatch), columns_taken(monkeypatch)
    simulate(scene_of(wall, others), 4, config=CPU)
    assert seen and not columns


def test_a_part_that_is_the_larger_one_is_halved_with_all():
    with pytest.MonkeyPatch.context() as patch:
        seen = halve_the_wall(patch)
        trajectory = simulate(scene_of(wall), 2, config=CPU)
    assert not seen  # the ball and the bricks are one island
    assert all(report.converged and report.substeps >= 3 for report in trajectory.reports)


def test_a_carried_body_goes_from_pose_to_pose():
    turn = exponential(np.array([[0.3, -0.2, 0.1]]))
    start = State(1.0, np.zeros((2, 3)), np.tile([0.0, 0, 0, 1], (2, 1)), np.zeros((2, 6)), *np.zeros((2, 2)))
    end = State(1.5, np.array([(1.0, 2, 3), (9, 9, 9)]), np.vstack([turn, turn]), np.zeros((2, 6)), *np.zeros((2, 2)))
    carried = Carried.over(start, end, np.array([True, False]), None)
    bodies, place, q = carried.pose(1.5)
    assert bodies.tolist() == [0]
    np.testing.assert_allclose(place[0], (1, 2, 3))
    np.testing.assert_allclose(q[0], turn[0], atol=1e-15)
    _, place, q = carried.pose(1.25)
    np.testing.assert_allclose(place[0], (0.5, 1, 1.5))
    np.testing.assert_allclose(multiply(q, q)[0], turn[0], atol=1e-15)
    inner = Carried.over(replace_time(start, 1.25), end, np.array([False, True]), carried)
    assert inner.mask.all() and inner.start.tolist() == [1.0, 1.25]
    np.testing.assert_allclose(inner.velocity[0], carried.velocity[0])


def replace_time(state, time):
    return State(time, state.position, state.orientation, state.velocity, state.eps, state.swept)
