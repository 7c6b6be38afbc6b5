# SPDX-License-Identifier: GPL-3.0-or-later
"""Which turn a twist is in: thought of before a step by the velocity, told afterwards by the way that was made."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from axion.solver.problem import Bodies, Coordinate, JointRows, StepProblem
from axion.solver.reference.rotation import exponential, multiply
from axion.solver.reference.rows import OVER, SWUNG, coordinates
from axion.solver.twists import count_turns, expect_turns

H = 0.05
UP = np.array([0.0, 0.0, 1.0])


def wheel(spin, target, **fields):
    """StepProblem of a body that turns about Z at ``spin`` [rad/s] against the world, with TWIST rows about it."""
    rows = JointRows.of(2)
    rows.coordinate[:], rows.body_a[:], rows.body_b[:] = Coordinate.TWIST, 1, 0
    rows.axis_a[:] = rows.axis_b[:] = UP
    rows.target[:] = target
    for name, value in fields.items():
        getattr(rows, name)[:] = value
    velocity = np.zeros((2, 6))
    velocity[0, 5] = spin
    turn = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))
    mass = np.array([1.0, np.inf])
    bodies = Bodies(
        1, mass, np.outer(mass, np.ones(3)), np.zeros((2, 3)), turn, velocity, np.zeros((2, 3)), turn, velocity,
        np.zeros(2),
    )  # fmt: skip
    return StepProblem(H, bodies, joints=rows)


def ended(problem, way):
    """A solution in which the wheel turned by ``way`` [rad]."""
    velocity = np.zeros((2, 6))
    velocity[0, 5] = way / H
    orientation = problem.bodies.orientation.copy()
    orientation[0] = multiply(exponential(way * UP), orientation[0])
    return SimpleNamespace(velocity=velocity, position=problem.bodies.position, orientation=orientation)


@pytest.mark.parametrize("spin", [0.0, 40.0, -200.0])
@pytest.mark.parametrize("more", [0.0, 3.0, -3.3, 9.0, -40.0])
def test_turns_are_those_of_the_way(spin, more):
    # However far beyond the way that the start velocity leads to: offset + coordinate is the way.
    problem = wheel(spin, 0.5, lower=0.0)
    rows, way = problem.joints, spin * H + more
    expect_turns(rows, problem.bodies, H)
    assert rows.offset == pytest.approx(np.full(2, spin * H)) and rows.target + rows.offset == pytest.approx([0.5, 0.5])
    end = ended(problem, way)
    found = coordinates(rows, end.position, end.orientation)
    count_turns(problem, end, SimpleNamespace(coordinate=found))
    assert found + rows.offset == pytest.approx(np.full(2, way), abs=1e-9)


def test_a_rigid_drive_takes_its_axis_to_its_target():
    # Row 0 holds 9 turns with any force; row 1, a limit on the same axis, is unwrapped with it.  What has a bound, or
    # another joint, is not.
    nine = 9.0 * 2.0 * np.pi + 0.3
    for changed, moved in (({}, True), ({"joint": [0, 1]}, False), ({"axis_a": [UP, -UP]}, False)):
        problem = wheel(4.0, [nine, nine + 1.0], lower=[-np.inf, -np.inf], upper=[np.inf, 0.0], **changed)
        rows, turn = problem.joints, np.array([4.0, -4.0 if "axis_a" in changed else 4.0]) * H
        expect_turns(rows, problem.bodies, H)
        assert rows.offset == pytest.approx(turn + 18.0 * np.pi * np.array([1.0, moved]))
        assert rows.target + rows.offset == pytest.approx([nine, nine + 1.0])
        assert abs(rows.target[0]) <= np.pi
    problem = wheel(4.0, nine, lower=-1.0, upper=1.0)
    expect_turns(problem.joints, problem.bodies, H)
    assert problem.joints.offset == pytest.approx(np.full(2, 4.0 * H))


def swung(miss, turns, count):
    """(count + 1, 4) orientations of a body that goes on by ``turns`` about x, on which (w, v . Z) passes 0 by miss."""
    half = np.pi * turns * np.linspace(0.0, 1.0, count + 1)
    across = np.sqrt(1.0 - miss**2) * np.array([1.0, 0.0, 0.0]) + miss * UP
    return np.hstack([np.sin(half)[:, None] * across, np.cos(half)[:, None]])


def counted(way, **fields):
    """(count,) angles about Z that a joint whose other axes are free counts to along orientations (count + 1, 4)."""
    problem, angle, out = wheel(0.0, 0.0, **{"lower": -1.0, "upper": 1.0} | fields), np.zeros(2), []
    rows, bodies = problem.joints, problem.bodies
    rows.swings[:] = True
    for start, end in pairwise(way):
        rows.offset, rows.target, rows.start = angle.copy(), -angle, np.zeros(2)
        rows.centre = np.array([np.nan, 0.0]) - angle
        bodies.orientation, bodies.free_orientation = bodies.orientation.copy(), bodies.orientation.copy()
        bodies.orientation[0], bodies.free_orientation[0] = start, end
        expect_turns(rows, bodies, H)
        assert rows.offset + rows.start == pytest.approx(angle) and rows.target + rows.offset == pytest.approx([0, 0])
        solution = SimpleNamespace(
            velocity=bodies.velocity, position=bodies.position, orientation=bodies.free_orientation
        )
        judged = SimpleNamespace(coordinate=coordinates(rows, bodies.position, bodies.free_orientation))
        judged.reached = judged.coordinate
        count_turns(problem, solution, judged)
        angle = rows.offset + judged.reached
        out.append(angle)
    return np.array(out)


@pytest.mark.parametrize("count", [7, 90])
def test_a_body_that_comes_past_half_a_turn_counts_from_there_in_steps_of_any_length(count):
    # Row 0 has nothing to fade to, and counts each pass, on whatever side; row 1 forgets those near r = 0.
    for miss, forgets in ((0.4, False), (0.3, False), (0.15, True), (0.01, True), (-0.1, True), (-0.3, False)):
        assert (abs(miss) < OVER) == forgets
        angle = counted(swung(miss, 2.0, count))
        assert angle[-1] == pytest.approx(
            [np.sign(miss) * 4.0 * np.pi, 0.0 if forgets else np.sign(miss) * 4.0 * np.pi]
        )


@pytest.mark.parametrize("count", [7, 90])
def test_limits_forget_turns_where_they_fade(count):
    for miss in (0.6, 0.45, 0.2):
        angle = counted(swung(miss, 1.0, count), lower=[-1.0, 0.0])
        assert angle[-1] == pytest.approx([2.0 * np.pi, 0.0 if miss < SWUNG else 2.0 * np.pi])
